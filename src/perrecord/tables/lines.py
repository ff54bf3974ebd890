"""The records of a CSV file, counted from its bytes: the engine must find exactly as many.

Lines end in LF or in CR LF, all in the same way; a field in quotes may hold either, and lone CRs.
Anywhere else a lone CR is refused: whether it ends a record is for nobody to guess. DuckDB guesses,
differently in files that it reads in parts, and may drop what follows without a word.
"""

import csv
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from perrecord.errors import SourceError
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.streams import after_mark

_CHUNK = 1 << 22
_LF, _CR = b"\n\r"
_LATIN_1 = "latin-1"  # a character for every byte


@dataclass(frozen=True, slots=True)
class Lines:
    """How many lines a file has, header included, how many are blank, and what quotes hold."""

    every: int
    blank: int
    has_breaks_in_quotes: bool

    def records(self, columns: int) -> int:
        """Return the number of records; in a file of one column a blank line is one, with NULL."""
        return self.every - 1 - (self.blank if columns > 1 else 0)


def lines_of(
    path: Path, delimiter: str, quote: str | None = '"', named: Path | None = None
) -> Lines:
    """Count the lines of a file, or refuse it if it is not clear where its lines end.

    Without a quote no field is quoted. A copy is `named` by the original in messages.
    """
    shown = str(named or path)
    unreadable = f"the file {shown!r} could not be read; check that it is complete."
    counted = sealed(unreadable, lambda: _counted(path, delimiter.encode(), quote))
    if counted is None:  # quotes inside fields that are not quoted: slower
        counted = sealed(unreadable, lambda: _parsed(path, delimiter, quote or ""))
    if isinstance(counted, str):
        raise SourceError(
            f"the file {shown!r} has {counted}; expected every line to end in LF, or every one "
            "in CR LF, and quotes and carriage returns elsewhere in quoted fields only. Correct "
            "it, or write it again."
        )
    return counted


_LONE = "a carriage return outside quotes that is not part of a line's end"
_UNCLOSED = "a quote that is not closed, or is not doubled inside a quoted field"
_MIXED = "lines that end in LF and lines that end in CR LF"


def _counted(path: Path, delimiter: bytes, quote: str | None) -> Lines | str | None:
    """Count by arrays of bytes: a quote in a quoted file opens and closes by turns."""
    every = blank = returned = unended = 0
    is_open = has_breaks = False
    may_precede = np.zeros(256, dtype=np.bool_)
    sign = -1 if quote is None else ord(quote)
    may_precede[[delimiter[0], _LF, _CR, *([] if quote is None else [sign])]] = True
    with after_mark(path, BOM_UTF8) as file:
        for chunk in _chunks(file):
            found = np.frombuffer(chunk, dtype=np.uint8)
            quotes = np.flatnonzero(found == sign)
            opening = quotes[int(is_open) :: 2]
            if not may_precede[found[opening[opening > 0] - 1]].all():
                return None
            ends, inside = _outside(np.flatnonzero(found == _LF), quotes, is_open)
            returns, kept = _outside(np.flatnonzero(found == _CR), quotes, is_open)
            has_breaks |= inside or kept
            if not (np.append(found, 0)[returns + 1] == _LF).all():
                return _LONE
            every, returned = every + len(ends), returned + len(returns)
            unended = int(chunk[-1] != _LF)  # of the last line of the file alone
            lasts = ends - 1 - (found[ends - 1] == _CR)
            blank += int(np.count_nonzero((lasts < 0) | (found[lasts] == _LF)))
            is_open ^= len(quotes) % 2 == 1
    if is_open:
        return _UNCLOSED
    if returned not in (0, every):
        return _MIXED
    return Lines(every + unended, blank, has_breaks)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the file in pieces that end where a line may; only the last may end elsewhere."""
    rest = b""
    while read := file.read(_CHUNK):
        rest += read
        end = rest.rfind(b"\n") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _outside(
    places: NDArray[Any], quotes: NDArray[Any], is_open: bool
) -> tuple[NDArray[Any], bool]:
    """Return which of the places are outside quotes, and whether some are inside."""
    if not len(quotes) and not is_open:
        return places, False
    are_out = (np.searchsorted(quotes, places) + is_open) % 2 == 0
    return places[are_out], not bool(are_out.all())


def _parsed(path: Path, delimiter: str, quote: str) -> Lines | str:
    """Count by Python's own reader, which takes a quote inside a field as it is."""
    every = blank = returned = unreturned = 0
    has_breaks, last = False, ""

    def lines(file: IO[bytes]) -> Iterator[str]:
        nonlocal last
        for line in file:
            last = line.decode(_LATIN_1)
            yield last

    with after_mark(path, BOM_UTF8) as file:
        reader = csv.reader(lines(file), delimiter=delimiter, quotechar=quote, strict=True)
        try:
            for row in reader:
                every, blank = every + 1, blank + (not row)
                returned += last.endswith("\r\n")
                unreturned += last.endswith("\n") and not last.endswith("\r\n")
                has_breaks |= any("\n" in each or "\r" in each for each in row)
        except csv.Error:
            has_lone = _has_return(last) and _is_refused(path, delimiter, quote, reader.line_num)
            return _LONE if has_lone else _UNCLOSED
    return _MIXED if returned and unreturned else Lines(every, blank, has_breaks)


def _has_return(line: str) -> bool:
    """Tell whether a line holds a carriage return that is not part of its end."""
    return "\r" in line.removesuffix("\n").removesuffix("\r")


def _is_refused(path: Path, delimiter: str, quote: str, lines: int) -> bool:
    """Tell whether the first lines are refused however quotes stand: for a return outside them."""
    with after_mark(path, BOM_UTF8) as file:
        text = (line.decode(_LATIN_1) for line in islice(file, lines))
        try:
            deque(csv.reader(text, delimiter=delimiter, quotechar=quote), maxlen=0)
        except csv.Error:
            return True
    return False
