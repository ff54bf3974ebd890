"""Exact numbers in, directed numbers out."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import InexactNumberError, InputError
from perrecord.exact import ceil_div, float_down, float_up, rational, sqrt_up, text

rationals = st.fractions() | st.fractions(0, 1) | st.integers().map(Fraction)


@given(rationals)
def test_text_and_rational_are_inverse(value):
    """Whatever is written can be read back without loss."""
    assert rational(text(value)) == value


@given(rationals)
def test_directed_floats_enclose(value):
    """float_up is the least float not below, float_down the greatest not above."""
    up, down = float_up(value), float_down(value)
    assert down <= value <= up
    assert up == down or math.nextafter(down, math.inf) == up


@given(st.fractions(0))
def test_square_roots_are_rounded_up_and_close(value):
    """The square is never below, and exceeds by less than one part in 2^120."""
    root = sqrt_up(value)
    assert value <= root**2 <= value * (1 + Fraction(1, 2**120))


@given(st.fractions(0))
def test_square_roots_of_squares_are_exact(value):
    """No rounding where none is needed."""
    assert sqrt_up(value**2) == value


def test_ceil_is_taken_on_integers():
    """T15: 0.7000000000000001 / 0.1 is 7 in floats and 8 exactly."""
    assert math.ceil(0.7000000000000001 / 0.1) == 7
    ratio = rational("0.7000000000000001") / rational("0.1")
    assert ceil_div(ratio.numerator, ratio.denominator) == 8


@pytest.mark.parametrize("value", [7, Fraction(7), Decimal("7.0"), "7", " 7 ", "14/2", np.int64(7)])
def test_every_exact_spelling_is_understood(value):
    """Ints, fractions, decimals, text and numpy's integers are exact."""
    assert rational(value) == 7


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0.1, InexactNumberError, 'rho is a float.* write it as text, such as "0.1"'),
        (float("nan"), InexactNumberError, "rho is a float"),
        (np.float64(0.5), InexactNumberError, "rho is a float"),
        (Decimal("NaN"), InexactNumberError, "rho is NaN or infinite"),
        ("nan", InexactNumberError, "not a finite number"),
        ("inf", InexactNumberError, "not a finite number"),
        ("ten", InexactNumberError, "not a finite number"),
        ("1/0", InexactNumberError, "not a finite number"),
        ("1e99999", InputError, "longer than 1000 digits"),
        (Decimal("1e99999"), InputError, "longer than 1000 digits"),
        ("1 / 3", InexactNumberError, "not a finite number"),
        ("١/٣", InexactNumberError, "not a finite number"),
        (True, InputError, "rho is a truth value"),
        (None, InputError, "rho is a NoneType"),
    ],
)
def test_anything_else_is_refused_by_name(value, error, message):
    """The message says what was found and what to write."""
    with pytest.raises(error, match=message):
        rational(value, "rho")
