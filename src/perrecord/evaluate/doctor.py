"""What is odd about the records, for the curator alone: CONFIDENTIAL, and charged to nobody.

Exact numbers of the data, without noise. They help to find a wrong file, a wrong column or a
missing key before a release, and must not be published, nor thresholds and keys be chosen by them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

import pyarrow as pa

from perrecord.evaluate.coverage import coverage
from perrecord.policy.split import Scheme
from perrecord.queries.methods import dimensions_of
from perrecord.queries.query import Query
from perrecord.queries.values import JoinedTables, pieces_value, scheme_tree
from perrecord.tables.dialects import Dialect
from perrecord.tables.engines import RESERVED
from perrecord.tables.measures import Measure, Outside, grid_sql, is_number_in
from perrecord.tables.table import Table

_FOUND = f"{RESERVED}_found"


@dataclass(frozen=True, slots=True)
class RoleFindings:
    """A column that names records or units: how often it is NULL, and how often not unique."""

    role: str
    column: str
    missing: int
    repeated_names: int
    repeated_records: int


@dataclass(frozen=True, slots=True)
class MeasureFindings:
    """A measure: NULL, no finite number, beyond the largest that is read, and what becomes of it.

    Of a measure that a lookup adds, and of a derived one of changes, only `missing` is known, and
    means any of the three.
    """

    name: str
    missing: int
    not_a_number: int
    outside: int
    rule: Outside


@dataclass(frozen=True, slots=True)
class KeyFindings:
    """A grouping of a query: records whose key is not declared, and how many such keys."""

    query: str
    columns: tuple[str, ...]
    records: int
    keys: int


@dataclass(frozen=True, slots=True)
class PieceFindings:
    """A splitting scheme: how many records make how many pieces, from, to and number."""

    split: str
    counts: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the doctor found in the records. CONFIDENTIAL."""

    rows: int
    roles: tuple[RoleFindings, ...]
    measures: tuple[MeasureFindings, ...]
    keys: tuple[KeyFindings, ...]
    pieces: tuple[PieceFindings, ...]


def examine(table: Table, queries: Mapping[str, Query], splits: Mapping[str, Scheme]) -> Findings:
    """Read the records and return what is odd about them: exact, CONFIDENTIAL, not charged.

    >>> from perrecord import Split, table
    >>> farms = table(pa.table({"cattle": [12, None, 9000]}), measures=["cattle"])
    >>> found = examine(farms, {}, {"fine": Split(cattle=50)})
    >>> found.rows, found.measures[0].missing, found.pieces[0].counts
    (3, 1, ((1, 1, 2), (129, 256, 1)))
    """
    rows, measures = _counted(table)
    return Findings(
        rows,
        tuple(_roles(table)),
        measures,
        tuple(_keys(table, queries)),
        tuple(_pieces(table, splits)),
    )


# -- rows and measures ------------------------------------------------------------------------


def _counted(table: Table) -> tuple[int, tuple[MeasureFindings, ...]]:
    """Count the rows, and of each measure what is no plain number, in one scan."""
    dialect, stored = table.engine.dialect, table.engine.columns
    shown: list[str] = []
    for name, measure in table.schema.measures:
        column = measure.stored(name)
        if column in stored:
            value = f"source.{dialect.identifier(column)}"
            shown += _conditions(measure, value, stored[column], dialect)
    chosen = ", ".join(["count(*)", *(_number_of(each) for each in shown)])
    numbers = _integers(table, f"SELECT {chosen} FROM {table.engine.relation} AS source")
    rest = iter(numbers[1:])
    found = []
    for name, measure in table.schema.measures:
        if measure.stored(name) in stored:
            found.append(MeasureFindings(name, next(rest), next(rest), next(rest), measure.outside))
        else:
            found.append(_of_records(table, name, measure))
    return numbers[0], tuple(found)


def _of_records(table: Table, name: str, measure: Measure) -> MeasureFindings:
    """Count the records without a measure that no column holds, and those beyond its largest.

    A derived one is missing where one of those is that it is computed from.
    """
    identifier = table.engine.dialect.identifier
    reads: tuple[str, ...] = (name,)
    records = table
    if measure.expression is not None and not table.schema.is_linked:
        reads, records = measure.expression.names, _without_cuts(table, name, measure)
    missing = " OR ".join(f"{identifier(each)} IS NULL" for each in reads)
    beyond = f"{identifier(name)} IS NULL AND NOT ({missing})"
    selected = f"({records.select(sorted({name, *reads}))}) AS records"
    chosen = f"{_number_of(missing)}, {_number_of(beyond)}"
    counted = _integers(table, f"SELECT {chosen} FROM {selected}")
    return MeasureFindings(name, counted[0], 0, counted[1], measure.outside)


