"""The laws that answers state, in lines of their own, and tests of draws against them.

Every test has a false-alarm rate, and all tests of an audit share one. A law is compared by
chi-square over bins that each expect ten draws or more, by its mean, which sees a bias first, and
by its second moment, which sees a wrong scale first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

FALSE_ALARM = 1e-6
"""The chance that an audit of a sound library reports anything, over all its tests."""

_FAR = 40.0
_CUT = {3: 12.0, 7: 8.0}
"""Student noise is cut at so many times sqrt A, so that normal theory holds for its moments."""
_LEAST_EXPECTED = 10.0
_MOST_BINS = 60


@dataclass(frozen=True, slots=True)
class OwnLaw:
    """Probabilities of the whole numbers from -reach to reach; beyond there is next to nothing."""

    reach: int
    chances: Floats
    variance: float | None = None
    """Where it is known in closed form, because what is beyond counts."""

    @classmethod
    def of(cls, weight: Callable[[int], float], scale: float) -> "OwnLaw":
        """Return the law whose probabilities are proportional to exp(-weight(|k|))."""
        reach = math.ceil(_FAR * scale) + 2
        half = np.array([math.exp(-min(weight(k), 700.0)) for k in range(reach + 1)])
        every = np.concatenate([half[:0:-1], half])
        return cls(reach, every / math.fsum(every))

    def mass(self, within: int) -> float:
        """Return the probability of at most so much in either direction."""
        if within >= self.reach:
            return 1.0
        return math.fsum(self.chances[self.reach - within : self.reach + within + 1])

    def tail(self, start: int) -> float:
        """Return the probability of at least so much."""
        return math.fsum(self.chances[max(0, start + self.reach) :])

    def moment(self, power: int) -> float:
        """Return the mean of a power of the noise, what is beyond taken as being at the end."""
        sizes = np.arange(-self.reach, self.reach + 1, dtype=np.float64)
        return math.fsum(self.chances * sizes**power)


def gaussian(variance: float) -> OwnLaw:
    """Return the discrete Gaussian: exp(-k^2 / (2 sigma^2))."""
    return OwnLaw.of(lambda k: k * k / (2 * variance), math.sqrt(variance) / 4)


def laplace(scale: float) -> OwnLaw:
    """Return the discrete Laplace: exp(-|k| / scale)."""
    return OwnLaw.of(lambda k: k / scale, scale)


def student(spread: float, nu: int) -> OwnLaw:
    """Return the discrete Student law: (A + k^2)^-m, m = (nu + 1)/2; its ends hold what is beyond.

    That is the integral from half a step on, and of so little that its error is nothing.
    """
    power, reach = (nu + 1) // 2, math.ceil(_CUT[nu] * math.sqrt(spread))
    sizes = np.arange(-reach, reach + 1, dtype=np.float64)
    every = (1 + sizes**2 / spread) ** -float(power)
    rest = spread**power * (reach + 0.5) ** (1 - 2 * power) / (2 * power - 1)
    every[[0, -1]] += rest * (1 - power * (2 * power - 1) / (2 * power + 1) / _CUT[nu] ** 2)
    return OwnLaw(reach, every / math.fsum(every), spread / (nu - 2))


def law_chance(noise: Whole, law: OwnLaw) -> float:
    """Return how likely noise is to look as odd as this, if it is of the law.

    The least of the p-values of the three tests, times three. Noise whose moments end is cut to
    the ends of the law first, where its probabilities are put, too.
    """
    if law.variance is not None:
        noise = np.clip(noise, -law.reach, law.reach)
    if len(noise) == 0 or np.abs(noise).max() > law.reach:
        return 0.0
    counts = np.bincount(noise + law.reach, minlength=len(law.chances))
    shape = counts_chance(counts, law.chances)
    second, fourth = law.moment(2), law.moment(4)
    sizes, root = noise.astype(np.float64), math.sqrt(len(noise))
    middle = float(np.mean(sizes)) / math.sqrt(max(second, 1e-300)) * root
    scale = (float(np.mean(sizes**2)) - second) / math.sqrt(max(fourth - second**2, 1e-300)) * root
    return min(1.0, 3 * min(shape, normal_chance(middle), normal_chance(scale)))


def counts_chance(
    counts: Sequence[int] | Whole | Floats, chances: Sequence[float] | Floats
) -> float:
    """Return the chi-square p-value of counts against probabilities, small bins put together."""
    total = float(np.sum(counts))
    expected, seen = [], []
    need = max(_LEAST_EXPECTED, total / _MOST_BINS)
    waiting = [0.0, 0.0]
    for count, chance in zip(counts, chances, strict=True):
        waiting[0] += float(chance) * total
        waiting[1] += float(count)
        if waiting[0] >= need:
            expected.append(waiting[0])
            seen.append(waiting[1])
            waiting = [0.0, 0.0]
    if not expected:
        return 1.0
    expected[-1] += waiting[0]
    seen[-1] += waiting[1]
    distance = sum((s - e) ** 2 / e for s, e in zip(seen, expected, strict=True))
    if len(expected) == 1:
        return 1.0 if abs(seen[0] - expected[0]) < 0.5 else 0.0
    return float(special.gammaincc((len(expected) - 1) / 2, distance / 2))


def normal_chance(off: float) -> float:
    """Return the chance that a normal number is further off, in deviations, on either side."""
    return float(2 * special.ndtr(-abs(off)))


def rate_chance(hits: int, runs: int, chance: float, *, at_least: bool = False) -> float:
    """Return the p-value of a rate: two-sided, or of falling short of what is promised."""
    if chance >= 1:
        return 1.0 if hits == runs else 0.0
    below = float(special.bdtr(hits, runs, chance)) if hits < runs else 1.0
    if at_least:
        return below
    above = float(special.bdtrc(hits - 1, runs, chance)) if hits > 0 else 1.0
    return min(1.0, 2 * min(below, above))
