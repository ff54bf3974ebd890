"""How large the error of a tapered average is: Student noise plus normal noise (T13, T21).

Student noise is normal noise whose variance is drawn at random: (nu - 2)/chi^2 with nu degrees of
freedom, for a variance of 1. So with a total of deviation cos(t) and a count of deviation sin(t)
the error is normal too, given that number, and everything about it is one integral, tabulated over
the angle t.
"""

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.laws.normal import normal_below, normal_density

_ANGLES = {"quantiles": 257, "sizes": 4097}
"""How many angles are tabulated; sizes are cheap, and shown to many digits: right to 1 in 10^7."""

_NODES = 600
_STEPS = 100
_CLOSE = 1e-11


def mixture_widths(total: Floats, count: Floats, confidence: Fraction, nu: int) -> Floats:
    """Return what |Student + normal| stays within with a confidence, given both deviations.

    >>> float(mixture_widths(np.array([0.0]), np.array([1.0]), Fraction(95, 100), 7)[0])
    1.9599...
    >>> float(mixture_widths(np.array([1.0]), np.array([0.0]), Fraction(95, 100), 7)[0])
    1.998...
    """
    return _looked_up(_quantiles(confidence, nu), total, count)


def mixture_sizes(total: Floats, count: Floats, nu: int) -> Floats:
    """Return E|Student + normal|, given both deviations."""
    return _looked_up(_sizes(nu), total, count)


def _looked_up(table: Floats, total: Floats, count: Floats) -> Floats:
    angles = np.arctan2(count, total)
    places = np.linspace(0, math.pi / 2, len(table))
    return np.asarray(np.hypot(total, count) * np.interp(angles, places, table))


def _mixing(nu: int, count: int) -> tuple[Floats, Floats]:
    """Return the deviations of the total given the number drawn, by angle, and their chances."""
    logs = np.linspace(-30.0, 6.0, _NODES)  # of chi^2 / 2, Gamma with shape nu / 2
    chances = np.exp(nu / 2 * logs - np.exp(logs))
    variances = (nu - 2) / (2 * np.exp(logs))
    angles = np.linspace(0, math.pi / 2, count)[:, None]
    squares = np.square(np.cos(angles)) * variances + np.square(np.sin(angles))
    return np.sqrt(squares), chances / chances.sum()


@lru_cache(maxsize=16)
def _quantiles(confidence: Fraction, nu: int) -> Floats:
    deviations, chances = _mixing(nu, _ANGLES["quantiles"])
    outside = float(1 - confidence) / 2
    low, high = np.zeros(len(deviations)), np.full(len(deviations), 1e6)
    found = np.full(len(deviations), NormalDist().inv_cdf(1 - outside))
    for _ in range(_STEPS):  # Newton's on the logarithm of the chance; halving where that leaves
        scores = found[:, None] / deviations
        chance = normal_below(-scores) @ chances
        low, high = np.where(chance > outside, found, low), np.where(chance > outside, high, found)
        falls = (normal_density(scores) / deviations) @ chances
        # Far out neither the chance nor its slope is above 0; there halving goes on.
        with np.errstate(divide="ignore", invalid="ignore"):
            step = chance / falls * np.log(chance / outside)
        is_inside = (found + step >= low) & (found + step <= high)
        following = np.where(is_inside, found + step, (low + high) / 2)
        is_found = np.abs(following - found) <= _CLOSE * found
        found = following
        if is_found.all():
            break
    return found


@lru_cache(maxsize=2)
def _sizes(nu: int) -> Floats:
    deviations, chances = _mixing(nu, _ANGLES["sizes"])
    return np.asarray(math.sqrt(2 / math.pi) * (deviations @ chances))
