"""Where the time of a Spark scan goes: the same cells, brought in four ways, one step apart.

The first is what one would write without perrecord: `groupBy().agg().toArrow()` of the same
columns. All take turns in one session, so that what else the machine does concerns all of them.
"""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from full_size.curve import MOST_STEEPER
from full_size.workload import THRESHOLDS, spec_text
from goals import Goal

from perrecord.queries.cells import scanned
from perrecord.queries.plan import Plan, plan
from perrecord.queries.scan import scan_sql
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables.table import Table

MOST_SLOWER = 1.3
"""How many times as long as the plain query a scan may take."""

WARMING = 3
"""Turns before any is counted: until then Java compiles what runs often."""

PLAIN = "`groupBy().agg().toArrow()`"
SUMS = "its sums as the scan's SQL has them"
FETCHED = "its batches fetched as the scan does"
SCAN = "the whole scan: the cells in a DuckDB of ours"


@dataclass(frozen=True, slots=True)
class Step:
    """What one way took: seconds by the clock and of processors, medians over turns."""

    wall: float
    cpu: float


def steps(frame: Any, folder: Path, turns: int) -> dict[str, Step]:
    """Return what each way of bringing the cells took, in turns, once all of them are warm."""
    spec = folder / "steps.yaml"
    spec.write_text(spec_text(folder, ledger="steps.ledger"))
    loaded = load_spec(spec)
    with open_table(loaded, frame) as table:
        workload = build(loaded, table.schema)
        planned = plan([named.query for named in workload.queries], table.schema)
        return _in_turns(ways(frame, planned, table), turns)


def ways(frame: Any, planned: Plan, table: Table) -> dict[str, Callable[[], Any]]:
    """Return the ways to bring the cells of the one scan of a plan."""
    (scan,) = planned.scans
    engine = table.engine
    sql = scan_sql(scan, table.schema, engine.dialect, engine.relation).sql

    def whole() -> None:
        with scanned(planned, table):
            pass

    return {
        PLAIN: lambda: plain(frame).toArrow(),
        SUMS: lambda: engine.arrow(sql),
        FETCHED: lambda: list(engine.batches(sql)),
        SCAN: whole,
    }


def plain(frame: Any) -> Any:
    """Return the count and the three sums of each county and industry, without perrecord."""
    from pyspark.sql import functions  # noqa: PLC0415 -- a process of DuckDB needs none of it

    sums = [functions.sum(measure).alias(measure) for measure in THRESHOLDS]
    return frame.groupBy("county", "naics").agg(functions.count("*").alias("records"), *sums)


def _in_turns(works: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, Step]:
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for turn in range(-WARMING, turns):
        for name, work in works.items():
            began, used = time.perf_counter(), cpu_seconds()
            work()
            if turn >= 0:
                taken[name].append((time.perf_counter() - began, cpu_seconds() - used))
    return {
        name: Step(*(statistics.median(each) for each in zip(*pairs, strict=True)))
        for name, pairs in taken.items()
    }


def cpu_seconds(process: int | None = None) -> float:
    """Return the processor time of a process, this one if none is given, and of all below it."""
    folder = Path(f"/proc/{process or os.getpid()}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    below = [each for path in folder.glob("task/*/children") for each in path.read_text().split()]
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(each)) for each in below)


def steps_table(found: Mapping[str, Step]) -> list[str]:
    """Return the table of all ways, each compared with the plain one."""
    first = found[PLAIN]
    lines = [
        "| the same cells, by | s | ratio | processor s | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, step in found.items():
        lines.append(
            f"| {name} | {step.wall:.2f} | {step.wall / first.wall:.2f} "
            f"| {step.cpu:.2f} | {step.cpu / first.cpu:.2f} |"
        )
    return lines


def curve_table(scans: Mapping[int, float]) -> list[str]:
    """Return the table of scans by the number of rows."""
    lines = ["| rows | scan, s | million rows/s |", "|---|---|---|"]
    for rows, wall in scans.items():
        lines.append(f"| {rows:,} | {wall:.1f} | {rows / wall / 1e6:.2f} |")
    return lines


def steeper(scans: Mapping[int, float]) -> float:
    """Return the seconds per row on the last stretch of a curve, over those on all before it.

    NaN, which meets no goal, where more rows took no longer: then noise hides the growth.

    >>> steeper({1: 3.0, 2: 4.0, 4: 6.0, 8: 10.0})
    1.0
    """
    first, *_, middle, last = scans
    before = (scans[middle] - scans[first]) / (middle - first)
    after = (scans[last] - scans[middle]) / (last - middle)
    return after / before if min(before, after) > 0 else float("nan")


def goals_of(found: Mapping[str, Step], scans: Mapping[int, float]) -> list[Goal]:
    """Return whether a scan is nearly as quick as the plain query, and linear in rows."""
    ratio = found[SCAN].wall / found[PLAIN].wall
    bend = steeper(scans)
    return [
        Goal(
            f"a scan takes at most {MOST_SLOWER} times as long as {PLAIN}",
            f"{ratio:.2f} times",
            ratio <= MOST_SLOWER,
        ),
        Goal(
            f"a scan is linear up to {max(scans):,} rows: the last stretch is at most "
            f"{MOST_STEEPER} times as steep",
            f"{bend:.2f} times",
            bend <= MOST_STEEPER,
        ),
    ]
