"""Show where the time of a full-size release goes, and how far each step is from what is possible.

    python benchmarks/limits.py [--rows 8000000] [--write]

One release is run in this process with a stopwatch around its steps. Beside each step stands the
least that this machine needs for it, measured in the same run: the same bytes hashed, decoded,
drawn, copied or flushed, and nothing else done. What it takes to start is measured in an
environment that holds what users install, without development tools. Seconds are of the processor,
all threads added up, so that steps which run side by side are told apart. With `--write` the table
is kept in `benchmarks/limits.md`.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import numpy as np
from full_size.workload import all_cells, create_ledger, prepare, spec_text
from goals import Goal, end_with, goals_table
from machine import load, machine, versions
from peers import perrecord_alone

from perrecord.mechanisms import additive
from perrecord.noise.bits import SystemBits, system_bits
from perrecord.queries.cells import Reading
from perrecord.release import contents, publish, staging
from perrecord.tables.engines.duckdb import DuckDBEngine

RESULTS = Path(__file__).resolve().parent / "limits.md"
ANSWERS = 4
START, ADDING, ENCODING = (
    "start Python and load the libraries",
    "add cells up for every key",
    "encode as Parquet",
)
FIRST = {START: 3.1, ADDING: 49.0, ENCODING: 54.2}
"""How many times its least each of these steps took when this was first measured."""
DECODED = "SELECT count(*), max(county), max(naics), sum(emp), sum(payann), sum(payqtr1) FROM "


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it took, and the least that the machine needs for what it must do."""

    name: str
    seconds: float
    least: float
    least_is: str

    @property
    def times(self) -> float:
        """How many times the least it took."""
        return self.seconds / self.least


class Stopwatch:
    """Adds up the processor's seconds of functions, whichever thread they run in."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._lock = Lock()

    def around(self, place: Any, function: str, step: str, *, is_threaded: bool = False) -> None:
        """Measure a function from now on; a threaded one by the time of the whole process."""
        real, clock = getattr(place, function), time.thread_time
        if is_threaded:
            clock = time.process_time

        def timed(*given: Any, **options: Any) -> Any:
            began = clock()
            try:
                return real(*given, **options)
            finally:
                with self._lock:
                    spent = clock() - began
                    self.seconds[step] = self.seconds.get(step, 0.0) + spent

        setattr(place, function, timed)

    def count_bytes(self, source: Any) -> None:
        """Count the random bytes that are drawn."""
        real = source.fill

        def counted(bits: Any, buffer: Any) -> None:
            with self._lock:
                self.counts["random"] = self.counts.get("random", 0) + len(buffer)
            real(bits, buffer)

        source.fill = counted


def spent(action: Callable[[], object]) -> float:
    """Return the processor's seconds of an action, the least of three tries."""
    found = []
    for _ in range(3):
        began = time.process_time()
        action()
        found.append(time.process_time() - began)
    return min(found)


def imported(python: Path, statement: str) -> float:
    """Return the processor's seconds of a new Python that runs a statement."""
    before = os.times()
    for _ in range(3):
        subprocess.run([python, "-c", statement], check=True)  # noqa: S603 - ours
    after = os.times()
    children = after.children_user + after.children_system
    return (children - before.children_user - before.children_system) / 3


def released(spec: Path, out: Path) -> tuple[Stopwatch, float, float]:
    """Make a release under a stopwatch; return it, the wall time and the processor's seconds."""
    watch = Stopwatch()
    watch.around(publish, "identity_of", "hash")
    watch.around(DuckDBEngine, "keep", "scan", is_threaded=True)
    watch.around(Reading, "numbers", "cells")
    watch.around(additive, "draw", "noise")
    watch.around(additive, "added", "added")
    watch.around(contents, "_bytes", "encode")
    watch.around(staging, "write_files", "write")
    watch.around(staging, "publish", "write")
    watch.count_bytes(SystemBits)
    began, used = time.perf_counter(), time.process_time()
    publish.release(spec, out)
    return watch, time.perf_counter() - began, time.process_time() - used


