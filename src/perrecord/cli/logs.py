"""`--log FILE`, which every command takes: what was done and when; names and steps, never values.

The library logs through Python's `logging`, under names that begin with `perrecord`. An error is
logged by its kind alone: what it says is for whoever ran the command.
"""

import inspect
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from perrecord.systems import CREATE_FLAGS
from perrecord.version import VERSION

_LOG = logging.getLogger("perrecord.cli")
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"

LogOption = Annotated[
    Path | None, typer.Option("--log", help="Append what is done to a log file.", metavar="FILE")
]


def with_log(function: Callable[..., Any], command: str) -> Callable[..., Any]:
    """Return a command that takes --log as well, as its last option."""
    signature = inspect.signature(function, eval_str=True)

    @wraps(function)
    def run(*arguments: Any, log: Path | None = None, **options: Any) -> Any:
        with logged(log, command):
            return function(*arguments, **options)

    last = inspect.Parameter(
        "log", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=LogOption
    )
    own = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()
    ]
    run.__signature__ = signature.replace(parameters=[*own, last])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*own, last]}
    return run


@contextmanager
def logged(path: Path | None, command: str) -> Iterator[None]:
    """Add to a log file what is done inside; without one, nothing is opened."""
    if path is None:
        yield
        return
    root, handler = logging.getLogger("perrecord"), _handler(path)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        _LOG.info("perrecord %s: %s begins", VERSION, command)
        try:
            yield
        except typer.Exit as ended:
            _LOG.info("%s ends with exit code %d", command, ended.exit_code)
            raise
        except BaseException as error:
            _LOG.error("%s ends: %s", command, type(error).__name__)
            raise
        _LOG.info("%s ends", command)
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        handler.close()


def _handler(path: Path) -> logging.Handler:
    """Return what writes to the file, which only this user may read if it is new."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | CREATE_FLAGS, 0o600)
    except OSError as error:
        raise typer.BadParameter(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    handler = _Lines(os.fdopen(descriptor, "a", encoding="utf-8"))
    handler.setFormatter(logging.Formatter(_LINE))
    return handler


class _Lines(logging.StreamHandler[Any]):
    """Writes lines, and closes what it writes to."""

    def close(self) -> None:
        """Close the file."""
        self.stream.close()
        super().close()
