"""What losses mean: T18's and T19's figures, independent oracles, and understatement shown."""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import (
    ApproximationError,
    DiscreteGaussian,
    InputError,
    ProbabilityError,
    meaning,
    meaning_of_answer,
)
from perrecord.policy.meaning import gaussian_delta


def test_the_theory_pages_figures():
    """At P = 1, delta = 1e-6: generic 7.77, Gaussian 7.29."""
    assert meaning(1).epsilon == pytest.approx(7.77, abs=0.005)
    gaussian = meaning(1, approximate=True, smallest_sigma=10)
    assert gaussian.epsilon == pytest.approx(7.29, abs=0.005)
    assert (meaning(1).ground, gaussian.ground) == ("generic", "approximate")


@pytest.mark.parametrize("loss", ["0.005", "0.02", "0.5", "1", "4"])
def test_opendp_and_dp_accounting_agree(loss):
    """Two independent conversions from zCDP, and a privacy loss distribution for the Gaussian."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import opendp.prelude as dp
        from dp_accounting.pld import privacy_loss_distribution as pld

    sigma = 1 / math.sqrt(2 * float(loss))
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=sigma))
    assert meaning(loss).epsilon == pytest.approx(converted.map(1.0).epsilon(1e-6), rel=1e-6)
    theirs = pld.from_gaussian_mechanism(sigma, value_discretization_interval=1e-4)
    ours = meaning(loss, approximate=True, smallest_sigma=10).epsilon
    assert ours == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=1e-4)


@pytest.mark.parametrize("sigma_squared", ["0.5", "5", "12.25"])
def test_the_discrete_law_matches_dp_accounting(sigma_squared):
    """The discrete Gaussian's own epsilon, from dp-accounting's discrete mechanism."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dp_accounting.pld import privacy_loss_distribution as pld

    sigma = math.sqrt(float(sigma_squared))
    theirs = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-4)
    ours = meaning_of_answer(1, sigma_squared)
    assert ours.epsilon == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=1e-4)
    assert ours.ground == "discrete"


@settings(max_examples=60)
@given(st.floats(1e-6, 200), st.floats(1e-12, 0.2))
def test_generic_epsilon_is_the_infimum_rounded_up(loss, delta):
    """With 40 digits: never below the least that any order gives, and above by almost nothing."""
    with mpmath.workdps(40):
        p, surprise = mpmath.mpf(loss), -mpmath.log(mpmath.mpf(delta))

        def epsilon(log_order):
            order = 1 + mpmath.exp(log_order)
            bracket = surprise + order * mpmath.log(1 - 1 / order) - mpmath.log(order - 1)
            return order * p + bracket / (order - 1)

        middle = min((mpmath.mpf(k) / 2 for k in range(-80, 80)), key=epsilon)
        low, high = middle - 1, middle + 1
        for _ in range(120):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if epsilon(left) < epsilon(right) else (left, high)
        truth = max(0, epsilon(low))
    assert truth <= meaning(loss, delta=delta).epsilon <= truth * (1 + 1e-8) + 1e-11


def true_delta(sigma_squared, epsilon, shift=1):
    """Return the discrete law's delta."""
    return float(DiscreteGaussian(sigma_squared).delta(shift, epsilon))


@pytest.mark.parametrize(
    ("sigma", "least_delta", "times"),
    [("0.707", 1e-6, 2.69), ("3.5", 1e-6, 1.06), ("3.5", 1e-9, 1.11)],
)
def test_the_phi_forms_understate_discrete_noise(sigma, least_delta, times):
    """T18: the true delta exceeds the Phi form, the more the smaller sigma and delta are.

    The worst ratio over a grid of epsilons at which the Phi form gives at least `least_delta`.
    """
    variance = Fraction(sigma) ** 2
    loss = float(1 / (2 * variance))
    ratios = [
        true_delta(variance, Fraction(step, 50)) / claimed
        for step in range(1, 500)
        if (claimed := gaussian_delta(loss, step / 50)) >= least_delta
    ]
    assert max(ratios) == pytest.approx(times, rel=0.01)


@pytest.mark.parametrize("sigma_squared", ["0.1", "0.5", "2", "12.25"])
def test_generic_bounds_hold_for_the_discrete_law(sigma_squared):
    """Where the Phi forms may fail, the generic ones do not: epsilon, power and odds."""
    exact = meaning_of_answer(1, sigma_squared)
    generic = meaning(1 / (2 * Fraction(sigma_squared)))
    assert exact.epsilon <= generic.epsilon
    assert all(exact.power[level] <= generic.power[level] for level in exact.power)
    assert exact.odds <= generic.odds * (1 + 1e-9)


def test_power_of_the_best_test_against_brute_force():
    """Neyman and Pearson by sorting likelihood ratios over the whole support."""
    law, shift = DiscreteGaussian(2), 3
    support = range(-40, 41)
    null = np.array([float(law.pmf(k)) for k in support])
    shifted = np.array([float(law.pmf(k - shift)) for k in support])
    for level, power in meaning_of_answer(shift, 2).power.items():
        left, best = level, 0.0
        for index in np.argsort(-shifted / null):
            taken = min(1.0, left / null[index])
            best, left = best + taken * shifted[index], left - taken * null[index]
            if left <= 0:
                break
        assert power == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("loss", [0.01, 0.3, 2.0])
