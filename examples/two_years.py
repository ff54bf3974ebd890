"""Levels of one year and changes to the next, of public data: how true what is published is.

    python examples/two_years.py mines.parquet --years 2015 2016 --out two-years

The file has a row for each mine and year, as the Mine Safety and Health Administration publishes
employment: YEAR, US_STATE, PRIMARY, AVG_EMP_TOTAL and, if it is there, TYPE_OF_MINE. It has no ids
of mines, so that a record is all mines of one state, mineral and type. The levels of the first year
and the changes to the second are released, added up as `perrecord series` does, and compared with
the truth, which is public here and nowhere else.
"""

import argparse
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pyarrow.parquet as pq

from perrecord import Ledger
from perrecord.release.accumulating import accumulate
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

SPEC = """
title: Employment of mines by state, {title}
source: {source}
id: id
dimensions: [state]
measures: {{{measure}}}
keys: {{states: {{file: states.csv}}}}
budget: {{rho: 1, tapers: [{{measure: {name}, at: {at}, rho: 1}}]}}
ledger: {ledger}
queries:
  - name: states
    group_by: [state]
    keys: states
    answers: {{employment: {{sum: {name}, taper: {at}, rho: 1}}}}
"""


def prepare(file: Path, years: list[int], folder: Path) -> None:
    """Write a file of each year, a record for each state, mineral and type, and the states."""
    folder.mkdir(parents=True)
    read = duckdb.read_parquet if file.suffix == ".parquet" else duckdb.read_csv
    rows = read(str(file))
    named = ["US_STATE", "PRIMARY", *(["TYPE_OF_MINE"] if "TYPE_OF_MINE" in rows.columns else [])]
    parts = [f'"{name}"' for name in named]
    # A mineral that is not known makes no id: without one, records of two years cannot be linked.
    known = rows.filter(" AND ".join(f"{part} IS NOT NULL" for part in parts))
    for year in years:
        known.filter(f"YEAR = {year}").aggregate(
            f"concat_ws(' / ', {', '.join(parts)}) AS id, US_STATE AS state, "
            "CAST(sum(AVG_EMP_TOTAL) AS BIGINT) AS emp",
            ", ".join(parts),
        ).order("id").write_parquet(str(folder / f"mines-{year}.parquet"))
    states = known.project("US_STATE AS state").distinct().order("state")
    states.write_csv(str(folder / "states.csv"))


def published(folder: Path, years: list[int]) -> list[Path]:
    """Release the levels of the first year and the changes to the second; return both folders."""
    first, second = years
    specs = {
        "levels": SPEC.format(
            title=first, source=f"mines-{first}.parquet", measure="emp: 1", name="emp", at=50,
            ledger="levels.ledger",
        ),
        "changes": SPEC.format(
            title=f"changes {first} to {second}",
            source=f"{{path: mines-{second}.parquet, last: mines-{first}.parquet}}",
            measure="emp_change: {column: emp}", name="emp_change", at=10, ledger="changes.ledger",
        ),
    }  # fmt: skip
    for name, text in specs.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        loaded = load_spec(path)
        with open_table(loaded) as table:
            Ledger.create(folder / f"{name}.ledger", build(loaded, table.schema).budget)
        release(path, folder / name)
    return [folder / name for name in specs]


def compared(folder: Path, years: list[int]) -> dict[str, float]:
    """Return how many states hold the truth, and how many rose or fell beyond their noise."""
    names = [str(year) for year in years]
    found = accumulate(folder / "levels", [folder / "changes"], periods=names)
    before, after = (totals(folder / f"mines-{year}.parquet") for year in years)
    rows = [row for row in found.tables[0].rows.to_pylist() if row["period"] == names[1]]
    levels = [(row, after[row["state"]]) for row in rows]
    changes = [(row, after[row["state"]] - before[row["state"]]) for row in rows]
    return {
        "states": len(rows),
        "level_se": median(row["employment_se"] for row in rows),
        "change_se": median(row["employment_change_se"] for row in rows),
        "levels_held": sum(held(row, "employment", true) for row, true in levels),
        "changes_held": sum(held(row, "employment_change", true) for row, true in changes),
        "fell": sum(row["employment_change_high"] < 0 for row in rows),
        "rose": sum(row["employment_change_low"] > 0 for row in rows),
    }


def totals(file: Path) -> Counter[str]:
    """Return the true employment of every state."""
    found: Counter[str] = Counter()
    for row in pq.read_table(file).to_pylist():
        found[row["state"]] += row["emp"]
    return found


def held(row: dict[str, Any], name: str, true: int) -> bool:
    """Tell whether an interval holds the truth."""
    return bool(row[f"{name}_low"] <= true <= row[f"{name}_high"])


def main(given: list[str] | None = None) -> dict[str, float]:
    """Do all of it, and print what came out."""
    parser = argparse.ArgumentParser(description="Levels and changes of two years of public data.")
    parser.add_argument("file", type=Path, help="a row for each mine and year, Parquet or CSV")
    parser.add_argument("--years", type=int, nargs=2, default=[2015, 2016])
    parser.add_argument("--out", type=Path, default=Path("two-years"), help="a new folder")
    options = parser.parse_args(given)
    prepare(options.file, options.years, options.out)
    published(options.out, options.years)
    found = compared(options.out, options.years)
    states, levels, changes = (found[name] for name in ("states", "levels_held", "changes_held"))
    print(
        f"Of {states:.0f} states, 95 % intervals hold the true level of {options.years[1]} in "
        f"{levels:.0f} and the true change in {changes:.0f}. Standard errors: "
        f"{found['level_se']:.0f} of a level, {found['change_se']:.0f} of a change. "
        f"{found['fell']:.0f} states fell and {found['rose']:.0f} rose beyond their noise."
    )
    return found


if __name__ == "__main__":
    main()
