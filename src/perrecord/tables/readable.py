"""A source read once before a charge, so that no record can make a release fail after it.

What an engine does with a value that is not of its type is its own affair: it may raise in the
middle of a scan, or hand on bytes that nothing can show. Parquet, Arrow and Spark let text be any
bytes. A source that holds such values is refused, for itself alone, while that costs nothing.
"""

from collections.abc import Iterable
from itertools import chain

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.dialects import Dialect
from perrecord.tables.engines.boundary import READ_FAILED
from perrecord.tables.expressions import columns_of
from perrecord.tables.measures import is_text
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

LONG_TEXT = 1 << 13
MOST_LONG_TEXT = 1 << 29
"""Bytes. Arrow takes 2 GB of text in a batch of 100,000 rows: that many short ones, and these."""


def check_readable(table: Table) -> None:
    """Read every declared column to its end, or refuse the source; nothing about it is said.

    Text is valid UTF-8, and what is longer than 8 kB makes up at most 512 MB of a column. Only then
    is what follows from the columns computed, because DuckDB does not survive some functions of
    text that is none.
    """
    engine, dialect = table.engine, table.engine.dialect
    engine.fetch()  # a database that cannot be reached says so itself
    texts = [] if engine.is_text else _text_columns(table.schema, engine.columns)
    shown = {column: f"source.{dialect.identifier(column)}" for column in texts}
    _read(table, shown, f"{engine.relation} AS source", is_text=True)
    roles = (each for each in (table.schema.id, table.schema.unit) if each is not None)
    names = [*dict.fromkeys(chain(table.schema.fields, roles))]
    known = {name: f"records.{dialect.identifier(name)}" for name in names}
    _read(table, known, f"({table.select(names)}) AS records", is_text=False)


def _text_columns(schema: Schema, columns: dict[str, pa.DataType]) -> list[str]:
    """Return the columns of the source that hold text and that something declared reads."""
    used: set[str | None] = {schema.id, schema.unit}
    used |= {measure.column or name for name, measure in schema.measures}
    used |= {ours for lookup in schema.lookups for ours, _ in lookup.on}
    for each in schema.dimensions:
        used |= columns_of(each.expression)
    return [name for name, kind in columns.items() if name in used and _holds_text(kind)]


def _holds_text(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _read(table: Table, values: dict[str, str], relation: str, *, is_text: bool) -> None:
    if not values:
        return
    if _is_read(table, values.values(), relation, is_text=is_text):
        return
    for name, value in values.items():  # once more, one by one, to say which
        if not _is_read(table, [value], relation, is_text=is_text):
            raise SourceError(_refusal(name))
    raise SourceError(_refusal(None))


def _is_read(table: Table, values: Iterable[str], relation: str, *, is_text: bool) -> bool:
    """Return whether values are read and fine; errors that say more are let through."""
    try:
        return _is_fine(table, values, relation, is_text=is_text)
    except SourceError as error:
        if error.args != (READ_FAILED,):
            raise
        return False


def _refusal(name: str | None) -> str:
    which = "the source" if name is None else f"the column {name!r}"
    return (
        f"{which} cannot be read to its end: it holds text that is not valid UTF-8, far too long "
        "text, or values that do not fit their type. Nothing was charged. Replace them, or write "
        "the source again; what the engine said is withheld, because it may quote records."
    )


def _is_fine(table: Table, values: Iterable[str], relation: str, *, is_text: bool) -> bool:
    dialect = table.engine.dialect
    found = [_text_fault(each, dialect) if is_text else _any_hash(each, dialect) for each in values]
    batches = table.engine.batches(f"SELECT {', '.join(found)} FROM {relation}")
    rows = pa.Table.from_batches(list(batches))
    return not is_text or not any(column[0].as_py() for column in rows.columns)


def _text_fault(value: str, dialect: Dialect) -> str:
    """Return whether a column of text has bytes that are no text, or too much of it."""
    if dialect.name == "duckdb":
        is_bad = f"({value} IS NOT NULL AND TRY(decode(encode({value}))) IS NULL)"
        size = f"strlen({value})"
    else:
        is_bad, size = f"(NOT is_valid_utf8({value}))", f"octet_length({value})"
    is_long = f"{size} > {LONG_TEXT}"
    return (
        f"coalesce(max(CASE WHEN {is_bad} THEN 1 ELSE 0 END), 0) > 0 OR "
        f"coalesce(sum(CASE WHEN {is_long} THEN {size} ELSE 0 END), 0) > {MOST_LONG_TEXT}"
    )


def _any_hash(value: str, dialect: Dialect) -> str:
    """Return something that cannot be known without computing every value."""
    return f"max({'hash' if dialect.name == 'duckdb' else 'xxhash64'}({value}))"
