"""What a text file looks like that is no CSV file as we read them, and what to do about it.

Only its first line and its byte order are looked at, and nothing of it is quoted.
"""

import codecs
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from perrecord.tables.reading import File, spelled

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""UTF-32's other mark begins with that of UTF-16."""
_LOOKED_AT = 200


class Say(Protocol):
    """How to say that a file is read by settings, where whoever reads the message says it."""

    def __call__(self, path: Path, reading: File, **settings: str) -> str:
        """Return what to type: these settings, beside those that were said already."""


def said(path: Path, reading: File, **settings: str) -> str:
    """Return how to say that a source is read by these settings, in a spec, in Python and for init.

    >>> print(said(Path("est.csv"), File("est.csv", encoding="cp1252"), separator=";"))
    source: {path: "est.csv", encoding: "windows-1252", separator: ";"} in a spec, \
File("est.csv", encoding="windows-1252", separator=";") in Python, --encoding windows-1252 \
--separator ';' with perrecord init
    """
    every = _every(reading, settings)
    ways = [
        f"source: {{path: {_quoted(path.name)}, {_in_spec(every)}}} in a spec",
        _in_python(path, every),
    ]
    if "quote" not in every:  # which is no option
        ways.append(f"{_options(every)} with perrecord init")
    return ", ".join(ways)


def said_of_list(path: Path, reading: File, **settings: str) -> str:
    """Return the same of a public list: keys and code lists.

    >>> print(said_of_list(Path("keys.csv"), File("keys.csv"), separator=";"))
    separator: ";" beside its name in a spec, such as {file: "keys.csv", separator: ";"}, \
File("keys.csv", separator=";") in Python
    """
    return _beside("file", path, reading, settings)


def said_of_lookup(path: Path, reading: File, **settings: str) -> str:
    """Return the same of a lookup, whose file is its source."""
    return _beside("source", path, reading, settings)


def said_of_scale(path: Path, reading: File, **settings: str) -> str:
    """Return the same of a scale that totals are blurred by."""
    return _beside("scale", path, reading, settings)


def _beside(entry: str, path: Path, reading: File, settings: Mapping[str, str]) -> str:
    every = _every(reading, settings)
    typed = f"{{{entry}: {_quoted(path.name)}, {_in_spec(every)}}}"
    return (
        f"{_in_spec(every)} beside its name in a spec, such as {typed}, {_in_python(path, every)}"
    )


def said_on_command_line(path: Path, reading: File, **settings: str) -> str:  # noqa: ARG001
    """Return the same as options of a command, which names the file itself.

    >>> records = Path("records.csv")
    >>> print(said_on_command_line(records, File(records), separator=";", decimal=","))
    --separator ';' --decimal ,
    """
    return _options(_every(reading, settings))


_DECIMAL = '. If its numbers are written as 1,5, say also decimal: "," (init: --decimal ,)'


def of_first_bytes(path: Path, reading: File, start: bytes, say: Say = said) -> str | None:
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
            f"Unicode text; expected UTF-8. Say so: {say(path, reading, encoding='utf-16')}."
        )
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    try:  # a line that goes on may be cut within a character
        codecs.getincrementaldecoder("utf-8")().decode(first, final=len(first) < len(start))
    except UnicodeDecodeError:
        return (
            f"the first line of {path.name!r} is not UTF-8; it looks like Latin-1 or "
            f"Windows-1252. Say so: {say(path, reading, encoding='windows-1252')}."
        )
    return None


def of_header(
    path: Path,
    reading: File,
    header: list[str],
    delimiter: str,
    say: Say = said,
    advice: str = _DECIMAL,
) -> str | None:
    """Return by what else than the delimiter a file looks separated, or None.

    `advice` is added where semicolons separate and nobody spoke of decimals: numbers may then have
    decimal commas.

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
    typed = f"say so: {say(path, reading, separator=sign)}"
    if sign == ";" and reading.decimal == ".":
        typed += advice
    return (
        f"the first line of {path.name!r} is one field that holds {name}; it looks as if {name} "
        f"separated its columns, where {ours} are expected: {typed}."
    )


def _every(reading: File, settings: Mapping[str, str]) -> dict[str, str]:
    given = {each: str(getattr(reading, each)) for each in reading.given}
    if "encoding" in given:
        given["encoding"] = spelled(given["encoding"])
    return given | dict(settings)


def _options(settings: Mapping[str, str]) -> str:
    return " ".join(f"--{name} {_typed(each)}" for name, each in settings.items())


def _typed(value: str) -> str:
    """Return a value as a shell takes it, in signs that can be seen."""
    return r"$'\t'" if value == "\t" else shlex.quote(value)


def _in_spec(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {_quoted(each)}" for name, each in settings.items())


def _in_python(path: Path, settings: Mapping[str, str]) -> str:
    said = ", ".join(f"{name}={_quoted(each)}" for name, each in settings.items())
    return f"File({_quoted(path.name)}, {said}) in Python"


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _is_wide(start: bytes) -> bool:
    """Tell whether nearly every other byte is NUL, as of Latin letters in UTF-16 or UTF-32.

    A few characters NUL in UTF-8 are not that many.
    """
    halves = start[0::2], start[1::2]
    return any(half and 4 * half.count(0) >= 3 * len(half) for half in halves)
