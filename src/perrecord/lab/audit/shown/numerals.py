"""Numbers in texts for people: where they stand, what they say, and how closely they say it."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

_POWER = r"10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
_NUMERAL = re.compile(
    rf"(?<![\w.])(?:{_POWER}|\d+(?:,\d{{3}})*(?:\.\d+)?(?:/\d+)?(?:[eE][+-]?\d+)?(?:\s×\s{_POWER})?)"
    r"(?!\w)(?!\.\d)"
)
_LONGEST = 12
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


@dataclass(frozen=True, slots=True)
class Near:
    """A number that is shown with so many significant digits, rounded to the nearest."""

    value: float
    digits: int = 3
    whole: float = 1e9
    """Numbers below it show all places before the point, however many there are."""

    def is_shown_by(self, numeral: str) -> bool:
        """Tell whether a numeral is this number as it should be rounded."""
        unit = _unit(abs(self.value), self.digits, whole=self.whole)
        slack = min(1e-9 * abs(self.value), unit / 4)
        return abs(number(numeral) - abs(self.value)) <= unit / 2 + slack


@dataclass(frozen=True, slots=True)
class AtMost:
    """A limit that is shown with so many significant digits, rounded up; exact if a fraction."""

    value: float | Fraction
    digits: int = 3
    whole: float = 0

    def is_shown_by(self, numeral: str) -> bool:
        """Tell whether a numeral is not below the limit, and above it by its last digit only."""
        if math.isinf(self.value):
            return numeral == "inf"
        value, shown = Fraction(self.value), _exactly(numeral)
        if not value:
            return not shown
        unit = Fraction(_unit(float(value), self.digits, whole=self.whole))
        slack = 0 if isinstance(self.value, Fraction) else value / 10**9
        above = max(unit - min(slack, unit / 10), 10 * slack)
        return value - slack <= shown < value + above


@dataclass(frozen=True, slots=True)
class AtLeast:
    """What is left, shown with so many significant digits, rounded down."""

    value: Fraction
    digits: int = 6

    def is_shown_by(self, numeral: str) -> bool:
        """Tell whether a numeral is not above the number, and below it by its last digit only."""
        unit = Fraction(_unit(float(self.value), self.digits, whole=0))
        return self.value - unit < _exactly(numeral) <= self.value


Expected = str | int | Fraction | Near | AtMost | AtLeast | None
"""What a numeral should be: this text, this number, a rounded one; None: it is no figure."""


def amount(value: Fraction) -> Fraction | AtMost:
    """Return a loss as commands print it: exact where that is short, else rounded up."""
    plain = abs(value)
    return plain if len(text_of(value)) <= _LONGEST else AtMost(plain, 6)


@lru_cache(maxsize=4096)
def text_of(value: Fraction) -> str:
    """Return an exact number as the documents write it: a decimal if that ends, or a fraction.

    >>> text_of(Fraction(-3, 8)), text_of(Fraction(1, 3))
    ('-0.375', '1/3')
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value * 10**places)).rjust(places + 1, "0")
    whole = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{whole}" if value < 0 else whole


def numerals(text: str) -> list[str]:
    """Return the numbers of a text in their order; digits inside names are none.

    >>> numerals("query0.a1: 1,235 of 2 × 10¹² records (52.7 %), at 1/3")
    ['1,235', '2 × 10¹²', '52.7', '1/3']
    """
    return _NUMERAL.findall(text)


def places(text: str) -> list[tuple[int, int]]:
    """Return where the numbers of a text begin and end."""
    return [found.span() for found in _NUMERAL.finditer(text)]


def number(numeral: str) -> float:
    """Return what a numeral says.

    >>> number("1,235"), number("2 × 10¹²"), number("10⁻⁷"), number("1/4"), number("1.2e+18")
    (1235.0, 2000000000000.0, 1e-07, 0.25, 1.2e+18)
    """
    plain = numeral.translate(_DIGITS).replace(",", "")
    if numeral.startswith("10") and not numeral[2:].isascii():
        return 10.0 ** int(plain[2:])
    return float(_exactly(numeral))


def _exactly(numeral: str) -> Fraction:
    plain = numeral.translate(_DIGITS).replace(",", "")
    mantissa, _, power = re.sub(r"\s", "", plain).partition("×10")
    return Fraction(mantissa) * Fraction(10) ** int(power or 0)


def is_as_expected(numeral: str, expected: Expected) -> bool:
    """Tell whether a numeral is what it should be."""
    match expected:
        case None:
            return True
        case str():
            return numeral == expected
        case int() | Fraction():
            return Fraction(numeral.replace(",", "")) == abs(expected)
        case _:
            return expected.is_shown_by(numeral)


def _unit(value: float, digits: int, *, whole: float) -> float:
    """Return one in the last digit that is shown."""
    if not value:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value)) + 1e-12) - digits + 1)
    return min(unit, 1.0) if abs(value) < whole else unit
