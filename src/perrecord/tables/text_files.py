"""CSV and TSV files as a source: every column is text, and the whole file is parsed at opening.

So no later query can fail on a line of it. Nothing is inferred from the records.
"""

import codecs
import csv
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from perrecord.errors import SchemaError, SourceError, listing
from perrecord.tables import looks
from perrecord.tables.columns import check_first_line, checked_names, looks_like_record
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database, spellings
from perrecord.tables.lines import lines_of
from perrecord.tables.reading import NO_QUOTE, UTF_8, ColumnUse, File
from perrecord.tables.signs import check_decimal_commas, check_numbers, check_thousands
from perrecord.tables.streams import as_utf_8, unpacked

_LONGEST_LINE = 16_000_000  # bytes; DuckDB would set 16 times as much memory aside
_BUFFER = 2 * _LONGEST_LINE
_MARK = "\ufeff"
"""The byte order mark, which an encoding whose name has the order leaves in the text."""
_ENDS = re.compile(rb"[\r\n]")
_BEGINNING = 100_000  # bytes that are looked at for the encoding of a CSV file
_SETTINGS = ("separator", "encoding", "decimal", "quote")


@dataclass(frozen=True, slots=True)
class _TextFile:
    """A file of text as it is found, and how it is read."""

    path: Path
    reading: File
    separator: str

    @property
    def quote(self) -> str | None:
        return None if self.reading.quote == NO_QUOTE else self.reading.quote


def load_text(
    database: Database,
    files: Sequence[Path],
    name: str,
    reading: File,
    use: ColumnUse,
) -> None:
    """Read text files into a table of the database; every column is text."""
    reading.check_only(_SETTINGS, "a CSV file")
    found = [_TextFile(path, reading, reading.separates(path)) for path in files]
    header = _header(found[0])
    check_first_line(header, f"the first line of {files[0].name!r}")
    checked_names(header, f"the file {files[0].name!r}")
    table, counted = DUCKDB.identifier(name), 0
    for place, file in enumerate(found):
        if place and _header(file) != header:
            raise SourceError(
                f"the first lines of {files[0].name!r} and {file.path.name!r} differ; expected the "
                "same column names in the same order in every file."
            )
        plain = as_utf_8(file.path, reading.encoding, database.folder, place)
        try:
            counted += _load(database, file, plain, header, table, is_first=not place)
        finally:
            if plain != file.path:
                plain.unlink(missing_ok=True)
        if database.table(f"SELECT count(*) FROM {table}").column(0)[0].as_py() != counted:
            raise SourceError(
                f"the file {str(file.path)!r} could not be read as CSV: its lines are not as many "
                "as the records that were found in it. Look for quotes that are not doubled inside "
                "quoted fields, or write it again."
            )
    _read_decimals(database, table, reading, use, header)


def _load(
    database: Database,
    file: _TextFile,
    plain: Path,
    header: list[str],
    table: str,
    *,
    is_first: bool,
) -> int:
    """Add the records of a file to a table; return how many its lines say there are."""
    columns = ", ".join(f"{DUCKDB.literal(column)}: 'VARCHAR'" for column in header)
    lines = lines_of(plain, file.separator, file.quote, file.path)
    quote = DUCKDB.literal(file.quote or "")
    western = looks.said(file.path, file.reading, encoding="windows-1252")
    read = (
        f"FROM read_csv({DUCKDB.literal(spellings(plain)[-1])}, "
        f"columns = {{{columns}}}, auto_detect = false, header = true, "
        f"delim = {DUCKDB.literal(file.separator)}, quote = {quote}, escape = {quote}, "
        "comment = '', "
        "nullstr = '', allow_quoted_nulls = true, strict_mode = true, null_padding = false, "
        f"ignore_errors = false, hive_partitioning = false, max_line_size = {_LONGEST_LINE}, "
        # In parts, a line end that is in quotes may be taken for one that is not.
        f"buffer_size = {_BUFFER}, parallel = {not lines.has_breaks_in_quotes})"
    )
    database.run(
        f"CREATE TABLE {table} AS {read}" if is_first else f"INSERT INTO {table} {read}",
        f"the file {str(file.path)!r} could not be read as CSV: a line has more or fewer fields "
        "than the first, a quote is not closed, line ends are mixed, a line is longer than "
        f"16 MB, or the text is not {file.reading.encoding.upper()}. Correct it or write it again, "
        f"or say how it is written, such as {western}.",
    )
    return lines.records(len(header))


