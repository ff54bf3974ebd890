"""The workload: establishments by county and industry of 0, 2, 3, 4, 5 and 6 digits.

At every level a count and three totals, for every key of a public list: 6.7 million cells, 27
million noisy numbers. Its folder holds `est.parquet` and the public key files.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

LEVELS = (0, 2, 3, 4, 5, 6)
"""Digits of the industry; 0 is the county alone."""

THRESHOLDS = {"emp": 20, "payann": 1000, "payqtr1": 250}
COUNT_RHO = "0.1"
RHOS = {"emp": "0.2", "payann": "0.2", "payqtr1": "0.1"}
ANSWERS = ("establishments", *THRESHOLDS)

CONSISTENT = "post_processing: {consistent: true}\n"
"""What is added to a spec for columns that add up over all levels."""

PYTHON = "PERRECORD_BENCHMARK_PYTHON"
"""The variable that names the Python whose perrecord is measured; unset, it is this one."""


def python() -> Path:
    """Return the Python whose perrecord is measured."""
    return Path(os.environ.get(PYTHON, sys.executable))


def command() -> Path:
    """Return its command perrecord."""
    return python().parent / "perrecord"


def table_name(level: int) -> str:
    """Return the name of a level's query, and of its file."""
    return f"county_naics{level}" if level else "county"


def key_columns(level: int) -> list[str]:
    """Return what a level is grouped by."""
    return ["county", f"naics{level}"] if level else ["county"]


def cells(folder: Path, level: int) -> int:
    """Return how many keys a level has, counted in the public files."""
    industries = _lines(folder / f"industries{level}.csv") if level else 1
    return _lines(folder / "counties.csv") * industries


def all_cells(folder: Path) -> int:
    """Return how many keys all levels have."""
    return sum(cells(folder, level) for level in LEVELS)


def prepare(folder: Path, rows: int) -> Path:
    """Write the establishments and the public keys into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    _perrecord("synth", "cbp", "--rows", str(rows), "--out", folder / "est.parquet")
    if not (folder / "counties.csv").exists():
        _perrecord("synth", "keys", "--out", folder)
    return folder


def create_ledger(spec: Path) -> None:
    """Create the ledger that a spec names, so that a release can be charged to it."""
    _perrecord("ledger", "create", spec)


def spec_text(
    folder: Path,
    *,
    ledger: str = "est.ledger",
    levels: tuple[int, ...] = LEVELS,
    is_exact: bool = False,
    has_intervals: bool = False,
    memory_limit: str | None = None,
    spill_folder: Path | None = None,
    counts_firms: bool = False,
    method: str = "split: moderate",
    rhos: Mapping[str, str] = RHOS,
) -> str:
    """Return the release spec of the workload, for data in that folder.

    With `is_exact` the amounts are so large (a standard deviation below 1/40 of a step) that no
    noise is ever drawn but 0: the released numbers are the exact ones, through the real command.
    With `counts_firms` every level also counts different firms, which takes memory for every firm.
    Totals are by the method as a spec writes it: `taper: moderate` has the thresholds as sizes.
    """
    source = [f"path: {folder / 'est.parquet'}"]
    if memory_limit:
        source.append(f"memory_limit: {memory_limit}")
    if spill_folder:
        source.append(f"spill_folder: {spill_folder}")
    scheme = ", ".join(f"{measure}: {value}" for measure, value in THRESHOLDS.items())
    lines = [
        "title: Establishments by county and industry",
        f"source: {{{', '.join(source)}}}",
        "table: est",
        "id: id",
        "unit: firm",
        f"ledger: {ledger}",
        "dimensions:",
        "  county: county",
        *(f"  naics{level}: substr(naics, 1, {level})" for level in LEVELS if level),
        f"measures: [{', '.join(THRESHOLDS)}]",
        f"splits: {{moderate: {{{scheme}}}}}",
        f"tapers: {{moderate: {{{scheme}}}}}",
        "keys:",
        f"  counties: {{file: {folder / 'counties.csv'}}}",
    ]
    for level in filter(None, LEVELS):
        lines += [
            f"  industries{level}: {{file: {folder / f'industries{level}.csv'}}}",
            f"  cells{level}: {{product: [counties, industries{level}]}}",
        ]
    lines += [
        f"budget: {{rho: {'1e12' if is_exact else 6}, splits: [moderate]}}",
        f"outputs: {{csv: false, intervals: {'true' if has_intervals else 'false'}}}",
        "queries:",
    ]
    for level in levels:
        lines += [
            f"  - name: {table_name(level)}",
            f"    group_by: [{', '.join(key_columns(level))}]",
            f"    keys: {f'cells{level}' if level else 'counties'}",
            "    answers:",
            f"      establishments: {{count: records, rho: {'1e9' if is_exact else COUNT_RHO}}}",
        ]
        if counts_firms:
            lines.append(
                f"      firms: {{count_distinct: firm, rho: {'1e9' if is_exact else 0.1}}}"
            )
        for measure, rho in rhos.items():
            amount = "1e9" if is_exact else rho
            lines.append(f"      {measure}: {{sum: {measure}, {method}, rho: {amount}}}")
    return "\n".join(lines) + "\n"


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines()) - 1


def _perrecord(*arguments: str | Path) -> None:
    given = [str(command()), *map(str, arguments)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"perrecord {' '.join(given[1:3])}: {done.stderr.strip()}")
