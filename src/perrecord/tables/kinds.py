"""What a stored column can be to a query, and what to say when it is missing."""

from collections.abc import Collection, Iterable

import pyarrow as pa

from perrecord.errors import SchemaError, SourceError, listing, suggestion
from perrecord.tables.fields import Kind
from perrecord.tables.measures import is_text


def kind_of_column(kind: pa.DataType) -> Kind | None:
    """Return what a column of the source can be as a dimension; None if it can be none."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_text(kind) or pa.types.is_date(kind) or is_moment(kind):
        return Kind.TEXT
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return Kind.INTEGER
    return Kind.TRUTH if pa.types.is_boolean(kind) else None


def is_moment(kind: pa.DataType) -> bool:
    """Tell whether a column holds dates with a time of day, and without a time zone."""
    return bool(pa.types.is_timestamp(kind) and kind.tz is None)


def unusable_column(name: str, kind: pa.DataType) -> SchemaError:
    """Return the error for a column that is there and can be no dimension."""
    if pa.types.is_temporal(kind):
        return SchemaError(
            f"the column {name!r} is {kind}: a moment of a time zone, or a span of time, which "
            "engines write in different ways. Make it a date, or a moment without a zone, in the "
            "source, such as CAST(... AS DATE) in SQL, CAST(... AS TIMESTAMP_NTZ) in Spark or "
            ".dt.tz_localize(None) in pandas, and write the table again."
        )
    return SchemaError(
        f"the dimension {name!r} is {kind}; expected text, whole numbers, truth values or dates. A "
        "number with decimals is a measure: measures=[...]."
    )


def missing_column(
    name: str, role: str, known: Iterable[str], where: str = "the source"
) -> SchemaError:
    """Return the error for a column that a role names and the source, or a list, lacks."""
    every = list(known)
    return SchemaError(
        f"{where} has no column {name!r} for {role}. It has {listing(every, limit=20)}."
        f"{suggestion(str(name), every)}"
    )


def check_header(declared: Iterable[str], columns: Collection[str]) -> None:
    """Refuse a CSV file that has none of the declared columns: its first line may be a record.

    The line is not quoted, for then it is confidential.
    """
    names = list(dict.fromkeys(declared))
    if names and not any(name in columns for name in names):
        raise SourceError(
            f"the first line of the file does not hold {listing(names, limit=20)}. A CSV "
            "file needs a header line, with the names of its columns written as they are declared."
        )
