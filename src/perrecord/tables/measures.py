"""Measures: each record's number, rounded to a public grid before anything else (T15).

In the engine a measure becomes a 64-bit integer g that counts multiples of the resolution, or NULL.
One rule, whatever type a source holds its numbers in, on every engine and in Python:

- a value is a number: the one that is written, in text; the decimal that was written, in a float;
- it is divided by the resolution and rounded to the nearest whole number, ties away from zero;
- NULL, NaN, infinities and text that is no number become NULL; what exceeds `largest` becomes NULL
  or is cut to it.

A derived measure is computed from others on their grids (`tables.arithmetic`) and rounded likewise.

No row can make it raise, and nothing that an optimiser believes about a file can change it.
`tables.written` has the reading of text and `tables.floats` that of floats.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa

from perrecord.errors import QueryError, SchemaError, listing
from perrecord.exact import Exact, ceil_div, parameter, text
from perrecord.tables.arithmetic import Arithmetic, Scaled, arithmetic, scaled
from perrecord.tables.dialects import Dialect
from perrecord.tables.floats import (
    SLACK,
    SLACK_32,
    float_steps,
    is_whole,
    steps_sql,
    whole_sql,
)
from perrecord.tables.written import (
    is_number_sql,
    is_plain_sql,
    parsed,
    short_sql,
    units_sql,
)

Outside = Literal["null", "cut"]
Number = int | float | np.float32 | Decimal | Fraction

LARGEST = 2**63 - 1
_MOST_PLACES = 12
_MOST_STEPS = 10**30
_MOST_FIGURES = 18
_DIGITS = 38
_SHORT_PLACES = 6


@dataclass(frozen=True, slots=True, init=False)
class Measure:
    """How a column of numbers becomes integers: its resolution and what is out of range.

    >>> Measure("0.01").number(1.239)
    Fraction(31, 25)
    >>> Measure(1000).grid(-2500), Measure(1, largest=10).grid(11), Measure().grid(float("nan"))
    (-3, None, None)
    >>> Measure("0.01", expression="hours * wage", largest=100_000).expression
    Arithmetic(hours * wage)
    """

    resolution: Fraction
    column: str | None
    expression: Arithmetic | None
    """What it is computed from: measures of the same table that are declared before it."""
    largest: int
    outside: Outside

    def __init__(
        self,
        resolution: Exact = 1,
        *,
        column: str | None = None,
        expression: str | Arithmetic | None = None,
        largest: Exact | None = None,
        outside: Outside = "null",
    ) -> None:
        step = parameter(resolution, "the resolution")
        if step <= 0:
            raise SchemaError(
                f"the resolution is {text(step)}; expected a number above 0, such as 1 or '0.01'."
            )
        if (
            (10**_MOST_PLACES * step).denominator > 1
            or max(step.as_integer_ratio()) >= 2**53
            or step * 10 ** _places(step) >= 10**_MOST_FIGURES
        ):
            raise SchemaError(
                f"the resolution is {text(step)}; expected a decimal of at most {_MOST_PLACES} "
                "places, such as 1, '0.01' or 1000."
            )
        if outside not in ("null", "cut"):
            raise SchemaError(f"outside is {outside!r}; expected 'null' or 'cut'.")
        if column is not None and expression is not None:
            raise SchemaError(
                f"the measure is the column {column!r} and an expression; give one of the two."
            )
        if isinstance(expression, str):
            expression = arithmetic(expression)
        object.__setattr__(self, "resolution", step)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "expression", expression)
        object.__setattr__(self, "largest", _largest(largest, step))
        object.__setattr__(self, "outside", outside)

    def stored(self, name: str) -> str | None:
        """Return the column that holds a measure of this name; None if it is derived."""
        return None if self.expression is not None else self.column or name

    def grid(self, value: Number | str | None) -> int | None:
        """Return the integer that the engine holds for a number, or for text of a CSV file.

        A float stands for the decimal that was written into it, so a number of a column of 32-bit
        floats is given as np.float32, which holds fewer digits.
        """
        if isinstance(value, str):
            value = parsed(value)
        if value is None or _is_endless(value):
            return None
        whole = self._steps(value)
        if abs(whole) <= self.largest:
            return whole
        return None if self.outside == "null" else (self.largest if whole > 0 else -self.largest)

    def number(self, value: Number | str | None) -> Fraction | None:
        """Return the number that a policy sees: the value rounded to the grid."""
        whole = self.grid(value)
        return None if whole is None else whole * self.resolution

    def _steps(self, value: Number) -> int:
        if isinstance(value, float | np.float32):
            slack = SLACK if isinstance(value, float) else SLACK_32
            held = float(value)
            if not is_whole(held):
                steps = float_steps(held, self.resolution, slack)
                return int(math.copysign(2**64, held)) if steps is None else steps
            value = int(held)
        return round_half_away(Fraction(value) / self.resolution)


def round_half_away(value: Fraction) -> int:
    """Return the nearest whole number; a tie goes away from zero.

    >>> round_half_away(Fraction(5, 2)), round_half_away(Fraction(-5, 2))
    (3, -3)
    """
    size = (2 * abs(value.numerator) + value.denominator) // (2 * value.denominator)
    return size if value >= 0 else -size


def check_on_grid(word: str, number: Fraction, measure: str, resolution: Fraction) -> None:
    """Refuse a threshold or bound that is none of the measure's numbers (T3).

    >>> check_on_grid("threshold", Fraction(21, 2), "emp", Fraction(1))
    Traceback (most recent call last):
    perrecord.errors.QueryError: the threshold 10.5 of 'emp' is not a multiple of its resolution \
