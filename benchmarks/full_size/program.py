"""A benchmark of whole releases as a program: its options, its page, its end by goals."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from goals import Goal, end_with, goals_table
from machine import load
from peers import perrecord_alone

from full_size.workload import PYTHON

SMALL_ROWS = 100_000
FULL_ROWS = 8_000_000
_BUSY_FROM = 1.5
_BUSY = (
    " Others were at work, so seconds by the clock say little, and even seconds of processors are "
    "more than on an idle machine; memory and ratios hold."
)


def options(about: str, results: Path) -> argparse.ArgumentParser:
    """Return the options that such programs share; `about` is what the program says of itself."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument(
        "--rows", type=int, help=f"{FULL_ROWS:,} if not given; {SMALL_ROWS:,} if quick"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small, to see that all of it works")
    parser.add_argument("--write", action="store_true", help=f"keep the tables in {results.name}")
    return parser


def run(
    parser: argparse.ArgumentParser,
    measure: Callable[[argparse.Namespace, Path], tuple[list[str], list[Goal]]],
    results: Path,
) -> None:
    """Measure, print, keep the page if asked to, and say which goals are missed.

    `measure` takes the options, with rows and turns as they are meant, and a folder to work in.
    """
    given = parser.parse_args()
    if given.quick and given.write:
        parser.error("a quick run measures nothing worth keeping; leave out --quick or --write")
    given.rows = given.rows or (SMALL_ROWS if given.quick else FULL_ROWS)
    given.turns = 1 if given.quick else given.turns
    alone = perrecord_alone()
    if isinstance(alone, str):
        sys.exit(f"perrecord could not be installed apart: {alone}")
    os.environ[PYTHON] = str(alone)
    load_before, was_busy = load(), os.getloadavg()[0] > _BUSY_FROM
    with tempfile.TemporaryDirectory() as scratch:
        lines, goals = measure(given, Path(scratch))
    end = [
        *goals_table(goals),
        "",
        f"Load of the machine: {load_before} before the run; {load()} after it, of which about 2 "
        f"are its own.{_BUSY if was_busy else ''}",
    ]
    text = "\n".join([*lines, "## Goals", "", *end]) + "\n"
    print(text, end="")
    if given.write:
        results.write_text(text, encoding="utf-8")
    sys.stdout.flush()
    if not given.quick:
        end_with(goals)
