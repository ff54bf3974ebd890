"""What log ratios within a range cost: from a range of eta to zCDP, tightly (T38)."""

from fractions import Fraction
from functools import lru_cache

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, rational
from perrecord.laws.enclosure import Enclosure, ball, enclose

_SMALL = Fraction(1, 1 << 48)
_BITS = 96


def bounded_range(eta: Exact) -> Enclosure:
    """Return f(eta): if ln dP/dQ varies within a range of eta, D_alpha <= alpha f(eta) (T38).

        f(eta) = y - 1 - ln y   with   y = eta / (1 - exp(-eta))

    It is the least such bound, below min(eta^2/8, eta), and enclosed to one part in 2^96.

    >>> bounded_range(2)
    Enclosure(0.474474..., 0.474474...)
    >>> bounded_range(0).upper
    Fraction(0, 1)
    """
    exact = rational(eta, "eta")
    if exact < 0:
        raise InputError(f"eta is {eta}; expected a range, a number that is not negative.")
    return _enclosed(exact)


@lru_cache(maxsize=4096)
def _enclosed(eta: Fraction) -> Enclosure:
    square = eta**2 / 8
    if eta <= _SMALL:  # where y - 1 and ln y nearly cancel: f = eta^2/8 (1 - eta^2/72 + ...)
        return Enclosure(square * (1 - eta**2 / 72), square)
    found = enclose(lambda: _f(eta), bits=_BITS)
    return Enclosure(found.lower, min(found.upper, square, eta))


def _f(eta: Fraction) -> arb:
    y = ball(eta) / -ball(-eta).expm1()
    return y - 1 - y.log()
