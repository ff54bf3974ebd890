"""The exact integers of a plan: scanned once, then read cell by cell for each grouping.

Everything here is confidential. It leaves only through the mechanisms.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.queries.aggregates import Aggregate, Bucket, Different, Rows
from perrecord.queries.plan import Plan, source_set
from perrecord.queries.scan import SET, GroupColumn, Scan, scan_sql
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.domains import Domain
from perrecord.tables.engines import Engine
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

Integers = npt.NDArray[Any]
"""int64, or Python ints in an object array where 64 bits are not enough."""

_INDEX = "_perrecord_index"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records lie in which bucket of which cell; what is not listed is 0."""

    cells: npt.NDArray[np.int64]
    buckets: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]


@contextmanager
def scanned(plan: Plan, table: Table) -> "Iterator[list[Cells]]":
    """Run every scan of a plan and give its cells, for as long as the block lasts."""
    prefix = f"_perrecord_{uuid4().hex[:12]}"
    names: list[str] = []
    engine = table.engine
    try:
        found = []
        for index, scan in enumerate(plan.scans):
            text = scan_sql(
                scan, table.schema, engine.dialect, engine.relation, f"{prefix}_{index}"
            )
            for name, rows in text.tables.items():
                engine.add(name, rows)
                names.append(name)
            kept = f"{prefix}_cells{index}"
            engine.keep(kept, text.sql)
            names.append(kept)
            found.append(Cells(engine, scan, kept, plan.schema))
        yield found
    finally:
        for name in names:
            engine.drop(name)


