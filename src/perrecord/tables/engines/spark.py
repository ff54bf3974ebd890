"""The Spark engine: the source is a Spark DataFrame, and its aggregates come to a local DuckDB."""

import logging
import uuid
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from perrecord.errors import InputError, SourceError
from perrecord.tables.dialects import SPARK, Dialect
from perrecord.tables.engines import RESERVED
from perrecord.tables.engines.boundary import READ_FAILED, sealed, stream
from perrecord.tables.engines.database import Database

_SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.parser.escapedStringLiterals": "false"}
"""What our SQL relies on: no silent overflow, and backslashes that escape in text."""

_SYNC = "spark.executor.syncLogLevel.enabled"


class SparkEngine:
    """A Spark DataFrame of a classic session; Spark's logs are switched off, as they quote data.

    Side tables are temporary views of the session, dropped with the engine. What is kept travels
    partition by partition, so that this process never holds a result twice.
    """

    dialect: Dialect = SPARK
    is_text = False

    def __init__(self, frame: Any, database: Database) -> None:
        self._session = _checked_session(frame)
        self._database = database
        self._added: set[str] = set()
        self._source = f"{RESERVED}_{uuid.uuid4().hex}"
        self.relation = SPARK.identifier(self._source)
        schema = sealed(READ_FAILED, lambda: _schema(frame))
        for field in schema:
            SPARK.identifier(field.name)  # refuses what Spark would rewrite
        self.columns = {field.name: field.type for field in schema}
        _silence(self._session)
        sealed(READ_FAILED, lambda: frame.createOrReplaceTempView(self._source))

    def add(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name, as a temporary view and on the local DuckDB."""
        if name not in self._added and sealed(
            READ_FAILED, lambda: self._session.catalog.tableExists(SPARK.identifier(name))
        ):
            raise InputError(
                f"the Spark session has a table or view {name!r} already; give the public table "
                "another name."
            )

        def create() -> None:
            with warnings.catch_warnings():  # it is about pandas, which has no part in this
                warnings.filterwarnings("ignore", "PySpark does not yet fully", FutureWarning)
                frame = self._session.createDataFrame(table)
            frame.createOrReplaceTempView(name)

        sealed(f"the public table {name!r} could not be given to Spark.", create)
        self._added.add(name)
        self._database.view(name, table)

    def add_local(self, name: str, table: pa.Table) -> None:
        """Make a public table known by this name on the local DuckDB alone."""
        self._database.view(name, table)

    def drop(self, name: str) -> None:
        """Forget an added or kept table."""
        if name in self._added:
            self._added.discard(name)
            sealed(READ_FAILED, lambda: self._session.catalog.dropTempView(name))
        self._database.drop(name)

    def keep(self, name: str, sql: str) -> None:
        """Run SQL on Spark and keep its result in the local DuckDB, sums as HUGEINT."""
        reader = sealed(READ_FAILED, lambda: self._reader(sql))
        self._database.load(name, reader)

    def local(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the local DuckDB; yield the batches of its result, at least one."""
        return self._database.batches(sql)

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on Spark; yield the batches of its result, at least one."""
        reader = sealed(READ_FAILED, lambda: self._reader(sql))
        return stream(READ_FAILED, reader, _step, lambda: None)

    def frame(self, sql: str) -> Any:
        """Return the result as a Spark DataFrame, not computed yet."""
        return sealed(READ_FAILED, lambda: self._session.sql(sql))

    def close(self) -> None:
        """Drop our temporary views and the local DuckDB; the session stays."""
        for name in (self._source, *self._added):
            sealed(READ_FAILED, lambda name=name: self._session.catalog.dropTempView(name))  # type: ignore[misc]
        self._added.clear()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        """Return the result as a stream: one partition at a time is on its way or in memory.

        DataFrame.toArrow would gather all of it first, and toLocalIterator would make it rows of
        Python objects. Spark's own conversion to Arrow batches, read one by one, is neither.
        """
        result = self._session.sql(sql)
        schema = _schema(result)
        partitions = result._jdf.toArrowBatchRdd().toLocalIterator()

        def read() -> Iterator[pa.RecordBatch]:
            while partitions.hasNext():
                yield pa.ipc.read_record_batch(pa.py_buffer(partitions.next()), schema)

        return pa.RecordBatchReader.from_batches(schema, read())


def _step(action: Callable[[], Any]) -> Any:
    return action()


def _schema(frame: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 -- Spark is optional

    large = frame.sparkSession.conf.get("spark.sql.execution.arrow.useLargeVarTypes", "false")
    return to_arrow_schema(frame.schema, timezone="UTC", prefers_large_types=large == "true")


def _checked_session(frame: Any) -> Any:
    if ".connect." in type(frame).__module__:
        raise SourceError(
            "the DataFrame belongs to a Spark Connect session; expected a classic one, made with "
            'SparkSession.builder.master("spark://...") or "local[*]".'
        )
    session = frame.sparkSession
    for setting, wanted in _SETTINGS.items():
        found = sealed(READ_FAILED, lambda setting=setting: session.conf.get(setting))  # type: ignore[misc]
        if found != wanted:
            raise SourceError(
                f"the Spark session has {setting} = {found}; expected {wanted}. Switch it with "
                f'spark.conf.set("{setting}", "{wanted}") before you build the DataFrame.'
            )
    return session


def _silence(session: Any) -> None:
    """Switch off the logs of Spark and of its Python side: an error there may quote a record.

    Executors on a cluster log to files of their own, and hear of the level only when the session
    was started so.
    """
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 -- Spark is optional

    sealed(READ_FAILED, lambda: session.sparkContext.setLogLevel("OFF"))
    context = session.sparkContext
    if not context.master.startswith("local") and context.getConf().get(_SYNC, "false") != "true":
        raise SourceError(
            f"the Spark executors would write records into their logs when a query fails; start "
            f'the session with .config("{_SYNC}", "true").'
        )
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    for name in ("py4j", "py4j.java_gateway", "py4j.clientserver"):
        logging.getLogger(name).disabled = True
