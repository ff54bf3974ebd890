"""Time and memory of a blurred release beside a tapered one, at full size, in turns.

    python benchmarks/blurred.py [--rows 8000000] [--turns 3] [--folder FOLDER] [--write]

The workload is that of the full-size release (`full_size/workload.py`): six tables of every key,
each a count and three totals, through the command `perrecord release` with a new ledger every time.
Blurred noise grows with a tenth of each cell's own records. Seconds of processors are compared,
which other work on the machine changes less than the clock's. With `--folder` the data is made
there, or used if it is there already. With `--write` the table is kept in `benchmarks/blurred.md`.
Linux.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from full_size.measuring import Cost, measured
from full_size.workload import all_cells, command, create_ledger, prepare, spec_text
from goals import Goal, end_with, goals_table
from machine import load, machine

RESULTS = Path(__file__).resolve().parent / "blurred.md"
TAPERED, BLURRED = "tapered", "blurred"
METHODS = {TAPERED: "taper: moderate", BLURRED: "taper: moderate, blur: 0.1"}
MOST = 1.3

Taken = dict[str, list[Cost]]


def turn(folder: Path, scratch: Path, method: str) -> Cost:
    """Return what one release took."""
    out = scratch / "turn"
    out.mkdir()
    spec = out / "release.yaml"
    spec.write_text(spec_text(folder, method=method))
    create_ledger(spec)
    cost = measured([command(), "release", spec, "--out", out / "published", "--quiet", "--json"])
    shutil.rmtree(out)
    return cost


def measure(folder: Path, scratch: Path, turns: int) -> Taken:
    """Return what each release took, taking turns."""
    taken: Taken = {name: [] for name in METHODS}
    for number in range(turns):
        for name, method in METHODS.items():
            cost = turn(folder, scratch, method)
            taken[name].append(cost)
            print(
                f"turn {number + 1} of {turns}: {name}: {cost.cpu:.2f} s, {cost.peak_mb:,.0f} MB",
                file=sys.stderr,
            )
    return taken


def seconds(taken: Taken, name: str) -> float:
    """Return the median of the processors' seconds."""
    return statistics.median(each.cpu for each in taken[name])


def memory(taken: Taken, name: str) -> float:
    """Return the most memory of any turn, in MB."""
    return max(each.peak_mb for each in taken[name])


def goals(taken: Taken) -> list[Goal]:
    """Return the goals: how much more time and memory blurring may take."""
    found = {
        "processor time": seconds(taken, BLURRED) / seconds(taken, TAPERED),
        "peak memory": memory(taken, BLURRED) / memory(taken, TAPERED),
    }
    return [
        Goal(f"{what} at most {MOST} times tapering's", f"{ratio:.2f} times", ratio <= MOST)
        for what, ratio in found.items()
    ]


def report(rows: int, turns: int, folder: Path, scratch: Path) -> tuple[str, list[Goal]]:
    """Return the table as Markdown, and the goals."""
    before = load()
    if not (folder / "est.parquet").exists():
        prepare(folder, rows)
    taken = measure(folder, scratch, turns)
    met = goals(taken)
    lines = [
        "# A blurred release beside a tapered one",
        "",
        f"{rows:,} establishments, {all_cells(folder):,} cells, each a count and three totals,",
        f"tapered or blurred by a tenth. {turns} turn(s); medians of time, the most of memory.",
        "",
        f"{machine()}.",
        "",
        "| release | CPU s | least | most | wall s | peak MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, runs in taken.items():
        times = [each.cpu for each in runs]
        cells = [
            f"{seconds(taken, name):.2f}",
            f"{min(times):.2f}",
            f"{max(times):.2f}",
            f"{statistics.median(each.wall for each in runs):.2f}",
            f"{memory(taken, name):,.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", *goals_table(met), "", f"Load of the machine before the run: {before}.", ""]
    return "\n".join(lines), met


def main() -> None:
    """Measure, print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8_000_000, help="establishments")
    parser.add_argument("--turns", type=int, default=3, help="how often each is measured")
    parser.add_argument("--folder", type=Path, help="where the data is, or will be made")
    parser.add_argument("--write", action="store_true", help="keep the table in blurred.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "data"
        text, met = report(options.rows, options.turns, folder.resolve(), Path(scratch))
    print(text, end="")
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")
    end_with(met)


if __name__ == "__main__":
    main()
