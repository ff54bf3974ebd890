"""Input that no noise can be drawn for is refused by name, before anything is drawn."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from perrecord.errors import InexactNumberError, InputError, ProbabilityError
from perrecord.laws import DiscreteGaussian
from perrecord.noise import (
    binomial,
    discrete_gaussian,
    discrete_gaussian_each,
    discrete_laplace,
    discrete_student,
    discrete_student_each,
    gaussian_tail,
    passing,
)

DRAWS = [
    discrete_gaussian,
    discrete_laplace,
    discrete_student,
    lambda parameter, size: gaussian_tail(parameter, 3, size),
]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("parameter", [0, -1, "-0.5", "0", Fraction(-1, 3)])
def test_a_parameter_that_is_not_positive_is_refused(draw, parameter):
    """Found and expected are both named."""
    with pytest.raises(InputError, match=r"expected a number above 0"):
        draw(parameter, 5)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "parameter", [0.5, float("nan"), float("inf"), np.float64(2), Decimal("NaN"), "nan", "inf"]
)
def test_floats_and_nan_are_refused(draw, parameter):
    """A rational is needed; a float is not one."""
    with pytest.raises(InexactNumberError):
        draw(parameter, 5)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_size_that_is_no_count_is_refused(draw):
    """Negative, fractional and boolean sizes."""
    with pytest.raises(InputError, match="number of draws is -1; expected 0 or more"):
        draw(1, -1)
    for size in (2.0, "3", True, None):
        with pytest.raises(InputError, match="expected a whole number"):
            draw(1, size)


def test_one_bad_sigma_among_many_is_refused():
    """Also a float that equals an exact number before it."""
    with pytest.raises(InexactNumberError):
        discrete_gaussian_each([1, 1.0])
    with pytest.raises(InexactNumberError):
        discrete_student_each([1, 1.0])
    with pytest.raises(InputError):
        discrete_gaussian_each([1, 0])
    with pytest.raises(InputError):
        discrete_gaussian_each([1, True])


def test_slips_of_type_are_refused():
    """A lone text for a list, an array for a number, a size beyond any array."""
    with pytest.raises(InputError, match="sigma squared is a str; expected a list"):
        discrete_gaussian_each("123")
    with pytest.raises(InputError, match="sigma squared is a int; expected a list"):
        discrete_gaussian_each(5)
    with pytest.raises(InputError, match="sigma squared is a ndarray"):
        discrete_gaussian(np.array([1, 2]), 3)
    with pytest.raises(InputError, match="the number of draws is a ndarray"):
        discrete_gaussian(1, np.array([1, 2]))
    with pytest.raises(InputError, match="larger than any array"):
        discrete_gaussian(1, 10**30)
    with pytest.raises(InputError, match="the law is a str"):
        passing(10, "5", 3)


def test_the_type_of_wide_values_does_not_change_with_demand():
    """Python ints or int64 is decided by sigma alone, not by how many values came before."""
    kinds = {discrete_gaussian(Fraction(2) ** 108, 1000).dtype for _ in range(12)}
    assert len(kinds) == 1


def test_bad_binomials_are_refused():
    """Trials below zero, chances outside [0, 1], floats."""
    with pytest.raises(InputError, match="number of trials is -1"):
        binomial(-1, "0.5")
    with pytest.raises(ProbabilityError):
        binomial(5, "1.5")
    with pytest.raises(InexactNumberError):
        binomial(5, 0.5)
    with pytest.raises(InputError, match="number of trials is -3"):
        passing(-3, DiscreteGaussian(1), -2)
    with pytest.raises(InputError, match="threshold is a float"):
        passing(3, DiscreteGaussian(1), 2.0)
    with pytest.raises(InputError, match="threshold is a float"):
        gaussian_tail(1, 2.0, 5)


@pytest.mark.parametrize("draw", DRAWS)
def test_no_draws_give_an_empty_array(draw):
    """Size 0 is a count like any other."""
    assert draw("2.5", 0).shape == (0,)
    assert discrete_gaussian_each([]).shape == (0,)


def test_numpy_integers_are_integers():
    """Sizes and thresholds often come from numpy."""
    assert len(discrete_gaussian(np.int64(4), np.int64(7))) == 7
    assert len(gaussian_tail(np.int64(4), np.int64(3), np.int64(7))) == 7
