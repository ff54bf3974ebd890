"""The exact numbers behind every quantile of a plan, cell by cell. Confidential.

Beside the counts between candidates, which decide how likely each of them is, the true quantiles
are read: the values x_(k) and x_(k+1) between which a share q of the sorted values ends. SQL's
percentile_disc is the lower of them; where they differ, every number between is a quantile, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.confidential.revealing import revealed
from perrecord.confidential.tally import integers
from perrecord.evaluate.truths import keys_of
from perrecord.evaluate.workspace import Workspace, workspace
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Rows
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, Counts, scanned
from perrecord.queries.measurements import Choice
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.positions import Coded, Places
from perrecord.released.numbers import Integers
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.expressions import Expression, to_sql
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table

Floats = npt.NDArray[np.float64]


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
    counts: Counts
    low: Floats
    high: Floats


def quantile_truths(planned: Plan, table: Table) -> list[QuantileTruth]:
    """Return the exact numbers of every quantile of a plan; without one nothing is read."""
    if not any(grouping.buckets for grouping in planned.groupings):
        return []
    with scanned(planned, table) as cells, workspace(table) as space:
        reader = _Reader(planned, table, space, {})
        return [
            truth
            for grouping in planned.groupings
            for truth in reader.truths(grouping, cells[grouping.scan])
        ]


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
                cells.buckets(columns, choice.bucket, keys),
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
        named = (choice.measure, choice.level, columns, condition)
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
        """Return the SELECT of the values at ranks k and k + 1 of each cell, k the level's share.

        With q = a/b and n values, place p is one of them where b (p - 1) <= a n <= b p.
        """
        table, dialect = self.table, self.table.engine.dialect
        schema, name = table.schema, dialect.identifier
        value = f"records.{name(choice.measure)}"
        where = f"{value} IS NOT NULL"
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
            f"SELECT {shown}{value} AS number "
            f"FROM ({table.select(schema.fields)}) AS records WHERE {where}"
        )
        ranked = (
            f"SELECT *, row_number() OVER ({by} ORDER BY number) AS place, "
            f"count(*) OVER ({by}) AS most FROM ({valued}) AS valued"
        )
        share, whole = choice.level.numerator, choice.level.denominator
        return (
            f"SELECT {every}{', ' if every else ''}min(number) AS _perrecord_low, "
            f"max(number) AS _perrecord_high FROM ({ranked}) AS ranked "
            f"WHERE {whole} * (place - 1) <= {share} * most AND {share} * most <= {whole} * place"
            f"{f' GROUP BY {every}' if every else ' HAVING count(*) > 0'}"
        )
