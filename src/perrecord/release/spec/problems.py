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

    def line(self, path: Path, inside: int | None = None) -> int:
        """Return the line of a value, or of a line inside the text that it is."""
        if inside is not None and path in self.blocks:
            return self.blocks[path] + inside
        return self.lines[path]

    def located(self, path: Path, message: str, inside: int | None = None) -> str:
        """Return the message behind its file, line and path."""
        there = self.followed(path)
        shown = written(there)
        place = f"{self.name}:{self.line(there, inside)}"
        return f"{place}: {shown}: {message}" if shown else f"{place}: {message}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, what it is, and in which line of a text that stands there."""

    path: Path
    message: str
    line: int | None = None


@dataclass(slots=True)
class Problems:
    """Problems of one document, gathered so that all of them are shown at once."""

    document: Document
    found: list[Problem] = field(default_factory=list)

    def add(self, path: Path, message: str, line: int | None = None) -> None:
        """Note one problem, once."""
        problem = Problem(path, message, line)
        if problem not in self.found:
            self.found.append(problem)

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Note an error about what the caller gave as a problem at this path, or below it."""
        try:
            yield
        except SpecError:
            raise
        except InputError as error:
            self.add((*path, *error.about), str(error), error.line)

    def check(self) -> None:
        """Raise what was found, in the order of lines."""
        if not self.found:
            return
        document = self.document
        every = sorted(
            self.found, key=lambda each: document.line(document.followed(each.path), each.line)
        )
        raise spec_error([document.located(each.path, each.message, each.line) for each in every])


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
