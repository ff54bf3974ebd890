"""Files of SAS, Stata and SPSS as a source: what their metadata says a column is, read exactly.

SAS and SPSS have one kind of number, a 64-bit float. A column that is declared as anything but a
measure holds codes: it is read as whole numbers, and refused if it holds others. Missing codes, .a
to .z among them, are missing. Labels of values are not read. Rows come in pieces.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.columns import checked_names
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database
from perrecord.tables.reading import UTF_8, ColumnUse, File

_ROWS = 100_000
"""Rows that are on their way at a time."""
_READERS = {
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
}
_MEMBER = b"HEADER RECORD*******MEMB"
"""How the header of each table begins in a SAS transport file, of version 5 or 8."""
_MOST_WHOLE = 2**53
_FROM_1960, _FROM_1582 = date(1960, 1, 1), date(1582, 10, 14)
_DAY = 86_400

_SAS_DAYS = re.compile(
    r"DATE|(DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQR?|YYQZ?)[BCDNPS]?|YYMON|MONYY|[EB]8601DA|IS8601DA|"
    r"JULIAN|JULDAY|WEEKDAT[EX]|WORDDAT[EX]|WEEK[UVW]|YEAR|MONTH|QTRR?|DAY|DOWNAME|MONNAME|WEEKDAY|"
    r"NENGO|MINGUO|EUR(DF)?DD?|NLDATE\w*"
)
_SAS_MOMENTS = re.compile(
    r"DATETIME|DATEAMPM|MDYAMPM|[EB]8601D[TNZX]|IS8601D[TN]|DTDATE|DTMONYY|DTYEAR|DTWKDATX|DTYYQC|"
    r"NLDATM\w*"
)
_SAS_TIMES = re.compile(r"TIME|TIMEAMPM|HHMM|MMSS|HOUR|TOD|[EB]8601T[MZX]|IS8601T[MZ]|NLTIM\w*")
_SPSS_DAYS = re.compile(r"[AEJS]?DATE|QYR|MOYR|WKYR")
_SPSS_MOMENTS = re.compile(r"DATETIME|YMDHMS")
_SPSS_TIMES = re.compile(r"[DM]?TIME")
_STATA_MONTHS = {"m": 1, "q": 3, "h": 6}
_NUMBERS = {
    "int8": pa.int64(),
    "int16": pa.int64(),
    "int32": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
}


class _Unreadable(Exception):  # noqa: N818 -- never leaves this module
    """A value that its column cannot hold; it is not said which."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A column as its file declares it: the type that it arrives in, and how a value is made."""

    kind: pa.DataType
    made: Callable[[Any], Any]
    what: str = ""
    """What its values must be, for messages."""


def load_statistical(
    database: Database,
    files: Sequence[Path],
    name: str,
    reading: File,
    use: ColumnUse | None,
) -> dict[str, pa.DataType]:
    """Read the declared columns into a table; return every column with its type.

    Where nobody says which columns are read, no row is.
    """
    if find_spec("pyreadstat") is None:
        raise SourceError(
            f"the file {files[0].name!r} needs the package pyreadstat, which is not installed; "
            "type: pip install 'perrecord[statistics]'."
        )
    reading.check_only(("encoding",), "a file of SAS, Stata or SPSS")
    found = [_StatisticalFile(path, reading.encoding) for path in files]
    columns = {each: stored.kind for each, stored in found[0].columns(use).items()}
    checked_names(list(columns), f"the file {files[0].name!r}")
    for each in found[1:]:
        if {name: stored.kind for name, stored in each.columns(use).items()} != columns:
            raise SourceError(
                f"the files {files[0].name!r} and {each.path.name!r} differ in their columns; "
                "expected the same columns of the same types in every file."
            )
    chosen = [each for each in columns if use is None or each in use.names]
    chosen = chosen or list(columns)[:1]  # for their number
    schema = pa.schema([(each, columns[each]) for each in chosen])

    def batches() -> Iterator[pa.RecordBatch]:
        for each in found if use is not None else ():
            yield from each.batches(schema, use)

    database.load(name, pa.RecordBatchReader.from_batches(schema, batches()))
    return columns


