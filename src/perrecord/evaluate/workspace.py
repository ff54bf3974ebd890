"""Tables of our own beside a confidential source, for as long as one evaluation lasts."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from uuid import uuid4

import pyarrow as pa

from perrecord.queries.values import JoinedTables
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines import Engine
from perrecord.tables.table import Table

_NO_TABLES: Mapping[str, pa.Table] = {}

DOUBLE = "_perrecord_double"
"""What the type of 64-bit floats is called in statements, until an engine is to run them."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where intermediate results are held: in the engine and its local DuckDB."""

    engine: Engine
    prefix: str
    _kept: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def parts(self) -> JoinedTables:
        """Return an empty set of public tables to be joined by one statement."""
        return JoinedTables(self.engine.dialect, self._name("parts"))

    def local_parts(self) -> JoinedTables:
        """Return the same for a statement on the local DuckDB."""
        return JoinedTables(DUCKDB, self._name("parts"))

    def keep(self, sql: str, tables: Mapping[str, pa.Table]) -> str:
        """Run SQL that joins public tables; return the name of its result in the local DuckDB."""
        kept = self._name("kept")
        with self._beside(self.engine.add, tables):
            self._kept.append(kept)
            self.engine.keep(kept, sql.replace(DOUBLE, self.engine.dialect.double))
        return kept

    def add_local(self, rows: pa.Table) -> str:
        """Make a small table known to the local DuckDB; return its name."""
        name = self._name("local")
        self._kept.append(name)
        self.engine.add_local(name, rows)
        return name

    def read(self, sql: str, tables: Mapping[str, pa.Table] = _NO_TABLES) -> pa.Table:
        """Return the result of SQL on the local DuckDB; it should be small."""
        with self.stream(sql, tables) as batches:
            return pa.Table.from_batches(batches)

    @contextmanager
    def stream(
        self, sql: str, tables: Mapping[str, pa.Table] = _NO_TABLES
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        """Give the result of SQL on the local DuckDB, batch by batch; it may be large."""
        with self._beside(self.engine.add_local, tables):
            yield self.engine.local(sql.replace(DOUBLE, DUCKDB.double))

    @contextmanager
    def _beside(
        self, add: Callable[[str, pa.Table], None], tables: Mapping[str, pa.Table]
    ) -> Iterator[None]:
        """Make public tables known for one statement."""
        added = []
        try:
            for name, rows in tables.items():
                added.append(name)
                add(name, rows)
            yield
        finally:
            for name in added:
                self.engine.drop(name)

    def clear(self) -> None:
        """Forget every table."""
        for name in self._kept:
            self.engine.drop(name)

    def _name(self, kind: str) -> str:
        return f"{self.prefix}_{kind}{next(self._numbers)}"


@contextmanager
def workspace(table: Table) -> Iterator[Workspace]:
    """Give a workspace beside a table, and clear it in the end."""
    found = Workspace(table.engine, f"_perrecord_{uuid4().hex[:12]}")
    try:
        yield found
    finally:
        found.clear()
