"""How large noise is, cell by cell: E|Z + b|, Pr[Z <= x], and the reach of |Z + b| (T21).

Z is the noise in steps of the grid, b a bias that goes with it, 0 or what top-coding took away.
Each law says in floats how likely it is to reach a point and how large it is; without a bias the
reach is its own half width, exact.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from perrecord.laws import DiscreteGaussian, Law
from perrecord.laws.widths import half_width

Floats = npt.NDArray[np.float64]

_HALVINGS = 200


class Relative:
    """Errors in cells, which can be told relative to the true numbers."""

    __slots__ = ()

    true: Floats

    @property
    def is_zero(self) -> npt.NDArray[np.bool_]:
        """Which cells have a true number of 0, or none at all: an average or a median of nobody."""
        return np.asarray((self.true == 0) | np.isnan(self.true))

    def relative(self, sizes: Floats) -> Floats:
        """Return sizes / |true|, NaN where the true number is 0."""
        found = np.full(len(sizes), np.nan)
        np.divide(sizes, np.abs(self.true), out=found, where=~self.is_zero)
        return found


def mean_size(law: Law, biases: Floats) -> Floats:
    """Return E|Z + b| for each bias.

    >>> from perrecord.laws import DiscreteLaplace
    >>> float(mean_size(DiscreteLaplace(1), np.zeros(1))[0])     # 1 / sinh(1)
    0.8509...
    """
    return law.float_sizes(np.abs(biases))


def below(law: Law, points: Floats) -> Floats:
    """Return Pr[Z <= x] for each whole x."""
    is_upper = points >= 0
    tails = law.float_tails(np.where(is_upper, points + 1, -points))
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


def gaussian(law: Law) -> DiscreteGaussian:
    """Return a law that is a discrete Gaussian, as every count and split or clamped total has."""
    assert isinstance(law, DiscreteGaussian)  # noqa: S101 - goals are in rho
    return law
