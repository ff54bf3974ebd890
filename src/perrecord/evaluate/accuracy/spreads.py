"""The most Student noise with which cells come within an error: `within` for tapered answers (T22).

Tapered totals have no bias, so a cell asks for the largest A with Pr[|Z| <= limit] >= confidence.
With v = (limit + 1/2) / sqrt A the chance to be beyond is the integral of the density from v on,
less what the midpoint rule says of the steps, 2 m v / (24 A (1 + v^2)) times the density. Below
sqrt A = 50 steps the nearest terms are added one by one.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.laws.tapering import power_of

_MARGIN = 1e-6
_WIDE = 2500.0
TERMS = 64
_HALVINGS = 60
_TABLED = 256
_NODES, _WEIGHTS = (each / 2 for each in np.polynomial.legendre.leggauss(32))
_NODES = _NODES + 0.5  # on [0, 1]


def largest_spreads(limits: Floats, confidence: Fraction, nu: int) -> Floats:
    """Return the largest A, rounded down, with Pr[|Z| <= limit] >= confidence.

    Limits are whole numbers from 0.

    >>> from perrecord.laws import DiscreteStudent
    >>> (found,) = largest_spreads(np.array([166.0]), Fraction(95, 100), 7)
    >>> every = [DiscreteStudent(Fraction(found)), DiscreteStudent(Fraction(found * 1.001))]
    >>> [each.half_width("0.95") for each in every]
    [166, 167]
    """
    values, places = np.unique(limits, return_inverse=True)
    power, outside = power_of(nu), float(1 - confidence) / 2
    far = _far(outside, power)
    points = values + 0.5
    found = np.square(points / far)
    found = np.square(points / (far - power * far / (12 * found * (1 + far**2))))
    is_narrow = np.square(points / far) < _WIDE
    if is_narrow.any():
        found[is_narrow] = _narrow(values[is_narrow], outside, power)
    return np.asarray(found[places] * (1 - _MARGIN))


def _narrow(values: Floats, outside: float, power: int) -> Floats:
    """Return the largest A of narrow noise that leaves so little beyond each limit."""
    if values[-1] < _TABLED:
        return _table(outside, power)[values.astype(np.intp)]
    return _halved(values + 0.5, outside, power)


@lru_cache(maxsize=64)
def _table(outside: float, power: int) -> Floats:
    """Return the largest A for the limits from 0 on: those of one goal are asked for many times."""
    return _halved(np.arange(_TABLED, dtype=np.float64) + 0.5, outside, power)


def _halved(points: Floats, outside: float, power: int) -> Floats:
    """Return the largest A of narrow noise that leaves so little beyond each point."""
    low, high = np.full(len(points), 1e-9), np.full(len(points), 4 * _WIDE)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        is_met = beyond(points, middle, power) <= outside
        low, high = np.where(is_met, middle, low), np.where(is_met, high, middle)
    return low


def beyond(points: Floats, spreads: Floats, power: int) -> Floats:
    """Return Pr[Z > limit], the limits half a step below the points."""
    first = (points + 0.5)[:, None] + np.arange(TERMS)
    near = ((1 + first**2 / spreads[:, None]) ** -power).sum(axis=1)
    ends, roots = points + TERMS, np.sqrt(spreads)
    u = ends / roots
    slope = -2 * power * ends / spreads * (1 + u**2) ** (-power - 1)
    return np.asarray((near + roots * integral(u, power) + slope / 24) / whole(spreads, power))


def whole(spreads: Floats, power: int) -> Floats:
    """Return the sum of (1 + k^2/A)^-m over all integers."""
    terms = np.arange(1, TERMS + 1)
    near = 1 + 2 * ((1 + terms**2 / spreads[:, None]) ** -power).sum(axis=1)
    end, roots = TERMS + 0.5, np.sqrt(spreads)
    u = end / roots
    slope = -2 * power * end / spreads * (1 + u**2) ** (-power - 1)
    return np.asarray(near + 2 * (roots * integral(u, power) + slope / 24))


def integral(u: Floats, power: int) -> Floats:
    """Return the integral of (1 + t^2)^-m from u > 0 on, by quadrature of smooth functions."""
    column = u[:, None]
    beyond = (_WEIGHTS * column * _NODES ** (2 * power - 2)
              / (_NODES**2 + column**2) ** power).sum(axis=1)  # t = u / s  # fmt: skip
    inside = (_WEIGHTS * column * (1 + (column * _NODES) ** 2) ** -power).sum(axis=1)
    return np.asarray(np.where(u > 1, beyond, _half(power) - inside))


def _half(power: int) -> float:
    """Return the integral of (1 + t^2)^-m from 0 on."""
    found = np.pi / 2
    for order in range(1, power):
        found *= (2 * order - 1) / (2 * order)
    return float(found)


@lru_cache(maxsize=1024)
def _far(outside: float, power: int) -> float:
    """Return the u beyond which so much of the density lies."""
    low, high = 1e-12, 1e12
    whole = 2 * _half(power)
    for _ in range(200):
        middle = np.sqrt(low * high)
        is_met = integral(np.array([middle]), power)[0] <= outside * whole
        low, high = (low, middle) if is_met else (middle, high)
    return float(high)
