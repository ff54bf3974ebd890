"""Reading JSON that somebody else may have written: every mistake is named with its place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from perrecord.errors import DocumentError, InputError, listing

Json = dict[str, Any]
V = TypeVar("V")


def plain_text(value: object, where: str) -> Any:
    """Return text, or say where there is none."""
    if not isinstance(value, str):
        raise DocumentError(f"{where} is a {type(value).__name__}; expected text.")
    return value


def each(value: object, where: str, read: Callable[[object, str], V]) -> list[V]:
    """Return the items of a list, each read with its place."""
    if not isinstance(value, list):
        raise DocumentError(f"{where} is a {type(value).__name__}; expected a list.")
    return [read(item, f"{where}[{index}]") for index, item in enumerate(value)]


def exactly(value: object, where: str, names: list[str]) -> Json:
    """Return an object that has these fields and no others."""
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise DocumentError(f"{where}: expected an object of exactly {listing(names, limit=12)}.")
    return value


def one_of_each(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object's fields; json.loads would quietly keep the last of two twins."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put the place in the document in front of whatever goes wrong inside."""
    try:
        yield
    except InputError as error:
        raise DocumentError(f"{where}: {error}") from None
