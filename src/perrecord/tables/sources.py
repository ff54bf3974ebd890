"""Any table as a source: files, frames, Spark and Ibis tables, and databases by their address."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perrecord.errors import SourceError
from perrecord.tables.addresses import is_address
from perrecord.tables.columns import checked_names
from perrecord.tables.databases import open_address, open_ibis
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines import SOURCE, Engine
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database, closed_on_failure
from perrecord.tables.engines.duckdb import DuckDBEngine
from perrecord.tables.engines.spark import open_spark
from perrecord.tables.files import EXPECTED, find_files, open_files
from perrecord.tables.frames import arrow_of, is_dataset
from perrecord.tables.given import Source, is_spark
from perrecord.tables.snapshots import Elsewhere, Files, Frame


def open_source(
    source: Source,
    *,
    relation: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
) -> Engine:
    """Return the engine on which the source's rows are: public metadata only has been read.

    A source is the path or glob of Parquet or CSV files; an Arrow table or dataset; a pandas,
    Polars or Spark frame; an Ibis table; or a database's address, with `relation` its table.
    `memory_limit` ("4GB") and `spill_folder` are for DuckDB, which spills what does not fit.

    >>> import pyarrow as pa
    >>> with open_source(pa.table({"state": ["TX"], "cattle": [120]})) as engine:
    ...     engine.columns
    {'state': DataType(string), 'cattle': DataType(int64)}
    """

    def database() -> Database:
        return Database(memory_limit=memory_limit, spill_folder=spill_folder)

    if is_address(source):
        engine = open_address(source, relation, database)
        engine.origin = Elsewhere(relation)
        return engine
    if relation is not None:
        raise SourceError(
            f"relation={relation!r} names a table of a database, and the source is none; leave "
            "it out."
        )
    if isinstance(source, str | Path):
        return _open_files(source, database)
    package = type(source).__module__.partition(".")[0]
    if package == "ibis" and hasattr(source, "get_backend"):
        return open_ibis(source, database)
    if is_spark(source):
        checked_names(sealed(READ_FAILED, lambda: source.columns), "the Spark DataFrame")
        return open_spark(source, database)
    data = arrow_of(source)
    if data is not None:
        return _open_arrow(data, database)
    raise SourceError(
        f"a source of type {type(source).__name__} is not known; {EXPECTED}, or a data frame."
    )


def _open_files(pattern: str | Path, database: Callable[[], Database]) -> Engine:
    origin = Files.of(find_files(pattern))
    with closed_on_failure(database()) as opened:
        read_again = open_files(opened, origin.paths, SOURCE)
        opened.lock(read_again)
        engine = DuckDBEngine(opened, DUCKDB.identifier(SOURCE), is_text=not read_again)
        engine.origin = origin
        return engine


def _open_arrow(data: Any, database: Callable[[], Database]) -> Engine:
    checked_names(data.schema.names, "the table")
    with closed_on_failure(database()) as opened:
        opened.view(SOURCE, data)
        opened.lock(())
        engine = DuckDBEngine(opened, DUCKDB.identifier(SOURCE))
        engine.origin = Elsewhere() if is_dataset(data) else Frame(data)
        return engine
