"""Our own DuckDB inside this process: bounded memory, spilling to a private folder, locked."""

import os
import re
import shutil
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from perrecord.errors import InputError, SourceError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import READ_FAILED, interruptible, sealed, stream
from perrecord.watch import Progress

Result = TypeVar("Result")

BATCH_ROWS = 100_000
_GATHERED_ROWS, _GATHERED_BYTES = 1 << 18, 1 << 25
"""How much is appended at once: DuckDB holds groups of 122,880 rows, and smaller ones cost more."""

_INCOMING = "_perrecord_incoming"
_NONE: Mapping[str, Mapping[str, int]] = {}
_TRIES, _PAUSE = 20, 0.05  # seconds


class Database:
    """A DuckDB of our own. Each query has a cursor of its own, so streams may be open side by side.

    Tables live in memory and spill, like intermediate results, to a folder that only this user may
    read and that goes when the database is closed.
    """

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        spill_folder: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        if memory_limit is not None:
            settings["memory_limit"] = _checked_memory(memory_limit)
        if threads is not None:
            settings["threads"] = str(_checked_threads(threads))
        folder = _private_folder(spill_folder)  # last, so that a refusal leaves none behind
        settings["temp_directory"] = self.folder = folder
        self._clean = weakref.finalize(self, remove_folder, folder)
        self._connection = sealed(
            "DuckDB could not be started; type perrecord doctor to see what is wrong."
            if memory_limit is None
            else "DuckDB could not be started with this memory limit; give another, such as 4GB.",
            lambda: duckdb.connect(":memory:", config=settings),
        )
        self._views: dict[str, Any] = {}
        self._open: set[Any] = set()
        self._watching = threading.local()
        self._keeping = threading.Lock()
        self._keeper = sealed(READ_FAILED, self._told)

    def view(self, name: str, data: Any) -> None:
        """Show an Arrow table or dataset under this name, without copying it."""
        self._views[name] = data

    def run(self, sql: str, message: str = READ_FAILED) -> None:
        """Run one statement."""
        self._once(message, lambda cursor: cursor.execute(sql))

    def keep(self, name: str, sql: str) -> None:
        """Run SQL and keep its result as a table."""
        statement = f"CREATE TABLE {DUCKDB.identifier(name)} AS {sql}"
        share: Progress | None = getattr(self._watching, "share", None)
        if share is None:
            self.run(statement)
            return
        with self._keeping:
            self._keep_and_tell(statement, share)

    def _keep_and_tell(self, statement: str, share: Progress) -> None:
        """Run a statement on the cursor that counts; what the listener raises is no fault of it."""
        raised: list[BaseException] = []

        def tell() -> None:
            done = self._keeper.query_progress()
            try:
                if done >= 0 and not raised:
                    share(min(done / 100, 1.0))
            except Exception as error:
                raised.append(error)

        views = dict(self._views)
        sealed(READ_FAILED, lambda: _show(views, self._keeper))
        try:
            sealed(
                READ_FAILED,
                lambda: interruptible(
                    lambda: self._keeper.execute(statement), self._keeper.interrupt, tell
                ),
            )
        finally:
            sealed(READ_FAILED, lambda: [self._keeper.unregister(name) for name in views])
        if raised:
            raise raised[0]

    @contextmanager
    def watched(self, share: Progress) -> Iterator[None]:
        """Tell how much is done of what is kept inside the block."""
        self._watching.share = share
        try:
            yield
        finally:
            self._watching.share = None

    def interrupt(self) -> None:
        """Break off whatever runs, in any thread; it fails as if its source could not be read."""
        for cursor in list(self._open):
            with suppress(duckdb.Error):  # it may have been closed meanwhile
                cursor.interrupt()

    def load(
        self, name: str, reader: pa.RecordBatchReader, sums: Mapping[str, Mapping[str, int]] = _NONE
    ) -> None:
        """Keep a stream of Arrow batches as a table; 38-digit decimals become HUGEINT.

        `sums` names columns that are sums of others, which have a factor each and are not kept.
        The stream is read in the caller's thread, because SQLite answers no other.
        """
        table = DUCKDB.identifier(name)
        added = {part for parts in sums.values() for part in parts}
        kept = {
            field.name: _kept(DUCKDB.identifier(field.name), field.type)
            for field in reader.schema
            if field.name not in added
        }
        kept |= {column: _added_up(parts) for column, parts in sums.items()}
        columns = (f"{sql} AS {DUCKDB.identifier(column)}" for column, sql in kept.items())
        chosen = f"SELECT {', '.join(columns)} FROM {_INCOMING}"
        cursor = sealed(READ_FAILED, self._cursor)

        def append(data: pa.Table, sql: str) -> None:
            cursor.register(_INCOMING, data)
            interruptible(lambda: cursor.execute(sql), cursor.interrupt)

        def copy() -> None:
            append(reader.schema.empty_table(), f"CREATE TABLE {table} AS {chosen}")
            for data in _gathered(reader):
                append(data, f"INSERT INTO {table} {chosen}")

        try:
            sealed(READ_FAILED, copy)
        except BaseException:
            self.drop(name)
            raise
        finally:
            self._close(cursor)

    def drop(self, name: str) -> None:
        """Forget a view or a table."""
        if self._views.pop(name, None) is None:
            self.run(f"DROP TABLE IF EXISTS {DUCKDB.identifier(name)}")

    def schema(self, sql: str, message: str = READ_FAILED) -> pa.Schema:
        """Return the names and types of a result without computing it."""
        empty = f"FROM ({sql}) LIMIT 0"
        table: pa.Table = self._once(message, lambda cursor: cursor.sql(empty).to_arrow_table())
        return table.schema

    def table(self, sql: str) -> pa.Table:
        """Return a whole result."""
        return self._once(READ_FAILED, lambda cursor: cursor.sql(sql).to_arrow_table())

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Yield a result batch by batch, at least one."""
        cursor = sealed(READ_FAILED, self._cursor)
        return stream_from(cursor, sql, lambda: self._close(cursor))

    def lock(self, files: Sequence[Path]) -> None:
        """Allow these files only, forbid every other file and the network, and lock that."""
        allowed = ", ".join(DUCKDB.literal(text) for path in files for text in spellings(path))
        for statement in (
            f"SET allowed_paths = [{allowed}]",
            "SET enable_external_access = false",
            "SET lock_configuration = true",
        ):
            self.run(statement)

    def close(self) -> None:
        """Forget every table and remove the spill folder."""
        self._views.clear()
        try:
            sealed("the local DuckDB could not be closed.", self._connection.close)
        finally:
            self._clean()

    def _told(self) -> Any:
        """Return a cursor that counts how far it is; once locked, no cursor can be told to."""
        cursor = self._connection.cursor()
        for setting in ("bar = true", "bar_print = false"):
            cursor.execute(f"SET enable_progress_{setting}")
        return cursor

    def _cursor(self) -> Any:
        cursor = self._connection.cursor()
        self._open.add(cursor)
        _show(self._views, cursor)
        return cursor

    def _close(self, cursor: Any) -> None:
        self._open.discard(cursor)
        cursor.close()

    def _once(self, message: str, action: Callable[[Any], Result]) -> Result:
        cursor = sealed(message, self._cursor)
        try:
            return sealed(message, lambda: interruptible(lambda: action(cursor), cursor.interrupt))
        finally:
            self._close(cursor)


def _kept(column: str, kind: pa.DataType) -> str:
    return f"CAST({column} AS HUGEINT)" if kind == pa.decimal128(38, 0) else column


def _added_up(parts: Mapping[str, int]) -> str:
    return " + ".join(
        f"CAST({DUCKDB.identifier(part)} AS HUGEINT) * {factor}" for part, factor in parts.items()
    )


def _gathered(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield a stream's batches, small ones together: each statement takes time of its own."""
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _GATHERED_ROWS or size >= _GATHERED_BYTES:
            yield pa.Table.from_batches(batches)
            batches, rows, size = [], 0, 0
    if batches:
        yield pa.Table.from_batches(batches)


