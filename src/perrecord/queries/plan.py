"""The plan of a workload: which scans, and which cells each answer reads from them.

Queries over one source and filter share one scan. It groups by the largest sets that anybody asks
for; coarser sets are rolled up from their exact integers, never scanned again.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import parse_one

from perrecord.errors import QueryError
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import (
    GIANT,
    Aggregate,
    Bucket,
    Different,
    Giants,
    Pieces,
    Rows,
    SquareTotal,
)
from perrecord.queries.answers import Answer
from perrecord.queries.check import check
from perrecord.queries.groupings import KEYS_CHARGE, Grouping, SelectKeys
from perrecord.queries.policies import on_filtered, selection_policy
from perrecord.queries.query import Query
from perrecord.queries.scan import GroupColumn, GroupSet, Scan, scan_sql
from perrecord.tables.dialects import dialect_of
from perrecord.tables.expressions import Expression
from perrecord.tables.schema import Schema

_MOST_COLUMNS = 62
"""Engines number grouping sets by 64 bits, one for each column."""


@dataclass(frozen=True, slots=True)
class Charged:
    """One answer in one grouping, and what it costs."""

    answer: Answer
    policy: Policy


@dataclass(frozen=True, slots=True)
class PlannedGrouping:
    """One grouping of one query: its answers, and the aggregates they are made of."""

    query: int
    grouping: Grouping
    scan: int
    answers: tuple[Charged, ...]
    selection: Policy | None
    aggregates: tuple[Aggregate, ...]
    buckets: tuple[Bucket, ...]

    @property
    def policy(self) -> Policy:
        """The sum of what its answers and its key selection cost (T4)."""
        every = [charged.policy for charged in self.answers]
        return Policy.total(every if self.selection is None else [self.selection, *every])

    @property
    def charges(self) -> tuple[tuple[str, Policy], ...]:
        """What its key selection and each of its answers cost, by name."""
        every = [(charged.answer.name, charged.policy) for charged in self.answers]
        return tuple(every if self.selection is None else [(KEYS_CHARGE, self.selection), *every])


@dataclass(frozen=True, slots=True)
class Plan:
    """A workload, ready to be charged for and then run."""

    schema: Schema
    queries: tuple[Query, ...]
    scans: tuple[Scan, ...]
    groupings: tuple[PlannedGrouping, ...]

    def sql(self, engine: str = "duckdb") -> list[str]:
        """Return what runs on the engine, a statement for each scan, laid out for reading.

        Where a scan counts giants behind a blurred total, they are scanned once more, alone.
        """
        dialect = dialect_of(engine)
        source = dialect.identifier(self.schema.name)
        texts = [scan_sql(scan, self.schema, dialect, source).sql for scan in self.scans]
        return [parse_one(text, read=engine).sql(dialect=engine, pretty=True) for text in texts]

    @property
    def policy(self) -> Policy:
        """What the whole workload costs, fixed before any row is read (T4)."""
        return Policy.total(grouping.policy for grouping in self.groupings)


def plan(queries: Query | Sequence[Query], schema: Schema) -> Plan:
    """Return the plan of one query or of several, checked against the table's description."""
    every = (queries,) if isinstance(queries, Query) else tuple(queries)
    for query in every:
        check(query, schema)
    filters: dict[Expression | None, int] = {}
    groupings = [
        _grouping(number, query, grouping, filters.setdefault(query.filter, len(filters)), schema)
        for number, query in enumerate(every)
        for grouping in query.groupings
    ]
    scans = tuple(
        _scan(condition, [each for each in groupings if each.scan == index], schema)
        for condition, index in filters.items()
    )
    return Plan(schema, every, scans, tuple(groupings))


def of_choices(planned: Plan) -> Plan:
    """Return the plan of the quantiles alone: what counts between candidates, and nothing else."""
    chosen = [each for each in planned.groupings if each.buckets]
    return _part(planned, [replace(each, aggregates=()) for each in chosen])


def without_choices(planned: Plan) -> Plan:
    """Return the plan whose scans do not count between candidates; its groupings are the same."""
    return _part(planned, [replace(each, buckets=()) for each in planned.groupings])


def _part(planned: Plan, groupings: list[PlannedGrouping]) -> Plan:
    """Return the plan of some groupings; a scan that none of them reads is left out."""
    numbers = sorted({each.scan for each in groupings})
    scans = tuple(
        _scan(
            planned.scans[number].filter,
            [each for each in groupings if each.scan == number],
            planned.schema,
        )
        for number in numbers
    )
    moved = tuple(replace(each, scan=numbers.index(each.scan)) for each in groupings)
    return replace(planned, scans=scans, groupings=moved)


