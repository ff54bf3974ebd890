"""Public lookup tables: more columns for a record, by a key that is proved unique."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import SchemaError, listing
from perrecord.tables.keys import names_of
from perrecord.tables.kinds import is_moment, kind_of_column, missing_column
from perrecord.tables.public_files import PublicList, read_columns
from perrecord.tables.rows import different_rows, in_order


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Lookup:
    """A public table joined to the records: every record finds one row of it, or none.

    `on` names the key's column in both, or maps the record's column to the lookup's. The key must
    be unique: otherwise one record would become several, and its loss with it.

    >>> regions = Lookup({"fips": ["37001"], "region": ["South"]}, on={"county": "fips"})
    >>> regions.columns
    ('region',)
    """

    table: pa.Table
    on: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]

    def __init__(
        self,
        source: PublicList,
        *,
        on: str | Sequence[str] | Mapping[str, str],
        columns: str | Sequence[str] | None = None,
    ) -> None:
        chosen = names_of(columns or ())
        rows = read_columns(source, "lookup")
        pairs = _pairs(on)
        keys = [theirs for _, theirs in pairs]
        for name in [*keys, *chosen]:
            if name not in rows.column_names:
                missing = missing_column(name, "the lookup", rows.column_names, "the list")
                if name not in keys:
                    raise missing
                raise SchemaError(
                    f"{missing} A key of two names is written as the record's column and the "
                    f"list's: on: {{{name}: {rows.column_names[0]}}}."
                )
        for name in rows.column_names:
            if is_moment(rows[name].type):
                place = rows.column_names.index(name)
                rows = rows.set_column(place, name, _moment_text(rows[name]))
        for name in keys:
            rows = rows.set_column(rows.column_names.index(name), name, _plain(rows[name], name))
        groups = different_rows(rows.select(keys))
        if groups.num_rows < rows.num_rows:
            raise SchemaError(
                f"the lookup's key {listing(keys)} is not unique: {rows.num_rows:,} rows, "
                f"{groups.num_rows:,} different keys. One record may find one row only; remove the "
                "duplicates, or name more key columns."
            )
        kept = tuple(chosen) if chosen else tuple(n for n in rows.column_names if n not in keys)
        object.__setattr__(self, "table", rows.select([*keys, *kept]))
        object.__setattr__(self, "on", pairs)
        object.__setattr__(self, "columns", kept)

    def check(self, columns: Mapping[str, pa.DataType]) -> None:
        """Refuse a lookup that does not fit the columns of a table."""
        for ours, theirs in self.on:
            if ours not in columns:
                raise missing_column(ours, "the lookup's key", columns)
            kind = self.table.schema.field(theirs).type
            if kind_of_column(kind) is None or kind_of_column(columns[ours]) != kind_of_column(
                kind
            ):
                raise SchemaError(
                    f"the lookup's key {theirs!r} is {kind}, the table's {ours!r} is "
                    f"{columns[ours]}; make them both text, whole numbers or truth values."
                )
        for each in self.columns:
            if each in columns:
                raise SchemaError(
                    f"the table has a column {each!r} already; leave it out of the lookup with "
                    "columns=[...], or rename it there."
                )

    def digest(self, column: str) -> str:
        """Return a digest of what the lookup says of a column, in whichever order it is stored."""
        keys = [theirs for _, theirs in self.on]
        rows = in_order(self.table.select([*keys, column]), len(keys))
        written = json.dumps([self.on, rows.to_pydict()], default=str, ensure_ascii=False)
        return sha256(written.encode()).hexdigest()

    def types(self) -> dict[str, pa.DataType]:
        """Return the columns that the lookup adds, with their types."""
        return {each: self.table.schema.field(each).type for each in self.columns}


def _plain(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a key as the engine compares it: text (dates written out), integers or truth values.

    Unique before and after are not the same: 2020-1-1 and 2020-01-01 are one date and two texts.
    """
    kind = kind_of_column(column.type)
    if kind is None:
        raise SchemaError(
            f"the lookup's key {name!r} is {column.type}; expected text, whole numbers, truth "
            "values or dates."
        )
    if pa.types.is_date(column.type):
        return _date_text(column.cast(pa.date32(), safe=False))
    return column.cast(kind.types.arrow)


def _date_text(days: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates as the engines write them: NULL outside the years 1 to 9999."""
    known = pc.and_(pc.greater_equal(days, date.min), pc.less_equal(days, date.max))
    return pc.if_else(known, days.cast(pa.string()), pa.scalar(None, pa.string()))


def _moment_text(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return moments as the engines write them."""
    micro = moments.cast(pa.timestamp("us"), safe=False)
    known = pc.and_(pc.greater_equal(micro, datetime.min), pc.less_equal(micro, datetime.max))
    return pc.if_else(known, micro.cast(pa.string()), pa.scalar(None, pa.string()))


def _pairs(on: str | Sequence[str] | Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if isinstance(on, Mapping):
        return tuple(on.items())
    names = names_of(on)
    if not names:
        raise SchemaError('the lookup names no key; give on="county", the column to match.')
    return tuple((name, name) for name in names)
