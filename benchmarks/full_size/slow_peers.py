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
    environment: str
    package: str
    answers: int
    """How many of the four answers its script gives."""


OPENDP = Peer("OpenDP, Polars interface", "opendp-polars", "opendp", 4)
TUMULT = Peer("Tumult Analytics", "tumult-analytics", "tmlt.analytics", 1)


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a peer at one level."""

    rows: int
    level: int
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
        return {point.level: point.inside for point in self.points if point.rows == self.rows}

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
        many, few = (
            next(point for point in self.points if point.level == ROW_LEVEL and is_all(point))
            for is_all in (self._has_all_rows, lambda point: not self._has_all_rows(point))
        )
        slope = (many.inside - few.inside) / (many.rows - few.rows)
        return max(slope, 0.0) * self.repeats * len(self.cells)

    @property
    def repeats(self) -> int:
        """How often a measured run would have to be made for all four answers."""
        return 4 // self.peer.answers

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

    def _has_all_rows(self, point: Point) -> bool:
        return point.rows == self.rows


def estimate(peer: Peer, sizes: dict[int, Path], levels: Sequence[int] = COARSE) -> Estimate | str:
    """Return what a peer takes on folders of data by their rows, or why it could not be run."""
    python = interpreter(peer.environment)
    if isinstance(python, str):
        return f"{peer.name} could not be installed. {python}"
    rows = max(sizes)
    points = []
    try:
        for size, folder in sorted(sizes.items(), reverse=True):
            for level in levels if size == rows else (ROW_LEVEL,):
                points.append(_measure(peer, python, folder, size, level))
                print(
                    f"{peer.name}: {size:,} rows, {level} digits: {points[-1].wall:.1f} s",
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


def _measure(peer: Peer, python: Path, folder: Path, rows: int, level: int) -> Point:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        if peer is OPENDP:
            command = [python, HERE / "opendp_polars.py", folder, str(level), str(rows), out]
        else:
            command = [python, HERE / "tumult_analytics.py", folder, str(level), out]
        cost = measured(
            command,
            cwd=Path(scratch),
            environment={
                "PYSPARK_PYTHON": str(python),
                "PYSPARK_DRIVER_PYTHON": str(python),
                "SPARK_LOCAL_DIRS": scratch,
            },
        )
    inside = json.loads(cost.printed.splitlines()[-1])["inside"]
    return Point(rows, level, cells(folder, level), cost.wall, cost.cpu, cost.peak_mb, inside)
