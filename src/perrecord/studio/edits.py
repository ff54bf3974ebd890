"""Changes of a spec's text, each in its place: every other character stays as it was written.

A change is a value. It is made in the text by the places that YAML's parser gives, and the result
is read back: unless it says exactly what was asked for, nothing is changed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from yaml.events import (
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from perrecord.errors import InputError, SpecError
from perrecord.release.spec.problems import Path, written
from perrecord.release.spec.read import events_of, parse_document
from perrecord.release.spec.template import scalar


@dataclass(frozen=True, slots=True)
class Put:
    """A value at a path: in the place of the one that is there, or at the end of its mapping."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """Another key with another value in the place of the one at a path."""

    path: Path
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Remove:
    """The key at a path and its value, gone."""

    path: Path


TextChange = Put | Exchange | Remove


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Where a value stands in the text; of a mapping's entry also where its key begins."""

    key: int | None
    start: int
    end: int
    is_flow: bool
    """Whether it is a mapping or a list in brackets."""
    entries: tuple[str | int, ...] | None = None
    """The keys of a mapping, the numbers of a list; None of anything else."""


def changed(text: str, changes: Iterable[TextChange]) -> str:
    r"""Return the text with changes made one after another; comments and layout stay.

    >>> changed("a: {b: 1, c: 2}  # why\n", [Put(("a", "b"), "3"), Remove(("a", "c"))])
    'a: {b: 3}  # why\n'
    """
    for change in changes:
        text = _checked(text, change)
    return text


def value_at(text: str, path: Path) -> str | None:
    """Return a value as it is written, None if there is none."""
    place = places(text).get(path)
    return None if place is None else text[place.start : place.end]


def _checked(text: str, change: TextChange) -> str:
    made = _made(text, change)
    try:
        is_right = parse_document(made, "").value == _expected(text, change)
    except SpecError:
        is_right = False
    if not is_right:
        raise InputError(
            f"{written(change.path)} is written in a way that cannot be changed from here; change "
            "it in the file."
        )
    return made


def _expected(text: str, change: TextChange) -> Any:
    """Return what the text is to say afterwards."""
    found = deepcopy(parse_document(text, "").value)
    *above, last = change.path
    inner = found
    for step in above:
        inner = inner[step]
    match change:
        case Put(_, value):
            inner[last] = parse_document(value, "").value
        case Remove(_):
            del inner[last]
        case Exchange(_, key, value):
            del inner[last]
            inner[key] = parse_document(value, "").value
    return found


def _made(text: str, change: TextChange) -> str:
    every = places(text)
    place = every.get(change.path)
    match change:
        case Put(path, value) if place is None:
            return _added(text, every, path, value)
        case Put(_, value) if place is not None:
            before = text[: place.start]
            gap = " " if before.endswith(":") else ""
            return f"{before}{gap}{value}{text[place.end :]}"
        case Exchange(_, key, value) if place is not None and place.key is not None:
            return f"{text[: place.key]}{key}: {value}{text[place.end :]}"
        case Remove(path) if place is not None and place.key is not None:
            return _removed(text, place, is_flow=every[path[:-1]].is_flow)
    return text  # which does not say what was asked for, and is refused


def _added(text: str, every: Mapping[Path, TextPlace], path: Path, value: str) -> str:
    """Return the text with one more entry at the end of a mapping."""
    mapping = every.get(path[:-1])
    if mapping is None or mapping.entries is None:
        return text
    entry = f"{scalar(str(path[-1]))}: {value}"
    if not mapping.entries:
        return f"{text[: mapping.start + 1]}{entry}{text[mapping.start + 1 :]}"
    last = every[(*path[:-1], mapping.entries[-1])]
    if mapping.is_flow:
        return f"{text[: last.end]}, {entry}{text[last.end :]}"
    first = every[(*path[:-1], mapping.entries[0])].key or 0
    margin = " " * (first - _line_start(text, first))
    end = _line_end(text, last.end)
    return f"{text[:end]}{_newline(text)}{margin}{entry}{text[end:]}"


def _removed(text: str, place: TextPlace, *, is_flow: bool) -> str:
    """Return the text without an entry: between brackets with its comma, else with its lines."""
    start, end = place.key or 0, place.end
    if not is_flow:
        after = _line_end(text, end)
        return text[: _line_start(text, start)] + text[after:].removeprefix("\r").removeprefix("\n")
    if comma := re.compile(r"\s*,[ \t]*").match(text, end):
        return text[:start] + text[comma.end() :]
    before = re.sub(r"\s*,\s*\Z", "", text[:start])
    return before + text[end:]


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    found = re.compile(r"\r?\n|\Z").search(text, place)
    return len(text) if found is None else found.start()


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# -- places -----------------------------------------------------------------------------------


def places(text: str) -> dict[Path, TextPlace]:
    """Return where every value of a text stands.

    >>> text = "a: {b: 1}"
    >>> {path: text[place.start : place.end] for path, place in places(text).items()}
    {('a', 'b'): '1', ('a',): '{b: 1}', (): 'a: {b: 1}'}
    """
    reader = _Places(events_of(text))
    next(reader.events)
    next(reader.events)
    reader.value(next(reader.events), (), None)
    return reader.found


@dataclass(slots=True)
class _Places:
    """One pass over the parser's events."""

    events: Iterator[Event]
    found: dict[Path, TextPlace] = field(default_factory=dict)

    def value(self, event: Event, path: Path, key: int | None) -> int:
        """Note a value and all that is in it; return where it ends.

        The parser ends a block where the next one begins; ours ends with its last value, so that
        the comments behind it are not part of it.
        """
        entries: list[str | int] = []
        start, end = _start(event), _end(event)
        match event:
            case MappingStartEvent():
                while not isinstance(each := next(self.events), MappingEndEvent):
                    name = each.value if isinstance(each, ScalarEvent) else ""
                    entries.append(name)
                    end = self.value(next(self.events), (*path, name), _start(each))
                last: Event = each
            case SequenceStartEvent():
                while not isinstance(each := next(self.events), SequenceEndEvent):
                    end = self.value(each, (*path, len(entries)), None)
                    entries.append(len(entries))
                last = each
            case _:
                self.found[path] = TextPlace(key, start, end, is_flow=False)
                return end
        is_flow = bool(event.flow_style)
        end = _end(last) if is_flow else end
        self.found[path] = TextPlace(key, start, end, is_flow, tuple(entries))
        return end


def _start(event: Event) -> int:
    return event.start_mark.index if event.start_mark is not None else 0


def _end(event: Event) -> int:
    return event.end_mark.index if event.end_mark is not None else 0
