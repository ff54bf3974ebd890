"""One scan: all aggregates over one source and filter, grouped as finely as anybody needs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import pyarrow as pa

from perrecord.queries.aggregates import (
    Aggregate,
    Bucket,
    Different,
    Filled,
    Giants,
    Pieces,
    Rows,
    SquarePart,
    SquareTotal,
    Total,
    WeightTotal,
    square_parts,
)
from perrecord.queries.methods import dimensions_of
from perrecord.queries.values import (
    JoinedTables,
    bucket_value,
    has_giant,
    pieces_value,
    scheme_tree,
    square_part_value,
    square_value,
    total_value,
    weight_value,
)
from perrecord.tables.dialects import DUCKDB, Dialect
from perrecord.tables.expressions import Expression, columns_of, to_sql
from perrecord.tables.records import records_sql
from perrecord.tables.schema import Schema

GroupColumn = str | Bucket
"""What a scan groups by: a column, or between which candidates a measure lies."""

GroupSet = frozenset[GroupColumn]

SET = "_perrecord_set"


@dataclass(frozen=True, slots=True)
class Scan:
    """Which aggregates, over which records, in which grouping sets.

    Derived columns are functions of others that every set with them has. They take no part in the
    grouping and are computed for its cells: a sector for each industry, not for each record.
    """

    filter: Expression | None
    columns: tuple[GroupColumn, ...]
    sets: tuple[GroupSet, ...]
    aggregates: tuple[Aggregate, ...]
    derived: tuple[tuple[str, Expression], ...] = ()
    only: Giants | None = None
    """Which records are scanned, if not all: those that have a giant value."""

    @property
    def grouped(self) -> tuple[GroupColumn, ...]:
        """The columns that the engine groups by."""
        derived = {name for name, _ in self.derived}
        return tuple(each for each in self.columns if each not in derived)

    def column_name(self, column: GroupColumn) -> str:
        """Return the name of a grouping column in the scan's result."""
        if isinstance(column, str):
            return column
        buckets = [each for each in self.columns if isinstance(each, Bucket)]
        return f"_perrecord_bucket{buckets.index(column)}"

    def aggregate_name(self, aggregate: Aggregate) -> str:
        """Return the name of an aggregate in the scan's result."""
        return f"_perrecord_value{self.aggregates.index(aggregate)}"

    def set_number(self, found: GroupSet) -> int:
        """Return the number by which rows of a grouping set are known."""
        return sum(
            1 << (len(self.grouped) - 1 - index)
            for index, column in enumerate(self.grouped)
            if column not in found
        )


@dataclass(frozen=True, slots=True)
class ScanText:
    """A scan as SQL, and the public tables that it joins."""

    sql: str
    tables: Mapping[str, pa.Table]


def scan_sql(
    scan: Scan, schema: Schema, dialect: Dialect, relation: str, prefix: str = "_perrecord"
) -> ScanText:
    """Return the scan of a relation in an engine's dialect."""
    parts = JoinedTables(dialect, prefix)
    name = dialect.identifier
    values: dict[str, str] = {}
    for column in scan.columns:
        if isinstance(column, Bucket):
            resolution = schema.measure(column.measure).resolution
            values[scan.column_name(column)] = bucket_value(column, resolution, dialect)
        else:
            values[column] = f"records.{name(column)}"
    chosen: list[tuple[str, str]] = []
    for aggregate in scan.aggregates:
        shown = scan.aggregate_name(aggregate)
        value = _value(aggregate, schema, parts)
        if value is not None:
            values[shown] = value
        chosen += _aggregated(aggregate, shown, dialect).items()
    inner = ", ".join(f"{sql} AS {name(shown)}" for shown, sql in values.items())
    source = records_sql(schema, sorted(_needed(scan)), dialect, relation)
    condition = ""
    if scan.filter is not None:
        fragments = {each: f"records.{name(each)}" for each in schema.fields}
        condition = f" WHERE {to_sql(scan.filter, schema.fields, fragments, dialect)}"
    if scan.only is not None:
        passes = f" AND ({condition.removeprefix(' WHERE ')})" if condition else ""
        condition = f" WHERE {has_giant(scan.only, dialect)}{passes}"
    records = (
        f"SELECT {inner or '1 AS _perrecord_one'} FROM ({source}) AS records"
        f"{''.join(parts.joins)}{condition}"
    )
    columns = [name(scan.column_name(column)) for column in scan.grouped]
    number, grouping = _grouping(scan, columns, dialect)
    sums = (f"{sql} AS {name(shown)}" for shown, sql in chosen)
    selected = ", ".join([*columns, f"{number} AS {SET}", *sums])
    return ScanText(f"SELECT {selected} FROM ({records}) AS valued{grouping}", parts.tables)


