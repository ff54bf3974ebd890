"""An Excel workbook: notes first, then a sheet for each table, codes beside their names.

Every cell is written as what it is, text as text: nothing in it is ever a formula or a link. The
same release gives the same bytes.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from io import BytesIO
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from perrecord.errors import InputError
from perrecord.release.exporting.notes import release_notes, table_notes
from perrecord.release.folders import PublishedTable, ReleaseFolder

MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""What Excel holds: rows and columns of a sheet, characters of a cell."""

_LONGEST_NAME = 31
_EXACT = 10**15
"""Whole numbers beyond it lose digits in Excel."""

_ROUNDED = "Excel keeps 15 digits of a number; larger ones are exact in the Parquet files alone."
_NOTES = "Notes"
_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def workbook(folder: ReleaseFolder) -> dict[str, bytes]:
    """Return a release as one workbook."""
    names = sheet_names(folder.tables)
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, _OPTIONS) as book:
        book.set_properties({"title": folder.title, "created": datetime(1980, 1, 1)})
        notes = book.add_worksheet(_NOTES)
        lines = list(_head(folder))
        for name in folder.tables:
            table = folder.table(name)
            columns = _columns(table, folder.labels(table))
            _check_size(table, len(columns))
            lines += _about(folder, table, names[name])
            _write(book.add_worksheet(names[name]), columns)
        for place, line in enumerate(lines):
            for column, words in enumerate(line):
                notes.write_string(place, column, _fitting(words))
    return {"release.xlsx": buffer.getvalue()}


def sheet_names(tables: Mapping[str, object]) -> dict[str, str]:
    """Return the sheet of each table: its name, cut to what Excel takes, each once.

    >>> sheet_names({"farms": 0, "a_very_long_name_of_a_table_by_state": 0, "Notes": 0})
    {'farms': 'farms', 'a_very_long_name_of_a_table_by_state': 'a_very_long_name_of_a_table_by_', \
'Notes': 'Notes_2'}
    """
    taken, found = {_NOTES.casefold(), "history"}, {}
    for name in tables:
        sheet, number = name[:_LONGEST_NAME], 1
        while sheet.casefold() in taken:
            number += 1
            ending = f"_{number}"
            sheet = name[: _LONGEST_NAME - len(ending)] + ending
        taken.add(sheet.casefold())
        found[name] = sheet
    return found


def _check_size(table: PublishedTable, columns: int) -> None:
    if table.rows.num_rows >= MOST_ROWS or columns > MOST_COLUMNS:
        raise InputError(
            f"the table {table.name!r} has {table.rows.num_rows:,} rows and {columns:,} columns; a "
            f"sheet of Excel holds {MOST_ROWS - 1:,} rows below its heading and {MOST_COLUMNS:,} "
            "columns. Take another format, such as sdmx, or the Parquet file itself."
        )


def _head(folder: ReleaseFolder) -> Iterator[tuple[str, ...]]:
    yield from release_notes(folder)
    yield ()
    yield "Sheet", "Table", "Column", "What it holds", "Unit"


def _about(folder: ReleaseFolder, table: PublishedTable, sheet: str) -> Iterator[tuple[str, ...]]:
    yield sheet, table.name, "", table.about.title
    _, *notes = table_notes(folder, table)
    yield from ((sheet, table.name, "", each) for each in notes)
    if any(_is_rounded(column) for column in table.rows.columns):
        yield sheet, table.name, "", _ROUNDED
    words, units = table.about.columns, table.about.units
    for column in table.rows.column_names:
        yield sheet, table.name, column, words.get(column, ""), units.get(column, "")


def _is_rounded(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_integer(column.type) and not pa.types.is_decimal(column.type):
        return False
    ends = pc.min_max(column).as_py().values()
    return any(abs(each) > _EXACT for each in ends if each is not None)


def _columns(
    table: PublishedTable, labels: Mapping[str, Mapping[Any, str]]
) -> list[tuple[str, list[Any]]]:
    """Return what stands in the columns of a sheet: names stand beside their codes."""
    found = []
    for name in table.rows.column_names:
        values = table.rows.column(name).to_pylist()
        found.append((name, values))
        if name in labels:
            heading = f"{name}_label"
            while heading in table.rows.column_names:
                heading += "_"
            found.append((heading, [labels[name].get(each) for each in values]))
    return found


def _write(sheet: Worksheet, columns: list[tuple[str, list[Any]]]) -> None:
    sheet.freeze_panes(1, 0)
    for place, (name, _) in enumerate(columns):
        sheet.write_string(0, place, _fitting(name))
    for row, values in enumerate(zip(*(each for _, each in columns), strict=True), start=1):
        for place, value in enumerate(values):
            _write_cell(sheet, row, place, value)


def _write_cell(sheet: Worksheet, row: int, place: int, value: Any) -> None:
    match value:
        case None:
            return
        case bool():
            sheet.write_boolean(row, place, value)
        case str():
            sheet.write_string(row, place, _fitting(value))
        case _ if isfinite(value):
            sheet.write_number(row, place, float(value) if abs(value) > _EXACT else value)
        case _:
            sheet.write_string(row, place, str(value))


def _fitting(words: str) -> str:
    """Return a text that fits into a cell; a longer one is refused."""
    if len(words) > LONGEST_TEXT:
        raise InputError(
            f"a text of this release has {len(words):,} characters; a cell of Excel holds "
            f"{LONGEST_TEXT:,}. Take another format, such as jsonstat."
        )
    return words
