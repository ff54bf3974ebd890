"""What agencies use today, in pictures: noise by size of the cells, and which cells are hidden."""

from collections.abc import Sequence

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.variants import SPLITTING, TOP_CODING
from perrecord.lab.experiments.agencies.multiplicative_noise import Distortion
from perrecord.lab.experiments.cbp.agencies import NOISE, Agencies, Practice
from perrecord.lab.experiments.cbp.data import MEASURES
from perrecord.lab.experiments.cbp.errors import EVERY_LEVEL, Row
from perrecord.lab.experiments.experiment import Claim
from perrecord.report.charts import Panels, boxes, nothing
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.panels import in_panels
from perrecord.report.theme import COLOURS, ChartSpec, Width

_LEVELS = {
    "cell": "county × sector",
    "row margin": "county",
    "column margin": "state × sector",
    "total": "state",
}
"""What the levels of a suppressed table are called here."""

_WHY = {"primary": "sensitive (p% rule)", "complementary": "to protect those"}


def noise_figure(found: Agencies, practice: Practice, budget: str) -> Figure:
    """Return the errors of EZS noise beside splitting, by how many establishments a cell has."""
    numbers = pa.Table.from_pylist(found.by_size)
    return Figure(
        "cbp-agency-noise",
        "EZS noise beside splitting, county × sector by size of the cells",
        _noise_finding(found.by_size, budget),
        "A box is about all cells of county × sector (two digits of NAICS) of one size, large and "
        "small: half of them err by what it spans, the line in it is the median, the whiskers "
        "reach from 5 % to 95 % of the cells. Sizes are numbers of establishments. "
        f"{_distorted(practice.distortion)} Errors are expected ones, E|noisy − true|/|true|: of "
        f"EZS noise means over {practice.draws} draws from fixed seeds, of splitting in closed "
        f"form. Splitting is at a total budget of {budget}. EZS noise has no budget: it carries no "
        "formal guarantee. The dashed lines stand at 5 % (green) and 20 % (red).",
        lambda width: _drawn_noise(numbers, width),
        numbers,
        (_noise_table(found.by_size),),
    )


def suppression_figure(found: Agencies, practice: Practice) -> Figure:
    """Return which share of the cells is hidden, and why, by level and size."""
    return Figure(
        "cbp-suppression",
        f"Cells suppressed by the p% rule, p = {practice.p}",
        _suppression_finding(found),
        "Bars are shares of the cells of county × sector (two digits of NAICS) that hold "
        "establishments and a total above 0, by how many establishments they have; margins are in "
        "the table. Each state's table is suppressed with its margins: cells in which the second "
        f"largest firm could learn the largest to within {practice.p} % are sensitive, "
        "and others are hidden so that no attacker's linear programme finds those again. The three "
        "attributes are suppressed each by itself, so one may be published where another, much "
        "like it, is hidden: PAYQTR1 says about what PAYANN is. What is published is exact. There "
        "is no formal guarantee: cells are audited one by one.",
        lambda width: _drawn_suppression(found.suppressed, width),
        found.suppressed,
        (_suppression_table(found.suppressed),),
    )


def reveals(found: Agencies, practice: Practice) -> Claim:
    """Look for cells that the two practices give away, for certain.

    Noise within its limits is so by construction, and that suppression publishes the rest exactly
    is what it is: there is a condition at best, that its limits are known.
    """
    alone, moved = found.shown_alone
    most = practice.distortion.most
    hidden = {
        row["attribute"]: row
        for row in found.suppressed.to_pylist()
        if row["level"] == "cell" and row["size"] == "all"
    }
    listed = ", ".join(
        f"{percent(row['hidden'])} of {amount(row['cells'])} ({name})"
        for name, row in hidden.items()
    )
    return Claim(
        "Complementary cell suppression using the p% rule and EZS noise offer no formal privacy "
        "guarantee and can deterministically reveal information about large contributions.",
        f"Of {amount(found.occupied)} cells of county × sector, {amount(alone)} hold the employees "
        f"of a single establishment. EZS noise published {amount(moved)} of them within "
        f"{percent(most)} of the truth, as its construction says: dividing by {1 + most:g} and "
        f"{1 - most:g} gives an interval that holds the truth for certain, for whoever knows these "
        "limits, which agencies keep secret. Of the cells with a total above 0 suppression hides "
        f"{listed} and publishes all others exactly, however large the establishment behind them; "
        "what it promises of a hidden cell is an interval, for whoever knows no more than the "
        "table and one contribution. That part is by its definition and decides nothing here.",
        "holds with a condition" if alone and moved == alone else "does not hold",
    )


def beside_schemes(found: Agencies, rows: Sequence[Row], budget: str) -> str:
    """Say how EZS noise and suppression fare in the evaluated cells beside the best schemes."""
    parts = []
    for attribute in MEASURES:
        noise = _middles(found.rows, attribute, variant=NOISE)
        of_budget = [row for row in rows if row["budget"] == budget]
        coded = _middles(of_budget, attribute, kind=TOP_CODING)
        split = _middles(of_budget, attribute, kind=SPLITTING)
        parts.append(
            f"{attribute} {percent(min(noise), 2)} to {percent(max(noise), 2)} under EZS noise, "
            f"{percent(min(split), 2)} to {percent(max(split), 2)} under splitting, "
            f"{percent(min(coded), 2)} to {percent(max(coded), 2)} under top-codes"
        )
    kept = [row for row in found.rows if row["attribute"] in MEASURES and row["variant"] != NOISE]
    hidden, cells = (sum(row[name] for row in kept) for name in ("hidden", "cells"))
    return (
        "Beside them stands what agencies use today, EZS noise and suppression by the p% rule. "
        "Neither carries a formal guarantee, so neither has a budget. Median errors in the "
        "evaluated cells, of EZS noise over the means of its draws, from level to level and scheme "
        f"to scheme: {'; '.join(parts)}. Suppression hides "
        f"{amount(hidden)} of {amount(cells)} evaluated totals ({percent(hidden / cells)}) and "
        "gives the others exactly; what both do to smaller cells is shown apart."
    )


