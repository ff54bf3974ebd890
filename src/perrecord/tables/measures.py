"""Measures: each record's number, rounded to a public grid before anything else (T15).

In the engine a measure becomes a 64-bit integer g that counts multiples of the resolution, or NULL.
The rule is the same on every engine and in Python:

- whole numbers and decimals are divided by the resolution exactly;
- a float v is divided in IEEE arithmetic as v * S / P, the resolution being P/S in lowest terms;
- ties round away from zero;
- NULL, NaN and infinities become NULL; what exceeds `largest` becomes NULL or is cut to it.

No row can make it raise.
"""

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal

import pyarrow as pa

from perrecord.errors import SchemaError
from perrecord.exact import Exact, ceil_div, parameter, text
from perrecord.tables.dialects import Dialect

Outside = Literal["null", "cut"]
Number = int | float | Decimal | Fraction

LARGEST = 2**63 - 1
_MOST_PLACES = 12
_EDGE = "9.2233720368547748e18"  # the largest float below 2^63
_MOST_FLOAT = "1.7976931348623157e308"
_DIGITS = 38
_TEXT_DIGITS, _TEXT_PLACES = 26, 10
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*", re.ASCII)


@dataclass(frozen=True, slots=True, init=False)
class Measure:
    """How a column of numbers becomes integers: its resolution and what is out of range.

    >>> Measure("0.01").number(1.239)
    Fraction(31, 25)
    >>> Measure(1000).grid(-2500), Measure(1, largest=10).grid(11), Measure().grid(float("nan"))
    (-3, None, None)
    """

    resolution: Fraction
    column: str | None
    largest: int
    outside: Outside

    def __init__(
        self,
        resolution: Exact = 1,
        *,
        column: str | None = None,
        largest: Exact | None = None,
        outside: Outside = "null",
    ) -> None:
        step = parameter(resolution, "the resolution")
        if step <= 0:
            raise SchemaError(
                f"the resolution is {text(step)}; expected a number above 0, such as 1 or '0.01'."
            )
        if (10**_MOST_PLACES * step).denominator > 1 or max(step.as_integer_ratio()) >= 2**53:
            raise SchemaError(
                f"the resolution is {text(step)}; expected a decimal of at most {_MOST_PLACES} "
                "places, such as 1, '0.01' or 1000."
            )
        if outside not in ("null", "cut"):
            raise SchemaError(f"outside is {outside!r}; expected 'null' or 'cut'.")
        object.__setattr__(self, "resolution", step)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "largest", _largest(largest, step))
        object.__setattr__(self, "outside", outside)

    def grid(self, value: Number | str | None) -> int | None:
        """Return the integer that the engine holds for a number, or for text of a CSV file."""
        if isinstance(value, str):
            value = parsed(value)
        if value is None:
            return None
        scaled = self._scaled(value)
        if scaled is None:
            return None
        whole = round_half_away(scaled)
        if abs(whole) <= self.largest:
            return whole
        return None if self.outside == "null" else (self.largest if whole > 0 else -self.largest)

    def number(self, value: Number | str | None) -> Fraction | None:
        """Return the number that a policy sees: the value rounded to the grid."""
        whole = self.grid(value)
        return None if whole is None else whole * self.resolution

    def _scaled(self, value: Number) -> Fraction | None:
        if isinstance(value, float):
            if not math.isfinite(value):
                return None
            up, down = self.resolution.denominator, self.resolution.numerator
            quotient = value * up / down
            if math.isinf(quotient):
                return Fraction(2**64 if quotient > 0 else -(2**64))
            return Fraction(quotient)
        if isinstance(value, Decimal) and not value.is_finite():
            return None
        return Fraction(value) / self.resolution


def round_half_away(value: Fraction) -> int:
    """Return the nearest whole number; a tie goes away from zero.

    >>> round_half_away(Fraction(5, 2)), round_half_away(Fraction(-5, 2))
    (3, -3)
    """
    size = (2 * abs(value.numerator) + value.denominator) // (2 * value.denominator)
    return size if value >= 0 else -size


