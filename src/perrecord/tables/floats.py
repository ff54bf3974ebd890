"""Floats as the decimals that were written into them, rounded to a measure's grid.

A float is rarely the number that somebody wrote: 1.005 is held as 1.00499999999999989, which is
1.00 in hundredths where 1.01 was meant. So that a number is read alike from text, decimals and
floats, a float that comes within a hair of a tie is taken for the tie.

- A whole number of less than 2^63 is divided by the resolution P/S exactly, as an integer.
- Otherwise t = |v| * S / P in IEEE arithmetic and f = floor(t). The number of steps is f + 1 where
  t - f >= 1/2 - min(t * slack, 1/8), else f. The slack is 2^-50, or 2^-22 for 32-bit floats.

**That is the exact reading of every decimal of at most 14 digits** (6 for 32-bit floats), counted
down to its own last place or to the resolution's, whichever is finer, leading zeros aside. Let
n < 10^14 be these digits as an integer and m the resolution in the same unit: the exact number of
steps is T = n/m. Let u = 2^-53.

1. The float v, the product and the quotient are each off by a factor within 1 +- u. So t differs
   from T by at most 3.01 u T, and t * slack = 8 u t < 1/8. Subtracting f is exact; the right-hand
   side is rounded by u/4 at most.
2. If T = k + 1/2 is a tie, then k < t < k + 1, and t is below T by at most 3.01 u T. That is less
   than 8 u t - u/4, because T >= 1/2. The rule goes up, as it should.
3. If T is no tie, then 2n differs from (2k + 1) m by 1 or more for every k: T is at least
   1/(2m) = T/(2n) > 45 u T away from every tie, and t more than 41 u T. Above a tie the rule goes
   up. Below one it goes down, because 41 u T > 8 u t + u/4 where T >= 1/8, and below 1/8 no tie is
   near. And where t falls below a whole number T, it does by 0.034 at most, and the rule goes up.

For 32-bit floats u = 2^-24 stands for the error of v, the other errors vanish beside it, n < 10^6
and the slack is 4 u: t is off by 1.01 u T at most, and no tie is nearer to other numbers than
8.3 u T. From t = 2^19 the slack is 1/8 at most, which is more than 1.01 u t up to 10^6.
"""

import math
from fractions import Fraction

from perrecord.tables.dialects import Dialect

EDGE = 9223372036854774784.0
"""The largest float below 2^63."""

SLACK = 2.0**-50
SLACK_32 = 2.0**-22
_MOST_SLACK = 0.125


def float_steps(value: float, step: Fraction, slack: float) -> int | None:
    """Return how many steps a finite float that is not whole is, or None if beyond 64 bits.

    >>> float_steps(1.005, Fraction(1, 100), SLACK), 1.005 * 100
    (101, 100.49999999999999)
    """
    size = abs(value) * step.denominator / step.numerator
    if size > EDGE:
        return None
    whole = math.floor(size)
    whole += size - whole >= 0.5 - min(size * slack, _MOST_SLACK)
    return whole if value >= 0 else -whole


def is_whole(value: float) -> bool:
    """Tell whether a finite float is a whole number of 64 bits, which is divided exactly."""
    return value.is_integer() and abs(value) <= EDGE


def whole_sql(value: str, dialect: Dialect) -> str:
    """Return whether a finite float is a whole number of 64 bits."""
    return f"(abs({value}) <= {_number(EDGE)} AND {value} = {dialect.cut(value)})"


def steps_sql(
    value: str,
    step: Fraction,
    slack: float,
    ends: tuple[str, str],
    most: str,
    dialect: Dialect,
) -> str:
    """Return the steps of a finite float that is not whole; beyond `most` one of the `ends`."""
    size = f"abs({value})"
    if step.denominator > 1:
        size = f"({size} * {_number(step.denominator)})"
    if step.numerator > 1:
        size = f"({size} / {_number(step.numerator)})"
    limit = f"{_number(0.5)} - least({size} * {_number(slack)}, {_number(_MOST_SLACK)})"
    cut = dialect.cut(size)
    carry = f"CASE WHEN {size} - {cut} >= {limit} THEN 1 ELSE 0 END"
    whole = f"(TRY_CAST({cut} AS BIGINT) + {carry})"
    above, below = ends
    outside = f"CASE WHEN {value} < 0 THEN {below} ELSE {above} END"
    return (
        f"CASE WHEN {size} > {_number(EDGE)} OR {whole} > {most} THEN {outside} "
        f"WHEN {value} < 0 THEN -{whole} ELSE {whole} END"
    )


def finite_sql(value: str, dialect: Dialect) -> str:
    """Return whether a float is a finite number, however wrong the statistics of its file are.

    Parquet's statistics leave NaN out, and DuckDB decides comparisons by them without looking at
    the values: it would take every NaN for a number. It knows nothing about the results of
    `isfinite`. Spark compares the values, and takes NaN to be above every number.
    """
    if dialect.name == "duckdb":
        return f"isfinite({value})"
    return f"(abs({value}) <= {_number(math.nextafter(math.inf, 0))})"


def _number(value: float) -> str:
    return f"CAST({float(value)!r} AS DOUBLE)"
