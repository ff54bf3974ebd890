"""The doctor's findings: counted exactly, on any engine, with errors that quote nothing."""

import pyarrow as pa
import pytest

from perrecord import (
    Domain,
    Keys,
    Lookup,
    Measure,
    Query,
    SelectCells,
    SourceError,
    Split,
    Weight,
    table,
)
from perrecord.evaluate.doctor import KeyFindings, MeasureFindings, RoleFindings, examine
from tests.engines.conftest import spark

__all__ = ["spark"]

SOURCE = pa.table(
    {
        "id": [1, 2, 2, None, 5, 5],
        "firm": ["a", "a", "b", "b", None, "c"],
        "county": ["37001", "37001", "48001", "99999", None, "48001"],
        "emp": pa.array([120, 20, 7, 2_000_000, None, 501], pa.int32()),
        "rent": [1.5, float("nan"), float("inf"), 1e30, None, -2.0],
    }
)
ROLES = {
    "id": "id",
    "unit": "firm",
    "dimensions": {"county": "county", "state": "substr(county, 1, 2)"},
    "measures": {
        "emp": Measure(1, largest=1_000_000, outside="cut"),
        "rent": Measure("0.01"),
    },
}
KEYS = Keys.from_dict({"county": ["37001", "48001", "48003"]})
DOMAIN = Domain.from_dict({"county": ["37001", "48001", None], "state": ["37", None]})
SPLITS = {
    "plain": Split(emp=100),
    "capped": Split(emp=100).capped(3),
    "by_state": Split.by("state", {"37": Split(emp=10)}, default=Split(emp=100)),
}


def queries():
    """Return queries with every kind of cells."""
    counted = Query("records").count(rho="0.1", name="n")
    return {
        "all": counted,
        "listed": counted.group_by("county", keys=KEYS),
        "filtered": counted.group_by("county", keys=KEYS).where("state = '99'"),
        "wide": counted.group_by(
            "county", "state", keys=SelectCells(DOMAIN, answer="n", at_least=5)
        ),
    }


def check_findings(opened):
    """Assert what is odd about the records."""
    found = examine(opened, queries(), SPLITS)
    assert found.rows == 6
    assert found.roles == (
        RoleFindings("id", "id", 1, 2, 4),
        RoleFindings("unit", "firm", 1, 2, 4),
    )
    assert found.measures == (
        MeasureFindings("emp", 1, 0, 1, "cut"),
        MeasureFindings("rent", 1, 2, 1, "null"),
    )
    assert found.keys == (
        KeyFindings("listed", ("county",), 2, 2),
        KeyFindings("filtered", ("county",), 1, 1),
        KeyFindings("wide", ("county", "state"), 3, 2),
    )
    pieces = {each.split: each.counts for each in found.pieces}
    assert pieces == {
        "plain": ((1, 1, 3), (2, 2, 1), (5, 8, 1), (8193, 16384, 1)),
        "capped": ((1, 1, 3), (2, 2, 1), (3, 4, 2)),
        "by_state": ((1, 1, 2), (2, 2, 1), (5, 8, 1), (9, 16, 1), (8193, 16384, 1)),
    }


def test_on_duckdb():
    """Ids, measures, keys and pieces, counted by hand."""
    with table(SOURCE, **ROLES) as opened:
        check_findings(opened)
        check_findings(opened)  # nothing stays behind from the first time


@pytest.mark.spark
def test_on_spark(spark):
    """The same on the other engine."""
    with table(spark.createDataFrame(SOURCE), **ROLES) as opened:
        check_findings(opened)


def test_text_of_a_csv_file_and_columns_of_a_lookup(tmp_path):
    """Text that is no number is told from a missing one; of a lookup only what is missing."""
    path = tmp_path / "farms.csv"
    path.write_text("id,cattle\n1,12\n2,\n3,many\n4,99999\n", encoding="utf-8")
    sizes = pa.table({"id": ["1", "2", "3"], "acres": [10, None, 30]})
    measures = {"cattle": Measure(1, largest=1000), "acres": Measure(1)}
    with table(path, measures=measures, lookups=[Lookup(sizes, on="id")]) as opened:
        found = examine(opened, {}, {"fine": Split(cattle=5)})
    assert found.measures == (
        MeasureFindings("cattle", 1, 1, 1, "null"),
        MeasureFindings("acres", 2, 0, 0, "null"),
    )
    assert found.pieces[0].counts == ((1, 1, 3), (3, 4, 1))


def test_derived_measures_beyond_their_largest_are_counted():
    """Missing is what a value is missing for; what is beyond is cut or missing, and said."""
    rows = pa.table({"hours": [1, 2, None, 50, 60], "wage": [10, None, 10, 10, 10], "w": [1.0] * 5})
    for rule in ("null", "cut"):
        measures = {
            "hours": Measure(largest=100),
            "wage": Measure(largest=100),
            "pay": Measure(expression="hours * wage", largest=400, outside=rule),
        }
        with table(rows, measures=measures, weight=Weight("w", "0.5", largest=9)) as opened:
            found = examine(opened, {}, {}).measures
        named = {each.name: each for each in found}
        assert named["pay"] == MeasureFindings("pay", 2, 0, 2, rule)
        assert named["weighted_pay"].missing == (4 if rule == "null" else 2)
        assert named["weighted_pay"].outside == 0


def test_an_empty_table():
    """Nothing is odd about nothing."""
    with table(SOURCE.slice(0, 0), **ROLES) as opened:
        found = examine(opened, queries(), SPLITS)
    assert found.rows == 0
    assert all(each.records == 0 for each in found.keys)
    assert all(each.counts == () for each in found.pieces)


def test_what_the_engine_says_is_withheld(tmp_path, monkeypatch):
    """It may quote records."""
    with table(SOURCE, **ROLES) as opened:

        def failing():
            raise RuntimeError("cannot read Kleptomaniac-Holdings")

        monkeypatch.setattr(opened.engine._database, "_cursor", failing)
        with pytest.raises(SourceError) as raised:
            examine(opened, queries(), SPLITS)
    assert "withheld" in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None
