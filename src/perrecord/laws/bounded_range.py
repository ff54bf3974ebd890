"""From bounded log ratios to zCDP, tightly: pure epsilon (T24), or a range of eta (T38)."""

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


def rho_of_pure(epsilon: Exact) -> Fraction:
    """Return the rho of a mechanism that is epsilon-DP: epsilon tanh(epsilon/2), rounded up (T24).

    Randomised response attains it; epsilon^2/2 is always above it.

    >>> round(float(rho_of_pure(5)), 4), rho_of_pure(0)
    (4.9331, Fraction(0, 1))
    """
    exact = rational(epsilon, "epsilon")
    if exact < 0:
        raise InputError(f"epsilon is {epsilon}; expected a number that is not negative.")
    if exact <= _SMALL:
        return exact**2 / 2
    return min(enclose(lambda: ball(exact) * (ball(exact) / 2).tanh(), _BITS).upper, exact)


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
