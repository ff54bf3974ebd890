"""Relative errors of County Business Patterns: top-coding under zCDP, splitting, tapering.

A row of the errors table is one box: the five numbers of the relative errors of one attribute over
the cells of one level and over the noise, under one variant and one total budget. Other methods
append rows of theirs, over cells, with `error_row`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord import Split
from perrecord.evaluate.accuracy.errors import CellErrors, accuracy, simulated_error
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.evaluate.variants import SPLITTING, TOP_CODING, Variant, top_coded
from perrecord.exact import text
from perrecord.lab.experiments.cbp.data import (
    ATTRIBUTES,
    LEVELS,
    MEASURES,
    Establishments,
    even,
    tapered,
    workload,
)
from perrecord.lab.experiments.cbp.pooled import KeptQuantiles, pooled_quantiles, pooled_share
from perrecord.lab.experiments.quantiles import five_numbers, quantiles
from perrecord.laws.tapering import NARROWEST, least_spread_for_rho
from perrecord.queries.groupings import WhichCells
from perrecord.queries.plan import plan

Row = dict[str, Any]

TAPERING = "tapering"
"""The kind of what the paper does not have, beside top-coding and splitting."""

GOOD, BAD = 0.05, 0.2
"""The lines of the paper: errors that are fit for use, and errors that are not."""

EVERY_LEVEL = "all levels"

ORDERS: dict[str, Sequence[str]] = {
    "attribute": ATTRIBUTES,
    "level": (*LEVELS.values(), EVERY_LEVEL),
}
"""The order in which figures show what they show."""

SCHEMA = pa.schema(
    {
        "budget": pa.string(),
        "kind": pa.string(),
        "variant": pa.string(),
        "level": pa.string(),
        "attribute": pa.string(),
        **dict.fromkeys(FIVE, pa.float64()),
        "cells": pa.int64(),
        "zeros": pa.int64(),
        "hidden": pa.int64(),
        "above_5_percent": pa.float64(),
        "above_20_percent": pa.float64(),
        "bias": pa.float64(),
        "drawn": pa.float64(),
    }
)
"""The errors table. `above_5_percent` is a share of the errors, over cells and noise; `bias` is the
median of |bias|/|true|; `drawn`, the median of one draw, changes from run to run."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelErrors:
    """The errors of one attribute in the evaluated cells of one level, under one variant."""

    budget: Fraction
    variant: Variant
    level: int
    errors: CellErrors

    @property
    def attribute(self) -> str:
        """Which attribute it is."""
        return self.errors.truth.answer.name


def variants_of(
    cells: Mapping[int, WhichCells],
    budget: Fraction,
    splits: Mapping[str, Split],
    top_codes: Mapping[str, Split],
    levels: Sequence[int],
) -> list[Variant]:
    """Return the workload top-coded and split by each scheme, for a total policy minimum.

    The budget is shared out over all levels, whether or not a level has cells to look at.
    """
    amounts = even(budget, levels)
    written = workload(cells, next(iter(splits.values())), amounts)
    coded = [
        Variant(f"top-code {name}", TOP_CODING, top_coded(written, scheme))
        for name, scheme in top_codes.items()
    ]
    split = [
        Variant(f"split {name}", SPLITTING, workload(cells, scheme, amounts))
        for name, scheme in splits.items()
    ]
    return [*coded, *split]


def tapered_variants(
    cells: Mapping[int, WhichCells],
    budget: Fraction,
    splits: Mapping[str, Split],
    levels: Sequence[int],
) -> list[Variant]:
    """Return the workload tapered at each scheme's thresholds, for the same amounts.

    The paper has no tapering. Where its noise would be less than five steps wide it is not offered,
    and left out.
    """
    amounts = even(budget, levels)
    return [
        Variant(f"taper {name}", TAPERING, workload(cells, tapered(scheme), amounts))
        for name, scheme in splits.items()
        if _is_wide(scheme, min(amounts.values()))
    ]


def _is_wide(scheme: Split, rho: Fraction) -> bool:
    least = min(scheme.threshold(measure) for measure in scheme.measures)
    return least_spread_for_rho(rho, least, 7) >= NARROWEST


def measured(
    data: Establishments,
    budgets: Sequence[Fraction],
    splits: Mapping[str, Split],
    top_codes: Mapping[str, Split],
) -> list[LevelErrors]:
    """Return the laws of the errors in the evaluated cells; one scan serves all variants."""
    cells = data.evaluated
    asked = [
        (budget, variant, level, query)
        for budget in budgets
        for variant in (
            *variants_of(cells, budget, splits, top_codes, data.levels),
            *tapered_variants(cells, budget, splits, data.levels),
        )
        for level, query in zip(cells, variant.queries, strict=True)
    ]
    planned = plan([query for *_, query in asked], data.table.schema)
    return [
        LevelErrors(*asked[errors.truth.query][:3], errors)
        for errors in accuracy(planned, data.table)
    ]


