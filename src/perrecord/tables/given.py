"""What may be given as a table, for type checkers: the packages need not be installed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeGuard

import pyarrow as pa

from perrecord.tables.reading import File


class ArrowStream(Protocol):
    """A table that hands itself out as Arrow: of Arrow, pandas, Polars, DuckDB or Ibis."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream as a PyCapsule."""


class LazyFrame(Protocol):
    """A frame that is computed when it is collected, as Polars has them."""

    def collect(self) -> ArrowStream:
        """Return the frame, computed."""


class SparkFrame(Protocol):
    """A DataFrame of Spark, classic or Connect."""

    @property
    def sparkSession(self) -> object:  # noqa: N802 - Spark's name
        """The session that it belongs to."""

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""


class Dataset(Protocol):
    """A dataset of Arrow, which each query reads anew."""

    def scanner(self) -> object:
        """Return what reads it."""


def is_spark(source: object) -> TypeGuard[SparkFrame]:
    """Return whether the source is a DataFrame of Spark; the cluster is not asked."""
    package = type(source).__module__.partition(".")[0]
    return package == "pyspark" and hasattr(source, "sparkSession")


OneSource = str | Path | File | ArrowStream | LazyFrame | SparkFrame | Dataset
"""A confidential table: a path or an address, a frame in memory, or a table of Spark or Ibis."""


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """Two periods of the same records, linked by their id: a table of changes from last to this.

    Both are files or frames, or both are Spark DataFrames of one session, with the same columns.
    `table(Linked("emp2027.csv", last="emp2026.csv"), id="establishment", ...)` has a record for
    every id and every combination of dimensions, with this period's measures minus the last's.
    """

    this: OneSource
    last: OneSource


Source = OneSource | Linked
"""A confidential table, or two periods of one."""

ColumnsGiven = ArrowStream | Mapping[str, Iterable[object]]
"""A public table in memory: a frame, or lists by name."""


def arrow_table(columns: ColumnsGiven) -> pa.Table:
    """Return a public table in memory as an Arrow table."""
    if isinstance(columns, pa.Table):
        return columns
    return pa.table(dict(columns) if isinstance(columns, Mapping) else columns)
