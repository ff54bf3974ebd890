"""OpenDP's Polars interface and Tumult Analytics, measured on a part and extrapolated.

Both take minutes to hours for the whole workload, so each is measured at the coarse levels (county,
2 and 3 digits) with all rows, and once with an eighth of them. Noise is drawn cell by cell, so a
straight line through the measured levels, seconds against cells, gives the finer ones.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers import interpreter, version

from full_size.contenders import COARSE
from full_size.measuring import CommandError, measured
from full_size.workload import LEVELS, cells

HERE = Path(__file__).resolve().parent
ROW_LEVEL = 2
"""The level at which fewer rows are measured too."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A library that is measured on a part of the workload."""

    name: str
    how: str
    """Through what it is used."""
    environment: str
    package: str
    script: str
    answers: tuple[str, ...]
    """What one run of its script answers. The first is measured at all levels."""


OPENDP = Peer(
    "OpenDP", "its Polars interface", "opendp-polars", "opendp", "opendp_polars.py", ("all four",)
)
TUMULT = Peer(
    "Tumult Analytics",
    "on Spark in processes of its own",
    "tumult-analytics",
    "tmlt.analytics",
    "tumult_analytics.py",
    ("count", "total"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a peer at one level."""

    rows: int
    level: int
    answer: str
    cells: int
    wall: float
    cpu: float
    peak_mb: float
    inside: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a peer took at the coarse levels, and what the rest would take."""

    peer: Peer
    version: str
    points: tuple[Point, ...]
    cells: dict[int, int]
    """How many cells every level of the workload has."""
    rows: int

    @property
    def start(self) -> float:
        """Seconds to start the process: the least of a run's wall time over its work."""
        return min(point.wall - point.inside for point in self.points)

    @property
    def measured_levels(self) -> dict[int, float]:
        """Seconds of the work at each level that was measured with all rows."""
        return {
            point.level: point.inside
            for point in self.points
            if point.rows == self.rows and point.answer == self.peer.answers[0]
        }

    @property
    def line(self) -> tuple[float, float]:
        """The straight line in cells: seconds of a level without cells, and per cell."""
        found = self.measured_levels
        slope, fixed = np.polyfit([self.cells[level] for level in found], list(found.values()), 1)
        return float(fixed), float(slope)

    @property
    def per_cell(self) -> float:
        """Seconds per cell, all four answers."""
        return self.line[1] * self.repeats

    @property
    def per_row(self) -> float:
        """Seconds per row, all levels and answers; 0 if fewer rows took as long."""
        few = min(self.points, key=lambda point: point.rows)
        slope = (self.measured_levels[few.level] - few.inside) / (self.rows - few.rows)
        return max(slope, 0.0) * self.repeats * len(self.cells)

    @property
    def repeats(self) -> float:
        """How many times a measured level all four answers take: 1, or a count and three totals."""
        totals = [point for point in self.points if point.answer == "total"]
        return 1 + 3 * totals[0].inside / self.measured_levels[totals[0].level] if totals else 1.0

    @property
    def levels(self) -> dict[int, float]:
        """Seconds of every level: as measured, and by the line where it was not."""
        fixed, slope = self.line
        return {
            level: self.measured_levels.get(level, fixed + slope * size)
            for level, size in self.cells.items()
        }

    @property
    def coarse(self) -> float:
        """Seconds of the measured levels in one process, four answers."""
        return self.start + self.repeats * sum(self.measured_levels.values())

    @property
    def whole(self) -> float:
        """Seconds of the whole workload in one process, four answers."""
        return self.start + self.repeats * sum(self.levels.values())

    @property
    def peak_mb(self) -> float:
        """The most memory of any run."""
        return max(point.peak_mb for point in self.points)


def estimate(peer: Peer, sizes: dict[int, Path], levels: Sequence[int] = COARSE) -> Estimate | str:
    """Return what a peer takes on folders of data by their rows, or why it could not be run."""
    python = interpreter(peer.environment)
    if isinstance(python, str):
        return f"{peer.name} could not be installed. {python}"
    rows, few = max(sizes), min(sizes)
    first, *others = peer.answers
    runs = [
        *((rows, level, first) for level in levels),
        *((rows, ROW_LEVEL, answer) for answer in others),
        (few, ROW_LEVEL, first),
    ]
    points = []
    try:
        for size, level, answer in runs:
            points.append(_measure(peer, python, sizes[size], size, level, answer))
            print(
                f"{peer.name}: {size:,} rows, {level} digits, {answer}: {points[-1].wall:.1f} s",
                file=sys.stderr,
            )
    except CommandError as error:
        return f"{peer.name} failed. {error}"
    folder = sizes[rows]
    return Estimate(
        peer,
        version(python, peer.package),
        tuple(points),
        {level: cells(folder, level) for level in LEVELS},
        rows,
    )


def _measure(peer: Peer, python: Path, folder: Path, rows: int, level: int, answer: str) -> Point:
    which = str(rows) if peer is OPENDP else answer
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        cost = measured(
            [python, HERE / peer.script, folder, str(level), which, out],
            cwd=Path(scratch),
            environment={
                "PYSPARK_PYTHON": str(python),
                "PYSPARK_DRIVER_PYTHON": str(python),
                "SPARK_LOCAL_DIRS": scratch,
            },
        )
    inside = json.loads(cost.printed.splitlines()[-1])["inside"]
    size = cells(folder, level)
    return Point(rows, level, answer, size, cost.wall, cost.cpu, cost.peak_mb, inside)
