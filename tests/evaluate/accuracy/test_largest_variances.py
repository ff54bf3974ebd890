"""The most noise that meets a goal: allowed by the exact law, and a little more is not."""

from fractions import Fraction
from statistics import NormalDist

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perrecord.evaluate.accuracy.within import (
    largest_normal_variances,
    largest_variances,
    limits_below,
)
from perrecord.laws import DiscreteGaussian


def largest_sigma_squared(limit, confidence):
    """Return the largest sigma^2 of one cell without a bias."""
    (found,) = largest_variances(np.array([float(limit)]), np.zeros(1), confidence)
    return Fraction(float(found))


@given(st.integers(0, 10**7), st.fractions("1/100", "9999999/10000000"))
def test_the_largest_sigma_is_allowed_and_a_larger_one_is_not(limit, confidence):
    """Small limits by bisection, large ones by the corrected quantile: the same promise."""
    found = largest_sigma_squared(limit, confidence)
    assert DiscreteGaussian(found).half_width(confidence) <= limit
    assert DiscreteGaussian(found * Fraction(10001, 10000)).half_width(confidence) >= limit
    above = DiscreteGaussian(found * Fraction(10001, 10000))
    assert 2 * above.tail(limit + 1).lower > 1 - confidence


def test_the_normal_quantile_alone_would_miss_the_goal():
    """A twin that takes sigma = d S / z for discrete noise is caught: |Z| < 3 needs less."""
    z = NormalDist().inv_cdf(0.975)
    twin = DiscreteGaussian(Fraction((3 / z) ** 2))
    assert twin.half_width("0.95") >= 3
    assert DiscreteGaussian(largest_sigma_squared(2, Fraction(95, 100))).half_width("0.95") < 3


@given(
    st.integers(0, 10**6), st.integers(-(10**6), 10**6), st.fractions("1/100", "9999999/10000000")
)
def test_a_bias_is_allowed_for(limit, bias, confidence):
    """Pr[|Z + b| <= limit] reaches the confidence at the variance found, and not 0.1 % above."""
    (found,) = largest_variances(np.array([float(limit)]), np.array([float(bias)]), confidence)
    if abs(bias) > limit:
        assert found == 0
        return
    for factor, bound, is_met in ((1, "upper", True), (Fraction(1001, 1000), "lower", False)):
        law = DiscreteGaussian(Fraction(float(found)) * factor)
        tails = [law.tail(limit - abs(bias) + 1), law.tail(limit + abs(bias) + 1)]
        outside = sum(getattr(tail, bound) for tail in tails)
        assert (outside <= 1 - confidence) is is_met


def test_many_cells_at_once_are_each_by_itself():
    """Small limits, large ones and biases in one column give what each gives alone."""
    limits = np.array([0.0, 1, 5, 39, 40, 1000, 1000, 10**9, 5])
    biases = np.array([0.0, 0, 2, 0, 1, 0, -999, 10**8, 6])
    confidence = Fraction(9, 10)
    together = largest_variances(limits, biases, confidence)
    alone = [
        largest_variances(limits[[cell]], biases[[cell]], confidence)[0]
        for cell in range(len(limits))
    ]
    np.testing.assert_array_equal(together, alone)


def test_normal_noise_has_its_own_quantile():
    """Without a bias sigma = limit / z; a bias that reaches the limit leaves nothing."""
    z = NormalDist().inv_cdf(0.975)
    found = largest_normal_variances(
        np.array([2.0, 2.0, 2.0]), np.array([0.0, -1.0, 2.0]), Fraction(95, 100)
    )
    assert np.isclose(np.sqrt(found[0]), 2 / z)
    sigma = np.sqrt(found[1])
    inside = NormalDist(-1, sigma).cdf(2) - NormalDist(-1, sigma).cdf(-2)
    assert np.isclose(inside, 0.95)
    assert found[2] == 0


@given(st.lists(st.integers(-(2**70), 2**70), max_size=5), st.fractions("1/1000", "3"))
def test_limits_are_the_largest_whole_numbers_below(numbers, within):
    """Of any size: limit < d |n| <= limit + 1, in exact integers up to 2^53."""
    small = [number % 2**40 for number in numbers]
    for given_numbers, kind in ((small, np.int64), (numbers, np.object_)):
        limits = limits_below(np.array(given_numbers, dtype=kind), within)
        for number, limit in zip(given_numbers, limits.tolist(), strict=True):
            exact = -(-within.numerator * abs(number) // within.denominator) - 1
            assert limit == float(exact)
            assert exact < within * abs(number) <= exact + 1
