"""Which of Spark's logs may not be written: an error in them may quote a record."""

import logging
from collections.abc import Callable

from perrecord.errors import SourceError

EVENTS = "spark.eventLog.enabled"

_OF_SPARK = (
    *("SQLQueryContextLogger", "DataFrameQueryContextLogger"),
    "pyspark.sql.connect.logging",
)
_OF_CHANNELS = (
    *("py4j", "py4j.java_gateway", "py4j.clientserver"),
    *("grpc._channel", "grpc._common", "grpc._cython.cygrpc"),
)


def check_events(found: str, way: Callable[[str, str], str]) -> None:
    """Refuse a Spark that keeps an event log: it holds what every failed task said.

    `way` says how a setting is given to this Spark.
    """
    if found == "true":
        raise SourceError(
            f"the Spark event log would hold records when a query fails; {way(EVENTS, 'false')}."
        )


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
