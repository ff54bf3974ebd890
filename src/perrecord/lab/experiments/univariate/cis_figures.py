"""What is shown of CIS: errors of totals and averages, losses of the workload, the claims."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from perrecord.evaluate.losses.realised import Losses
from perrecord.exact import text
from perrecord.lab.experiments.experiment import Claim
from perrecord.lab.experiments.univariate.claims import better_at_little_loss, moving_distributions
from perrecord.lab.experiments.univariate.loss_lines import loss_lines
from perrecord.lab.experiments.univariate.settings import (
    Lost,
    Row,
    Setting,
    distribution_rows,
)
from perrecord.lab.experiments.univariate.share_boxes import LIMITS, share_boxes
from perrecord.report.charts import Panels, boxes
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent

STATE, DISTRICT = "State", "State × AD"
AVERAGE = "AVG(PastureRent)"
_GOAL = LIMITS[0][0]


@dataclass(frozen=True, slots=True)
class CisResults:
    """What was measured; findings speak of the stated rho."""

    stated_rho: str
    total: str
    """The answer that is split, as it is named."""
    has_rents: bool
    """Without them nothing but totals is asked."""
    boxes: tuple[Row, ...]
    """The five numbers of every answer, and the share of records above the least loss."""
    lost: tuple[Lost, ...]
    """What the whole workload costs, setting by setting."""
    realised: tuple[tuple[Setting, Losses], ...]
    """Policy and realised losses at the stated rho."""
    drawn: tuple[Row, ...]
    """Medians in closed form and of one draw."""

    def of(self, answer: str) -> list[Row]:
        """Return the boxes of one answer that has errors at all."""
        return [r for r in self.boxes if r["answer"] == answer and r["middle"] is not None]


def in_words(*, has_rents: bool) -> str:
    """Return how many queries are asked: two of totals and, with rents, two of averages."""
    return "four" if has_rents else "two"


def figures(found: CisResults) -> tuple[Figure, ...]:
    """Return the figures; without rents there is none of averages."""
    every = (_totals(found), _averages(found), _losses(found))
    return tuple(each for each in every if each is not None)


def claims(found: CisResults) -> tuple[Claim, ...]:
    """Return the claims that the paper makes of SIM and CIS alike."""
    rows = [row | {"kind": row["table"]} for row in found.of(found.total)]
    return better_at_little_loss(rows, found.stated_rho), moving_distributions(found.lost)


def _totals(found: CisResults) -> Figure:
    rows = found.of(found.total)
    shown = pa.Table.from_pylist([row | {"budget": f"ρ = {row['rho']:g}"} for row in rows])
    return Figure(
        "cis-errors",
        f"CIS: errors of {found.total} against the share of records that are split",
        " ".join(_reached(rows, found.stated_rho, table) for table in (STATE, DISTRICT)),
        "Each box is the distribution of the AREs over the cells of one table and their noise: "
        "half of them lie in the box, the line is the median, the whiskers reach from 5 % to 95 %. "
        "It stands at the share of records that lose more than PolicyMin, which are those larger "
        "than the threshold written above it. Green is 10 %, red 100 %.",
        lambda width: share_boxes(
            shown,
            width,
            row="table",
            column="budget",
            x_title="Records above PolicyMin",
            y_title="ARE",
        ),
        pa.Table.from_pylist(rows),
        (_medians(rows), _check(found)),
    )


def _reached(rows: Sequence[Row], rho: str, table: str) -> str:
    """Return in words at which threshold the median comes within 10 %, for how many records."""
    own = [row for row in rows if row["table"] == table and row["rho"] == float(rho)]
    met = [row for row in own if row["middle"] <= _GOAL]
    if not met:
        least = min(own, key=lambda row: float(row["middle"]))
        return (
            f"By {table}, at ρ = {rho}, no threshold brings the median ARE of totals to "
            f"{percent(_GOAL)}; the least is {percent(least['middle'])}."
        )
    coarse = max(met, key=lambda row: int(row["threshold"]))
    return (
        f"By {table}, at ρ = {rho}, the median ARE of totals is {percent(coarse['middle'])} "
        f"with a threshold of {coarse['threshold']:,}, which {percent(coarse['share'])} of the "
        "records exceed."
    )


def _medians(rows: Sequence[Row]) -> ShownTable:
    return ShownTable(
        "Median ARE of totals; top-coding cuts at the threshold what splitting splits, with the "
        "same noise",
        ("cells", "ρ", "threshold", "above PolicyMin", "splitting", "top-coding"),
        tuple(
            (
                row["table"],
                f"{row['rho']:g}",
                f"{row['threshold']:,}",
                percent(row["share"]),
                percent(row["middle"]),
                percent(row["top_coded_middle"]),
            )
            for row in rows
        ),
    )


def _check(found: CisResults) -> ShownTable:
    delta = ". Averages are by the delta method, which small cells strain"
    return ShownTable(
        "A check: median ARE at the largest threshold; one draw, which differs from run to run"
        f"{delta if found.has_rents else ''}",
        ("ρ", "cells", "answer", "closed form", "drawn"),
        tuple(
            (
                f"{row['rho']:g}",
                row["table"],
                row["answer"],
                percent(row["closed"]),
                percent(row["drawn"]),
            )
            for row in found.drawn
        ),
    )


def _averages(found: CisResults) -> Figure | None:
    every = found.of(AVERAGE)
    if not every:
        return None
    coarsest = max(row["threshold"] for row in every)
    names = ("table", "rho", "cells", "zeros", "low", "lower", "middle", "upper", "high")
    rows = [{name: row[name] for name in names} for row in every if row["threshold"] == coarsest]
    shown = pa.Table.from_pylist([row | {"budget": f"ρ = {row['rho']:g}"} for row in rows])
    own = {row["table"]: row for row in rows if row["rho"] == float(found.stated_rho)}
    said = " and ".join(f"{percent(row['middle'])} by {table}" for table, row in own.items())
    budgets = [f"ρ = {rho:g}" for rho in sorted({row["rho"] for row in rows})]
    return Figure(
        "cis-rents",
        "CIS: errors of average rents under plain zCDP",
        f"At ρ = {found.stated_rho}, the median ARE of average rents is {said}: bounded measures "
        "need no splitting, and no threshold changes them.",
        "Boxes as before, by budget. Errors are by the delta method, from the noise of the centred "
        "total and of the count; cells without a rent are left out. Green is 10 %, red 100 %.",
        lambda width: boxes(
            shown,
            width,
            x="budget",
            colour="table",
            y_title="ARE",
            panels=Panels(column="table", orders={"table": (STATE, DISTRICT), "budget": budgets}),
            limits=LIMITS,
        ),
        pa.Table.from_pylist(rows),
    )


def _losses(found: CisResults) -> Figure:
    table = distribution_rows(found.lost)
    stated = [each for each in found.lost if each.setting.rho == found.stated_rho]
    minima = "; ".join(
        f"{text(each.minimum)} at ρ = {each.setting.rho}"
        for each in found.lost
        if each.setting.threshold == stated[0].setting.threshold
    )
    fine = stated[-1]
    number = in_words(has_rents=found.has_rents)
    return Figure(
        "cis-losses",
        "CIS: policy losses of the records to the whole workload",
        f"The {number} queries compose to a policy with PolicyMin {minima}. At "
        f"ρ = {found.stated_rho}, {percent(1 - stated[0].share_above, 4)} of the records lose no "
        f"more than that if split at {stated[0].setting.label}, {percent(1 - fine.share_above)} if "
        f"split at {fine.setting.label}; the largest record loses "
        f"{amount(stated[0].losses.largest)} and {amount(fine.losses.largest)}.",
        f"For each loss, the share of the records that lose at most so much to the {number} "
        "queries together; a line for each threshold T. The lines end where 99.9 % of the records "
        "are below under every threshold; the table has the largest losses.",
        lambda width: loss_lines(table, width),
        table,
        (_composed(found), _realised(found)),
    )


def _composed(found: CisResults) -> ShownTable:
    return ShownTable(
        "The whole workload: what any record loses at least, and what the records of the data lose",
        ("ρ of each query", "threshold", "PolicyMin", "above it", "half lose up to", "99 %",
         "the largest"),
        tuple(
            (
                each.setting.rho,
                each.setting.label,
                text(each.minimum),
                percent(each.share_above),
                *(amount(each.losses.quantile(share)) for share in ("0.5", "0.99", 1)),
            )
            for each in found.lost
        ),
    )  # fmt: skip


def _realised(found: CisResults) -> ShownTable:
    return ShownTable(
        f"What is promised and what is really lost, at ρ = {found.stated_rho}",
        ("threshold", "half: policy", "half: realised", "99 %: policy", "99 %: realised"),
        tuple(
            (
                setting.label,
                *(
                    amount(each.quantile(share))
                    for share in ("0.5", "0.99")
                    for each in (lost.policy, lost.realised)
                ),
            )
            for setting, lost in found.realised
        ),
    )
