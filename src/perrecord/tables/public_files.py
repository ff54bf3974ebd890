"""Public lists, such as keys, code lists and lookups: in memory, in Parquet, or in text files.

Every column of a text file is text. It is read by the same settings as a source's, and one that
looks as if it needed others is refused with what to type.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from perrecord.errors import InputError
from perrecord.tables import looks
from perrecord.tables.given import ColumnsGiven, arrow_table
from perrecord.tables.reading import NO_QUOTE, UTF_8, File, spelled

PublicList = str | Path | File | ColumnsGiven
"""A public table: a file, by its path or with settings; a frame, or lists by name."""

_SETTINGS = ("separator", "encoding", "quote")
_SAID: dict[str, looks.Say] = {"lookup": looks.said_of_lookup, "scale": looks.said_of_scale}
_END = "end"
_MARK = "\ufeff"


def read_columns(source: PublicList, what: str, *, has_numbers: bool = False) -> pa.Table:
    """Return a public table: lists by name, a data frame, or a Parquet or CSV file.

    Every column of a CSV file is text; `has_numbers` says that a decimal sign may be given, which
    is for the caller to read by.
    """
    if not isinstance(source, str | Path | File):
        return arrow_table(source)
    reading = source if isinstance(source, File) else File(source)
    path = Path(reading.path)
    if not path.is_file():
        raise InputError(
            f"there is no {what} file {str(path)!r}; give the path of a Parquet or CSV file."
        )
    if path.suffix == ".parquet":
        reading.check_only((), "a Parquet file")
        try:
            return pq.read_table(path)
        except (pa.ArrowInvalid, OSError):
            raise InputError(
                f"the {what} file {str(path)!r} could not be read as Parquet; correct it or write "
                "it again."
            ) from None
    numbers = ("decimal",) if has_numbers else ()
    reading.check_only((*_SETTINGS, *numbers), f"a {what} file in CSV")
    return _read_text(path, reading, what)


def _read_text(path: Path, reading: File, what: str) -> pa.Table:
    separator, say = reading.separates(path), _SAID.get(what, looks.said_of_list)
    try:
        names, table = _parsed(path, reading, separator, say)
    except (pa.ArrowInvalid, OSError, UnicodeError):
        raise InputError(
            f"the {what} file {str(path)!r} could not be read as CSV: its text is not "
            f"{spelled(reading.encoding).upper()}, a line has more or fewer fields than the first, "
            "or it is no text at all. Correct it, save it as CSV in UTF-8 or as Parquet, or say "
            f"how it is written: {say(path, reading, encoding='windows-1252')}."
        ) from None
    if fault := looks.of_header(path, reading, names, separator, say=say, advice=""):
        raise InputError(fault)
    if table is None:
        raise InputError(
            f"the {what} file {str(path)!r} has a quote that is never closed; close it, or "
            "all lines after it would be one value."
        )
    return table


def _parsed(
    path: Path, reading: File, separator: str, say: looks.Say
) -> tuple[list[str], pa.Table | None]:
    """Return the names and the rows of a text file; None if its last quote is open.

    A line is added to it, which an open quote would swallow, and is taken off again.
    """
    with pa.input_stream(str(path)) as stream:
        raw = stream.read()
    if reading.encoding != UTF_8:
        raw = raw.decode(reading.encoding).removeprefix(_MARK).encode()
    elif fault := looks.of_first_bytes(path, reading, raw, say=say):
        raise InputError(fault)
    lines = pa_csv.ParseOptions(
        delimiter=separator,
        quote_char=False if reading.quote == NO_QUOTE else reading.quote,
        newlines_in_values=True,
    )
    with pa_csv.open_csv(pa.BufferReader(raw), parse_options=lines) as reader:
        names = reader.schema.names
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,  # an empty field is NULL, as in a source
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    longer = pa.BufferReader(raw + f"\n{separator.join([_END] * len(names))}\n".encode())
    table = pa_csv.read_csv(longer, parse_options=lines, convert_options=options)
    last = table.slice(max(table.num_rows - 1, 0))
    is_closed = all(column.to_pylist() == [_END] for column in last.columns)
    return names, table.slice(0, table.num_rows - 1) if is_closed else None
