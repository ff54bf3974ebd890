"""The least that a number costs a record, whatever its noise: only how accurate it is counts (T30).

Any unbiased release of a number, of variance V at most, that a record moves by r has

    P(r) >= 2 t atanh(t),    t = r / sqrt(r^2 + 4V)

which is r^2 / (2V) for small r, where Gaussian noise attains it, and ln(r^2 / V) for large. With
B = r / (2 sqrt V) it is 2 B asinh(B) / sqrt(1 + B^2), without cancellation.
"""

from fractions import Fraction
from functools import lru_cache

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, rational
from perrecord.laws.enclosure import ball, enclose

_BITS = 96
_SLACK = 1 - 2.0**-40
"""A dozen roundings, each of one part in 2^52 at most, add less than this takes off."""


def least_rho(shift: Exact, variance: Exact) -> Fraction:
    """Return the least loss under zCDP of a shift, rounded down by less than one part in 2^96.

    >>> [round(float(least_rho(size, 1250)), 3) for size in (1, 50, 50_000)]
    [0.0, 0.76, 14.509]
    """
    exact, size = rational(variance, "the variance"), rational(shift, "the shift")
    if exact <= 0:
        raise InputError(f"the variance is {variance}; expected a number above 0.")
    return _rounded_down(size**2 / (4 * exact))


@lru_cache(maxsize=65536)
def _rounded_down(x: Fraction) -> Fraction:
    return enclose(lambda: _least(x), _BITS).lower if x else Fraction(0)


def _least(x: Fraction) -> arb:
    return 2 * (ball(x) / ball(1 + x)).sqrt() * ball(x).sqrt().asinh()


def least_sql(ratio: str) -> str:
    """Return the same of B = |shift| / (2 sqrt V), a DOUBLE, as SQL, and never above it."""
    return f"{2 * _SLACK!r} * {ratio} * asinh({ratio}) / sqrt(1 + {ratio} * {ratio})"