@dataclass(frozen=True, slots=True)
class Cells:
    """The finest cells of one scan."""

    engine: Engine
    scan: Scan
    name: str
    schema: Schema

    def numbers(
        self, columns: Sequence[str], aggregates: Sequence[Aggregate], keys: Keys | None
    ) -> dict[Aggregate, Integers]:
        """Return each aggregate in the order of the keys; 0 where no record is."""
        size = 1 if keys is None else len(keys)
        found: dict[Aggregate, Integers] = {
            each: np.zeros(size, dtype=np.int64) for each in aggregates
        }
        values = ", ".join(f"cells.{self.scan.aggregate_name(each)}" for each in aggregates)
        cells = self._rolled_up(columns, aggregates)
        if not aggregates:
            return found
        if keys is None:
            for batch in self.engine.local(f"SELECT {values} FROM {cells}"):
                # Spark has no row for the total of an empty table among other grouping sets.
                for position, aggregate in enumerate(aggregates if batch.num_rows else ()):
                    found[aggregate] = integers(batch.column(position))
            return found
        for batch in self._joined(f"keys.{_INDEX}, {values}", cells, columns, keys):
            index = batch.column(0).to_numpy()
            for position, aggregate in enumerate(aggregates, start=1):
                _place(found, aggregate, index, integers(batch.column(position)))
        return found

    def buckets(self, columns: Sequence[str], bucket: Bucket, keys: Keys | None) -> Counts:
        """Return how many records of each cell lie between which candidates."""
        shown = self.scan.column_name(bucket)
        value = self.scan.aggregate_name(Rows())
        cells = self._rolled_up([*columns, bucket], [Rows()])
        chosen = f"cells.{shown}, cells.{value}"
        condition = f" WHERE cells.{shown} IS NOT NULL"
        if keys is None:
            batches = self.engine.local(
                f"SELECT CAST(0 AS BIGINT), {chosen} FROM {cells}{condition}"
            )
        else:
            batches = self._joined(f"keys.{_INDEX}, {chosen}", cells, columns, keys, condition)
        parts = [[integers(column) for column in batch.columns] for batch in batches]
        merged = [np.concatenate([part[i] for part in parts] or [_NONE]) for i in range(3)]
        return Counts(merged[0], merged[1], merged[2])

    def occupied(self, columns: Sequence[str], aggregate: Aggregate) -> tuple[pa.Table, Integers]:
        """Return every key that the data holds, sorted, with its aggregate."""
        names = [DUCKDB.identifier(column) for column in columns]
        cells = self._rolled_up(columns, [aggregate])
        shown = ", ".join([*names, self.scan.aggregate_name(aggregate)])
        batches = list(
            self.engine.local(f"SELECT {shown} FROM {cells} ORDER BY {', '.join(names)}")
        )
        if not batches:
            return pa.table({column: pa.array([], pa.string()) for column in columns}), _NONE
        rows = pa.Table.from_batches(batches)
        return rows.select(range(len(columns))), integers(rows.column(len(columns)))

    def positions(
        self, domain: Domain, columns: Sequence[str], aggregate: Aggregate
    ) -> tuple[npt.NDArray[np.int64], Integers]:
        """Return the positions in a domain that the data holds, sorted, each with its aggregate."""
        tables = [f"{self.name}_factor{index}" for index in range(len(domain.factors))]
        cells = self._rolled_up(columns, [aggregate])
        position = " + ".join(
            f"{name}.{_INDEX} * {DUCKDB.literal(stride)}"
            for name, stride in zip(tables, domain.strides, strict=True)
        )
        joins = "".join(
            f" JOIN {name} ON {_same(name, factor.columns)}"
            for name, factor in zip(tables, domain.factors, strict=True)
        )
        try:
            for name, factor in zip(tables, domain.factors, strict=True):
                self.engine.add_local(name, _indexed(factor))
            value = self.scan.aggregate_name(aggregate)
            batches = list(
                self.engine.local(f"SELECT {position}, cells.{value} FROM {cells}{joins}")
            )
        finally:
            for name in tables:
                self.engine.drop(name)
        places = np.concatenate([integers(batch.column(0)) for batch in batches] or [_NONE])
        values = np.concatenate([integers(batch.column(1)) for batch in batches] or [_NONE])
        order = np.argsort(places)
        return places[order], values[order]

    def _joined(
        self, shown: str, cells: str, columns: Sequence[str], keys: Keys, condition: str = ""
    ) -> Iterator[pa.RecordBatch]:
        name = f"{self.name}_keys"
        self.engine.add_local(name, _indexed(keys))
        try:
            yield from self.engine.local(
                f"SELECT {shown} FROM {cells} JOIN {name} AS keys ON {_same('keys', columns)}"
                f"{condition}"
            )
        finally:
            self.engine.drop(name)

    def _rolled_up(self, columns: Sequence[GroupColumn], aggregates: Sequence[Aggregate]) -> str:
        """Return the cells over these columns as a subquery, added up from finer ones."""
        is_exact = any(isinstance(each, Different) for each in aggregates)
        source = source_set(self.scan, columns, is_exact=is_exact)
        names = [DUCKDB.identifier(self.scan.column_name(column)) for column in columns]
        values = [self.scan.aggregate_name(each) for each in aggregates]
        where = f"FROM {self.name} WHERE {SET} = {self.scan.set_number(source)}"
        fixed = self.schema.fixed_by(each for each in columns if isinstance(each, str))
        if source - frozenset(columns) <= fixed.keys():
            return f"(SELECT {', '.join([*names, *values]) or '1'} {where}) AS cells"
        sums = [f"coalesce(sum({value}), 0) AS {value}" for value in values]
        grouping = f" GROUP BY {', '.join(names)}" if names else ""
        return f"(SELECT {', '.join([*names, *sums])} {where}{grouping}) AS cells"


_NONE: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
_FITS = 2**63 - 1


def integers(column: pa.Array | pa.ChunkedArray) -> Integers:
    """Return a column of whole numbers, exactly: int64, or Python ints where it takes more."""
    if pa.types.is_integer(column.type):
        return np.asarray(column.cast(pa.int64()))
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or (low >= -_FITS and high <= _FITS):
        return np.asarray(column.cast(pa.int64()))
    return np.array([int(each) for each in column.to_pylist()], dtype=np.object_)


def _place(
    found: dict[Aggregate, Integers],
    aggregate: Aggregate,
    index: npt.NDArray[np.int64],
    values: Integers,
) -> None:
    if values.dtype != found[aggregate].dtype:
        found[aggregate] = found[aggregate].astype(np.object_)
    found[aggregate][index] = values


def _indexed(keys: Keys) -> pa.Table:
    return keys.table.append_column(_INDEX, pa.array(np.arange(len(keys), dtype=np.int64)))


def _same(alias: str, columns: Sequence[str]) -> str:
    names = [DUCKDB.identifier(column) for column in columns]
    return " AND ".join(DUCKDB.is_same(f"cells.{name}", f"{alias}.{name}") for name in names)