1; give a multiple, or declare a finer resolution.
    """
    if abs(number) > _MOST_STEPS * resolution:
        raise QueryError(
            f"the {word} of {measure!r} is beyond 10^30 steps of its resolution, and so beyond any "
            "number that the measure can hold; give a smaller one."
        )
    if (number / resolution).denominator > 1:
        raise QueryError(
            f"the {word} {text(number)} of {measure!r} is not a multiple of its resolution "
            f"{text(resolution)}; give a multiple, or declare a finer resolution."
        )


def _declared(known: Mapping[str, Measure]) -> str:
    return f"; these are {listing(known)}" if known else ""


def _is_endless(value: Number) -> bool:
    """Tell whether a value is NaN or infinite."""
    if isinstance(value, Decimal):
        return not value.is_finite()
    return isinstance(value, float | np.float32) and not math.isfinite(value)


def _largest(given: Exact | None, step: Fraction) -> int:
    if given is None:
        return LARGEST
    limit = parameter(given, "the largest value")
    whole = limit / step
    if whole.denominator > 1 or not 1 <= whole.numerator <= LARGEST:
        raise SchemaError(
            f"the largest value is {text(limit)}; expected a multiple of the resolution "
            f"{text(step)}, at most 2^63 - 1 of them."
        )
    return whole.numerator


def check_measure(
    name: str, measure: Measure, kind: pa.DataType, *, may_be_text: bool = False
) -> None:
    """Refuse a column that is no number, or whose sums could overflow, before any row is read."""
    if pa.types.is_decimal(kind):
        up, _ = _ratio(measure, kind.scale)
        if not 0 <= kind.scale <= _DIGITS - 2 - kind.precision - len(str(up)):
            raise SchemaError(
                f"the measure {name!r} is {kind}; at most {_DIGITS - 3} digits and places together "
                "are counted exactly. Cast it to fewer, such as decimal(18, 2)."
            )
    elif not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or (may_be_text and is_text(kind))
    ):
        raise SchemaError(
            f"the measure {name!r} is {kind}; expected whole numbers, decimals or floats. If it "
            "holds numbers written as text, cast it before; if it is a category, declare it in "
            "dimensions=[...]."
        )


def scaled_on(name: str, measure: Measure, known: Mapping[str, Measure]) -> Scaled | None:
    """Return a derived measure in whole numbers, of measures declared before it; None if stored."""
    if measure.expression is None:
        return None
    for each in measure.expression.names:
        if each not in known:
            raise SchemaError(
                f"the measure {name!r} is {measure.expression}, and {each!r} is not a measure "
                f"that is declared before it{_declared(known)}. Declare it with its resolution "
                f"and its largest value, such as {each}: {{resolution: 0.01, largest: 1000}}."
            )
    grids = {each: (known[each].resolution, known[each].largest) for each in known}
    what = f"the measure {name!r}"
    return scaled(what, measure.expression, measure.resolution, grids)


def derived_sql(
    measure: Measure, found: Scaled, columns: Mapping[str, str], dialect: Dialect
) -> str:
    """Return a derived measure's 64-bit integer, or NULL, given those that it is computed from."""
    rounded = _rounded(measure, "units", found.down, _WIDE, dialect, most=found.most)
    value = dialect.named("units", found.sql(columns, dialect), rounded)
    names = set() if measure.expression is None else {*measure.expression.names}
    lost = sorted(names - {name for product, _ in found.factors for name in product})
    there = " AND ".join(f"{columns[name]} IS NOT NULL" for name in lost)
    return f"CASE WHEN {there} THEN {value} END" if lost else value


def grid_sql(measure: Measure, column: str, kind: pa.DataType, dialect: Dialect) -> str:
    """Return the expression that turns a column into the measure's 64-bit integer, or NULL."""
    if pa.types.is_floating(kind):
        return _from_float(measure, column, kind, dialect)
    if is_text(kind):
        return _from_text(measure, column, dialect)
    value = dialect.unknown(column)
    places = kind.scale if pa.types.is_decimal(kind) else 0
    up, down = _ratio(measure, places)
    if kind in _SIGNED and up == 1:
        return _rounded(measure, f"CAST({value} AS BIGINT)", down, kind.bit_width, dialect)
    return _counted(measure, dialect.units(value, places), up, down, dialect)


