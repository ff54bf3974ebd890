"""What agencies use today, on the same establishments: EZS noise and suppressed cells.

Neither has a budget, for neither carries a formal guarantee. Both leave counts as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.lab.experiments.agencies.cell_sizes import Floats, Whole, size_classes
from perrecord.lab.experiments.agencies.multiplicative_noise import (
    RECORDS,
    Distortion,
    noisy_column,
    noisy_totals,
)
from perrecord.lab.experiments.agencies.tables import suppressed_areas, suppression_costs
from perrecord.lab.experiments.cbp.data import (
    COUNTS,
    LEVELS,
    MEASURES,
    Establishments,
    columns_of,
)
from perrecord.lab.experiments.cbp.errors import LevelErrors, Row, error_row
from perrecord.lab.experiments.experiment import Tell
from perrecord.lab.experiments.quantiles import five_numbers

AGENCIES = "no formal guarantee"
"""The kind of both, beside top-coding and splitting."""

NOISE, SUPPRESSION = "EZS noise", "suppression"
SECTORS = 2
"""Digits of the industries whose table with margins is suppressed: county × sector."""


@dataclass(frozen=True, slots=True)
class Practice:
    """How agencies are taken to do it; their own numbers are secret."""

    distortion: Distortion = Distortion()  # noqa: RUF009 - frozen
    draws: int = 10
    """Errors of EZS noise are means over so many draws, from seeds 1, 2, ..."""
    p: int = 10


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCells:
    """All cells of a level under EZS noise: |noisy - true|/true, to be expected."""

    records: Whole
    errors: Mapping[str, Floats]
    """Attribute -> a number for each cell, NaN where the true one is 0."""
    whole: Mapping[str, float]
    """Attribute -> the error to be expected of the sum of all cells, as a share of it."""
    shown_alone: tuple[int, int]
    """Cells of one establishment with employment, and those that noise moved within its limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Agencies:
    """What the two practices cost: rows of the errors table, and tables by size of the cells."""

    rows: list[Row]
    by_size: list[Row]
    suppressed: pa.Table
    """Attribute, level, size -> shares of the cells that are hidden, as in `suppression_costs`."""
    noise: Mapping[int, NoisyCells]
    """All cells of each level under EZS noise."""
    occupied: int
    shown_alone: tuple[int, int]


def measured_agencies(
    data: Establishments, practice: Practice, split: Sequence[LevelErrors], step: Tell
) -> Agencies:
    """Return the errors of EZS noise at every level, and what suppression hides of county × sector.

    `split` are the errors of the splitting schemes that stand beside them by size of the cells.
    """
    step("CBP: EZS noise")
    noisy = {level: noisy_cells(data, level, practice) for level in data.levels}
    rows = [row for level, cells in noisy.items() for row in _noise_rows(cells, level, data.fewest)]
    found = []
    for attribute, measure in MEASURES.items():
        step(f"CBP: suppressing cells of {attribute}")
        table = suppressed_areas(
            data.rows_at(SECTORS), measure, column=columns_of(SECTORS)[-1], p=practice.p
        )
        rows += [
            _suppression_row(data, level, attribute, table)
            for level in (0, SECTORS)
            if level in data.evaluated
        ]
        costs = suppression_costs(table)
        names = pa.array([attribute] * costs.num_rows, pa.string())
        found.append(costs.add_column(0, "attribute", names))
    rows += [
        _exact_count(data, level, attribute)
        for level in (0, SECTORS)
        if level in data.evaluated
        for attribute in COUNTS
    ]
    sectors = noisy[SECTORS]
    return Agencies(
        rows,
        _by_size(data, sectors, split),
        pa.concat_tables(found),
        noisy,
        len(sectors.records),
        sectors.shown_alone,
    )


