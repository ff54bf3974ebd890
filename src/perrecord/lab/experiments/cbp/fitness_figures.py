"""The figure of fitness for use: what establishments lose so that cells meet a goal."""

from fractions import Fraction

import pyarrow as pa

from perrecord.lab.experiments.cbp.data import MEASURES
from perrecord.lab.experiments.cbp.fitness import EVERY_CELL, ONE_RHO, Fits
from perrecord.lab.experiments.cbp.losses import curve, labelled
from perrecord.report.charts import Panels, shares
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent

EXACT = "exact accounting, any thresholds"

_SHARES = ("0.5", "0.9", "0.99", 1)
_HEADS = ("half lose up to", "90 %", "99 %", "the largest", "above 1")


def goal_name(goal: Fraction) -> str:
    """Return a goal as panels name it."""
    return f"within {percent(float(goal))}"


def fitness_figure(fits: Fits, fewest: int) -> Figure:
    """Return the distributions of the smallest policy losses, by goal, reading and scheme."""
    tables = []
    for goal in fits.goals:
        for reading in (ONE_RHO, EVERY_CELL):
            every = fits.of(goal, reading)
            lines = [*((each.scheme, each.split) for each in every), (EXACT, every[0].exact)]
            for name, found in lines:
                labels = {"reading": reading, "goal": goal_name(goal), "scheme": name}
                tables.append(labelled(curve(found), **labels))
    numbers = pa.concat_tables(tables)
    orders = {
        "goal": [goal_name(goal) for goal in fits.goals],
        "reading": [ONE_RHO, EVERY_CELL],
    }
    return Figure(
        "cbp-fitness",
        "The smallest policy losses that make cells fit for use",
        _finding(fits),
        "Each column is a goal: |noise| below so much of the true number with a probability of "
        "95 %. In the upper row each answer of each level has one rho, that which serves 95 % of "
        f"its cells of {fewest} or more establishments; all of its cells are charged for it. In "
        "the lower row every such cell has the rho that it needs, and others are not released. "
        "Colours are splitting schemes by the paper's accounting, rho times the square of the "
        "number of pieces; by exact accounting (T11) thresholds cancel and there is one line for "
        "all. The dashed line stands at a loss of 1.",
        lambda width: shares(
            numbers,
            width,
            colour="scheme",
            x_title="Policy loss (rho)",
            y_title="Share of establishments",
            panels=Panels(column="goal", row="reading", orders=orders),
            rule=1.0,
        ),
        numbers,
        (_quantiles(fits), _independence(fits), _top_codes(fits)),
    )


def _finding(fits: Fits) -> str:
    goal = fits.goals[min(1, len(fits.goals) - 1)]
    every = fits.of(goal, ONE_RHO)
    medians = ", ".join(f"{amount(each.split.quantile('0.5'))} ({each.scheme})" for each in every)
    exact = every[0].exact
    return (
        f"For 95 % of the cells to come {goal_name(goal)}, the median establishment is charged "
        f"{medians} by pieces, and {amount(exact.quantile('0.5'))} by exact accounting whatever "
        f"the thresholds: quantiles of schemes then differ by less than {_rounded(fits.apart())}."
    )


def _rounded(difference: float) -> str:
    return f"one part in {amount(10**12)}" if difference < 1e-12 else percent(difference)


def _quantiles(fits: Fits) -> ShownTable:
    rows = []
    for reading in (ONE_RHO, EVERY_CELL):
        for goal in fits.goals:
            every = fits.of(goal, reading)
            lines = [*((each.scheme, each.split) for each in every), (EXACT, every[0].exact)]
            for name, found in lines:
                numbers = [amount(found.quantile(share)) for share in _SHARES]
                rows.append(
                    (reading, goal_name(goal), name, *numbers, percent(found.share_above(1)))
                )
    return ShownTable(
        "Losses that a goal takes, by pieces and by exact accounting",
        ("reading", "goal", "scheme", *_HEADS),
        tuple(rows),
    )


def _independence(fits: Fits) -> ShownTable:
    """Return medians and largest losses by exact accounting, scheme beside scheme."""
    names = [each.scheme for each in fits.of(fits.goals[0], ONE_RHO)]
    rows = []
    for reading in (ONE_RHO, EVERY_CELL):
        for goal in fits.goals:
            every = fits.of(goal, reading)
            medians = [amount(each.exact.quantile("0.5"), 6) for each in every]
            largest = [amount(each.exact.largest, 6) for each in every]
            rows.append((reading, goal_name(goal), *medians, *largest))
    heads = [*(f"median, {name}" for name in names), *(f"largest, {name}" for name in names)]
    return ShownTable(
        "By exact accounting thresholds make no difference: what establishments lose",
        ("reading", "goal", *heads),
        tuple(rows),
    )


def _top_codes(fits: Fits) -> ShownTable:
    return ShownTable(
        "Top-coding: cells whose bias alone misses the goal, whatever the budget; answers, level "
        "by level, that cannot meet it on 95 % of their cells; what the others would cost everyone",
        ("top-code", "goal", *MEASURES, "answers out of reach", "loss for the others"),
        tuple(
            (
                each.scheme,
                goal_name(each.goal),
                *(percent(each.out_of_reach.get(attribute)) for attribute in MEASURES),
                f"{each.missed} of {each.answers}",
                amount(each.loss),
            )
            for each in fits.reaches
        ),
    )
