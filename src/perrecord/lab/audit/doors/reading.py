"""The audit's own reading of a number as it was spelled. Nothing of perrecord is used for it.

The public rule: blanks, a sign, digits with at most one point, an exponent of at most three digits,
in at most 400 characters. Whole numbers, decimals and text count as what they say, and so do whole
floats of 64 bits; another float counts as the decimal that a person wrote, which the audit keeps to
14 digits (6 in 32 bits), because more than that a float does not hold for certain. NULL, NaN, what
is infinite and what is no number are missing. The number is rounded to the grid, a tie away from
zero; what is beyond the largest is missing, or cut to it.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

Spelled = str | int | float | np.float32 | Decimal | None
"""A number as a source holds it."""

MOST_CHARACTERS = 400
FLOAT_DIGITS, FLOAT32_DIGITS = 14, 6
_EXPONENT = "[+-]?[0-9]{1,3}"
_WRITTEN = re.compile(
    r"[ \t\n\v\f\r]*([+-]?)(?=[0-9.])([0-9]*)(?:\.([0-9]*))?"
    rf"(?:[eE]({_EXPONENT}))?[ \t\n\v\f\r]*"
)


def steps(
    spelled: Spelled, step: Fraction, largest: int, outside: Literal["null", "cut"]
) -> int | None:
    """Return the whole number of steps that a spelled number stands for; None if it is missing.

    >>> steps("+2.5e0", Fraction(1), 100, "null"), steps(-2.5, Fraction(1), 100, "null")
    (3, -3)
    >>> steps("1e3", Fraction(1), 100, "cut"), steps("1_0", Fraction(1), 100, "cut")
    (100, None)
    """
    exact = number(spelled)
    if exact is None:
        return None
    size = math.floor(abs(exact) / step + Fraction(1, 2))
    if size > largest:
        if outside == "null":
            return None
        size = largest
    return size if exact >= 0 else -size


def number(spelled: Spelled) -> Fraction | None:
    """Return the exact number; None if it is missing.

    >>> number("27835881828832004E-14"), number("1e"), number(0.1 + 0.2)
    (Fraction(6958970457208001, 25000000000000), None, Fraction(3, 10))
    """
    if isinstance(spelled, str):
        return _of_text(spelled)
    if isinstance(spelled, float | np.floating):
        digits = FLOAT_DIGITS if isinstance(spelled, float) else FLOAT32_DIGITS
        return _of_float(float(spelled), digits)
    if spelled is None or (isinstance(spelled, Decimal) and not spelled.is_finite()):
        return None
    return Fraction(spelled)


def _of_float(held: float, digits: int) -> Fraction | None:
    if not math.isfinite(held):
        return None
    return Fraction(held) if held.is_integer() else Fraction(f"{held:.{digits}g}")


def _of_text(written: str) -> Fraction | None:
    found = _WRITTEN.fullmatch(written)
    if found is None or len(written) > MOST_CHARACTERS:
        return None
    sign, whole, places, power = found.groups()
    digits = whole + (places or "")
    if not digits:
        return None
    value = int(digits) * Fraction(10) ** (int(power or 0) - len(places or ""))
    return -value if sign == "-" else value