def parsed(written: str) -> Decimal | None:
    """Return the number that a text column of a CSV file holds, to ten decimals, or None.

    This is what the engine's own TRY_CAST gives for plain decimal text.
    """
    if not _NUMBER.fullmatch(written):
        return None
    number, most = Decimal(written), 10 ** (_TEXT_DIGITS - _TEXT_PLACES)
    if abs(number) >= most:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-_TEXT_PLACES), ROUND_HALF_UP)
    return rounded if abs(rounded) < most else None


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


def grid_sql(measure: Measure, column: str, kind: pa.DataType, dialect: Dialect) -> str:
    """Return the expression that turns a column into the measure's 64-bit integer, or NULL."""
    if pa.types.is_floating(kind):
        return _from_float(measure, f"CAST({column} AS DOUBLE)", dialect)
    if is_text(kind):
        # Left to itself DuckDB takes 1_000 for a number.
        plain = f"regexp_full_match({column}, {dialect.literal(_NUMBER.pattern)})"
        read = f"TRY_CAST({column} AS DECIMAL({_TEXT_DIGITS}, {_TEXT_PLACES}))"
        column = f"CASE WHEN {plain} THEN {read} END"
        kind = pa.decimal128(_TEXT_DIGITS, _TEXT_PLACES)
    places = kind.scale if pa.types.is_decimal(kind) else 0
    up, down = _ratio(measure, places)
    if kind in _SIGNED and up == 1:
        return _rounded(measure, f"CAST({column} AS BIGINT)", down, kind.bit_width, dialect)
    units = dialect.units(column, places)
    if up > 1:
        units = f"({units} * {dialect.literal(up)})"
    return _rounded(measure, units, down, _WIDE, dialect)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


_SIGNED = frozenset({pa.int8(), pa.int16(), pa.int32(), pa.int64()})
_WIDE = 128


def _ratio(measure: Measure, places: int) -> tuple[int, int]:
    """Return up, down such that units of 10^-places times up / down are on the measure's grid."""
    ratio = 1 / (measure.resolution * 10**places)
    return ratio.numerator, ratio.denominator


def _ends(measure: Measure, dialect: Dialect) -> tuple[str, str]:
    """Return what stands for a value above the range, and for one below."""
    if measure.outside == "null":
        return "NULL", "NULL"
    return dialect.literal(measure.largest), dialect.literal(-measure.largest)


def _from_float(measure: Measure, value: str, dialect: Dialect) -> str:
    up, down = measure.resolution.denominator, measure.resolution.numerator
    scaled = value if up == 1 else f"({value} * CAST({up} AS DOUBLE))"
    scaled = scaled if down == 1 else f"({scaled} / CAST({down} AS DOUBLE))"
    above, below = _ends(measure, dialect)
    whole = f"TRY_CAST(round({scaled}) AS BIGINT)"
    within = _rounded(measure, whole, 1, 64, dialect)
    # NaN is above every number on both engines, so the first comparison leaves it out.
    return (
        f"CASE WHEN abs({value}) <= CAST({_MOST_FLOAT} AS DOUBLE) THEN "
        f"CASE WHEN {scaled} > CAST({_EDGE} AS DOUBLE) THEN {above} "
        f"WHEN {scaled} < CAST(-{_EDGE} AS DOUBLE) THEN {below} ELSE {within} END END"
    )


def _rounded(measure: Measure, units: str, down: int, bits: int, dialect: Dialect) -> str:
    """Return units / down, ties away from zero, held to the measure's range."""
    beyond = ceil_div((2 * measure.largest + 1) * down, 2)  # the least size that rounds out of it
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
    if beyond > 2 ** (bits - 1):
        return result
    above, below = _ends(measure, dialect)
    if beyond == 2 ** (bits - 1):  # only the one integer without a positive twin
        return f"CASE WHEN {units} <= {dialect.literal(-beyond)} THEN {below} ELSE {result} END"
    return (
        f"CASE WHEN {units} >= {dialect.literal(beyond)} THEN {above} "
        f"WHEN {units} <= {dialect.literal(-beyond)} THEN {below} ELSE {result} END"
    )