def _grouping(
    number: int, query: Query, grouping: Grouping, scan: int, schema: Schema
) -> PlannedGrouping:
    currency = query.currency or Currency.RHO
    fixed = frozenset(schema.fixed_by(grouping.columns))

    def filtered(policy: Policy) -> Policy:
        return on_filtered(policy, query.filter, schema.dimension_names)

    answers = tuple(
        Charged(answer, filtered(answer.policy(fixed, currency))) for answer in query.answers
    )
    selection = selection_policy(grouping)
    aggregates = [
        aggregate
        for answer in query.answers
        for step in answer.measurements
        for aggregate in step.counted
    ]
    if isinstance(grouping.cells, SelectKeys):
        split = grouping.cells.split
        aggregates.append(Rows() if split is None else Pieces(split))
    buckets = [choice.bucket for answer in query.answers for choice in answer.choices]
    return PlannedGrouping(
        number,
        grouping,
        scan,
        answers,
        None if selection is None else filtered(selection),
        tuple(dict.fromkeys(aggregates)),
        tuple(dict.fromkeys(buckets)),
    )


def _scan(condition: Expression | None, groupings: list[PlannedGrouping], schema: Schema) -> Scan:
    """Return the scan that all these groupings can be read from.

    A set takes in every column that its own columns fix, so that what is grouped by such a column
    alone rolls up from it: states from counties, sectors from industries. That adds no cell.
    """
    every = {column for each in groupings for column in each.grouping.columns}
    wanted: list[GroupSet] = []
    exact: list[GroupSet] = []
    for each in groupings:
        own = each.grouping.columns
        columns: GroupSet = frozenset(own) | (every & schema.fixed_by(own).keys())
        wanted.append(columns)
        wanted.extend(columns | {bucket} for bucket in each.buckets)
        if any(isinstance(aggregate, Different) for aggregate in each.aggregates):
            exact.append(frozenset(own))
    largest = [each for each in wanted if not any(each < other for other in wanted)]
    sets = tuple(dict.fromkeys([*largest, *exact]))
    columns_used = _ordered(column for found in sets for column in _sorted(found))
    if len(sets) > 1 and len(columns_used) > _MOST_COLUMNS:
        raise QueryError(
            f"queries with the same filter group by {len(columns_used)} different columns and "
            f"quantiles; one scan takes {_MOST_COLUMNS}. Ask for some of them apart."
        )
    aggregates = dict.fromkeys(each for found in groupings for each in found.aggregates)
    if any(each.buckets for each in groupings):
        aggregates.setdefault(Rows())
    for each in groupings:
        for charged in each.answers:
            aggregates.update(dict.fromkeys(step.aggregate for step in charged.answer.choices))
    giants = _giants(aggregates, schema)
    if giants is not None:
        aggregates.setdefault(giants)
    return Scan(condition, columns_used, sets, tuple(aggregates), _derived(sets, schema))


def _giants(aggregates: Iterable[Aggregate], schema: Schema) -> Giants | None:
    """Return the count of records whose squares are too large to be added up with the others.

    There are none of a measure that is declared to be smaller.
    """
    squared = [each.measure for each in aggregates if isinstance(each, SquareTotal)]
    unbounded = [name for name in squared if schema.measure(name).largest >= GIANT]
    return Giants(tuple(unbounded)) if unbounded else None


def _derived(sets: tuple[GroupSet, ...], schema: Schema) -> tuple[tuple[str, Expression], ...]:
    """Return the columns that others fix in every set that has them, as functions of those."""

    def fixed(column: str, without: Collection[str]) -> Expression | None:
        common = frozenset.intersection(*(found for found in sets if column in found))
        left = [each for each in common if isinstance(each, str) and each not in without]
        return schema.fixed_by(left).get(column)

    derived: dict[str, Expression] = {}
    for column in _ordered(each for found in sets for each in _sorted(found)):
        if isinstance(column, str):
            without = [*derived, column]
            tried = {each: found for each in without if (found := fixed(each, without))}
            derived = tried if len(tried) == len(without) else derived
    return tuple(derived.items())


def source_set(scan: Scan, columns: Iterable[GroupColumn], *, is_exact: bool = False) -> GroupSet:
    """Return the grouping set of the scan that these columns are read from: the smallest."""
    wanted = frozenset(columns)
    if wanted in scan.sets or is_exact:
        return wanted
    return min((found for found in scan.sets if found >= wanted), key=len)


def _sorted(found: GroupSet) -> list[GroupColumn]:
    return sorted(found, key=lambda each: (isinstance(each, Bucket), str(each)))


def _ordered(columns: Iterable[GroupColumn]) -> tuple[GroupColumn, ...]:
    return tuple(dict.fromkeys(columns))
