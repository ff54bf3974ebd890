"""Databases as doors: DuckDB and SQLite files and PostgreSQL by address, Ibis with odd settings."""

import atexit
import sqlite3
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import duckdb

from perrecord.lab.audit.doors import server
from perrecord.lab.audit.doors.door import Door, DoorSource, arrow_of, package
from perrecord.lab.audit.doors.held import Held

_COLLATIONS = ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", ""]
_SETTINGS = [
    *("integer_division = true", "default_null_order = 'nulls_first'", "default_order = 'desc'"),
    *("preserve_insertion_order = false", "old_implicit_casting = true", "threads = 1"),
    *("ieee_floating_point_ops = false", "scalar_subquery_error_on_multiple_rows = false"),
    "disabled_optimizers = 'statistics_propagation,filter_pushdown'",
]
_MISFITS: dict[str, list[Any]] = {
    "int64": ["abc", "1x", "1e", 1.5, b"\x01"],
    "float64": ["abc", "1x", "", b"1.5"],
    "text": [b"farm", b"\xff\xfe"],
}
"""What SQLite keeps as it is in a column of another type, where it is as good as NULL."""
_SQLITE = {"int64": "INTEGER", "float64": "REAL", "text": "TEXT"}


def database_doors() -> list[Door]:
    """Return the doors of databases."""
    kinds = ("int64", "float64")
    found = [
        Door("a DuckDB file, by its address", _duckdb_file),
        Door("a SQLite file, by its address", _sqlite_file, kinds),
        Door("Ibis on a DuckDB with odd settings", _ibis_duckdb, needs=("ibis",)),
        Door("Ibis on SQLite", _ibis_sqlite, kinds, needs=("ibis",)),
        *(
            Door(name, partial(_postgres, is_view), _POSTGRES, needs=_postgres_needs(), every=5)
            for name, is_view in ((PUSHED, False), ("a view of PostgreSQL, copied", True))
        ),
    ]
    return [replace(door, is_linked=False) for door in found]


PUSHED = "a table of PostgreSQL, scanned by its server"
_POSTGRES = (
    *("int16", "int32", "int64", "float32", "float64"),
    *("decimal(4,2)", "decimal(9,3)", "decimal(18,1)"),
)


def _postgres_needs() -> tuple[str, ...]:
    return ("psycopg",) if server.programs() else ("psycopg", "initdb")


def _postgres(is_view: bool, _: Path, held: Held, random: Random) -> DoorSource:
    """Put the rows into the server of this process, under an odd collation or none."""
    own = f"rows_{uuid4().hex}"
    collated = random.choice(["text", 'text COLLATE "en-x-icu"', "varchar", "text"])
    with package("psycopg").connect(_address(), autocommit=True) as connection:
        server.fill(connection, own, arrow_of(held), {"sector": collated})
        connection.execute(f"CREATE VIEW {own}_v AS TABLE {own}")
    return DoorSource(_address(), {"relation": f"{own}_v" if is_view else own})


@cache
def _address() -> str:
    """Return the address of a server that lasts as long as this process."""
    started = server.running(server.programs() or Path())
    address = started.__enter__()
    atexit.register(started.__exit__, None, None, None)
    return address


def _duckdb_file(folder: Path, held: Held, random: Random) -> DoorSource:
    path = folder / "rows.ddb"
    with duckdb.connect(str(path)) as connection:
        _fill(connection, held, random)
    return DoorSource(f"duckdb://{path}", {"relation": "rows"})


def _ibis_duckdb(_: Path, held: Held, random: Random) -> DoorSource:
    connection = package("ibis").duckdb.connect()
    collation = f"default_collation = '{random.choice(_COLLATIONS)}'"
    for setting in (collation, *random.sample(_SETTINGS, 2)):
        connection.con.execute(f"SET {setting}")
    _fill(connection.con, held, random)
    return DoorSource(connection.table("rows"))


def _fill(connection: Any, held: Held, random: Random) -> None:
    connection.register("given", arrow_of(held))
    connection.execute("CREATE TABLE rows AS FROM given")
    if random.random() < 0.5:  # the same values under a collation of the column's own
        connection.execute("ALTER TABLE rows ALTER sector TYPE VARCHAR COLLATE NOCASE")
    connection.unregister("given")


def _sqlite_file(folder: Path, held: Held, random: Random) -> DoorSource:
    path = folder / "rows.sqlite"
    _fill_sqlite(path, held, random)
    return DoorSource(f"sqlite://{path}", {"relation": "rows"})


def _ibis_sqlite(folder: Path, held: Held, random: Random) -> DoorSource:
    path = folder / "rows.sqlite"
    _fill_sqlite(path, held, random)
    return DoorSource(package("ibis").sqlite.connect(str(path)).table("rows"))


def _fill_sqlite(path: Path, held: Held, random: Random) -> None:
    """Write the rows, misfits for some NULLs, and a column of misfits that nobody declares."""
    names = list(held.kinds)
    columns = ", ".join(f"{name} {_SQLITE[held.kinds[name]]}" for name in names)
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE rows ({columns}, unused INTEGER)")
        connection.executemany(
            f"INSERT INTO rows VALUES ({', '.join('?' * len(names))}, 'abc')",  # noqa: S608 - ours
            [[_stored(row[name], held.kinds[name], random) for name in names] for row in held.rows],
        )
    connection.close()


def _stored(value: Any, kind: str, random: Random) -> Any:
    return random.choice(_MISFITS[kind]) if value is None and random.random() < 0.3 else value
