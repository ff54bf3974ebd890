"""Spark Connect: the driver is a server elsewhere, and this process is its client."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.engines.spark_logs import EVENTS, check_events, is_local

_REJECTS = "spark.sql.legacy.setCommandRejectsSparkCoreConfs"
_LEVEL = "spark.log.level"
_OPTIONS = "spark.executor.extraJavaOptions"
_SILENT = ("-Dlog4j2.configurationFile=none", "-Dlog4j2.level=OFF")
"""No file of settings is found, so that Log4j takes its level from here, and Spark leaves it so."""


def silence(session: Any) -> None:
    """Refuse a server that would write records into its logs; a client cannot switch them off.

    Executors do not hear of the server's level: it is set before there are any, and
    spark.executor.syncLogLevel.enabled tells them of later changes alone.
    """

    def way(setting: str, value: str) -> str:
        return f"start the Spark Connect server with --conf {setting}={value}"

    def read(setting: str) -> str:
        return session.conf.get(setting, None) or ""  # "" where it was never set

    if session.conf.get(_REJECTS) != "true":  # then what we read may be the client's own words
        raise SourceError(
            f"the Spark session has {_REJECTS} = false, so that its settings need not be the "
            f'server\'s; switch it with spark.conf.set("{_REJECTS}", "true").'
        )
    if read(_LEVEL) != "OFF":
        raise SourceError(
            "the Spark Connect server would write records into its log when a query fails; "
            f"{way(_LEVEL, 'OFF')}."
        )
    check_events(read(EVENTS), way)
    if not is_local(read("spark.master")) and not set(_SILENT) <= set(read(_OPTIONS).split()):
        raise SourceError(
            "the Spark executors would write records into their logs when a query fails; "
            f"""{way(_OPTIONS, f'"{" ".join(_SILENT)}"')}."""
        )


def batches(result: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the batches of the result as the server sends them.

    DataFrame.toArrow would gather all of them first. The server names its own time zone and which
    columns hold no NULL; the schema that was asked for does not.
    """
    client, plan = result.sparkSession.client, result._plan
    answers = client.to_table_as_iterator(plan.to_proto(client), plan.observations)
    try:
        for answer in answers:
            if isinstance(answer, pa.Table):  # the schema comes among them
                yield from answer.cast(schema).to_batches()
    finally:
        with suppress(Exception):  # what is left on the server ends with its session
            answers.close()
