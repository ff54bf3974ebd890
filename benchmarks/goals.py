"""Goals of a benchmark: what was wanted, what was found, and whether that is enough."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

HEADER = ("| goal | in this run | met |", "|---|---|---|")


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal, as a row of the table that `results.py` gathers."""

    text: str
    found: str
    is_met: bool

    def row(self) -> str:
        """Return the row; a goal that is missed is shown in capitals."""
        return f"| {self.text} | {self.found} | {'yes' if self.is_met else 'NO'} |"


def goals_table(goals: Sequence[Goal]) -> list[str]:
    """Return the table of goals."""
    return [*HEADER, *(goal.row() for goal in goals)]


def end_with(goals: Sequence[Goal]) -> None:
    """End the program with an error if a goal is missed."""
    missed = [goal.text for goal in goals if not goal.is_met]
    if missed:
        sys.exit(f"missed: {'; '.join(missed)}")
