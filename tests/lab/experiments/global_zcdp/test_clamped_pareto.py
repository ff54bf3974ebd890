"""Clamped Gaussian sums of Pareto data: closed forms against integrals, searches, the library."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from perrecord.lab.experiments.global_zcdp.clamped_pareto import ClampedSum
from perrecord.lab.experiments.global_zcdp.clamped_release import (
    clamped_errors,
    exponents,
    in_other_units,
    measured,
    on_grid,
)
from perrecord.lab.synth.simulation import pareto

CASES = [(tail, rho) for tail in (1.1, 1.2, 1.5, 2.0, 3.0) for rho in (0.1, 1.0, 10.0)]
BOUNDS = (1.0, 2.5, 40.0, 3000.0)
SIGMAS = 5  # of a normal: one in 1.7 million that sound numbers fail a comparison


def moment(tail, bound, power):
    """Return E[min(X, D)^power] by integration, in the logarithm of x."""
    below, _ = quad(lambda u: tail * math.exp(u * (power - tail)), 0, math.log(bound))
    return below + bound ** (power - tail)


@pytest.mark.parametrize("tail", [1.1, 1.2, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("bound", BOUNDS)
def test_bias_and_sampling_variance_are_those_of_the_law(tail, bound):
    """To one part in 10^7, at a tail of 2 as well, where the formula has a case of its own."""
    asked = ClampedSum(1000, tail, 1.0)
    mean, square = (moment(tail, bound, power) for power in (1, 2))
    assert float(asked.bias(bound)) == pytest.approx(asked.expected - 1000 * mean, rel=1e-7)
    variance = 1000 * (square - mean**2)
    assert float(asked.sampling_variance(bound)) == pytest.approx(variance, rel=1e-7, abs=1e-6)


def least(asked):
    """Return the bound of least error by search."""
    found = minimize_scalar(
        lambda u: float(asked.squared_error(math.exp(u))),
        bounds=(0, math.log(1e7)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return math.exp(found.x)


@pytest.mark.parametrize(("tail", "rho"), CASES)
def test_the_best_bound_is_where_a_search_finds_it(tail, rho):
    """(2 rho n^2 / (a - 1))^(1/(2a)), to one part in 10^4: the minimum is flat."""
    asked = ClampedSum(1000, tail, rho)
    assert asked.best_bound == pytest.approx(least(asked), rel=1e-4)
    best = asked.squared_error(asked.best_bound)
    assert (best <= asked.squared_error(np.logspace(0, 7, 500))).all()


def test_a_wrong_best_bound_is_caught():
    """A twin with the exponent 1/a, and one without the 2."""
    asked = ClampedSum(1000, 1.5, 1.0)
    for wrong in ((2e6 / 0.5) ** (1 / 1.5), (1e6 / 0.5) ** (1 / 3)):
        assert wrong != pytest.approx(least(asked), rel=1e-4)
        assert asked.squared_error(wrong) > asked.squared_error(asked.best_bound)


def test_a_bound_below_every_record_is_not_recommended():
    """All values are at least 1."""
    assert ClampedSum(1, 3.0, 1e-6).best_bound == 1.0


def test_the_library_s_clamped_sums_err_as_the_closed_form_says():
    """Twelve comparisons of means of squares: sound ones fail once in 100,000 seeds."""
    found = measured(1000, (1.1, 1.2, 1.5, 2.0), ("0.1", "1", "10"), 400, seed=5)
    assert len(found) == 12
    assert max(abs(each.scores) for each in found) < SIGMAS
    for each in found:
        assert each.found == pytest.approx(each.closed_form, rel=0.15)


def test_a_closed_form_of_another_tail_is_caught():
    """The same comparison against a tail of 1.25 where the data has 1.2."""
    values = pareto(np.random.default_rng(5).random(400_000), 1.2)
    asked = ClampedSum(1000, 1.25, 1.0)
    bound = on_grid(asked.best_bound)
    (errors,) = clamped_errors(values, 1000, [(bound, "1")])
    squares = (errors.true + errors.bias - asked.expected) ** 2
    spread = squares.std() / math.sqrt(len(squares))
    wanted = asked.squared_error(float(bound), with_sampling=True) - asked.noise(float(bound)) ** 2
    assert abs(squares.mean() - wanted) > SIGMAS * spread


@pytest.mark.parametrize("rho", ["0.1", "10"])
def test_the_library_s_noise_is_the_closed_form_s(rho):
    """D / sqrt(2 rho), on a grid so fine that rounding does not show."""
    (errors,) = clamped_errors(np.ones(10), 10, [(on_grid(825.4), rho)])
    asked = ClampedSum(10, 1.2, float(rho))
    assert errors.deviation[0] == pytest.approx(float(asked.noise(825.4)), rel=1e-6)


def test_the_paper_s_ratio_grows_with_the_units_and_the_root_does_not():
    """A thousand times the numbers, a thousand times the ratio."""
    found = in_other_units(1000, 1.2, "1", 1000, seed=3)
    assert found.ratio_grows == pytest.approx(1000, rel=1e-5)
    assert found.root_ratio_grows == pytest.approx(1, rel=1e-5)


def test_the_variance_grows_as_the_square_of_the_bound_over_rho():
    """Not as the bound over the square of rho."""
    found = exponents()
    assert found.of_bound == pytest.approx(2, abs=1e-6)
    assert found.of_rho == pytest.approx(-1, abs=1e-6)
    assert found.variance == pytest.approx(found.bound**2 / (2 * found.rho), rel=1e-6)
