"""The exact integers of a plan: scanned once, then read cell by cell for each grouping.

Everything here is confidential: which keys the data holds, and how much of what. What is read has
the type `Confidential`, and leaves only through the mechanisms.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from uuid import uuid4

import numpy as np
import pyarrow as pa

from perrecord.confidential.held import Confidential
from perrecord.confidential.tally import Addends, ExactSums, integers
from perrecord.errors import SourceError
from perrecord.queries.aggregates import (
    Aggregate,
    Bucket,
    Different,
    Giants,
    Rows,
    SquareTotal,
    WeightTotal,
    square_factor,
    square_parts,
)
from perrecord.queries.plan import Plan, source_set
from perrecord.queries.positions import Coded, Places, Positions
from perrecord.queries.scan import SET, GroupColumn, GroupSet, Scan, cells_sql, giants_of, scan_sql
from perrecord.released.numbers import Integers
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.domains import Domain
from perrecord.tables.engines import Engine
from perrecord.tables.engines.boundary import ReadError
from perrecord.tables.expressions import Column, Substring
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.readable import check_readable
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table
from perrecord.watch import Progress, nobody, within

_MOST_KEPT = 1 << 24  # cells of a scan; beyond, each grouping streams them from the engine again
_MOST_ROWS, _MOST_BYTES = 1 << 22, 1 << 28
"""The size of a chunk. Keys are looked up chunk by chunk, so small ones would cost."""

_LONG_TEXT, _MOST_LONG_TEXT = 1 << 13, 1 << 29
"""Bytes. Arrow takes 2 GB of text in a batch of 100,000 rows: that many short ones, and these."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many records, or how much weight, lies in which bucket of which cell; else it is 0."""

    cells: Confidential[Positions]
    buckets: Confidential[Integers]
    numbers: Confidential[Integers]


@dataclass(frozen=True, slots=True, eq=False)
class Occupied:
    """Every key that the data holds, sorted, with its aggregate."""

    keys: Confidential[pa.Table]
    numbers: Confidential[Integers]


@dataclass(frozen=True, slots=True, eq=False)
class OccupiedDomain:
    """The positions in a domain that the data holds, sorted, each with its aggregate."""

    positions: Confidential[Positions]
    numbers: Confidential[Integers]


@contextmanager
def scanned(plan: Plan, table: Table, share: Progress = nobody) -> "Iterator[list[Cells]]":
    """Run every scan of a plan and give its cells, for as long as the block lasts.

    Inside the block the source is not read any more: a source that cannot be read, whatever the
    reason, is refused before.

    `share` is told how much was scanned, where the engine knows.
    """
    names: list[str] = []
    try:
        found = []
        for index, scan in enumerate(plan.scans):
            part = within(share, index / len(plan.scans), (index + 1) / len(plan.scans))
            # Scans that somebody is told of wait for one another; others need not.
            with nullcontext() if share is nobody else table.engine.watched(part):
                found.append(_cells(scan, table, names))
        yield found
    finally:
        for name in names:
            table.engine.drop(name)


def _cells(scan: Scan, table: Table, names: list[str]) -> "Cells":
    """Run one scan, and once more that of giants if it counts any; name what is kept for them."""
    engine, schema = table.engine, table.schema
    prefix = f"_perrecord_{uuid4().hex[:12]}"
    text = scan_sql(scan, schema, engine.dialect, engine.relation, prefix)
    for name, rows in text.tables.items():
        engine.add(name, rows)
        names.append(name)
    kept = f"{prefix}_cells"
    names.append(kept)
    _keep(table, kept, text.sql)
    _check_size(table, kept, scan)
    beyond = giants_of(scan)
    giants = _cells(beyond, table, names) if beyond and _has_giants(table, kept, scan) else None
    return Cells(engine, scan, cells_sql(scan, schema, kept), schema, giants)


def _has_giants(table: Table, kept: str, scan: Scan) -> bool:
    """Return whether a scan has counted records with giant values."""
    (counted,) = (scan.aggregate_name(each) for each in scan.aggregates if isinstance(each, Giants))
    where = f"FROM {DUCKDB.identifier(kept)} WHERE {counted} > 0"
    (batch, *_) = table.engine.local(f"SELECT count(*) {where}")
    return bool(batch.column(0)[0].as_py())


def _keep(table: Table, kept: str, sql: str) -> None:
    """Keep the result of a scan; where one column is why it cannot be had, say which."""
    try:
        table.engine.keep(kept, sql)
    except ReadError:
        check_readable(table)
        raise


