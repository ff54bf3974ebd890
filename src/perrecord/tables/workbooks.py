"""Sheets of Excel workbooks as a source: every column is text, as in a CSV file.

A sheet has no types of columns, only cells that are numbers, text, truth values or errors. A number
is written as the shortest decimal that is this 64-bit float, a date as YYYY-MM-DD, a moment with
its time; a formula is what was last computed. Errors are missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from perrecord.errors import SourceError, listing, suggestion
from perrecord.tables.columns import check_first_line, checked_names, looks_like_record
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database
from perrecord.tables.reading import ColumnUse, File
from perrecord.tables.signs import check_decimal_commas, check_numbers, check_thousands

_ROWS = 20_000
"""Rows that are on their way at a time."""
_MOST_TIMES, _ALWAYS = 200, 100_000_000
"""A workbook's parts may unpack to so many times their size, and to so many bytes in any case."""
_BEGINNING = 4_096
_AS_NUMBERS = "the cells are text: make them numbers in Excel, and save the workbook"


def load_sheet(
    database: Database,
    files: Sequence[Path],
    name: str,
    reading: File,
    use: ColumnUse | None,
) -> dict[str, pa.DataType]:
    """Read the declared columns of a sheet into a table; return every column, all of them text.

    Where nobody says which columns are read, no row is.
    """
    _check_package(files[0])
    reading.check_only(("sheet",), "a workbook")
    header: list[str] = []

    def batches(chosen: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        places = [header.index(each) for each in chosen]
        for path in files:
            with _sheet(path, reading.sheet) as rows:
                if _header(path, rows) != header:
                    raise SourceError(
                        f"the first rows of {files[0].name!r} and {path.name!r} differ; expected "
                        "the same column names in the same order in every workbook."
                    )
                for batch in _batches(path, rows, len(header)):
                    yield pa.RecordBatch.from_arrays(
                        [pa.array([row[at] for row in batch], pa.string()) for at in places],
                        schema=schema,
                    )

    with _sheet(files[0], reading.sheet) as rows:
        header = _header(files[0], rows)
    check_first_line(header, f"the first row of the sheet in {files[0].name!r}")
    checked_names(header, f"the sheet of {files[0].name!r}")
    chosen = [each for each in header if use is None or each in use.names] or header[:1]
    schema = pa.schema([(each, pa.string()) for each in chosen])
    read = batches(chosen, schema) if use is not None else iter(())
    database.load(name, pa.RecordBatchReader.from_batches(schema, read))
    if use is None:
        return dict.fromkeys(header, pa.string())
    for each in (each for each in chosen if each in use.numbers):
        loaded, is_whole = DUCKDB.identifier(name), each in use.whole
        check_thousands(database, loaded, each, ".", _AS_NUMBERS, is_whole=is_whole)
        check_decimal_commas(database, loaded, each, _AS_NUMBERS)
        check_numbers(database, loaded, each)
    return dict.fromkeys(header, pa.string())


def check_sheet_names(path: Path, reading: File) -> None:
    """Refuse a sheet whose first row looks like a record; it is not quoted."""
    _check_package(path)
    with _sheet(path, reading.sheet) as rows:
        header = _header(path, rows)
    if looks_like_record(header):
        raise SourceError(
            f"the first row of the sheet in {path.name!r} has numbers, or a text twice, and looks "
            "like a record; it must hold the names of the columns. Add a row of names."
        )


def _check_package(path: Path) -> None:
    if find_spec("openpyxl") is None:
        raise SourceError(
            f"the workbook {path.name!r} needs the package openpyxl, which is not installed; type: "
            "pip install 'perrecord[excel]'."
        )


@contextmanager
def _sheet(path: Path, name: str | None) -> Iterator[Iterator[tuple[Any, Any]]]:
    """Give the rows of a sheet twice over: as formulas are written, and as they were computed."""
    from openpyxl import load_workbook  # noqa: PLC0415 -- an extra

    unreadable = (
        f"the workbook {str(path)!r} could not be read: it is cut short, damaged, protected by a "
        "password or of another format. Open it in Excel, and save it as .xlsx without a password."
    )
    sealed(unreadable, lambda: _check_parts(path))
    with path.open("rb") as one, path.open("rb") as other, catch_warnings():
        simplefilter("ignore")  # of extensions that hold no cells
        written, computed = (
            sealed(
                unreadable,
                lambda file=file: load_workbook(  # type: ignore[misc]
                    file, read_only=True, data_only=file is other, keep_links=False
                ),
            )
            for file in (one, other)
        )
        chosen = _chosen(path, [sheet.title for sheet in written.worksheets], name)
        pairs = zip(_rows(written[chosen]), _rows(computed[chosen]), strict=True)

        def rows() -> Iterator[tuple[Any, Any]]:
            while (pair := sealed(unreadable, lambda: next(pairs, None))) is not None:
                yield pair

        yield rows()


def _rows(sheet: Any) -> Any:
    sheet.reset_dimensions()  # what a sheet says of its own size may be wrong
    return sheet.iter_rows()


def _check_parts(path: Path) -> None:
    """Refuse archives that unpack without end, and documents that define words of their own."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise BadZipFile
    with ZipFile(path) as parts:
        listed = parts.infolist()
        size = sum(each.file_size for each in listed)
        if size > max(_ALWAYS, _MOST_TIMES * path.stat().st_size):
            raise SourceError(
                f"the workbook {path.name!r} unpacks to more than {_MOST_TIMES} times its size, as "
                "archives do that are made to fill a disk. If it is sound, save its sheet as CSV."
            )
        for each in listed:
            if each.filename.lower().endswith((".xml", ".rels")):
                with parts.open(each) as part:
                    if b"<!DOCTYPE" in part.read(_BEGINNING).replace(b"\0", b""):
                        raise SourceError(
                            f"the workbook {path.name!r} defines entities, which none of Excel's "
                            "does. Open it in Excel, and save it again."
                        )


def _chosen(path: Path, sheets: list[str], name: str | None) -> str:
    if name is None and len(sheets) == 1:
        return sheets[0]
    if name in sheets:
        return name
    has = f"It has {listing(sheets, limit=20)}."
    if name is None:
        raise SourceError(
            f"the workbook {path.name!r} has {len(sheets)} sheets; say which one holds the "
            f"records, such as sheet: {sheets[0] if sheets else 'Sheet1'!r}. {has}"
        )
    raise SourceError(
        f"the workbook {path.name!r} has no sheet {name!r}. {has}{suggestion(name, sheets)}"
    )


def _header(path: Path, rows: Iterator[tuple[Any, Any]]) -> list[str]:
    """Return the names in the first row, which must be text."""
    _, cells = next(rows, ((), ()))
    values = [each.value for each in cells]
    while values and values[-1] is None:
        values.pop()
    if not values or not all(isinstance(each, str) and each for each in values):
        raise SourceError(
            f"the first row of the sheet in {path.name!r} does not hold a name for each column; "
            "expected text in each of its cells from the first on, and records below. Add a row of "
            "names, or name another sheet."
        )
    return values


def _batches(
    path: Path, rows: Iterable[tuple[Any, Any]], width: int
) -> Iterator[list[list[str | None]]]:
    """Yield the records in pieces; rows without a value are none."""
    found: list[list[str | None]] = []
    for written, computed in rows:
        row = [_text(path, one, other) for one, other in zip(written, computed, strict=True)]
        if any(each is not None for each in row[width:]):
            raise SourceError(
                f"the sheet in {path.name!r} has values beyond its last named column; name every "
                "column in the first row, or remove what stands there."
            )
        if any(each is not None for each in row):
            found.append(row[:width] + [None] * (width - len(row)))
        if len(found) == _ROWS:
            yield found
            found = []
    if found:
        yield found


def _text(path: Path, written: Any, computed: Any) -> str | None:
    """Return what a cell holds as text; None if it is empty or an error."""
    value = computed.value
    if value is None:
        if written.value is not None and written.data_type == "f":
            raise SourceError(
                f"the sheet in {path.name!r} has formulas that were never computed; open it in "
                "Excel and save it, or write values in their place."
            )
        return None
    if computed.data_type == "e":
        return None
    match value:
        case str():
            return value or None
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case datetime():
            is_day = value.time() == time()
            micro = value.isoformat(sep=" ", timespec="microseconds")
            return value.date().isoformat() if is_day else micro
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case _:
            raise SourceError(
                f"the sheet in {path.name!r} has cells that are not a number, text, truth value "
                "or date. Write plain values in their place."
            )
