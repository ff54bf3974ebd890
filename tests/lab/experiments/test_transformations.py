"""Noise on transformed totals: unbiased inverses, and what a record loses at most."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from perrecord.errors import InputError
from perrecord.lab.experiments.transformations import Logarithm, SquareRoot

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
"""Means over a standard normal, to the last digits for what is smooth."""

KINDS = [
    Logarithm(Fraction(20), Fraction(49, 100)),
    Logarithm(Fraction(5), Fraction(1, 50)),
    SquareRoot(Fraction(20), Fraction(3, 2)),
    SquareRoot(Fraction(1), Fraction(1, 10)),
]
TOTALS = np.array([0.0, 1.0, 37.0, 5_000.0, 2e7])


def mean(values):
    """Return the mean over the noise, one total a row."""
    return values @ WEIGHTS / WEIGHTS.sum()


def published(kind):
    """Return y for each total and each point of the noise."""
    return kind.of(TOTALS)[:, None] + float(kind.sigma) * POINTS


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_inverses_are_unbiased_and_have_the_variance_they_say(kind):
    """By quadrature: the mean over the noise is the total itself."""
    found = kind.estimate(published(kind))
    size = TOTALS + float(kind.offset)
    assert mean(found) == pytest.approx(TOTALS, abs=1e-9 * size.max(), rel=1e-9)
    assert np.abs(mean(found) - TOTALS) / size == pytest.approx(0, abs=1e-9)
    spread = mean((found - TOTALS[:, None]) ** 2)
    assert spread == pytest.approx(kind.variance(TOTALS), rel=1e-7)


def test_plain_inverses_are_biased():
    """By 12.8 % of S + c for the logarithm at sigma = 0.49, by sigma^2 for the square root."""
    logarithm, _, root, _ = KINDS
    plain = float(logarithm.offset) * np.expm1(published(logarithm))
    bias = (mean(plain) - TOTALS) / (TOTALS + float(logarithm.offset))
    assert bias == pytest.approx(0.128, abs=0.001)
    squared = published(root) ** 2 - float(root.offset)
    assert mean(squared)[:4] - TOTALS[:4] == pytest.approx(float(root.sigma) ** 2, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("size", ["1/3", 1, 20, 4_000, 50_000, 10**12])
def test_a_record_loses_its_price_in_an_empty_cell_and_less_in_others(kind, size):
    """Two Gaussians at distance d cost d^2/(2 sigma^2); f is concave, so d is largest at 0."""
    with mpmath.workdps(60):
        held = mpmath.mpf(Fraction(size).numerator) / Fraction(size).denominator
        offset = mpmath.mpf(kind.offset.numerator) / kind.offset.denominator
        sigma = mpmath.mpf(kind.sigma.numerator) / kind.sigma.denominator

        def transformed(total):
            if isinstance(kind, Logarithm):
                return mpmath.log(1 + total / offset)
            return mpmath.sqrt(total + offset)

        def cost(total):
            return (transformed(total + held) - transformed(total)) ** 2 / (2 * sigma**2)

        loss = kind.loss(size)
        charged = mpmath.mpf(loss.numerator) / loss.denominator
        assert cost(0) <= charged <= cost(0) * (1 + mpmath.mpf(2) ** -60)
        for total in ("0.01", 1, 7, 300, 10**6):
            assert cost(mpmath.mpf(total)) < charged


def test_the_square_of_a_total_would_cost_more_elsewhere():
    """Of a function that is not concave the price in an empty cell says nothing."""
    moved = [(total + 10) ** 2 - total**2 for total in (0, 100)]
    assert moved[1] > moved[0]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_chances_are_those_of_draws(kind):
    """100,000 draws of a fixed seed; five standard deviations of a share."""
    noise = np.random.default_rng(1).standard_normal(100_000)
    for total in TOTALS:
        drawn = kind.estimate(kind.of(total) + float(kind.sigma) * noise) - total
        for limit in np.quantile(np.abs(drawn), (0.1, 0.5, 0.95)):
            chance = float(kind.chance_within(np.array([limit]), np.array([total]))[0])
            share = float((np.abs(drawn) <= limit).mean())
            assert share == pytest.approx(chance, abs=5 * math.sqrt(0.25 / len(noise)))


def test_nothing_costs_nothing_and_nonsense_is_refused():
    """No record below 0, no noise without size."""
    assert KINDS[0].loss(0) == 0
    with pytest.raises(InputError, match="below 0; expected a number from 0"):
        KINDS[0].loss(-1)
    with pytest.raises(InputError, match="must be above 0"):
        SquareRoot(Fraction(0), Fraction(1))
