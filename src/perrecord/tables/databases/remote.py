"""A table of somebody's database: its columns are public, its rows are read once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from perrecord.errors import SourceError

BATCH = 50_000
"""Rows that are on their way at a time."""

ONE = "_perrecord_one"
"""The column that stands for a record where none of its columns is declared."""

ALIAS = "_perrecord_source"
"""What the table is called in a statement; no column of it may be."""

UNREADABLE = pa.null()
"""The type of a column that exists and cannot be had."""


class Remote(Protocol):
    """One table of a database that is not ours. Every failure is a SourceError or is sealed."""

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """Every column by the type that it arrives in; known without reading a row."""

    def check(self, names: Iterable[str]) -> None:
        """Refuse columns that cannot be had, by name and type."""

    def read(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """Return every row once, as one statement sees the table; no value can make it fail.

        Without names the rows have the column `ONE`.
        """

    def close(self) -> None:
        """Let go of the database; what belongs to somebody else stays open."""


def unreadable(name: str, stored: str, advice: str) -> SourceError:
    """Return the refusal of a column whose type cannot be had."""
    return SourceError(f"the column {name!r} is {stored}, which is not read; {advice}.")


def reader(
    names: Sequence[str], columns: Mapping[str, pa.DataType], rows: Iterator[list[Sequence[Any]]]
) -> pa.RecordBatchReader:
    """Return batches of rows of Python values as a stream of Arrow batches."""
    schema = pa.schema([(name, columns[name]) for name in names] or [(ONE, pa.int64())])
    return pa.RecordBatchReader.from_batches(schema, batches_of(schema, rows))


def batches_of(schema: pa.Schema, rows: Iterator[list[Sequence[Any]]]) -> Iterator[pa.RecordBatch]:
    """Yield batches of rows of Python values as Arrow batches."""
    for batch in rows:
        values = zip(*batch, strict=True)
        arrays = [pa.array(each, kind) for each, kind in zip(values, schema.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
