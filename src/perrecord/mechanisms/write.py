"""Public tables as files: Parquet without a trace of when or where, and CSV for spreadsheets."""

import re
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from perrecord.released.numbers import SHORT

_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""How a cell begins that a spreadsheet would take for a formula, in wide characters too."""

APOSTROPHE = (
    "Text that begins with an apostrophe, or as a formula would, has one more apostrophe in front; "
    "take one away from such text to have it as it is in the Parquet file."
)
"""What whoever reads our CSV files has to know."""

_PREFIXED = re.compile(f"[{re.escape(_FORMULA)}']")


def write_parquet(table: pa.Table, path: str | Path | BinaryIO) -> None:
    """Write a table as Parquet; the same table gives the same bytes.

    Decimals of at most 18 digits are stored as whole numbers of 64 bits, as differences from one to
    the next: they are written and read several times as fast as longer ones, and are smaller.
    Noise leaves nothing in the differences that could be compressed any further.
    """
    short = {each.name for each in table.schema if _is_short(each.type)}
    pq.write_table(
        table,
        path,
        compression={name: "none" if name in short else "zstd" for name in table.column_names},
        store_schema=False,
        store_decimal_as_integer=True,
        use_dictionary=[name for name in table.column_names if name not in short],
        column_encoding=dict.fromkeys(sorted(short), "DELTA_BINARY_PACKED"),
    )


def _is_short(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind)) and int(kind.precision) <= SHORT


def write_csv(table: pa.Table, path: str | Path | BinaryIO) -> None:
    """Write a table as CSV that is safe to open in a spreadsheet.

    Text that begins like a formula gets an apostrophe in front, and so does text that begins with
    one, so that no two keys become the same; numbers are left as they are.
    """
    columns = [
        _inert(column) if pa.types.is_string(column.type) else column for column in table.columns
    ]
    names = [_inert_name(name) for name in table.column_names]
    pa_csv.write_csv(pa.table(columns, names=names), path)


def _inert(column: pa.ChunkedArray) -> pa.ChunkedArray:
    risky = pc.match_substring_regex(column, f"^{_PREFIXED.pattern}")
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)


def _inert_name(name: str) -> str:
    return f"'{name}" if _PREFIXED.match(name) else name
