"""How accurate tables that follow are: sums of published cells, fitted where tables are (T31, T32).

Nothing is drawn for them, so their errors follow from those of the table that they are added up
from. Relative errors take the true numbers, and are confidential.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from perrecord.evaluate.accuracy.errors import CellErrors
from perrecord.evaluate.accuracy.fitted import FittedFamily, normal_sizes
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.summaries import Row, middle
from perrecord.queries.hierarchies import Member, SummedTable
from perrecord.queries.hierarchies.sums import rows_above
from perrecord.release.processing.fits import sums_beside
from perrecord.released.fitting.trees import Indices


def following_rows(
    fits: FittedFamily, tables: Sequence[str], errors: Mapping[Member, CellErrors]
) -> Iterator[Row]:
    """Yield a row for each answer of each table that follows from a family's.

    Before is the error of the sum of published cells, after that of the column that is published.
    """
    family = fits.family
    for number, table in enumerate((*family.following, *family.beside)):
        for place, member in enumerate(family.members):
            if member.grouping != table.source or member.answer not in table.answers:
                continue
            rows, fitted = _summed(fits, table, number, place)
            own, count = errors[member], table.keys.table.num_rows

            def total(numbers: Floats, rows: Indices = rows, count: int = count) -> Floats:
                return np.asarray(np.bincount(rows, numbers, count + 1)[:-1], dtype=np.float64)

            noise = np.sqrt(total(np.broadcast_to(fits.noise[place], len(rows)) ** 2))
            true, bias = total(own.true), np.abs(total(own.bias))
            yield {
                "table": table.name,
                "level": ", ".join(table.columns) or "all",
                "answer": member.answer,
                "cells": count,
                "zeros": int((true == 0).sum()),
                "before": _middle(normal_sizes(noise, bias), true),
                "after": None if fitted is None else _middle(normal_sizes(fitted, bias), true),
                "standard_error_ratio": None if fitted is None else middle(fitted / noise),
                "follows": tables[table.source],
            }


def _summed(
    fits: FittedFamily, table: SummedTable, number: int, place: int
) -> tuple[Indices, Floats | None]:
    """Return for each row of the source the row above, and fitted standard errors of these."""
    family = fits.family
    if number >= len(family.following):
        rows, variances = sums_beside(family, table, place, fits.fit, fits.planned, fits.declared)
        return rows, None if variances is None else np.sqrt(variances)
    above = len(family.members) + number
    return rows_above(family, fits.layout, above, place), fits.fitted(above)


def _middle(sizes: Floats, true: Floats) -> float | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        return middle(np.where(true == 0, np.nan, sizes / np.abs(true)))
