"""The Spark engine: the source is a Spark DataFrame, and its aggregates come to a local DuckDB."""

import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from perrecord.errors import InputError, SourceError
from perrecord.tables.dialects import SPARK, Dialect
from perrecord.tables.dialects.spark import parts_of_totals
from perrecord.tables.engines import RESERVED, spark_classic, spark_connect
from perrecord.tables.engines.boundary import READ_FAILED, sealed, stream
from perrecord.tables.engines.database import Database, closed_on_failure
from perrecord.tables.engines.spark_logs import silence_python
from perrecord.tables.snapshots import Elsewhere, Origin
from perrecord.watch import Progress

_SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.parser.escapedStringLiterals": "false"}
"""What our SQL relies on: no silent overflow, and backslashes that escape in text."""


class SparkEngine:
    """A Spark DataFrame, of a classic session or of Spark Connect.

    Side tables are temporary views of the session, dropped with the engine. What is kept travels
    batch by batch, so that this process never holds a result twice. Spark's logs are off, or the
    source is refused, because an error there may quote a record.
    """

    dialect: Dialect = SPARK
    origin: Origin = Elsewhere()
    is_text = False

    def __init__(self, frame: Any, database: Database) -> None:
        is_connect = ".connect." in type(frame).__module__
        self._door = spark_connect if is_connect else spark_classic
        self._session = frame.sparkSession
        sealed(READ_FAILED, lambda: _check_settings(self._session))
        sealed(READ_FAILED, lambda: self._door.silence(self._session))
        silence_python()
        self._database = database
        self._added: set[str] = set()
        self._source = f"{RESERVED}_{uuid.uuid4().hex}"
        self.relation = SPARK.identifier(self._source)
        schema = sealed(READ_FAILED, lambda: spark_schema(frame))
        for field in schema:
            SPARK.identifier(field.name)  # refuses what Spark would rewrite
        self.columns = {field.name: field.type for field in schema}
        sealed(READ_FAILED, lambda: frame.createOrReplaceTempView(self._source))

    def use(self, names: Iterable[str]) -> None:
        """Do nothing: a query reads what it names and no more."""

    def fetch(self) -> None:
        """Do nothing: rows stay where they are."""

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
            self._drop_view(name)
        self._database.drop(name)

    def keep(self, name: str, sql: str) -> None:
        """Run SQL on Spark and keep its result in the local DuckDB, sums as HUGEINT."""
        reader = sealed(READ_FAILED, lambda: self._reader(sql))
        self._database.load(name, reader, parts_of_totals(reader.schema.names))

    def watched(self, share: Progress) -> AbstractContextManager[None]:  # noqa: ARG002
        """Tell nothing; Spark's own page shows its stages."""
        return nullcontext()

    def interrupt(self) -> None:
        """Break off whatever runs on the local DuckDB, in any thread."""
        self._database.interrupt()

    def local(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on the local DuckDB; yield the batches of its result, at least one."""
        return self._database.batches(sql)

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run SQL on Spark; yield the batches of its result, at least one."""
        reader = sealed(READ_FAILED, lambda: self._reader(sql))
        return stream(READ_FAILED, reader, _step, lambda: None)

    def arrow(self, sql: str) -> pa.Table:
        """Return the result as an Arrow table, brought here whole."""
        return sealed(READ_FAILED, lambda: self._asked(sql).toArrow())

    def frame(self, sql: str) -> Any:
        """Return the result as a Spark DataFrame, not computed yet."""
        return sealed(READ_FAILED, lambda: self._asked(sql))

    def close(self) -> None:
        """Drop our temporary views and the local DuckDB; the session stays."""
        for name in (self._source, *self._added):
            with suppress(SourceError):  # a session that is gone has no views either
                self._drop_view(name)
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

    def _drop_view(self, name: str) -> None:
        sealed(READ_FAILED, lambda: self._session.catalog.dropTempView(name))

    def _asked(self, sql: str) -> Any:
        """Return a query's DataFrame; settings may have been changed since the table was opened."""
        _check_settings(self._session)
        return self._session.sql(sql)

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        result = self._asked(sql)
        schema = spark_schema(result)
        return pa.RecordBatchReader.from_batches(schema, self._door.batches(result, schema))


def open_spark(frame: Any, database: Callable[[], Database]) -> SparkEngine:
    """Return the engine of a Spark DataFrame, with a local DuckDB that no file is open to."""
    with closed_on_failure(database()) as opened:
        opened.lock(())
        return SparkEngine(frame, opened)


def _step(action: Callable[[], Any]) -> Any:
    return action()


def spark_schema(frame: Any) -> pa.Schema:
    """Return the columns of a DataFrame as Arrow has them."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 -- Spark is optional

    large = frame.sparkSession.conf.get("spark.sql.execution.arrow.useLargeVarTypes", "false")
    return to_arrow_schema(frame.schema, timezone="UTC", prefers_large_types=large == "true")


def _check_settings(session: Any) -> None:
    for setting, wanted in _SETTINGS.items():
        found = session.conf.get(setting)
        if found != wanted:
            raise SourceError(
                f"the Spark session has {setting} = {found}; expected {wanted}. Switch it with "
                f'spark.conf.set("{setting}", "{wanted}") before you build the DataFrame.'
            )
