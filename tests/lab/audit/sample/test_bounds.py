"""The bounds of the black-box audit: right for every mechanism, and close for good attacks."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from perrecord.lab.audit.sample.bounds import (
    Counted,
    CountedShares,
    _event_rho,
    cuts_from,
    least_loss,
)
from perrecord.laws import DiscreteGaussian
from perrecord.noise import discrete_gaussian, discrete_laplace
from perrecord.policy.terms import Currency
from tests.noise.checks import Replayed


def counted(outputs, cuts):
    """Return the outputs counted above the cuts."""
    return Counted.nothing(np.asarray(cuts, dtype=float)).with_outputs(
        np.asarray(outputs, dtype=float)
    )


def test_counts_are_of_outputs_at_or_above_a_cut():
    """In several goes, with outputs that were never published far below every cut."""
    found = counted([1, 2, 2, -np.inf], [0, 2, 3]).with_outputs(np.array([5.0, 0.0]))
    assert found.runs == 6
    assert found.above.tolist() == [5, 3, 1]
    assert found.between(np.array([False, True, True])).tolist() == [3.5, 2.5, 1.5]


@pytest.mark.parametrize("seen", [0, 1, 17, 250, 999, 1000])
def test_intervals_are_those_of_clopper_and_pearson(seen):
    """As scipy has them, also when nothing or everything was seen."""
    shares = CountedShares.of(Counted(np.zeros(1), np.array([seen]), 1000), 0.0005)
    wanted = stats.binomtest(seen, 1000).proportion_ci(confidence_level=0.999, method="exact")
    assert shares.low[0] == pytest.approx(wanted.low, abs=1e-12)
    assert shares.high[0] == pytest.approx(wanted.high, abs=1e-12)
    under = CountedShares.of(Counted(np.zeros(1), np.array([seen]), 1000).below(), 0.0005)
    assert under.low[0] == pytest.approx(1 - shares.high[0], abs=1e-12)


@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.5, 1e-6), (0.02, 0.0199), (0.999, 0.5)])
def test_one_event_shows_what_every_order_of_divergence_shows_at_most(p, q):
    """The closed form is the largest of [ln p / (alpha - 1) - ln q / alpha] over alpha (T19)."""

    def minus(order):
        return -(math.log(p) / (order - 1) - math.log(q) / order)

    best = optimize.minimize_scalar(minus, bounds=(1 + 1e-9, 1e4), method="bounded")
    assert _event_rho(p, q) == pytest.approx(-best.fun, rel=1e-3)


@pytest.mark.parametrize(("shift", "rho"), [(1, "1/20"), (1, "4"), (1000, "1/5"), (1000, "4")])
def test_a_gaussian_shift_is_shown_within_a_tenth(shift, rho):
    """The divergence of a shifted discrete Gaussian is rho; the bound is below, and near."""
    sigma_squared = Fraction(shift) ** 2 / (2 * Fraction(rho))
    assert DiscreteGaussian(sigma_squared).sigma_squared == sigma_squared
    bits = Replayed(3)
    noise = [discrete_gaussian(sigma_squared, 1_050_000, _bits=bits) for _ in range(2)]
    with_record, without = noise[0] + shift, noise[1]
    cuts = cuts_from(np.concatenate([with_record[:50_000], without[:50_000]]).astype(float), 32)
    sides = [counted(each[50_000:], cuts) for each in (with_record, without)]
    for pair in (sides, sides[::-1]):
        least = least_loss(*pair, Currency.RHO, 1e-5)
        assert 0.85 * Fraction(rho) < least <= Fraction(rho)


@pytest.mark.parametrize("epsilon", ["1/5", "1", "4"])
def test_a_laplace_shift_is_shown_within_a_tenth(epsilon):
    """Its largest log ratio is epsilon."""
    bits = Replayed(4)
    noise = [discrete_laplace(1000 / Fraction(epsilon), 1_050_000, _bits=bits) for _ in range(2)]
    with_record, without = noise[0] + 1000, noise[1]
    cuts = cuts_from(np.concatenate([with_record[:50_000], without[:50_000]]).astype(float), 32)
    sides = [counted(each[50_000:], cuts) for each in (with_record, without)]
    least = least_loss(*sides, Currency.EPSILON, 1e-5)
    assert 0.9 * Fraction(epsilon) < least <= Fraction(epsilon)


def test_bounds_are_missed_no_more_often_than_they_say():
    """400 audits of a coin, each to be missed in a fifth of them at most; eight times that fails.

    Eight times the chance is what it would be if the ends of intervals were not counted. A false
    alarm of this test: below 1e-9 by the binomial law, and the seed is fixed.
    """
    random = np.random.default_rng(12)
    p, q = 0.6, 0.4
    truth = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    above = uncounted = 0
    for _ in range(400):
        sides = [counted(random.random(2000) < share, [1]) for share in (p, q)]
        above += least_loss(*sides, Currency.RHO, 0.2) > truth
        uncounted += least_loss(*sides, Currency.RHO, 8 * 0.2) > truth
    assert above <= 80 < uncounted


def test_outputs_that_never_overlap_are_unbounded_only_as_far_as_seen():
    """A mechanism without noise: the bound grows with the runs, and is large at once."""
    cuts = [0.5]
    few, many = (
        least_loss(counted(np.ones(runs), cuts), counted(np.zeros(runs), cuts), Currency.RHO, 1e-3)
        for runs in (100, 100_000)
    )
    assert 1 < few < many
    assert many > 5


def test_the_same_outputs_show_nothing():
    """On both sides alike."""
    outputs = np.random.default_rng(5).normal(size=100_000)
    cuts = np.linspace(-2, 2, 9)
    assert least_loss(counted(outputs, cuts), counted(outputs, cuts), Currency.RHO, 1e-3) <= 1e-3


def test_cuts_part_the_outputs_of_a_pilot():
    """Each cut is an output, once; outputs that were not published are no cut."""
    pilot = np.array([-np.inf, 1, 1, 2, 2, 2, 3, 9])
    cuts = cuts_from(pilot, 8)
    assert set(cuts) <= {1.0, 2.0, 3.0, 9.0}
    assert len(set(cuts)) == len(cuts)
