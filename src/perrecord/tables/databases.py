"""Tables of databases as a source: Ibis tables, and addresses such as sqlite:///farms.db."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from perrecord.errors import SourceError, listing, suggestion
from perrecord.tables.columns import checked_names
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines import RESERVED, Engine
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database, closed_on_failure
from perrecord.tables.engines.duckdb import DuckDBEngine, GuestDuckDBEngine
from perrecord.tables.engines.spark import SparkEngine

SOURCE = f"{RESERVED}_source"
_ATTACHED = f"{RESERVED}_attached"
_OF_FILES = (
    *("abfs", "abfss", "adl", "az", "azure", "file", "ftp", "gcs", "gs"),
    *("hdfs", "hf", "http", "https", "s3", "s3a", "s3n", "sftp"),
)
"""Schemes that name files; those elsewhere would have to be fetched, and nothing here fetches."""
_THROUGH_PANDAS = ("sqlite", "mysql", "singlestoredb", "impala")


def is_address(source: object) -> bool:
    """Return whether the source is written as scheme://rest."""
    return isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source) is not None


def open_address(address: str, relation: str | None, database: Callable[[], Database]) -> Engine:
    """Return an engine on one table of the database at an address; the address is never quoted."""
    scheme = address.partition("://")[0].lower()
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
    if scheme == "duckdb":
        return _open_attached(address, relation, database)
    ibis = _ibis()
    with _known_warnings():
        connection = sealed(
            f"no connection to the {scheme} database; check its address, and that its driver is "
            f"installed: pip install 'ibis-framework[{scheme}]'.",
            lambda: ibis.connect(address),
        )
        try:
            tables = sealed(READ_FAILED, connection.list_tables)
            schema, _, name = relation.rpartition(".")
            if not schema and name not in tables:
                raise _no_table(relation, tables)
            table = sealed(
                f"the {scheme} database has no table {relation!r}, or it may not be read; check "
                "the table's name, and that you may read it.",
                lambda: connection.table(name, database=schema or None),
            )
            return _open_copied(table, database)
        finally:
            sealed(READ_FAILED, connection.disconnect)


def open_ibis(table: Any, database: Callable[[], Database]) -> Engine:
    """Return an engine on an Ibis table: where it is when that is DuckDB or Spark, else copied."""
    checked_names(list(table.columns), "the Ibis table")
    with _known_warnings():
        backend = sealed(
            "the Ibis table belongs to no database, or to several; expected one.",
            table.get_backend,
        )
        if backend.name == "pyspark":
            query = sealed(READ_FAILED, lambda: backend.compile(table))
            frame = sealed(READ_FAILED, lambda: backend._session.sql(query))
            with closed_on_failure(database()) as opened:
                opened.lock(())
                return SparkEngine(frame, opened)
        if backend.name == "duckdb":
            query = sealed(READ_FAILED, lambda: backend.compile(table))
            if _is_visible(backend.con, query):
                with closed_on_failure(database()) as opened:
                    opened.lock(())
                    return GuestDuckDBEngine(backend.con, f"({query})", opened)
        return _open_copied(table, database)


def _is_visible(connection: Any, query: str) -> bool:
    """Return whether a cursor sees the query's tables; temporary views belong to one connection."""
    cursor = sealed(READ_FAILED, connection.cursor)
    try:
        cursor.sql(f"FROM ({query}) LIMIT 0")
    except Exception:
        return False
    finally:
        cursor.close()
    return True


def _open_copied(table: Any, database: Callable[[], Database]) -> Engine:
    checked_names(list(table.columns), "the table")
    with closed_on_failure(database()) as opened:
        backend = table.get_backend()
        if backend.name == "duckdb":  # Ibis 12 cannot stream from DuckDB 2
            opened.view(SOURCE, sealed(READ_FAILED, table.to_pyarrow))
        else:
            opened.load(SOURCE, sealed(READ_FAILED, lambda: _exact_batches(backend, table)))
        opened.lock(())
        return DuckDBEngine(opened, DUCKDB.identifier(SOURCE))


def _exact_batches(backend: Any, table: Any) -> Any:
    """Return the table's Arrow batches, made from the database's own integers.

    Some backends of Ibis go through pandas, where a column of integers with a NULL becomes floats
    and 2^62 + 1 becomes 2^62. The method that they override reads the cursor's rows as they are.
    """
    if backend.name == "flink":
        raise SourceError(
            "Ibis reads Flink tables through floats, which change large numbers; save the table "
            "as Parquet and give its path."
        )
    if backend.name in _THROUGH_PANDAS:
        from ibis.backends.sql import SQLBackend  # noqa: PLC0415 -- Ibis is optional

        return SQLBackend.to_pyarrow_batches(backend, table)
    return table.to_pyarrow_batches()


def _open_attached(address: str, relation: str, database: Callable[[], Database]) -> Engine:
    parts = urlsplit(address)
    path = Path(unquote(parts.netloc + parts.path)).expanduser()
    if not path.is_file():
        raise SourceError(
            f"there is no file {str(path)!r}; expected a DuckDB database, such as "
            '"duckdb:///data/farms.ddb".'
        )
    with closed_on_failure(database()) as opened:
        opened.run(
            f"ATTACH {DUCKDB.literal(str(path.resolve()))} AS {_ATTACHED} (READ_ONLY)",
            f"the file {str(path)!r} could not be opened as a DuckDB database: it is of another "
            "format or version, or somebody is writing to it. Check it with duckdb itself.",
        )
        schema, _, name = relation.rpartition(".")
        schema = schema or "main"
        known = opened.table(
            "SELECT table_name FROM information_schema.tables "
            f"WHERE table_catalog = '{_ATTACHED}' AND table_schema = {DUCKDB.literal(schema)}"
        )["table_name"].to_pylist()
        if name not in known:
            raise _no_table(relation, sorted(known))
        opened.lock(())
        place = ".".join(DUCKDB.identifier(part) for part in (_ATTACHED, schema, name))
        engine = DuckDBEngine(opened, place)
        checked_names(list(engine.columns), f"the table {relation!r}")
        return engine


def _no_table(relation: str, tables: list[str]) -> SourceError:
    return SourceError(
        f"the database has no table {relation!r}. It has {listing(tables) or 'none'}."
        f"{suggestion(relation, tables)}"
    )


def _ibis() -> Any:
    try:
        import ibis  # noqa: PLC0415 -- optional, and half a second to import
    except ImportError:
        raise SourceError(
            "this source needs Ibis, which is not installed; type: pip install 'perrecord[ibis]'."
        ) from None
    return ibis


@contextmanager
def _known_warnings() -> Iterator[None]:
    """Ignore what Ibis 12 is warned of by the newer DuckDB, pandas and PySpark beneath it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        warnings.filterwarnings("ignore", "The 'future.infer_string' option", DeprecationWarning)
        warnings.filterwarnings("ignore", "PySpark does not yet fully", FutureWarning)
        yield
