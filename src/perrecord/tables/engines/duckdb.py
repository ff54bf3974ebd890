"""The DuckDB engine: a source inside a database of our own."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import pyarrow as pa

from perrecord.tables.dialects import DUCKDB, Dialect
from perrecord.tables.engines.database import Database
from perrecord.tables.snapshots import Elsewhere, Origin
from perrecord.watch import Progress


class DuckDBEngine:
    """A source inside a DuckDB of our own, which serves as the local DuckDB as well."""

    dialect: Dialect = DUCKDB
    origin: Origin = Elsewhere()

    def __init__(self, database: Database, relation: str, *, is_text: bool = False) -> None:
        self._database = database
        self.is_text = is_text
        self.relation = relation
        self.columns = _columns(database.schema(f"FROM {relation}"))

    def use(self, names: Iterable[str]) -> None:
        """Do nothing: a query reads what it names and no more."""

    def fetch(self) -> None:
        """Do nothing: rows stay where they are."""

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

    def watched(self, share: Progress) -> AbstractContextManager[None]:
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

    def arrow(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table."""
        return self._database.table(sql)

    def frame(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table, which is what frames are here."""
        return self.arrow(sql)

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


def _columns(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}
