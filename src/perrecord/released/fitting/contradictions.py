"""How unlikely it is that noise alone sets a number so far apart from the sum of others.

A published number less the sum of those below it is a sum D of independent noise, if lists of keys
are complete. Gaussian noise has E exp(aZ) <= exp(a^2 s / 2), s its parameter sigma^2. Any other
noise is at most y, but for a small probability that is counted apart; cut there it has mean 0 and
variance at most v, so that E exp(aZ) <= exp(v (exp(ay) - 1 - ay) / y^2) (Bennett). So for every a

    Pr[|D| >= t] <= 2 exp(-(a t - a^2 S / 2 - V (exp(ay) - 1 - ay) / y^2))

with S and V the sums of s and v. docs/theory.md has it in full. Since exp(x) - 1 - x >= x^2 / 2 for
x >= 0, no a gives an exponent above t^2 / (2 (S + V)): rows whose distance is small beside their
variance are cleared by that alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from perrecord.laws import DiscreteGaussian, Law
from perrecord.laws.widths import deviation, half_width
from perrecord.released.fitting.trees import Floats, Indices

FALSE_ALARMS = Fraction(1, 10**6)
"""How often a release is said to contradict itself that does not, at most."""
_LEAST = 1e-200
_SLACK = 1e-6
"""How much nearer, relatively, a row must be to be cleared at once: more than rounding moves."""


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSizes:
    """How large the noise of each row is: by its Gaussian part, and by whatever is not Gaussian."""

    normal: Floats
    """sigma^2 by row, in squared steps; 1 long on axes along which all rows have the same."""
    heavy: Floats
    """The variance of other noise, alike."""
    farthest: float
    """What no such noise exceeds."""

    @classmethod
    def of(cls, laws: Sequence[Law], which: Indices, chance: Fraction | None) -> "NoiseSizes":
        """Return the sizes of the noise of laws by row, each beyond its farthest with this chance.

        No chance is needed where all noise is Gaussian.
        """
        normal = np.array(
            [float(law.sigma_squared) if isinstance(law, DiscreteGaussian) else 0 for law in laws]
        )
        heavy = np.array(
            [0 if isinstance(law, DiscreteGaussian) else deviation(law) ** 2 for law in laws]
        )
        farthest = max(
            (
                float(half_width(law, 1 - chance))
                for law in laws
                if not isinstance(law, DiscreteGaussian) and chance is not None
            ),
            default=0.0,
        )
        if len(laws) == 1:
            return cls(normal[0], heavy[0], farthest)
        return cls(normal[which], heavy[which], farthest)

    def summed(self, listed: Indices, sums: Callable[[Floats], Floats]) -> "NoiseSizes":
        """Return the sizes of sums of rows, from how many are in each and what adds up any."""

        def total(sizes: Floats) -> Floats:
            return np.asarray(sums(sizes) if np.ndim(sizes) else sizes * listed)

        return NoiseSizes(total(self.normal), total(self.heavy), self.farthest)

    def with_noise(self, other: "NoiseSizes", shape: tuple[int, ...]) -> "NoiseSizes":
        """Return the sizes of a difference, row by row; rows have that shape."""

        def both(one: Floats, two: Floats) -> Floats:
            return np.asarray(_shaped(one, shape) + _shaped(two, shape))

        farthest = max(self.farthest, other.farthest)
        normal, heavy = both(self.normal, other.normal), both(self.heavy, other.heavy)
        return NoiseSizes(normal, heavy, farthest)

    def at(self, rows: Indices, shape: tuple[int, ...]) -> "NoiseSizes":
        """Return the sizes of some rows, by their numbers among all of a shape."""
        where = np.unravel_index(rows, shape)
        normal, heavy = (np.broadcast_to(each, shape)[where] for each in (self.normal, self.heavy))
        return NoiseSizes(normal, heavy, self.farthest)

    def least_distances(self, exponent: float) -> Floats:
        """Return distances, none of which has more than this exponent; nor has any below them."""
        widest = np.sqrt(2 * exponent * (self.normal + self.heavy))
        return np.asarray(widest * (1 - _SLACK))

    def exponents(self, distances: Floats) -> Floats:
        """Return for each distance t a number e with Pr[|D| >= t] <= 2 exp(-e)."""
        normal = np.maximum(self.normal, _LEAST)
        heavy, far = np.maximum(self.heavy, _LEAST), self.farthest
        if not far:
            return np.asarray(distances * (distances / normal) / 2)
        share = np.where((self.normal > 0) & (self.heavy > 0), 0.5, 1.0)
        by_normal = np.where(self.normal > 0, share * distances / normal, np.inf)
        by_heavy = np.where(self.heavy > 0, np.log1p(share * distances * far / heavy) / far, np.inf)
        at = np.minimum(by_normal, by_heavy)
        reach = np.where(self.heavy > 0, at * far, 0.0)  # rows without such noise reach anything
        taken = at * at * self.normal / 2 + self.heavy * ((np.expm1(reach) - reach) / far / far)
        return np.asarray(at * distances - taken)

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each number, or slightly more."""
        return np.asarray(np.sqrt(self.normal + self.heavy))


def _shaped(sizes: Floats, shape: tuple[int, ...]) -> Floats:
    """Return sizes by row in the shape of the rows; those that are so already as they are."""
    return np.reshape(sizes, shape) if np.size(sizes) == prod(shape) else np.asarray(sizes)
