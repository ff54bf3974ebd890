"""Classic Spark sessions: this process is the driver, with Spark's Java process beside it."""

import struct
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
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
_LENGTH = struct.Struct(">i")

_FIRST_PARTITIONS, _MOST_BYTES = 8, 1 << 28
"""How much of a result is fetched at once: some partitions, then as many as are this large."""


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
    """Return a stream of the result: a few partitions at a time are on their way or in memory.

    The scan is done when this returns, and partitions are fetched as they are asked for: as many at
    once as there are cores for, while they are small. DataFrame.toArrow would gather all of them
    first, and toLocalIterator would fetch one after another.
    """
    session = result.sparkSession
    context = session.sparkContext
    patience = _patience(session)

    def watched(action: Callable[[], Result]) -> Result:
        return _watched(context, patience, action)

    computed = watched(lambda: result._jdf.toArrowBatchRdd().toJavaRDD())

    def read() -> Iterator[pa.RecordBatch]:
        cores, count = context.defaultParallelism, computed.getNumPartitions()
        fetched, size, together = 0, 0, min(cores, _FIRST_PARTITIONS)
        while fetched < count:
            some = list(range(fetched, min(fetched + together, count)))
            for data in _fetched(watched(partial(_run, context, computed, some))):
                size += len(data)
                yield pa.ipc.read_record_batch(pa.py_buffer(data), schema)
            fetched = some[-1] + 1
            together = max(1, min(cores, _MOST_BYTES * fetched // max(size, 1)))

    return read()


def _run(context: Any, computed: Any, partitions: list[int]) -> Any:
    """Compute some partitions of an RDD of bytes side by side; return where they can be fetched."""
    return context._jvm.PythonRDD.runJob(context._jsc.sc(), computed, partitions)


def _fetched(place: Any) -> Iterator[bytes]:
    """Yield what Spark serves at a place: pieces of bytes, each with its length before it.

    Its end is the end of the stream, so it is complete only if Spark says that it could write all.
    """
    from pyspark.util import local_connect_and_auth  # noqa: PLC0415 -- Spark is optional

    address, secret, server = place
    file, connection = local_connect_and_auth(address, secret)
    with file, connection:
        connection.settimeout(None)
        while head := file.read(_LENGTH.size):
            (length,) = _LENGTH.unpack(head)
            data = file.read(length)
            if len(data) < length:
                raise EOFError
            yield data
    server.getResult()


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
