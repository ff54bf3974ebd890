"""Real runs, with and without a record, from the same random bits.

Each side must release exactly what follows from its records and its prices. Where keys are declared
both sides do the same: what is sent to the engine, how many random bits are drawn in which order,
keys, their order, columns and types. Numbers differ in the record's cell alone, and what that
difference costs under the law that was drawn from stays within what was charged.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_tables import DECLARED, Row, arrow
from perrecord.lab.audit.replay.blurred import blurred_costs
from perrecord.lab.audit.replay.checks import DIFFERENCE, NOBODY, TRACE, Check, cost
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.redrawn import recomputed
from perrecord.lab.audit.replay.workloads import is_tight, spare_of
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.run import run
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Ratio, Released
from perrecord.tables.table import Table, table

_NAMES = re.compile(r"_perrecord_(lookup)?[0-9a-f]{12}")
_NARROW = 2**50
"""Noisy numbers well beyond it take a wider type, which follows from the numbers alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All that happened on one side."""

    planned: Plan
    statements: tuple[Any, ...]
    drawn: tuple[int, ...]
    answers: tuple[Answers, ...]


class _Watched:
    """An engine that notes what it is asked to do; random names of tables aside."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.seen: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        if not callable(found):
            return found

        def noted(*given: Any) -> Any:
            self.seen.append((name, *(_plain(each) for each in given)))
            return found(*given)

        return noted


def _plain(given: Any) -> Any:
    if isinstance(given, pa.Table):
        return given.schema.names, given.to_pydict()
    return "listener" if callable(given) else _NAMES.sub("_perrecord", given)


def trace(rows: Sequence[Row], asked: Sequence[Query], seed: int) -> Trace:
    """Return what happens when a workload is run on these rows, with bits from a seed."""
    bits = FrozenBits(seed)
    with table(arrow(rows), **DECLARED) as opened:
        watched, planned = _Watched(opened.engine), plan(asked, opened.schema)
        answers = run(planned, Table(opened.schema, watched), _bits=bits)
    return Trace(planned, tuple(watched.seen), tuple(bits.drawn), tuple(answers))


def trace_checks(
    rows: Sequence[Row],
    members: Members,
    asked: Sequence[Query],
    seed: int,
    without: Sequence[int],
) -> Iterator[Check]:
    """Yield what runs of a workload release on these rows, and without each of some of them.

    The rows are first among the members. Keys that are selected depend on the data and on how much
    noise was drawn before, so that the two sides are then compared no further. How many bits
    blurred noise takes depends on its size: both sides are recomputed, and their laws compared.
    """
    every = range(len(rows))
    whole = trace(rows, asked, seed)
    yield _recomputed(whole, members, every, seed)
    cells = [each.cells for query in asked for each in query.groupings]
    is_declared = not any(isinstance(each, SelectKeys | SelectCells) for each in cells)
    is_blurred = any(
        step.blurred is not None
        for query in asked
        for answer in query.answers
        for step in answer.measurements
    )
    for index in without:
        present = [place for place in every if place != index]
        other = trace([rows[place] for place in present], asked, seed)
        yield _recomputed(other, members, present, seed, index)
        if is_blurred:
            yield from blurred_costs(whole.planned, members, every, index)
        elif is_declared:
            yield Check(TRACE, index, fault=_difference(whole, other, members, index))
            yield from _costs(whole, other, members, index)


def _recomputed(
    side: Trace, members: Members, present: Sequence[int], seed: int, left_out: int = NOBODY
) -> Check:
    return recomputed(side.planned, members, present, seed, side.answers, side.drawn, left_out)


def _costs(whole: Trace, other: Trace, members: Members, index: int) -> Iterator[Check]:
    """Yield what the differences of released numbers cost, under the laws that they state."""
    record = members.records[index]
    for planned, mine, theirs in zip(
        whole.planned.groupings, whole.answers, other.answers, strict=True
    ):
        query = whole.planned.queries[planned.query]
        condition, currency = query.filter, query.currency or Currency.RHO
        key = tuple(record[name] for name in mine.keys.column_names)
        if key not in _keys(mine) or not members.pass_filter(condition)[index]:
            continue
        place = _keys(mine).index(key)
        for charged, first, second in zip(
            planned.answers, mine.columns, theirs.columns, strict=True
        ):
            lost = sum(
                cost(
                    one.laws[one.which[place]],
                    int(one.numbers[place]) - int(two.numbers[place]),
                    currency,
                )
                for one, two in zip(_estimates(first), _estimates(second), strict=True)
            )
            if not isinstance(first, Chosen):
                allowed = mine.policy_of(first.name).loss(record)
                demanded = is_tight(charged.answer, members, index)
                spare = spare_of(charged.answer)
                yield Check(DIFFERENCE, index, Fraction(lost), allowed, demanded, spare=spare)


def _estimates(column: Released) -> list[Estimate]:
    match column:
        case Chosen() | Blurred():
            return []
        case Ratio():
            return [column.total, column.count]
        case _:
            return [column]


def _difference(whole: Trace, other: Trace, members: Members, record: int) -> str | None:
    """Return what differs and should not."""
    if whole.statements != other.statements:
        return "other statements were sent to the engine"
    if whole.drawn != other.drawn:
        return "random bits were drawn in another way"
    if len(whole.answers) != len(other.answers):
        return "there are more or fewer tables"
    for mine, theirs in zip(whole.answers, other.answers, strict=True):
        if not mine.keys.equals(theirs.keys):
            return "other keys were published, or in another order"
        key = tuple(members.records[record][name] for name in mine.keys.column_names)
        fault = _columns_differ(mine, theirs, key)
        if fault is not None:
            return fault
    return None


def _columns_differ(mine: Answers, theirs: Answers, key: tuple[Any, ...]) -> str | None:
    others = np.array([each != key for each in _keys(mine)], dtype=bool)
    if [each.name for each in mine.columns] != [each.name for each in theirs.columns]:
        return "other columns were published"
    for first, second in zip(mine.columns, theirs.columns, strict=True):
        pairs = list(zip(_numbers(first), _numbers(second), strict=True))
        if any((one[others] != two[others]).any() for one, two in pairs):
            return "a number changed in a cell that the record is not in"
        is_narrow = _is_narrow(first) and _is_narrow(second)
        if is_narrow and first.values().type != second.values().type:
            return "a column has another type"
    return None


def _keys(answers: Answers) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in answers.keys.columns]
    return list(zip(*columns, strict=True)) if columns else [()]


def _numbers(column: Released) -> list[Any]:
    if isinstance(column, Chosen | Blurred):
        return [column.drawn]
    return [each.numbers for each in _estimates(column)]


def _is_narrow(column: Released) -> bool:
    if isinstance(column, Chosen):
        return max(map(abs, column.candidates)) < _NARROW
    return all(
        np.abs(each.astype(np.object_)).max(initial=0) < _NARROW for each in _numbers(column)
    )
