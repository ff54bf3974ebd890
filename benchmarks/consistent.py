"""Time the full-size release with consistent tables beside the same without, and plain DuckDB.

    python benchmarks/consistent.py [--rows 8000000] [--turns 3] [--quick] [--write]

The workload is in `full_size/workload.py`: 6.7 million cells of six levels, of which four answers
each are fitted over all levels. Each contender has a process of its own, and they take turns, so
that differences and ratios hold where seconds do not. perrecord is measured in an environment of
its own that holds what its users install. A quick run shows that all of it works; its figures and
goals mean nothing. With `--write` the tables are kept in `benchmarks/consistent.md`. Linux.
"""

import argparse
from pathlib import Path

from full_size.contenders import BASELINE, Contender, Perrecord, Turns, take_turns
from full_size.program import options, run
from full_size.workload import ANSWERS, all_cells, prepare
from goals import Goal
from machine import machine, versions

RESULTS = Path(__file__).resolve().parent / "consistent.md"
MOST_TIMES, MOST_MB = 1.6, 1_000
"""How many times plain DuckDB's time consistent tables may take, and how much more memory."""

CONSISTENT = Perrecord("consistent", is_consistent=True)
PAIRS = (
    (Perrecord("plain"), CONSISTENT),
    (
        Perrecord("plain, with intervals", has_intervals=True),
        Perrecord("consistent, with intervals", has_intervals=True, is_consistent=True),
    ),
)
"""The same release without consistent tables and with them."""

COLUMNS = ("median s", "least s", "CPU s", "peak MB", "MB written")


def measure(given: argparse.Namespace, scratch: Path) -> tuple[list[str], list[Goal]]:
    """Run all in turn; return their table, what consistent tables add, and the goals."""
    folder = prepare(scratch / "data", given.rows)
    contenders: list[Contender] = [*(each for pair in PAIRS for each in pair), BASELINE]
    found = take_turns(contenders, folder, scratch, given.turns)
    lines = [
        "# Consistent tables, beside the same release without",
        "",
        "Made by `python benchmarks/consistent.py --write`.",
        "",
        f"{machine()}; {versions('duckdb', 'pyarrow', 'numpy')}.",
        "",
        f"{given.rows:,} establishments, {all_cells(folder):,} cells of six levels; {len(ANSWERS)} "
        f"answers each, all fitted. Every figure is of a whole process; {given.turns} turns. "
        f"`{BASELINE.name}` adds no noise and fits nothing: one query per level.",
        "",
        f"| | {' | '.join(COLUMNS)} |",
        f"|---|{'---:|' * len(COLUMNS)}",
        *(f"| {each.name} | {' | '.join(_figures(found[each.name]))} |" for each in contenders),
        "",
        "What consistent tables take more, and as a ratio:",
        "",
        "| | median s | CPU s | peak MB | × s | × CPU s | × MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    ours, baseline = found[CONSISTENT.name], found[BASELINE.name]
    goals = [
        Goal(
            f"{CONSISTENT.name}: at most {MOST_TIMES} times plain DuckDB, writing every key",
            f"{ours.wall:.2f} s against {baseline.wall:.2f} s ({ours.wall / baseline.wall:.2f})",
            ours.wall <= MOST_TIMES * baseline.wall,
        )
    ]
    for plain, fitted in PAIRS:
        before, after = found[plain.name], found[fitted.name]
        seconds, memory = after.wall - before.wall, after.peak_mb - before.peak_mb
        lines.append(
            f"| {fitted.name} | {seconds:.2f} | {after.cpu - before.cpu:.2f} | {memory:,.0f} "
            f"| {after.wall / before.wall:.2f} | {after.cpu / before.cpu:.2f} "
            f"| {after.peak_mb / before.peak_mb:.2f} |"
        )
        goals.append(
            Goal(
                f"{fitted.name}: at most {MOST_MB:,} MB more",
                f"{memory:,.0f} MB",
                memory <= MOST_MB,
            )
        )
    return [*lines, ""], goals


def _figures(turns: Turns) -> list[str]:
    written = turns.runs[0].written_mb
    return [
        f"{turns.wall:.2f}",
        f"{turns.least:.2f}",
        f"{turns.cpu:.2f}",
        f"{turns.peak_mb:,.0f}",
        f"{written:,.0f}",
    ]


def main() -> None:
    """Measure, print, keep the tables if asked to, and say which goals are missed."""
    run(options(__doc__ or "", RESULTS), measure, RESULTS)


if __name__ == "__main__":
    main()
