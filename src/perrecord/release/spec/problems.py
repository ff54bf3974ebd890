"""What is wrong with a spec, and where: file, line, path, message."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from perrecord.errors import InputError, SpecError, shortened

Path = tuple[str | int, ...]
"""Where in a spec: keys of mappings and places in lists, from the top."""

_MOST_SHOWN = 20
_PLAIN_KEY = re.compile(r"[\w-]+")
_SQL_LINE = re.compile(r", line (\d+), column \d+:")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML text as plain values, with the line that each of them stands on."""

    name: str
    value: Any
    lines: Mapping[Path, int] = field(repr=False)
    blocks: Mapping[Path, int] = field(repr=False)
    """Of each block of text (`|`), the line before its first, to which lines inside it add."""

    def followed(self, path: Iterable[str | int]) -> Path:
        """Return the longest path of the document along this one; what it lacks is skipped.

        Short forms are filled in before they are checked: `emp: 1` is checked as
        `emp: {resolution: 1}`, and is to be shown as it was written.
        """
        here: Path = ()
        for step in path:
            if (*here, step) in self.lines:
                here = (*here, step)
        return here

    def line(self, path: Path, message: str = "") -> int:
        """Return the line of a value, or of the line inside its text that a message names."""
        inside = _SQL_LINE.search(message)
        if inside and path in self.blocks:
            return self.blocks[path] + int(inside[1])
        return self.lines[path]

    def located(self, path: Path, message: str) -> str:
        """Return the message behind its file, line and path."""
        there = self.followed(path)
        shown = written(there)
        place = f"{self.name}:{self.line(there, message)}"
        return f"{place}: {shown}: {message}" if shown else f"{place}: {message}"


@dataclass(slots=True)
class Problems:
    """Problems of one document, gathered so that all of them are shown at once."""

    document: Document
    found: list[tuple[Path, str]] = field(default_factory=list)

    def add(self, path: Path, message: str) -> None:
        """Note one problem, once."""
        if (path, message) not in self.found:
            self.found.append((path, message))

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Note an error about what the caller gave as a problem at this path."""
        try:
            yield
        except SpecError:
            raise
        except InputError as error:
            self.add(path, str(error))

    def check(self) -> None:
        """Raise what was found, in the order of lines."""
        if not self.found:
            return
        every = [
            (self.document.line(self.document.followed(path), message), path, message)
            for path, message in self.found
        ]
        every.sort(key=lambda each: each[0])
        raise spec_error([self.document.located(path, message) for _, path, message in every])


def spec_error(messages: list[str]) -> SpecError:
    """Return the error that shows all these messages, or the first twenty."""
    shown = [shortened(each) for each in messages[:_MOST_SHOWN]]
    if len(messages) > _MOST_SHOWN:
        shown.append(f"and {len(messages) - _MOST_SHOWN} more.")
    return SpecError("\n".join(shown))


def written(path: Path) -> str:
    """Return a path as people write it.

    >>> written(("queries", 2, "answers", "emp", "split"))
    'queries[2].answers.emp.split'
    """
    text = ""
    for step in path:
        if isinstance(step, str) and _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text


def found(value: object) -> str:
    """Return what stands in a spec, in words; a spec is public, so it may be quoted.

    >>> found("modrate"), found(3), found([1]), found(None)
    ("'modrate'", '3', 'a list', 'nothing')
    """
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            text = str(value)
            return repr(text if len(text) <= 60 else f"{text[:60]}...")
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)
