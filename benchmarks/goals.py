"""Goals of a benchmark: what was wanted, what was found, and whether that is enough."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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


def page_by(
    report: Callable[..., tuple[str, list[Goal]]],
    results: Path,
    about: str,
    *,
    option: str,
    usually: float,
    meaning: str,
) -> None:
    """Run a benchmark of one option as a program: print its page, keep it if asked, end by goals.

    `report` takes the option's number, of the type of the usual one.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument(f"--{option}", type=type(usually), default=usually, help=meaning)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {results.name}")
    options = parser.parse_args()
    text, goals = report(getattr(options, option))
    print(text, end="")
    if options.write:
        results.write_text(text, encoding="utf-8")
    end_with(goals)
