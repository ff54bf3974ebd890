"""What the statistical tests of noise share: one corrected p-value for a sample and a law.

`p_value` returns a number that, for a sampler that is right, is below x with probability at most
x (Bonferroni over the statistics inside). Every test states its own false-alarm rate; with the
same function the deliberately broken samplers must be rejected.
"""

import tracemalloc
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent, Law
from perrecord.noise.bits import BitSource

FALSE_ALARM = 1e-7
"""Of each assertion of a quick test, of which there are some sixty: one false alarm in more than a
hundred thousand runs of all."""

_BINS = 240
_LEAST_EXPECTED = 200.0
"""In a bin of the quick tests' millions: chi-square theory holds to their 1e-7. Below, a count is
tested exactly. Small samples at milder levels pass less."""
_MODULI = (2, 3, 4, 5, 7, 8, 10, 16, 25, 64, 100, 128, 256)


class Replayed(BitSource):
    """A seeded source: for tests that must reject, so that they never flicker."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def fill(self, buffer: NDArray[np.uint8]) -> None:
        """Overwrite the buffer with bytes of numpy's generator."""
        buffer[:] = np.frombuffer(self._generator.bytes(len(buffer)), dtype=np.uint8)


def gaussian(sigma: str) -> DiscreteGaussian:
    """Return the discrete Gaussian with this parameter sigma, an exact decimal."""
    return DiscreteGaussian(Fraction(sigma) ** 2)


def p_value(values: NDArray[np.int64], law: Law) -> float:
    """Return the least p-value of all statistics, times their number."""
    every = [chi_square(values, law), *moments(values, law), *tails(values, law), zero(values, law)]
    every += spread(values, law)
    return min(1.0, len(every) * min(every))


def chi_square(values: NDArray[np.int64], law: Law) -> float:
    """Return the p-value of Pearson's test on bins that cover all integers."""
    width = float(law.variance()) ** 0.5
    reach = int(6 * width) + 3
    edges = np.unique(np.linspace(-reach, reach, _BINS).round().astype(np.int64))
    above = np.array([float(law.tail(int(edge))) for edge in edges])
    chances = np.concatenate([[1 - above[0]], above[:-1] - above[1:], [above[-1]]])
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(chances))
    return pearson(counts, chances, _LEAST_EXPECTED)


def pearson(counts: NDArray[np.int64], chances: NDArray[np.float64], least: float = 20.0) -> float:
    """Return the p-value of Pearson's test, bins of small expectation merged into one."""
    expected = counts.sum() * chances
    small = expected < least
    if small.any():
        counts = np.append(counts[~small], counts[small].sum())
        expected = np.append(expected[~small], max(expected[small].sum(), 1e-300))
        if expected[-1] < least:  # too few for chi-square: an exact test of its own
            rare = stats.binomtest(int(counts[-1]), int(counts.sum()), expected[-1] / counts.sum())
            if len(counts) == 2:
                return float(rare.pvalue)
            common = pearson(counts[:-1], expected[:-1] / expected[:-1].sum(), least)
            return min(1.0, 2 * min(float(rare.pvalue), common))
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, len(counts) - 1))


def moments(values: NDArray[np.int64], law: Law) -> list[float]:
    """Return p-values of the mean and of the second moment."""
    if isinstance(law, DiscreteStudent):
        return []  # a mean of squares is far from normal where moments end; tails are counted
    variance = float(law.variance())
    if len(values) * (1 - float(law.pmf(0))) < 1000:
        return []  # too few values that are not 0 for normal theory; counts are tested exactly
    assert isinstance(law, DiscreteGaussian | DiscreteLaplace)
    fourth = _fourth_moment(law)
    scaled = values / variance**0.5
    mean = scaled.mean() * len(values) ** 0.5
    second = (np.square(scaled).mean() - 1) / ((fourth / variance**2 - 1) / len(values)) ** 0.5
    return [float(2 * stats.norm.sf(abs(score))) for score in (mean, second)]


def tails(values: NDArray[np.int64], law: Law) -> list[float]:
    """Return p-values of how many values lie far out, on either side."""
    p_values = []
    for chance in ("1e-2", "1e-4", "1e-5"):
        point = law.tail_point(chance)
        exact = float(law.tail(point))
        for count in ((values >= point).sum(), (values <= -point).sum()):
            p_values.append(float(stats.binomtest(int(count), len(values), exact).pvalue))
    return p_values


def zero(values: NDArray[np.int64], law: Law) -> float:
    """Return the p-value of how many values are 0."""
    count = int((values == 0).sum())
    return float(stats.binomtest(count, len(values), float(law.pmf(0))).pvalue)


def spread(values: NDArray[np.int64], law: Law) -> list[float]:
    """Return p-values of the remainders, which a wide Gaussian or Student spreads evenly.

    For sigma >= 2m the remainders modulo m are uniform within 2 exp(-8 pi^2) < 1e-33; for
    sqrt A >= 8m within 10^6 exp(-16 pi) < 1e-15.
    """
    match law:
        case DiscreteGaussian(sigma_squared=squared):
            fitting = [m for m in _MODULI if 4 * m * m <= squared]
        case DiscreteStudent(spread=squared):
            fitting = [m for m in _MODULI if 64 * m * m <= squared]
        case _:
            return []
    return [pearson(np.bincount(values % m, minlength=m), np.full(m, 1 / m)) for m in fitting]


def _fourth_moment(law: DiscreteGaussian | DiscreteLaplace) -> float:
    variance = float(law.variance())
    if variance > 1e6:  # the lattice no longer shows
        return (3.0 if isinstance(law, DiscreteGaussian) else 6.0) * variance**2
    reach = int(60 * variance**0.5) + 10
    points = np.arange(-reach, reach + 1, dtype=np.float64)
    if isinstance(law, DiscreteGaussian):
        weights = np.exp(-np.square(points) / (2 * float(law.sigma_squared)))
    else:
        weights = np.exp(-np.abs(points) / float(law.scale))
    return float((points**4 * weights).sum() / weights.sum())


def digits_are_those_of(values: NDArray[np.object_], exponent: int, modulus: int, law: Law) -> bool:
    """Tell whether huge Python integers have random last digits, and leading ones of a law.

    The law is that of the values without all but six of their `exponent` digits.
    """
    assert values.dtype == np.object_
    assert all(type(value) is int for value in values[:10])
    assert max(abs(value) for value in values) > 2**62
    low = np.array([value % modulus for value in values], dtype=np.int64)
    counts, chances = np.bincount(low, minlength=modulus), np.full(modulus, 1 / modulus)
    leading = np.array([value // 10 ** (exponent - 6) for value in values], dtype=np.int64)
    return pearson(counts, chances) > FALSE_ALARM and p_value(leading, law) > FALSE_ALARM


def memory_for(draw: Callable[[], NDArray[np.int64]]) -> float:
    """Return the peak of the memory that a draw takes, as a multiple of its result."""
    tracemalloc.start()
    try:
        values = draw()
        return tracemalloc.get_traced_memory()[1] / values.nbytes
    finally:
        tracemalloc.stop()
