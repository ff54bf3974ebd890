"""How far from the true quantile each answer will be, from the chance of every candidate (T14).

All of it is confidential: it reads the true numbers. The chance of a candidate is known exactly, so
the figures are sums over candidates, and nothing is drawn. A number between the lower and the upper
quantile of a cell is a quantile; the error of a candidate is how far it lies outside.

The true quantiles are the values x_(k) and x_(k+1) between which a share q of the sorted values
ends, or of their weights. SQL's percentile_disc is the lower of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.confidential.revealing import revealed
from perrecord.confidential.tally import integers
from perrecord.errors import ProbabilityError
from perrecord.evaluate.accuracy.noise_size import Floats, Relative
from perrecord.evaluate.accuracy.truths import keys_of
from perrecord.evaluate.workspace import Workspace, workspace
from perrecord.exact import Exact, rational
from perrecord.mechanisms.quantiles import scores_of, selection_rate
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Rows
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, Counts, scanned
from perrecord.queries.measurements import Choice
from perrecord.queries.plan import Plan, PlannedGrouping, of_choices
from perrecord.queries.positions import Coded, Places
from perrecord.queries.values import weight_value
from perrecord.released.numbers import Integers, common_step
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.expressions import Expression, to_sql
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table
from perrecord.watch import Progress, nobody

_STEEPEST = Fraction(10**6)
"""Whole-numbered scores at a higher rate leave the best candidates alone, as floats see it."""


@dataclass(frozen=True, slots=True, eq=False)
class QuantileTruth:
    """One quantile of one grouping: the counts between its candidates, and the true quantiles.

    `low` and `high` are whole numbers of the measure's resolution, NaN where a cell has no value.
    """

    query: int
    columns: tuple[str, ...]
    answer: Answer
    choice: Choice
    policy: Policy
    keys: pa.Table
    records: Integers
    currency: Currency
    resolution: Fraction
    weight_step: Fraction
    counts: Counts
    low: Floats
    high: Floats


def quantile_truths(
    planned: Plan, table: Table, *, share: Progress = nobody
) -> list[QuantileTruth]:
    """Return the exact numbers of every quantile of a plan; without one nothing is read.

    `share` is told how much was scanned, where the engine knows.
    """
    chosen = of_choices(planned)
    if not chosen.groupings:
        return []
    with scanned(chosen, table, share) as cells, workspace(table) as space:
        reader = _Reader(chosen, table, space, {})
        return [
            truth
            for grouping in chosen.groupings
            for truth in reader.truths(grouping, cells[grouping.scan])
        ]


def quantile_truths_of(planned: Plan, known: Sequence[QuantileTruth]) -> list[QuantileTruth] | None:
    """Return the same numbers for a plan that counts the same, and may pay another amount for them.

    None if it asks for other quantiles, of which nothing is known.
    """
    asked = [
        (grouping, charged, choice)
        for grouping in planned.groupings
        for charged in grouping.answers
        for choice in charged.answer.choices
    ]
    if [_what(grouping.query, choice) for grouping, _, choice in asked] != [
        _what(each.query, each.choice) for each in known
    ]:
        return None
    return [
        replace(each, answer=charged.answer, choice=choice, policy=charged.policy)
        for each, (_, charged, choice) in zip(known, asked, strict=True)
    ]


def _what(query: int, choice: Choice) -> tuple[object, ...]:
    return query, choice.level, choice.bucket, choice.aggregate


@dataclass(frozen=True, slots=True)
class _Reader:
    planned: Plan
    table: Table
    space: Workspace
    read: dict[object, pa.Table]
    """True quantiles by what was asked for: variants of a workload share them."""

    def truths(self, grouping: PlannedGrouping, cells: Cells) -> Iterator[QuantileTruth]:
        if not grouping.buckets:
            return
        keys, columns = keys_of(grouping, cells), grouping.grouping.columns
        shown = pa.table({"": pa.array([True])}).select([]) if keys is None else keys.table
        records = revealed(cells.reading(columns, keys).numbers(Rows()))
        query = self.planned.queries[grouping.query]
        every = [(each, choice) for each in grouping.answers for choice in each.answer.choices]
        for charged, choice in every:
            low, high = self._ends(choice, columns, query.filter, keys, len(records))
            yield QuantileTruth(
                grouping.query,
                columns,
                charged.answer,
                choice,
                charged.policy,
                shown,
                records,
                query.currency or Currency.RHO,
                self.planned.schema.measure(choice.measure).resolution,
                choice.weight_step(self.planned.schema),
                cells.buckets(columns, choice.bucket, keys, choice.aggregate),
                low,
                high,
            )

    def _ends(
        self,
        choice: Choice,
        columns: tuple[str, ...],
        condition: Expression | None,
        keys: Keys | None,
        size: int,
    ) -> tuple[Floats, Floats]:
        """Return the lower and the upper quantile of each cell, in steps of the resolution."""
        named = (choice.measure, choice.level, choice.weight, columns, condition)
        if named not in self.read:
            kept = self.space.keep(self._sql(choice, columns, condition), {})
            self.read[named] = self.space.read(f"SELECT * FROM {DUCKDB.identifier(kept)}")
        rows = self.read[named].combine_chunks()
        found = np.full((2, size), np.nan)
        keyed = {
            name: Coded.of(rows.column(index).combine_chunks())
            for index, name in enumerate(columns)
        }
        places = Places.of(() if keys is None else keys.factors).positions(keyed, rows.num_rows)
        for index, name in enumerate(("_perrecord_low", "_perrecord_high")):
            values = integers(rows[name]).astype(np.float64)
            found[index, places[places >= 0]] = values[places >= 0]
        return found[0], found[1]

    def _sql(self, choice: Choice, columns: tuple[str, ...], condition: Expression | None) -> str:
        """Return the SELECT of the values at which the level's share of each cell ends.

        With q = a/b, a value is one of them if b times what lies below it is at most a times all,
        and b times what does not lie above it at least that: of records, or of their weights.
        """
        table, dialect = self.table, self.table.engine.dialect
        schema, name = table.schema, dialect.identifier
        value, weight = f"records.{name(choice.measure)}", dialect.literal(1)
        where = f"{value} IS NOT NULL"
        if choice.weight is not None:
            weight = weight_value(choice.weight.measure, dialect)
            where += f" AND {weight} IS NOT NULL"
        if condition is not None:
            fragments = {each: f"records.{name(each)}" for each in schema.fields}
            where += f" AND ({to_sql(condition, schema.fields, fragments, dialect)})"
        named = [f"_perrecord_key{index}" for index in range(len(columns))]
        shown = "".join(
            f"records.{name(column)} AS {key}, " for column, key in zip(columns, named, strict=True)
        )
        every = ", ".join(named)
        by = f"PARTITION BY {every}" if named else ""
        valued = (
            f"SELECT {shown}{value} AS number, {weight} AS weight "
            f"FROM ({table.select(schema.fields)}) AS records WHERE {where}"
        )
        added = (
            f"SELECT {', '.join([*named, 'number'])}, {dialect.total('weight')} AS own "
            f"FROM ({valued}) AS valued GROUP BY {', '.join([*named, 'number'])}"
        )
        ranked = (
            f"SELECT *, sum(own) OVER ({by} ORDER BY number) AS up_to, "
            f"sum(own) OVER ({by}) AS most FROM ({added}) AS added"
        )
        share, whole = choice.level.numerator, choice.level.denominator
        return (
            f"SELECT {every}{', ' if every else ''}min(number) AS _perrecord_low, "
            f"max(number) AS _perrecord_high FROM ({ranked}) AS ranked "
            f"WHERE {whole} * (up_to - own) <= {share} * most AND {share} * most <= {whole} * up_to"
            f"{f' GROUP BY {every}' if every else ' HAVING count(*) > 0'}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class QuantileErrors(Relative):
    """The errors to be expected of one quantile in the cells of one grouping.

    In steps of a grid that candidates and values lie on, so that relative errors of exact ties are
    exact. `true` is SQL's percentile_disc, NaN in a cell without values. `bias` is what is left
    without noise: the best candidate less the nearest quantile. `noise_size` and `noise_reach` are
    about the distance from that candidate, `size` and `reach` about the whole error: its mean, and
    what it stays within with the given confidence. `hit` is the chance of a quantile.
    """

    truth: QuantileTruth
    confidence: Fraction
    step: Fraction
    true: Floats
    bias: Floats
    noise_size: Floats
    size: Floats
    noise_reach: Floats
    reach: Floats
    hit: Floats

    def to_arrow(self) -> pa.Table:
        """Return a row for each cell: its key, how many records it has, and its errors in units."""
        units = {"true": self.true, "bias": self.bias, "expected": self.size, "reach": self.reach}
        figures = {name: numbers * float(self.step) for name, numbers in units.items()}
        figures["expected_error"] = self.relative(self.size)
        figures["relative_error"] = self.relative(self.reach)
        figures["chance_of_a_quantile"] = self.hit
        table = self.truth.keys
        table = table.append_column("records", pa.array(self.truth.records.astype(np.int64)))
        for name, numbers in figures.items():
            table = table.append_column(name, pa.array(numbers, from_pandas=True))
        return table


def quantile_accuracy(
    planned: Plan, table: Table, *, confidence: Exact = "0.95"
) -> list[QuantileErrors]:
    """Return the errors to be expected of every median and quantile of a plan.

    >>> import perrecord
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [0] * 60 + [900] * 40}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().median("emp", candidates=[0, 300, 600, 900], rho="0.01")
    ...     (errors,) = quantile_accuracy(plan(asked, source.schema), source)
    >>> errors.hit.round(3), errors.size.round(1)
    (array([0.849]), array([90.4]))
    """
    level = rational(confidence, "the confidence")
    if not 0 < level < 1:
        raise ProbabilityError(
            f"the confidence is {confidence}; expected a number strictly between 0 and 1, such as "
            '"0.95".'
        )
    return [quantile_errors(truth, level) for truth in quantile_truths(planned, table)]


def summed_up(errors: QuantileErrors) -> dict[str, Any]:
    """Return a few figures over cells with values, those whose true quantile is 0 included."""
    known = ~np.isnan(errors.true)
    step = float(errors.step)
    return {
        "candidates": len(errors.truth.choice.candidates),
        "cells": len(known),
        "without_values": int((~known).sum()),
        "chance_of_a_quantile": float(errors.hit[known].mean()) if known.any() else None,
        "median_expected_error": _median(errors.size[known] * step),
        "median_reach": _median(errors.reach[known] * step),
        "median_without_noise": _median(np.abs(errors.bias[known]) * step),
    }


def quantile_errors(truth: QuantileTruth, confidence: Fraction) -> QuantileErrors:
    """Return the errors to be expected of one quantile, cell by cell."""
    answer = truth.choice
    step = common_step((truth.resolution, *answer.candidates))
    candidates = np.array([float(each / step) for each in answer.candidates])
    rate = float(min(selection_rate(answer, truth.currency, truth.weight_step), _STEEPEST))
    figures = np.full((6, len(truth.low)), np.nan)
    for cells, scores, outside in _chunks(truth, step):
        worse = (scores - scores.min(axis=1, keepdims=True)).astype(np.float64)
        chances = np.exp(-rate * worse)
        chances /= chances.sum(axis=1, keepdims=True)
        best = np.argmin(np.where(worse == 0, outside, np.inf), axis=1)
        rows = np.arange(len(best))
        is_above = candidates[best] > _steps(truth.high, truth, step)[cells]
        figures[0, cells] = np.where(is_above, 1, -1) * outside[rows, best]
        apart = np.abs(candidates - candidates[best][:, None])
        figures[1, cells] = (chances * apart).sum(axis=1)
        figures[2, cells] = (chances * outside).sum(axis=1)
        figures[3, cells] = _reach(apart, chances, confidence)
        figures[4, cells] = _reach(outside, chances, confidence)
        figures[5, cells] = (chances * (outside == 0)).sum(axis=1)
    figures[:, np.isnan(truth.low)] = np.nan
    return QuantileErrors(truth, confidence, step, _steps(truth.low, truth, step), *figures)


def _chunks(truth: QuantileTruth, step: Fraction) -> Iterator[tuple[slice, Integers, Floats]]:
    """Yield some cells at a time: their scores, and how far outside each candidate lies."""
    candidates = np.array([float(each / step) for each in truth.choice.candidates])
    low, high = (_steps(each, truth, step) for each in (truth.low, truth.high))
    start = 0
    for held in scores_of(truth.choice, truth.counts, len(low)):
        scores = revealed(held)
        cells = slice(start, start + len(scores))
        below, above = low[cells, None] - candidates, candidates - high[cells, None]
        yield cells, scores, np.maximum(np.maximum(below, above), 0.0)
        start += len(scores)


def _steps(values: Floats, truth: QuantileTruth, step: Fraction) -> Floats:
    return values * float(truth.resolution / step)


def _reach(sizes: Floats, chances: Floats, confidence: Fraction) -> Floats:
    """Return for each row the least size that the error stays within so probably."""
    order = np.argsort(sizes, axis=1)
    reached = np.cumsum(np.take_along_axis(chances, order, axis=1), axis=1)
    first = np.argmax(reached >= float(confidence) - 1e-12, axis=1)
    rows = np.arange(len(first))
    return np.asarray(sizes[rows, order[rows, first]])


def _median(numbers: Floats) -> float | None:
    return float(np.quantile(numbers, 0.5, method="inverted_cdf")) if len(numbers) else None
