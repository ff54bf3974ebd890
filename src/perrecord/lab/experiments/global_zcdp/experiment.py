"""Global zCDP on skewed data: the error of clamped sums over bounds, budgets and tails (T23).

Every record is cut at a bound and the sum gets noise for that bound. The paper plots the mean
square error over the expected sum; we plot its root over the expected sum beside it, which has no
units.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pyarrow as pa

from perrecord.lab.experiments.experiment import Experiment, Tell
from perrecord.lab.experiments.global_zcdp.claims import (
    Row,
    exceeding,
    lower_bound,
    moving_optimum,
    prohibitive,
    without_units,
)
from perrecord.lab.experiments.global_zcdp.clamped_pareto import ClampedSum
from perrecord.lab.experiments.global_zcdp.clamped_release import (
    MeasuredBound,
    Units,
    exponents,
    in_other_units,
    measured,
)
from perrecord.lab.experiments.panels import in_grid
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.scales import log_scale
from perrecord.report.theme import BAD, COLOURS, ChartSpec, Width

SQUARED, ROOT = "MSE / E[sum], as in the paper", "RMSE / E[sum]"
_SHADES = ("#4d4d4d", "#009e73")
_HEIGHT: dict[Width, int] = {"wide": 128, "narrow": 120}


@dataclass(frozen=True, slots=True)
class ClampedParameters:
    """What is computed, and how many data sets of n records each closed form is checked on."""

    records: int = 1000
    tails: tuple[float, ...] = (1.1, 1.2, 1.5, 2.0)
    rhos: tuple[str, ...] = ("0.1", "1", "10")
    largest_bound: float = 1e5
    points_per_decade: int = 12
    data_sets: int = 4000
    seed: int = 20231
    scale: int = 1000
    """The other units: so many times as small."""
    goal: float = 0.1
    """An error that is not prohibitive: the paper's green line in its other figures."""


FULL = ClampedParameters()
QUICK = ClampedParameters(points_per_decade=4, data_sets=100)


def run(*, quick: bool, step: Tell) -> Experiment:
    """Return the figure, the closed forms beside the library's own answers, and the claims."""
    own = QUICK if quick else FULL
    step("global zCDP: closed forms")
    curves, best = _curves(own), _best(own)
    step(f"global zCDP: clamped sums of {own.data_sets:,} data sets for each tail")
    checked = measured(own.records, own.tails, own.rhos, own.data_sets, own.seed)
    furthest = max(abs(each.scores) for each in checked)
    units = in_other_units(own.records, 1.2, "1", own.scale, own.seed)
    return Experiment(
        "global-zcdp",
        "Global zCDP on skewed data",
        (
            f"{own.records:,} records are drawn from Pareto(1, α), cut at a bound Δ, and added up "
            "with the Gaussian noise of ρ-zCDP, variance Δ²/(2ρ). The expected sum is nα/(α − 1), "
            "clamping takes nΔ^(1−α)/(α − 1) off it, and the mean square error is the square of "
            "that plus the variance of the noise. It is least at "
            "Δ = (2ρn²/(α − 1))^(1/(2α)), the red line.",
            "What the sum varies by from one data set to another is left out of the figure, "
            "because a release is about the records that there are; the second table has it. "
            f"There, the library's own clamped sums of {own.data_sets:,} drawn data sets for each "
            f"tail are at most {amount(furthest, 2)} standard errors from the closed form.",
            "The paper states neither its tail weights nor its budgets here. Ours contain the two "
            f"tails of its simulated data, 1.2 and 1.5, and ρ = {', '.join(own.rhos)}.",
        ),
        (_figure(own, curves, best, checked, units),),
        (
            exceeding(best),
            prohibitive(best, own.goal),
            without_units(units),
            moving_optimum(best),
            lower_bound(exponents()),
        ),
    )


def _curves(own: ClampedParameters) -> pa.Table:
    """Return both ratios at every bound, for each tail and budget."""
    decades = np.log10(own.largest_bound)
    bounds = np.logspace(0, decades, round(decades * own.points_per_decade) + 1)
    tables = []
    for tail in own.tails:
        for rho in own.rhos:
            asked = ClampedSum(own.records, tail, float(rho))
            tables.append(
                pa.table(
                    {
                        "tail": pa.array([tail] * len(bounds)),
                        "rho": pa.array([float(rho)] * len(bounds)),
                        "bound": bounds,
                        "mse_over_expected": asked.ratio(bounds),
                        "rmse_over_expected": asked.root_ratio(bounds),
                        "best_bound": pa.array([asked.best_bound] * len(bounds)),
                    }
                )
            )
    return pa.concat_tables(tables)