def _check_size(table: Table, kept: str, scan: Scan) -> None:
    """Refuse cells whose text is more than can be handed on."""
    fields = table.schema.fields
    texts = [
        each for each in scan.grouped if isinstance(each, str) and fields[each].kind is Kind.TEXT
    ]
    sizes = [
        f"coalesce(sum(strlen({column})) FILTER (strlen({column}) > {_LONG_TEXT}), 0)"
        for column in map(DUCKDB.identifier, texts)
    ]
    if not sizes:
        return
    batch = next(
        iter(table.engine.local(f"SELECT {' + '.join(sizes)} FROM {DUCKDB.identifier(kept)}"))
    )
    if batch.column(0)[0].as_py() > _MOST_LONG_TEXT:
        raise SourceError(
            "the source could not be read: what it is grouped by holds far too long text. Nothing "
            "was charged. Declare a shorter dimension, such as substr(name, 1, 100)."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chunk:
    """Some of the finest cells: the columns that they are grouped by, and their aggregates."""

    columns: dict[str, Coded]
    addends: dict[Aggregate, Addends]
    size: int
    is_kept: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """The finest cells of one scan."""

    engine: Engine
    scan: Scan
    relation: str
    schema: Schema
    giants: "Cells | None" = None
    """Those of records with giant values alone, for the parts of their squares."""
    _kept: dict[int, list[Chunk] | None] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def numbers(
        self, columns: Sequence[str], aggregates: Sequence[Aggregate], keys: Keys | None
    ) -> dict[Aggregate, Confidential[Integers]]:
        """Return each aggregate in the order of the keys; 0 where no record is.

        Cells that are finer than the keys are added up on the way.
        """
        reading = self.reading(columns, keys)
        return {each: reading.numbers(each) for each in aggregates}

    def reading(self, columns: Sequence[str], keys: Keys | None) -> "Reading":
        """Return the aggregates of one grouping, each added up when it is asked for."""
        places = Places.of(() if keys is None else keys.factors)
        return Reading(self, tuple(columns), 1 if keys is None else len(keys), places)

    def buckets(
        self,
        columns: Sequence[str],
        bucket: Bucket,
        keys: Keys | None,
        counted: Rows | WeightTotal,
    ) -> Counts:
        """Return how many records of each cell, or how much weight, lies between candidates."""
        shown = self.scan.column_name(bucket)
        value = self.scan.aggregate_name(counted)
        cells = self._rolled_up([*columns, bucket], [counted])
        found = self._placed(
            () if keys is None else keys.factors,
            columns,
            [shown, value],
            f"{cells} WHERE cells.{shown} IS NOT NULL",
        )
        return Counts(*map(Confidential, found))

    def occupied(self, columns: Sequence[str], aggregate: Aggregate) -> Occupied:
        """Return every key that the data holds, sorted, with its aggregate."""
        names = [DUCKDB.identifier(column) for column in columns]
        cells = self._rolled_up(columns, [aggregate])
        shown = ", ".join([*names, self.scan.aggregate_name(aggregate)])
        batches = list(
            self.engine.local(f"SELECT {shown} FROM {cells} ORDER BY {', '.join(names)}")
        )
        rows = pa.Table.from_batches(batches)
        keys, numbers = rows.select(range(len(columns))), integers(rows.column(len(columns)))
        return Occupied(Confidential(keys), Confidential(numbers))

    def positions(
        self, domain: Domain, columns: Sequence[str], aggregate: Aggregate
    ) -> OccupiedDomain:
        """Return the positions in a domain that the data holds, sorted, each with its aggregate."""
        factors = [table for keys in domain.factors for table in keys.factors]
        value = self.scan.aggregate_name(aggregate)
        cells = self._rolled_up(columns, [aggregate])
        positions, values = self._placed(factors, columns, [value], cells)
        order = np.argsort(positions)
        return OccupiedDomain(Confidential(positions[order]), Confidential(values[order]))

    def _placed(
        self, factors: Sequence[pa.Table], columns: Sequence[str], values: list[str], cells: str
    ) -> list[Integers]:
        """Return the position of every row whose key there is, and its values."""
        places = Places.of(factors)
        shown = [f"cells.{each}" for each in (*map(DUCKDB.identifier, columns), *values)]
        parts = []
        batches = self.engine.local(f"SELECT {', '.join(shown)} FROM {cells}")
        for rows in _gathered(batches, len(columns)):
            keyed = dict(zip(columns, map(Coded.of, rows.keys), strict=True))
            positions = places.positions(keyed, rows.size)
            parts.append([each[positions >= 0] for each in (positions, *rows.numbers)])
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    def chunks(self, source: GroupSet) -> Iterable[Chunk]:
        """Return the cells of a grouping set; they are kept for the next time unless they are many.

        What is kept takes four bytes for each column and eight for each aggregate, besides the
        different values of each column.
        """
        number = self.scan.set_number(source)
        with self._lock:
            if number not in self._kept:
                batch = next(iter(self.engine.local(f"SELECT count(*) {self._from(source)}")))
                before = sum(each.size for kept in self._kept.values() for each in kept or ())
                is_small = before + batch.column(0)[0].as_py() <= _MOST_KEPT
                kept = list(self._read(source, is_kept=True)) if is_small else None
                self._kept[number] = kept
        found = self._kept[number]
        return self._read(source, is_kept=False) if found is None else found

    def _read(self, source: GroupSet, *, is_kept: bool) -> Iterator[Chunk]:
        number = self.scan.set_number(source)  # sets that differ in derived columns are one
        alike = frozenset[GroupColumn]().union(
            *(each for each in self.scan.sets if self.scan.set_number(each) == number)
        )
        every = [each for each in self.scan.columns if isinstance(each, str) and each in alike]
        # A sector is the beginning of an industry: taken of the few different ones.
        beginnings = {
            name: (expression.operand.name, expression.length)
            for name, expression in self.scan.derived
            if isinstance(expression, Substring) and expression.start == 1
            if isinstance(expression.operand, Column) and name in every
        }
        names = [each for each in every if each not in beginnings]
        values = [self.scan.aggregate_name(each) for each in self.scan.aggregates]
        shown = ", ".join([*map(DUCKDB.identifier, names), *values])
        batches = self.engine.local(f"SELECT {shown} {self._from(source)}")
        for rows in _gathered(batches, len(names)):
            columns = dict(zip(names, map(Coded.of, rows.keys), strict=True))
            for name, (whole, length) in beginnings.items():
                columns[name] = columns[whole].beginning(length)
            addends = dict(zip(self.scan.aggregates, map(Addends.of, rows.numbers), strict=True))
            yield Chunk(columns, addends, rows.size, is_kept)

    def _from(self, source: GroupSet) -> str:
        return f"FROM {self.relation} AS cells WHERE {SET} = {self.scan.set_number(source)}"

    def _rolled_up(self, columns: Sequence[GroupColumn], aggregates: Sequence[Aggregate]) -> str:
        """Return the cells over these columns as a subquery, added up from finer ones."""
        is_exact = any(isinstance(each, Different) for each in aggregates)
        source = source_set(self.scan, columns, is_exact=is_exact)
        names = [DUCKDB.identifier(self.scan.column_name(column)) for column in columns]
        values = [self.scan.aggregate_name(each) for each in aggregates]
        where = self._from(source)
        fixed = self.schema.fixed_by(each for each in columns if isinstance(each, str))
        if source - frozenset(columns) <= fixed.keys():
            return f"(SELECT {', '.join([*names, *values]) or '1'} {where}) AS cells"
        sums = [f"coalesce(sum({value}), 0) AS {value}" for value in values]
        grouping = f" GROUP BY {', '.join(names)}" if names else ""
        return f"(SELECT {', '.join([*names, *sums])} {where}{grouping}) AS cells"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Rows:
    """Rows of a result: the columns of their keys, and their numbers, 8 bytes each if they fit."""

    keys: list[pa.Array]
    numbers: list[Integers]
    size: int

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (*self.keys, *self.numbers))


