"""Exact numbers: parsing, square roots rounded up, and conversion to float in a chosen direction.

Everything that a guarantee rests on is an int or a Fraction (T15). This module is the only
way in (`rational`) and the only ways out (`float_up`, `float_down`, `text`, and for people
`figure_up`, `figure_down`).
"""

import math
import re
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import SupportsIndex

from perrecord.errors import InexactNumberError, InputError

_GREATEST = Decimal(sys.float_info.max)

Exact = int | Fraction | Decimal | str | SupportsIndex
"""What is accepted wherever an exact number is asked for."""


def rational(value: object, what: str = "this number") -> Fraction:
    """Return the number exactly as written; `what` names it in the error message.

    >>> rational("0.1"), rational("1/3"), rational(5)
    (Fraction(1, 10), Fraction(1, 3), Fraction(5, 1))

    A float is refused, because `0.1` is not a tenth:

    >>> rational(0.1, "rho")
    Traceback (most recent call last):
    perrecord.errors.InexactNumberError: rho is a float. Floats are not exact: write it as text, \
such as "0.1", or as an int or Fraction.
    """
    if type(value) is Fraction:  # most are, and nothing is left to do
        return value
    match value:
        case bool():
            raise InputError(f"{what} is a truth value; expected a number such as 5 or '0.1'.")
        case int() | Fraction():
            return Fraction(value)
        case float():
            raise InexactNumberError(
                f"{what} is a float. Floats are not exact: write it as text, such as "
                '"0.1", or as an int or Fraction.'
            )
        case Decimal():
            if not value.is_finite():
                raise InexactNumberError(f"{what} is NaN or infinite; expected a finite number.")
            if abs(value.adjusted()) > _MOST_DIGITS:
                raise _too_long(what)
            return Fraction(value)
        case str():
            return _parse(value, what)
        case SupportsIndex():
            return Fraction(whole(value, what))
        case _:
            raise InputError(
                f"{what} is a {type(value).__name__}; expected an int, a Fraction, a Decimal "
                'or text such as "0.1" or "1/3".'
            )


_MOST_DIGITS = 1000
"""Longer numbers are nothing that anybody meant, and slow everything that touches them."""

