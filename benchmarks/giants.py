"""What giants lose and how accurate totals are, splitting beside tapering, at full size.

    python benchmarks/giants.py [--rows 8000000] [--folder FOLDER] [--write]

The workload is that of the full-size release (`full_size/workload.py`): six tables, of counties and
of counties by industry of 2 to 6 digits. What a record loses is the policy of the whole release.
Errors are |noise|/|true| over all cells that hold establishments and over the noise, from the laws
themselves; nothing is drawn and nothing is timed. With `--folder` the data is made there, or used
if it is there already. With `--write` the tables are kept in `benchmarks/giants.md`.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
from full_size.workload import RHOS, THRESHOLDS, prepare, spec_text
from goals import Goal, end_with, goals_table

from perrecord import Query, SelectKeys
from perrecord.evaluate.accuracy.noise_size import below
from perrecord.evaluate.accuracy.truths import truths
from perrecord.laws import Law
from perrecord.laws.widths import deviation
from perrecord.queries.plan import plan
from perrecord.release.spec import build, load_spec, open_table

RESULTS = Path(__file__).resolve().parent / "giants.md"
SPLITTING, TAPERING = "splitting", "tapering"
EMPLOYEES = (5, 50, 500, 4_000, 50_000)
PAY = {"emp": 1, "payann": 50, "payqtr1": Fraction(25, 2)}
"""What a record holds for each of its employees: $50,000 a year, in thousands."""
POINTS = 4_000
"""So many quantiles stand for the true numbers of a table."""
MOST_NOISE, MOST_LOSS = 1.07, Fraction(1, 1000)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Errors:
    """One total of one table: how many cells there are, its noise, the median of its errors."""

    table: str
    measure: str
    cells: int
    deviation: float
    median: float


@dataclass(frozen=True, slots=True)
class Variant:
    """A workload by one method: what records lose, and its errors."""

    losses: Mapping[int, Fraction]
    errors: tuple[Errors, ...]


def median_error(law: Law, step: float, true: Floats) -> float:
    """Return the median of |noise|/|true| over cells and noise.

    >>> from perrecord import DiscreteGaussian
    >>> round(median_error(DiscreteGaussian(10_000), 1.0, np.full(5, 1000.0)), 3)   # 0.6745 sigma
    0.068
    """
    shares = (np.arange(POINTS) + 0.5) / POINTS
    sizes = np.quantile(np.abs(true[true != 0]), shares, method="inverted_cdf")
    low, high = 1e-12, 1e6
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        steps = np.floor(middle * sizes / step)
        within = float((below(law, steps) - below(law, -steps - 1)).mean())
        low, high = (low, middle) if within >= 0.5 else (middle, high)
    return high


def occupied(query: Query) -> Query:
    """Return a query about the cells that the data holds; what it costs makes no difference."""
    held = SelectKeys(rho=1, threshold=1)
    return replace(query, groupings=tuple(replace(each, cells=held) for each in query.groupings))


def record(employees: int) -> dict[str, Fraction]:
    """Return a hypothetical record of so many employees."""
    return {measure: Fraction(employees * each) for measure, each in PAY.items()}


def specs(folder: Path, scratch: Path) -> dict[str, Path]:
    """Write the spec of each variant; return where they are."""
    texts = {
        SPLITTING: spec_text(folder),
        TAPERING: spec_text(folder, method="taper: moderate"),
    }
    found = {}
    for number, (name, text) in enumerate(texts.items()):
        found[name] = scratch / f"variant{number}.yaml"
        found[name].write_text(text)
    return found


def measured(paths: Mapping[str, Path]) -> dict[str, Variant]:
    """Return what each spec's release costs, and its errors in the cells that hold records."""
    loaded = {name: load_spec(path) for name, path in paths.items()}
    with open_table(next(iter(loaded.values()))) as table:
        workloads = {name: build(each, table.schema) for name, each in loaded.items()}
        asked = [
            (name, named.name, occupied(named.query))
            for name, workload in workloads.items()
            for named in workload.queries
        ]
        errors: dict[str, list[Errors]] = {name: [] for name in loaded}
        for truth in truths(plan([query for *_, query in asked], table.schema), table):
            name, table_name, _ = asked[truth.query]
            if truth.answer.name in THRESHOLDS:
                (law,), step = truth.total.laws, float(truth.total.step)
                true = truth.total.exact.astype(np.float64) * step
                median = median_error(law, step, true)
                spread = deviation(law) * step
                found = Errors(table_name, truth.answer.name, len(true), spread, median)
                errors[name].append(found)
    return {
        name: Variant(
            {size: workload.policy.loss(record(size)) for size in EMPLOYEES}, tuple(errors[name])
        )
        for name, workload in workloads.items()
    }


