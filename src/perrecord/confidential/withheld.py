"""Where errors stop that nobody foresaw: those of numpy and Arrow quote the number they dislike."""

import traceback
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from perrecord.errors import InternalError, PerrecordError

Result = TypeVar("Result")


def withheld(action: Callable[[], Result]) -> Result:
    """Return what the action returns; an error that is not ours becomes one that quotes nothing.

    Our own errors never quote a number and pass, and so does Ctrl-C.
    """
    try:
        return action()
    except (PerrecordError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a Rust library is no Exception
        kind, place = type(error).__name__, place_of(error.__traceback__)
    # Raised out here, where nothing is in flight: no context, and no frame that holds numbers.
    raise InternalError(
        f"{kind} in {place} before noise was added. What it said is withheld, because it may quote "
        "exact numbers."
    )


def place_of(trace: TracebackType | None) -> str:
    """Return the innermost line of ours that an error came through."""
    frames = [
        (frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(trace)
    ]
    ours = [f"{name}:{line}" for name, line in frames if str(name).startswith("perrecord")]
    return ours[-1] if ours else "another library"