def is_number_in(column: str, kind: pa.DataType, dialect: Dialect) -> str:
    """Return the condition that a value is a number; it is NULL where the value is."""
    if pa.types.is_floating(kind):
        return dialect.is_finite(column)
    return is_number_sql(column) if is_text(kind) else dialect.literal(True)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


_SIGNED = frozenset({pa.int8(), pa.int16(), pa.int32(), pa.int64()})
_WIDE = 128


def _places(number: Fraction) -> int:
    """Return how many decimal places a number is written with."""
    return next(places for places in range(64) if (number * 10**places).denominator == 1)


def _ratio(measure: Measure, places: int) -> tuple[int, int]:
    """Return up, down such that units of 10^-places times up / down are on the measure's grid."""
    ratio = 1 / (measure.resolution * 10**places)
    return ratio.numerator, ratio.denominator


def _ends(measure: Measure, dialect: Dialect) -> tuple[str, str]:
    """Return what stands for a value above the range, and for one below."""
    if measure.outside == "null":
        return ("CAST(NULL AS BIGINT)",) * 2
    return dialect.literal(measure.largest), dialect.literal(-measure.largest)


def _from_float(measure: Measure, column: str, kind: pa.DataType, dialect: Dialect) -> str:
    value = dialect.unknown(dialect.as_double(column))
    slack = SLACK_32 if pa.types.is_float32(kind) else SLACK
    up, down = _ratio(measure, 0)
    whole = dialect.whole(value)
    exactly = (
        _rounded(measure, whole, down, 64, dialect)
        if up == 1
        else _counted(measure, dialect.units(whole, 0), up, down, dialect)
    )
    ends = _ends(measure, dialect)
    nearly = steps_sql(value, measure.resolution, slack, ends, measure.largest, dialect)
    read = f"CASE WHEN {whole_sql(value, dialect)} THEN {exactly} ELSE {nearly} END"
    return f"CASE WHEN {dialect.is_finite(column)} THEN {read} END"


def _from_text(measure: Measure, column: str, dialect: Dialect) -> str:
    """Return the grid number of text: the shorter ways are for speed alone, and agree.

    Digits beyond the last place of half a step cannot change how it is rounded: cut off there, a
    number is on the same side of every tie, or on it.
    """
    whole = grid_sql(measure, f"TRY_CAST({column} AS BIGINT)", pa.int64(), dialect)
    places = _places(measure.resolution / 2)
    some = max(places, _SHORT_PLACES)
    is_short, units = short_sql(column, some)
    short = dialect.named("units", units, _in_units(measure, some, 64, dialect))
    most = len(str(_beyond(measure, _ratio(measure, places)[1])))
    within, ends = _in_units(measure, places, _WIDE, dialect), _ends(measure, dialect)
    written = units_sql(column, places, most, within, ends)
    return (
        f"CASE WHEN {is_plain_sql(column)} THEN {whole} WHEN {is_short} THEN {short} "
        f"WHEN {is_number_sql(column)} THEN {written} END"
    )


def _in_units(measure: Measure, places: int, bits: int, dialect: Dialect) -> str:
    _, down = _ratio(measure, places)
    if down >= 2**62:
        return _rounded(measure, f"CAST(units AS {dialect.wide})", down, _WIDE, dialect)
    return _rounded(measure, "units", down, bits, dialect)


def _counted(measure: Measure, units: str, up: int, down: int, dialect: Dialect) -> str:
    if up > 1:
        units = f"({units} * {dialect.literal(up)})"
    return _rounded(measure, units, down, _WIDE, dialect)


def _beyond(measure: Measure, down: int) -> int:
    """Return the least count of units, `down` of them being a step, that rounds out of range."""
    return ceil_div((2 * measure.largest + 1) * down, 2)


def _rounded(
    measure: Measure, units: str, down: int, bits: int, dialect: Dialect, most: int | None = None
) -> str:
    """Return units / down, ties away from zero, held to the measure's range.

    The units are of so many bits, and at most `most`, if that is known.
    """
    beyond = _beyond(measure, down)
    result = units
    if down > 1:
        half = ceil_div(down, 2)
        quotient, rest = dialect.divided(units, down, is_wide=bits == _WIDE)
        result = (
            f"({quotient} + CASE WHEN {rest} >= {half} THEN 1 WHEN {rest} <= -{half} THEN -1 "
            "ELSE 0 END)"
        )
    if bits == _WIDE:
        result = f"CAST({result} AS BIGINT)"
    if beyond > (2 ** (bits - 1) if most is None else most):
        return result
    above, below = _ends(measure, dialect)
    if beyond == 2 ** (bits - 1):  # only the one integer without a positive twin
        return f"CASE WHEN {units} <= {dialect.literal(-beyond)} THEN {below} ELSE {result} END"
    return (
        f"CASE WHEN {units} >= {dialect.literal(beyond)} THEN {above} "
        f"WHEN {units} <= {dialect.literal(-beyond)} THEN {below} ELSE {result} END"
    )
