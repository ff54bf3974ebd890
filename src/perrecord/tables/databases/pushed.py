"""The engine of a plain table of PostgreSQL: the server scans it, its cells come to a local DuckDB.

All statements run in one transaction that can only read and sees one state of the table (REPEATABLE
READ): whatever is written meanwhile, every scan of a release adds up the same records.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pyarrow as pa

from perrecord.errors import InputError, SourceError
from perrecord.tables.databases.postgres import PostgresTable
from perrecord.tables.databases.remote import BATCH, batches_of
from perrecord.tables.dialects import POSTGRES, Dialect
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database
from perrecord.tables.snapshots import Elsewhere, Origin
from perrecord.watch import Progress

_SETTINGS = (
    "search_path = pg_catalog, pg_temp",  # functions and operators are PostgreSQL's own
    "standard_conforming_strings = on",
    "transform_null_equals = off",
    "jit = off",  # our expressions are long, and take longer to compile than to run
)
_LOST = (
    "the transaction on the PostgreSQL server ended before its time, and another one might see "
    "other records. What the server said is withheld, because it may quote them. Check that the "
    "server runs, and how long it lets a statement and an idle transaction last, then run this "
    "again: a release is charged once."
)
_CHANGED = "the table has other columns, or other types, than when it was opened; open it again."
_RESULTS = {21: pa.int16(), 23: pa.int32(), 20: pa.int64(), 700: pa.float32(), 701: pa.float64()}
_RESULTS |= {16: pa.bool_(), 25: pa.string(), 1700: pa.decimal128(38, 0)}
_ADDED = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_integer, "NUMERIC"),
    (pa.types.is_decimal, "NUMERIC"),
    (pa.types.is_floating, POSTGRES.double),
    (pa.types.is_date, "DATE"),
)
_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class PushedEngine:
    """A table of PostgreSQL whose rows stay there, and the local DuckDB that its cells come to.

    Public tables stand in each statement that names them, so that nothing has to be written there.
    """

    dialect: Dialect = POSTGRES
    origin: Origin = Elsewhere()
    is_text = False

    def __init__(self, database: Database, remote: PostgresTable) -> None:
        self._database, self._remote = database, remote
        self._running = RLock()
        self._has_begun = self._is_lost = False
        self._added: dict[str, str] = {}
        self.columns = dict(remote.columns)
        self._names: list[str] = []

    @property
    def relation(self) -> str:
        """What follows FROM to read the columns that are used; an alias may follow it."""
        return f"({self._remote.selection(self._names)})"

    def use(self, names: Iterable[str]) -> None:
        """Read no columns but these from now on; refuse those that cannot be had."""
        wanted = set(names)
        self._names = [name for name in self.columns if name in wanted]
        self._remote.check(self._names)

    def fetch(self) -> None:
        """Begin the transaction, unless an earlier query did; rows stay where they are."""
        with self._running:
            if self._is_lost:
                raise SourceError(_LOST)
            if not self._has_begun:
                self._has_begun = True
                sealed(READ_FAILED, self._begin)

    def add(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name, in statements and on the local DuckDB."""
        self._added[name] = _values(name, table)
        self._database.view(name, table)

    def add_local(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name on the local DuckDB alone."""
        self._database.view(name, table)

    def drop(self, name: str) -> None:
        """Forget an added or kept table."""
        self._added.pop(name, None)
        self._database.drop(name)

    def keep(self, name: str, sql: str) -> None:
        """Run SQL on the server and keep its result in the local DuckDB, sums as HUGEINT."""
        with self._running:
            self._database.load(name, self._reader(sql))

    def watched(self, share: Progress) -> AbstractContextManager[None]:  # noqa: ARG002
        """Tell nothing: the server does not say how far it is."""
        return nullcontext()

    def local(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the local DuckDB; yield the batches of its result, at least one."""
        return self._database.batches(sql)

    def interrupt(self) -> None:
        """Break off whatever runs on the local DuckDB, in any thread."""
        self._database.interrupt()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the server; yield the batches of its result, at least one."""
        found = self.arrow(sql)
        return iter(found.to_batches() or [pa.RecordBatch.from_pylist([], found.schema)])

    def arrow(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table, brought here whole."""
        with self._running:
            reader = self._reader(sql)
            return sealed(READ_FAILED, reader.read_all)

    def frame(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table, which is what frames are here."""
        return self.arrow(sql)

    def close(self) -> None:
        """End the transaction and the connection; forget what was kept."""
        try:
            sealed(READ_FAILED, self._remote.close)
        finally:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self) -> None:
        """Begin the transaction; the table is locked first, for no snapshot outlasts TRUNCATE."""
        self._is_lost = True
        run = self._remote.connection.execute
        for setting in _SETTINGS:
            run(f"SET {setting}".encode())
        run(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        run(f"LOCK TABLE {self._remote.relation} IN ACCESS SHARE MODE".encode())
        if self._remote.has_changed():
            raise SourceError(_CHANGED)
        self._is_lost = False

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        """Return the result of SQL as a stream, to be read before anything else is run."""
        self.fetch()
        added = [each for name, each in self._added.items() if name in sql]
        query = f"WITH {', '.join(added)} {sql}" if added else sql
        schema = sealed(READ_FAILED, lambda: self._schema(query))
        return pa.RecordBatchReader.from_batches(schema, batches_of(schema, self._rows(query)))

    def _schema(self, query: str) -> pa.Schema:
        self._is_lost = True
        empty = f"SELECT * FROM ({query}) AS {_unique('described')} LIMIT 0"
        described = self._remote.connection.execute(empty.encode()).description or []
        self._is_lost = False
        return pa.schema([(each.name, _RESULTS[each.type_code]) for each in described])

    def _rows(self, query: str) -> Iterator[list[Sequence[Any]]]:
        """Yield the rows, some at a time; a statement that is not read to its end is lost."""
        from psycopg import capabilities  # noqa: PLC0415 -- optional

        self._is_lost = True
        size = BATCH if capabilities.has_stream_chunked() else 1
        with self._remote.connection.cursor() as cursor:
            batch = []
            for row in cursor.stream(query.encode(), binary=True, size=size):
                batch.append(row)
                if len(batch) == BATCH:
                    yield batch
                    batch = []
            if batch:
                yield batch
        self._is_lost = False


def _unique(what: str) -> str:
    return f"_perrecord_{what}_{uuid4().hex[:12]}"


def _values(name: str, table: pa.Table) -> str:
    """Return a public table as an item of WITH: an array for each column, side by side."""
    arrays, shown = [], []
    for index, (column, values) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if any(is_text(kind) for is_text in _TEXT):
            written, made = "TEXT", POSTGRES.as_text(f"c{index}")
        else:
            written = next((sql for is_kind, sql in _ADDED if is_kind(kind)), "")
            # As Arrow types have it: whole numbers are compared with 64-bit ones.
            is_long = pa.types.is_integer(kind) and kind != pa.uint64()
            written, made = ("BIGINT" if is_long else written), f"c{index}"
        if not written:
            raise InputError(
                f"the column {column!r} of a public table is {kind}, which is not given to "
                "PostgreSQL; expected text, numbers, truth values or dates. Leave it out."
            )
        arrays.append(f"CAST({POSTGRES.string(_array(values.to_pylist()))} AS {written}[])")
        shown.append(f"{made} AS {POSTGRES.identifier(column)}")
    names = ", ".join(f"c{index}" for index in range(len(arrays)))
    rows = f"SELECT {', '.join(shown)} FROM unnest({', '.join(arrays)}) AS _perrecord_rows({names})"
    return f"{POSTGRES.identifier(name)} AS MATERIALIZED ({rows})"


def _array(values: Sequence[Any]) -> str:
    """Return values as PostgreSQL writes an array."""
    return "{" + ",".join(map(_item, values)) + "}"


def _item(value: Any) -> str:
    if value is None:
        return "NULL"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