# -- noise ------------------------------------------------------------------------------------


def _middles(rows: Sequence[Row], attribute: str, **wanted: str) -> list[float]:
    return [
        row["middle"]
        for row in rows
        if row["attribute"] == attribute
        and row["level"] != EVERY_LEVEL
        and row["middle"] is not None
        and all(row[name] == value for name, value in wanted.items())
    ]


def _distorted(distortion: Distortion) -> str:
    return (
        "EZS noise multiplies all values of an establishment by 1 + d or 1 − d, d from "
        f"{percent(distortion.least)} to {percent(distortion.most)}, in one direction for all "
        "establishments of a firm."
    )


def _drawn_noise(numbers: pa.Table, width: Width) -> ChartSpec:
    panels = Panels(column="attribute", orders={"attribute": [*MEASURES]})
    return boxes(
        numbers,
        width,
        x="size",
        colour="variant",
        y_title="Expected relative error",
        panels=panels,
        side_by_side=True,
    )


def _noise_finding(rows: Sequence[Row], budget: str) -> str:
    known = {(row["attribute"], row["variant"], row["size"]): row["middle"] for row in rows}
    sizes = dict.fromkeys(row["size"] for row in rows)
    variants = [name for name in dict.fromkeys(row["variant"] for row in rows) if name != NOISE]
    first, *_, last = sizes
    parts = []
    for variant in variants:
        ahead = [
            size
            for size in sizes
            if all(
                _is_less(known[name, variant, size], known[name, NOISE, size]) for name in MEASURES
            )
        ]
        where = f"cells of {', '.join(ahead)}" if ahead else "cells of no size"
        parts.append(f"{variant} in {where}")
    low, high = (known["EMP", NOISE, size] for size in (last, first))
    return (
        f"EZS noise errs by a median of {percent(high, 2)} in the smallest cells and "
        f"{percent(low, 2)} in the largest (EMP). At a total budget of {budget}, splitting has "
        "smaller median errors in all three attributes under "
        f"{'; '.join(parts)}."
    )


def _is_less(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one < other


def _noise_table(rows: Sequence[Row]) -> ShownTable:
    known = {(row["variant"], row["size"], row["attribute"]): row for row in rows}
    places = dict.fromkeys((row["variant"], row["size"]) for row in rows)
    return ShownTable(
        "Median of the cells' expected relative errors, by establishments in a cell",
        ("method", "size", "cells", *MEASURES),
        tuple(
            (
                variant,
                size,
                amount(known[variant, size, "EMP"]["cells"]),
                *(percent(known[variant, size, name]["middle"]) for name in MEASURES),
            )
            for variant, size in places
        ),
    )


# -- suppression ------------------------------------------------------------------------------


def _drawn_suppression(costs: pa.Table, width: Width) -> ChartSpec:
    """Return stacked bars of the cells proper, a panel for each attribute."""
    shown = costs.filter(
        pc.and_(pc.not_equal(costs["size"], "all"), pc.equal(costs["level"], "cell"))
    )
    rows = [
        {
            "attribute": row["attribute"],
            "size": _short(row["size"]),
            "why": words,
            "rank": place,
            "share": row[why],
        }
        for row in shown.to_pylist()
        for place, (why, words) in enumerate(_WHY.items())
        if row[why] is not None
    ]
    if not rows:
        return nothing(width)
    table = pa.Table.from_pylist(rows)
    sizes = list(dict.fromkeys(table["size"].to_pylist()))
    bars = (
        alt.Chart(table)
        .mark_bar(size=24)
        .encode(
            x=alt.X("size:N", sort=None, title="Establishments in the cell")
            .scale(domain=sizes)
            .axis(labelAngle=0, ticks=False),
            y=alt.Y("share:Q", title="Cells hidden").axis(format=".0%", tickCount=5),
            color=alt.Color("why:N", sort=None, title=None)
            .scale(domain=list(_WHY.values()), range=list(COLOURS[:2]))
            .legend(orient="top"),
            order=alt.Order("rank:Q"),
        )
    )
    panels = Panels(column="attribute", orders={"attribute": [*MEASURES]})
    return in_panels([bars], table, width, panels)


def _short(size: str) -> str:
    """Return a class as it fits below a bar.

    >>> _short("10 to 99"), _short("1000 or more")
    ('10–99', '1000+')
    """
    return size.replace(" to ", "–").replace(" or more", "+")


def _suppression_finding(found: Agencies) -> str:
    parts = []
    for row in found.suppressed.to_pylist():
        if (row["level"], row["size"]) == ("cell", "all"):
            parts.append(
                f"{percent(row['hidden'])} of the cells of {row['attribute']} with "
                f"{percent(row['hidden_value'])} of its value "
                f"({percent(row['complementary'])} only to protect others)"
            )
    return (
        f"Suppression hides {'; '.join(parts)}. What is left is exact, and no formal guarantee "
        "comes with it."
    )


def _suppression_table(costs: pa.Table) -> ShownTable:
    return ShownTable(
        "Cells that are hidden, and their share of the value",
        ("attribute", "level", "size", "cells", "sensitive", "to protect", "hidden", "value"),
        tuple(
            (
                row["attribute"],
                _LEVELS[row["level"]],
                row["size"],
                amount(row["cells"]),
                *(
                    percent(row[name])
                    for name in ("primary", "complementary", "hidden", "hidden_value")
                ),
            )
            for row in costs.to_pylist()
        ),
    )
