"""Blurred totals in pictures: their errors level by level, and what a change of 10 % costs."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.variants import SPLITTING
from perrecord.exact import figure_up
from perrecord.lab.experiments.cbp.agencies import AGENCIES, NOISE, Practice
from perrecord.lab.experiments.cbp.blurring import (
    BLURRING,
    BLURS,
    EVERY_CELL,
    NATION,
    NU,
    blur_name,
    large,
)
from perrecord.lab.experiments.cbp.data import LEVELS, MEASURES
from perrecord.lab.experiments.cbp.errors import TAPERING, Row
from perrecord.laws.blurring import blurred_rho_between
from perrecord.policy.policy import Policy
from perrecord.report.charts import Axis, Panels, boxes, curves
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.theme import ChartSpec, Width

SIZES = (*(first * 10**power for power in range(9) for first in (1, 2, 5)), 10**9)
"""Nine orders of magnitude."""

SHOWN = (10, 1_000, 100_000, 10**7, 10**9)
MORE, LESS = Fraction(1, 10), Fraction(-1, 10)
_NEXT_TO_NONE = Fraction(1, 10**24)
_IN_SIGHT = (1e-3, 1e3)
"""The losses that are drawn: those of splitting go on for ten orders of magnitude."""


def blurring_figure(
    rows: Sequence[Row], practice: Practice, budget: str, fewest: int, scheme: str
) -> Figure:
    """Return the errors of blurred totals beside splitting, tapering and EZS noise, by level."""
    numbers = pa.Table.from_pylist(list(rows))
    return Figure(
        "cbp-blurring",
        "Blurred totals beside splitting, tapering and EZS noise, level by level",
        _errors_finding(rows, fewest),
        "A box is about all cells of one level whose total is above 0, large and small: half of "
        "them err by what it spans, the line in it is the median, the whiskers reach from 5 % to "
        f"95 % of the cells. The table has cells of {large(fewest)}, too. Errors are expected "
        f"ones, E|noisy − true|/|true|, at the sizes and amounts of the scheme {scheme} and a "
        f"total budget of {budget}: in closed form, of EZS noise means over {practice.draws} draws "
        "from fixed seeds. EZS noise carries no formal guarantee. The dashed lines stand at 5 % "
        "(green) and 20 % (red).",
        lambda width: _drawn(numbers, width),
        numbers,
        (_errors_table(rows, fewest),),
    )


def changes_figure(at: Fraction, rho: Fraction) -> Figure:
    """Return what it costs that a value is 10 % greater, over nine orders of magnitude."""
    found = {name: [_cost(policy, size, MORE) for size in SIZES] for name, policy in _of(at, rho)}
    numbers = pa.table(
        {
            "variant": [name for name in found for _ in SIZES],
            "employees": [size for _ in found for size in SIZES],
            "loss": [loss for losses in found.values() for loss in losses],
            "at_most": [
                None if bound is None else float(bound)
                for name in found
                for bound in [_most_of(name, MORE)] * len(SIZES)
            ],
        }
    )
    return Figure(
        "cbp-changes",
        "What it costs that a value is 10 % greater, by the size of the record",
        _changes_finding(found),
        f"One total of employees, at {amount(float(at))} and rho {amount(float(rho))}: what its "
        "publication costs for a record that may have a tenth more (T27, T28). Below a loss of "
        "about 1 the two are hard to tell apart. Losses above 1,000 and below 0.001 are in the "
        "numbers and not drawn. By EZS noise and by a published cell of a "
        "suppressed table a record that is alone in its cell has no finite loss: there are "
        "numbers that only one of the two values can give.",
        lambda width: curves(
            _in_sight(numbers),
            width,
            x=Axis("employees", "Employees of the record"),
            y=Axis("loss", "Loss of a change by 10 % (rho)"),
            colour="variant",
        ),
        numbers,
        (_changes_table(at, rho),),
    )


def most(by: Fraction, share: Fraction) -> Fraction:
    """Return what a change by a share costs at most, for a record of any size (T28)."""
    return blurred_rho_between(abs(share), 1, (1 + share) ** 2, _NEXT_TO_NONE, by, NU)


def _of(at: Fraction, rho: Fraction) -> Iterator[tuple[str, Policy]]:
    yield "splitting", Policy.exact(rho, measure="emp", threshold=at)
    yield "tapering", Policy.tapered(rho, measure="emp", at=at, nu=NU)
    for by in BLURS:
        yield blur_name(by), Policy.blurred(rho, measure="emp", at=at, by=by, nu=NU)


def _most_of(name: str, share: Fraction) -> Fraction | None:
    return {blur_name(by): most(by, share) for by in BLURS}.get(name)


def _cost(policy: Policy, size: int, share: Fraction) -> float:
    after = size * (1 + share)
    return float(policy.change({"emp": size}, {"emp": after}, of_totals=True))


def _in_sight(numbers: pa.Table) -> pa.Table:
    return numbers.filter(
        pc.and_(
            pc.greater_equal(numbers["loss"], _IN_SIGHT[0]),
            pc.less_equal(numbers["loss"], _IN_SIGHT[1]),
        )
    )


def _drawn(numbers: pa.Table, width: Width) -> ChartSpec:
    shown = numbers.filter(pc.equal(numbers["of"], EVERY_CELL))
    panels = Panels(
        row="level",
        column="attribute",
        orders={
            "attribute": [*MEASURES],
            "level": [*LEVELS.values(), NATION],
            "kind": [SPLITTING, TAPERING, BLURRING, AGENCIES],
        },
    )
    return boxes(
        shown, width, x="variant", colour="kind", y_title="Expected relative error", panels=panels
    )


def _errors_finding(rows: Sequence[Row], fewest: int) -> str:
    known = {
        (row["variant"], row["level"], row["of"]): row["middle"]
        for row in rows
        if row["attribute"] == "EMP"
    }
    levels = [level for level in LEVELS.values() if ("tapering", level, EVERY_CELL) in known]
    coarse, fine = levels[0], levels[-1]
    names = ("tapering", *map(blur_name, BLURS), NOISE)

    def listed(level: str, of: str) -> str:
        return ", ".join(
            f"{percent(known[name, level, of], 2)} ({name})"
            for name in names
            if (name, level, of) in known
        )

    return (
        f"Median errors of employment in all cells: {listed(coarse, EVERY_CELL)} of {coarse}, "
        f"{listed(fine, EVERY_CELL)} of {fine}; of {coarse} in cells of {large(fewest)}: "
        f"{listed(coarse, large(fewest))}. The sum of all counties errs by "
        f"{listed(NATION, EVERY_CELL)}."
    )


def _errors_table(rows: Sequence[Row], fewest: int) -> ShownTable:
    known = {
        (row["variant"], row["level"], row["attribute"], row["of"]): row["middle"] for row in rows
    }
    cells = {
        (row["level"], row["of"]): row["cells"]
        for row in rows
        if row["attribute"] == "EMP" and row["variant"] == "tapering"
    }
    variants = dict.fromkeys(row["variant"] for row in rows)
    places = [
        (level, of)
        for level in (*LEVELS.values(), NATION)
        for of in (large(fewest), EVERY_CELL)
        if (level, of) in cells
    ]
    return ShownTable(
        "Median of the cells' expected relative errors",
        ("attribute", "level", "of", "cells", *variants),
        tuple(
            (
                attribute,
                level,
                of,
                amount(cells[level, of]),
                *(percent(known.get((name, level, attribute, of))) for name in variants),
            )
            for attribute in MEASURES
            for level, of in places
        ),
    )


def _changes_finding(found: dict[str, list[float]]) -> str:
    largest = ", ".join(f"{amount(losses[-1])} ({name})" for name, losses in found.items())
    return (
        f"That a record of {amount(SIZES[-1])} is one tenth greater costs {largest}. Blurred, no "
        "size costs more than "
        + ", ".join(f"{figure_up(most(by, MORE), 3)} ({blur_name(by)})" for by in BLURS)
        + "; a tenth less at most "
        + ", ".join(figure_up(most(by, LESS), 3) for by in BLURS)
        + "."
    )


def _changes_table(at: Fraction, rho: Fraction) -> ShownTable:
    return ShownTable(
        "Loss (rho) of a change by 10 %, by employees of the record",
        ("way", "change", *(amount(size) for size in SHOWN), "at most"),
        tuple(
            (
                name,
                words,
                *(amount(_cost(policy, size, share)) for size in SHOWN),
                "–" if (bound := _most_of(name, share)) is None else figure_up(bound, 3),
            )
            for name, policy in _of(at, rho)
            for words, share in (("a tenth more", MORE), ("a tenth less", LESS))
        ),
    )