def _show(views: Mapping[str, Any], cursor: Any) -> None:
    """Make views known to a cursor: they belong to one cursor each."""
    for name, data in list(views.items()):
        cursor.register(name, data)


@contextmanager
def closed_on_failure(database: Database) -> Iterator[Database]:
    """Give the database, and close it should what follows fail."""
    try:
        yield database
    except BaseException:
        database.close()
        raise


def stream_from(cursor: Any, sql: str, close: Callable[[], None]) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a query on a cursor, and close the cursor."""

    def advance(step: Callable[[], Any]) -> Any:
        return interruptible(step, cursor.interrupt)

    reader = sealed(
        READ_FAILED, lambda: advance(lambda: cursor.sql(sql).to_arrow_reader(BATCH_ROWS))
    )
    return stream(READ_FAILED, reader, advance, close)


def spellings(path: Path) -> tuple[str, ...]:
    """Return a file's path as it is, and as a pattern that matches it alone."""
    plain = str(path)
    pattern = re.sub(r"([*?\[])", r"[\1]", plain)
    return (plain,) if pattern == plain else (plain, pattern)


def remove_folder(folder: str) -> None:
    """Remove a spill folder, or warn that it is left; Ctrl-C does not break this off."""
    try:
        gone = _removed(folder)
    except KeyboardInterrupt:
        remove_folder(folder)
        raise
    if not gone:
        warnings.warn(
            f"the spill folder {folder!r} could not be removed, and may hold records; "
            "remove it by hand.",
            stacklevel=2,
        )


def _removed(folder: str) -> bool:
    """Say whether it is gone; threads of an interrupted query may still put files into it."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return True
        time.sleep(_PAUSE)
    return False


def _private_folder(parent: str | Path | None) -> str:
    try:
        return tempfile.mkdtemp(prefix="perrecord-", dir=parent)  # mode 0700
    except OSError:
        raise SourceError(
            f"there is no folder {str(parent)!r} to spill to, or it cannot be written; make it "
            "first, on a disk with room for the source."
        ) from None


def _checked_memory(text: str) -> str:
    if not isinstance(text, str) or not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", text, re.I):
        raise InputError(f'the memory limit is {text!r}; expected a size such as "4GB".')
    return text


def _checked_threads(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"the number of threads is {count!r}; expected a whole number from 1.")
    return count
