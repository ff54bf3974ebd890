"""What a text file looks like that is no CSV file as we read them, and what to do about it.

Only its first line and its byte order are looked at, and nothing of it is quoted.
"""

import codecs
import json
import re
from pathlib import Path

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""UTF-32's other mark begins with that of UTF-16."""
_LOOKED_AT = 200


def of_first_bytes(path: Path, start: bytes) -> str | None:
    """Return what is wrong with the encoding of a file by its first bytes, or None.

    >>> of_first_bytes(Path("est.csv"), "a,b".encode("utf-16"))[:52]
    "the file 'est.csv' looks like UTF-16 or UTF-32, such"
    >>> of_first_bytes(Path("est.csv"), "größe".encode("latin-1"))[:58]
    "the first line of 'est.csv' is not UTF-8; it looks like La"
    """
    if start.startswith(_MARKS) or _is_wide(start[:_LOOKED_AT]):
        return (
            f"the file {path.name!r} looks like UTF-16 or UTF-32, such as spreadsheets save as "
            f"Unicode text; expected UTF-8. Say so: {said(path, encoding='utf-16')}."
        )
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    try:  # a line that goes on may be cut within a character
        codecs.getincrementaldecoder("utf-8")().decode(first, final=len(first) < len(start))
    except UnicodeDecodeError:
        return (
            f"the first line of {path.name!r} is not UTF-8; it looks like Latin-1 or "
            f"Windows-1252. Say so: {said(path, encoding='windows-1252')}."
        )
    return None


def of_header(path: Path, header: list[str], delimiter: str) -> str | None:
    """Return by what else than the delimiter a file looks separated, or None.

    >>> of_header(Path("est.csv"), ["id;emp"], ",")[:66]
    "the first line of 'est.csv' is one field that holds semicolons; it"
    """
    if len(header) != 1:
        return None
    counted = {sign: header[0].count(sign) for sign in _SEPARATORS if sign != delimiter}
    sign = max(counted, key=lambda each: counted[each])
    if not counted[sign]:
        return None
    name, ours = _SEPARATORS[sign], _SEPARATORS.get(delimiter, f"{delimiter!r}")
    advice = f"say so: {said(path, separator=sign)}"
    if sign == ";":
        advice += ', with decimal: "," if its numbers are written as 1,5'
    return (
        f"the first line of {path.name!r} is one field that holds {name}; it looks as if {name} "
        f"separated its columns, where {ours} are expected: {advice}."
    )


def said(path: Path, **settings: str) -> str:
    """Return how to say in a spec and in Python that a file is read by these settings.

    >>> print(said(Path("est.csv"), separator=";"))
    source: {path: "est.csv", separator: ";"} in a spec, File("est.csv", separator=";") in Python
    """
    name = json.dumps(path.name, ensure_ascii=False)
    yaml = ", ".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
    python = ", ".join(f"{key}={json.dumps(value)}" for key, value in settings.items())
    return f"source: {{path: {name}, {yaml}}} in a spec, File({name}, {python}) in Python"


def _is_wide(start: bytes) -> bool:
    """Tell whether nearly every other byte is NUL, as of Latin letters in UTF-16 or UTF-32.

    A few characters NUL in UTF-8 are not that many.
    """
    halves = start[0::2], start[1::2]
    return any(half and 4 * half.count(0) >= 3 * len(half) for half in halves)