def giants_of(scan: Scan) -> Scan | None:
    """Return the scan of the records that have giant values, grouped alike; None if none can be."""
    for each in scan.aggregates:
        if isinstance(each, Giants):
            parts = [part for measure in each.measures for part in square_parts(measure)]
            return replace(scan, aggregates=tuple(parts), only=each)
    return None


def cells_sql(scan: Scan, schema: Schema, kept: str) -> str:
    """Return a scan's result, kept in the local DuckDB, with its derived columns: for FROM."""
    name = DUCKDB.identifier
    fragments = {each: f"kept.{name(each)}" for each in schema.fields}
    derived = "".join(
        f", {to_sql(expression, schema.fields, fragments, DUCKDB)} AS {name(column)}"
        for column, expression in scan.derived
    )
    return f"(SELECT kept.*{derived} FROM {name(kept)} AS kept)"


def _grouping(scan: Scan, columns: list[str], dialect: Dialect) -> tuple[str, str]:
    """Return the number of a row's grouping set, and the GROUP BY.

    Sets that differ in derived columns alone are one.
    """
    different = {scan.set_number(found): found for found in scan.sets}
    if len(different) == 1:
        number = f"CAST({scan.set_number(scan.sets[0])} AS BIGINT)"
        return number, f" GROUP BY {', '.join(columns)}" if columns else ""
    sets = ", ".join(
        "("
        + ", ".join(c for c, each in zip(columns, scan.grouped, strict=True) if each in found)
        + ")"
        for found in different.values()
    )
    number, grouping = dialect.grouping_sets(columns, sets)
    return f"CAST({number} AS BIGINT)", grouping


def _value(aggregate: Aggregate, schema: Schema, parts: JoinedTables) -> str | None:
    match aggregate:
        case Rows():
            return None
        case Filled(column) | Different(column):
            return f"records.{parts.dialect.identifier(column)}"
        case Total(measure):
            return total_value(aggregate, schema.measure(measure).resolution, parts)
        case SquareTotal():
            return square_value(aggregate, parts.dialect)
        case WeightTotal(measure):
            return weight_value(measure, parts.dialect)
        case Giants():
            return f"CASE WHEN {has_giant(aggregate, parts.dialect)} THEN 1 END"
        case SquarePart():
            return square_part_value(aggregate, parts.dialect)
        case Pieces(split):
            resolutions: dict[str, Fraction] = {n: m.resolution for n, m in schema.measures}
            return pieces_value(split, resolutions, parts)


def _aggregated(aggregate: Aggregate, shown: str, dialect: Dialect) -> dict[str, str]:
    """Return the columns of the result that bring an aggregate, which is known as `shown`."""
    value = dialect.identifier(shown)
    match aggregate:
        case Rows():
            return {shown: "count(*)"}
        case Filled() | Giants():
            return {shown: f"count({value})"}
        case Different():
            return {shown: f"count(DISTINCT {value})"}
        case SquareTotal():  # wider than 64 bits
            return {shown: dialect.total(value)}
        case Total() | SquarePart() | Pieces() | WeightTotal():
            return dialect.totals(value, shown)


def _needed(scan: Scan) -> set[str]:
    """Return the columns of the table that the scan reads."""
    needed: set[str] = set() if scan.filter is None else set(columns_of(scan.filter))
    for column in scan.columns:
        needed.add(column.measure if isinstance(column, Bucket) else column)
    for aggregate in scan.aggregates:
        needed |= columns_read(aggregate)
    return needed


def columns_read(aggregate: Aggregate) -> set[str]:
    """Return the columns that an aggregate reads."""
    match aggregate:
        case Rows():
            return set()
        case Filled(column) | Different(column):
            return {column}
        case Total(measure, clamps):
            return {measure, *(dimensions_of(clamps) if clamps is not None else ())}
        case SquareTotal(measure) | SquarePart(measure) | WeightTotal(measure):
            return {measure}
        case Giants(measures):
            return {*measures}
        case Pieces(split):
            return {*split.measures, *dimensions_of(scheme_tree(split))}
