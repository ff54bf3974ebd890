"""How every command ends: its exit code, what it says when it is refused, what it never says.

0    fine
1    refused: the input, the budget, the ledger or the release; the message says why
2    a mistake on the command line
3    a fault of perrecord's own
130  interrupted, or told to end
"""

import atexit
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from perrecord.cli.output import complain
from perrecord.confidential.withheld import place_of
from perrecord.errors import InternalError, PerrecordError
from perrecord.systems import ENDING_SIGNALS, SIGQUIT

REFUSED, FAULT, INTERRUPTED = 1, 3, 130
DEBUG = "PERRECORD_DEBUG"

EXIT_CODES = """\
Exit codes:
  0    fine
  1    refused: the input, the budget, the ledger or the release; the message says why
  2    a mistake on the command line
  3    a fault of perrecord's own
  130  interrupted, or told to end; run the command again, and a release continues"""

_PREFIX = "Value error, "
_TIDYING = b"perrecord: tidying up first. Ctrl-\\ ends it at once, and may leave a spill folder.\n"


def unprefixed(message: str) -> str:
    """Return what pydantic says without its prefix."""
    return message.removeprefix(_PREFIX)


class Command(TyperCommand):
    """A command that ends with one of our exit codes, and whose help ends with examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; what is wrong with it is said without a prefix of pydantic's."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = unprefixed(error.message)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with reported():
            return super().invoke(ctx)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 -- Typer's
        """Write the examples as they are, one to a line."""
        _write_plain(self.epilog, formatter)


class Deferred(TyperCommand):
    """Stands for a command in the list of its group; its callback loads and returns the command."""

    def loaded(self) -> Any:
        """Return the command itself."""
        return self.callback()  # type: ignore[misc]  # all are added with one

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Return the context of the command itself: what was typed is its own, and it is run."""
        return self.loaded().make_context(*arguments, **extra)


class Commands(TyperGroup):
    """A group of commands, whose help ends with plain text."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 -- Typer's
        """Write the text as it is."""
        _write_plain(self.epilog, formatter)


def _write_plain(epilog: str | None, formatter: Any) -> None:
    if epilog:
        formatter.write(f"\n{epilog}\n")


def examples(*lines: str) -> str:
    """Return the end of a command's help.

    >>> examples("perrecord schema").splitlines()
    ['Examples:', '  perrecord schema']
    """
    return "\n".join(["Examples:", *(f"  {line}" for line in lines)])


_ENDINGS = (typer.Exit, typer.Abort, typer.BadParameter, SystemExit, GeneratorExit, BrokenPipeError)
"""What Typer and Python end a command with; it is none of our business."""


@contextmanager
def ended_once() -> Iterator[None]:
    r"""Take the first signal that tells the process to end as Ctrl-C, and no other after it.

    A second one (SIGTERM and SIGHUP often come together) would break off the tidying. Who will not
    wait for that has Ctrl-\ (SIGQUIT): it ends the process at once, without the core dump that it
    usually makes, which would hold records; a spill folder may be left. Signals that the caller has
    had ignored (nohup) stay so. Meant to be left at the end of the process.
    """
    told = False

    def hear(number: int, _: FrameType | None) -> None:
        nonlocal told
        if number == SIGQUIT:
            os._exit(INTERRUPTED)
        if not told:
            told = True
            raise KeyboardInterrupt
        if number == signal.SIGINT:
            with suppress(OSError):
                os.write(2, _TIDYING)  # print may not be entered twice

    taken = []
    if threading.current_thread() is threading.main_thread():  # no other may
        usual = (signal.SIG_DFL, signal.default_int_handler)
        taken = [each for each in ENDING_SIGNALS if signal.getsignal(each) in usual]
    for each in taken:
        signal.signal(each, hear)
        # While Python is taken down, a handler of ours would give way to what is usual.
        atexit.register(signal.signal, each, signal.SIG_IGN)
    try:
        yield
    finally:
        told = True


@contextmanager
def reported() -> Iterator[None]:
    """Turn what goes wrong inside into a message on stderr and an exit code."""
    try:
        yield
    except _ENDINGS:
        raise
    except PerrecordError as error:
        complain(str(error))
        code = FAULT if isinstance(error, InternalError) else REFUSED
        raise typer.Exit(code) from None
    except KeyboardInterrupt:
        complain("interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except BaseException as error:  # a panic of a Rust library is no Exception
        raise typer.Exit(_unforeseen(error)) from None


def _unforeseen(error: BaseException) -> int:
    """Say what an error was that nobody foresaw; return the exit code."""
    if isinstance(error, OSError) and error.errno is not None:
        complain(_system(error))
        return REFUSED
    hint = f" {DEBUG}=1 shows where it happened."
    if os.environ.get(DEBUG) == "1":
        complain("".join(traceback.format_exception(error)).rstrip())
        hint = ""
    complain(str(InternalError(f"{type(error).__name__}: an unexpected error.")) + hint)
    return FAULT


def _system(error: OSError) -> str:
    """Return what the operating system objects to; neither part holds data."""
    where = (
        f" {os.fspath(error.filename)!r}" if isinstance(error.filename, str | os.PathLike) else ""
    )
    return f"the operating system refused{where}: {os.strerror(error.errno or 0)}."


@contextmanager
def data_open() -> Iterator[None]:
    """Withhold errors that nobody foresaw: while data is open, they may quote it.

    Our own errors never do, and pass; so do those of the operating system, which name files.
    """
    try:
        yield
    except (*_ENDINGS, PerrecordError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InternalError(
            f"{type(error).__name__} in {place_of(error.__traceback__)} while the data was open. "
            f"What it said is withheld, also under {DEBUG}=1, because it may quote records."
        ) from None