def test_generic_power_and_odds_hold_for_gaussian_noise(loss):
    """T19 against the continuous Gaussian, whose power and odds are known."""
    generic, gaussian = meaning(loss), meaning(loss, approximate=True, smallest_sigma=10)
    for level, power in generic.power.items():
        assert gaussian.power[level] <= power <= 1
    quantile = 1.6448536269514722
    assert math.exp(loss + math.sqrt(2 * loss) * quantile) <= generic.odds


def test_arrays_give_arrays():
    """One call for a whole column of losses."""
    several = meaning(np.array([0.0, 0.1, 1.0, 50.0]))
    assert several.epsilon.shape == (4,)
    assert several.epsilon[2] == meaning(1).epsilon
    assert several.epsilon[0] == 0
    assert several.power[0.05][3] == 1


def test_key_selection_adds_its_delta():
    """T18, T19: delta(r) + (1 - delta(r)) delta, and delta(r) on top of every power."""
    plain, revealed = meaning(1), meaning(1, key_delta="0.13")
    assert revealed.delta == pytest.approx(0.13 + 0.87 * 1e-6)
    assert revealed.power[0.01] == pytest.approx(plain.power[0.01] + 0.13)
    assert meaning(1, key_delta=1).power[0.01] == 1
    assert plain.odds < meaning(1, key_delta="0.04").odds < math.inf
    assert meaning(1, key_delta="0.05").odds == math.inf


def lone_key_and_count(rho, revealed):
    """Return the laws of what is published with a record, alone in its key, and without it.

    A selection lists its key with probability `revealed`; a count has noise of this rho.
    """
    sigma_squared = 1 / (2 * rho)
    reach = int(9 * math.sqrt(sigma_squared)) + 9
    support = np.arange(-reach, reach + 2)
    masses = [np.exp(-((support - shift) ** 2) / (2 * sigma_squared)) for shift in (1, 0)]
    present, absent = (mass / mass.sum() for mass in masses)
    if revealed == 0:
        return present, absent
    return (
        np.concatenate([(1 - revealed) * present, revealed * present]),
        np.concatenate([absent, np.zeros_like(absent)]),
    )


def ratios(first, second):
    """Return first / second, infinite where the second cannot be."""
    return np.divide(first, second, out=np.full_like(first, np.inf), where=second > 0)


def reached(first, second):
    """Return the least X with Pr[first/second > X] <= 5 % under the first of two laws."""
    order = np.argsort(-ratios(first, second))
    above = np.cumsum(first[order])
    return ratios(first, second)[order][np.searchsorted(above, 0.05 * (1 - 1e-12))]


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("revealed", [0.0, 1e-4, 0.01, 0.04, 0.0499])
def test_odds_with_key_selection_hold_for_both_right_answers(rho, revealed):
    """Outcome by outcome: when the record is there, and when it is not.

    A key that is not listed speaks for absence by 1/(1 - delta), however small rho is.
    """
    present, absent = lone_key_and_count(rho, revealed)
    told = meaning(rho, key_delta=revealed).odds
    assert reached(present, absent) <= told
    assert reached(absent, present) <= told


def test_the_odds_that_were_claimed_too_small():
    """At rho = 1e-6 and delta = 0.04 the truth is 1/0.96 and a little, not 1.0043."""
    assert reached(*reversed(lone_key_and_count(1e-6, 0.04))) == pytest.approx(1.044, abs=0.003)
    assert meaning(1e-6, key_delta="0.04").odds == pytest.approx(1.046, abs=0.001)


def best_power(null, other, level):
    """Return the power of the likelihood ratio test at this level, randomised at its edge."""
    order = np.argsort(-ratios(other, null))
    before = np.concatenate([[0.0], np.cumsum(null[order])])[:-1]
    share = np.divide(
        level - before, null[order], out=np.ones_like(null), where=null[order] > 1e-200
    )
    return float(np.sum(np.clip(share, 0, 1) * other[order]))


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("revealed", [0.0, 0.01, 0.13, 0.6])
def test_power_with_key_selection_holds_in_both_directions(rho, revealed):
    """T19: delta and the generic power together bound the tests for presence and for absence."""
    present, absent = lone_key_and_count(rho, revealed)
    for level, most in meaning(rho, key_delta=revealed).power.items():
        assert best_power(absent, present, level) <= most
        assert best_power(present, absent, level) <= most


def test_bad_questions_are_refused():
    """Each with what to ask instead."""
    with pytest.raises(ApproximationError, match="smallest_sigma is not given"):
        meaning(1, approximate=True)
    with pytest.raises(ApproximationError, match=r"smallest_sigma is 3\.5; .* at least 10"):
        meaning(1, approximate=True, smallest_sigma="3.5")
    with pytest.raises(ProbabilityError, match="delta is 0"):
        meaning(1, delta=0)
    with pytest.raises(ProbabilityError, match="key_delta lies outside"):
        meaning(1, key_delta=2)
    with pytest.raises(InputError, match="negative or not finite"):
        meaning([-1.0])
    with pytest.raises(InputError, match="the shift is 0"):
        meaning_of_answer(0, 5)
    with pytest.raises(InputError, match="the shift is a float; expected a whole number"):
        meaning_of_answer(1.5, 5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="differ in length"):
        meaning([1, 2], key_delta=[0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="a ragged list"):
        meaning([1, [2]])  # type: ignore[list-item]


def test_every_kind_of_number_is_taken():
    """Small floats of numpy, fractions as text."""
    assert meaning(np.array([1], dtype=np.float32)).epsilon == meaning([1]).epsilon
    assert meaning(1, approximate=True, smallest_sigma="21/2").ground == "approximate"