def noisy_cells(data: Establishments, level: int, practice: Practice) -> NoisyCells:
    """Return the errors of EZS noise in all cells of a level, over several draws."""
    records = data.rows_at(level)
    sums: dict[str, Floats] = {}
    whole = dict.fromkeys(MEASURES, 0.0)
    alone = moved = 0
    limits = practice.distortion
    for seed in range(1, practice.draws + 1):
        found = noisy_totals(
            records,
            columns_of(level),
            [*MEASURES.values()],
            unit="firm",
            seed=seed,
            distortion=limits,
        )
        for attribute, measure in MEASURES.items():
            true = found[measure].to_numpy().astype(np.float64)
            noisy = found[noisy_column(measure)].to_numpy()
            error = np.full(len(true), np.nan)
            np.divide(np.abs(noisy - true), true, out=error, where=true != 0)
            sums[attribute] = sums.get(attribute, 0.0) + error
            whole[attribute] += abs(noisy.sum() - true.sum()) / true.sum() / practice.draws
            if seed == 1 and attribute == "EMP":
                single = error[(found[RECORDS].to_numpy() == 1) & (true != 0)]
                alone = len(single)
                moved = int(((single > limits.least - 1e-9) & (single < limits.most + 1e-9)).sum())
    errors = {attribute: each / practice.draws for attribute, each in sums.items()}
    return NoisyCells(found[RECORDS].to_numpy(), errors, whole, (alone, moved))


def _noise_rows(cells: NoisyCells, level: int, fewest: int) -> list[Row]:
    """Return the boxes of a level, over the cells that are evaluated."""
    is_large = cells.records >= fewest
    if not is_large.any():
        return []
    exact = dict.fromkeys(COUNTS, np.zeros(len(is_large)))
    return [
        error_row(
            errors[is_large],
            kind=AGENCIES,
            variant=NOISE,
            level=LEVELS[level],
            attribute=attribute,
        )
        for attribute, errors in {**exact, **cells.errors}.items()
    ]


def _suppression_row(data: Establishments, level: int, attribute: str, table: pa.Table) -> Row:
    """Return the box of the cells that are published, exactly, and how many are not."""
    name = "cell" if level else "row margin"
    shown = table.filter(
        pc.and_(pc.equal(table["level"], name), pc.equal(table["status"], "published"))
    )
    errors = data.cells[level].relative_errors(attribute, shown, "total")
    hidden = int((np.isnan(errors) & (data.cells[level].true(attribute) != 0)).sum())
    return error_row(
        errors,
        kind=AGENCIES,
        variant=SUPPRESSION,
        level=LEVELS[level],
        attribute=attribute,
        hidden=hidden,
    )


def _exact_count(data: Establishments, level: int, attribute: str) -> Row:
    return error_row(
        np.zeros(int(data.cells[level].is_large.sum())),
        kind=AGENCIES,
        variant=SUPPRESSION,
        level=LEVELS[level],
        attribute=attribute,
    )


def _by_size(data: Establishments, noisy: NoisyCells, split: Sequence[LevelErrors]) -> list[Row]:
    """Return the boxes of county × sector by size of the cells: EZS noise, then each scheme.

    Without a bias the error of a scheme is the size of its noise, the same in all cells of an
    answer, over the true number.
    """
    rows = []
    for attribute in MEASURES:
        for size, cells in size_classes(noisy.records):
            rows.append(_sized(NOISE, attribute, size, noisy.errors[attribute][cells]))
    held = data.cells[SECTORS].totals
    for each in split:
        if each.level == SECTORS and each.attribute in MEASURES:
            true = np.abs(held[each.attribute])
            for size, cells in size_classes(held["ESTAB"].astype(np.int64)):
                known = true[cells & (true != 0)]
                errors = float(each.errors.noise_size[0]) / known
                rows.append(_sized(each.variant.name, each.attribute, size, errors))
    return rows


def _sized(variant: str, attribute: str, size: str, errors: Floats) -> Row:
    known = errors[~np.isnan(errors)]
    place = {"attribute": attribute, "variant": variant, "size": size, "cells": len(known)}
    return place | five_numbers(known)
