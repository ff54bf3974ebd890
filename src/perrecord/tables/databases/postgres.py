"""PostgreSQL: types are kept, so only NaN, infinity and dates far away have to become NULL.

A plain table is scanned by the server (`pushed.py`); of a view, or whatever else is computed anew
each time, the declared columns are copied (`copied.py`). Both read `PostgresTable.selection`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.databases.remote import ALIAS, BATCH, ONE, UNREADABLE, reader, unreadable
from perrecord.tables.dialects import POSTGRES

_ADVICE = (
    "make it text, a whole number, numeric(18, 2), double precision, boolean or date in a view, "
    "such as with CAST({name} AS {to})"
)
_TYPES = {21: pa.int16(), 23: pa.int32(), 20: pa.int64(), 700: pa.float32(), 701: pa.float64()}
_TYPES |= {16: pa.bool_(), 1082: pa.string()}
_DATE, _MOMENT, _NUMERIC, _UUID = 1082, 1114, 1700, 2950
_DIGITS = 38
_UNLIMITED = (25, 10)
"""Digits and places of a numeric column that declares none."""


_OLDEST = 12_00_00
"""The first version with materialised WITH, which is one of those that are still maintained."""

_IS_PLAIN = b"""
WITH RECURSIVE every(oid) AS (
    SELECT to_regclass(%(relation)s)::oid
    UNION SELECT inhrelid FROM pg_inherits JOIN every ON inhparent = every.oid
)
SELECT bool_and(relkind IN ('r', 'p') AND NOT relrowsecurity AND NOT EXISTS (
    SELECT FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND (
        attgenerated = 'v'
        OR typcategory = 'S' AND pg_type.oid >= 16384 AND typtype <> 'd'
        OR typtype = 'd' AND typbasetype >= 16384
        OR EXISTS (SELECT FROM pg_cast WHERE castsource = atttypid AND atttypid >= 16384)
    )
)) FROM every JOIN pg_class ON pg_class.oid = every.oid
"""
"""Types from 16384 on are somebody's own; enumerations and domains of built-in types are read."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: PostgreSQL's name of its type, the type that it arrives in, and the SQL for it."""

    stored: str
    kind: pa.DataType
    sql: str
    is_moment: bool = False


class PostgresTable:
    """A table, a view or a query of one PostgreSQL connection."""

    def __init__(self, connection: Any, relation: str, close: Callable[[], None]) -> None:
        self.connection, self.relation, self.close = connection, relation, close
        self._described = _described(connection, relation)
        self.columns = {name: each.kind for name, each in self._described.items()}

    def has_changed(self) -> bool:
        """Return whether columns or types are others than when the relation was opened."""
        now = _described(self.connection, self.relation)
        read = [
            [(name, each.kind, each.sql) for name, each in found.items()]
            for found in (now, self._described)
        ]
        return read[0] != read[1]

    def check(self, names: Iterable[str]) -> None:
        """Refuse types that have no counterpart, and text whose encoding the server ignores."""
        for name in names:
            found = self._described[name]
            if found.kind == UNREADABLE:
                to = "date" if found.is_moment else "text"
                raise unreadable(name, found.stored, _ADVICE.format(name=name, to=to))
            if found.kind == pa.string():
                self._check_encodings(name)

    def _check_encodings(self, name: str) -> None:
        setting = self.connection.info.parameter_status
        if setting("server_encoding") == "SQL_ASCII":
            raise SourceError(
                f"the column {name!r} is text in a database of encoding SQL_ASCII, where text may "
                "be any bytes; copy the table to a database of encoding UTF8."
            )
        if setting("client_encoding") != "UTF8":
            raise SourceError(
                f"the column {name!r} is text, and the connection's client_encoding is "
                f"{setting('client_encoding')}, which lacks characters; SET client_encoding = "
                "'UTF8' first."
            )

    def selection(self, names: Iterable[str]) -> str:
        """Return the SELECT of these columns, each in the type that it arrives in."""
        chosen = [f"{self._described[name].sql} AS {quoted(name)}" for name in names]
        return f"SELECT {', '.join(chosen) or f'1 AS {ONE}'} FROM {self.relation} AS {ALIAS}"

    def read(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """Return every row once, through a cursor on the server, so that rows do not pile up."""
        query = self.selection(names)

        def rows() -> Iterator[list[Sequence[Any]]]:
            with (
                self.connection.transaction(),
                self.connection.cursor(f"{ONE}_rows") as cursor,
            ):
                cursor.execute(query.encode(), binary=True)  # floats bit by bit
                while batch := cursor.fetchmany(BATCH):
                    yield batch

        return reader(names, self.columns, rows())


def open_postgres(address: str) -> Any:
    """Return a connection on which nothing can be written."""
    import psycopg  # noqa: PLC0415 -- optional

    connection = psycopg.connect(address, autocommit=True, client_encoding="UTF8")
    connection.execute(b"SET default_transaction_read_only = on")
    return connection


def is_plain(connection: Any, relation: str) -> bool:
    """Return whether the server may scan a relation in place of a copy.

    It is a table whose rows are stored, all of them here, and read without a function that somebody
    wrote: no view, foreign or materialised table, no row security, no virtual column, no type of
    text with a cast of its own. In all scans of one transaction its rows are then the same.
    """
    if connection.info.server_version < _OLDEST:
        return False
    if connection.info.parameter_status("server_encoding") != "UTF8":
        return False
    (found,) = connection.execute(_IS_PLAIN, {"relation": relation}).fetchone()
    return bool(found)


def full_name(connection: Any, relation: str) -> str:
    """Return a relation's name with that of its schema, which no search path can change."""
    parts = connection.execute(
        b"SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = "
        b"relnamespace WHERE pg_class.oid = to_regclass(%s)",
        (relation,),
    ).fetchone()
    return ".".join(map(quoted, parts))


