"""The errors of many cells as a few numbers: what a box plot shows, for each table and answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perrecord.evaluate.accuracy import CellErrors
from perrecord.evaluate.noise_size import Floats
from perrecord.evaluate.quantile_errors import QuantileErrors
from perrecord.evaluate.simulation import simulated_error
from perrecord.evaluate.summaries import SIZES, summary_rows
from perrecord.evaluate.within import known_within, share_of, within_column
from perrecord.exact import Exact, rational

Row = dict[str, Any]

FIVE = {"low": 0.05, "lower": 0.25, "middle": 0.5, "upper": 0.75, "high": 0.95}
"""The five numbers of a box, and the shares of the cells that lie at or below them."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerErrors:
    """The errors of one answer of one table, under one variant of a workload."""

    variant: str
    kind: str
    table: str
    errors: CellErrors | QuantileErrors

    @property
    def labels(self) -> dict[str, Any]:
        """What tells a row from others."""
        answer = self.errors.truth.answer.name
        return {
            "variant": self.variant,
            "kind": self.kind,
            "table": self.table,
            "answer": answer,
        }


def box(each: AnswerErrors, limits: Sequence[Exact]) -> Row:
    """Return the five numbers of expected relative errors, and the shares of cells within limits.

    The shares are of cells whose error, bias included, stays within the limit with the confidence
    that the errors were computed for. Cells whose true number is 0 are counted and left out.
    """
    errors = each.errors
    row = each.labels | _five(errors.relative(errors.size))
    row |= {"cells": len(errors.true), "zeros": int(errors.is_zero.sum())}
    for limit in map(rational, limits):
        row[within_column(limit)] = share_of(known_within(errors, limit))
    return row


def noise_and_bias(each: AnswerErrors) -> list[Row]:
    """Return the five numbers of the noise alone, E|noise|/|true|, and of the bias alone.

    `raised` is the share of the biased cells whose number the bias takes further from 0: bounds can
    cut large values off, and lift small ones up to the lower bound.
    """
    errors = each.errors
    is_biased = ~errors.is_zero & (errors.bias != 0)
    raised = share_of(errors.bias[is_biased] * errors.true[is_biased] > 0)
    parts = (("noise", errors.noise_size, None), ("bias", np.abs(errors.bias), raised))
    return [
        each.labels | {"part": part} | _five(errors.relative(sizes)) | {"raised": share}
        for part, sizes, share in parts
    ]


def drawn(each: AnswerErrors, errors: CellErrors, repeats: int) -> Row:
    """Return the median expected error over cells, and what drawn noise makes of it.

    `ratio` is the mean over cells of the drawn error over the expected one: close to 1 where the
    closed form holds. An average's is by the delta method, which small cells strain.
    """
    expected = errors.relative(errors.size)
    row = each.labels | {"expected": _five(expected)["middle"], "ratio": None}
    known = expected > 0  # false of what is not known, too
    if repeats and known.any():
        found = simulated_error(errors, repeats)
        row["ratio"] = float((found[known] / expected[known]).mean())
    return row


def by_size(each: AnswerErrors, limits: Sequence[Exact]) -> list[Row]:
    """Return the errors of an answer by how many records a cell has; `from` is the least."""
    rows = summary_rows([each.errors], by=("answer", "size"), limits=limits, sizes=SIZES)
    return [
        {"table": each.table, **row, "size": str(row["size"]), "from": float(row["size"].start)}
        for row in rows
    ]


def _five(numbers: Floats) -> dict[str, float | None]:
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return dict.fromkeys(FIVE)
    found = np.quantile(known, list(FIVE.values()), method="inverted_cdf")
    return dict(zip(FIVE, found.tolist(), strict=True))
