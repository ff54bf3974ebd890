"""For the site: examples in docstrings are shown as code."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*\n?(?:.+\n?)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Put a fence around every example of a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring as soon as the object is known."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Return the text with its examples, which end at an empty line, in fences."""
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
