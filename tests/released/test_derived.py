"""Errors and intervals of numbers derived from published ones (T33), against plain simulation."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from perrecord.released.derived import Uncertain, evaluated, formula

DRAWS = 40_000
Z = NormalDist().inv_cdf(0.975)


def drawn(seed, truth, error):
    """Return a truth with noise of a standard error, many times."""
    noise = np.random.default_rng(seed).standard_normal(DRAWS)
    return Uncertain(truth + error * noise, np.full(DRAWS, float(error)))


def by_hand(n, d, vn, vd, cov):
    """Return the ends of Fieller's set by the formula for quadratic equations."""
    a, b, c = d * d - Z**2 * vd, n * d - Z**2 * cov, n * n - Z**2 * vn
    return sorted((b + side * math.sqrt(b * b - a * c)) / a for side in (-1, 1))


@pytest.mark.parametrize(("truth", "error"), [(300, 10), (60, 10), (30, 10), (20, 10), (5, 10)])
def test_intervals_of_a_ratio_hold_the_truth(truth, error):
    """At least as often as stated, however near to 0 the denominator is."""
    given = {"a": drawn(1, 9000, 400), "b": drawn(2, truth, error)}
    found = evaluated(formula("a / b"), given, 0.95)
    is_open, theta = np.isnan(found.low), 9000 / truth
    assert np.array_equal(is_open, np.isnan(found.high))
    assert np.array_equal(is_open, np.abs(given["b"].values) <= Z * error)
    held = is_open | ((found.low <= theta) & (theta <= found.high))
    spare = 4 * math.sqrt(0.95 * 0.05 / DRAWS)
    assert held.mean() > 0.95 - spare
    if truth >= 6 * error:  # nothing is open: the set is Fieller's alone, and exact for this noise
        assert abs(held.mean() - 0.95) < spare


@pytest.mark.parametrize("text", ["new / old - 1", "100 * (new - old) / old", "old / (old + new)"])
def test_numbers_on_both_sides_of_a_fraction_share_their_noise(text):
    """Coverage and error are right although both sides move together."""
    given = {"old": drawn(3, 500, 20), "new": drawn(4, 560, 25)}
    found = evaluated(formula(text), given, 0.95)
    exact = evaluated(
        formula(text),
        {
            name: Uncertain(np.array([float(truth)]), np.zeros(1))
            for name, truth in (("old", 500), ("new", 560))
        },
        0.95,
    ).values[0]
    held = (found.low <= exact) & (exact <= found.high)
    assert abs(held.mean() - 0.95) < 4 * math.sqrt(0.95 * 0.05 / DRAWS)
    assert np.mean(found.errors) == pytest.approx(np.std(found.values), rel=0.03)


def test_a_growth_rate_is_a_ratio_less_one():
    """Both ways of writing it give the same ends."""
    given = {"old": drawn(5, 200, 30), "new": drawn(6, 150, 40)}
    ratio = evaluated(formula("new / old"), given, 0.9)
    growth = evaluated(formula("new / old - 1"), given, 0.9)
    np.testing.assert_allclose(growth.low, ratio.low - 1, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(growth.high, ratio.high - 1, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(growth.errors, ratio.errors, rtol=1e-9)


def test_ends_are_those_of_the_quadratic():
    """Against the textbook's formula."""
    n, d, en, ed = -40.0, 90.0, 12.0, 7.0
    given = {
        "a": Uncertain(np.array([n]), np.array([en])),
        "b": Uncertain(np.array([d]), np.array([ed])),
    }
    found = evaluated(formula("a / b"), given, 0.95)
    np.testing.assert_allclose([found.low[0], found.high[0]], by_hand(n, d, en**2, ed**2, 0.0))
    assert found.errors[0] == pytest.approx(math.hypot(en, n / d * ed) / d)


def test_sums_have_the_plain_error_and_interval():
    """Nothing is divided by."""
    given = {
        "a": Uncertain(np.array([10.0]), np.array([3.0])),
        "b": Uncertain(np.array([4.0]), np.array([4.0])),
    }
    found = evaluated(formula("2 * a - b"), given, 0.95)
    assert found.values[0] == 16
    assert found.errors[0] == pytest.approx(math.hypot(6, 4))
    assert found.high[0] - 16 == pytest.approx(Z * math.hypot(6, 4))


def test_without_an_error_there_is_no_interval_and_by_nought_no_number():
    """NaN, never a number that looks like one."""
    given = {
        "a": Uncertain(np.array([1.0, 1.0, 1.0]), np.array([1.0, np.nan, 1.0])),
        "b": Uncertain(np.array([0.0, 50.0, 50.0]), np.array([1.0, 1.0, 1.0])),
    }
    found = evaluated(formula("a / b"), given, 0.95)
    assert np.isnan(found.values).tolist() == [True, False, False]
    assert np.isnan(found.errors).tolist() == [True, True, False]
    assert np.isnan(found.low).tolist() == [True, True, False]
    exact = evaluated(formula("a / 4"), {"a": Uncertain(np.array([8.0]), np.zeros(1))}, 0.95)
    assert (exact.values[0], exact.low[0], exact.high[0]) == (2, 2, 2)