def tables_of(connection: Any, schema: str) -> list[str]:
    """Return the tables and views of a schema, or of those that names are looked up in."""
    listed = connection.execute(
        b"SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        b"WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND (nspname = %(schema)s "
        b"OR %(schema)s = '' AND nspname = ANY(current_schemas(false))) ORDER BY relname",
        {"schema": schema},
    )
    return [name for (name,) in listed.fetchall()]


def quoted(name: str) -> str:
    """Return a name in PostgreSQL's quotes."""
    return '"' + name.replace('"', '""') + '"'


def _described(connection: Any, relation: str) -> dict[str, _Column]:
    """Return the columns of a relation; its rows are not read."""
    empty = f"SELECT * FROM {relation} AS {ALIAS} LIMIT 0"
    with connection.cursor() as cursor:
        columns = cursor.execute(empty.encode()).description or []
        codes = [each.type_code for each in columns]
        types = cursor.execute(
            b"SELECT oid, format_type(oid, NULL), typtype::text = 'e' OR typcategory::text = 'S', "
            b"typcategory::text = 'D' FROM pg_type WHERE oid = ANY(%s)",
            (codes,),
        ).fetchall()
    known = {code: rest for code, *rest in types}
    return {each.name: _column(each, *known[each.type_code]) for each in columns}


def _column(column: Any, stored: str, is_text: bool, is_moment: bool) -> _Column:
    value = f"{ALIAS}.{quoted(column.name)}"
    if column.type_code == _NUMERIC:
        return _numeric(stored, value, column.precision, column.scale)
    if column.type_code == _DATE:
        in_range = f"{value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        sql = f"CASE WHEN {in_range} THEN to_char({value}, 'YYYY-MM-DD') END"
        return _Column(stored, pa.string(), sql)
    if column.type_code == _MOMENT:
        return _Column(stored, pa.string(), POSTGRES.moment_as_text(value, "us"))
    if is_text or column.type_code == _UUID:
        return _Column(stored, pa.string(), f"CAST({value} AS text)")
    kind = _TYPES.get(column.type_code, UNREADABLE)
    return _Column(stored, kind, value, is_moment)


def _numeric(stored: str, value: str, digits: int | None, places: int | None) -> _Column:
    """Return a decimal column; NaN, infinity and what has more digits is NULL.

    Places beyond those that are kept are cut off, not rounded: what lies just below the middle
    between two multiples of a resolution stays below it, and is rounded to the grid once.
    """
    digits, places = _UNLIMITED if digits is None or places is None else (digits, places)
    if not 0 <= places <= digits <= _DIGITS:
        return _Column(f"{stored}({digits}, {places})", UNREADABLE, value)
    kept = f"trunc({value}, {places})"
    # NaN and infinity are above every number.
    fits = f"abs({kept}) < CAST('1e{digits - places}' AS numeric)"
    sql = f"CASE WHEN {fits} THEN {kept} END"
    return _Column(stored, pa.decimal128(digits, places), sql)
