"""Run every benchmark and gather their tables into one page, goals first.

    python benchmarks/results.py [--gather]

Each benchmark keeps its own page in this folder; `benchmarks/RESULTS.md` holds all of them. One
that fails or misses a goal does not stop the others: what is missed is said at the end, and the
program ends with an error. With `--gather` nothing is run, and the pages that are there are used.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import machine, revision, versions

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
BENCHMARKS = (
    "release",
    "consistent",
    "limits",
    "query",
    "noise",
    "students",
    "giants",
    "blurred",
    "policy",
    "evaluate",
    "studio",
    "spark",
    "postgres",
)
PACKAGES = ("perrecord", "duckdb", "polars", "pyarrow", "numpy", "opendp", "pyspark")

GATHERED = "Pages of several runs, gathered."

HOW_TO_READ = """\
Each benchmark measures perrecord beside its alternatives in one run, in turns, on the same data, so
that ratios hold where seconds do not: another machine has other seconds. A ratio is of medians
unless its page says otherwise. Goals are those the project set itself before measuring; one that is
missed says NO. What was extrapolated, not measured, says so, with the arithmetic. Made by `make
bench`.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """One benchmark's page."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """Its first heading."""
        return self.text.partition("\n")[0].removeprefix("# ")

    @property
    def goals(self) -> list[list[str]]:
        """The rows of its tables of goals: goal, what was found, yes or NO."""
        found: list[list[str]] = []
        is_within = False
        for line in self.text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] == "goal" and cells[-1] == "met":
                is_within = True
            elif not line.startswith("|"):
                is_within = False
            elif is_within and set(cells[0]) != {"-"}:
                found.append(cells)
        return found

    def nested(self) -> str:
        """Return the page with its headings one level down, to stand within another."""
        lines = self.text.rstrip().splitlines()
        return "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)


def run(name: str) -> str | None:
    """Run one benchmark; return what went wrong, if anything did."""
    page = HERE / f"{name}.md"
    before = page.stat().st_mtime_ns if page.exists() else 0
    print(f"benchmarks/{name}.py --write", file=sys.stderr)
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(HERE / f"{name}.py"), "--write"], check=False
    )
    if not done.returncode:
        return None
    if page.exists() and page.stat().st_mtime_ns != before:
        return f"{name}.py missed a goal"
    return f"{name}.py failed, so that its page is of an earlier run or missing"


def gathered(pages: list[Page], failed: list[str], code: str) -> str:
    """Return the page of all pages: code and machine, goals, how to read them, then each."""
    made = [f"{code} {machine()}; {versions(*PACKAGES)}."]
    lines = ["# Benchmarks", "", *made, "", HOW_TO_READ]
    lines += ["| benchmark | goal | found | met |", "|---|---|---|---|"]
    lines += [f"| {page.title} | {' | '.join(row)} |" for page in pages for row in page.goals]
    lines.append("")
    if failed:
        lines += [f"In this run {'; '.join(failed)}.", ""]
    for page in pages:
        lines += [page.nested(), ""]
    return "\n".join(lines)


def main() -> None:
    """Run all, write the page, and say what was missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gather", action="store_true", help="run nothing")
    given = parser.parse_args()
    code = GATHERED if given.gather else f"Every page is of one run, code {revision()}."
    failed = [] if given.gather else [why for why in map(run, BENCHMARKS) if why]
    paths = {name: HERE / f"{name}.md" for name in BENCHMARKS}
    missing = [f"there is no {path.name}" for path in paths.values() if not path.exists()]
    pages = [Page(name, path.read_text("utf-8")) for name, path in paths.items() if path.exists()]
    RESULTS.write_text(gathered(pages, failed, code), encoding="utf-8")
    missed = [f"{page.title}: {row[0]}" for page in pages for row in page.goals if row[-1] == "NO"]
    print(f"wrote {RESULTS.name}", file=sys.stderr)
    if failed or missing or missed:
        sys.exit(
            "\n".join(["Not all is well:", *failed, *missing, *(f"missed: {m}" for m in missed)])
        )


if __name__ == "__main__":
    main()
