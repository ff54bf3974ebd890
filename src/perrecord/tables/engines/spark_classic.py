"""Classic Spark sessions: this process is the driver, with Spark's Java process beside it."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.engines.spark_logs import check_files, is_local

Result = TypeVar("Result")

PATIENCE = "spark.perrecord.patience"
"""The setting that says for how many seconds we wait for executors once there are none."""

_PATIENCE_SECONDS = "600"
_LOOK = 1.0  # seconds


def silence(session: Any) -> None:
    """Switch off every log of Spark's here; refuse a session that would write records elsewhere."""
    context = session.sparkContext
    given = context.getConf()
    check_files(
        lambda setting: given.get(setting) or "",
        lambda setting, value: f'start the session with .config("{setting}", "{value}")',
    )
    log4j = context._jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)


def batches(result: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Return a stream of the result: one partition at a time is on its way or in memory.

    The scan is done when this returns, and the partitions are fetched as they are asked for.
    DataFrame.toArrow would gather all of them first, and toLocalIterator would make them rows of
    Python objects. Spark's own conversion to Arrow batches, read one by one, is neither.
    """
    session = result.sparkSession
    patience = _patience(session)

    def watched(action: Callable[[], Result]) -> Result:
        return _watched(session.sparkContext, patience, action)

    partitions = watched(lambda: result._jdf.toArrowBatchRdd().toLocalIterator())

    def read() -> Iterator[pa.RecordBatch]:
        while watched(partitions.hasNext):
            yield pa.ipc.read_record_batch(pa.py_buffer(partitions.next()), schema)

    return read()


def _watched(context: Any, patience: float, action: Callable[[], Result]) -> Result:
    """Return what the action returns; stop its jobs when all executors are gone for too long.

    Spark itself would wait for ever, and say so in its log alone, which is off.
    """
    if is_local(context.master):
        return action()
    tag = f"perrecord-{uuid4().hex}"
    done, lost = threading.Event(), threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while not done.wait(_LOOK):
            if _executors(context):
                seen = time.monotonic()
            elif time.monotonic() - seen > patience:
                lost.set()
                context.cancelJobsWithTag(tag)
                return

    context.addJobTag(tag)
    threading.Thread(target=watch, daemon=True).start()
    try:
        return action()
    except Exception:
        if not lost.is_set():
            raise
    finally:
        done.set()
        context.removeJobTag(tag)
    raise SourceError(
        f"Spark has had no executor for {patience:g} seconds; the query was stopped. See that the "
        "cluster has workers, then run this again: a release is charged once. A longer wait is "
        f'set with spark.conf.set("{PATIENCE}", "3600").'
    )


def _executors(context: Any) -> int:
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # the driver is listed too


def _patience(session: Any) -> float:
    text = session.conf.get(PATIENCE, _PATIENCE_SECONDS)
    if not text.isdecimal() or int(text) < 1:
        raise SourceError(
            f"the Spark session has {PATIENCE} = {text!r}; expected a whole number of seconds."
        )
    return int(text)
