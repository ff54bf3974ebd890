"""Public tables as files: Parquet without a trace of when or where, and CSV for spreadsheets."""

import re
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from perrecord.released.numbers import SHORT
from perrecord.tables.keys import Keys

_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""How a cell begins that a spreadsheet would take for a formula, in wide characters too."""

APOSTROPHE = (
    "Text that begins with an apostrophe, or as a formula would, has one more apostrophe in front; "
    "take one away from such text to have it as it is in the Parquet file."
)
"""What whoever reads our CSV files has to know."""

_PREFIXED = re.compile(f"[{re.escape(_FORMULA)}']")


def write_parquet(table: pa.Table, path: str | Path | BinaryIO, keys: Keys | None = None) -> None:
    """Write a table as Parquet; the same table gives the same bytes.

    Whole numbers, and decimals of at most 18 digits, are stored as differences from one to the
    next, in as many bits as they need: noise leaves nothing that could be compressed any further.
    If the `keys` are given that its first columns hold, their text need not be looked up row by
    row. Text has no statistics, which would take as long as the rest: there are few row groups
    that a reader could pass over.
    """
    numbers = [each.name for each in table.schema if _is_whole(each.type)]
    others = {each.name: each.type for each in table.schema if each.name not in numbers}
    texts = [name for name, kind in others.items() if not pa.types.is_floating(kind)]
    pq.write_table(
        table if keys is None else _with_encoded(table, keys),
        path,
        compression=dict.fromkeys(table.column_names, "none") | dict.fromkeys(others, "zstd"),
        store_schema=False,
        store_decimal_as_integer=True,
        use_dictionary=texts,
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        write_statistics=[name for name in table.column_names if name not in texts],
    )


def _is_whole(kind: pa.DataType) -> bool:
    """Tell whether Parquet stores numbers as whole ones of 64 bits."""
    is_short = pa.types.is_decimal(kind) and int(kind.precision) <= SHORT
    return is_short or bool(pa.types.is_int64(kind))


def _with_encoded(table: pa.Table, keys: Keys) -> pa.Table:
    encoded = keys.encoded
    others = [name for name in table.column_names if name not in encoded.column_names]
    columns = [*encoded.columns, *table.select(others).columns]
    return pa.table(columns, names=[*encoded.column_names, *others])


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
