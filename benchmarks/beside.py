"""Time this code beside that of an earlier commit, in turns, in one run.

    python benchmarks/beside.py COMMIT [--rows 8000000] [--turns 3] [--write]

The import, the help, the example's release of a small table, and the full-size release of
`full_size/workload.py`. Both have an environment of their own with the packages of their own lock
files; data and specs are the same, the specs as the earlier code knew them. Seconds of processors
are compared, which other work on the machine hardly changes. With `--write` the table is kept in
`benchmarks/beside.md`. Linux.
"""

import argparse
import io
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from full_size.contenders import PERRECORD
from full_size.measuring import Cost
from full_size.starting import EXAMPLE, starts
from full_size.workload import PYTHON, prepare
from goals import Goal, end_with, goals_table
from machine import load, machine, versions
from peers import PEERS, ROOT, perrecord_alone

RESULTS = Path(__file__).resolve().parent / "beside.md"
SMALL_ROWS = 100_000
STARTS = ("import perrecord", "perrecord --help", "a small release")
FULL = "the full-size release"
MOST = 1.1
"""A ratio up to this is no slower: repeated runs of the same code differ by as much."""

Taken = dict[str, dict[str, list[Cost]]]
"""What each run of each code took."""


def main() -> None:
    """Measure, print, keep the table if asked to, and say what became slower."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", help="the earlier code")
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep the table in beside.md")
    given = parser.parse_args()
    home = PEERS / f"perrecord-{given.commit}"
    codes = {"now": perrecord_alone(), "earlier": earlier(given.commit, home)}
    for name, python in codes.items():
        if isinstance(python, str):
            sys.exit(f"perrecord, {name}, could not be installed: {python}")
    load_before = load()
    with tempfile.TemporaryDirectory() as scratch:
        example = home / "code" / EXAMPLE.relative_to(ROOT)
        taken = measure(codes, example, given.rows, given.turns, Path(scratch))
    goals = [_goal(what, taken) for what in (*STARTS, FULL)]
    lines = [
        "# This code beside an earlier one",
        "",
        f"The earlier code is commit {given.commit}; the full-size release has {given.rows:,} "
        f"establishments. Medians of {given.turns} turns. Made by `python benchmarks/beside.py "
        f"{given.commit} --write`.",
        "",
        f"{machine()}; {versions('duckdb', 'pyarrow', 'numpy')}.",
        "",
        *_table(taken),
        "",
        "## Goals",
        "",
        *goals_table(goals),
        "",
        f"Load of the machine before the run: {load_before}.",
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if given.write:
        RESULTS.write_text(text, encoding="utf-8")
    sys.stdout.flush()
    end_with(goals)


def earlier(commit: str, home: Path) -> Path | str:
    """Return the Python that has the code of a commit, or why there is none."""
    code = home / "code"
    if not code.exists():
        packed = subprocess.run(  # noqa: S603
            ["git", "archive", commit],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        if packed.returncode:
            return packed.stderr.decode().strip()
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(code, filter="data")
    return perrecord_alone(home, code)


def measure(codes: dict[str, Path], example: Path, rows: int, turns: int, scratch: Path) -> Taken:
    """Return what each run of each code took, taking turns."""
    small = prepare(scratch / "small", SMALL_ROWS)
    full = prepare(scratch / "full", rows)
    taken: Taken = {}
    for turn in range(turns):
        for name, python in codes.items():
            os.environ[PYTHON] = str(python)
            runs: dict[str, Callable[[], Cost]] = starts(small, scratch / "start", example)
            runs = {what: runs[what] for what in STARTS}
            runs[FULL] = lambda: PERRECORD.run(full, scratch / "turn").cost
            for what, run in runs.items():
                taken.setdefault(what, {}).setdefault(name, []).append(run())
                shutil.rmtree(scratch / "turn", ignore_errors=True)
            print(f"turn {turn + 1} of {turns}: {name}", file=sys.stderr)
    return taken


def _table(taken: Taken) -> list[str]:
    lines = [
        "| | processors, now | earlier | ratio | wall, now | earlier | MB, now | earlier |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for what, runs in taken.items():
        now, before = runs["now"], runs["earlier"]
        cells = [
            f"{_cpu(now):.2f} s",
            f"{_cpu(before):.2f} s",
            f"{_cpu(now) / _cpu(before):.2f}",
            *(f"{statistics.median(each.wall for each in runs):.2f} s" for runs in (now, before)),
            *(f"{max(each.peak_mb for each in runs):,.0f}" for runs in (now, before)),
        ]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return lines


def _goal(what: str, taken: Taken) -> Goal:
    ratio = _cpu(taken[what]["now"]) / _cpu(taken[what]["earlier"])
    return Goal(f"{what} is no slower (at most {MOST})", f"{ratio:.2f}", ratio <= MOST)


def _cpu(runs: list[Cost]) -> float:
    return statistics.median(each.cpu for each in runs)


if __name__ == "__main__":
    main()
