"""Time the release of every county and industry beside its alternatives, in one run.

    python benchmarks/release.py [--rows 8000000] [--turns 3] [--only PART ...] [--quick] [--write]

The workload is in `full_size/workload.py`: 6.7 million cells, 27 million noisy numbers. Each
contender has a process of its own, and they take turns. perrecord is measured in an environment of
its own that holds what its users install, without development tools. OpenDP and Tumult Analytics
are installed into environments of their own under `.venv/peers`, measured on a part, and
extrapolated with the arithmetic shown; Tumult Analytics needs Java. A quick run shows that all of
it works; its figures and goals mean nothing. With `--write` the tables are kept in
`benchmarks/release.md`. A goal that is missed ends the program with an error, after all is
written. Linux.
"""

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from full_size import curve, report, same_answers, slow_peers, spilling, starting
from full_size.contenders import COARSE, CONTENDERS, take_turns
from full_size.program import SMALL_ROWS, options, run
from full_size.workload import ANSWERS, all_cells, prepare
from goals import Goal
from machine import machine, versions

RESULTS = Path(__file__).resolve().parent / "release.md"
PARTS = ("opendp", "tumult", "curve", "spilling", "starting")
PEERS = {"opendp": slow_peers.OPENDP, "tumult": slow_peers.TUMULT}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rows: int
    turns: int
    curve: tuple[int, ...]
    spilling_rows: int
    spilling_limit: str
    peer_levels: tuple[int, ...]


def sizes(rows: int, turns: int, *, is_quick: bool) -> Sizes:
    """Return the sizes of a full run, or of a quick one, which shows only that all of it works."""
    if is_quick:
        return Sizes(rows, turns, (rows // 10, rows // 2, rows), 2_000_000, "200MB", (0, 2))
    return Sizes(rows, turns, (100_000, 1_000_000, rows, 4 * rows), 4 * rows, "1GB", COARSE)


def measure(given: argparse.Namespace, scratch: Path) -> tuple[list[str], list[Goal]]:
    """Measure all parts; return their Markdown and their goals."""
    size = sizes(given.rows, given.turns, is_quick=given.quick)
    parts = set(PARTS if given.only is None else given.only)

    @cache
    def data(rows: int) -> Path:
        return prepare(scratch / f"rows{rows}", rows)

    folder = data(size.rows)
    compared = same_answers.compare(folder, scratch)
    turns = take_turns(CONTENDERS, folder, scratch, size.turns)
    lines = report.contenders_part(turns, compared)
    goals = report.contenders_goals(turns)
    per_row, more = None, []
    if "curve" in parts:
        found = curve.measure({rows: data(rows) for rows in size.curve}, scratch, size.turns)
        per_row = found.line[1]
        more = report.curve_part(found)
        goals.append(report.curve_goal(found))
    for name in filter(parts.__contains__, PEERS):
        peer = PEERS[name]
        by_rows = {rows: data(rows) for rows in (size.rows, size.rows // 8)}
        estimated = slow_peers.estimate(peer, by_rows, size.peer_levels)
        if isinstance(estimated, str):
            lines += [f"## {peer.name}", "", f"Not measured. {estimated}", ""]
        else:
            lines += report.peer_part(estimated, turns, per_row)
        goals.append(report.peer_goal(estimated, peer.name, turns))
    lines += more
    if "spilling" in parts:
        many = data(size.spilling_rows)
        spilled = spilling.measure(many, size.spilling_rows, scratch, size.spilling_limit)
        lines += report.spilling_part(spilled)
        goals.append(report.spilling_goal(spilled))
    if "starting" in parts:
        started = starting.measure(data(SMALL_ROWS), scratch)
        lines += report.starting_part(started)
        goals += report.starting_goals(started)
    head = [
        "# The full-size release, measured side by side",
        "",
        f"{size.rows:,} establishments by county and industry of 0, 2, 3, 4, 5 and 6 digits: "
        f"{all_cells(folder):,} cells, {len(ANSWERS) * all_cells(folder):,} noisy numbers with "
        "their standard errors, from Parquet to Parquet (zstd). Made by "
        "`python benchmarks/release.py --write`.",
        "",
        f"{machine()}; {versions('duckdb', 'polars', 'pyarrow', 'numpy')}.",
        "",
    ]
    return head + lines, goals


def main() -> None:
    """Measure, print, keep the tables if asked to, and say which goals are missed."""
    parser = options(__doc__ or "", RESULTS)
    parser.add_argument("--only", nargs="*", choices=PARTS, help="beside the contenders: all")
    run(parser, measure, RESULTS)


if __name__ == "__main__":
    main()
