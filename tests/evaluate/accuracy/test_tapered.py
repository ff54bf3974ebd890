"""Errors of tapered answers: the most noise a cell may have, and how far averages err."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Keys, Query
from perrecord.evaluate.accuracy.errors import accuracy, simulated_error
from perrecord.evaluate.accuracy.mixtures import mixture_sizes, mixture_widths
from perrecord.evaluate.accuracy.spreads import largest_spreads
from perrecord.laws import DiscreteStudent
from perrecord.queries.methods import Taper
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests.noise.checks import Replayed


@settings(max_examples=60)
@given(
    st.one_of(st.integers(0, 120), st.integers(0, 10**7)),
    st.fractions("1/100", "9999999/10000000"),
    st.sampled_from([3, 7]),
)
def test_the_largest_spread_is_allowed_and_no_larger(limit, confidence, nu):
    """By the exact law: allowed at A, and not at 0.01 % more."""
    (found,) = largest_spreads(np.array([float(limit)]), confidence, nu)
    spread = Fraction(float(found))
    beyond = DiscreteStudent(spread, nu).tail(limit + 1)
    assert 2 * beyond.upper <= 1 - confidence
    more = DiscreteStudent(spread * Fraction(10001, 10000), nu).tail(limit + 1)
    assert 2 * more.lower > 1 - confidence


def test_many_cells_at_once_are_each_by_itself():
    """Narrow and wide ones in one column."""
    limits = np.array([0.0, 3, 40, 41, 3, 10**6])
    together = largest_spreads(limits, Fraction(9, 10), 7)
    alone = [largest_spreads(limits[[cell]], Fraction(9, 10), 7)[0] for cell in range(6)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0, 1.5])
def test_a_mixture_has_the_quantiles_of_drawn_noise(nu, angle):
    """Student plus normal, a million draws: within 1 % at 90 %, the size within 1 %."""
    random = np.random.default_rng(5)
    total, count = np.cos(angle), np.sin(angle)
    student = random.standard_t(nu, 10**6) / np.sqrt(nu / (nu - 2))
    drawn = np.abs(total * student + count * random.normal(size=10**6))
    parts = np.array([total]), np.array([count])
    width = mixture_widths(*parts, Fraction(9, 10), nu)[0]
    assert width == pytest.approx(np.quantile(drawn, 0.9), rel=0.01)
    assert mixture_sizes(*parts, nu)[0] == pytest.approx(drawn.mean(), rel=0.01)


def test_tapered_averages_err_as_far_as_is_said():
    """Mean error and reach beside the samplers, in cells of many records."""
    keys = Keys.from_dict({"k": [0, 1]})
    rows = pa.table({"k": [n % 2 for n in range(4000)], "x": [50 + n % 40 for n in range(4000)]})
    asked = Query().group_by("k", keys=keys)
    asked = asked.average("x", taper=Taper(x=20, nu=3), rho=("0.002", "0.5"))
    with table(rows, dimensions=["k"], measures=["x"]) as source:
        (errors,) = accuracy(plan(asked, source.schema), source, confidence="0.99")
    drawn = simulated_error(errors, 4000, _bits=Replayed(3))
    np.testing.assert_allclose(drawn, errors.relative(errors.size), rtol=0.06)
    ratio = errors.noise_reach / errors.deviation
    assert (ratio > 3).all()  # a normal 99 % would be 2.576
