"""Numbers as people read them."""

import math
from decimal import ROUND_FLOOR, Decimal

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LARGE = 1e9
"""From here on numbers are written as powers of ten."""
_SPACE = "\N{NO-BREAK SPACE}"


def amount(value: float | None, digits: int = 3) -> str:
    r"""Return a number with so many significant digits; whole ones and large ones are grouped.

    >>> amount(0.30517), amount(1234567.8), amount(1e-7), amount(2e12), amount(0)
    ('0.305', '1,234,568', '10⁻⁷', '2\xa0×\xa010¹²', '0')

    What is missing is a dash:

    >>> amount(None), amount(math.inf)
    ('–', '∞')
    """
    if value is None or math.isnan(value):
        return "–"
    if value < 0:
        return f"−{amount(-value, digits)}"
    if math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if not 1e-4 <= rounded < _LARGE:
        return _power(rounded, digits)
    places = max(0, digits - 1 - math.floor(math.log10(rounded)))
    written = f"{value:,.{places}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def amount_down(value: float | None, digits: int = 3) -> str:
    """Return a number that is a lower bound: the same, but never above it.

    >>> amount(0.98765), amount_down(0.98765), amount_down(0.5), amount_down(0)
    ('0.988', '0.987', '0.5', '0')
    """
    if value is None or not math.isfinite(value) or value <= 0:
        return amount(value, digits)
    exact = Decimal(value)
    last = exact.adjusted() - digits + 1
    step = Decimal(1).scaleb(last if value >= _LARGE else min(last, 0))
    return amount(float(exact.quantize(step, ROUND_FLOOR)), digits)


def percent(share: float | None, digits: int = 3) -> str:
    r"""Return a share in per cent.

    >>> percent(0.05), percent(0.98765), percent(12), percent(None)
    ('5\xa0%', '98.8\xa0%', '1,200\xa0%', '–')
    """
    written = amount(None if share is None else 100 * share, digits)
    return written if written == "–" else f"{written}{_SPACE}%"


def _power(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    factor = amount(float(mantissa))
    return power if factor == "1" else f"{factor}{_SPACE}×{_SPACE}{power}"
