"""Answers as tables of other packages: decimals where asked for, floats to calculate with."""

import sys
from decimal import Context, Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import (
    Answers,
    Budget,
    DiscreteGaussian,
    InputError,
    Keys,
    Policy,
    Query,
    Session,
    Split,
    table,
)
from perrecord.released.columns import Estimate
from perrecord.released.numbers import as_floats


@pytest.fixture
def found(tmp_path):
    """Return the answers of a session: whole numbers, hundredths, and beyond 64 bits."""
    amounts = pa.array([Decimal("1.25"), Decimal("2.50"), None], pa.decimal128(12, 2))
    source = pa.table({"k": ["a", "b", "b"], "x": amounts, "y": [2**62] * 3})
    query = (
        Query()
        .group_by("k", keys=Keys.from_dict({"k": ["c", "b", "a"]}))
        .count(rho=1)
        .sum("x", split=Split(x=5), rho=1)
        .sum("y", clamp=(0, 2**62), rho=1)
        .median("x", candidates=["0.1", "2.5"], rho=1)
    )
    with table(source, dimensions=["k"], measures={"x": "0.01", "y": 1}) as opened:
        budget = Budget(rho=4, splits=Split(x=5))
        session = Session(opened, ledger=tmp_path / "k.ledger", budget=budget, new=True)
        return session.ask(query)


def test_frames_hold_floats_unless_decimals_are_asked_for(found):
    """Frames calculate with floats, each the nearest to its decimal; whole numbers stay whole."""
    wanted = found.with_errors().to_pydict()
    assert found.to_arrow().to_pydict() == wanted
    assert found.to_pandas(exact=True)["sum_x"].to_list() == wanted["sum_x"]
    for frame in (found.to_arrow(exact=False), found.to_pandas(), found.to_polars()):
        for name in ("sum_x", "sum_x_low", "sum_x_high", "sum_y", "median_x"):
            values = [each.as_py() if isinstance(each, pa.Scalar) else each for each in frame[name]]
            assert [type(each) for each in values] == [float] * 3
            assert values == [float(each) for each in wanted[name]]
    assert found.to_pandas()["count"].dtype == "int64"
    assert found.to_polars(None).columns == found.with_errors(None).column_names


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1), st.integers(0, 38))
def test_floats_are_the_nearest_to_their_decimals(numbers, places):
    """Arrow's own cast of decimals to floats is off by one place in an eighth of all numbers."""
    exact = [Decimal(each).scaleb(-places, Context(prec=60)) for each in numbers]
    decimals = pa.table({"x": pa.array(exact, pa.decimal128(38, places))})
    assert as_floats(decimals)["x"].to_pylist() == [float(each) for each in exact]


def test_whatever_reads_arrow_reads_answers(found):
    """By its C stream: exact, with their errors."""
    wanted = found.to_arrow()
    assert pa.table(found).equals(wanted)
    assert polars.DataFrame(found).to_dicts() == wanted.to_pylist()
    read = duckdb.sql("SELECT sum_x FROM found").to_arrow_table()
    assert read["sum_x"].to_pylist() == wanted["sum_x"].to_pylist()
    assert pandas.DataFrame.from_arrow(found)["sum_x"].to_list() == wanted["sum_x"].to_pylist()


def test_numbers_beyond_what_readers_hold_are_floats_in_a_stream():
    """Polars would panic at them; where decimals are asked for, it is said."""
    number = 10**45 + 1
    large = Estimate(
        "x", np.array([number], object), Fraction(1), (DiscreteGaussian(1),), np.array([0])
    )
    answers = Answers(pa.table({"k": ["a"]}), (large,), Policy.zero(), ())
    assert answers.to_arrow()["x"].to_pylist() == [Decimal(number)]
    assert pa.table(answers)["x"].to_pylist() == [1e45]
    assert answers.to_polars()["x"].to_list() == [1e45]
    with pytest.raises(InputError, match="more than 38 digits, which Polars"):
        answers.to_polars(exact=True)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_said_with_what_to_type(found, package, monkeypatch):
    """Neither is needed by anything else."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}, .* type: pip install {package}\."):
        getattr(found, f"to_{package}")()
    assert found.to_arrow().num_rows == 3
