"""The steps of a Spark scan bring the same cells, and bends of a curve are found."""

import math

import pyarrow as pa
import pytest
from full_size.workload import LEVELS, spec_text
from spark import session_on
from spark_steps import (
    FETCHED,
    PLAIN,
    SCAN,
    SUMS,
    WARMING,
    Step,
    goals_of,
    plain,
    steeper,
    steps,
    ways,
)  # fmt: skip

from perrecord.lab.synth import business
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.places import county_codes
from perrecord.queries.plan import plan
from perrecord.release.spec import build, load_spec, open_table
from tests import first
from tests.engines.conftest import spark

__all__ = ["spark"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A few thousand establishments, and some keys of each level."""
    path = tmp_path_factory.mktemp("data")
    business(5000, path / "est.parquet")
    (path / "counties.csv").write_text("\n".join(["county", *county_codes()[:10]]) + "\n")
    for level in filter(None, LEVELS):
        codes = sorted({code[:level] for code in industry_codes()})[::9]
        (path / f"industries{level}.csv").write_text("\n".join([f"naics{level}", *codes]) + "\n")
    return path


@pytest.mark.spark
@pytest.mark.usefixtures("spark")  # the session of all tests: Java that is quick to start
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("warming", first(1, [0, WARMING]))
def test_every_step_brings_the_same_cells(warming, folder, tmp_path, monkeypatch):
    """As many as the plain query has, with the same counts; and each takes time."""
    monkeypatch.setattr("spark_steps.WARMING", warming)
    frame = session_on("local[2]").read.parquet(str(folder / "est.parquet"))
    spec = tmp_path / "release.yaml"
    spec.write_text(spec_text(folder))
    loaded = load_spec(spec)
    with open_table(loaded, frame) as table:
        workload = build(loaded, table.schema)
        planned = plan([named.query for named in workload.queries], table.schema)
        works = ways(frame, planned, table)
        brought = [works[SUMS](), pa.Table.from_batches(works[FETCHED]())]
    wanted = _cells(plain(frame).toArrow(), "naics", "records")
    assert [_cells(each, "naics6", "_perrecord_value0") for each in brought] == [wanted] * 2
    found = steps(frame, folder, 1)
    assert list(found) == [PLAIN, SUMS, FETCHED, SCAN]
    assert all(step.wall > 0 for step in found.values())


def test_goals_are_a_ratio_and_a_straight_line():
    """Fixed seconds do not count; where nothing grows, nothing is claimed."""
    found = {PLAIN: Step(1.0, 2.0), SCAN: Step(1.2, 5.0)}
    straight = {1: 3.0, 2: 4.0, 4: 6.0, 8: 10.0}
    assert [goal.is_met for goal in goals_of(found, straight)] == [True, True]
    slow = {**found, SCAN: Step(1.4, 2.0)}
    bent = {1: 1.0, 2: 4.0, 4: 16.0, 8: 64.0}
    assert [goal.is_met for goal in goals_of(slow, bent)] == [False, False]
    assert math.isnan(steeper({1: 4.0, 2: 3.0, 4: 2.0}))


def _cells(table, industry, records):
    columns = (table[name].to_pylist() for name in ("county", industry, records))
    return sorted(zip(*columns, strict=True))
