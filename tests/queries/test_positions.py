"""Where cells stand among keys: as a dictionary of Python would say, without a join."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from perrecord import Query
from perrecord.confidential.revealing import revealed
from perrecord.confidential.tally import Addends, ExactSums, integers
from perrecord.queries import positions
from perrecord.queries.aggregates import Rows
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.queries.positions import Coded, Places
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

VALUES = {
    pa.string(): ["", "a", "b", "ä", "e\u0301", "é", None],
    pa.int64(): [-1, 0, 1, 2**63 - 1, None],
    pa.bool_(): [True, False, None],
}


@st.composite
def key_sets(draw):
    """Return a product of up to three key sets of up to three columns each."""
    whole, count = None, 0
    for _ in range(draw(st.integers(1, 3))):
        kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
        rows = draw(st.lists(st.tuples(*(st.sampled_from(VALUES[kind]) for kind in kinds))))
        columns = {
            f"c{count + place}": pa.array([row[place] for row in rows[:5]], kind)
            for place, kind in enumerate(kinds)
        }
        count += len(kinds)
        keys = Keys.from_columns(columns)
        whole = keys if whole is None else whole * keys
    return whole


@given(key_sets(), st.randoms(use_true_random=False))
def test_positions_are_those_of_the_rows(keys, random):
    """Every row finds its key, NULL and all, and a row that is no key finds none."""
    rows = {row: place for place, row in enumerate(keys.rows())}
    kinds = [field.type for field in keys.schema]
    asked = [tuple(random.choice(VALUES[kind]) for kind in kinds) for _ in range(30)]
    asked += random.sample(sorted(rows, key=repr), min(len(rows), 20))
    columns = {
        name: Coded.of(pa.array([row[place] for row in asked], kind))
        for place, (name, kind) in enumerate(zip(keys.columns, kinds, strict=True))
    }
    found = Places.of(keys.factors).positions(columns, len(asked))
    assert found.tolist() == [rows.get(row, -1) for row in asked]


def test_keys_of_nothing_but_null_are_found_in_a_column_of_any_kind():
    """Such keys have no type of their own."""
    places = Places.of(Keys.from_dict({"n": [None]}).factors)
    column = Coded.of(pa.array([None, 3], pa.int64()))
    assert places.positions({"n": column}, 2).tolist() == [0, -1]


def test_without_keys_every_row_is_in_the_one_cell():
    """The total of everything has the position 0."""
    assert Places.of(()).positions({}, 3).tolist() == [0, 0, 0]


def test_the_beginning_of_codes_is_taken_by_characters():
    """As SQL does, and NULL stays NULL."""
    column = Coded.of(pa.array(["äbc", "äbd", "x", None]))
    found = column.beginning(2)
    assert found.values.take(pa.array(found.codes)).to_pylist() == ["äb", "äb", "x", None]


numbers = st.one_of(st.integers(-(2**70), 2**70), st.sampled_from([2**62, -(2**62), 2**63 - 1]))


@given(st.lists(st.tuples(st.integers(0, 4), numbers), max_size=30))
def test_sums_are_exact_however_large(pairs):
    """Chunk by chunk, in 64 bits for as long as no sum can leave them."""
    tally, expected = ExactSums(5), [0] * 5
    for start in range(0, len(pairs), 3):
        part = pairs[start : start + 3]
        addends = Addends.of(integers(pa.array([value for _, value in part], pa.decimal128(38, 0))))
        tally.add(np.array([place for place, _ in part], dtype=np.int64), addends)
        for place, value in part:
            expected[place] += value
    sums = revealed(tally.sums())
    assert [int(each) for each in sums] == expected
    if sum(abs(value) for _, value in pairs) < 2**63:
        assert sums.dtype == np.int64


def test_a_slice_of_a_wide_column_is_read_from_its_own_start():
    """Arrow's slices share one buffer; so do chunks that are put together."""
    column = pa.array([1, -2, 3, -(2**63) + 1], pa.decimal128(38, 0))
    assert integers(column.slice(1)).tolist() == [-2, 3, -(2**63) + 1]
    assert integers(pa.chunked_array([column.slice(3), column])).tolist()[:2] == [-(2**63) + 1, 1]
    assert integers(pa.array([-(2**63)], pa.decimal128(38, 0))).dtype == np.object_


def test_many_different_keys_are_looked_up_a_few_times_only(monkeypatch):
    """The time of a lookup is that of its keys, so it is not done for every small batch."""
    calls = []
    honest = positions._indices
    monkeypatch.setattr(positions, "_indices", lambda *given: calls.append(1) or honest(*given))
    count = 500_000
    codes = pa.array(np.arange(count))
    asked = Query().group_by("k", keys=Keys.from_columns({"k": codes})).count(rho=1)
    with table(pa.table({"k": codes}), dimensions=["k"]) as opened:
        planned = plan(asked, opened.schema)
        with scanned(planned, opened) as cells:
            found = cells[0].reading(["k"], asked.groupings[0].cells).numbers(Rows())
    assert revealed(found).sum() == count
    assert len(calls) == 1
