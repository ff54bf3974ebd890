"""How large noise is, cell by cell: E|Z + b|, Pr[Z <= x], and the reach of |Z + b| (T21).

Z is the noise in steps of the grid, b a bias that goes with it, 0 or what top-coding took away.
Discrete Gaussians up to sigma = 30 are added up from their definition; beyond, the Euler-Maclaurin
corrections of the normal law leave an error below 10^-8. Laplace noise has closed forms. Without a
bias the reach is the law's own half width, exact.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from perrecord.exact import float_up
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, Law
from perrecord.laws.widths import half_width

Floats = npt.NDArray[np.float64]

_SMALL = 900
"""Up to this sigma^2 a discrete Gaussian is added up."""

_HALVINGS = 200


def mean_size(law: Law, biases: Floats) -> Floats:
    """Return E|Z + b| for each bias.

    By symmetry it is E max(|Z|, |b|): noise below the bias cancels out.

    >>> float(mean_size(DiscreteLaplace(1), np.zeros(1))[0])     # 1 / sinh(1)
    0.8509...
    """
    sizes = np.abs(biases)
    if isinstance(law, DiscreteLaplace):
        rate = -1 / float_up(law.scale)
        return np.asarray(sizes - 2 * np.exp((sizes + 1) * rate) / math.expm1(2 * rate))
    sigma = math.sqrt(gaussian(law).sigma_squared)
    if sigma**2 <= _SMALL:
        chances, moments = _added_up(gaussian(law))
        place = np.minimum(sizes, len(chances) - 1).astype(np.int64)
        return np.asarray(sizes * (1 - 2 * chances[place]) + 2 * moments[place])
    # |x + b| has a kink at an integer, where Euler-Maclaurin takes off a sixth of the density.
    return np.asarray(normal_size(sigma, sizes) - normal_density(sizes / sigma) / (6 * sigma))


def normal_size(sigma: Floats | float, biases: Floats) -> Floats:
    """Return E|N + b| for normal noise."""
    scores = biases / sigma
    return np.asarray(2 * sigma * normal_density(scores) + biases * (1 - 2 * normal_below(-scores)))


def normal_below(scores: Floats) -> Floats:
    """Return Pr[N <= score] for a standard normal."""
    return 0.5 * np.asarray(_ERFC(-scores / math.sqrt(2)), dtype=np.float64)


def below(law: Law, points: Floats) -> Floats:
    """Return Pr[Z <= x] for each whole x."""
    is_upper = points >= 0
    tails = _tails(law, np.where(is_upper, points + 1, -points))
    return np.where(is_upper, 1 - tails, tails)


def reach(law: Law, biases: Floats, confidence: Fraction) -> Floats:
    """Return the least whole w with Pr[|Z + b| <= w] >= confidence, for each bias."""
    width = float(half_width(law, confidence))
    found = np.full(len(biases), width)
    biased = np.flatnonzero(biases)
    if len(biased):
        sizes = np.abs(biases[biased])

        def chance(widths: Floats) -> Floats:
            whole = np.floor(widths)
            return below(law, whole - sizes) - below(law, -whole - sizes - 1)

        found[biased] = np.floor(least(chance, sizes + width, float(confidence), 1.0))
    return found


def least(
    chance: Callable[[Floats], Floats], enough: Floats, confidence: float, step: float
) -> Floats:
    """Return the least widths that reach a confidence, to a step or to one part in 10^12."""
    low, high = np.full(len(enough), -step), enough
    for _ in range(_HALVINGS):
        if np.all(high - low <= np.maximum(step / 2, 1e-12 * high)):
            break
        middle = (low + high) / 2
        is_enough = chance(middle) >= confidence
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return high


def _tails(law: Law, starts: Floats) -> Floats:
    """Return Pr[Z >= start] for starts of 1 or more."""
    if isinstance(law, DiscreteLaplace):
        rate = -1 / float_up(law.scale)
        return np.asarray(np.exp(starts * rate) / (1 + math.exp(rate)))
    sigma = math.sqrt(gaussian(law).sigma_squared)
    if sigma**2 <= _SMALL:
        chances, _ = _added_up(gaussian(law))
        return np.asarray(chances[np.minimum(starts - 1, len(chances) - 1).astype(np.int64)])
    scores = (starts - 0.5) / sigma
    return np.asarray(normal_below(-scores) - scores * normal_density(scores) / (24 * sigma**2))


def gaussian(law: Law) -> DiscreteGaussian:
    """Return a law that is a discrete Gaussian."""
    assert isinstance(law, DiscreteGaussian)  # noqa: S101 - the other of the two laws
    return law


@lru_cache(maxsize=1024)
def _added_up(law: DiscreteGaussian) -> tuple[Floats, Floats]:
    """Return Pr[Z > x] and the sum of k Pr[Z = k] over k > x, for x = 0, 1, ... until all is 0."""
    sigma = math.sqrt(law.sigma_squared)
    numbers = np.arange(1, math.ceil(40 * sigma) + 3, dtype=np.float64)
    weights = np.exp(-((numbers / sigma) ** 2) / 2)
    masses = weights / (1 + 2 * weights.sum())
    return _from_the_end(masses), _from_the_end(numbers * masses)


def _from_the_end(numbers: Floats) -> Floats:
    return np.append(np.cumsum(numbers[::-1])[::-1], 0.0)


def normal_density(scores: Floats) -> Floats:
    """Return the density of a standard normal."""
    return np.asarray(np.exp(-(scores**2) / 2) / math.sqrt(2 * math.pi))


_ERFC = np.frompyfunc(math.erfc, 1, 1)
