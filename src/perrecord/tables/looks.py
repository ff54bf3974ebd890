"""What a text file looks like that is no CSV file as we read them, and what to do about it.

Only its first line and its byte order are looked at, and nothing of it is quoted.
"""

import codecs
import json
import re
import shlex
from pathlib import Path

from perrecord.tables.reading import File

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""UTF-32's other mark begins with that of UTF-16."""
_LOOKED_AT = 200


def of_first_bytes(path: Path, reading: File, start: bytes) -> str | None:
    """Return what is wrong with the encoding of a file by its first bytes, or None.

    >>> est = Path("est.csv")
    >>> of_first_bytes(est, File(est), "a,b".encode("utf-16"))[:52]
    "the file 'est.csv' looks like UTF-16 or UTF-32, such"
    >>> of_first_bytes(est, File(est), "größe".encode("latin-1"))[:58]
    "the first line of 'est.csv' is not UTF-8; it looks like La"
    """
    if start.startswith(_MARKS) or _is_wide(start[:_LOOKED_AT]):
        return (
            f"the file {path.name!r} looks like UTF-16 or UTF-32, such as spreadsheets save as "
            f"Unicode text; expected UTF-8. Say so: {said(path, reading, encoding='utf-16')}."
        )
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    try:  # a line that goes on may be cut within a character
        codecs.getincrementaldecoder("utf-8")().decode(first, final=len(first) < len(start))
    except UnicodeDecodeError:
        return (
            f"the first line of {path.name!r} is not UTF-8; it looks like Latin-1 or "
            f"Windows-1252. Say so: {said(path, reading, encoding='windows-1252')}."
        )
    return None


def of_header(path: Path, reading: File, header: list[str], delimiter: str) -> str | None:
    """Return by what else than the delimiter a file looks separated, or None.

    >>> of_header(Path("est.csv"), File("est.csv"), ["id;emp"], ",")[:66]
    "the first line of 'est.csv' is one field that holds semicolons; it"
    """
    if len(header) != 1:
        return None
    counted = {sign: header[0].count(sign) for sign in _SEPARATORS if sign != delimiter}
    sign = max(counted, key=lambda each: counted[each])
    if not counted[sign]:
        return None
    name, ours = _SEPARATORS[sign], _SEPARATORS.get(delimiter, f"{delimiter!r}")
    advice = f"say so: {said(path, reading, separator=sign)}"
    if sign == ";" and reading.decimal == ".":
        advice += '. If its numbers are written as 1,5, say also decimal: "," (init: --decimal ,)'
    return (
        f"the first line of {path.name!r} is one field that holds {name}; it looks as if {name} "
        f"separated its columns, where {ours} are expected: {advice}."
    )


def said(path: Path, reading: File, **settings: str) -> str:
    """Return how to say that a file is read by these settings, beside those that were said already.

    >>> print(said(Path("est.csv"), File("est.csv", encoding="cp1252"), separator=";"))
    source: {path: "est.csv", encoding: "cp1252", separator: ";"} in a spec, \
File("est.csv", encoding="cp1252", separator=";") in Python, --encoding cp1252 --separator ';' \
with perrecord init
    """
    every = {each: str(getattr(reading, each)) for each in reading.given} | settings
    name = json.dumps(path.name, ensure_ascii=False)
    yaml = ", ".join(f"{key}: {json.dumps(value)}" for key, value in every.items())
    python = ", ".join(f"{key}={json.dumps(value)}" for key, value in every.items())
    options = " ".join(f"--{key} {_typed(value)}" for key, value in every.items())
    ways = [f"source: {{path: {name}, {yaml}}} in a spec", f"File({name}, {python}) in Python"]
    if "quote" not in every:  # which is no option
        ways.append(f"{options} with perrecord init")
    return ", ".join(ways)


def _typed(value: str) -> str:
    """Return a value as a shell takes it, in signs that can be seen."""
    return r"$'\t'" if value == "\t" else shlex.quote(value)


def _is_wide(start: bytes) -> bool:
    """Tell whether nearly every other byte is NUL, as of Latin letters in UTF-16 or UTF-32.

    A few characters NUL in UTF-8 are not that many.
    """
    halves = start[0::2], start[1::2]
    return any(half and 4 * half.count(0) >= 3 * len(half) for half in halves)
