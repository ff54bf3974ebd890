"""How unlikely it is that noise alone sets a number so far apart from the sum of others.

A published number less the sum of those below it is a sum D of independent noise, if lists of keys
are complete. Gaussian noise has E exp(aZ) <= exp(a^2 s / 2), s its parameter sigma^2. Any other
noise is at most y, but for a small probability that is counted apart; cut there it has mean 0 and
variance at most v, so that E exp(aZ) <= exp(v (exp(ay) - 1 - ay) / y^2) (Bennett). So for every a

    Pr[|D| >= t] <= 2 exp(-(a t - a^2 S / 2 - V (exp(ay) - 1 - ay) / y^2))

with S and V the sums of s and v. docs/theory.md has it in full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perrecord.laws import DiscreteGaussian, Law
from perrecord.laws.widths import deviation, half_width
from perrecord.released.fitting.trees import Floats, Indices

FALSE_ALARMS = Fraction(1, 10**6)
"""How often a release is said to contradict itself that does not, at most."""
_LEAST = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSizes:
    """How large the noise of each row is: by its Gaussian part, and by whatever is not Gaussian."""

    normal: Floats
    """sigma^2 by row, in squared steps; one number where all rows have the same."""
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

    def summed(self, rows: Indices, listed: Indices) -> "NoiseSizes":
        """Return the sizes of sums of rows: which sum each row is in, and how many are in each."""

        def total(sizes: Floats) -> Floats:
            if not np.ndim(sizes):
                return np.asarray(sizes * listed)
            return np.asarray(np.bincount(rows, sizes, len(listed) + 1)[:-1])

        return NoiseSizes(total(self.normal), total(self.heavy), self.farthest)

    def with_noise(self, other: "NoiseSizes") -> "NoiseSizes":
        """Return the sizes of a difference, row by row."""
        farthest = max(self.farthest, other.farthest)
        return NoiseSizes(self.normal + other.normal, self.heavy + other.heavy, farthest)

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
