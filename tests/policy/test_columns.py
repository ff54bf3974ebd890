"""Vectorised evaluation agrees with the exact one, row by row."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import InexactNumberError, InputError, MissingFieldError, Policy, Split
from perrecord.policy.columns import pieces_of_columns
from tests.policy import strategies as some

tables = st.lists(some.records, min_size=1, max_size=12)


def as_objects(rows):
    """Return columns of Python objects: the general, slow way in."""
    columns = {}
    for name in rows[0]:
        columns[name] = np.empty(len(rows), dtype=object)
        columns[name][:] = [row[name] for row in rows]
    return columns


@settings(max_examples=80)
@given(some.policies, some.splits, tables)
def test_columns_agree_with_records(policy, split, rows):
    """Pieces to the integer; losses never below and within one part in 2^40."""
    columns = as_objects(rows)
    assert list(pieces_of_columns(split, columns)) == [split.pieces(row) for row in rows]
    for fast, row in zip(policy.losses(columns), rows, strict=True):
        slow = policy.loss(row)
        assert slow <= Fraction(fast) <= slow * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64])
def test_integers_of_every_width(dtype):
    """Extremes of the type included: |-2^63| does not fit 64 bits and is still right."""
    info = np.iinfo(dtype)
    values = np.array([info.min, -1 if info.min else 0, 0, 1, info.max], dtype=dtype)
    split = Split(x="0.7")
    expected = [split.pieces({"x": int(value)}) for value in values]
    assert [int(count) for count in pieces_of_columns(split, {"x": values})] == expected


def test_arrow_tables_with_nulls_decimals_and_dictionaries():
    """Null measures count as 0 (T15); null dimensions are the case None."""
    table = pa.table(
        {
            "x": pa.array([12, None, -7, 3], pa.int32()),
            "y": pa.array([Decimal("1.25"), None, Decimal("-0.01"), Decimal("9.99")]),
            "region": pa.array(["north", None, "south", "north"]).dictionary_encode(),
        }
    )
    split = Split.by("region", {"north": Split(x=5, y="0.5"), None: Split(x=1)}, Split(y="0.01"))
    policy = Policy.split(1, split) + Policy.exact("0.1", measure="y", threshold="0.01")
    rows = table.to_pylist()
    assert list(pieces_of_columns(split, table)) == [split.pieces(row) for row in rows]
    assert list(policy.losses(table)) == pytest.approx([float(policy.loss(row)) for row in rows])


def test_dimensions_keep_their_types_in_every_container():
    """Lists, object arrays, data frames: True, "1", 2 and null stay apart."""
    losses = {True: 4, "1": 3, None: 2, 2: 9}
    policy = Policy.by(
        "a", {key: Policy.constant(loss) for key, loss in losses.items()}, Policy.constant(1)
    )
    values = [1, True, "1", None, "z", 2]
    expected = [policy.loss({"a": value}) for value in values]
    assert expected == [1, 4, 3, 2, 1, 9]
    as_array = np.empty(len(values), dtype=object)
    as_array[:] = values
    for column in (values, tuple(values), as_array):
        assert policy.losses({"a": column}).round(9).tolist() == expected
    texts = pd.DataFrame({"a": ["1", None, "z"]})
    assert policy.losses(texts).round(9).tolist() == [3, 2, 1]
    numbers = pl.DataFrame({"a": [1, None, 2**53 + 1]})
    large = Policy.by("a", {2**53 + 1: Policy.constant(7), None: Policy.constant(2)}, Policy.zero())
    assert large.losses(numbers).round(9).tolist() == [0, 2, 7]


def test_measures_of_data_frames_with_nulls():
    """Null is 0, whichever library holds it."""
    policy = Policy.split(1, Split(x=5))
    expected = [9.0, 1.0]
    frames = [
        pd.DataFrame({"x": pd.array([12, None], dtype="Int64")}),
        pd.DataFrame({"x": pd.array([12, None], dtype="int64[pyarrow]")}),
        pl.DataFrame({"x": [12, None]}),
        pl.DataFrame({"x": [Decimal("12"), None]}),
        {"x": np.ma.array([12, 99], mask=[False, True])},
        {"x": [12, Decimal("NaN")]},
    ]
    for frame in frames:
        assert policy.losses(frame).round(9).tolist() == expected
    assert policy.loss({"x": Decimal("NaN")}) == 1


@pytest.mark.parametrize("empty", [[], pa.array([], pa.decimal128(9, 2)), pa.array([], pa.null())])
def test_an_empty_measure_of_any_exact_type(empty):
    """What is accepted does not depend on there being values."""
    assert Policy.split(1, Split(x=5)).losses({"x": empty}).shape == (0,)


def test_thresholds_and_caps_beyond_64_bits():
    """Integers take over where 64 bits end."""
    zeros = {"x": np.zeros(2, dtype=np.int64)}
    assert list(pieces_of_columns(Split(x="1e-30"), zeros)) == [1, 1]
    assert list(pieces_of_columns(Split(x=1).capped(10**30), zeros)) == [1, 1]
    giants = {"x": [10**40, 5]}
    assert list(pieces_of_columns(Split(x=1).capped(10**30), giants)) == [10**30, 5]


def test_an_empty_table_has_no_losses():
    """No rows in, no rows out."""
    empty = {"x": np.array([], dtype=np.int64), "region": np.array([], dtype=str)}
    policy = Policy.by("region", {"north": Policy.split(1, Split(x=1))}, Policy.zero())
    assert policy.losses(empty).shape == (0,)


def test_rounding_down_is_caught():
    """Broken twin: plain floats fall below the exact loss on some rows."""
    policy = Policy.split("0.1", Split(x=3))
    values = np.arange(1, 2000)
    naive = 0.1 * (-(-values // 3)) ** 2
    exact = [policy.loss({"x": int(value)}) for value in values]
    assert any(Fraction(low) < high for low, high in zip(naive, exact, strict=True))
    fast = policy.losses({"x": values})
    assert all(Fraction(low) >= high for low, high in zip(fast, exact, strict=True))


def test_columns_that_are_not_exact_are_refused():
    """Floats, text and missing columns get their own message."""
    policy = Policy.split(1, Split(x=1))
    with pytest.raises(InexactNumberError, match="measure 'x' is a column of floats"):
        policy.losses({"x": np.array([1.5])})
    with pytest.raises(InputError, match="measure 'x' is a column of <U1"):
        policy.losses({"x": np.array(["1"])})
    with pytest.raises(MissingFieldError, match="no column 'x'"):
        policy.losses({"y": np.array([1])})
    for table in (pa.table({"y": [1]}), pl.DataFrame({"y": [1]}), pd.DataFrame({0: [1]})):
        with pytest.raises(MissingFieldError, match="no column 'x'"):
            policy.losses(table)
    for column in (pa.array([[1]]), pa.array([1.5]), pa.array(["1"]), pa.array([True])):
        with pytest.raises(InputError, match="measure 'x' is a column of"):
            policy.losses({"x": column})
    with pytest.raises(InputError, match="expected columns of one length"):
        policy.losses({"a": [1, 2, 3], "x": [7]})
    with pytest.raises(InputError, match="the columns are a NoneType"):
        policy.losses(None)
    twice = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(InputError, match="name 'x' twice"):
        policy.losses(twice)
