"""The records as SQL: dimensions derived, measures on their grid, lookups joined.

It is written from the schema alone, so it can be shown for an engine without having one.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from perrecord.tables.dialects import Dialect
from perrecord.tables.expressions import to_sql
from perrecord.tables.fields import Kind, TypedColumn
from perrecord.tables.kinds import is_moment, kind_of_column
from perrecord.tables.linking import CHANGE_KIND, ID, SIGN, changes_sql, kind_sql
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import derived_sql, grid_sql, scaled_on
from perrecord.tables.schema import Schema

SOURCE = "_perrecord_source"


def lookup_name(schema: Schema, index: int) -> str:
    """Return the name by which an engine knows a schema's lookup; no two tables share one."""
    return f"_perrecord_lookup{schema.token}_{index}"


def records_sql(schema: Schema, names: Iterable[str], dialect: Dialect, relation: str) -> str:
    """Return the SELECT of these columns from the source."""
    if schema.is_linked:
        return _changes(schema, list(names), dialect, relation)
    return rows_sql(schema, names, dialect, relation)


def rows_sql(
    schema: Schema,
    names: Iterable[str],
    dialect: Dialect,
    relation: str,
    *,
    beside: Sequence[str] = (),
) -> str:
    """Return the SELECT of these columns of every row; `beside` names `ID` and `SIGN`."""
    fragments = _fragments(schema, dialect)
    fields, known = _known(schema, fragments, dialect)
    columns, measures = dict(schema.columns), dict(schema.measures)
    for name, measure in schema.measures:
        column = measure.stored(name)
        if column is not None:
            known[name] = grid_sql(measure, fragments[column], columns[column], dialect)
        elif (found := scaled_on(name, measure, measures)) is not None:
            known[name] = derived_sql(measure, found, known, dialect)
        fields[name] = TypedColumn(name, Kind.MEASURE, measure.resolution)
    shown = {name: known[name] for name, _ in schema.measures}
    for each in schema.dimensions:
        if each.name in schema.grouped_rows:
            shown[each.name] = to_sql(each.expression, fields, known, dialect)
    for role in (schema.id, schema.unit):
        if role is not None:
            shown.setdefault(role, known.get(role, fragments[role]))
    if schema.is_linked and schema.id is not None:
        shown[ID] = known.get(schema.id, fragments[schema.id])
        shown[SIGN] = f"{SOURCE}.{SIGN}"
    chosen = [f"{shown[name]} AS {dialect.identifier(name)}" for name in (*names, *beside)]
    joins = "".join(
        _join(lookup_name(schema, index), lookup, known, dialect)
        for index, lookup in enumerate(schema.lookups)
    )
    return f"SELECT {', '.join(chosen) or '1 AS _perrecord_one'} FROM {relation} AS {SOURCE}{joins}"


def _changes(schema: Schema, names: Sequence[str], dialect: Dialect, relation: str) -> str:
    """Return the SELECT of these columns of a table of changes.

    Rows of one record share the id, every dimension that is declared, asked for or not, and the
    unit: what is one record does not depend on the question.
    """
    groups = list(schema.grouped_rows)
    if schema.unit is not None and schema.unit not in groups:
        groups.append(schema.unit)
    measures = [name for name, _ in schema.measures if name in names]
    rows = rows_sql(schema, [*groups, *measures], dialect, relation, beside=(ID, SIGN))
    shown = {name: dialect.identifier(name) for name in (*groups, *measures)}
    if schema.id is not None:
        shown.setdefault(schema.id, ID)
    kinds = [each for each in schema.dimensions if each.name not in schema.grouped_rows]
    kind = {CHANGE_KIND: kind_sql(dialect)}
    fields = {CHANGE_KIND: TypedColumn(CHANGE_KIND, Kind.TEXT)}
    for each in kinds:
        shown[each.name] = to_sql(each.expression, fields, kind, dialect)
    has_kind = any(each.name in names for each in kinds)
    return changes_sql(
        rows, groups, measures, {name: shown[name] for name in names}, dialect, has_kind=has_kind
    )


def expression_fields(columns: Iterable[tuple[str, pa.DataType]]) -> dict[str, TypedColumn]:
    """Return the columns of a source that expressions can use."""
    kinds = {name: kind_of_column(kind) for name, kind in columns}
    return {name: TypedColumn(name, kind) for name, kind in kinds.items() if kind is not None}


def _fragments(schema: Schema, dialect: Dialect) -> dict[str, str]:
    """Return each column where it is stored: in the source, or in a lookup."""
    name = dialect.identifier
    added = {each for lookup in schema.lookups for each in lookup.columns}
    found = {each: f"{SOURCE}.{name(each)}" for each, _ in schema.columns if each not in added}
    for index, lookup in enumerate(schema.lookups):
        alias = lookup_name(schema, index)
        found.update({each: f"{alias}.{name(each)}" for each in lookup.columns})
    return found


def _known(
    schema: Schema, fragments: dict[str, str], dialect: Dialect
) -> tuple[dict[str, TypedColumn], dict[str, str]]:
    """Return the columns that expressions can use, each in the one type of its kind."""
    types, fields = dict(schema.columns), expression_fields(schema.columns)
    known = {}
    for name, field in fields.items():
        if pa.types.is_date(types[name]):
            known[name] = dialect.date_as_text(fragments[name])
        elif is_moment(types[name]):
            known[name] = dialect.moment_as_text(fragments[name], types[name].unit)
        elif field.kind is Kind.TEXT:
            known[name] = dialect.as_text(fragments[name])
        elif field.kind is Kind.INTEGER:
            known[name] = f"CAST({fragments[name]} AS BIGINT)"
        else:
            known[name] = fragments[name]
    return fields, known


def _join(alias: str, lookup: Lookup, known: dict[str, str], dialect: Dialect) -> str:
    """Return the join on the values that the key was proved unique in: text or 64-bit integers."""
    conditions = " AND ".join(
        f"{known[ours]} = {alias}.{dialect.identifier(theirs)}" for ours, theirs in lookup.on
    )
    return f" LEFT JOIN {dialect.identifier(alias)} AS {alias} ON {conditions}"
