"""Measure how many rows a second Spark scans for a release, against cores, with DuckDB beside it.

    python benchmarks/spark.py [--rows 4000000] [--turns 5] [--write]

The workload is that of `full_size/workload.py`: establishments by county and industry at six
levels, a count and three split totals, 6.7 million keys. Each row of the table is a process of its
own, bound with all that it starts to as many cores as it says. Measured are the start, the first
scan and later ones (read, group, and bring the cells to this process as Arrow), and one whole
release. A standalone cluster is Spark's `local-cluster`: a master and workers in the driver,
executors as processes of their own. What a billion records would take follows from the rates by
arithmetic, which is shown. With `--write` the tables are kept in `benchmarks/spark.md`. Needs Java,
and Linux.
"""

import argparse
import json
import os
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
from machine import load, machine, versions

from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables.engines.spark_logs import EXECUTORS, SILENT

RESULTS = Path(__file__).resolve().parent / "spark.md"
BILLION = 10**9
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
        .config("spark.driver.memory", "2g")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


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
    scans = []
    loaded = load_spec(spec)
    with open_table(loaded, frame) as table:
        workload = build(loaded, table.schema)
        planned = plan([named.query for named in workload.queries], table.schema)
        for _ in range(turns + 1):
            began = time.perf_counter()
            with scanned(planned, table):
                scans.append(time.perf_counter() - began)
    began = time.perf_counter()
    release(spec, folder / f"{spec.stem}.out", source=frame, snapshot=snapshot)
    whole = time.perf_counter() - began
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return Measured(start, scans[0], scans[1:], whole, peak)


def measure(side: Side, folder: Path, turns: int) -> Measured:
    """Measure one side in a process of its own."""
    given = ("--side", str(SIDES.index(side)), "--folder", str(folder), "--turns", str(turns))
    done = subprocess.run(  # noqa: S603 - this very script
        [sys.executable, __file__, *given], stdout=subprocess.PIPE, text=True, check=True
    )
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


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
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--side", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        print(json.dumps(asdict(measure_here(SIDES[given.side], given.folder, given.turns))))
        return
    before = load()
    with tempfile.TemporaryDirectory() as scratch:
        folder = prepare(Path(scratch), given.rows)
        sides = [side for side in SIDES if side.cores <= len(os.sched_getaffinity(0))]
        found = {side: measure(side, folder, given.turns) for side in sides}
        occupied = duckdb.sql(
            f"SELECT count(DISTINCT (county, naics)) FROM '{folder / 'est.parquet'}'"  # noqa: S608
        ).fetchall()[0][0]
        keys = all_cells(folder)
    lines = [
        "# Spark against cores",
        "",
        f"{given.rows:,} rows of Parquet, {keys:,} keys at six levels, {occupied:,} cells of the "
        f"finest level with records in them; a count and three split totals each. Median of "
        f"{given.turns} later scans. {machine()}; {versions('perrecord', 'pyspark', 'duckdb')}; "
        f"load before the run {before}. Made by `python benchmarks/spark.py --write`.",
        "",
        *table_of(found, given.rows),
        "",
        "A row is bound with all its processes to its cores: driver, executors and the compiler of "
        "the Java machines share them. A start is the session with its executors; the peak is of "
        "this Python process, without Spark's Java process beside it.",
        "",
        *(billion(found, given.rows) if SIDES[-1] in found else []),
    ]
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
