"""Who is told how far long work has come: the present step, and how much of it is done."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float], None]
"""Is told how much is done, from 0 to 1."""


def nobody(_: object) -> None:
    """Listen to nothing."""


def within(share: Progress, start: float, end: float) -> Progress:
    """Return who is told of a part of the work, from one share of it to another.

    >>> within(print, 0.5, 0.75)(0.5)
    0.625
    """
    return lambda done: share(start + min(done, 1.0) * (end - start))


def logged(logger: logging.Logger, step: Callable[[str], None]) -> Callable[[str], None]:
    """Return who is told of steps and logs their names."""

    def told(name: str) -> None:
        logger.info("%s", name)
        step(name)

    return told


@dataclass(frozen=True, slots=True)
class Watch:
    """Two listeners: of steps by their names, and of the share of the present step."""

    step: Callable[[str], None] = nobody
    share: Progress = nobody


NOBODY = Watch()
