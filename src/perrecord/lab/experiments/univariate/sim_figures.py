"""What is shown of SIM: errors against split records, errors by cell size, losses."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from perrecord.lab.experiments.univariate.loss_lines import loss_lines
from perrecord.lab.experiments.univariate.settings import Lost, Row, distribution_rows
from perrecord.lab.experiments.univariate.share_boxes import share_boxes
from perrecord.lab.experiments.univariate.sim_claims import Claimed, Needed, SameNoise, needed_words
from perrecord.report.charts import Axis, Panels, curves
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent


@dataclass(frozen=True, slots=True)
class SimResults:
    """What was measured, and the claim it is compared with."""

    claimed: Claimed
    boxes: tuple[Row, ...]
    """The five numbers of the errors, by cell size, rho and threshold."""
    by_size: tuple[Row, ...]
    """Their medians, for more cell sizes."""
    lost: tuple[Lost, ...]
    """What the records lose, by rho and threshold, the coarsest first."""
    needed: tuple[Needed, ...]
    same_noise: SameNoise
    drawn: tuple[Row, ...]
    """Medians in closed form and of one draw, in the largest cells."""
    shown_losses: tuple[int, ...]
    """The thresholds of which distributions of losses are drawn."""

    @property
    def largest(self) -> int:
        """The largest number of records in a cell."""
        return max(_sizes(self.by_size))


def figures(found: SimResults) -> tuple[Figure, ...]:
    """Return the figures in the paper's order."""
    return _errors_figure(found), _sizes_figure(found), _losses_figure(found)


def named(rows: Sequence[Row]) -> list[Row]:
    """Return rows with the size of their cells in words."""
    return [row | {"kind": f"{row['records_per_cell']:,} records a cell"} for row in rows]


def _sizes(rows: Sequence[Row]) -> list[int]:
    return sorted({row["records_per_cell"] for row in rows})


def _errors_figure(found: SimResults) -> Figure:
    own = found.claimed
    table = pa.Table.from_pylist(list(found.boxes))
    rows = [row | {"budget": f"ρ = {row['rho']:g}"} for row in named(found.boxes)]
    drawn = pa.Table.from_pylist(rows)
    met = [row for row in found.boxes if row["rho"] == float(own.rho) and row["share"] < own.share]
    best = {
        size: min(row["middle"] for row in met if row["records_per_cell"] == size)
        for size in _sizes(found.boxes)
    }
    said = " and ".join(
        f"{percent(error)} with {size:,} records in a cell" for size, error in best.items()
    )
    return Figure(
        "sim-errors",
        "SIM: errors against the share of records that lose more than ρ",
        f"At ρ = {own.rho}, with fewer than {percent(own.share)} of the records "
        f"above ρ, the median ARE goes down to {said}.",
        "Each box is the distribution of the AREs over 1,000 cells and their noise: half of them "
        "lie in the box, the line is the median, the whiskers reach from 5 % to 95 %. It stands at "
        "the share of records whose policy loss is above ρ; its threshold is written above. Green "
        "is 10 %, red 100 %.",
        lambda width: share_boxes(
            drawn,
            width,
            row="kind",
            column="budget",
            x_title="Records with policy loss above ρ",
            y_title="ARE",
        ),
        table,
        (
            _medians_table(found),
            ShownTable(
                f"A check: median ARE at ρ = {own.rho}, {found.largest:,} records a cell; "
                "one draw, which differs from run to run",
                ("threshold", "closed form", "drawn"),
                tuple(
                    (f"{row['threshold']:,}", percent(row["closed"]), percent(row["drawn"]))
                    for row in found.drawn
                ),
            ),
        ),
    )


def _medians_table(found: SimResults) -> ShownTable:
    return ShownTable(
        "Median ARE; top-coding cuts at the threshold what splitting splits, with the same noise",
        ("records a cell", "ρ", "threshold", "above ρ", "splitting", "top-coding"),
        tuple(
            (
                f"{row['records_per_cell']:,}",
                f"{row['rho']:g}",
                f"{row['threshold']:,}",
                percent(row["share"]),
                percent(row["middle"]),
                percent(row["top_coded_middle"]),
            )
            for row in found.boxes
        ),
    )


def _sizes_figure(found: SimResults) -> Figure:
    own = found.claimed
    table = pa.Table.from_pylist(list(found.by_size))
    names = [f"{size:,} a cell" for size in _sizes(found.by_size)]
    drawn = pa.Table.from_pylist(
        [
            row
            | {
                "size": f"{row['records_per_cell']:,} a cell",
                "budget": f"ρ = {row['rho']:g}",
            }
            for row in found.by_size
        ]
    )
    panels = Panels(column="budget", orders={"size": names})
    return Figure(
        "sim-cell-sizes",
        "SIM: median error by how many records a cell has",
        needed_words(found.needed, own),
        "Each line joins the thresholds, from the coarsest at the left to the finest at the right; "
        "a line for each number of records in a cell. Errors fall as T/(cell total): the threshold "
        "and the size of a cell make up for each other.",
        lambda width: curves(
            drawn,
            width,
            x=Axis("share", "Records with policy loss above ρ", "percent"),
            y=Axis("middle", "Median ARE", "percent"),
            colour="size",
            panels=panels,
            with_points=True,
        ),
        table,
        (
            ShownTable(
                f"Records a cell needs for a median ARE of {percent(own.error)} at ρ = {own.rho}",
                ("threshold", "above ρ", "records a cell"),
                tuple(
                    (
                        f"{each.threshold:,}",
                        percent(each.share),
                        f"more than {found.largest:,}" if each.size is None else f"{each.size:,}",
                    )
                    for each in found.needed
                ),
            ),
        ),
    )


def _losses_figure(found: SimResults) -> Figure:
    own = found.claimed
    shown = [each for each in found.lost if each.setting.threshold in found.shown_losses]
    table = distribution_rows(shown)
    of_one = [each for each in found.lost if each.setting.rho == own.rho]
    coarse, fine = of_one[0], of_one[-1]
    return Figure(
        "sim-losses",
        "SIM: policy losses of the records",
        f"At ρ = {own.rho}, {percent(1 - coarse.share_above, 5)} of the records lose ρ and "
        f"no more if split at {coarse.setting.label}, {percent(1 - fine.share_above)} if split at "
        f"{fine.setting.label}; the largest record loses {amount(coarse.losses.largest)} and "
        f"{amount(fine.losses.largest)}.",
        "For each loss, the share of the records that lose at most so much; a line for each "
        "threshold T. A larger ρ moves every line to the right by the same factor. The lines end "
        "where 99.9 % of the records are below under every threshold; the table has the largest "
        "losses.",
        lambda width: loss_lines(table, width),
        table,
        (
            ShownTable(
                f"Policy losses at ρ = {own.rho}",
                ("threshold", "above ρ", "half lose up to", "99 %", "99.9 %", "the largest"),
                tuple(
                    (
                        each.setting.label,
                        percent(each.share_above),
                        *(amount(each.losses.quantile(q)) for q in ("0.5", "0.99", "0.999", 1)),
                    )
                    for each in of_one
                ),
            ),
        ),
    )
