"""Whether a source can be read, decided for the source alone, before anything is charged.

What an engine does with a value that is not of its type is its own affair: it may raise in the
middle of a scan, or hand on bytes that nothing can show. Arrow and Spark let text be any bytes. A
source that holds such values is refused while that costs nothing.
"""

from collections.abc import Iterable
from itertools import chain

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.dialects import Dialect
from perrecord.tables.engines.boundary import ReadError
from perrecord.tables.expressions import columns_of
from perrecord.tables.linking import ID, SIGN, check_faults, faults_sql
from perrecord.tables.measures import is_text
from perrecord.tables.records import rows_sql
from perrecord.tables.schema import Schema
from perrecord.tables.snapshots import BothPeriods, Files
from perrecord.tables.table import Table


def check_text(table: Table) -> None:
    """Refuse a source whose text is not valid UTF-8, before anything is computed from it.

    DuckDB refuses such files itself. It hands on what Arrow and Spark say is text, and does not
    survive some functions of it.
    """
    engine = table.engine
    origin = engine.origin
    sides = origin.sides if isinstance(origin, BothPeriods) else (origin,)
    if all(isinstance(each, Files) for each in sides):
        return
    engine.fetch()  # a database that cannot be reached says so itself
    texts = _text_columns(table.schema, engine.columns)
    shown = {column: f"source.{engine.dialect.identifier(column)}" for column in texts}
    _read(table, shown, f"{engine.relation} AS source", is_text=True)


def check_links(table: Table) -> None:
    """Refuse two periods of which some id is missing or names several rows (`tables.linking`).

    Rows of one id are one record; the policy of a record would say nothing of those that share it.
    """
    if table.schema.is_linked:
        dialect, relation = table.engine.dialect, table.engine.relation
        rows = rows_sql(table.schema, (), dialect, relation, beside=(ID, SIGN))
        found = pa.Table.from_batches(list(table.engine.batches(faults_sql(rows))))
        check_faults([int(column[0].as_py()) for column in found.columns])


def check_readable(table: Table) -> None:
    """Read every declared column to its end, or refuse the source; nothing about it is said."""
    check_text(table)
    check_links(table)
    roles = (each for each in (table.schema.id, table.schema.unit) if each is not None)
    names = [*dict.fromkeys(chain(table.schema.fields, roles))]
    known = {name: f"records.{table.engine.dialect.identifier(name)}" for name in names}
    _read(table, known, f"({table.select(names)}) AS records", is_text=False)


def _text_columns(schema: Schema, columns: dict[str, pa.DataType]) -> list[str]:
    """Return the columns of the source that hold text and that something declared reads."""
    used: set[str | None] = {schema.id, schema.unit}
    used |= {measure.stored(name) for name, measure in schema.measures}
    used |= {ours for lookup in schema.lookups for ours, _ in lookup.on}
    for each in schema.dimensions:
        used |= columns_of(each.expression)
    return [name for name, kind in columns.items() if name in used and _holds_text(kind)]


def _holds_text(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _read(table: Table, values: dict[str, str], relation: str, *, is_text: bool) -> None:
    if not values or _is_fine(table, values.values(), relation, is_text=is_text):
        return
    for name, value in values.items():  # once more, one by one, to say which
        if not _is_fine(table, [value], relation, is_text=is_text):
            raise SourceError(_refusal(f"the source has a column {name!r} that"))
    raise SourceError(_refusal("the source"))


def _refusal(what: str) -> str:
    return (
        f"{what} cannot be read to its end: it holds text that is not valid UTF-8, or values that "
        "do not fit their type, or a file is damaged. Nothing was charged. Replace them, or write "
        "the source again; what the engine said is withheld, because it may quote records."
    )


def _is_fine(table: Table, values: Iterable[str], relation: str, *, is_text: bool) -> bool:
    """Return whether values are read and fine; errors that are ours are let through."""
    dialect = table.engine.dialect
    found = [
        _has_no_text(each, dialect) if is_text else f"max({dialect.hashed(each)})"
        for each in values
    ]
    try:
        batches = table.engine.batches(f"SELECT {', '.join(found)} FROM {relation}")
        rows = pa.Table.from_batches(list(batches))
    except ReadError:
        return False
    return not is_text or not any(column[0].as_py() for column in rows.columns)


def _has_no_text(value: str, dialect: Dialect) -> str:
    """Return whether some value of a column of text has bytes that are no text.

    What reaches Arrow as text may be something else in the engine, such as an identifier.
    """
    is_bad = dialect.is_no_text(dialect.as_text(value))
    return f"coalesce(max(CASE WHEN {is_bad} THEN 1 ELSE 0 END), 0) > 0"
