"""Where an engine's errors stop: its messages may quote records, so ours take their place."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyarrow as pa

from perrecord.errors import PerrecordError, SourceError

Result = TypeVar("Result")

_STEP = 0.1  # seconds

READ_FAILED = (
    "the source could not be read. What the engine said is withheld, because it may quote "
    "records; check that every file is whole and every column has the type that it declares."
)


class ReadError(SourceError):
    """An engine failed; the message is ours."""


def sealed(message: str, action: Callable[[], Result]) -> Result:
    """Return what the action returns; whatever it raises becomes a ReadError that quotes nothing.

    Our own errors pass, and so does Ctrl-C.
    """
    try:
        return action()
    except (PerrecordError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: S110 -- a panic of a Rust library is no Exception
        pass
    # Raised out here, where nothing is in flight, so that no cause and no context clings to it.
    raise ReadError(message)


def interruptible(
    action: Callable[[], Result],
    interrupt: Callable[[], None],
    tell: Callable[[], None] | None = None,
) -> Result:
    """Return what the action returns, letting Ctrl-C stop it: DuckDB does not look for signals.

    Signals reach the main thread alone, so that thread waits while another one works, and tells
    every now and then how far that is.
    """
    if threading.current_thread() is not threading.main_thread():
        return action()
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def work() -> None:
        if not turn.acquire(blocking=False):
            return
        try:
            outcome.append(action())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    turn = threading.Lock()  # whoever has it first: the action, or a signal that comes before it
    done = threading.Event()  # a join that Ctrl-C breaks off would take the thread for finished
    try:
        threading.Thread(target=work, daemon=True).start()
        # In short steps: once Polars is imported, a signal no longer ends a wait.
        while not done.wait(_STEP):
            if tell is not None:
                tell()
    except BaseException:  # Ctrl-C, a signal's handler that ends the process, who is told
        if not turn.acquire(blocking=False):
            _stop(done, interrupt)
        raise
    if failure:
        raise failure.pop()
    return outcome[0]


def _stop(done: threading.Event, interrupt: Callable[[], None]) -> None:
    """Interrupt an action until it is done; a query that only begins may miss it.

    Another Ctrl-C must not end this: DuckDB aborts if its connection is closed under a query.
    """
    while True:
        try:
            while not done.is_set():
                interrupt()
                done.wait(_STEP)
            return
        except (KeyboardInterrupt, SystemExit):
            continue


def stream(
    message: str,
    reader: Any,
    advance: Callable[[Callable[[], Any]], Any],
    close: Callable[[], None],
) -> Iterator[pa.RecordBatch]:
    """Yield a reader's batches, at least one so that the schema is known, then close.

    `advance` runs one step of the reader; an error in the middle of the stream is sealed too.
    """
    schema, seen = reader.schema, False
    try:
        while (batch := sealed(message, lambda: advance(lambda: next(reader, None)))) is not None:
            seen = True
            yield batch
        if not seen:
            yield pa.RecordBatch.from_pylist([], schema=schema)
    finally:
        close()
