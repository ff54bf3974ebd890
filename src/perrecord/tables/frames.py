"""Tables in memory as a source: Arrow, pandas, Polars and whatever speaks Arrow's C stream."""

from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError, listing
from perrecord.tables.engines.boundary import sealed

_DIGITS = 38


def arrow_of(source: Any) -> Any:
    """Return the source as Arrow, copied as little as can be; None when it is no table in memory.

    A dataset stays as it is and is read by each query. It is known by its module's name, because
    importing pyarrow.dataset imports pandas.
    """
    package = type(source).__module__.partition(".")[0]
    if is_dataset(source):
        return source
    if isinstance(source, pa.Table):
        return _typed(source)
    if isinstance(source, pa.RecordBatch):
        return _typed(pa.Table.from_batches([source]))
    if package == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns"):
        return _from_pandas(source)
    if package == "polars" and hasattr(source, "collect"):
        source = sealed(
            "the Polars LazyFrame could not be computed; collect it first to see why.",
            source.collect,
        )
    if package == "polars" and hasattr(source, "schema"):
        objects = [name for name, kind in source.schema.items() if str(kind) == "Object"]
        if objects:  # Polars would hand out their addresses in memory
            raise SourceError(
                f"the Polars column {listing(objects)} holds Python objects; give it a type first."
            )
    if hasattr(source, "__arrow_c_stream__"):
        kind = f"{package}.{type(source).__name__}"
        return _typed(
            sealed(
                f"the {kind} could not be turned into an Arrow table: a column has a type that "
                "Arrow lacks, or reading it failed.",
                lambda: pa.RecordBatchReader.from_stream(source).read_all(),
            )
        )
    return None


def is_dataset(source: Any) -> bool:
    """Return whether the source is an Arrow dataset, which each query reads anew."""
    return type(source).__module__ == "pyarrow._dataset" and hasattr(source, "scanner")


def _from_pandas(frame: Any) -> pa.Table:
    names = [str(name) for name in frame.columns]
    arrays = []
    for place, name in enumerate(names):
        arrays.append(
            sealed(
                f"the column {name!r} of the pandas DataFrame mixes types or holds values that "
                "Arrow lacks; give it one type first, such as "
                f"frame.astype({{{name!r}: 'string'}}).",
                lambda place=place: _column(frame.iloc[:, place]),  # type: ignore[misc]
            )
        )
    return _typed(pa.Table.from_arrays(arrays, names=names))


def _column(series: Any) -> pa.ChunkedArray:
    """Return a pandas column by its own type alone; Python objects are taken as text.

    So is a category without categories, whose type says nothing but that every value is missing.

    Numbers are copied: Arrow would share their memory, and the table would change with the frame.
    Left to itself Arrow would infer the type of objects from the values, so that one record could
    change it.
    """
    is_empty = series.dtype == "category" and not len(series.cat.categories)
    if is_empty or series.dtype == object:
        series = series.astype(object)
        return pa.chunked_array(pa.array(series, type=pa.string(), from_pandas=True))
    return pa.chunked_array(pa.array(series.copy(), from_pandas=True))


def _typed(table: pa.Table) -> pa.Table:
    """Return the table with text where a column has no type, because it holds nothing but nulls."""
    for place, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_float16(kind) or (
            pa.types.is_decimal(kind) and (kind.precision > _DIGITS or kind.scale < 0)
        ):
            raise SourceError(
                f"the column {field.name!r} is {kind}, which the engine does not read; cast it, "
                "such as to float32 or decimal(18, 2)."
            )
        if pa.types.is_null(field.type):
            table = table.set_column(
                place, pa.field(field.name, pa.string()), table.column(place).cast(pa.string())
            )
    return table
