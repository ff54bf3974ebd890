"""Measure how many rows a second Spark scans for a release, against cores, with DuckDB beside it.

    python benchmarks/spark.py [--rows 4000000] [--most 32000000] [--turns 5] [--write]

The workload is that of `full_size/workload.py`: establishments by county and industry at six
levels, a count and three split totals, 6.7 million keys. Each row of the table is a process of its
own, bound with all that it starts to as many cores as it says. Measured are the start, the first
scan and later ones (read, group, and bring the cells to this process as Arrow), and one whole
release. A standalone cluster is Spark's `local-cluster`: a master and workers in the driver,
executors as processes of their own. `spark_steps.py` compares a scan with a plain DataFrame query
that brings the same cells, step by step, and scans are timed on ever more rows. What a billion
records would take follows from the rates by arithmetic, which is shown. With `--write` the tables
are kept in `benchmarks/spark.md`. Needs Java, and Linux.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
from full_size.workload import all_cells, create_ledger, prepare, spec_text
from goals import end_with, goals_table
from machine import load, machine, versions
from spark_steps import Step, curve_table, goals_of, steps, steps_table

from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables.engines.spark_logs import EXECUTORS, SILENT

RESULTS = Path(__file__).resolve().parent / "spark.md"
BILLION = 10**9
LOCAL = "local[2]"
CURVE_TURNS = 3
CLUSTERS = (8, 64, 512)


@dataclass(frozen=True, slots=True)
class Side:
    """One row of the table: an engine with so many cores; Spark has the address of a master."""

    label: str
    cores: int
    master: str | None = None


SIDES = (
    Side("DuckDB", 1),
    Side("DuckDB", 2),
    Side("Spark, local[1]", 1, "local[1]"),
    Side("Spark, local[2]", 2, "local[2]"),
    Side("Spark, standalone, 1 worker", 1, "local-cluster[1,1,1024]"),
    Side("Spark, standalone, 2 workers", 2, "local-cluster[2,1,1024]"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one side took, in seconds; the peak memory of its Python process in MB."""

    start: float
    first: float
    later: list[float]
    release: float
    memory: float

    @property
    def scan(self) -> float:
        """A scan once everything is warm."""
        return statistics.median(self.later)


