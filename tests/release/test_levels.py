"""Ten periods: a base, then changes from linked files, added up to levels (T35)."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Budget, Policy, Split
from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.release.accumulating import accumulate
from perrecord.release.publish import release
from perrecord.release.reading import read_published

PERIODS = 10
CELLS = 1500
TRUE_RHO, CHANGE_RHO = "1", Fraction(2500, 128)
"""At threshold 50: noise of standard deviation 35.4 for the base, 8 for each change."""


@dataclass(frozen=True)
class Establishment:
    """One establishment in one period."""

    place: int
    emp: int


World = dict[int, Establishment]


def histories(random: Random, periods: int = PERIODS, count: int = 4000) -> list[World]:
    """Return establishments that grow, enter, exit and move, period by period."""
    worlds: list[World] = [
        {each: Establishment(random.randrange(CELLS), _size(random)) for each in range(count)}
    ]
    for _ in range(periods - 1):
        world: World = {}
        for name, each in worlds[-1].items():
            luck = random.random()
            if luck < 0.05:
                continue  # it exits
            place = random.randrange(CELLS) if luck < 0.1 else each.place
            grown = max(0, each.emp + random.randrange(-3, 4))
            world[name] = Establishment(place, grown)
        for _ in range(count // 20):
            name = max(world, default=0) + 1 + len(worlds) * count
            world[name] = Establishment(random.randrange(CELLS), _size(random))
        worlds.append(world)
    return worlds


def _size(random: Random) -> int:
    return int(random.paretovariate(1.2))


def write(world: World, path: Path) -> None:
    """Write one period as a file."""
    pq.write_table(
        pa.table(
            {
                "id": pa.array(list(world), pa.int64()),
                "place": [f"c{each.place}" for each in world.values()],
                "emp": pa.array([each.emp for each in world.values()], pa.int64()),
            }
        ),
        path,
    )


SPEC = """
title: {title}
source: {source}
table: est
id: id
dimensions: [place]
measures: {measures}
splits: {{usual: {{{measure}: 50}}}}
keys: {{places: {{file: places.csv}}}}
budget: {{rho: 100, splits: [usual]}}
ledger: {ledger}
accounting: exact
queries:
  - name: places
    group_by: place
    keys: places
    answers:
      jobs: {{sum: {measure}, split: usual, rho: {rho}}}
      establishments: {count}
