"""SQLite: any value may stand in any column, so what is of another type arrives as NULL.

SQLite has whole numbers of 64 bits, floats, text and bytes. A column's declared type says which of
them is meant: DECIMAL and NUMERIC columns hold floats, DATE and TIMESTAMP columns hold text.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from perrecord.tables.databases.remote import BATCH, ONE, UNREADABLE, reader, unreadable

_ADVICE = (
    "make it a column of type INTEGER, REAL or TEXT, such as with CREATE TABLE est AS SELECT "
    "CAST(... AS INTEGER) AS emp, ..."
)
_KINDS: tuple[tuple[str, pa.DataType], ...] = (  # SQLite's own rules for INT to DOUB, in order
    ("BOOL", pa.bool_()),
    ("DATE|TIME", pa.string()),
    ("INT", pa.int64()),
    ("CHAR|CLOB|TEXT|STRING|UUID", pa.string()),
    ("BLOB|BINARY", UNREADABLE),
    ("REAL|FLOA|DOUB|NUM|DEC", pa.float64()),
)


class SQLiteTable:
    """A table or a view, or a query, of one SQLite connection."""

    def __init__(
        self,
        connection: Any,
        relation: str,
        stored: Mapping[str, str],
        close: Callable[[], None],
    ) -> None:
        self._connection, self._relation, self.close = connection, relation, close
        self._stored = dict(stored)
        self.columns = {name: _kind(written) for name, written in stored.items()}

    def check(self, names: Iterable[str]) -> None:
        """Refuse columns of bytes, and those that SQLite gives no type."""
        for name in names:
            if self.columns[name] == UNREADABLE:
                stored = self._stored[name] or "without a type in SQLite"
                raise unreadable(name, stored, _ADVICE)

    def read(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """Return every row once; values of another type than the column's are NULL."""
        chosen = [_selected(name, self.columns[name]) for name in names] or [f"1 AS {ONE}"]
        (encoding,) = self._connection.execute("PRAGMA encoding").fetchone()
        made = [_made(self.columns[name], encoding) for name in names] or [_as_it_is]
        cursor = self._connection.execute(f"SELECT {', '.join(chosen)} FROM {self._relation}")

        def rows() -> Iterator[list[Sequence[Any]]]:
            try:
                while batch := cursor.fetchmany(BATCH):
                    yield [
                        tuple(make(value) for make, value in zip(made, row, strict=True))
                        for row in batch
                    ]
            finally:
                cursor.close()

        return reader(names, self.columns, rows())


def open_sqlite(path: Path) -> sqlite3.Connection:
    """Return a connection that can neither write nor create a database."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def tables_of(connection: sqlite3.Connection) -> list[str]:
    """Return the names of tables and views."""
    listed = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
    )
    return [name for (name,) in listed]


def stored_types(connection: sqlite3.Connection, relation: str) -> dict[str, str]:
    """Return the columns of a table with their declared types; no row is read."""
    listed = connection.execute(
        "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1", (relation,)
    )
    return dict(listed.fetchall())


def quoted(name: str) -> str:
    """Return a name in SQLite's quotes."""
    return '"' + name.replace('"', '""') + '"'


def _kind(written: str) -> pa.DataType:
    for pattern, kind in _KINDS:
        if re.search(pattern, written.upper()):
            return kind
    return UNREADABLE


def _selected(name: str, kind: pa.DataType) -> str:
    """Return the column where it holds what its type says, and NULL elsewhere.

    Text comes as its bytes, because Python fails on text that is not valid.
    """
    value = quoted(name)
    if kind == pa.string():
        return f"CASE typeof({value}) WHEN 'text' THEN CAST({value} AS BLOB) END"
    if kind == pa.float64():
        return f"CASE WHEN typeof({value}) IN ('integer', 'real') THEN CAST({value} AS REAL) END"
    whole = f"CASE typeof({value}) WHEN 'integer' THEN {value} END"
    return whole if kind == pa.int64() else f"CASE {whole} WHEN 0 THEN 0 WHEN 1 THEN 1 END"


def _made(kind: pa.DataType, encoding: str) -> Callable[[Any], Any]:
    if kind == pa.bool_():
        return lambda value: None if value is None else bool(value)
    return (lambda value: _decoded(value, encoding)) if kind == pa.string() else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _decoded(value: bytes | None, encoding: str) -> str | None:
    try:
        return None if value is None else value.decode(encoding)
    except UnicodeDecodeError:
        return None
