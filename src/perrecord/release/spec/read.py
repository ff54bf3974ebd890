"""YAML text -> plain values with their lines. No tag is obeyed, no object is made.

The parser's events are read directly, with YAML 1.2's meaning of plain scalars: `no` and `on` are
text. A number with a point or an exponent stays the text it was written as, because `0.1` is a
tenth only there.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path as File
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from perrecord.errors import SpecError, shortened
from perrecord.release.spec.problems import Document, Path, spec_error, written

_MOST_BYTES = 250_000
_SHORT = 50_000
_DEEPEST = 30
_MOST_DIGITS = 1000

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OTHER_BASE = re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?|0x[0-9a-fA-F]+|0o[0-7]+")


class WrittenNumber(str):
    """A number with a point or an exponent, as it was written."""

    __slots__ = ()


def read_document(path: File, name: str) -> Document:
    """Return the values of a YAML file; `name` is what messages call it."""
    try:
        if path.exists() and not path.is_file():
            # A pipe that nobody writes to would be waited for.
            raise SpecError(
                f"{name}: this is not a plain file (a pipe, or a folder?); save the spec to a "
                "file and give its path, such as release.yaml."
            )
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except SpecError:
        raise
    except (OSError, ValueError):  # a path with NUL is a ValueError
        raise SpecError(
            f"{name}: there is no such file, or it may not be read; give the path of a release "
            "spec, such as release.yaml."
        ) from None
    if len(raw) > _MOST_BYTES:
        raise SpecError(
            f"{name}: longer than {_MOST_BYTES:,} bytes; put long lists into files: "
            "keys: {counties: {file: counties.csv}}."
        )
    return parse_document(_decoded(raw, name), name)


def parse_document(text: str, name: str) -> Document:
    """Return the values of a YAML text, each with its line.

    >>> parse_document("budget: {rho: 0.10}", "release.yaml").value
    {'budget': {'rho': '0.10'}}
    """
    try:
        return _Reader(text, name).document()
    except yaml.MarkedYAMLError as error:
        line, message = _explained(error)
        raise SpecError(f"{name}:{line}: {message}") from None
    except SpecError:
        raise
    except (OverflowError, ValueError):  # what Python says of an escape beyond Unicode
        raise _beyond_unicode(text, name) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SpecError(
            f"{name}:{line}: the character {error.character:#x} is not allowed in YAML; remove it."
        ) from None


def _beyond_unicode(text: str, name: str) -> SpecError:
    found = re.search(r"\\U(?!0010|000)[0-9a-fA-F]{8}", text)
    line = 1 if found is None else text.count("\n", 0, found.start()) + 1
    return SpecError(
        f"{name}:{line}: an escape stands for no character; expected at most \\U0010FFFF. Correct "
        "it, or write the character itself."
    )


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{name}:{line}: the text is not UTF-8; save it as UTF-8.") from None


def events_of(text: str) -> Iterator[Event]:
    """Yield the parser's events of a text; those of the last few short ones are kept.

    A text with a mistake is parsed as it is read, so that what comes first in it is said first.
    """
    if len(text) <= _SHORT:
        with suppress(yaml.YAMLError, ValueError):
            return iter(_kept_events(text))
    return iter(yaml.parse(text, Loader=yaml.BaseLoader))


@lru_cache(maxsize=8)
def _kept_events(text: str) -> tuple[Event, ...]:
    return tuple(yaml.parse(text, Loader=yaml.BaseLoader))


class _Reader:
    """One pass over the parser's events."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.events = events_of(text)
        self.lines: dict[Path, int] = {(): 1}
        self.blocks: dict[Path, int] = {}
        self.twice: list[tuple[Path, int]] = []

    def document(self) -> Document:
        next(self.events)
        first = next(self.events)
        if isinstance(first, StreamEndEvent):
            return Document(self.name, None, self.lines, self.blocks)
        value = self.value(next(self.events), ())
        next(self.events)
        second = next(self.events)
        if isinstance(second, DocumentStartEvent):
            self.refuse(second, (), "a second document begins here (---); expected one.")
        document = Document(self.name, value, self.lines, self.blocks)
        if self.twice:  # which of the two holds would be anybody's guess
            raise spec_error(
                [
                    f"{self.name}:{line}: {written(path)}: given a second time; the first is in "
                    f"line {self.lines[path]}. Give it once."
                    for path, line in self.twice
                ]
            )
        return document

    def value(self, event: Event, path: Path) -> Any:
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None) is not None:
            self.refuse(
                event,
                path,
                "anchors and aliases (& and *) are not read; give splits and keys names and refer "
                "to them, and put text that begins with & or * in quotes.",
            )
        if isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag is not None:
            self.refuse(
                event,
                path,
                f"the tag {_tag(event.tag)} is not read; leave it out, and put text that begins "
                "with ! in quotes.",
            )
        if len(path) > _DEEPEST:
            self.refuse(
                event, path[:3], f"more than {_DEEPEST} levels of nesting; expected far fewer."
            )
        if isinstance(event, MappingStartEvent):
            return self.mapping(path)
        if isinstance(event, SequenceStartEvent):
            return self.sequence(path)
        assert isinstance(event, ScalarEvent)  # noqa: S101 - no other event opens a value
        if event.style in ("|", ">"):
            self.blocks[path] = _line(event)
        return self.text(event, path) if event.style else self.plain(event, path)

    def mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self.key(event, path)
            if key in found:
                self.twice.append(((*path, key), _line(event)))
            else:
                self.lines[(*path, key)] = _line(event)
            found[key] = self.value(next(self.events), (*path, key))
        return found

    def key(self, event: Event, path: Path) -> str:
        if not isinstance(event, ScalarEvent) or not (event.value or event.style):
            self.refuse(event, path, "a key is not text; expected key: value.")
        if event.tag is not None or event.anchor is not None:
            self.value(event, path)
        return self.text(event, path)

    def sequence(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            here = (*path, len(found))
            self.lines[here] = _line(event)
            found.append(self.value(event, here))
        return found

    def text(self, event: ScalarEvent, path: Path) -> str:
        """Return text; two escapes that stand for one character, as in JSON, become it."""
        try:
            return event.value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            self.refuse(
                event,
                path,
                "an escape between \\ud800 and \\udfff is half a character, which no file can "
                "hold; write the character itself.",
            )

    def plain(self, event: ScalarEvent, path: Path) -> Any:
        """Return what a scalar without quotes means."""
        text = event.value
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if not _NUMBER.fullmatch(text) and not _OTHER_BASE.fullmatch(text):
            return text
        if _OTHER_BASE.fullmatch(text):
            self.refuse(
                event,
                path,
                f"{text} may be a code or a number; put a code in quotes, '{text}', and write a "
                "number without leading zeros.",
            )
        if len(text) > _MOST_DIGITS:
            message = f"a number of more than {_MOST_DIGITS} digits; expected fewer."
            self.refuse(event, path, message)
        return int(text) if _WHOLE.fullmatch(text) else WrittenNumber(text)

    def refuse(self, event: Event, path: Path, message: str) -> NoReturn:
        place = f"{written(path)}: " if path else ""
        raise SpecError(shortened(f"{self.name}:{_line(event)}: {place}{message}"))


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


_EXPLAINED = (
    (r"found character '\\t'", "a tab; indent with spaces."),
    (
        r"found character '(.)' that cannot start",
        r"text cannot begin with \1; put it in quotes.",
    ),
    (
        r"mapping values are not allowed",
        "a ':' does not belong here; indent the line like those around it, and put text that "
        "contains ': ' in quotes.",
    ),
    (r"could not find expected ':'", "a ':' is missing after a key."),
    (
        r"expected <block end>, but found '?(.*?)'?$",
        "this does not continue what comes before it; indent it like the lines around it.",
    ),
    (r"expected ',' or '(.)'", r"a ',' or the closing '\1' is missing before this."),
    (r"found undefined tag handle", "a word that begins with ! is a tag; put text in quotes."),
    (
        r"expected alphabetic or numeric character",
        "* and & begin an alias or anchor, which are not read; put text in quotes.",
    ),
    (
        r"incompatible YAML document|YAML directive|end of directive|version number",
        "a line that begins with % is not part of a spec; remove it, or put text in quotes.",
    ),
)


def _explained(error: yaml.MarkedYAMLError) -> tuple[int, str]:
    """Return the line of a syntax error, and what to do about it."""
    problem = error.problem or "this is no YAML"
    mark = error.problem_mark or error.context_mark
    context = error.context or ""
    if "quoted scalar" in context and error.context_mark is not None:
        mark, message = (
            error.context_mark,
            "the quote that is opened here is never closed; close it.",
        )
        if "end of stream" not in problem:
            found = problem.removeprefix("found ")
            message = f"the quoted text that begins here has {found}; expected plain characters."
        return mark.line + 1, message
    for pattern, message in _EXPLAINED:
        if match := re.search(pattern, problem):
            return (mark.line + 1 if mark else 1), match.expand(message)
    return (mark.line + 1 if mark else 1), f"this is not YAML: {problem}; correct it."