def _gathered(batches: Iterable[pa.RecordBatch], keys: int) -> Iterator[_Rows]:
    """Yield the rows of batches put together, up to some millions; so many columns are keys."""
    waiting: list[_Rows] = []
    rows = size = 0
    for batch in batches:
        numbers = [integers(each) for each in batch.columns[keys:]]
        found = _Rows(batch.columns[:keys], numbers, batch.num_rows)
        if waiting and (rows + found.size > _MOST_ROWS or size + found.nbytes > _MOST_BYTES):
            yield _together(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(found)
        rows, size = rows + found.size, size + found.nbytes
    yield _together(waiting)


def _together(parts: list[_Rows]) -> _Rows:
    keys = [pa.concat_arrays(each) for each in zip(*(part.keys for part in parts), strict=True)]
    numbers = list(map(np.concatenate, zip(*(part.numbers for part in parts), strict=True)))
    return _Rows(keys, numbers, sum(part.size for part in parts))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reading:
    """The exact integers of one grouping, in the order of its keys; 0 where no record is."""

    cells: Cells
    columns: tuple[str, ...]
    size: int
    places: Places
    _positions: dict[int, Positions] = field(default_factory=dict)
    """Those of chunks that are kept, by their identity."""

    def numbers(self, aggregate: Aggregate) -> Confidential[Integers]:
        """Return an aggregate, cells that are finer than the keys added up."""
        tally = ExactSums(self.size)
        is_exact = isinstance(aggregate, Different)
        source = source_set(self.cells.scan, self.columns, is_exact=is_exact)
        for chunk in self.cells.chunks(source):
            tally.add(self._placed(chunk), chunk.addends[aggregate])
        giants = self.cells.giants
        if giants is not None and isinstance(aggregate, SquareTotal):
            for chunk in giants.chunks(source):
                for part in square_parts(aggregate.measure):
                    if part in chunk.addends:
                        added = chunk.addends[part].times(square_factor(part))
                        tally.add(self._placed(chunk), added)
        return tally.sums()

    def _placed(self, chunk: Chunk) -> Positions:
        if not chunk.is_kept:
            return self.places.positions(chunk.columns, chunk.size)
        if id(chunk) not in self._positions:
            self._positions[id(chunk)] = self.places.positions(chunk.columns, chunk.size)
        return self._positions[id(chunk)]
