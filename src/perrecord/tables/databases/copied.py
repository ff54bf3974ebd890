"""The engine of a table in somebody's database: its rows come to a DuckDB of ours, once."""

from collections.abc import Iterable, Iterator
from threading import Lock

import pyarrow as pa

from perrecord.tables.databases.remote import Remote
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines import SOURCE
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database
from perrecord.tables.engines.duckdb import DuckDBEngine


class CopiedEngine(DuckDBEngine):
    """A DuckDB of ours that holds the declared columns of a table elsewhere.

    The first query copies them, and no other reads the database again: a view that draws random
    numbers is one table for all scans, and no setting of the database reaches what is computed.
    """

    def __init__(self, database: Database, remote: Remote) -> None:
        self._database = database
        self._remote = remote
        self._copying, self._is_copied = Lock(), False
        self.is_text = False
        self.relation = DUCKDB.identifier(SOURCE)
        self.columns = dict(remote.columns)
        self._names = list(self.columns)

    def use(self, names: Iterable[str]) -> None:
        """Copy these columns and no others; refuse those that cannot be had."""
        wanted = set(names)
        self._names = [name for name in self.columns if name in wanted]
        self._remote.check(self._names)

    def fetch(self) -> None:
        """Copy the rows, unless an earlier query did."""
        with self._copying:
            if self._is_copied:
                return
            self._remote.check(self._names)
            rows = sealed(READ_FAILED, lambda: self._remote.read(self._names))
            self._database.load(SOURCE, rows)
            self._is_copied = True

    def keep(self, name: str, sql: str) -> None:
        """Run SQL and keep its result as a table of this name."""
        self.fetch()
        super().keep(name, sql)

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL; yield the batches of its result, at least one."""
        self.fetch()
        return super().batches(sql)

    def arrow(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table."""
        self.fetch()
        return super().arrow(sql)

    def close(self) -> None:
        """Forget what was copied, and let go of the database."""
        try:
            sealed(READ_FAILED, self._remote.close)
        finally:
            super().close()
