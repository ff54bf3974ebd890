"""The size of noise in closed form, against its definition added up."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from perrecord.evaluate.accuracy.noise_size import below, mean_size, reach
from perrecord.laws import DiscreteGaussian, DiscreteLaplace

LAWS = [
    *(DiscreteGaussian(Fraction(each)) for each in ("0.05", "1", "12.5", "899", "901", "40000")),
    *(DiscreteLaplace(Fraction(each)) for each in ("0.1", "1", "33")),
]
BIASES = [0, 1, -4, 37, -250]


def masses(law):
    """Return each integer that matters and its probability, from the law's own formula."""
    if isinstance(law, DiscreteGaussian):
        reach, two = int(15 * math.sqrt(law.sigma_squared)) + 6, 2 * law.sigma_squared
        exponents = {k: Fraction(-(k**2)) / two for k in range(-reach, reach + 1)}
    else:
        reach = int(60 * law.scale) + 6
        exponents = {k: -abs(k) / law.scale for k in range(-reach, reach + 1)}
    with mpmath.workdps(30):
        weights = {
            k: mpmath.exp(mpmath.mpf(e.numerator) / e.denominator) for k, e in exponents.items()
        }
        total = mpmath.fsum(weights.values())
        return np.array([*weights]), np.array([float(w / total) for w in weights.values()])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_mean_size_is_the_definition_s(law):
    """E|Z + b| to one part in 10^8, for biases small and large."""
    numbers, chances = masses(law)
    found = mean_size(law, np.array(BIASES, dtype=float))
    wanted = [float(np.sum(np.abs(numbers + bias) * chances)) for bias in BIASES]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_distribution_function_is_the_definition_s(law):
    """Pr[Z <= x] to 10^-9, on both sides of 0."""
    numbers, chances = masses(law)
    points = np.array([-100, -3, -1, 0, 1, 2, 50], dtype=float)
    wanted = [float(chances[numbers <= point].sum()) for point in points]
    np.testing.assert_allclose(below(law, points), wanted, atol=2e-9)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
def test_the_reach_is_the_least_that_suffices(law, confidence):
    """Enough at w, not at w - 1; and so a w one larger or smaller would be caught."""
    numbers, chances = masses(law)
    for bias, width in zip(
        BIASES, reach(law, np.array(BIASES, dtype=float), confidence), strict=True
    ):
        inside = [float(chances[np.abs(numbers + bias) <= width - less].sum()) for less in (0, 1)]
        assert inside[0] >= confidence - 1e-9
        assert inside[1] < confidence + 1e-9
