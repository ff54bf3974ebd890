"""Exact binomial counts, from five trials to 10^30 (false-alarm rate 1e-7 each)."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from perrecord.laws import DiscreteGaussian, DiscreteLaplace
from perrecord.noise import binomial, passing
from tests import first
from tests.noise.checks import FALSE_ALARM, pearson

DRAWS = 1500


@pytest.mark.parametrize(
    ("trials", "chance"),
    first(3, [(1, "0.3"), (12, "0.9"), (900, "0.37"), (5, "1/2"), (40, "0.01")]),
)
def test_small_binomials_follow_their_law(trials, chance):
    """Chi-square against scipy's probabilities."""
    law = stats.binom(trials, float(Fraction(chance)))
    values = np.array([binomial(trials, chance) for _ in range(DRAWS)])
    edges = np.unique(law.ppf(np.linspace(0.02, 0.98, 30))).astype(np.int64)
    below = np.array([0.0, *law.cdf(edges), 1.0])
    counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
    chances = np.diff(below)
    possible = chances > 0
    assert counts[~possible].sum() == 0
    assert pearson(counts[possible], chances[possible]) > FALSE_ALARM


@pytest.mark.parametrize(
    ("trials", "chance"),
    first(2, [(10**9, "1e-4"), (10**30, "1e-3"), (10**9, "1/2"), (10**18, "2/3")]),
)
def test_huge_binomials_are_standard_normal_once_scaled(trials, chance):
    """Kolmogorov-Smirnov against the limit, whose error here is far below what 1000 draws see."""
    exact = Fraction(chance)
    deviation = float(trials * exact * (1 - exact)) ** 0.5
    scaled = [float(binomial(trials, chance) - trials * exact) / deviation for _ in range(1000)]
    assert stats.kstest(scaled, "norm").pvalue > FALSE_ALARM


def test_a_binomial_with_a_wrong_chance_is_rejected():
    """The check can fail: a chance off by a thousandth shows at a million trials."""
    scaled = [(binomial(10**6, "0.501") - 500_000) / 500 for _ in range(1000)]
    assert stats.kstest(scaled, "norm").pvalue < FALSE_ALARM


@pytest.mark.parametrize("at_least", [12, 3, 1, 0, -2])
def test_how_many_pass_a_threshold(at_least):
    """The number of empty cells above tau is binomial with the noise law's own tail (T9)."""
    law, trials = DiscreteGaussian("5"), 10**8
    chance = float(law.tail(at_least))
    expected = trials * chance
    values = np.array([passing(trials, law, at_least) for _ in range(400)], dtype=float)
    score = (values.mean() - expected) / (expected * (1 - chance) / len(values)) ** 0.5
    assert 2 * stats.norm.sf(abs(score)) > FALSE_ALARM
    ratio = values.var(ddof=1) / (expected * (1 - chance))
    tail = stats.chi2(len(values) - 1)
    assert 2 * min(tail.sf(ratio * 399), tail.cdf(ratio * 399)) > FALSE_ALARM


def test_thresholds_that_none_or_all_pass():
    """Far out on either side the answer is certain, and still quick."""
    assert passing(10**12, DiscreteGaussian("5"), 1000) == 0
    assert passing(10**12, DiscreteGaussian("5"), -1000) == 10**12
    assert passing(10**12, DiscreteLaplace("2"), 10**6) == 0
    assert passing(0, DiscreteGaussian("5"), 3) == 0


def test_certain_trials_need_no_randomness():
    """Chances 0 and 1, and no trials at all."""
    assert binomial(10, 0) == 0
    assert binomial(10, 1) == 10
    assert binomial(0, "0.5") == 0


@pytest.mark.parametrize(
    ("trials", "chance"),
    [
        (10**9, 1 - Fraction(1, 10**48)),
        (10**30, 1 - Fraction(1, 10**100)),
        (10**30, Fraction(1, 10**300)),
    ],
)
def test_chances_near_0_and_1_are_quick(trials, chance):
    """Nothing fails, or nothing succeeds, in all that anybody will ever see."""
    assert binomial(trials, chance) == (trials if chance > 0.5 else 0)


@pytest.mark.parametrize(
    ("law", "at_least"),
    [
        (DiscreteGaussian(5), 10**40),
        (DiscreteLaplace(5), 10**100),
        (DiscreteGaussian(Fraction(1, 10**100)), 1),
    ],
)
def test_thresholds_that_nothing_passes_are_quick(law, at_least):
    """A chance too small to be told from 0 is still compared exactly."""
    assert passing(10**12, law, at_least) == 0


def test_a_very_wide_law_passes_half():
    """Sigma of 1e25 and a threshold of 10: about half of 10^12, within six standard deviations."""
    assert abs(passing(10**12, DiscreteGaussian(10**50), 10) - 5 * 10**11) < 6 * 500_000
