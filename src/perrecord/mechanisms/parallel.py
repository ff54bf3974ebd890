"""Work that is done in several threads, largest parts first, and broken off by Ctrl-C."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TypeVar

Part = TypeVar("Part")
Made = TypeVar("Made")

_STEP = 0.1  # seconds: once Polars is imported, a signal no longer ends a wait
_MOST_THREADS = 4
"""Each thread holds one table; more of them would cost memory and find no work."""


def in_threads(
    make: Callable[[Part], Made],
    parts: Sequence[Part],
    size: Callable[[Part], int],
    *,
    on_step: Callable[[], None] = lambda: None,
    interrupt: Callable[[], None] = lambda: None,
) -> list[Made]:
    """Return what is made of each part, in the order of the parts.

    numpy, Arrow and DuckDB let go of Python's lock, so that threads are enough. After a failure, or
    Ctrl-C, parts that wait are given up and those at work are interrupted; it is raised when they
    are done, so that nobody works on a source that is closed.

    >>> in_threads(str.upper, ["a", "bc"], len)
    ['A', 'BC']
    """
    if len(parts) == 1:
        return [make(parts[0])]
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        largest_first = sorted(range(len(parts)), key=lambda index: -size(parts[index]))
        work = {index: pool.submit(make, parts[index]) for index in largest_first}
        try:
            waiting = set(work.values())
            while waiting:
                done, waiting = wait(waiting, timeout=_STEP, return_when=FIRST_EXCEPTION)
                for each in done:
                    each.result()
                on_step()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end(work.values(), interrupt)
            raise
    return [work[index].result() for index in range(len(parts))]


def _end(work: Iterable[Future[Made]], interrupt: Callable[[], None]) -> None:
    """Interrupt what is at work until it is done; another Ctrl-C must not end this."""
    at_work = {each for each in work if not each.done()}
    while at_work:
        with suppress(KeyboardInterrupt, SystemExit):
            interrupt()
            at_work = wait(at_work, timeout=_STEP).not_done
