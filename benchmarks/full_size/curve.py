"""How cost grows with rows, over the same cells."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from full_size.contenders import PERRECORD, Turns, take_turns

MOST_STEEPER = 1.3
"""How much steeper the last stretch of a curve may be that still counts as a straight line."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Turns of perrecord by the number of rows, ascending."""

    turns: dict[int, Turns]

    @property
    def line(self) -> tuple[float, float]:
        """The straight line of least squares: fixed seconds, and seconds per row."""
        walls = [turns.wall for turns in self.turns.values()]
        slope, fixed = np.polyfit(list(self.turns), walls, 1)
        return float(fixed), float(slope)

    @property
    def steeper(self) -> float:
        """Seconds per row on the last stretch, over those on all before it.

        NaN, which meets no goal, where more rows took no longer: then noise hides the growth.
        """
        first, *_, middle, last = self.turns
        before, after = self._slope(first, middle), self._slope(middle, last)
        return after / before if min(before, after) > 0 else math.nan

    def _slope(self, few: int, many: int) -> float:
        return (self.turns[many].wall - self.turns[few].wall) / (many - few)


def measure(folders: dict[int, Path], scratch: Path, turns: int) -> Curve:
    """Return the curve over folders of data by their rows."""
    found = {}
    for rows, folder in sorted(folders.items()):
        print(f"curve: {rows:,} rows", file=sys.stderr)
        found[rows] = take_turns([PERRECORD], folder, scratch, turns)[PERRECORD.name]
    return Curve(found)
