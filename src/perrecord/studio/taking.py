"""What was found taken into the text of a spec: each value in its place, comments and layout kept.

Tuning writes a whole spec. What it says otherwise than the text is changed there value by value;
only where its queries are others, because one became several, its own text is taken, which keeps
comments too.
"""

import re
from collections.abc import Iterator

from perrecord.errors import InputError
from perrecord.release.spec.problems import Path
from perrecord.release.spec.read import parse_document
from perrecord.studio.edits import Exchange, Put, Remove, TextChange, changed, places


def taken(text: str, found: str) -> str:
    r"""Return a text that says what another says, changed in as few places as that takes.

    >>> print(taken("a: {b: 1, c: 2}   # why\nd: x\n", "a: {b: 3, c: 2}\nd: x\n"), end="")
    a: {b: 3, c: 2}   # why
    d: x
    """
    now, wanted = parse_document(text, "").value, parse_document(found, "").value
    try:
        made = changed(text, list(_differences((), now, wanted, _Written(found))))
    except InputError:
        return found
    return made if parse_document(made, "").value == wanted else found


class _Written:
    """How a text writes its values, as far as they stand on a line of their own."""

    def __init__(self, text: str) -> None:
        self._text, self._places = text, places(text)

    def at(self, path: Path) -> str:
        place = self._places[path]
        if place.entries is not None and not place.is_flow:
            raise InputError(f"{path[-1]} is written over several lines.")
        return re.sub(r"\s*\n\s*", " ", self._text[place.start : place.end])


def _differences(
    path: Path, now: object, wanted: object, written: _Written
) -> Iterator[TextChange]:
    """Yield what has to be changed at a path; a key for another stands in its place."""
    if now == wanted:
        return
    match now, wanted:
        case dict(), dict():
            for name in now.keys() & wanted.keys():
                yield from _differences((*path, name), now[name], wanted[name], written)
            gone = [name for name in now if name not in wanted]
            new = [name for name in wanted if name not in now]
            for old, name in zip(gone, new, strict=False):
                yield Exchange((*path, old), name, written.at((*path, name)))
            yield from (Remove((*path, name)) for name in gone[len(new) :])
            for name in new[len(gone) :]:
                yield Put((*path, name), written.at((*path, name)))
        case list(), list() if len(now) == len(wanted):
            for place, (old, each) in enumerate(zip(now, wanted, strict=True)):
                yield from _differences((*path, place), old, each, written)
        case _:
            yield Put(path, written.at(path))