_MOST_BITS = 4 * _MOST_DIGITS
_NUMBER = re.compile(r"[+-]?[0-9]+/[0-9]+|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


def _parse(written: str, what: str) -> Fraction:
    plain = written.strip().replace("_", "")
    over_zero = "/" in plain and not plain.partition("/")[2].strip("0")
    if plain.endswith("%"):
        raise InexactNumberError(
            f"{what} is a percentage; expected a fraction of 1, such as 0.1 for 10%."
        )
    if "," in plain and _NUMBER.fullmatch(plain.replace(",", "")):
        raise InexactNumberError(
            f"{what} has a comma; expected a decimal point, such as 0.2, and no commas between "
            "thousands."
        )
    if over_zero or not _NUMBER.fullmatch(plain):
        raise InexactNumberError(
            f'{what} is text but not a finite number; expected something like "0.1", "1/3" or '
            '"1e-6".'
        )
    exponent = re.search(r"[eE]([+-]?[0-9]+)$", plain)
    if len(plain) + abs(int(exponent[1]) if exponent else 0) > _MOST_DIGITS:
        raise _too_long(what)
    return Fraction(plain)


def _too_long(what: str) -> InputError:
    return InputError(f"{what} is longer than {_MOST_DIGITS} digits; expected fewer.")


def parameter(value: object, what: str) -> Fraction:
    """Return an exact number that is short enough to be written into a public document."""
    exact = rational(value, what)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _MOST_BITS:
        raise _too_long(what)
    return exact


def whole(value: object, what: str) -> int:
    """Return a whole number as Python's own int, so that nothing overflows.

    >>> whole(7, "the shift")
    7
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        try:
            return value.__index__()
        except TypeError:  # an array that is no single number
            pass
    raise InputError(f"{what} is a {type(value).__name__}; expected a whole number.")


def text(value: Fraction) -> str:
    """Return the shortest exact text: a decimal where one exists within 12 places, else p/q.

    >>> text(Fraction(1, 10)), text(Fraction(5)), text(Fraction(1, 3))
    ('0.1', '5', '1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    places = _decimal_places(value.denominator)
    if places is None or places > 12:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _decimal_places(denominator: int) -> int | None:
    """Return how many decimals 1/denominator needs, or None if they never end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def ceil_div(numerator: int, denominator: int) -> int:
    """Return ceil(numerator / denominator) on integers; the denominator is positive.

    >>> ceil_div(12, 5)
    3
    """
    return -(-numerator // denominator)


_LONGEST_AMOUNT = 12
_ROOT_BITS = 128


def sqrt_up(value: Fraction) -> Fraction:
    """Return the square root, exact where it is rational, else rounded up by less than 2^-126.

    The error is relative. `sqrt_up(x) ** 2 >= x` always.

    >>> sqrt_up(Fraction(9, 4))
    Fraction(3, 2)
    >>> sqrt_up(Fraction(2)) ** 2 > 2
    True
    """
    if value < 0:
        raise InputError("a square root was asked of a negative number.")
    numerator, denominator = value.numerator, value.denominator
    top, bottom = math.isqrt(numerator), math.isqrt(denominator)
    if top * top == numerator and bottom * bottom == denominator:
        return Fraction(top, bottom)
    # sqrt(n/d) = sqrt(n d 4^s) / (d 2^s), with s large enough for _ROOT_BITS good bits.
    product = numerator * denominator
    shift = max(0, _ROOT_BITS - product.bit_length() // 2)
    root = math.isqrt(product << (2 * shift)) + 1
    return Fraction(root, denominator << shift)


def float_up(value: Fraction) -> float:
    """Return the least float that is not below the value.

    >>> float_up(Fraction(1, 10)) >= Fraction(1, 10)
    True
    """
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_down(value: Fraction) -> float:
    """Return the greatest float that is not above the value."""
    return -float_up(-value) or 0.0  # never -0.0


def figure_up(value: Fraction | float, digits: int = 6) -> str:
    """Return a number for people, to so many digits and never below the value.

    >>> figure_up(Fraction(10**20, 7)), figure_up(1 / 3, 3), figure_up(Fraction(3, 4))
    ('1.42858e+19', '0.334', '0.75')
    """
    return _figure(value, digits, ROUND_CEILING)


def amount_up(value: Fraction) -> str:
    """Return an amount for people: exact where that is short, else rounded up.

    >>> amount_up(Fraction(3, 4)), amount_up(Fraction(10**20, 7))
    ('0.75', '1.42858e+19')
    """
    exact = text(value)
    return exact if len(exact) <= _LONGEST_AMOUNT else figure_up(value)


def figure_down(value: Fraction | float, digits: int = 6) -> str:
    """Return a number for people, to so many digits and never above the value."""
    return _figure(value, digits, ROUND_FLOOR)


def _figure(value: Fraction | float, digits: int, rounding: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    top, bottom = Decimal(exact.numerator), Decimal(exact.denominator)
    rounded = Context(prec=digits, rounding=rounding).divide(top, bottom)
    return f"{float(rounded):.{digits}g}" if abs(rounded) < _GREATEST else f"{rounded:e}"


def round_up(value: Fraction, bits: int = 192) -> Fraction:
    """Return a number of about this many bits that is not below the value.

    >>> round_up(Fraction(1, 33), bits=4)
    Fraction(1, 32)
    """
    if value.denominator.bit_length() <= bits:
        return value
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    if shift <= 0:
        return Fraction(ceil_div(value.numerator, value.denominator))
    return Fraction(ceil_div(value.numerator << shift, value.denominator), 1 << shift)
