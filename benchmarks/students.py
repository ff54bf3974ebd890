"""Time exact Student noise beside exact Gaussian noise of the same deviation, in turns.

    python benchmarks/students.py [--turns 7] [--write]

Both are this library's; OpenDP's exact Gaussian noise stands beside them. Each figure is the median
over turns of the processor's seconds, tables and memory warm, so that a machine that is busy with
other things changes the ratios little. With `--write` the table is also kept in
`benchmarks/students.md`.
"""

import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path

from goals import Goal, goals_table, page_by
from machine import load, machine
from noise_workers import opendp

from perrecord.noise import (
    discrete_gaussian,
    discrete_gaussian_each,
    discrete_student,
    discrete_student_each,
)

RESULTS = Path(__file__).resolve().parent / "students.md"
DEVIATIONS = ("5", "35.4", "3500", "3500000")
SIZES = (10**3, 10**5, 10**6, 10**7)
FEW = 100
EACH = 20_000
OPENDP_DRAWS = 20_000  # its cost of a draw does not depend on their number
LEAST_TIMES_OPENDP = 300

Draw = Callable[[int], object]


def draws(variance: Fraction) -> list[Draw]:
    """Return Gaussian noise and Student noise of nu = 7 and nu = 3, of one variance."""
    return [
        lambda many: discrete_gaussian(variance, many),
        lambda many: discrete_student(5 * variance, many),
        lambda many: discrete_student(variance, many, nu=3),
    ]


def spreads(variance: Fraction) -> list[Draw]:
    """Return the same with another parameter in every one of the cells."""
    numbers = count(1)

    def different(many: int, factor: int) -> list[Fraction]:
        return [factor * variance * (1 + Fraction(next(numbers), 10**9)) for _ in range(many)]

    return [
        lambda many: discrete_gaussian_each(different(many, 1)),
        lambda many: discrete_student_each(different(many, 5)),
        lambda many: discrete_student_each(different(many, 1), nu=3),
    ]


def medians(contenders: list[Draw], many: int, turns: int) -> list[float]:
    """Return the median processor time of each, all of them measured in every turn."""
    taken: list[list[float]] = [[] for _ in contenders]
    for turn in range(turns + 1):
        for draw, times in zip(contenders, taken, strict=True):
            start = time.process_time()
            draw(many)
            if turn:  # the first warms tables and memory
                times.append(time.process_time() - start)
    return [statistics.median(times) for times in taken]


def row(label: str, many: int, seconds: list[float]) -> str:
    """Return the rates in millions a second, and the Student ones as shares of the Gaussian's."""
    rates = [f"{many / each / 1e6:.3g}" for each in seconds]
    shares = [f"{seconds[0] / each:.2f}" for each in seconds[1:]]
    return "| " + " | ".join([label, f"{many:,}", *rates, *shares]) + " |"


def opendp_rate(deviation: str, turns: int) -> float:
    """Return how many exact Gaussian numbers OpenDP draws in a second."""
    (seconds,) = medians([opendp(Fraction(deviation))], OPENDP_DRAWS, turns)
    return OPENDP_DRAWS / seconds


def report(turns: int) -> tuple[str, list[Goal]]:
    """Return the whole comparison as Markdown, and its goals."""
    before = load()
    lines = ["# Student noise beside Gaussian noise", "", f"{machine()}.", ""]
    lines += [
        "Million draws a second of processor time, tables and memory warm. `× Gaussian` is the",
        "rate divided by that of Gaussian noise of the same standard deviation in the same turns.",
        "",
    ]
    head = "| n | Gaussian | nu = 7 | nu = 3 | nu = 7 × Gaussian | nu = 3 × Gaussian |"
    lines += [f"| deviation {head}", "|---|---|---|---|---|---|---|"]
    shares, times_opendp = [], []
    beside = ["| deviation | OpenDP | slowest Student × OpenDP |", "|---|---|---|"]
    for deviation in DEVIATIONS:
        rates: list[float] = []
        for many in SIZES:
            seconds = medians(draws(Fraction(deviation) ** 2), many, turns)
            lines.append(row(deviation, many, seconds))
            if many >= 10**6:
                shares += [seconds[0] / each for each in seconds[1:]]
                rates += [many / each for each in seconds[1:]]
        theirs = opendp_rate(deviation, turns)
        times_opendp.append(min(rates) / theirs)
        beside.append(f"| {deviation} | {theirs / 1e6:.3g} | {times_opendp[-1]:,.0f} |")
    lines += ["", "OpenDP's exact Gaussian noise, and Student noise for n of 10^6 and more:", ""]
    lines += beside
    lines += ["", "Every cell with a parameter of its own:", ""]
    lines += [f"| deviation {head}", "|---|---|---|---|---|---|---|"]
    for deviation in DEVIATIONS:
        for many in (FEW, EACH):
            seconds = medians(spreads(Fraction(deviation) ** 2), many, turns)
            lines.append(row(deviation, many, seconds))
    goals = [
        Goal(
            "Student noise at least half as fast as Gaussian noise for n of 10^6 and more",
            f"{min(shares):.2f} at worst",
            min(shares) >= 0.5,
        ),
        Goal(
            f"at least {LEAST_TIMES_OPENDP} times as fast as OpenDP's Gaussian noise there",
            f"{min(times_opendp):,.0f} times at worst",
            min(times_opendp) >= LEAST_TIMES_OPENDP,
        ),
    ]
    lines += ["", *goals_table(goals), ""]
    lines += [f"Load of the machine: {before} before, {load()} after, of which 1 is this run.", ""]
    return "\n".join(lines), goals


if __name__ == "__main__":
    page_by(
        report,
        RESULTS,
        __doc__,
        option="turns",
        usually=7,
        meaning="how often each figure is measured",
    )
