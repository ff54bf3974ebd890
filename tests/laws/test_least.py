"""The least possible loss (T30): below every law of its variance, and Gaussian for small shifts.

Divergences are summed or integrated here by mpmath, from nothing but the laws.
"""

from fractions import Fraction

import duckdb
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.laws import DiscreteGaussian, DiscreteStudent
from perrecord.laws.least import least_rho, least_sql
from perrecord.laws.tapering import tapered_rho


def summed(masses, shift):
    """Return the variance of a law on the integers, and its KL divergence from its shift."""
    points = np.arange(len(masses)) - len(masses) // 2
    variance = (masses * points**2).sum()
    here, there = masses[shift:], masses[: len(masses) - shift]
    return variance, (here * np.log(here / there)).sum()


@pytest.mark.parametrize("shift", [1, 3, 20, 300])
@pytest.mark.parametrize("law", ["gaussian", "laplace", "student3", "student7", "uniform mixture"])
def test_no_unbiased_noise_costs_less(law, shift):
    """KL, and with it every P, lies above: five laws of five shapes, on the integers."""
    points = np.arange(-20_000, 20_001)
    weights = {
        "gaussian": lambda: np.exp(-((points / 30) ** 2) / 2) + 1e-300,
        "laplace": lambda: np.exp(-np.abs(points) / 60),
        "student3": lambda: (900.0 + points**2) ** -2,
        "student7": lambda: (4500.0 + points**2) ** -4,
        "uniform mixture": lambda: np.where(np.abs(points) <= 50, 1.0, 1e-12),
    }[law]()
    masses = weights / weights.sum()
    variance, divergence = summed(masses, shift)
    if law == "gaussian":
        divergence = shift**2 / (2 * 900)
    assert float(least_rho(shift, Fraction(variance))) <= divergence * (1 + 1e-9)


def test_two_points_attain_it():
    """The bound is sharp: two outcomes with odds that the proof's inequality leaves equal."""
    for chance in (0.6, 0.9, 0.999, 1 - 1e-9):
        p, q = mpmath.mpf(chance), 1 - mpmath.mpf(chance)
        divergence = (p - q) * mpmath.log(p / q)  # between (p, q) and (q, p) on two points 1 apart
        shift, variance = p - q, p * q
        found = least_rho(Fraction(str(shift)), Fraction(str(variance)))
        assert float(found) == pytest.approx(float(divergence), rel=1e-9)


@pytest.mark.parametrize("sigma_squared", [1, 100, 10**6])
def test_gaussian_noise_attains_it_to_first_order(sigma_squared):
    """r^2 / (2V) for shifts far below the noise, and never above it."""
    for ratio in (Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(100)):
        shift = ratio * Fraction(sigma_squared) / 10
        gaussian = shift**2 / (2 * Fraction(sigma_squared))
        found = least_rho(shift, sigma_squared)
        assert found <= gaussian
        small = shift**2 < Fraction(sigma_squared, 10**4)
        assert not small or found > gaussian * Fraction(999, 1000)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("shift", [1, 50, 5_000, 5 * 10**6])
def test_student_noise_lies_above_within_its_own_growth(nu, shift):
    """P of T26 is above; the least grows as ln r^2, P as (nu + 1)/2 times that, or 4 times."""
    law = DiscreteStudent(2500, nu)
    least, price = least_rho(shift, law.variance().upper), tapered_rho(shift, 2500, nu)
    assert 0 < least <= price < 8 * least


def test_the_closed_form_is_two_t_atanh_t_rounded_down():
    """Against mpmath at 60 digits, from tiny shifts to enormous ones."""
    with mpmath.workdps(60):
        for shift, variance in [(1, 10**12), (3, 2), (50_000, 1250), (10**15, Fraction(1, 7))]:
            v = mpmath.mpf(Fraction(variance).numerator) / Fraction(variance).denominator
            t = shift / mpmath.sqrt(mpmath.mpf(shift) ** 2 + 4 * v)
            exactly = 2 * t * mpmath.atanh(t)
            found = least_rho(shift, variance)
            shown = mpmath.mpf(found.numerator) / found.denominator
            assert shown <= exactly
            assert shown >= exactly * (1 - mpmath.mpf(2) ** -90)
    assert least_rho(0, 5) == 0
    assert least_rho(-3, 5) == least_rho(3, 5)


@settings(max_examples=30)
@given(st.floats(1e-9, 1e12))
def test_sql_is_never_above_it(ratio):
    """What engines compute is below by one part in 10^12 at most."""
    asked = f"SELECT {least_sql(f'CAST({ratio!r} AS DOUBLE)')}"
    ((found,),) = duckdb.execute(asked).fetchall()
    exactly = least_rho(2 * Fraction(ratio), 1)
    assert exactly * (1 - Fraction(1, 10**11)) <= Fraction(found) <= exactly


def test_discrete_noise_is_taken_by_its_own_variance():
    """sigma^2 is above the variance of narrow discrete noise, and both are lower bounds."""
    law = DiscreteGaussian(Fraction(1, 10))
    own, wider = (least_rho(1, each) for each in (law.variance().upper, Fraction(1, 10)))
    assert wider < own <= 5  # 1 / (2 sigma^2)


def test_a_variance_of_nothing_is_refused():
    """Without noise there is no bound."""
    with pytest.raises(InputError, match="expected a number above 0"):
        least_rho(1, 0)
