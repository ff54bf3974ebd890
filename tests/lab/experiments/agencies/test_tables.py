"""All states from records, and what suppression costs."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from perrecord.lab.experiments.agencies.magnitudes import magnitude_tables
from perrecord.lab.experiments.agencies.suppression import suppressed
from perrecord.lab.experiments.agencies.tables import suppressed_areas, suppression_costs
from perrecord.lab.synth.business import business


@pytest.fixture(scope="module")
def records():
    """Return the establishments of four states."""
    every = business(400_000, seed=5)
    sector = pc.utf8_slice_codeunits(every["naics"].cast(pa.string()), 0, 2)
    every = every.append_column("sector", sector)
    return every.filter(
        pc.is_in(every["state"].cast(pa.string()), pa.array(["10", "11", "44", "50"]))
    )


def test_every_state_is_suppressed_by_itself(records):
    """Cells and margins that hold records, each as its own table has it; progress is told."""
    told = []
    found = suppressed_areas(records, "emp", advance=lambda name, share: told.append((name, share)))
    assert told == [("10", 0.25), ("11", 0.5), ("44", 0.75), ("50", 1.0)]
    rows = {(row["state"], row["county"], row["sector"]): row for row in found.to_pylist()}
    names = {"area": "state", "row": "county", "column": "sector", "unit": "firm"}
    for state, table in magnitude_tables(records, measure="emp", **names):
        alone = suppressed(table)
        counties, sectors = (*table.rows, None), (*table.columns, None)
        for i, county in enumerate(counties):
            for j, sector in enumerate(sectors):
                row = rows.pop((state, county, sector), None)
                if not table.records[i, j]:
                    assert row is None
                    continue
                assert row["total"] == table.total[i, j]
                assert row["records"] == table.records[i, j]
                assert (row["status"] == "primary") == alone.primary[i, j]
                assert (row["status"] == "complementary") == alone.complementary[i, j]
                assert (row["low"] is None) == (not alone.primary[i, j])
    assert not rows


def test_costs_are_shares_of_cells_and_of_value(records):
    """Counted again by hand; sizes and levels add up to all."""
    cells = suppressed_areas(records, "payann")
    costs = suppression_costs(cells).to_pylist()
    inner = [row for row in cells.to_pylist() if row["level"] == "cell" and row["total"]]
    hidden = [row for row in inner if row["status"] != "published"]
    (whole,) = [row for row in costs if (row["level"], row["size"]) == ("cell", "all")]
    assert whole["cells"] == len(inner)
    assert whole["hidden"] == pytest.approx(len(hidden) / len(inner))
    assert whole["hidden"] == pytest.approx(whole["primary"] + whole["complementary"])
    value = sum(row["total"] for row in hidden) / sum(row["total"] for row in inner)
    assert whole["hidden_value"] == pytest.approx(value)
    parts = [row for row in costs if row["level"] == "cell" and row["size"] != "all"]
    assert sum(row["cells"] for row in parts) == len(inner)
    assert sum(row["zeros"] for row in parts) == whole["zeros"]
    assert parts[0]["hidden"] > parts[-1]["hidden"]


def test_no_records_are_no_cells(records):
    """An empty table has the same columns."""
    found = suppressed_areas(records.slice(0, 0), "emp")
    assert found.num_rows == 0
    assert found.column_names[:3] == ["state", "county", "sector"]
    assert suppression_costs(found).num_rows == 0


def test_levels_are_told_apart(records):
    """Margins have null where all are added up."""
    found = suppressed_areas(records, "emp")
    for level, county, sector in (
        ("cell", False, False),
        ("row margin", False, True),
        ("column margin", True, False),
        ("total", True, True),
    ):
        own = found.filter(pc.equal(found["level"], level))
        assert own.num_rows
        assert np.all(np.asarray(own["county"].is_null()) == county)
        assert np.all(np.asarray(own["sector"].is_null()) == sector)