class _StatisticalFile:
    """One file of a statistical package."""

    def __init__(self, path: Path, encoding: str) -> None:
        import pyreadstat  # noqa: PLC0415 -- an extra

        self.path = path
        self._read: Any = getattr(pyreadstat, _READERS[path.suffix.lower()])
        self._options: dict[str, Any] = {
            "output_format": "dict",
            "disable_datetime_conversion": True,
            **({} if encoding == UTF_8 else {"encoding": encoding.upper()}),
        }
        if path.suffix.lower() == ".xpt":
            self._check_members()
        _, self._about = self._sealed(
            lambda: self._read(str(path), metadataonly=True, **self._options)
        )
        if not self._about.column_names:
            raise SourceError(f"the file {str(path)!r} has no columns; write it again.")

    def columns(self, use: ColumnUse | None) -> dict[str, _Stored]:
        """Return how each column is read."""
        about, codes = self._about, use.codes if use is not None else frozenset()
        return {
            name: _stored(
                about.readstat_variable_types[name],
                about.original_variable_types.get(name) or "",
                self.path.suffix.lower(),
                is_code=name in codes,
            )
            for name in about.column_names
        }

    def batches(self, schema: pa.Schema, use: ColumnUse | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, each once; as many as the file says it has."""
        stored, done = self.columns(use), 0
        while True:
            rows, _ = self._sealed(partial(self._piece, schema.names, done))
            arrays = [self._array(each, stored[each], rows[each]) for each in schema.names]
            count = len(arrays[0])
            done += count
            if count:
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            if count < _ROWS:
                break
        expected = self._about.number_rows
        if expected is not None and 0 <= expected != done:
            raise SourceError(
                f"the file {str(self.path)!r} does not hold as many rows as it says; it is cut "
                "short. Write it again."
            )

    def _piece(self, names: Sequence[str], begin: int) -> Any:
        return self._read(
            str(self.path), usecols=list(names), row_offset=begin, row_limit=_ROWS, **self._options
        )

    def _array(self, name: str, stored: _Stored, values: Sequence[Any]) -> pa.Array:
        def make() -> pa.Array:
            made = [None if each is None else stored.made(each) for each in values]
            return pa.array(made, stored.kind)

        return sealed(
            f"the column {name!r} of {self.path.name!r} holds values that are not "
            f"{stored.what or 'of its type'}. Correct them, or declare the column otherwise.",
            make,
        )

    def _sealed(self, action: Callable[[], Any]) -> Any:
        return sealed(
            f"the file {str(self.path)!r} could not be read: it is cut short, damaged, encrypted "
            "or of another format than its name says, or its text is in another encoding. Write "
            "it again, or say its encoding, such as encoding: windows-1252.",
            action,
        )

    def _check_members(self) -> None:
        """Refuse a transport file of several tables, of which one alone would be read."""

        def members() -> int:
            with self.path.open("rb") as file:
                return sum(piece.startswith(_MEMBER) for piece in iter(lambda: file.read(80), b""))

        if self._sealed(members) > 1:
            raise SourceError(
                f"the file {str(self.path)!r} holds several tables; write the one that is meant "
                "into a file of its own."
            )


def _stored(kind: str, shown: str, suffix: str, *, is_code: bool) -> _Stored:
    """Return how a column is read, by its type and the format that it is shown in."""
    if kind == "string":
        return _Stored(pa.string(), lambda text: text or None)
    temporal = _temporal(shown, suffix)
    if temporal is not None:
        return temporal
    number = _NUMBERS.get(kind)
    if number is None:
        return _Stored(pa.null(), _whole)
    if is_code and pa.types.is_floating(number):
        return _Stored(pa.int64(), _whole, "whole numbers, as codes are")
    return _Stored(number, int if pa.types.is_integer(number) else float, "numbers")


def _temporal(shown: str, suffix: str) -> _Stored | None:
    """Return how dates and moments are read, None for a plain number."""
    match suffix:
        case ".dta":
            return _stata(shown)
        case ".sav" | ".zsav":
            name = re.sub(r"[0-9.]+$", "", shown).upper()
            if _SPSS_MOMENTS.fullmatch(name):
                return _moments(_FROM_1582, 1_000_000)
            if _SPSS_DAYS.fullmatch(name):
                return _days(_FROM_1582, _DAY)
            return _TIME if _SPSS_TIMES.fullmatch(name) else None
        case _:
            name = re.sub(r"[0-9]*\.?[0-9]*$", "", shown).upper()
            if _SAS_MOMENTS.fullmatch(name):
                return _moments(_FROM_1960, 1_000_000)
            if _SAS_DAYS.fullmatch(name):
                return _days(_FROM_1960, 1)
            return _TIME if _SAS_TIMES.fullmatch(name) else None


def _stata(shown: str) -> _Stored | None:
    """Return how a column of Stata is read that counts days, milliseconds or months from 1960."""
    plain = shown.replace("-", "", 1) if shown.startswith("%-") else shown
    if plain.startswith(("%td", "%d")):
        return _days(_FROM_1960, 1)
    if plain.startswith("%tc"):
        return _moments(_FROM_1960, 1_000)
    if plain[:3] in ("%tC", "%tw"):  # leap seconds, and weeks that are none of a calendar
        return _TIME
    unit = plain[2:3] if plain.startswith("%t") else ""
    if unit not in _STATA_MONTHS:
        return None
    length = _STATA_MONTHS[unit]

    def made(value: float) -> date:
        year, month = divmod(_whole(value) * length, 12)
        return date(1960 + year, month + 1, 1)

    return _Stored(pa.date32(), made, "dates of the years 1 to 9999")


def _days(origin: date, length: int) -> _Stored:
    def made(value: float) -> date:
        days, rest = divmod(_whole(value), length)
        if rest:
            raise _Unreadable
        return origin + timedelta(days=days)

    return _Stored(pa.date32(), made, "whole days of the years 1 to 9999")


def _moments(origin: date, steps: int) -> _Stored:
    """Return how moments are read that count seconds or milliseconds, to the microsecond."""
    start = datetime(origin.year, origin.month, origin.day)

    def made(value: float) -> datetime:
        return start + timedelta(microseconds=round(value * steps))

    return _Stored(pa.timestamp("us"), made, "moments of the years 1 to 9999")


def _whole(value: float) -> int:
    """Return a whole number; others are refused, and those that a float cannot tell apart."""
    if value != int(value) or abs(value) > _MOST_WHOLE:
        raise _Unreadable
    return int(value)


_TIME = _Stored(pa.time64("us"), _whole)
"""Times of day, which no query reads: they are there, and refused by name where declared."""
