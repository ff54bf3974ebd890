"""Tables of totals: margins and the two largest contributors against a plain count by hand."""

import numpy as np
import pyarrow as pa
import pytest

from perrecord.errors import InputError
from perrecord.lab.experiments.agencies.magnitudes import (
    MagnitudeTable,
    magnitude_tables,
    margins_of,
)


def by_hand(rows, shape):
    """Return total, first, second and records of each cell and margin, from dictionaries."""
    found = np.zeros((4, *shape), dtype=np.int64)
    for i in range(shape[0]):
        for j in range(shape[1]):
            units = {}
            for row, column, unit, value in rows:
                if i in (row, shape[0] - 1) and (j in (column, shape[1] - 1)):
                    units.setdefault(unit, []).append(value)
            largest = [*sorted((sum(each) for each in units.values()), reverse=True), 0, 0]
            found[:, i, j] = (sum(largest), *largest[:2], sum(map(len, units.values())))
    return found


def random_records(seed, count=60):
    """Return records of three rows, four columns and few units, so that units recur."""
    source = np.random.default_rng(seed)
    columns = (source.integers(0, most, count) for most in (3, 4, 9, 50))
    return np.stack(list(columns), axis=1)


def columns_of(records):
    """Return records as an Arrow table of one state."""
    row, column, unit, value = records.T
    return pa.table(
        {
            "state": ["S"] * len(row),
            "county": [f"c{each}" for each in row],
            "sector": [f"s{each}" for each in column],
            "firm": unit,
            "emp": value,
        }
    )


NAMES = {"area": "state", "row": "county", "column": "sector", "measure": "emp", "unit": "firm"}


@pytest.mark.parametrize("seed", range(5))
def test_totals_and_contributors_are_those_counted_by_hand(seed):
    """A firm's establishments in one cell, and in one margin, are added up before they compare."""
    records = random_records(seed)
    ((name, table),) = magnitude_tables(columns_of(records), **NAMES)
    wanted = by_hand(records.tolist(), (4, 5))
    assert name == "S"
    assert (table.rows, table.columns) == (("c0", "c1", "c2"), ("s0", "s1", "s2", "s3"))
    for found, expected in zip(
        (table.total, table.first, table.second, table.records), wanted, strict=True
    ):
        assert (found == expected).all()
    apart = columns_of(np.column_stack([records[:, :2], np.arange(len(records)), records[:, 3]]))
    ((_, twin),) = magnitude_tables(apart, **NAMES)
    assert (twin.first != table.first).any()  # the twin: establishments taken for firms


def test_areas_are_tables_of_their_own_and_rows_only_those_met():
    """Dictionary columns whose chunks differ, null units and null values are taken."""
    records = pa.table(
        {
            "state": pa.chunked_array(
                [pa.array(["B", "B"]).dictionary_encode(), pa.array(["A", "B"]).dictionary_encode()]
            ),
            "county": ["b1", "b2", "a1", "b1"],
            "sector": ["x", "x", "y", "x"],
            "firm": pa.array([None, 1, 1, None], pa.int64()),
            "emp": pa.array([5, None, 7, 4], pa.int32()),
        }
    )
    found = dict(magnitude_tables(records, **NAMES))
    assert list(found) == ["A", "B"]
    assert found["B"].rows == ("b1", "b2")
    assert found["A"].columns == found["B"].columns == ("x", "y")
    assert found["B"].total.tolist() == [[9, 0, 9], [0, 0, 0], [9, 0, 9]]
    assert found["B"].first[0, 0] == 5  # two records without a firm are two units
    assert found["B"].records.tolist() == [[2, 0, 2], [1, 0, 1], [3, 0, 3]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"emp": [1, -1]}, "a value is negative"),
        ({"emp": [1.5, 2.0]}, "not of an integer type"),
        ({"county": ["a", None]}, "county is null"),
        ({"emp": [1, 2**40]}, "larger unit"),
        ({"firms": [1, 2]}, "no column firm"),
    ],
)
def test_what_cannot_be_a_table_is_refused(change, message):
    """Negative values, fractions, missing keys, numbers too large for a solver in floats."""
    columns = {"state": ["S", "S"], "county": ["a", "b"], "sector": ["x", "y"], "emp": [1, 2]}
    firm = {} if "firms" in change else {"firm": [1, 2]}
    with pytest.raises(InputError, match=message):
        list(magnitude_tables(pa.table(columns | firm | change), **NAMES))


def test_arrays_that_are_no_table_are_refused():
    """Margins that do not add up, negative totals, shapes that do not fit."""
    good = margins_of(np.array([[1, 2], [3, 4]]))
    MagnitudeTable(("a", "b"), ("x", "y"), good, good, good * 0, good)
    wrong = good.copy()
    wrong[-1, -1] += 1
    for total, message in ((wrong, "not the sums"), (-good, "negative"), (good[:2], "shape")):
        with pytest.raises(InputError, match=message):
            MagnitudeTable(("a", "b"), ("x", "y"), total, good, good * 0, good)
