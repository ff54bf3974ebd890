"""Establishments, their keys and cells, the workload and how its budget is shared out."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import InputError, Keys
from perrecord.lab.experiments.cbp.data import (
    ATTRIBUTES,
    LEVELS,
    Establishments,
    establishments,
    even,
    workload,
)
from perrecord.lab.experiments.cbp.experiment import FULL
from perrecord.queries.plan import plan

FEWEST = 20


@pytest.fixture(scope="module")
def data():
    """Establishments of one state."""
    with establishments(60_000, seed=1, fewest=FEWEST, states=["08"]) as found:
        yield found


@given(st.fractions(Fraction(1, 100), 100), st.sets(st.sampled_from(list(LEVELS)), min_size=1))
def test_shares_of_a_budget_add_up_exactly(total, levels):
    """Every level and attribute gets the same, and nothing is lost to rounding."""
    amounts = even(total, sorted(levels))
    assert len(set(amounts.values())) == 1
    assert len(amounts) == len(levels) * len(ATTRIBUTES)
    assert sum(amounts.values()) == total


@pytest.mark.parametrize("total", ["0.1", "1", "10"])
def test_the_policy_minimum_of_the_workload_is_the_stated_total(data: Establishments, total: str):
    """Under every splitting scheme the least that a record can lose is the budget, exactly."""
    budget = Fraction(total)
    for scheme in FULL.splits.values():
        asked = workload(data.keys, scheme, even(budget, data.levels))
        policy = plan(asked, data.table.schema).policy
        assert policy.minimum() == budget
        small = {"emp": 1, "payann": 20, "payqtr1": 5}
        assert policy.loss(small) == budget


def test_an_attribute_without_an_amount_is_not_asked_for():
    """Nor is a level that has no amount at all."""
    keys = {
        level: Keys.from_dict({"county": ["01001"], f"naics{level}": ["1"]}) for level in (2, 3)
    }
    (query,) = workload(keys, FULL.splits["Moderate"], {(3, "EMP"): Fraction(1)})
    assert [answer.name for answer in query.answers] == ["EMP"]
    assert query.groupings[0].columns == ("county", "naics3")


def test_cells_are_evaluated_from_the_stated_number_of_establishments_on(data: Establishments):
    """A cell of 20 is in, one of 19 is out, at every level."""
    for level, found in data.cells.items():
        counts = (
            data.rows_at(level).group_by(found.keys.column_names).aggregate([([], "count_all")])
        )
        enough = int(pc.sum(pc.greater_equal(counts["count_all"], FEWEST)).as_py())
        assert len(found.large) == enough
        assert len(found.keys) == counts.num_rows
        assert found.true("ESTAB").min(initial=FEWEST) >= FEWEST
        assert found.totals["ESTAB"][~found.is_large].max(initial=0) < FEWEST
    assert FEWEST in data.cells[0].totals["ESTAB"] or FEWEST in data.cells[2].totals["ESTAB"]
    assert set(data.evaluated) <= set(data.cells)


def test_cells_hold_the_true_numbers(data: Establishments):
    """Counts, different firms and totals are those of the records."""
    found = data.cells[2]
    by = data.rows_at(2).group_by(["county", "naics2"])
    wanted = by.aggregate([("firm", "count_distinct"), ("payann", "sum"), ([], "count_all")])
    keyed = {(row["county"], row["naics2"]): row for row in wanted.to_pylist()}
    for place, key in enumerate(found.keys.to_pylist()):
        row = keyed[key["county"], key["naics2"]]
        assert found.totals["ESTAB"][place] == row["count_all"]
        assert found.totals["FIRM"][place] == row["firm_count_distinct"]
        assert found.totals["PAYANN"][place] == row["payann_sum"]


def test_public_keys_hang_on_no_record(data: Establishments):
    """They are every county of the states with every code, and hold every cell of the data."""
    assert [len(keys) for keys in data.keys.values()] == [
        64 * codes for codes in (1, 24, 96, 308, 690, 1012)
    ]
    for level, found in data.cells.items():
        assert not len(Keys.from_columns(found.keys) - data.keys[level])


def test_errors_of_other_methods_find_their_cells(data: Establishments):
    """Published numbers in any order, with cells missing, become errors in the order of cells."""
    found = data.cells[2]
    published = found.keys.append_column("emp", pa.array(found.totals["EMP"] * 1.5))
    published = published.take(pa.array(np.arange(len(published))[::-1]))
    first = found.large.to_pylist()[0]
    is_first = pc.and_(
        pc.equal(published["county"], first["county"]),
        pc.equal(published["naics2"], first["naics2"]),
    )
    errors = found.relative_errors("EMP", published.filter(pc.invert(is_first)), "emp")
    assert np.isnan(errors[0])
    assert np.allclose(errors[1:], 0.5)


def test_states_without_establishments_are_refused():
    """The message says which states, and what to do."""
    with (
        pytest.raises(InputError, match=r"no establishment is in 99.*in full"),
        establishments(100, seed=1, fewest=1, states=["99"]),
    ):
        pass


def test_data_without_a_large_cell_is_refused():
    """There would be nothing to evaluate."""
    with (
        pytest.raises(InputError, match="no cell has 100 or more establishments"),
        establishments(1000, seed=1, fewest=100),
    ):
        pass


def test_a_published_table_gives_its_own_counties_and_levels(tmp_path: Path):
    """Establishments are drawn from it; industries of two digits have no finer level."""
    path = tmp_path / "published.parquet"
    cells = {
        "fips": ["08001", "08003"],
        "naics": ["72", "11"],
        "empszes": ["212"] * 2,
        "est": [60, 9],
    }
    pq.write_table(pa.table(cells), path)
    with establishments(69, seed=1, fewest=FEWEST, source=path) as found:
        assert found.levels == (0, 2)
        assert len(found.keys[2]) == 4
        assert found.cells[2].large.to_pylist() == [{"county": "08001", "naics2": "72"}]


def test_a_table_of_zip_codes_is_refused(tmp_path: Path):
    """The workload is by county."""
    path = tmp_path / "published.parquet"
    cells = {"zip": ["80201"], "naics": ["72"], "empszes": ["212"], "est": [60]}
    pq.write_table(pa.table(cells), path)
    with (
        pytest.raises(InputError, match="ZIP codes; expected counties"),
        establishments(60, seed=1, fewest=1, source=path),
    ):
        pass
