"""Codes whose beginnings are grouped by as well: scanned once, by the longest, and rolled up."""

from random import Random

import pyarrow as pa
import pytest

from perrecord import Keys, Query, Split
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests import first
from tests.queries.reference import exact, reference

LEVELS = (2, 3, 4, 6)
DIMENSIONS = {
    "county": "county",
    "state": "substr(county, 1, 2)",
    "kind": "CASE WHEN county IS NULL THEN 'none' ELSE 'some' END",
    **{f"naics{k}": f"substr(naics, 1, {k})" for k in LEVELS},
}
CODES = ["111110", "111120", "111200", "112111", "541110", "5411", "", None, "äöü123"]
COUNTIES = ["37001", "37003", "48001", "48", "", None]


def rows_of(random, count):
    """Return records with codes of all lengths, and some without."""
    return [
        {
            "id": str(number),
            "county": random.choice(COUNTIES),
            "naics": random.choice(CODES),
            "emp": random.choice([None, -3, 0, 7, 10**6]),
        }
        for number in range(count)
    ]


def opened_table(rows):
    """Return the records as a table with their roles."""
    columns = {
        name: pa.array([row[name] for row in rows], pa.int64() if name == "emp" else pa.string())
        for name in ("id", "county", "naics", "emp")
    }
    return table(pa.table(columns), id="id", dimensions=DIMENSIONS, measures=["emp"])


def keys_for(random, columns):
    """Return public keys over these columns: some that occur, some that do not."""
    whole = None
    for name in columns:
        if name.startswith("naics"):
            values = {code and code[: int(name[5:])] for code in CODES} | {"zz"}
        elif name == "kind":
            values = {"none", "some"}
        else:
            values = {code and code[: 2 if name == "state" else 5] for code in COUNTIES} | {"99"}
        kept = random.sample(sorted(values, key=repr), random.randrange(1, len(values) + 1))
        each = Keys.from_dict({name: kept})
        whole = each if whole is None else whole * each
    return whole


def query(random):
    """Return a query over some columns of the hierarchies."""
    columns = random.sample(list(DIMENSIONS), random.randrange(1, 4))
    asked = Query().group_by(*columns, keys=keys_for(random, columns)).count(rho=1)
    asked = asked.sum("emp", split=Split(emp=5), rho=1)
    if random.random() < 0.3:
        asked = asked.count_distinct("id", rho=1)
    if random.random() < 0.3:
        asked = asked.median("emp", candidates=[-3, 0, 5, 7, 100], rho=1)
    return asked


@pytest.mark.parametrize("seed", first(30, range(60)))
def test_workloads_over_hierarchies_give_the_integers_of_the_reference(seed):
    """Whatever is derived, grouped by, rolled up or counted apart: bit for bit."""
    random = Random(seed)
    rows = rows_of(random, 60)
    with opened_table(rows) as opened:
        planned = plan([query(random) for _ in range(random.randrange(1, 5))], opened.schema)
        assert exact(planned, opened) == reference(planned, rows)


def test_the_engine_groups_by_the_longest_codes_alone():
    """Six levels are one GROUP BY over two columns; what is derived is computed for its cells."""
    rows = rows_of(Random(1), 5)
    with opened_table(rows) as opened:
        asked = [
            Query().group_by("county", f"naics{k}", keys=keys_for(Random(k), ["county", name]))
            for k in LEVELS
            for name in [f"naics{k}"]
        ]
        planned = plan([each.count(rho=1) for each in asked], opened.schema)
        (scan,) = planned.scans
        assert set(scan.grouped) == {"county", "naics6"}
        assert {name for name, _ in scan.derived} == {"naics2", "naics3", "naics4"}
        assert len(scan.sets) == 1


def test_sets_that_differ_in_derived_columns_alone_are_counted_once():
    """Different ids by county, and totals by county and state: one set of cells, not two."""
    rows = rows_of(Random(2), 40)
    with opened_table(rows) as opened:
        by_county = keys_for(Random(3), ["county"])
        by_both = keys_for(Random(4), ["county", "state"])
        asked = [
            Query().group_by("county", keys=by_county).count_distinct("id", rho=1),
            Query().group_by("county", "state", keys=by_both).count(rho=1),
        ]
        planned = plan(asked, opened.schema)
        assert len(planned.scans[0].sets) == 2
        assert exact(planned, opened) == reference(planned, rows)
