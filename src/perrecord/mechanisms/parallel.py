"""Work that is done in several threads, largest parts first, and broken off by Ctrl-C."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
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
    on_step: Callable[[], None] = lambda: None,
) -> list[Made]:
    """Return what is made of each part, in the order of the parts.

    numpy, Arrow and DuckDB let go of Python's lock, so that threads are enough. The first failure
    is raised when the parts at work are done; those that wait are given up.

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
            raise
    return [work[index].result() for index in range(len(parts))]
