"""The contenders that do the whole workload, and their turns."""

import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from full_size.measuring import Cost, measured
from full_size.workload import (
    CONSISTENT,
    LEVELS,
    command,
    create_ledger,
    python,
    spec_text,
    table_name,
)

HERE = Path(__file__).resolve().parent
FINEST = max(LEVELS)
COARSE = (0, 2, 3)
"""The levels that the slow contenders are measured at."""


@dataclass(frozen=True, slots=True)
class Run:
    """One turn of one contender."""

    cost: Cost
    written_mb: float
    rows_written: dict[int, int]
    """Rows of every level."""

    @property
    def inside(self) -> float:
        """Seconds of the work itself, without starting the process; NaN if it did not say."""
        return float(json.loads(self.cost.printed)["inside"]) if self.cost.printed else float("nan")


@dataclass(frozen=True, slots=True)
class Turns:
    """All turns of one contender."""

    name: str
    runs: tuple[Run, ...]

    @property
    def wall(self) -> float:
        """Median seconds."""
        return statistics.median(run.cost.wall for run in self.runs)

    @property
    def least(self) -> float:
        """Least seconds."""
        return min(run.cost.wall for run in self.runs)

    @property
    def cpu(self) -> float:
        """Median seconds of processors."""
        return statistics.median(run.cost.cpu for run in self.runs)

    @property
    def inside(self) -> float:
        """Median seconds without starting the process."""
        return statistics.median(run.inside for run in self.runs)

    @property
    def peak_mb(self) -> float:
        """The most memory of any turn."""
        return max(run.cost.peak_mb for run in self.runs)


@dataclass(frozen=True, slots=True)
class Perrecord:
    """The command `perrecord release`, end to end, with a new ledger every time.

    Totals are tapered, or split where they are to be exact, which Student noise cannot be.
    """

    name: str = "perrecord"
    levels: tuple[int, ...] = LEVELS
    has_intervals: bool = False
    is_consistent: bool = False
    is_from_python: bool = False
    is_exact: bool = False

    def run(self, folder: Path, out: Path) -> Run:
        """Release the data of a folder into another, which must be new."""
        out.mkdir()
        spec = out / "release.yaml"
        text = spec_text(
            folder,
            levels=self.levels,
            has_intervals=self.has_intervals,
            is_exact=self.is_exact,
            method="split: moderate" if self.is_exact else "taper: moderate",
        )
        spec.write_text(text + (CONSISTENT if self.is_consistent else ""))
        create_ledger(spec)
        published = out / "published"
        if self.is_from_python:
            cost = measured([python(), HERE / "through_python.py", spec, published])
            return _written(cost, published / "tables", self.levels)
        cost = measured([command(), "release", spec, "--out", published, "--quiet", "--json"])
        kept = Cost(cost.wall, cost.cpu, cost.peak_mb, cost.watched_mb, "")
        return _written(kept, published / "tables", self.levels)


@dataclass(frozen=True, slots=True)
class Plain:
    """DuckDB or Polars without privacy."""

    name: str
    library: str
    how: str

    def run(self, folder: Path, out: Path) -> Run:
        """Write the tables of a folder's data into another, which must be new."""
        script = HERE / f"plain_{self.library}.py"
        return _written(measured([sys.executable, script, self.how, folder, out]), out, LEVELS)


Contender = Perrecord | Plain

PERRECORD = Perrecord()
INTERVALS = Perrecord("perrecord, with intervals", has_intervals=True)
BASELINE = Plain("DuckDB, every key", "duckdb", "every-key")
CONTENDERS: tuple[Contender, ...] = (
    PERRECORD,
    Perrecord("perrecord, from Python", is_from_python=True),
    INTERVALS,
    Perrecord("perrecord, county to 3 digits", levels=COARSE),
    Plain("DuckDB, occupied cells", "duckdb", "occupied"),
    BASELINE,
    Plain("DuckDB, occupied cells, rolled up", "duckdb", "occupied-rolled-up"),
    Plain("DuckDB, every key, rolled up", "duckdb", "every-key-rolled-up"),
    Plain("Polars, occupied cells", "polars", "occupied"),
    Plain("Polars, every key", "polars", "every-key"),
    Plain("Polars, occupied cells, rolled up", "polars", "occupied-rolled-up"),
    Plain("Polars, every key, rolled up", "polars", "every-key-rolled-up"),
)


def take_turns(
    contenders: Sequence[Contender], folder: Path, scratch: Path, turns: int
) -> dict[str, Turns]:
    """Run all contenders in turn, so that a slow spell of the machine meets all of them."""
    runs: dict[str, list[Run]] = {contender.name: [] for contender in contenders}
    for turn in range(turns):
        for contender in contenders:
            out = scratch / "turn"
            run = contender.run(folder, out)
            shutil.rmtree(out)
            runs[contender.name].append(run)
            print(
                f"turn {turn + 1} of {turns}: {contender.name}: {run.cost.wall:.2f} s, "
                f"{run.cost.peak_mb:,.0f} MB",
                file=sys.stderr,
            )
    return {name: Turns(name, tuple(found)) for name, found in runs.items()}


def _written(cost: Cost, tables: Path, levels: Sequence[int]) -> Run:
    paths = {level: tables / f"{table_name(level)}.parquet" for level in levels}
    return Run(
        cost,
        sum(path.stat().st_size for path in paths.values()) / 1e6,
        {level: pq.read_metadata(path).num_rows for level, path in paths.items()},
    )
