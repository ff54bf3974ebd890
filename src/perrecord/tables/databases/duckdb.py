"""DuckDB databases: a file of our own choice is attached for reading, somebody's is copied from."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from perrecord.tables.databases.remote import ALIAS, ONE
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import BATCH_ROWS, Database


class DuckDBTable:
    """A query of a DuckDB that somebody has open, or of a file that is attached to ours.

    Its settings do not reach what we compute: rows are copied as they are, and nothing is compared
    there.
    """

    def __init__(
        self,
        schema: pa.Schema,
        run: Callable[[str], pa.RecordBatchReader],
        query: str,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._run, self._query, self.close = run, query, close
        self.columns = {field.name: _arriving(field.type) for field in schema}

    def check(self, names: Iterable[str]) -> None:
        """Refuse nothing: whatever DuckDB holds, another DuckDB can hold."""

    def read(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """Return every row once."""
        chosen = [_selected(name, self.columns[name]) for name in names] or [f"1 AS {ONE}"]
        return self._run(f"SELECT {', '.join(chosen)} FROM {self._query} AS {ALIAS}")


def guest(connection: Any, query: str) -> DuckDBTable | None:
    """Return a query of somebody's connection; None if neither it nor a cursor of it sees it.

    A cursor sees no temporary view, and leaves an open result of the connection alone.
    """
    for place in (sealed(READ_FAILED, connection.cursor), connection):
        try:
            schema = place.sql(f"FROM ({query}) LIMIT 0").to_arrow_table().schema
        except Exception:  # what it says may quote a record
            if place is not connection:
                place.close()
            continue

        def run(sql: str, place: Any = place) -> pa.RecordBatchReader:
            return place.sql(sql).to_arrow_reader(BATCH_ROWS)

        close = place.close if place is not connection else (lambda: None)
        return DuckDBTable(schema, run, f"({query})", close)
    return None


def attached(database: Database, place: str) -> DuckDBTable:
    """Return a view of a database that is attached to ours."""
    schema = database.schema(f"FROM {place}")

    def run(sql: str) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(database.schema(sql), database.batches(sql))

    return DuckDBTable(schema, run, place)


def _arriving(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is copied in: an enumeration as text."""
    return pa.string() if pa.types.is_dictionary(kind) else kind


def _selected(name: str, kind: pa.DataType) -> str:
    value = f"{ALIAS}.{DUCKDB.identifier(name)}"
    written = f"CAST({value} AS VARCHAR)" if kind == pa.string() else value
    return f"{written} AS {DUCKDB.identifier(name)}"
