"""Spark Connect: the driver is a server elsewhere, and this process is its client."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.engines.spark_logs import SILENT, check_files, is_silent

_REJECTS = "spark.sql.legacy.setCommandRejectsSparkCoreConfs"
_LEVEL = "spark.log.level"
_SERVER = "spark.driver.extraJavaOptions"


def silence(session: Any) -> None:
    """Refuse a server that would write records into its logs; a client cannot switch them off."""

    def way(setting: str, value: str) -> str:
        return f'start the Spark Connect server with --conf "{setting}={value}"'

    def read(setting: str) -> str:
        return session.conf.get(setting, None) or ""

    if session.conf.get(_REJECTS) != "true":  # then what we read may be the client's own words
        raise SourceError(
            f"the Spark session has {_REJECTS} = false, so that its settings need not be the "
            f'server\'s; switch it with spark.conf.set("{_REJECTS}", "true").'
        )
    if not is_silent(read(_SERVER)):
        raise SourceError(
            "the Spark Connect server would write records into its log when a query fails; "
            f"{way(_SERVER, ' '.join(SILENT))}."
        )
    if read(_LEVEL) not in ("", "OFF"):
        raise SourceError(
            f"the Spark Connect server has {_LEVEL} = {read(_LEVEL)}, and would write records into "
            f"its log when a query fails; {way(_LEVEL, 'OFF')}."
        )
    check_files(read, way)


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