"""
BASE = {"measures": "{emp: 1}", "measure": "emp", "count": "{count: records, rho: 1}"}
CHANGE = {
    "measures": "{emp_change: {column: emp}, net: {column: record_count}}",
    "measure": "emp_change",
    "count": "{sum: net, clamp: [-1, 1], rho: 1}",
}


def published(folder: Path, worlds: list[World], seed: int) -> list[Path]:
    """Return the folders of the base and of every change, released with frozen bits."""
    with (folder / "places.csv").open("w") as file:
        file.write("place\n" + "".join(f"c{each}\n" for each in range(CELLS)))
    budget = {
        "emp": Budget(100, [Split(emp=50)]),
        "emp_change": Budget(100, [Split(emp_change=50)]),
    }
    found = []
    for period, world in enumerate(worlds):
        write(world, folder / f"{period}.parquet")
        named = dict(BASE if period == 0 else CHANGE)
        source = f"{period}.parquet"
        if period:
            source = f"{{path: {period}.parquet, last: {period - 1}.parquet}}"
        text = SPEC.format(
            title=f"Period {period}",
            source=source,
            ledger=f"{period}.ledger",
            rho=TRUE_RHO if period == 0 else float(CHANGE_RHO),
            **named,
        )
        (folder / f"{period}.yaml").write_text(text)
        Ledger.create(folder / f"{period}.ledger", budget[named["measure"]])
        out = folder / f"out{period}"
        release(folder / f"{period}.yaml", out, _bits=FrozenBits(seed + period))
        found.append(out)
    return found


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[World], list[Path]]:
    """Ten periods, published."""
    worlds = histories(Random("perrecord ten periods"))
    return worlds, published(tmp_path_factory.mktemp("series"), worlds, 77)


def truths(worlds: list[World]) -> list[dict[str, tuple[int, int]]]:
    """Return the jobs and establishments of every place in every period."""
    found = []
    for world in worlds:
        totals = {f"c{each}": (0, 0) for each in range(CELLS)}
        for each in world.values():
            jobs, count = totals[f"c{each.place}"]
            totals[f"c{each.place}"] = jobs + each.emp, count + 1
        found.append(totals)
    return found


def spread(errors: list[float]) -> float:
    """Return the root mean square."""
    return math.sqrt(sum(each**2 for each in errors) / len(errors))


def test_levels_and_changes_have_the_errors_of_the_theory(series):
    """Within 5 %: levels from 35 up to 43, changes 8; fresh levels would have 112 and 158."""
    worlds, folders = series
    found = accumulate(folders[0], folders[1:], periods=[str(each) for each in range(PERIODS)])
    assert [table.name for table in found.tables] == ["places"]
    assert not found.left_out
    assert not found.warnings
    exact = truths(worlds)
    rows = found.tables[0].rows.to_pylist()
    base, change = 50 / math.sqrt(2), 8.0
    for period in range(PERIODS):
        own = [row for row in rows if row["period"] == str(period)]
        assert len(own) == CELLS
        wanted = math.sqrt(base**2 + period * change**2)
        errors = [row["jobs"] - exact[period][row["place"]][0] for row in own]
        assert spread(errors) == pytest.approx(wanted, rel=0.05)
        assert abs(sum(errors) / CELLS) < 4 * wanted / math.sqrt(CELLS)
        assert {round(row["jobs_se"], 6) for row in own} == {round(own[0]["jobs_se"], 6)}
        assert own[0]["jobs_se"] == pytest.approx(wanted, rel=1e-3)
        held = sum(
            row["jobs_low"] <= exact[period][row["place"]][0] <= row["jobs_high"] for row in own
        )
        assert held / CELLS == pytest.approx(0.95, abs=0.025)
        counted = [row["establishments"] - exact[period][row["place"]][1] for row in own]
        assert spread(counted) == pytest.approx(math.sqrt((1 + period) / 2), rel=0.05)
        if period:
            moved = [
                row["jobs_change"]
                - (exact[period][row["place"]][0] - exact[period - 1][row["place"]][0])
                for row in own
            ]
            assert spread(moved) == pytest.approx(change, rel=0.05)
    assert [round(math.sqrt(base**2 + each * change**2)) for each in (0, 9)] == [35, 43]
    fresh = 50 / math.sqrt(2 * 0.1)  # a tenth of the loss for each of ten fresh levels
    assert (round(fresh), round(math.sqrt(2) * fresh)) == (112, 158)


def test_a_constant_record_loses_as_much_by_both_ways(series):
    """A base of 1 and nothing by changes of 0; or a tenth of 1 in each of ten years."""
    _, folders = series
    policies = [_policy(each) for each in folders]
    size = {"emp": 50, "emp_change": 0, "net": 0}
    jobs = [each["places.jobs"].loss(size) for each in policies]
    assert (jobs[0], set(jobs[1:])) == (1, {0})
    fresh = Policy.exact("0.1", measure="emp", threshold=50)
    assert PERIODS * fresh.loss(size) == jobs[0]


def _policy(folder: Path) -> dict[str, Policy]:
    document = read_published((folder / "policy.json").read_text())
    return {charge.name: charge.policy for charge in document.charges}


def test_the_documents_say_that_records_are_changes(series):
    """Policy, page and methodology; the package says which levels the answers are changes of."""
    _, folders = series
    notes = json.loads((folders[1] / "policy.json").read_text())["notes"]
    assert any("Records of this table are changes" in each for each in notes)
    assert "as much as a record of your whole size if you entered" in (
        folders[1] / "policy.html"
    ).read_text().replace("\n", " ")
    assert "## Changes between two periods" in (folders[1] / "methodology.md").read_text()
    package = json.loads((folders[1] / "datapackage.json").read_text())
    fields = {each["name"]: each for each in package["resources"][0]["schema"]["fields"]}
    assert fields["jobs"]["change_of"] == "total of emp"
    assert fields["establishments"]["change_of"] == "count of records"
    assert "change_of" not in (folders[0] / "datapackage.json").read_text()
