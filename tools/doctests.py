"""For the site: examples in docstrings are shown as code, numbers of statements as links."""

import re
from pathlib import Path
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*\n?(?:.+\n?)*", re.MULTILINE)
_NUMBER = re.compile(r"`[^`]*`|\bT(\d+)\b")
_HEADING = re.compile(r"^## (.*\((T.*)\))$", re.MULTILINE)
_THEORY = Path(__file__).parent.parent / "docs" / "theory.md"


class Doctests(griffe.Extension):
    """Put a fence around every example of a docstring, and links into the text between them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring as soon as the object is known."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)


def shown(text: str) -> str:
    """Return the text with its examples, which end at an empty line, in fences, and with links."""
    parts, end = [], 0
    for example in _EXAMPLE.finditer(text):
        parts += [_linked(text[end : example.start()]), f"```pycon\n{example[0].rstrip()}\n```\n"]
        end = example.end()
    return "".join([*parts, _linked(text[end:])])


def _linked(text: str) -> str:
    return _NUMBER.sub(lambda found: _link(int(found[1])) if found[1] else found[0], text)


def _link(number: int) -> str:
    return f"[T{number}](theory.html#{_SECTIONS[number]})" if number in _SECTIONS else f"T{number}"


def _sections(page: str) -> dict[int, str]:
    """Return the anchor of the first section of the theory about each number."""
    found: dict[int, str] = {}
    for title, numbers in _HEADING.findall(page):
        anchor = re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))
        listed = [int(each) for each in re.findall(r"T(\d+)", numbers)]
        for each in range(listed[0], listed[1] + 1) if " to " in numbers else listed:
            found.setdefault(each, anchor)
    return found


_SECTIONS = _sections(_THEORY.read_text(encoding="utf-8"))
