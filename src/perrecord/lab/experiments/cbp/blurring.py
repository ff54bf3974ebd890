"""Errors of blurred totals (T28) beside splitting, tapering and EZS noise, level by level.

All at the sizes and amounts of one splitting scheme. A cell's error is the expected one,
E|noisy − true|/|true|. Blurred noise has A = A0 + nu by^2 Q, where Q, the sum of the cell's squared
values, is found here by lines of this module's own; a test compares them with what `evaluate` says.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord import Split
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.variants import SPLITTING
from perrecord.lab.experiments.cbp.agencies import AGENCIES, NOISE, NoisyCells
from perrecord.lab.experiments.cbp.data import LEVELS, MEASURES, Establishments, columns_of, even
from perrecord.lab.experiments.cbp.errors import TAPERING, Row
from perrecord.lab.experiments.quantiles import five_numbers
from perrecord.laws.blurring import least_blurred_spread_for_rho
from perrecord.laws.tapering import least_spread_for_rho

BLURRING = "blurring"
BLURS = tuple(Fraction(each, 100) for each in (5, 10, 20))
NU = 7

NATION = "sum of all counties"
"""The level of what all counties come to together, whose noise averages out."""

EVERY_CELL = "all cells"

_NORMAL_SIZE = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z: sums of many cells are about normal."""
_STUDENT_SIZE = 2 / (NU - 1) * math.gamma((NU + 1) / 2) / (math.sqrt(math.pi) * math.gamma(NU / 2))
"""E|Z| / sqrt A of noise with a density (A + x^2)^-((nu + 1) / 2)."""


@dataclass(frozen=True, slots=True)
class ComparedWay:
    """A way to publish a total: its noise has the variance that Q gives, Student's or normal."""

    kind: str
    name: str
    least: float
    """A0 of Student noise; of normal noise the variance."""
    by: float = 0.0

    def spreads(self, squares: Floats) -> Floats:
        """Return A of cells with these sums of squares."""
        return np.asarray(self.least + NU * self.by**2 * squares)

    def sizes(self, squares: Floats) -> Floats:
        """Return E|noise| of the cells."""
        constant = _NORMAL_SIZE if self.kind == SPLITTING else _STUDENT_SIZE
        return np.asarray(constant * np.sqrt(self.spreads(squares)))

    def of_all(self, squares: Floats) -> float:
        """Return E|sum of the cells' noise|, about: as if it were normal."""
        degrees = 1 if self.kind == SPLITTING else NU - 2
        return _NORMAL_SIZE * math.sqrt(float(self.spreads(squares).sum()) / degrees)


def ways(at: Fraction, rho: Fraction) -> tuple[ComparedWay, ...]:
    """Return splitting and tapering at a size and an amount, and every blur of that taper.

    >>> [each.name for each in ways(Fraction(5), Fraction(1, 30))]
    ['splitting', 'tapering', 'blur 5 %', 'blur 10 %', 'blur 20 %']
    """
    return (
        ComparedWay(SPLITTING, "splitting", float(at**2 / (2 * rho))),
        ComparedWay(TAPERING, "tapering", float(least_spread_for_rho(rho, at, NU))),
        *(
            ComparedWay(
                BLURRING,
                blur_name(by),
                float(least_blurred_spread_for_rho(rho, at, by, NU)),
                float(by),
            )
            for by in BLURS
        ),
    )


def blur_name(by: Fraction) -> str:
    """Return what totals that are blurred by so much are called."""
    return f"blur {float(100 * by):g} %"


def blurring_rows(
    data: Establishments, scheme: Split, budget: Fraction, noisy: Mapping[int, NoisyCells]
) -> list[Row]:
    """Return a row for each way, level, attribute and set of cells: the five numbers of a box.

    The sets are the cells that are evaluated and all whose total is not 0. Last the sum of all
    counties, one number for each way.
    """
    amounts = even(budget, data.levels)
    found: list[Row] = []
    for level in data.levels:
        held = _held(data, level)
        records = held["records"].to_numpy()
        for attribute, measure in MEASURES.items():
            true, squares = (_floats(held, f"{measure}{each}") for each in ("", "_squares"))
            known = true != 0
            offered = ways(scheme.threshold(measure), amounts[level, attribute])
            errors = {way: way.sizes(squares[known]) / np.abs(true[known]) for way in offered}
            for way, each in errors.items():
                place = _place(way.kind, way.name, LEVELS[level], attribute)
                found += _boxes(place, each, records[known], data.fewest)
            ezs = noisy[level].errors[attribute]
            is_known = ~np.isnan(ezs)
            place = _place(AGENCIES, NOISE, LEVELS[level], attribute)
            found += _boxes(place, ezs[is_known], noisy[level].records[is_known], data.fewest)
            if level == 0:
                found += _nation(attribute, offered, true, squares, noisy[0].whole[attribute])
    return found


def _held(data: Establishments, level: int) -> pa.Table:
    """Return the cells that the data holds: records, totals and sums of squares."""
    rows = data.rows_at(level)
    columns = {name: rows[name] for name in columns_of(level)}
    for measure in MEASURES.values():
        values = pc.fill_null(rows[measure], 0).cast(pa.float64())
        columns[measure] = values
        columns[f"{measure}_squares"] = pc.multiply(values, values)
    names = [name for name in columns if name not in columns_of(level)]
    grouped = (
        pa.table(columns)
        .unify_dictionaries()
        .group_by(list(columns_of(level)), use_threads=False)
        .aggregate([([], "count_all"), *((name, "sum") for name in names)])
    )
    return grouped.select(["count_all", *(f"{name}_sum" for name in names)]).rename_columns(
        ["records", *names]
    )


def _floats(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy())


def _place(kind: str, variant: str, level: str, attribute: str) -> Row:
    return {"kind": kind, "variant": variant, "level": level, "attribute": attribute}


def _boxes(
    place: Row, errors: Floats, records: npt.NDArray[np.int64], fewest: int
) -> Iterator[Row]:
    for name, shown in ((large(fewest), errors[records >= fewest]), (EVERY_CELL, errors)):
        if len(shown):
            yield {**place, "of": name, "cells": len(shown), **five_numbers(shown)}


def large(fewest: int) -> str:
    """Return what the cells are called that are evaluated."""
    return f"{fewest} or more establishments"


def _nation(
    attribute: str, offered: Sequence[ComparedWay], true: Floats, squares: Floats, ezs: float
) -> Iterator[Row]:
    total = float(true.sum())
    for kind, name, error in (
        *((way.kind, way.name, way.of_all(squares) / total) for way in offered),
        (AGENCIES, NOISE, ezs),
    ):
        same = dict.fromkeys(five_numbers(np.zeros(1)), error)
        yield {**_place(kind, name, NATION, attribute), "of": EVERY_CELL, "cells": 1, **same}
