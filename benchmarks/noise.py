"""Time exact noise side by side with its peers, in one run, and say which goals are met.

    python benchmarks/noise.py [--seconds 1] [--write]

Tumult Core and PyDP are installed by name into environments of their own under `.venv/peers`.
Every figure comes from its own process, bound to one core. With `--write` the table is also
kept in `benchmarks/noise.md`.
"""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from goals import Goal, goals_table, page_by
from machine import load, machine
from peers import interpreter

HERE = Path(__file__).resolve().parent
WORKER = HERE / "noise_workers.py"
RESULTS = HERE / "noise.md"

NAMES = ("perrecord", "opendp", "tumult", "pydp", "numpy")
SIGMAS = ("0.7", "35.4", "3500", "3500000")
SIZES = (10**3, 10**5, 10**6, 10**7)
FEW = 100


class Task(NamedTuple):
    """What one process is asked to measure."""

    name: str
    kind: str
    sigma: str
    size: int


class Figure(NamedTuple):
    """What one process measured."""

    draws: int
    seconds: float

    @property
    def rate(self) -> float:
        """Draws per second."""
        return self.draws / self.seconds


def measure(python: Path | str, task: Task, seconds: float) -> Figure | None:
    """Return the figure of one process, or None where the library cannot be run."""
    if isinstance(python, str):
        return None
    command = [str(python), str(WORKER), *map(str, task), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        print(f"{task.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    result = json.loads(done.stdout.splitlines()[-1])
    return Figure(result["draws"], result["seconds"])


def report(seconds: float) -> tuple[str, list[Goal]]:
    """Return the whole comparison as Markdown, and its goals."""
    pythons = {name: interpreter(name) for name in NAMES}
    load_before = load()
    lines = ["# Noise, measured side by side", "", f"{machine()}.", ""]
    lines += [
        "Million draws a second on one core, tables and memory warm. `× OpenDP` and `× numpy` are",
        "perrecord's rate divided by theirs in this run. OpenDP, Tumult Core and PyDP are timed on",
        "at most 100,000, 2,000 and 500,000 draws a call.",
        "",
        "| sigma | n | perrecord | OpenDP | Tumult Core | PyDP | numpy | × OpenDP | × numpy |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    to_opendp, to_numpy = [], []
    for sigma in SIGMAS:
        for size in SIZES:
            found = {
                name: measure(pythons[name], Task(name, "steady", sigma, size), seconds)
                for name in NAMES
            }
            ratios = [ratio(found["perrecord"], found[peer]) for peer in ("opendp", "numpy")]
            if size >= 10**6:
                to_opendp.append(ratios[0])
                to_numpy.append(ratios[1])
            cells = [shown(found[name]) for name in NAMES]
            row = [sigma, f"{size:,}", *cells, f"{ratios[0]:,.0f}", f"{ratios[1]:.2f}"]
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], file=sys.stderr)
    lines += ["", f"{FEW} draws including the set-up of a new sigma, milliseconds:", ""]
    lines += ["| sigma | perrecord | OpenDP | × OpenDP |", "|---|---|---|---|"]
    few = []
    for sigma in SIGMAS:
        ours, theirs = (
            measure(pythons[name], Task(name, "fresh", sigma, FEW), seconds)
            for name in ("perrecord", "opendp")
        )
        few.append(ratio(ours, theirs))
        times = [f"{figure.seconds * 1e3:.2f}" if figure else "-" for figure in (ours, theirs)]
        lines.append(f"| {sigma} | {times[0]} | {times[1]} | {few[-1]:.1f} |")
    goals = [
        goal("at least 300 times OpenDP for n of 10^6 and more", worst(to_opendp), 300),
        goal("at least a third of numpy's float normal there", worst(to_numpy), 1 / 3),
        goal("no slower than OpenDP for 100 draws of a new sigma", worst(few), 1),
    ]
    lines += ["", *goals_table(goals), ""]
    lines += [
        f"Load of the machine: {load_before} before, {load()} after, of which 1 is this run.",
        "",
    ]
    lines += [
        f"{name}: not measured. {why}" for name, why in pythons.items() if isinstance(why, str)
    ]
    return "\n".join(lines).rstrip() + "\n", goals


def ratio(ours: Figure | None, theirs: Figure | None) -> float:
    """Return how many times as fast we are, NaN where somebody could not run."""
    return ours.rate / theirs.rate if ours and theirs else float("nan")


def worst(ratios: list[float]) -> float:
    """Return the least ratio; NaN, which meets no goal, if any was not measured."""
    return min(ratios) if not any(math.isnan(each) for each in ratios) else math.nan


def shown(figure: Figure | None) -> str:
    """Return the rate in millions a second, three digits."""
    return f"{figure.rate / 1e6:.3g}" if figure else "-"


def goal(text: str, worst: float, least: float) -> Goal:
    """Return a goal that the worst ratio meets by being at least so large."""
    shown = f"{worst:,.0f}" if worst >= 100 else f"{worst:.3g}"
    return Goal(text, f"{shown} at worst", worst >= least)


if __name__ == "__main__":
    page_by(report, RESULTS, __doc__, option="seconds", usually=1.0, meaning="time for each figure")
