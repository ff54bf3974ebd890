"""`evaluate` of firms, and of other data in place of two linked periods."""

import math
from collections import defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import run

ROWS = [
    (1, "a", "Kent", 10), (2, "a", "Kent", 75), (3, "a", "York", 30), (4, "b", "York", 400),
    (5, "b", "Hull", 9), (6, "c", "Kent", 0), (7, None, "Kent", 55),
]  # fmt: skip
SPEC = """
title: Firms
source: est.parquet
id: id
unit: firm
dimensions: [county]
measures: {emp: 1}
splits: {usual: {emp: 50}}
keys: {counties: {values: {county: [Kent, York]}}}
budget: {rho: 5, splits: [usual]}
queries:
  - name: counties
    group_by: [county]
    keys: counties
    answers:
      establishments: {count: records, rho: 0.1}
      emp: {sum: emp, split: usual, rho: 0.3}
  - {name: all, answers: {emp: {sum: emp, split: usual, rho: 0.2}}}
"""
LINKED = """
title: Changes
source: {path: this.parquet, last: last.parquet}
id: id
dimensions: [county]
measures: {emp_change: {column: emp}}
keys: {counties: {values: {county: [Kent, York]}}}
budget: {rho: 5}
queries:
  - name: counties
    group_by: [county]
    keys: counties
    answers: {emp: {sum: emp_change, clamp: [-50, 50], rho: 0.3}}
"""


def written(folder, name, rows):
    """Write establishments."""
    columns = zip(*rows, strict=True)
    names = ("id", "firm", "county", "emp")
    pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), folder / name)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Firms of several establishments, and two periods of them."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "est.parquet", ROWS)
    written(tmp_path, "last.parquet", ROWS[:3])
    written(tmp_path, "this.parquet", ROWS[1:5])
    (tmp_path / "release.yaml").write_text(SPEC)
    (tmp_path / "changes.yaml").write_text(LINKED)
    return tmp_path


def quantiles(numbers):
    """Return what half, nine tenths, 99 % and all of some numbers are not above."""
    ordered = sorted(numbers)
    places = {
        share: math.ceil(float(share) * len(ordered)) for share in ("0.5", "0.9", "0.99", "1")
    }
    return {share: pytest.approx(ordered[place - 1]) for share, place in places.items()}


@pytest.mark.usefixtures("undrawn", "here")
def test_units_are_in_the_json():
    """Realised losses and bounds of every firm, computed once more in lines of its own."""
    records, cells = defaultdict(list), defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for place, firm, county, emp in ROWS:
        unit, pieces = firm or place, max(1, math.ceil(emp / 50))
        records[unit].append(0.1 + 0.3 * pieces**2 + 0.2 * pieces**2)
        for cell in (county, "all") if county != "Hull" else ("all",):
            cells[unit][cell][0] += 1
            cells[unit][cell][1] += emp
    realised = [
        sum(
            (0.2 * (emp / 50) ** 2) if cell == "all" else 0.1 * count**2 + 0.3 * (emp / 50) ** 2
            for cell, (count, emp) in found.items()
        )
        for found in cells.values()
    ]
    tight = [sum(map(math.sqrt, each)) ** 2 for each in records.values()]
    simple = [len(each) * sum(each) for each in records.values()]
    units = run("evaluate", "release.yaml", "--json").json()["CONFIDENTIAL"]["units"]
    assert units["count"] == 4
    assert units["realised"] == quantiles(realised)
    assert units["tight"] == quantiles(tight)
    assert units["simple"] == quantiles(simple)
    assert all(
        units["realised"][share] <= units["tight"][share] <= units["advanced"][share]
        for share in units["tight"]
    )
    assert set(units["least_possible"]) == set(units["tight"])


@pytest.mark.usefixtures("undrawn")
def test_without_units_there_are_none(here):
    """Null, and no empty figures."""
    (here / "release.yaml").write_text(SPEC.replace("unit: firm\n", ""))
    assert run("evaluate", "release.yaml", "--json").json()["CONFIDENTIAL"]["units"] is None


@pytest.mark.usefixtures("undrawn", "here")
def test_two_periods_are_replaced_by_two():
    """Both are named; one alone, or a second where there is one, is refused with what to type."""
    own = run("evaluate", "changes.yaml", "--json").json()["CONFIDENTIAL"]
    assert own["records"] == 5  # one left, two stayed, two entered
    both = ("--source", "est.parquet", "--last", "last.parquet", "--public")
    other = run("evaluate", "changes.yaml", "--out", "other", "--json", *both)
    assert other.json()["records"] == 7
    same = ("--source", "this.parquet", "--last", "last.parquet", "--public")
    assert run("evaluate", "changes.yaml", "--out", "b", "--json", *same).json()["records"] == 5
    for options, words in (
        (("--source", "est.parquet"), "both: --source est.parquet --last FILE"),
        (("--last", "last.parquet"), "both: --source FILE --last last.parquet"),
        (("--public",), "--source this.parquet --last last.parquet"),
        (("--source", "est.parquet", "--last", "none.parquet"), "no file 'none.parquet'"),
    ):
        shown = run("evaluate", "changes.yaml", "--out", "c", *options)
        assert shown.code == 1
        assert words in " ".join(shown.err.split())
    shown = run("tune", "release.yaml", "--goal", "5% for 95% of cells", *both)
    assert "release.yaml is about one period; leave --last out." in " ".join(shown.err.split())
