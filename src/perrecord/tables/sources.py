"""Any table as a source: files, frames, Spark and Ibis tables, and databases by their address."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from perrecord.errors import SchemaError, SourceError
from perrecord.tables.addresses import is_address
from perrecord.tables.columns import checked_names
from perrecord.tables.databases import open_address, open_ibis
from perrecord.tables.dialects import DUCKDB, SPARK
from perrecord.tables.engines import SOURCE, Engine
from perrecord.tables.engines.boundary import READ_FAILED, sealed
from perrecord.tables.engines.database import Database, closed_on_failure
from perrecord.tables.engines.duckdb import DuckDBEngine
from perrecord.tables.engines.spark import open_spark, spark_schema
from perrecord.tables.files import EXPECTED, LoadedFiles, find_files, open_files
from perrecord.tables.frames import arrow_of, is_dataset
from perrecord.tables.given import Linked, OneSource, Source, is_spark
from perrecord.tables.linking import SIGN, shared_columns, stacked
from perrecord.tables.reading import ColumnUse, File
from perrecord.tables.snapshots import BothPeriods, Elsewhere, Files, Frame, OneOrigin


def open_source(
    source: Source,
    *,
    relation: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
    use: ColumnUse | None = None,
) -> Engine:
    """Return the engine on which the source's rows are: public metadata only has been read.

    A source is the path or glob of files, or a `File`; an Arrow table or dataset; a pandas,
    Polars or Spark frame; an Ibis table; or a database's address, with `relation` its table.
    `use` says which columns are measures and which are not, for formats that cannot say that.
    `memory_limit` ("4GB") and `spill_folder` are for DuckDB, which spills what does not fit.
    Two periods, `Linked(this, last)`, are stacked: the rows of both, each with its sign.

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
            f"relation={relation!r} names a table of a database, but the source is not a "
            "database; leave it out."
        )
    if isinstance(source, Linked):
        return _open_linked(source, database, use)
    if isinstance(source, str | Path | File):
        return _open_local(source, database, use)
    package = type(source).__module__.partition(".")[0]
    if package == "ibis" and hasattr(source, "get_backend"):
        return open_ibis(source, database)
    if is_spark(source):
        checked_names(sealed(READ_FAILED, lambda: source.columns), "the Spark DataFrame")
        return open_spark(source, database)
    return _open_local(source, database, use)


_NOTHING = LoadedFiles()


@dataclass(frozen=True, slots=True)
class _Mounted:
    """A source that a database of ours knows by a name."""

    origin: OneOrigin
    loaded: LoadedFiles = _NOTHING


def _mounted(opened: Database, source: OneSource, name: str, use: ColumnUse | None) -> _Mounted:
    """Make files or a frame known to a database by a name."""
    if isinstance(source, str | Path | File):
        reading = source if isinstance(source, File) else File(source)
        origin = Files.of(find_files(reading.path), reading.settings)
        return _Mounted(origin, open_files(opened, origin.paths, name, reading, use))
    data = arrow_of(source)
    if data is None:
        raise SourceError(
            f"a source of type {type(source).__name__} is not known; {EXPECTED}, or a data frame."
        )
    checked_names(data.schema.names, "the table")
    opened.view(name, data)
    return _Mounted(Elsewhere() if is_dataset(data) else Frame(data))


def _open_local(
    source: OneSource, database: Callable[[], Database], use: ColumnUse | None
) -> Engine:
    with closed_on_failure(database()) as opened:
        mounted = _mounted(opened, source, SOURCE, use)
        opened.lock(mounted.loaded.read_again)
        engine = DuckDBEngine(opened, DUCKDB.identifier(SOURCE), is_text=mounted.loaded.is_text)
        engine.columns = mounted.loaded.columns or engine.columns
        engine.origin = mounted.origin
        return engine


# -- two periods ------------------------------------------------------------------------------


def _open_linked(source: Linked, database: Callable[[], Database], use: ColumnUse | None) -> Engine:
    """Return the engine of two periods, stacked."""
    both = source.this, source.last
    if any(is_address(each) or type(each).__module__.startswith("ibis") for each in both):
        raise SourceError(
            "one of two periods that are linked is a table of a database; write both into Parquet "
            "or CSV files first, or give both as frames."
        )
    if all(map(is_spark, both)):
        return _linked_frames(source, database)
    if any(map(is_spark, both)):
        raise SourceError(
            "one of two periods that are linked is a Spark DataFrame and the other is not; give "
            "both as DataFrames of one session."
        )
    with closed_on_failure(database()) as opened:
        names = SOURCE, f"{SOURCE}_last"
        sides = [_side(opened, each, name, use) for each, name in zip(both, names, strict=True)]
        opened.lock([path for side in sides for path in side.loaded.read_again])
        types = [_types(opened.schema(f"FROM {DUCKDB.identifier(name)}")) for name in names]
        shared = shared_columns(*types)
        parts = [
            f"SELECT {', '.join(stacked(shared, DUCKDB, sign))} FROM {DUCKDB.identifier(name)}"
            for name, sign in zip(names, (1, -1), strict=True)
        ]
        engine = DuckDBEngine(
            opened,
            f"({' UNION ALL '.join(parts)})",
            is_text=all(side.loaded.is_text for side in sides),
        )
        engine.origin = BothPeriods(sides[0].origin, sides[1].origin)
        engine.columns.pop(SIGN)
        return engine


def _side(database: Database, source: OneSource, name: str, use: ColumnUse | None) -> _Mounted:
    """Return one of two periods; what is said of the reading is said of both."""
    try:
        return _mounted(database, source, name, use)
    except SchemaError as error:
        raise SchemaError(
            f"{error} If the files of the two periods are of different formats, save both in one.",
            about=error.about,
        ) from None


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}


def _linked_frames(source: Linked, database: Callable[[], Database]) -> Engine:
    """Return the engine of two Spark DataFrames of one session."""
    this, last = cast(Any, source.this), cast(Any, source.last)
    if this.sparkSession != last.sparkSession:
        raise SourceError(
            "the two periods are Spark DataFrames of different sessions; build both in one."
        )
    for each in (this, last):
        checked_names(sealed(READ_FAILED, lambda each=each: each.columns), "the Spark DataFrame")  # type: ignore[misc]
    shared = shared_columns(*(_types(spark_schema(each)) for each in (this, last)))

    def stack() -> Any:
        chosen = [
            each.selectExpr(*stacked(shared, SPARK, sign)) for each, sign in ((this, 1), (last, -1))
        ]
        return chosen[0].unionAll(chosen[1])

    engine = open_spark(sealed(READ_FAILED, stack), database)
    engine.origin = BothPeriods(Elsewhere(), Elsewhere())
    engine.columns.pop(SIGN)
    return engine