def session_on(master: str) -> Any:
    """Return a session on this master, as docs/spark.md has it."""
    import pyspark  # noqa: PLC0415 -- a process of DuckDB needs none of it
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return (
        SparkSession.builder.master(master)
        .config(EXECUTORS, " ".join(SILENT))
        .config("spark.driver.memory", "4g")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def scan_times(spec: Path, frame: Any, turns: int) -> list[float]:
    """Return the seconds of the first scan, and of so many later ones."""
    scans = []
    loaded = load_spec(spec)
    with open_table(loaded, frame) as table:
        workload = build(loaded, table.schema)
        planned = plan([named.query for named in workload.queries], table.schema)
        for _ in range(turns + 1):
            began = time.perf_counter()
            with scanned(planned, table):
                scans.append(time.perf_counter() - began)
    return scans


def measure_here(side: Side, folder: Path, turns: int) -> Measured:
    """Measure one side in this process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: side.cores])
    spec = folder / f"{SIDES.index(side)}.yaml"
    spec.write_text(spec_text(folder, ledger=f"{spec.stem}.ledger"))
    create_ledger(spec)
    began = time.perf_counter()
    frame = snapshot = None
    if side.master is not None:
        warnings.simplefilter("ignore")  # pyspark's own imports warn of pandas
        frame = session_on(side.master).read.parquet(str(folder / "est.parquet"))
        snapshot = "benchmark"
    start = time.perf_counter() - began
    scans = scan_times(spec, frame, turns)
    began = time.perf_counter()
    release(spec, folder / f"{spec.stem}.out", source=frame, snapshot=snapshot)
    whole = time.perf_counter() - began
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return Measured(start, scans[0], scans[1:], whole, peak)


def steps_here(folder: Path, turns: int) -> dict[str, Any]:
    """Measure the steps of a scan in this process."""
    return {name: asdict(step) for name, step in steps(_frame(folder), folder, turns).items()}


def curve_here(folder: Path, turns: int) -> float:
    """Measure a scan of this folder's rows in this process."""
    spec = folder / "curve.yaml"
    spec.write_text(spec_text(folder, ledger="curve.ledger"))
    return statistics.median(scan_times(spec, _frame(folder), turns)[1:])


def _frame(folder: Path) -> Any:
    warnings.simplefilter("ignore")  # pyspark's own imports warn of pandas
    return session_on(LOCAL).read.parquet(str(folder / "est.parquet"))


def in_process(part: str, folder: Path, turns: int) -> Any:
    """Return what a part of this program measures, in a process of its own."""
    given = ("--part", part, "--folder", str(folder), "--turns", str(turns))
    done = subprocess.run(  # noqa: S603 - this very script
        [sys.executable, __file__, *given], stdout=subprocess.PIPE, text=True, check=True
    )
    shown = done.stdout.splitlines()[-1]
    print(f"{part}, {folder.name}: {shown}", file=sys.stderr)  # kept, should a later part fail
    return json.loads(shown)


def part_here(part: str, folder: Path, turns: int) -> Any:
    """Return what a part measures: the steps, a point of the curve, or a side by its number."""
    match part:
        case "steps":
            return steps_here(folder, turns)
        case "curve":
            return curve_here(folder, turns)
        case _:
            return asdict(measure_here(SIDES[int(part)], folder, turns))


def curve(scratch: Path, most: int, turns: int) -> dict[int, float]:
    """Return the seconds of a scan by the number of rows: an eighth of the most, and doubled."""
    found = {}
    for rows in (most // 8, most // 4, most // 2, most):
        folder = prepare(scratch / str(rows), rows)
        found[rows] = in_process("curve", folder, turns)
        shutil.rmtree(folder)
    return found


def table_of(found: dict[Side, Measured], rows: int) -> list[str]:
    """Return the table of all sides."""
    lines = [
        "| engine | cores | start, s | first scan, s | later scans, s | rows/s | rows/s and core "
        "| whole release, s | peak MB here |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for side, each in found.items():
        rate = rows / each.scan
        lines.append(
            f"| {side.label} | {side.cores} | {each.start:.1f} | {each.first:.1f} "
            f"| {each.scan:.2f} | {rate:,.0f} | {rate / side.cores:,.0f} "
            f"| {each.release:.1f} | {each.memory:,.0f} |"
        )
    return lines


def billion(found: dict[Side, Measured], rows: int) -> list[str]:
    """Return what a billion records would take, with the arithmetic and what it supposes."""
    side = SIDES[-1]
    each = found[side]
    rate = rows / each.scan / side.cores
    rest = max(each.release - each.scan, 0)
    lines = [
        f"**A billion records**, extrapolated from {side.label}: {rate:,.0f} rows/s and core make "
        f"10^9 / {rate:,.0f} = {BILLION / rate:,.0f} core-seconds. The rest of a release (charge, "
        f"keys, noise, files) took {rest:.1f} s here, whatever the number of records. It is "
        "supposed that cells and keys stay as they are, that the rate per core does not fall as "
        "cores are added, and that storage gives bytes as fast as this disk's cache did. A scan "
        "ends when its cells have arrived, and at this size most of it is their journey, which "
        "does not grow with records: the times below are upper bounds.",
        "",
        "| cores | scan of a billion records | with the rest of the release |",
        "|---|---|---|",
    ]
    for cores in CLUSTERS:
        scan = BILLION / rate / cores
        lines.append(f"| {cores} | {scan:,.0f} s | {scan + rest:,.0f} s |")
    return lines


def main() -> None:
    """Measure all sides in one run, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--most", type=int, default=32_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is not None:
        print(json.dumps(part_here(given.part, given.folder, given.turns)))
        return
    before = load()
    with tempfile.TemporaryDirectory() as scratch:
        folder = prepare(Path(scratch) / "data", given.rows)
        sides = [side for side in SIDES if side.cores <= len(os.sched_getaffinity(0))]
        found = {
            side: Measured(**in_process(str(SIDES.index(side)), folder, given.turns))
            for side in sides
        }
        ways = {
            name: Step(**each) for name, each in in_process("steps", folder, given.turns).items()
        }
        scans = curve(Path(scratch), given.most, min(given.turns, CURVE_TURNS))
        occupied = duckdb.sql(
            f"SELECT count(DISTINCT (county, naics)) FROM '{folder / 'est.parquet'}'"  # noqa: S608
        ).fetchall()[0][0]
        keys = all_cells(folder)
    goals = goals_of(ways, scans)
    lines = [
        "# Spark against cores",
        "",
        f"{given.rows:,} rows of Parquet, {keys:,} keys at six levels, {occupied:,} cells of the "
        f"finest level with records in them; a count and three split totals each. Median of "
        f"{given.turns} later scans. {machine()}; {versions('perrecord', 'pyspark', 'duckdb')}; "
        f"load before the run {before}. Made by `python benchmarks/spark.py --write`.",
        "",
        *goals_table(goals),
        "",
        *table_of(found, given.rows),
        "",
        "A row is bound with all its processes to its cores: driver, executors and the compiler of "
        "the Java machines share them. A start is the session with its executors; the peak is of "
        "this Python process, without Spark's Java process beside it.",
        "",
        f"**Where the time of a scan goes**, in one session on {LOCAL}: {given.turns} turns, each "
        "way one step more than the one before it.",
        "",
        *steps_table(ways),
        "",
        "The plain query adds up 64-bit integers and fails where a sum exceeds them. A scan adds "
        "up three parts of each integer, which are put together here, exactly, whatever the sum; "
        "processor time is that of Python and Java.",
        "",
        f"**Scans of more rows** on {LOCAL}, each in a session of its own:",
        "",
        *curve_table(scans),
        "",
        *(billion(found, given.rows) if SIDES[-1] in found else []),
    ]
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines).rstrip() + "\n")
    end_with(goals)


if __name__ == "__main__":
    main()
