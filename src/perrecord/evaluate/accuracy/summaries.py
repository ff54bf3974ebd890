"""Accuracy summed up over cells: means, shares, the five numbers of a box plot. Confidential."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.errors import InputError, listing
from perrecord.evaluate.accuracy.errors import CellErrors, simulated_error
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.quantiles import QuantileErrors
from perrecord.evaluate.accuracy.within import (
    Which,
    is_within,
    known_within,
    share_of,
    within_column,
)
from perrecord.exact import Exact, rational

BY = ("query", "grouping", "answer", "size")
"""What cells can be told apart by: query, grouping columns, answer, number of records."""

LIMITS: tuple[Exact, ...] = ("0.05", "0.1", "0.2")
SIZES = (1, 10, 100, 1000)


Row = dict[str, Any]
FIVE = {"low": 0.05, "lower": 0.25, "middle": 0.5, "upper": 0.75, "high": 0.95}
"""The five numbers of a box, and the shares of the cells that lie at or below them."""


@dataclass(frozen=True, slots=True)
class CellSizes:
    """Cells that hold so many records: from `start` on, and fewer than `end` if there is one.

    >>> str(CellSizes(0, 1)), str(CellSizes(1, 10)), str(CellSizes(1000, None))
    ('0', '1 to 9', '1000 or more')
    """

    start: int
    end: int | None

    def __str__(self) -> str:
        if self.end is None:
            return f"{self.start} or more"
        return str(self.start) if self.end - 1 == self.start else f"{self.start} to {self.end - 1}"


def summary(
    errors: Sequence[CellErrors | QuantileErrors],
    *,
    by: Sequence[str] = ("query", "grouping", "answer"),
    limits: Sequence[Exact] = LIMITS,
    sizes: Sequence[int] = SIZES,
) -> pa.Table:
    """Return a row for each class of cells: how many, and how large their errors are.

    `zeros` are cells without a relative error, left out of all figures. `within_...` is the share
    of the others whose error, bias included, is below so much of the true number with the
    confidence that the errors were computed for, as a goal asks (T22). Size classes begin at the
    numbers of records in `sizes`.
    """
    rows = summary_rows(errors, by=by, limits=limits, sizes=sizes)
    return pa.Table.from_pylist(
        [{name: _shown(value) for name, value in row.items()} for row in rows]
    )


def _shown(value: Any) -> Any:
    return str(value) if isinstance(value, CellSizes) else value


def summary_rows(
    errors: Sequence[CellErrors | QuantileErrors],
    *,
    by: Sequence[str],
    limits: Sequence[Exact],
    sizes: Sequence[int],
) -> list[dict[str, Any]]:
    """Return the rows of `summary`, in which a size is a `CellSizes`."""
    unknown = [name for name in by if name not in BY]
    if unknown or not by:
        raise InputError(
            f"the cells are told apart by {listing(unknown) or 'nothing'}; expected some of "
            f"{listing(BY)}."
        )
    edges = [rational(limit, "a limit") for limit in limits]
    groups: dict[tuple[Any, ...], list[_Figures]] = {}
    for each in errors:
        every = _Figures.of(each, edges)
        for size, cells in _by_size(each, sizes if "size" in by else None):
            labels = {
                "query": each.truth.query,
                "grouping": ", ".join(each.truth.columns) or "total",
                "answer": each.truth.answer.name,
                "size": size,
            }
            key = tuple(labels[name] for name in by)
            groups.setdefault(key, []).append(every.among(cells, each.is_zero))
    rows = []
    for key, found in groups.items():
        figures = _Figures.joined(found)
        row = dict(zip(by, key, strict=True)) | figures.row()
        for limit, which in zip(edges, figures.within, strict=True):
            row[within_column(limit)] = share_of(which)
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True)
class _Figures:
    """The relative errors of some cells, and how many have none."""

    zeros: int
    within: tuple[Which, ...]
    """For each limit, which of the cells come within it."""
    noise: Floats
    error: Floats
    noise_reach: Floats
    reach: Floats
    bias: Floats

    @classmethod
    def of(cls, errors: CellErrors | QuantileErrors, limits: Sequence[Fraction]) -> "_Figures":
        """Return those of all cells, NaN where they have none."""
        figures = (
            errors.noise_size,
            errors.size,
            errors.noise_reach,
            errors.reach,
            errors.bias,
        )
        within = tuple(is_within(errors, limit) for limit in limits)
        return cls(0, within, *(errors.relative(each) for each in figures))

    def among(self, cells: Which, is_zero: Which) -> "_Figures":
        """Return those of some of the cells, and how many of these have none."""
        kept = cells & ~is_zero
        figures = (self.noise, self.error, self.noise_reach, self.reach, self.bias)
        return _Figures(
            int((cells & is_zero).sum()),
            tuple(each[kept] for each in self.within),
            *(each[kept] for each in figures),
        )

    @classmethod
    def joined(cls, every: Sequence["_Figures"]) -> "_Figures":
        names = ("noise", "error", "noise_reach", "reach", "bias")
        return cls(
            sum(each.zeros for each in every),
            tuple(map(np.concatenate, zip(*(each.within for each in every), strict=True))),
            *(np.concatenate([getattr(each, name) for each in every]) for name in names),
        )

    def row(self) -> dict[str, Any]:
        return {
            "cells": len(self.reach) + self.zeros,
            "zeros": self.zeros,
            "mean_expected_noise_error": _mean(self.noise),
            "mean_expected_error": _mean(self.error),
            "median_expected_error": _quantile(self.error, 0.5),
            "mean_relative_bias": _mean(self.bias),
            "median_query_relative_error": _quantile(self.noise_reach, 0.5),
            "ninetieth_query_relative_error": _quantile(self.noise_reach, 0.9),
            "median_relative_error": _quantile(self.reach, 0.5),
        }


def _by_size(
    errors: CellErrors | QuantileErrors, sizes: Sequence[int] | None
) -> Iterator[tuple[CellSizes | None, Which]]:
    records = errors.truth.records
    if sizes is None:
        yield None, np.ones(len(records), dtype=np.bool_)
        return
    starts = sorted({0, *sizes})
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        cells = records >= start if end is None else (records >= start) & (records < end)
        if cells.any():
            yield CellSizes(start, end), np.asarray(cells, dtype=np.bool_)


def _mean(numbers: Floats) -> float | None:
    return float(numbers.mean()) if len(numbers) else None


def _quantile(numbers: Floats, share: float) -> float | None:
    return float(np.quantile(numbers, share, method="inverted_cdf")) if len(numbers) else None


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


def middle(numbers: Floats) -> float | None:
    """Return what the median cell has, of cells that have anything; None if none has."""
    return _five(numbers)["middle"]


def _five(numbers: Floats) -> dict[str, float | None]:
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return dict.fromkeys(FIVE)
    found = np.quantile(known, list(FIVE.values()), method="inverted_cdf")
    return dict(zip(FIVE, found.tolist(), strict=True))