def _read_decimals(
    database: Database, table: str, reading: File, use: ColumnUse, header: Sequence[str]
) -> None:
    """Turn decimal commas of measures into points, and points into commas, which no number has.

    A file that looks as if it were written with such commas is refused where nobody said so: every
    number would be taken for none. So is one whose thousands are set apart, large ones alone, and
    one in which most values are no numbers.
    """
    numbers = [name for name in header if name in use.numbers]
    advice = f"say so: {looks.said(Path(reading.path), reading, decimal=',')}"
    for name in numbers:
        is_whole = name in use.whole
        check_thousands(database, table, name, reading.decimal, advice, is_whole=is_whole)
    if reading.decimal == ",":
        if both := sorted(use.codes.intersection(numbers)):
            raise SchemaError(
                f"the column {listing(both)} is read as a measure, with decimal commas, and as it "
                "is written; name another column for one of the two."
            )
        for name in numbers:
            column = DUCKDB.identifier(name)
            database.run(f"UPDATE {table} SET {column} = translate({column}, ',.', '.,')")
    for name in numbers:
        if reading.decimal == ".":
            check_decimal_commas(database, table, name, advice)
        check_numbers(database, table, name)


def check_header_names(path: Path, reading: File) -> None:
    """Refuse a text file whose first line looks like a record; the line is not quoted.

    A name that is empty, a number or given twice is a value, as likely as not. A table may have
    such names where somebody declares them; nobody is to be shown them unasked.
    """
    header = _header(_TextFile(path, reading, reading.separates(path)))
    if looks_like_record(header):
        raise SourceError(
            f"the first line of {str(path)!r} has fields that are empty, numbers or given twice, "
            "and looks like a record; the first line of a CSV file must hold the names of its "
            "columns. Add a header line."
        )


def _header(file: _TextFile) -> list[str]:
    path, encoding = file.path, file.reading.encoding
    unreadable = f"the first line of {str(path)!r} could not be read; expected column names."

    def begin() -> bytes:
        with unpacked(path) as stream:
            found = bytes(stream.read(_BEGINNING))
            while not _ENDS.search(found) and len(found) < _LONGEST_LINE:
                if not (more := stream.read(_BEGINNING)):
                    break
                found += more
            return found

    start = sealed(unreadable, begin)
    if encoding == UTF_8 and (fault := looks.of_first_bytes(path, file.reading, start)):
        raise SourceError(fault)

    def read() -> list[str]:
        # Later lines may be no UTF-8; DuckDB will say so. Here only the first one matters.
        errors = "surrogateescape" if encoding == UTF_8 else "strict"
        text = codecs.getincrementaldecoder(encoding)(errors).decode(start.removeprefix(BOM_UTF8))
        quoted: dict[str, Any] = {"quotechar": file.quote}
        if file.quote is None:
            quoted = {"quoting": csv.QUOTE_NONE}
        lines = StringIO(text.removeprefix(_MARK), newline="")
        return next(csv.reader(lines, delimiter=file.separator, strict=True, **quoted), [])

    header = sealed(unreadable, read)
    if not header:
        raise SourceError(
            f"the file {str(path)!r} is empty or begins with a blank line; expected column names "
            "in its first line."
        )
    if any("\udc80" <= character <= "\udcff" for name in header for character in name):
        raise SourceError(unreadable)
    if fault := looks.of_header(path, file.reading, header, file.separator):
        raise SourceError(fault)
    return header