def error_rows(found: Sequence[LevelErrors], *, draws_for: Fraction | None = None) -> list[Row]:
    """Return a row for each level, and one for all levels together; draws at one budget alone."""
    kept: KeptQuantiles = {}
    return [
        _row(group, level, kept, with_draws=group[0].budget == draws_for)
        for level, group in _groups(found)
    ]


def error_row(
    relative: Floats,
    *,
    kind: str,
    variant: str,
    level: str,
    attribute: str,
    budget: str | None = None,
    bias: Floats | None = None,
    drawn: Floats | None = None,
    hidden: int = 0,
) -> Row:
    """Return a row of the errors table: what a box shows of relative errors over cells.

    Errors that are NaN are counted and left out: `hidden` cells that are not published, and those
    whose true number is 0.

    >>> row = error_row(np.array([0.01, 0.03, 0.3, np.nan]), kind="none", variant="rounding",
    ...                 level="2 digits", attribute="EMP")
    >>> row["middle"], row["cells"], row["zeros"], row["above_20_percent"]
    (0.03, 4, 1, 0.333...)
    """
    known = relative[~np.isnan(relative)]
    return {
        "budget": budget,
        "kind": kind,
        "variant": variant,
        "level": level,
        "attribute": attribute,
        **five_numbers(known),
        "cells": len(relative),
        "zeros": len(relative) - len(known) - hidden,
        "hidden": hidden,
        "above_5_percent": float((known > GOOD).mean()) if len(known) else None,
        "above_20_percent": float((known > BAD).mean()) if len(known) else None,
        "bias": None if bias is None else _median(bias),
        "drawn": None if drawn is None else _median(drawn),
    }


def errors_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as the table that figures are drawn from."""
    return pa.Table.from_pylist(list(rows), SCHEMA)


def medians_of_all_cells(
    data: Establishments, found: Sequence[LevelErrors]
) -> dict[str, list[float]]:
    """Return, for each magnitude, the median by level over every cell that the data holds.

    It is the median of expected errors. Without a bias such an error is the size of the noise, the
    same in all cells of an answer, over the true number. Levels without an evaluated cell are left
    out.
    """
    medians: dict[str, list[float]] = {}
    for each in found:
        if each.attribute in MEASURES:
            true = data.cells[each.level].totals[each.attribute]
            error = float(each.errors.noise_size[0]) / np.abs(true[true != 0])
            medians.setdefault(each.attribute, []).append(_median(error) or 0.0)
    return medians


def _groups(found: Sequence[LevelErrors]) -> Iterator[tuple[str, list[LevelErrors]]]:
    """Give what belongs to one box: each by itself, then all levels of an attribute together."""
    for each in found:
        yield LEVELS[each.level], [each]
    together: dict[tuple[Fraction, str, str], list[LevelErrors]] = {}
    for each in found:
        together.setdefault((each.budget, each.variant.name, each.attribute), []).append(each)
    for group in together.values():
        yield EVERY_LEVEL, group


def _row(group: Sequence[LevelErrors], level: str, kept: KeptQuantiles, *, with_draws: bool) -> Row:
    first = group[0]
    errors = [each.errors for each in group]
    drawn = None
    if with_draws and level != EVERY_LEVEL:
        drawn = np.concatenate([simulated_error(each, 1) for each in errors])
    row = error_row(
        np.concatenate([each.relative(each.size) for each in errors]),
        kind=first.variant.kind,
        variant=first.variant.name,
        level=level,
        attribute=first.attribute,
        budget=text(first.budget),
        bias=np.concatenate([each.relative(np.abs(each.bias)) for each in errors]),
        drawn=drawn,
    )
    return row | spread_over_noise(errors, kept)


def spread_over_noise(errors: Sequence[CellErrors], kept: KeptQuantiles | None = None) -> Row:
    """Return what a box shows of the errors of several answers, over their cells and the noise."""
    known = [each for each in errors if not each.is_zero.all()]
    if not known:
        return {}
    return {
        **dict(zip(FIVE, pooled_quantiles(known, list(FIVE.values()), kept), strict=True)),
        "above_5_percent": 1 - pooled_share(known, GOOD),
        "above_20_percent": 1 - pooled_share(known, BAD),
    }


def _median(numbers: Floats) -> float | None:
    return quantiles(numbers[~np.isnan(numbers)], (0.5,))[0]