def steps(python: Path, folder: Path, scratch: Path) -> tuple[list[Step], float, float]:
    """Return the steps of a release of the workload, its wall time and its processor's seconds."""
    spec = scratch / "release.yaml"
    spec.write_text(spec_text(folder))
    create_ledger(spec)
    start = imported(python, "import perrecord.release.publish")
    watch, wall, used = released(spec, scratch / "out")
    source = (folder / "est.parquet").read_bytes()
    written = b"".join(path.read_bytes() for path in (scratch / "out").rglob("*") if path.is_file())
    numbers = all_cells(folder) * ANSWERS
    one, two = np.zeros(numbers, np.int64), np.ones(numbers, np.int64)
    random = np.empty(watch.counts["random"], np.uint8)
    copied = spent(lambda: np.copyto(one, two))

    def decode() -> None:
        duckdb.sql(f"{DECODED} '{folder / 'est.parquet'}'").fetchall()

    def flush() -> None:
        with (scratch / "flushed").open("wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())

    mega = 1e6
    seconds = watch.seconds
    found = [
        Step(
            START,
            start,
            imported(python, "import pyarrow, duckdb"),
            "Arrow, numpy and DuckDB loaded",
        ),
        Step(
            "hash the source, before and after",
            seconds["hash"],
            spent(lambda: hashlib.sha256(source)) * 2,
            f"SHA-256 of {len(source) / mega:,.0f} MB, twice",
        ),
        Step(
            "scan and group",
            seconds["scan"],
            spent(decode),
            "the same columns decoded by DuckDB and added up, no groups",
        ),
        Step(
            ADDING,
            seconds["cells"],
            copied,
            f"{numbers / mega:,.0f} million numbers of 8 bytes written once",
        ),
        Step(
            "draw the noise",
            seconds["noise"],
            spent(lambda: system_bits().fill(random)) + copied,
            f"AES-256 of {len(random) / mega:,.0f} MB, and the numbers written once",
        ),
        Step(
            "add it",
            seconds["added"],
            spent(lambda: np.add(one, two, out=two)),
            "one addition of so many numbers",
        ),
        Step(
            ENCODING,
            seconds["encode"],
            copied,
            f"the numbers read once ({len(written) / mega:,.0f} MB come out)",
        ),
        Step(
            "write and flush, sealed and published",
            seconds["write"],
            spent(flush) * 2,
            "the same bytes written and flushed, twice",
        ),
    ]
    return found, wall, used + start


def table(found: list[Step], wall: float, used: float) -> list[str]:
    """Return the steps as Markdown."""
    lines = [
        "| step | CPU s | least | times | the least is |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {step.name} | {step.seconds:.2f} | {step.least:.2f} "
        f"| {step.times:.1f} | {step.least_is} |"
        for step in found
    ]
    known, least = sum(step.seconds for step in found), sum(step.least for step in found)
    return [
        *lines,
        f"| everything else | {max(used - known, 0):.2f} | | | spec, policy, plan, ledger, pages |",
        f"| **all** | **{used:.2f}** | **{least:.2f}** | **{used / least:.1f}** | |",
        "",
        f"The release itself took {wall:.2f} s of wall time.",
    ]


def goals_of(found: list[Step]) -> list[Goal]:
    """Return the goal that two of the dearest steps take half of what they took."""
    now = {step.name: step.times for step in found if step.name in FIRST}
    halved = [name for name, times in now.items() if times <= FIRST[name] / 2]
    shown = (f"{name}: {now[name]:.1f} times, was {was:.1f}" for name, was in FIRST.items())
    text = "two of these steps at most half as many times their least as at first"
    return [Goal(text, "; ".join(shown), len(halved) >= 2)]


def main() -> None:
    """Measure, print and keep; end with an error if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    alone = perrecord_alone()
    if isinstance(alone, str):
        sys.exit(f"perrecord could not be installed apart: {alone}")
    before = load()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        folder = prepare(scratch / "data", given.rows)
        found, wall, used = steps(alone, folder, scratch)
        cells = all_cells(folder)
    lines = [
        "# Where the time of a release goes",
        "",
        f"{machine()}; {versions('perrecord', 'duckdb', 'pyarrow', 'numpy')}",
        "",
        f"{given.rows:,} rows, {cells:,} cells, {cells * ANSWERS:,} noisy numbers with their "
        "standard errors. Seconds are of the processor, all threads added up; beside each step "
        "stands the least that this machine needs for it, measured in the same run. Made by "
        f"`python benchmarks/limits.py --write`; load of the machine before: {before}.",
        "",
        *table(found, wall, used),
        "",
        *goals_table(goals := goals_of(found)),
    ]
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    end_with(goals)


if __name__ == "__main__":
    main()