def loss_rows(found: Mapping[str, Variant]) -> Iterator[str]:
    """Yield what a record of each size loses, by both methods."""
    yield "| employees | splitting | tapering | tapering / splitting |"
    yield "|---|---|---|---|"
    for size in EMPLOYEES:
        split, tapered = (float(found[name].losses[size]) for name in (SPLITTING, TAPERING))
        ratio = tapered / split
        shown = f"1/{1 / ratio:,.0f}" if ratio < 0.1 else f"{ratio:.2f}"
        numbers = [f"{each:,.0f}" if each > 100 else f"{each:.3g}" for each in (split, tapered)]
        yield f"| {size:,} | {' | '.join(numbers)} | {shown} |"


def error_rows(found: Mapping[str, Variant]) -> Iterator[str]:
    """Yield the median errors of each table, and those by tapering over those by splitting."""
    heads = [f"{measure}: splitting | tapering | ratio" for measure in THRESHOLDS]
    yield f"| table | cells | {' | '.join(heads)} |"
    yield "|---" * (2 + 3 * len(heads)) + "|"
    pairs = list(zip(found[SPLITTING].errors, found[TAPERING].errors, strict=True))
    for name in dict.fromkeys(split.table for split, _ in pairs):
        own = [(split, tapered) for split, tapered in pairs if split.table == name]
        shown = [
            f"{split.median:.2%} | {tapered.median:.2%} | {tapered.median / split.median:.3f}"
            for split, tapered in own
        ]
        yield f"| {name} | {own[0][0].cells:,} | {' | '.join(shown)} |"


def deviation_rows(found: Mapping[str, Variant]) -> Iterator[str]:
    """Yield the standard errors of each total, which are the same in every table."""
    yield "| total | splitting | tapering | ratio |"
    yield "|---|---|---|---|"
    for split, tapered in list(zip(*(each.errors for each in found.values()), strict=True))[:3]:
        ratio = tapered.deviation / split.deviation
        numbers = f"{split.deviation:,.1f} | {tapered.deviation:,.1f} | {ratio:.3f}"
        yield f"| {split.measure} | {numbers} |"


def goals(found: Mapping[str, Variant]) -> list[Goal]:
    """Return the goals: what giants lose, and how much larger errors may be."""
    split, tapered = found[SPLITTING], found[TAPERING]
    giant = EMPLOYEES[-1]
    loss = tapered.losses[giant] / split.losses[giant]
    pairs = list(zip(split.errors, tapered.errors, strict=True))
    medians = [other.median / own.median for own, other in pairs]
    deviations = [other.deviation / own.deviation for own, other in pairs]
    return [
        Goal(
            f"P of {giant:,} employees below 1/1,000 of splitting's",
            f"1/{float(1 / loss):,.0f}",
            loss < MOST_LOSS,
        ),
        Goal(
            "median errors at most splitting's",
            f"{min(medians):.3f} to {max(medians):.3f} times",
            max(medians) <= 1,
        ),
        Goal(
            "standard errors within 7 % of splitting's",
            f"{min(deviations):.3f} to {max(deviations):.3f} times",
            max(deviations) <= MOST_NOISE,
        ),
    ]


def report(rows: int, folder: Path, scratch: Path) -> tuple[str, list[Goal]]:
    """Return the tables as Markdown, and the goals."""
    if not (folder / "est.parquet").exists():
        prepare(folder, rows)
    found = measured(specs(folder, scratch))
    met = goals(found)
    sizes = ", ".join(f"{size:,} {name} at rho {RHOS[name]}" for name, size in THRESHOLDS.items())
    return "\n".join(
        [
            "# What giants lose: splitting beside tapering",
            "",
            f"{rows:,} establishments; six tables, each a count and three totals, by splitting and",
            f"by tapering at the same sizes and amounts: {sizes}.",
            "",
            "What a record loses by the whole release, in rho, if it pays $50,000 a year for each",
            "of its employees:",
            "",
            *loss_rows(found),
            "",
            "Median errors, of |noise|/|true| over noise and cells that hold establishments:",
            "",
            *error_rows(found),
            "",
            "Standard errors, the same in every table:",
            "",
            *deviation_rows(found),
            "",
            *goals_table(met),
            "",
        ]
    ), met


def main() -> None:
    """Measure, print and keep the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8_000_000, help="establishments")
    parser.add_argument("--folder", type=Path, help="where the data is, or will be made")
    parser.add_argument("--write", action="store_true", help="keep the tables in giants.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "data"
        text, met = report(options.rows, folder.resolve(), Path(scratch))
    print(text, end="")
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")
    end_with(met)


if __name__ == "__main__":
    main()
