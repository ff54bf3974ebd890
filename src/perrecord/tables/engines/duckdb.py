"""The DuckDB engines: a database of our own, or one that somebody has open."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from perrecord.tables.dialects import DUCKDB, Dialect
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database, stream_from
from perrecord.watch import Share


class DuckDBEngine:
    """A source inside a DuckDB of our own, which serves as the local DuckDB as well."""

    dialect: Dialect = DUCKDB

    def __init__(self, database: Database, relation: str, *, is_text: bool = False) -> None:
        self._database = database
        self.is_text = is_text
        self.relation = relation
        self.columns = _columns(database.schema(f"FROM {relation}"))

    def add(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name."""
        self._database.view(name, table)

    def add_local(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name on the local DuckDB alone."""
        self._database.view(name, table)

    def drop(self, name: str) -> None:
        """Forget an added or kept table."""
        self._database.drop(name)

    def keep(self, name: str, sql: str) -> None:
        """Run SQL and keep its result as a table of this name."""
        self._database.keep(name, sql)

    def watched(self, share: Share) -> AbstractContextManager[None]:
        """Tell how much is done of what is kept inside the block."""
        return self._database.watched(share)

    def local(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL; yield the batches of its result, at least one."""
        return self._database.batches(sql)

    def interrupt(self) -> None:
        """Break off whatever runs on the local DuckDB, in any thread."""
        self._database.interrupt()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL; yield the batches of its result, at least one."""
        return self._database.batches(sql)

    def frame(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table."""
        return self._database.table(sql)

    def close(self) -> None:
        """Forget the source and every table, and remove what was spilled."""
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


class GuestDuckDBEngine(DuckDBEngine):
    """A source inside a DuckDB that somebody else has open, reached through cursors of its own.

    Nothing is written there and no setting is changed: side tables are views of one cursor, and
    what is kept goes to a local DuckDB of ours.
    """

    def __init__(self, connection: Any, relation: str, database: Database) -> None:
        self._connection = connection
        self._database = database
        self._views: dict[str, pa.Table] = {}
        self.is_text = False
        self.relation = relation
        self.columns = _columns(self.frame(f"FROM {relation} LIMIT 0").schema)

    def add(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name, there and on the local DuckDB."""
        self._views[name] = table
        self._database.view(name, table)

    def drop(self, name: str) -> None:
        """Forget an added or kept table."""
        self._views.pop(name, None)
        self._database.drop(name)

    def keep(self, name: str, sql: str) -> None:
        """Run SQL there and keep its result in the local DuckDB."""
        cursor = sealed(READ_FAILED, self._cursor)
        try:
            reader = sealed(READ_FAILED, lambda: cursor.sql(sql).to_arrow_reader())
            self._database.load(name, reader)
        finally:
            cursor.close()

    def watched(self, share: Share) -> AbstractContextManager[None]:  # noqa: ARG002
        """Tell nothing: a setting of a connection that is not ours would have to be changed."""
        return nullcontext()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL there; yield the batches of its result, at least one."""
        cursor = sealed(READ_FAILED, self._cursor)
        return stream_from(cursor, sql, cursor.close)

    def frame(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table."""
        return pa.Table.from_batches(self.batches(sql))

    def _cursor(self) -> Any:
        cursor = self._connection.cursor()
        for name, table in list(self._views.items()):
            cursor.register(name, table)
        return cursor


def _columns(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}
