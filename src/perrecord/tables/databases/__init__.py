"""Tables of databases as a source: Ibis tables, and addresses such as sqlite:///data/farms.db.

Opening one reads names and types. Plain tables of PostgreSQL and of DuckDB files are scanned where
they are; of all else the declared columns are copied when the first query runs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from perrecord.errors import SourceError, listing, suggestion
from perrecord.tables.addresses import file_of, scheme_of
from perrecord.tables.columns import checked_names
from perrecord.tables.databases import duckdb, postgres, sqlite
from perrecord.tables.databases.copied import CopiedEngine
from perrecord.tables.databases.others import (
    IbisTable,
    driver_advice,
    ibis_module,
    known_warnings,
)
from perrecord.tables.databases.pushed import PushedEngine
from perrecord.tables.databases.remote import Remote
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines import RESERVED, Engine
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database, closed_on_failure
from perrecord.tables.engines.duckdb import DuckDBEngine
from perrecord.tables.engines.spark import open_spark

Table = TypeVar("Table", bound=Remote)

_ATTACHED = f"{RESERVED}_attached"
_OF_FILES = (
    *("abfs", "abfss", "adl", "az", "azure", "file", "ftp", "gcs", "gs"),
    *("hdfs", "hf", "http", "https", "s3", "s3a", "s3n", "sftp"),
)
"""Schemes that name files; those elsewhere would have to be fetched, and nothing here fetches."""


def open_address(address: str, relation: str | None, database: Callable[[], Database]) -> Engine:
    """Return an engine on one table of the database at an address; the address is never quoted."""
    scheme = scheme_of(address)
    if scheme in _OF_FILES:
        raise SourceError(
            f"the source is a {scheme} address; expected the path of a file on this machine, which "
            'is written without a scheme, as "farms.parquet". Nothing is fetched: copy the file '
            "here first."
        )
    if relation is None:
        raise SourceError(
            f"the {scheme} address names a database; say which table of it is the source, such "
            'as relation="farms".'
        )
    path = file_of(address)
    if path is not None and not path.is_file():
        raise _no_file(path, scheme)
    match scheme:
        case "duckdb":
            return _open_duckdb(path or Path(), relation, database)
        case "sqlite":
            return _copied(_sqlite_table(path or Path(), relation), database)
        case "postgres" | "postgresql":
            return _open_postgres(address, relation, database)
        case _:
            return _copied(_ibis_table(address, scheme, relation), database)


def open_ibis(table: Any, database: Callable[[], Database]) -> Engine:
    """Return an engine on an Ibis table: where it is when that is Spark, else copied."""
    checked_names(list(table.columns), "the Ibis table")
    with known_warnings():
        backend = sealed(
            "the Ibis table belongs to no database, or to several; expected one.",
            table.get_backend,
        )
        if backend.name == "pyspark":
            query = sealed(READ_FAILED, lambda: backend.compile(table))
            frame = sealed(READ_FAILED, lambda: backend._session.sql(query))
            return open_spark(frame, database)
        return _copied(sealed(READ_FAILED, lambda: _of_ibis(backend, table)), database)


def _of_ibis(backend: Any, table: Any) -> Remote:
    """Return an Ibis table through the connection beneath it, where we have a reader for that."""
    found: Remote | None = None
    match backend.name:
        case "duckdb":
            found = duckdb.guest(backend.con, backend.compile(table))
        case "sqlite":
            stored = {name: str(kind) for name, kind in table.schema().items()}
            query = f"({backend.compile(table)})"
            found = sqlite.SQLiteTable(backend.con, query, stored, _leave)
        case "postgres":
            found = postgres.PostgresTable(backend.con, f"({backend.compile(table)})", _leave)
    return IbisTable(table) if found is None else found


def _leave() -> None:
    """Do nothing: the connection is somebody else's."""


def _copied(remote: Remote, database: Callable[[], Database]) -> Engine:
    return _with_database(CopiedEngine, remote, database)


def _with_database(
    engine: Callable[[Database, Table], Engine], remote: Table, database: Callable[[], Database]
) -> Engine:
    try:
        checked_names(list(remote.columns), "the table")
        with closed_on_failure(database()) as opened:
            opened.lock(())
            return engine(opened, remote)
    except BaseException:
        remote.close()
        raise


def _sqlite_table(path: Path, relation: str) -> Remote:
    no_database = (
        f"the file {str(path)!r} could not be opened as a SQLite database: it is of another "
        "format, damaged, or somebody is writing to it. Check it with sqlite3 itself."
    )
    connection = sealed(no_database, lambda: sqlite.open_sqlite(path))
    try:
        tables = sealed(no_database, lambda: sqlite.tables_of(connection))
        if relation not in tables:
            raise _no_table(relation, tables)
        stored = sealed(no_database, lambda: sqlite.stored_types(connection, relation))
    except BaseException:
        connection.close()
        raise
    return sqlite.SQLiteTable(connection, sqlite.quoted(relation), stored, connection.close)