def _best(own: ClampedParameters) -> list[Row]:
    """Return what is found at the best bound, for each tail and budget."""
    found = []
    for tail in own.tails:
        for rho in own.rhos:
            asked = ClampedSum(own.records, tail, float(rho))
            bound = asked.best_bound
            found.append(
                {
                    "tail": tail,
                    "rho": float(rho),
                    "bound": bound,
                    "expected": asked.expected,
                    "bias": float(asked.bias(bound)) / asked.expected,
                    "noise": float(asked.noise(bound)) / asked.expected,
                    "ratio": float(asked.ratio(bound)),
                    "root_ratio": float(asked.root_ratio(bound)),
                }
            )
    return found


# -- the picture ------------------------------------------------------------------------------


def _figure(
    own: ClampedParameters,
    curves: pa.Table,
    best: Sequence[Row],
    checked: Sequence[MeasuredBound],
    units: Units,
) -> Figure:
    least, most = (pick(best, key=lambda row: row["root_ratio"]) for pick in (min, max))
    squared = [row["ratio"] for row in best]
    return Figure(
        "global-zcdp",
        f"Clamped sums of {own.records:,} Pareto records under zCDP",
        f"With the best bound, the error is {percent(least['root_ratio'])} of the expected sum "
        f"(α = {least['tail']:g}, ρ = {least['rho']:g}) to {percent(most['root_ratio'])} "
        f"(α = {most['tail']:g}, ρ = {most['rho']:g}). The paper's ratio is "
        f"{amount(min(squared))} to {amount(max(squared))} there, but it sets a square "
        f"beside a number that is not squared: the same data in units {own.scale:,} times as small "
        f"would make it {amount(units.ratio_grows)} times as large.",
        "Error against the bound at which records are cut, both logarithmic; a row of panels for "
        "each tail weight α (heavier above), a column for each budget ρ. The red line is the bound "
        "of least error: further left more is cut off, further right there is more noise. The blue "
        "dashed line stands at 1: for RMSE / E an error as large as the sum; for the paper's "
        "ratio, which has units, it has no such meaning.",
        lambda width: _drawn(curves, width),
        curves,
        (_best_table(best), _checked_table(own, checked)),
    )


def _drawn(curves: pa.Table, width: Width) -> ChartSpec:
    rows = [
        {
            "tail": f"α = {row['tail']:g}",
            "budget": f"ρ = {row['rho']:g}",
            "ratio": name,
            "bound": row["bound"],
            "value": row[column],
            "best": row["best_bound"],
        }
        for row in curves.to_pylist()
        for name, column in ((SQUARED, "mse_over_expected"), (ROOT, "rmse_over_expected"))
    ]
    table = pa.Table.from_pylist(rows)
    across, up = (log_scale(table[name].to_pylist()) for name in ("bound", "value"))
    assert across is not None  # noqa: S101 - every bound and every error is above 0
    assert up is not None  # noqa: S101
    names = [SQUARED, ROOT]
    x = alt.X("bound:Q", title="Clamping bound Δ").axis(**across.axis("number"))
    x = x.scale(type="log", domain=[across.low, across.high], nice=False)
    y = alt.Y("value:Q", title="MSE or RMSE / E[sum]").axis(**up.axis("number"))
    y = y.scale(type="log", domain=[up.low, up.high], nice=False)
    legend = alt.Color("ratio:N", sort=names, title=None).legend(orient="top", columns=0)
    line = alt.Chart().mark_line(strokeWidth=1.9)
    layers = [
        line.encode(x=x, y=y, color=legend.scale(domain=names, range=list(_SHADES))),
        alt.Chart().mark_rule(color=BAD, strokeWidth=1.6).encode(x=alt.X("max(best):Q")),
        alt.Chart()
        .mark_rule(strokeDash=[4, 3], color=COLOURS[0], strokeWidth=1.3)
        .encode(y=alt.datum(1.0)),
    ]
    return in_grid(layers, table, width, row="tail", column="budget", height=_HEIGHT[width])


def _best_table(best: Sequence[Row]) -> ShownTable:
    return ShownTable(
        "At the best bound; bias, noise and their root mean square as shares of the expected sum",
        ("α", "ρ", "expected sum", "best Δ", "bias", "noise", "RMSE / E", "MSE / E"),
        tuple(
            (
                f"{row['tail']:g}",
                f"{row['rho']:g}",
                amount(row["expected"], 4),
                amount(row["bound"], 4),
                percent(row["bias"]),
                percent(row["noise"]),
                percent(row["root_ratio"]),
                amount(row["ratio"]),
            )
            for row in best
        ),
    )


def _checked_table(own: ClampedParameters, checked: Sequence[MeasuredBound]) -> ShownTable:
    return ShownTable(
        f"A check: RMSE / E, sampling included, in closed form and from the library's clamped sums "
        f"of {own.data_sets:,} drawn data sets",
        ("α", "ρ", "Δ", "closed form", "library", "standard errors apart"),
        tuple(
            (
                f"{each.tail:g}",
                each.rho,
                amount(float(each.bound), 4),
                percent(each.closed_form),
                percent(each.found),
                amount(abs(each.scores), 2),
            )
            for each in checked
        ),
    )
