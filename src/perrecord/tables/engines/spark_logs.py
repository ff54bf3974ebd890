"""Which of Spark's logs may not be written: an error in them may quote a record."""

import logging
from collections.abc import Callable

from perrecord.errors import SourceError

EVENTS = "spark.eventLog.enabled"
EXECUTORS = "spark.executor.extraJavaOptions"
SILENT = ("-Dlog4j2.configurationFile=none", "-Dlog4j2.level=OFF")
"""Options of a Java process that logs nothing.

There is no file "none", so that Log4j looks for no other, takes its level from the second option,
and Spark, seeing a level that is not the usual one, leaves it at that. Spark's own settings are not
enough: spark.log.level and setLogLevel reach no logger that log4j2.properties names, and executors
hear of the former only if it changes while they run.
"""

_OF_SPARK = (
    *("SQLQueryContextLogger", "DataFrameQueryContextLogger"),
    "pyspark.sql.connect.logging",
)
_OF_CHANNELS = (
    *("py4j", "py4j.java_gateway", "py4j.clientserver"),
    *("grpc._channel", "grpc._common", "grpc._cython.cygrpc"),
)


def check_files(read: Callable[[str], str], way: Callable[[str, str], str]) -> None:
    """Refuse a Spark that would write messages of failed tasks into files.

    `read` returns a setting of the running Spark, "" if it has none; `way` says how to give one.
    Executors on a cluster log to files of their own, and the event log holds what a failed task
    said.
    """
    if read(EVENTS) == "true":
        raise SourceError(
            f"the Spark event log would hold records when a query fails; {way(EVENTS, 'false')}."
        )
    if not is_local(read("spark.master")) and not is_silent(read(EXECUTORS)):
        raise SourceError(
            "the Spark executors would write records into their logs when a query fails; "
            f"{way(EXECUTORS, ' '.join(SILENT))}."
        )


def is_silent(options: str) -> bool:
    """Return whether a Java process with these options logs nothing."""
    return set(SILENT) <= set(options.split())


def is_local(master: str) -> bool:
    """Return whether the tasks run in the driver's own process."""
    return master == "local" or master.startswith("local[")


def silence_python() -> None:
    """Switch off the loggers of Spark's Python side; they quote what the other side said."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 -- Spark is optional

    for name in _OF_SPARK:
        PySparkLogger.getLogger(name).disabled = True
    for name in _OF_CHANNELS:
        logging.getLogger(name).disabled = True
