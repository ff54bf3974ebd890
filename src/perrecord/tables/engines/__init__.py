"""Engines: where the confidential table lives and the SQL on it runs.

Every engine has a local DuckDB beside it. `keep` brings an aggregate there, and what follows, such
as rolling cells up, runs there in DuckDB's dialect whatever the engine is.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from perrecord.tables.dialects import Dialect
from perrecord.tables.snapshots import Origin
from perrecord.watch import Progress

RESERVED = "_perrecord"
"""How the names of our own tables and columns begin; no column of a source may."""

SOURCE = f"{RESERVED}_source"
"""What a source is called in a DuckDB of ours."""


class Engine(Protocol):
    """What runs SQL on one confidential source. Every failure is a SourceError that quotes nothing.

    It is safe to use from several threads, and while a stream of it is open.
    """

    origin: Origin
    """What the source was opened from, which tells its snapshot."""

    @property
    def dialect(self) -> Dialect:
        """How the engine spells SQL."""

    @property
    def relation(self) -> str:
        """What follows FROM to read the source; an alias may follow it."""

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """The names and Arrow types of the source: public, and known without reading a row."""

    @property
    def is_text(self) -> bool:
        """Whether every column is text because the format has no types, as in CSV."""

    def use(self, names: Iterable[str]) -> None:
        """Read no columns but these from now on; refuse those that cannot be had."""

    def fetch(self) -> None:
        """Copy the rows of a table in somebody's database, unless an earlier query did."""

    def add(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name, on the engine and on the local DuckDB."""

    def add_local(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name on the local DuckDB alone."""

    def drop(self, name: str) -> None:
        """Forget an added or kept table."""

    def keep(self, name: str, sql: str) -> None:
        """Run SQL on the engine; keep its result in the local DuckDB, sums as HUGEINT."""

    def watched(self, share: Progress) -> AbstractContextManager[None]:
        """Tell how much is done of what is kept inside the block, where the engine knows."""

    def local(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the local DuckDB; yield the batches of its result, at least one."""

    def interrupt(self) -> None:
        """Break off whatever runs on the local DuckDB, in any thread."""

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the engine; yield the batches of its result, at least one."""

    def arrow(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table."""

    def frame(self, sql: str) -> Any:
        """Return the result as the engine's own: an Arrow table, or a Spark DataFrame."""

    def close(self) -> None:
        """Let go of everything that the engine holds."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