def _without_cuts(table: Table, name: str, measure: Measure) -> Table:
    """Return the table with one derived measure missing where it is beyond its largest."""
    strict = Measure(
        measure.resolution,
        expression=measure.expression,
        largest=measure.largest * measure.resolution,
    )
    rules = tuple((each, strict if each == name else kept) for each, kept in table.schema.measures)
    return replace(table, schema=replace(table.schema, measures=rules))


def _conditions(measure: Measure, value: str, kind: pa.DataType, dialect: Dialect) -> list[str]:
    """Return when a value is NULL, when it is no finite number, when it is out of range."""
    strict = Measure(measure.resolution, largest=measure.largest * measure.resolution)
    is_number = is_number_in(value, kind, dialect)
    there = f"{value} IS NOT NULL"
    grid = grid_sql(strict, value, kind, dialect)
    return [
        f"{value} IS NULL",
        f"{there} AND NOT {is_number}",
        f"{there} AND {is_number} AND ({grid}) IS NULL",
    ]


# -- ids and units ----------------------------------------------------------------------------


def _roles(table: Table) -> Iterator[RoleFindings]:
    for role, column in (("id", table.schema.id), ("unit", table.schema.unit)):
        if column is None:
            continue
        name = table.engine.dialect.identifier(column)
        records = f"({table.select([column])}) AS records"
        missing_sql = _number_of(f"{name} IS NULL")
        (missing,) = _integers(table, f"SELECT {missing_sql} FROM {records}")
        repeated = (
            f"SELECT {name}, count(*) AS {_FOUND} FROM {records} WHERE {name} IS NOT NULL "
            f"GROUP BY {name} HAVING count(*) > 1"
        )
        names, several = _integers(
            table, f"SELECT count(*), {_total(_FOUND)} FROM ({repeated}) AS repeated"
        )
        yield RoleFindings(role, column, missing, names, several)


# -- keys -------------------------------------------------------------------------------------


def _keys(table: Table, queries: Mapping[str, Query]) -> Iterator[KeyFindings]:
    for each in coverage(table, queries):
        yield KeyFindings(each.query, each.columns, each.outside, each.outside_keys)


# -- pieces -----------------------------------------------------------------------------------


def _pieces(table: Table, splits: Mapping[str, Scheme]) -> Iterator[PieceFindings]:
    resolutions = {name: measure.resolution for name, measure in table.schema.measures}
    for name, split in splits.items():
        prefix = _fresh_name()
        parts = JoinedTables(table.engine.dialect, prefix)
        value = pieces_value(split, resolutions, parts)
        needed = {*split.measures, *dimensions_of(scheme_tree(split))}
        inner = (
            f"SELECT {value} AS {_FOUND} FROM ({table.select(sorted(needed))}) AS records"
            f"{''.join(parts.joins)}"
        )
        sql = f"SELECT {_FOUND}, count(*) FROM ({inner}) AS valued GROUP BY {_FOUND}"
        counts: dict[int, int] = {}
        with _dropped(table, []) as names:
            for alias, rows in parts.tables.items():
                table.engine.add(alias, rows)
                names.append(alias)
            for batch in table.engine.batches(sql):
                pairs = zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
                for pieces, number in pairs:
                    level = (int(pieces) - 1).bit_length()
                    counts[level] = counts.get(level, 0) + int(number)
        ranges = [(*_range(level), counts[level]) for level in sorted(counts)]
        yield PieceFindings(name, tuple(ranges))


def _range(level: int) -> tuple[int, int]:
    """Return the numbers of pieces that are counted together: 1, 2, 3-4, 5-8, ..."""
    return (1, 1) if level == 0 else (2 ** (level - 1) + 1, 2**level)


# -- SQL --------------------------------------------------------------------------------------


def _number_of(condition: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)"


def _total(value: str) -> str:
    return f"coalesce(sum({value}), 0)"


def _integers(table: Table, sql: str) -> tuple[int, ...]:
    return _first_row(table.engine.batches(sql))


def _first_row(batches: Iterator[pa.RecordBatch]) -> tuple[int, ...]:
    rows = pa.Table.from_batches(list(batches))
    return tuple(int(column[0].as_py()) for column in rows.columns)


def _fresh_name() -> str:
    return f"{RESERVED}_{uuid4().hex[:12]}"


@contextmanager
def _dropped(table: Table, names: list[str]) -> Iterator[list[str]]:
    """Forget these tables at the end, whatever happens."""
    try:
        yield names
    finally:
        for name in names:
            table.engine.drop(name)
