"""Time evaluating and tuning beside the ways that one would otherwise take.

    python benchmarks/evaluate.py [--rows 1000000] [--most 8000000] [--write]

A million establishments by county and three-digit industry, a count and three split totals. What
records lose is computed in the engine, beside `Policy.losses` on columns in memory; expected errors
in closed form, beside averages over 100 draws of noise; and a search over 45 schemes in one
tuning, beside drawing noise for each of them. Each pair takes turns in one process. Then the
commands `evaluate` and `tune` run on eight million records, each in a process of its own
(`evaluate_commands.py`). With `--write` the tables are kept in `benchmarks/evaluate.md`.
"""

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from evaluate_commands import GOAL, MEASURES, SPLITS, commands, commands_table, goals_of
from full_size.workload import prepare
from goals import end_with, goals_table

from perrecord import Query, Split
from perrecord.evaluate.accuracy.errors import accuracy, simulated_error
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.evaluate.tuning.tune import tune
from perrecord.lab.synth import business
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.places import county_codes
from perrecord.queries.plan import plan
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

RESULTS = Path(__file__).resolve().parent / "evaluate.md"
TURNS = 3
DRAWS = 100
SCHEMES = {name: Split(dict(zip(MEASURES, sizes, strict=True))) for name, sizes in SPLITS.items()}


def workload() -> Query:
    """Return the count and three split totals, for every key."""
    industries = {code[:3] for code in industry_codes()}
    keys = Keys.from_dict({"county": county_codes(), "naics3": industries})
    asked = Query("est").group_by("county", "naics3", keys=keys).count(rho="0.1")
    for measure in MEASURES:
        asked = asked.sum(measure, split=SCHEMES["moderate"], rho="0.1")
    return asked


def timed(*works: Callable[[], object]) -> list[float]:
    """Return the median seconds of each, taking turns."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(TURNS):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            taken[place].append(time.perf_counter() - start)
    return [statistics.median(each) for each in taken]


def main() -> None:
    """Measure, print, and keep the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--most", type=int, default=8_000_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = business(given.rows, Path(folder) / "est.parquet", seed=1)
        source = table(
            str(path),
            name="est",
            unit="firm",
            dimensions={"county": "county", "naics3": "substr(naics, 1, 3)"},
            measures=list(MEASURES),
        )
        with source:
            asked = workload()
            planned = plan(asked, source.schema)
            errors = accuracy(planned, source)
            pairs = {
                "losses of all records": timed(
                    lambda: policy_losses(planned.policy, source),
                    lambda: planned.policy.losses(pq.read_table(path, columns=list(MEASURES))),
                ),
                f"expected errors of {len(errors[0].true):,} cells, four answers": timed(
                    lambda: accuracy(planned, source),
                    lambda: [simulated_error(each, DRAWS) for each in errors],
                ),
            }
            (search,) = timed(lambda: tune({"cells": asked}, source, GOAL, schemes=SCHEMES))
            tried = len(tune({"cells": asked}, source, GOAL, schemes=SCHEMES).choices)
        run = commands(prepare(Path(folder) / "commands", given.most), given.most)
    goals = goals_of(run)
    pairs[f"a search over {tried} schemes"] = [search, tried * pairs[next(reversed(pairs))][1]]
    lines = [
        "# Evaluating and tuning beside the other ways",
        "",
        f"{given.rows:,} records; {TURNS} turns, Python {platform.python_version()}. The other "
        f"way: `Policy.losses` on columns in memory; {DRAWS} draws of noise; and those draws once "
        "for each scheme, the time of one times their number. Made by "
        "`python benchmarks/evaluate.py --write`.",
        "",
        *goals_table(goals),
        "",
        *commands_table(run),
        "",
        "| | perrecord.evaluate, s | the other way, s | ratio |",
        "|---|---|---|---|",
        *(f"| {name} | {own:.2f} | {other:.2f} | {own / other:.3f} |"
          for name, (own, other) in pairs.items()),
    ]  # fmt: skip
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    end_with(goals)


if __name__ == "__main__":
    main()
