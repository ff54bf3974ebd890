"""What operating systems differ in: locks, signals, owners and modes of files.

Everything else works on any of them. Nothing here is imported unless it is there; where a module
is missing, something else does its work, or it is left out. Untried on real Windows and macOS.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # Windows
    fcntl = None

CREATE_FLAGS = os.O_CREAT | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY")
)
"""How files are made: not handed on to other programs, never through a link, byte by byte."""

HAS_MODES = hasattr(os, "geteuid")
"""Whether files have owners and modes; elsewhere access lists of the folder decide."""

ENDING_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
    if hasattr(signal, name)
)
"""What tells a process to end, as far as the system has it."""

SIGQUIT = getattr(signal, "SIGQUIT", None)
"""What ends a process at once."""


def user() -> int:
    """Return the number of the user this process runs as; 0 where users have none."""
    return os.geteuid() if HAS_MODES else 0


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold the lock of a file for as long as the block lasts; a killed process lets go of it.

    Gives False if another process holds it. Where the system has no `flock`, filelock does it.
    """
    if fcntl is None:
        with _held_by_library(path) as is_held:
            yield is_held
        return
    descriptor = os.open(path, os.O_RDWR | CREATE_FLAGS, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


@contextmanager
def _held_by_library(path: Path) -> Iterator[bool]:
    from filelock import FileLock, Timeout  # noqa: PLC0415 - installed where it is needed

    lock = FileLock(path, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def flush_one(path: Path) -> None:
    """Make a file, or the names in a folder, survive a loss of power.

    Windows flushes files that are open for writing, and no folders.
    """
    is_windows = os.name == "nt"
    if is_windows and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
