"""From a range of log ratios to zCDP: f(eta) of T38 against mpmath, and against real laws."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import InputError
from perrecord.laws.bounded_range import bounded_range, rho_of_pure


def reference(eta):
    """Return y - 1 - ln y with y = eta/(1 - e^-eta), to far more digits than are lost."""
    with mpmath.workdps(400):
        exact = mpmath.mpf(eta.numerator) / eta.denominator
        y = exact / -mpmath.expm1(-exact)
        return y - 1 - mpmath.log(y)


def mp(value):
    """Return a rational as an mpmath number."""
    return mpmath.mpf(value.numerator) / value.denominator


etas = st.one_of(
    st.fractions(0, 100, max_denominator=10**6),
    st.integers(1, 10**30).map(lambda n: Fraction(1, n)),
    st.integers(1, 10**30).map(Fraction),
    st.integers(0, 120).map(lambda n: Fraction(1, 2**n)),
).filter(bool)


@given(etas)
def test_it_encloses_the_truth_to_one_part_in_two_to_the_96(eta):
    """Rounded up, rounded down, narrow, and below both simple bounds."""
    with mpmath.workdps(400):
        found, truth = bounded_range(eta), reference(eta)
        assert mp(found.lower) <= truth <= mp(found.upper)
        assert mp(found.upper) - mp(found.lower) <= truth * mpmath.mpf(2) ** -95
        assert found.upper <= min(eta**2 / 8, eta)


def test_figures_and_refusals():
    """Some numbers by hand; nothing costs nothing; a negative range is none."""
    assert bounded_range(0).upper == 0
    assert float(bounded_range(2)) == pytest.approx(0.474475, abs=1e-6)
    assert float(bounded_range("1e-3")) == pytest.approx(1.25e-7, rel=1e-6)
    assert float(bounded_range(100)) == pytest.approx(99 - np.log(100), rel=1e-12)
    with pytest.raises(InputError, match="not negative"):
        bounded_range(-1)


def renyi(p, q, alpha):
    """Return the Renyi divergence of two laws on a few points, with mpmath."""
    inside = mpmath.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))
    return mpmath.log(inside) / (alpha - 1)


def two_points(eta):
    """Return the worst pair: log ratios -ln y + eta and -ln y, for the y of T38."""
    high = mpmath.exp(eta) * (1 - mpmath.exp(-eta)) / eta  # dP/dQ at the first point is e^eta/y
    low = high * mpmath.exp(-eta)
    weight = (1 - low) / (high - low)
    return [weight * high, (1 - weight) * low], [weight, 1 - weight]


@pytest.mark.parametrize("eta", ["1/10", "1", "3", "12"])
def test_it_is_attained_as_alpha_falls_to_one(eta):
    """The least possible: one part in a thousand less would be wrong."""
    exact = Fraction(eta)
    with mpmath.workdps(50):
        p, q = two_points(mp(exact))
        found = mp(bounded_range(exact).upper)
        alpha = 1 + mpmath.mpf(10) ** -8
        assert found * mpmath.mpf("0.999") < max(renyi(p, q, alpha), renyi(q, p, alpha)) / alpha
        for alpha in map(mpmath.mpf, ("1.0001", "1.1", "2", "10", "300")):
            assert max(renyi(p, q, alpha), renyi(q, p, alpha)) <= alpha * found


def test_no_law_within_the_range_costs_more():
    """Thousands of random pairs of laws on two to five points, both ways, at many alphas."""
    random = np.random.default_rng(38)
    alphas = np.array([1.0001, 1.01, 1.2, 1.7, 3, 10, 60])
    largest = 0.0
    for _ in range(4000):
        points = random.integers(2, 6)
        p = random.dirichlet(np.full(points, 0.4)) + 1e-12
        q = p * np.exp(random.uniform(0, 1, points) * random.exponential(3))
        p, q = p / p.sum(), q / q.sum()
        ratios = np.log(p) - np.log(q)
        most = float(bounded_range(Fraction(float(np.ptp(ratios)))).upper)
        for a, b in ((p, q), (q, p)):
            powers = alphas[:, None] * np.log(a) + (1 - alphas[:, None]) * np.log(b)
            found = np.logaddexp.reduce(powers, axis=1) / (alphas - 1) / alphas
            assert (found <= most * (1 + 1e-9) + 1e-10).all()
            if most > 1e-3:
                largest = max(largest, float(found.max() / most))
    assert largest > 0.95


@given(etas)
def test_pure_epsilon_is_epsilon_tanh_of_its_half_rounded_up(epsilon):
    """Never below, by no more than one part in 2^90, and below epsilon^2/2 and epsilon."""
    with mpmath.workdps(400):
        truth = mp(epsilon) * mpmath.tanh(mp(epsilon) / 2)
        found = mp(rho_of_pure(epsilon))
        assert truth <= found <= truth * (1 + mpmath.mpf(2) ** -90)
    assert rho_of_pure(epsilon) <= min(epsilon**2 / 2, epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 2, 5, 12])
def test_randomised_response_attains_it_and_never_exceeds_it(epsilon):
    """D_alpha / alpha of the two answers, alpha from 1 + 10^-9 to 10^4."""
    price = mp(rho_of_pure(Fraction(epsilon)))
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-epsilon))
        q = 1 - p
        found = []
        for alpha in ("1.000000001", "1.1", "2", "10", "10000"):
            a = mpmath.mpf(alpha)
            moment = p**a * q ** (1 - a) + q**a * p ** (1 - a)
            found.append(mpmath.log(moment) / (a - 1) / a)
        assert max(found) <= price
        assert max(found) >= price * (1 - mpmath.mpf(10) ** -7)


def test_a_negative_epsilon_is_refused():
    """No mechanism has one."""
    with pytest.raises(InputError, match="expected a number that is not negative"):
        rho_of_pure(-1)
