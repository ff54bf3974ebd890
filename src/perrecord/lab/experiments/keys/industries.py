"""The figure of the example's industries: who is found at which threshold, and what it costs."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from perrecord.lab.experiments.keys.chances import Drawn, Industry, Optimum, Selecting, optima
from perrecord.report.charts import Axis, Panels, curves
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent

Row = dict[str, Any]

SPLIT, UNSPLIT = "found, when split", "found, unsplit"
REVEALED, OPTIMAL = "delta of its largest", "found, optimal selection"


def by_threshold(
    industries: Sequence[Industry],
    shown: Sequence[str],
    unsplit: Selecting,
    thresholds: Sequence[int],
    drawn: Sequence[Drawn],
) -> Figure:
    """Return the chance of each industry against the threshold, beside its largest one's delta."""
    best = optima(unsplit)[0]
    table = pa.Table.from_pylist(
        [row for each in industries for row in _of_industry(each, unsplit, thresholds, best)]
    )
    titles = {each.name: _title(each) for each in industries}
    picture = pa.Table.from_pylist(  # the numbers keep the plain names
        [
            {**row, "industry": titles[row["industry"]]}
            for row in table.to_pylist()
            if row["industry"] in shown
        ]
    )
    orders = {
        "industry": [titles[name] for name in shown],
        "line": [SPLIT, REVEALED, UNSPLIT, OPTIMAL],
    }
    return Figure(
        "keys-by-threshold",
        "Which industries are found, and what it costs their largest establishment",
        _alone_and_in_company(industries, unsplit, drawn),
        "Each panel is an industry of the example. Further to the left establishments are cut into "
        "more pieces. The dashed line is the delta that the policy states for the industry's "
        "largest establishment: the chance that it would show its industry if it were alone in "
        "it. Where it is alone, the two lines are one.",
        lambda width: curves(
            picture,
            width,
            x=Axis("threshold", "Threshold (employees of one piece)"),
            y=Axis("chance", "Chance"),
            colour="line",
            panels=Panels(column="industry", orders=orders),
        ),
        table,
        (
            _chances_table(industries, unsplit, [each.selecting for each in drawn], best),
            _costs_table(industries, [each.selecting for each in drawn]),
            _drawn_table(industries, drawn),
        ),
    )


def _of_industry(
    industry: Industry, unsplit: Selecting, thresholds: Sequence[int], best: Optimum
) -> list[Row]:
    """Return the four lines of an industry; two of them know no threshold."""
    flat = {
        UNSPLIT: unsplit.chance(industry),
        OPTIMAL: best.chances(len(industry.employees))[-1],
    }
    rows = []
    for threshold in thresholds:
        split = Selecting(unsplit.rho, unsplit.delta, threshold)
        values = {SPLIT: split.chance(industry), REVEALED: split.revealed(industry.giant), **flat}
        rows += [
            {"industry": industry.name, "threshold": threshold, "line": line, "chance": value}
            for line, value in values.items()
        ]
    return rows


def _title(industry: Industry) -> str:
    count = len(industry.employees)
    if count == 1:
        return f"{industry.name}: one of {industry.giant:,}"
    if min(industry.employees) == industry.giant:
        return f"{industry.name}: {count} of {industry.giant:,}"
    return f"{industry.name}: one of {industry.giant:,}, {count - 1} small"


def _alone_and_in_company(
    industries: Sequence[Industry], unsplit: Selecting, drawn: Sequence[Drawn]
) -> str:
    """Say what splitting does for a giant that is alone, and for the largest that has company."""
    alone = max((each for each in industries if len(each.employees) == 1), key=_giant)
    beside = max((each for each in industries if len(each.employees) > 1), key=_giant)
    splits = [each.selecting for each in drawn if each.selecting.threshold is not None]
    found = max((each for each in splits if each.chance(alone) < 1), key=lambda s: s.chance(alone))
    best = max(splits, key=lambda s: s.chance(beside) - s.revealed(beside.giant))
    return (
        f"{alone.name}, one establishment of {alone.giant:,}, is found with chance "
        f"{amount(unsplit.chance(alone))} unsplit and {amount(found.chance(alone), 4)} "
        f"{found.name}; exactly that is its delta, and it loses "
        f"{amount(float(found.loss(alone.giant)))} rho. Company helps: {beside.name} is found with "
        f"chance {amount(best.chance(beside))} {best.name}, where the delta of its largest is "
        f"{amount(best.revealed(beside.giant))}."
    )


def _giant(industry: Industry) -> int:
    return industry.giant


def _chances_table(
    industries: Sequence[Industry], unsplit: Selecting, ways: Sequence[Selecting], best: Optimum
) -> ShownTable:
    splits = [each for each in ways if each.threshold is not None]
    return ShownTable(
        "Chance that an industry is found",
        (
            "industry",
            "establishments",
            "employees",
            "unsplit",
            "optimal",
            *(s.name for s in splits),
        ),
        tuple(
            (
                each.name,
                str(len(each.employees)),
                amount(sum(each.employees)),
                amount(unsplit.chance(each)),
                amount(best.chances(len(each.employees))[-1]),
                *(amount(split.chance(each), 4) for split in splits),
            )
            for each in industries
        ),
    )


def _costs_table(industries: Sequence[Industry], ways: Sequence[Selecting]) -> ShownTable:
    largest = [(each.name, each.giant) for each in industries if each.giant >= 100]
    return ShownTable(
        "What finding the keys costs large establishments",
        ("establishment", "employees", "", "pieces", "loss (rho)", "delta"),
        tuple(
            (
                f"the largest of {name}",
                amount(employees),
                way.name,
                str(way.pieces(employees)),
                amount(float(way.loss(employees))),
                amount(way.revealed(employees), 4),
            )
            for name, employees in largest
            for way in ways
        ),
    )


def _drawn_table(industries: Sequence[Industry], drawn: Sequence[Drawn]) -> ShownTable:
    rows = [
        (
            industry.name,
            *(percent(each.shares[industry.name]) for each in drawn),
        )
        for industry in industries
    ]
    return ShownTable(
        f"Share of {drawn[0].copies:,} regions in which an industry was found, by real draws",
        ("industry", *(each.selecting.name for each in drawn)),
        tuple(rows),
    )
