"""Floats as the decimals that were written into them, rounded to a measure's grid.

A float is rarely the number that somebody wrote: 1.005 is held as 1.00499999999999989, which is
1.00 in hundredths where 1.01 was meant. So that a number is read alike from text, decimals and
floats, a float that comes within a hair of a tie is taken for the tie.

- A whole number of less than 2^63 is divided by the resolution P/S exactly, as an integer.
- Otherwise t = |v| * S / P in IEEE arithmetic. The number of steps is t + 1/2 + t * slack without
  its decimals, where t * slack < 1/8; t + 1/2 without them up to 2^52, beyond which t is whole. The
  slack is 2^-50, or 2^-22 for 32-bit floats.

**That is the exact reading of every decimal of at most 14 digits** (6 for 32-bit floats), counted
down to its own last place or to the resolution's, whichever is finer, leading zeros aside. Let
n < 10^14 be these digits as an integer and m the resolution in the same unit: the exact number of
steps is T = n/m. Let u = 2^-53.

1. The float v, the product and the quotient are each off by a factor within 1 +- u, so t differs
   from T by at most 3.01 u T. What is added is 1/2 + 8 u t, rounded by at most u/2.
2. If T = k + 1/2 is a tie, t is below it by at most 3.01 u T. The sum is at least
   k + 1 + 4.9 u T - u/2, which is not below k + 1 because T >= 1/2; nor is it when rounded. The
   result is k + 1, as it should be.
3. If T is no tie, then 2n differs from (2k + 1) m by 1 or more for every k: T is at least
   1/(2m) = T/(2n) > 45 u T away from every tie, and t more than 41 u T. Above a tie k + 1/2 the sum
   is above k + 1. Below it, where T >= 1/8, the sum is below k + 1 by more than 33 u T - u/2, which
   is more than it can be rounded by; and below 1/8 no tie is near. Next to a whole number T the sum
   is less than 0.63 above it and not below it.

For 32-bit floats u = 2^-24 stands for the error of v, the other errors vanish beside it, n < 10^6
and the slack is 4 u: t is off by 1.01 u T at most, ties are below 2^19, and no tie is nearer to
other numbers than 8.3 u T.
"""

from fractions import Fraction

from perrecord.tables.dialects import Dialect

EDGE = 9223372036854774784.0
"""The largest float below 2^63."""

SLACK = 2.0**-50
SLACK_32 = 2.0**-22
_MOST_SLACK = 0.125
_NO_DECIMALS = 2.0**52


def float_steps(value: float, step: Fraction, slack: float) -> int | None:
    """Return how many steps a finite float that is not whole is, or None if beyond 64 bits.

    >>> float_steps(1.005, Fraction(1, 100), SLACK), 1.005 * 100
    (101, 100.49999999999999)
    """
    size = abs(value) * step.denominator / step.numerator
    if size > EDGE:
        return None
    if size < _MOST_SLACK / slack:
        size += 0.5 + size * slack
    elif size < _NO_DECIMALS:
        size += 0.5
    return int(size) if value >= 0 else -int(size)


def is_whole(value: float) -> bool:
    """Tell whether a finite float is a whole number of 64 bits, which is divided exactly."""
    return value.is_integer() and abs(value) <= EDGE


def whole_sql(value: str, dialect: Dialect) -> str:
    """Return whether a finite float is a whole number of 64 bits."""
    return f"(abs({value}) <= {dialect.as_double(EDGE)} AND {value} = {dialect.cut(value)})"


def steps_sql(
    value: str,
    step: Fraction,
    slack: float,
    ends: tuple[str, str],
    most: int,
    dialect: Dialect,
) -> str:
    """Return the steps of a finite float that is not whole; beyond `most` one of the `ends`."""
    number = dialect.as_double
    size = dialect.size(value)
    if step.denominator > 1:
        size = f"({size} * {number(float(step.denominator))})"
    if step.numerator > 1:
        size = f"({size} / {number(float(step.numerator))})"
    half = number(0.5)
    more = f"{half} + {size} * {number(slack)}"
    added = (
        f"CASE WHEN {size} < {number(_MOST_SLACK / slack)} THEN {more} "
        f"WHEN {size} < {number(_NO_DECIMALS)} THEN {half} ELSE {number(0.0)} END"
    )
    whole = dialect.whole(dialect.cut(f"({size} + {added})"))
    above, below = ends
    is_beyond = f"{size} > {number(EDGE)}"
    if most < EDGE:
        is_beyond += f" OR {whole} > {dialect.literal(most)}"
    return (
        f"CASE WHEN {is_beyond} THEN CASE WHEN {value} < 0 THEN {below} ELSE {above} END "
        f"ELSE {whole} * CASE WHEN {value} < 0 THEN -1 ELSE 1 END END"
    )
