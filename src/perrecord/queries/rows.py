"""The records themselves as rows, split or not, for mechanisms that need rows (T3, T8).

The split happens in the engine. Rows come sorted by all their columns, so that what a mechanism
sees depends on which rows there are and not on the order in which they were stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from perrecord.errors import QueryError, listing
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.queries.check import check_filter
from perrecord.queries.methods import dimensions_of, has_default
from perrecord.queries.methods.fitting import check_scheme
from perrecord.queries.values import JoinedTables, pieces_value, scheme_tree, threshold_values
from perrecord.tables.dialects import Dialect
from perrecord.tables.expressions import Expression, columns_of, to_sql
from perrecord.tables.roles import unknown_column
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

_PIECE = "_perrecord_piece"
_PIECES = "_perrecord_pieces"


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """Which columns of which records, and how they are split."""

    columns: tuple[str, ...]
    split: Scheme | None = None
    filter: Expression | None = None

    def check(self, schema: Schema) -> None:
        """Refuse what the table cannot give, before any row is read."""
        for name in self.columns:
            if name not in schema.fields and name not in (schema.id, schema.unit):
                raise unknown_column(name, schema.fields, "column", schema.name)
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise QueryError(
                f"the columns are {listing(self.columns) or 'none'}; expected at least one, each "
                "once."
            )
        check_filter(self.filter, schema)
        if self.split is not None:
            check_scheme(self.split, schema.roles)
            if not has_default(scheme_tree(self.split)):
                raise QueryError(
                    "the split has no default, so that some records have neither pieces nor a "
                    "policy; give Split.by(..., default=...)."
                )
            if not _is_capped(self.split):
                raise QueryError(
                    "rows are written out, so the split needs a public cap on the pieces of one "
                    "record: write split.capped(1000)."
                )


def rows_sql(query: RowsQuery, table: Table, prefix: str) -> tuple[str, dict[str, pa.Table]]:
    """Return the SQL of the rows, and the public tables that it joins."""
    query.check(table.schema)
    dialect, schema = table.engine.dialect, table.schema
    parts = JoinedTables(dialect, prefix)
    name = dialect.identifier
    needed = {*query.columns, *(columns_of(query.filter) if query.filter is not None else ())}
    values = {column: f"records.{name(column)}" for column in query.columns}
    thresholds: dict[str, str] = {}
    if query.split is not None:
        needed |= {*query.split.measures, *dimensions_of(scheme_tree(query.split))}
        resolutions = {each: measure.resolution for each, measure in schema.measures}
        values[_PIECES] = pieces_value(query.split, resolutions, parts)
        shown = [each for each in query.split.measures if each in query.columns]
        found = threshold_values(query.split, resolutions, parts)
        thresholds = {each: f"_perrecord_threshold_{each}" for each in shown}
        values.update({column: found[each] for each, column in thresholds.items()})
    condition = ""
    if query.filter is not None:
        fragments = {each: f"records.{name(each)}" for each in schema.fields}
        condition = f" WHERE {to_sql(query.filter, schema.fields, fragments, dialect)}"
    inner = ", ".join(f"{sql} AS {name(column)}" for column, sql in values.items())
    whole = (
        f"SELECT {inner} FROM ({table.select(sorted(needed))}) AS records"
        f"{''.join(parts.joins)}{condition}"
    )
    if query.split is not None:
        whole = _split(whole, query.columns, thresholds, dialect)
    order = ", ".join(name(column) for column in query.columns)
    return f"SELECT {order} FROM ({whole}) AS rows ORDER BY {order}", parts.tables


def _split(whole: str, columns: Sequence[str], thresholds: dict[str, str], dialect: Dialect) -> str:
    """Return a row for each piece of each record: full ones first, then the rest, then zeros."""
    name = dialect.identifier
    numbered = f"SELECT *, {dialect.numbered(_PIECES)} AS {_PIECE} FROM ({whole}) AS whole"
    shown = []
    for column in columns:
        value = name(column)
        if column in thresholds:
            value = f"{_share(value, name(thresholds[column]), dialect)} AS {value}"
        shown.append(value)
    return f"SELECT {', '.join(shown)} FROM ({numbered}) AS numbered"


def _share(value: str, threshold: str, dialect: Dialect) -> str:
    """Return what the piece holds of a measure, with the measure's sign; NULL stays NULL."""
    full, rest = dialect.divided(f"abs({value})", threshold)
    sign = f"CASE WHEN {value} < 0 THEN -1 ELSE 1 END"
    return (
        f"CASE WHEN {threshold} IS NULL OR {value} IS NULL THEN {value} "
        f"WHEN {_PIECE} < {full} THEN {sign} * {threshold} "
        f"WHEN {_PIECE} = {full} THEN {sign} * {rest} ELSE {dialect.literal(0)} END"
    )


def _is_capped(split: Scheme) -> bool:
    if isinstance(split, SplitBy):
        return all(_is_capped(each) for each in split.cases.values())
    return isinstance(split, Split) and split.cap is not None
