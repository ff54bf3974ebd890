"""`perrecord evaluate` and `perrecord tune` as commands: time and memory on millions of records.

Each runs in a process of its own on the workload of `evaluate.py`, written as a spec.
"""

from dataclasses import dataclass
from pathlib import Path

from full_size.measuring import Cost, measured
from full_size.workload import command
from goals import Goal

MEASURES = ("emp", "payann", "payqtr1")
MOST_SECONDS = {"evaluate": 120, "tune": 60}
MOST_MB = 2000
GOAL = "20% for 80% of cells"
SPLITS = {"strict": (100, 10_000, 2500), "moderate": (20, 1000, 250), "loose": (5, 500, 125)}
"""The thresholds of each split, by measure."""


@dataclass(frozen=True, slots=True)
class Commands:
    """What the commands took on so many records, by their names."""

    rows: int
    costs: dict[str, Cost]


def commands(folder: Path, rows: int) -> Commands:
    """Run both commands on a folder of so many records and return what they took."""
    spec = folder / "release.yaml"
    spec.write_text(spec_text(folder))
    return Commands(
        rows,
        {
            name: measured([command(), name, spec, "--out", folder / name, "--quiet"])
            for name in MOST_SECONDS
        },
    )


def spec_text(folder: Path) -> str:
    """Return the spec: a count and three split totals by county and three-digit industry."""
    splits = ", ".join(
        f"{name}: {{{', '.join(f'{m}: {t}' for m, t in zip(MEASURES, sizes, strict=True))}}}"
        for name, sizes in SPLITS.items()
    )
    lines = [
        "title: Establishments by county and industry",
        f"source: {{path: {folder / 'est.parquet'}}}",
        "table: est",
        "unit: firm",
        "ledger: est.ledger",
        "dimensions: {county: county, naics3: 'substr(naics, 1, 3)'}",
        f"measures: [{', '.join(MEASURES)}]",
        f"splits: {{{splits}}}",
        "keys:",
        f"  counties: {{file: {folder / 'counties.csv'}}}",
        f"  industries: {{file: {folder / 'industries3.csv'}}}",
        "  cells: {product: [counties, industries]}",
        "budget: {rho: 1, splits: [moderate]}",
        "queries:",
        "  - name: cells",
        "    group_by: [county, naics3]",
        "    keys: cells",
        "    answers:",
        "      establishments: {count: records, rho: 0.1}",
        *(f"      {each}: {{sum: {each}, split: moderate, rho: 0.1}}" for each in MEASURES),
        f"tuning: {{goals: {GOAL}}}",
    ]
    return "\n".join(lines) + "\n"


def commands_table(found: Commands) -> list[str]:
    """Return the table of both commands."""
    return [
        f"| command, {found.rows:,} records | s | processor s | peak MB |",
        "|---|---|---|---|",
        *(
            f"| `perrecord {name}` | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.peak_mb:,.0f} |"
            for name, cost in found.costs.items()
        ),
    ]


def goals_of(found: Commands) -> list[Goal]:
    """Return whether each command is quick enough, and needs no more memory than it may."""
    on = f"on {found.rows:,} records"
    quick = [
        Goal(
            f"`perrecord {name}` {on} takes less than {most} s",
            f"{found.costs[name].wall:.1f} s",
            found.costs[name].wall < most,
        )
        for name, most in MOST_SECONDS.items()
    ]
    peak = max(cost.peak_mb for cost in found.costs.values())
    return [*quick, Goal(f"both hold less than 2 GB {on}", f"{peak:,.0f} MB", peak < MOST_MB)]