def _open_postgres(address: str, relation: str, database: Callable[[], Database]) -> Engine:
    """Return a plain table where it is; what is computed anew each time is copied."""
    found = _postgres_table(address, relation)
    try:
        is_plain = sealed(READ_FAILED, lambda: postgres.is_plain(found.connection, found.relation))
    except BaseException:
        found.close()
        raise
    return _with_database(PushedEngine, found, database) if is_plain else _copied(found, database)


def _postgres_table(address: str, relation: str) -> postgres.PostgresTable:
    try:
        import psycopg  # noqa: F401, PLC0415 -- optional
    except ImportError:
        raise SourceError(
            "a PostgreSQL database needs the driver psycopg, which is not installed; type: "
            "pip install 'perrecord[postgres]'."
        ) from None
    connection = sealed(
        "no connection to the postgres database; check its address, that the server runs, and "
        "that you may connect to it.",
        lambda: postgres.open_postgres(address),
    )
    try:
        schema, _, name = relation.rpartition(".")
        tables = sealed(READ_FAILED, lambda: postgres.tables_of(connection, schema))
        if name not in tables:
            raise _no_table(relation, tables)
        place = ".".join(postgres.quoted(part) for part in (schema, name) if part)
        return sealed(
            f"the table {relation!r} may not be read; check that you have the right to select "
            "from it.",
            lambda: postgres.PostgresTable(
                connection, postgres.full_name(connection, place), connection.close
            ),
        )
    except BaseException:
        connection.close()
        raise


def _ibis_table(address: str, scheme: str, relation: str) -> Remote:
    ibis = ibis_module()
    with known_warnings():
        connection = sealed(
            f"no connection to the {scheme} database; {driver_advice(scheme)}.",
            lambda: ibis.connect(address),
        )
        try:
            schema, _, name = relation.rpartition(".")
            tables = sealed(READ_FAILED, connection.list_tables)
            if not schema and name not in tables:
                raise _no_table(relation, tables)
            table = sealed(
                f"the {scheme} database has no table {relation!r}, or it may not be read; check "
                "the table's name, and that you may read it.",
                lambda: connection.table(name, database=schema or None),
            )
            return sealed(READ_FAILED, lambda: IbisTable(table, connection.disconnect))
        except BaseException:
            sealed(READ_FAILED, connection.disconnect)
            raise


def _open_duckdb(path: Path, relation: str, database: Callable[[], Database]) -> Engine:
    """Return a table of a DuckDB file where it is; what is computed anew each time is copied."""
    with closed_on_failure(database()) as opened:
        opened.run(
            f"ATTACH {DUCKDB.literal(str(path.resolve()))} AS {_ATTACHED} (READ_ONLY)",
            f"the file {str(path)!r} could not be opened as a DuckDB database: it is of another "
            "format or version, or somebody is writing to it. Check it with duckdb itself.",
        )
        schema, _, name = relation.rpartition(".")
        schema = schema or "main"
        of_ours = f"table_catalog = '{_ATTACHED}' AND table_schema = {DUCKDB.literal(schema)}"
        known = opened.table(f"SELECT * FROM information_schema.tables WHERE {of_ours}")
        kinds = dict(
            zip(known["table_name"].to_pylist(), known["table_type"].to_pylist(), strict=True)
        )
        if name not in kinds:
            raise _no_table(relation, sorted(kinds))
        computed = opened.table(
            f"SELECT 1 FROM information_schema.columns WHERE {of_ours} "
            f"AND table_name = {DUCKDB.literal(name)} AND is_generated <> 'NEVER'"
        )
        opened.lock(())
        place = ".".join(DUCKDB.identifier(part) for part in (_ATTACHED, schema, name))
        if kinds[name] == "BASE TABLE" and not computed.num_rows:
            engine = DuckDBEngine(opened, place)
        else:
            engine = CopiedEngine(opened, duckdb.attached(opened, place))
        checked_names(list(engine.columns), f"the table {relation!r}")
        return engine


def _no_file(path: Path, scheme: str) -> SourceError:
    hint = ""
    if path.is_absolute():
        beside = str(path).lstrip("/")
        hint = (
            f" Three slashes begin an absolute path; for {beside!r} in the folder of the spec, or "
            f"in the working folder, write {scheme}://{beside}."
        )
    return SourceError(
        f"there is no file {str(path)!r}; expected a {scheme} database, and none is created.{hint}"
    )


def _no_table(relation: str, tables: list[str]) -> SourceError:
    return SourceError(
        f"the database has no table {relation!r}. It has {listing(tables) or 'none'}."
        f"{suggestion(relation, tables)}"
    )
