"""Accuracy summed up over cells, and several workloads side by side. All of it is confidential."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.errors import InputError, listing
from perrecord.evaluate.accuracy import CellErrors, accuracy
from perrecord.evaluate.losses import policy_losses
from perrecord.evaluate.noise_size import Floats
from perrecord.evaluate.quantile_errors import QuantileErrors, quantile_accuracy
from perrecord.evaluate.within import Which, is_within, share_of, within_column
from perrecord.exact import Exact, rational
from perrecord.queries.plan import Plan
from perrecord.tables.table import Table

BY = ("query", "grouping", "answer", "size")
"""What cells can be told apart by: query, grouping columns, answer, number of records."""

LIMITS: tuple[Exact, ...] = ("0.05", "0.1", "0.2")
SIZES = (1, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Cells that hold so many records: from `start` on, and fewer than `end` if there is one.

    >>> str(SizeClass(0, 1)), str(SizeClass(1, 10)), str(SizeClass(1000, None))
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
    return str(value) if isinstance(value, SizeClass) else value


def summary_rows(
    errors: Sequence[CellErrors | QuantileErrors],
    *,
    by: Sequence[str],
    limits: Sequence[Exact],
    sizes: Sequence[int],
) -> list[dict[str, Any]]:
    """Return the rows of `summary`, in which a size is a `SizeClass`."""
    unknown = [name for name in by if name not in BY]
    if unknown or not by:
        raise InputError(
            f"the cells are told apart by {listing(unknown) or 'nothing'}; expected some of "
            f"{listing(BY)}."
        )
    edges = [rational(limit, "a limit") for limit in limits]
    groups: dict[tuple[Any, ...], list[_Figures]] = {}
    for each in errors:
        for size, cells in _by_size(each, sizes if "size" in by else None):
            labels = {
                "query": each.truth.query,
                "grouping": ", ".join(each.truth.columns) or "total",
                "answer": each.truth.answer.name,
                "size": size,
            }
            key = tuple(labels[name] for name in by)
            groups.setdefault(key, []).append(_Figures.of(each, cells, edges))
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
    def of(
        cls, errors: CellErrors | QuantileErrors, cells: Which, limits: Sequence[Fraction]
    ) -> "_Figures":
        kept = cells & ~errors.is_zero
        figures = (
            errors.noise_size,
            errors.size,
            errors.noise_reach,
            errors.reach,
            errors.bias,
        )
        zeros = int((cells & errors.is_zero).sum())
        within = tuple(is_within(errors, limit)[kept] for limit in limits)
        return cls(zeros, within, *(errors.relative(each)[kept] for each in figures))

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


def compare(
    workloads: Mapping[str, Plan],
    table: Table,
    *,
    by: Sequence[str] = ("grouping", "answer"),
    confidence: Exact = "0.95",
    limits: Sequence[Exact] = LIMITS,
    sizes: Sequence[int] = SIZES,
) -> pa.Table:
    """Return the summaries of several workloads in one table, each with what its records lose.

    Schemes, top-codes or budgets side by side: accuracy, and the median, the 99th percentile and
    the largest policy loss of the table's records, in each workload's own currency.
    """
    found = []
    for name, planned in workloads.items():
        errors: list[CellErrors | QuantileErrors] = [
            *accuracy(planned, table, confidence=confidence),
            *quantile_accuracy(planned, table, confidence=confidence),
        ]
        rows = summary(errors, by=by, limits=limits, sizes=sizes)
        policy = planned.policy
        losses = policy_losses(policy, table)
        facts: dict[str, Any] = {"currency": policy.currency.value}
        for shown, share in (("median", "0.5"), ("ninety_ninth", "0.99"), ("largest", 1)):
            facts[f"{shown}_loss"] = losses.quantile(share) if losses.count else 0.0
        for column, value in facts.items():
            rows = rows.append_column(column, pa.array([value] * rows.num_rows))
        found.append(rows.add_column(0, "workload", pa.array([name] * rows.num_rows, pa.string())))
    if not found:
        raise InputError("there is no workload to compare; give at least one, by name.")
    return pa.concat_tables(found, promote_options="default")


def _by_size(
    errors: CellErrors | QuantileErrors, sizes: Sequence[int] | None
) -> Iterator[tuple[SizeClass | None, Which]]:
    records = errors.truth.records
    if sizes is None:
        yield None, np.ones(len(records), dtype=np.bool_)
        return
    starts = sorted({0, *sizes})
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        cells = records >= start if end is None else (records >= start) & (records < end)
        if cells.any():
            yield SizeClass(start, end), np.asarray(cells, dtype=np.bool_)


def _mean(numbers: Floats) -> float | None:
    return float(numbers.mean()) if len(numbers) else None


def _quantile(numbers: Floats, share: float) -> float | None:
    return float(np.quantile(numbers, share, method="inverted_cdf")) if len(numbers) else None
