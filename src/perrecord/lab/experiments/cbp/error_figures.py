"""Figures of relative errors: by attribute, level and scheme, and by total budget."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.evaluate.variants import SPLITTING, TOP_CODING
from perrecord.lab.experiments.cbp.agencies import AGENCIES, NOISE, SUPPRESSION
from perrecord.lab.experiments.cbp.boxes import grouped_boxes
from perrecord.lab.experiments.cbp.data import ATTRIBUTES, LEVELS, MEASURES
from perrecord.lab.experiments.cbp.errors import (
    EVERY_LEVEL,
    ORDERS,
    TAPERING,
    Row,
    errors_table,
)
from perrecord.report.charts import Panels, boxes
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.scales import log_scale
from perrecord.report.theme import ChartSpec, Width

_AXIS = "Relative error"
_READING = (
    "A box is about the relative errors |noisy − true|/|true|, bias included, of the cells of one "
    "level with {fewest} or more establishments, over cells and noise: half of the errors are in "
    "what it spans, the line in it is the median, the whiskers reach from 5 % to 95 % of the "
    "errors. Nothing is drawn for it: quantiles are from the exact law (T21). What reaches the "
    "lower edge is an error of 0, for noise is in whole numbers. The dashed lines stand at 5 % "
    "(green) and 20 % (red)."
)
_TAPERING = (
    "Tapering, which is not in the paper, is at the thresholds and amounts of the splitting scheme "
    "of the same name: its standard errors are 5 to 6 % larger, its losses in the figure of losses."
)
_AGENCIES = (
    "What agencies use today stands at the right, without a formal guarantee, and its boxes are "
    "other ones, over cells alone: under EZS noise each cell has the mean of its errors in "
    "{draws} draws from fixed seeds. Marks at the lower edge are errors of 0: both leave counts "
    "as they are, and suppression, made for all industries and 2 digits, gives all totals exactly "
    "that it does not hide."
)


def errors_by_level(rows: Sequence[Row], budget: str, fewest: int, draws: int) -> Figure:
    """Return the box plots by attribute, level and scheme, for one total budget.

    `draws` is how many draws of EZS noise its errors are means of.
    """
    shown = errors_table(
        [row for row in rows if row["level"] != EVERY_LEVEL and row["budget"] in (budget, None)]
    )
    return Figure(
        "cbp-errors",
        f"Relative errors by attribute, NAICS level and scheme, total budget {budget}",
        _finding(shown.to_pylist()),
        f"{_READING.format(fewest=fewest)} {_TAPERING} {_AGENCIES.format(draws=draws)}",
        lambda width: _drawn(shown, width, row="level"),
        shown,
        (_medians(shown), _shares_above(shown)),
    )


def errors_by_budget(rows: Sequence[Row], fewest: int) -> Figure:
    """Return the box plots by attribute, total budget and scheme, all levels together."""
    pooled = [row for row in rows if row["level"] == EVERY_LEVEL and row["budget"] is not None]
    named = [row | {"budget": f"total {row['budget']}"} for row in pooled]
    shown = errors_table(named)
    return Figure(
        "cbp-errors-by-budget",
        "Relative errors by attribute, total budget and scheme, all levels",
        _budget_finding(pooled),
        f"{_READING.format(fewest=fewest).replace('one level', 'all levels')} {_TAPERING}",
        lambda width: _drawn(shown, width, row="budget"),
        shown,
        (_medians(shown),),
    )


def _drawn(table: pa.Table, width: Width, *, row: str) -> ChartSpec:
    """Return panels for attributes beside each other; on a telephone attributes are colours."""
    table = _at_the_edge(table)
    variants = dict.fromkeys(table["variant"].to_pylist())
    orders = {
        **ORDERS,
        "variant": list(variants),
        "kind": [TOP_CODING, SPLITTING, TAPERING, AGENCIES],
    }
    if width == "wide":
        panels = Panels(column="attribute", row=row, orders=orders)
        return boxes(table, width, x="variant", colour="kind", y_title=_AXIS, panels=panels)
    below = Panels(row=row, orders=orders)
    return grouped_boxes(table, group="variant", colour="attribute", y_title=_AXIS, panels=below)


def _at_the_edge(table: pa.Table) -> pa.Table:
    """Return the table with errors of 0 at the lower end of the logarithmic axis."""
    found = [each for name in FIVE for each in table[name].to_pylist() if each is not None]
    scale = log_scale(found)
    if scale is None:
        return table
    for name in FIVE:
        values = [None if each is None else each or scale.low for each in table[name].to_pylist()]
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values, pa.float64()))
    return table


def _finding(rows: Sequence[Row]) -> str:
    magnitudes = [row for row in rows if row["attribute"] in MEASURES and row["middle"] is not None]
    above = {
        kind: [row["above_5_percent"] > 0.5 for row in magnitudes if row["kind"] == kind]
        for kind in (TOP_CODING, SPLITTING)
    }
    coded, split = above[TOP_CODING], above[SPLITTING]
    conservative = sum(
        row["above_5_percent"] > 0.5 and row["variant"] == "split Conservative"
        for row in magnitudes
    )
    return (
        f"Of employment and payroll, {sum(coded)} of {len(coded)} top-coded boxes have more than "
        f"half of their errors above 5 %; of the boxes under splitting {sum(split)} of "
        f"{len(split)} have, {conservative} of them under the Conservative scheme. Counts of "
        f"establishments and firms err the same whatever the scheme.{_tapered(magnitudes)}"
        f"{_beside(magnitudes)}"
    )


def _tapered(magnitudes: Sequence[Row]) -> str:
    """Say how tapering, which the paper does not have, compares with splitting box by box."""
    split = {
        (row["variant"].removeprefix("split "), row["level"], row["attribute"]): row["middle"]
        for row in magnitudes
        if row["kind"] == SPLITTING
    }
    ratios = [
        row["middle"] / split[row["variant"].removeprefix("taper "), row["level"], row["attribute"]]
        for row in magnitudes
        if row["kind"] == TAPERING
    ]
    if not ratios:
        return ""
    return (
        " Tapering at the same sizes and amounts, which is not in the paper, has medians of "
        f"{amount(min(ratios))} to {amount(max(ratios))} times those of splitting."
    )


def _beside(magnitudes: Sequence[Row]) -> str:
    """Say what the practices without a guarantee cost, if they are among the rows."""
    noise = [row["above_5_percent"] > 0.5 for row in magnitudes if row["variant"] == NOISE]
    hidden = [row for row in magnitudes if row["variant"] == SUPPRESSION]
    if not noise or not hidden:
        return ""
    count, cells = (sum(row[name] for row in hidden) for name in ("hidden", "cells"))
    return (
        f" Without a formal guarantee, {sum(noise)} of {len(noise)} boxes under EZS noise have, "
        f"and suppression hides {amount(count)} of {amount(cells)} totals and gives the others "
        "exactly."
    )


def _budget_finding(rows: Sequence[Row]) -> str:
    """Say how far a hundredfold budget brings the best top-code and the moderate scheme."""
    found = []
    for attribute in MEASURES:
        own = [row for row in rows if row["attribute"] == attribute]
        budgets = dict.fromkeys(row["budget"] for row in own)
        best = [
            min(
                row["middle"]
                for row in own
                if row["budget"] == budget and row["kind"] == TOP_CODING
            )
            for budget in budgets
        ]
        split = [row["middle"] for row in own if row["variant"] == "split Moderate"]
        first, *_, last = budgets
        found.append(
            f"{attribute} from {percent(best[0], 2)} to {percent(best[-1], 2)} under the best "
            f"top-code, from {percent(split[0], 2)} to {percent(split[-1], 2)} under Moderate "
            "splitting"
        )
    return f"From a total of {first} to {last} the median error falls: {'; '.join(found)}."


def _medians(table: pa.Table) -> ShownTable:
    """Return the medians as a table, attributes side by side."""
    budgeted = len(set(table["level"].to_pylist())) == 1
    name, head = ("budget", "budget") if budgeted else ("level", "level")
    places = dict.fromkeys(zip(table["variant"].to_pylist(), table[name].to_pylist(), strict=True))
    known = {(row["variant"], row[name], row["attribute"]): row for row in table.to_pylist()}
    return ShownTable(
        "Median of the relative errors",
        ("variant", head, "cells", *ATTRIBUTES),
        tuple(
            (
                variant,
                place,
                amount(known[variant, place, "ESTAB"]["cells"])
                if (variant, place, "ESTAB") in known
                else "–",
                *(
                    percent((known.get((variant, place, attribute)) or {}).get("middle"))
                    for attribute in ATTRIBUTES
                ),
            )
            for variant, place in places
        ),
    )


def _shares_above(table: pa.Table) -> ShownTable:
    """Return where the mass of the boxes lies beside the two lines, levels from coarse to fine."""
    kept = table.filter(pc.is_in(table["attribute"], value_set=pa.array(list(MEASURES))))
    rows = kept.to_pylist()
    variants = dict.fromkeys(row["variant"] for row in rows)
    levels = [level for level in LEVELS.values() if any(row["level"] == level for row in rows)]
    known = {(row["variant"], row["attribute"], row["level"]): row for row in rows}
    return ShownTable(
        "Share of the errors above 5 %, level by level",
        ("variant", "attribute", *levels),
        tuple(
            (
                variant,
                attribute,
                *(
                    percent(
                        (known.get((variant, attribute, level)) or {}).get("above_5_percent"), 2
                    )
                    for level in levels
                ),
            )
            for variant in variants
            for attribute in MEASURES
        ),
    )
