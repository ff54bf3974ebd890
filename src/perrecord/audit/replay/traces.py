"""Control flow: with the same random bits both sides do the same, but for the record's own cell.

Each side is run for real. What is sent to the engine, how many random bits are drawn in which
order, keys, their order, columns and types must be the same; numbers may differ in the record's
cell alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.audit.random_tables import DECLARED, Row, arrow
from perrecord.audit.replay.checks import Check
from perrecord.audit.replay.frozen import FrozenBits
from perrecord.audit.replay.members import Members
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.released import Chosen, Ratio, Released
from perrecord.mechanisms.run import run
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.table import Table, table

TRACE = "control flow"
_NAMES = re.compile(r"_perrecord_(lookup)?[0-9a-f]{12}")
_NARROW = 2**50
"""Noisy numbers well beyond it take a wider type, which follows from the numbers alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All that happened on one side."""

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
    return _NAMES.sub("_perrecord", given)


def trace(rows: Sequence[Row], asked: Sequence[Query], seed: int) -> Trace:
    """Return what happens when a workload is run on these rows, with bits from a seed."""
    bits = FrozenBits(seed)
    with table(arrow(rows), **DECLARED) as opened:
        watched = _Watched(opened.engine)
        answers = run(plan(asked, opened.schema), Table(opened.schema, watched), _bits=bits)
    return Trace(tuple(watched.seen), tuple(bits.drawn), tuple(answers))


def trace_checks(
    rows: Sequence[Row], members: Members, asked: Sequence[Query], seed: int
) -> Iterator[Check]:
    """Yield for each of the rows, which are first among the members, whether it makes a difference.

    Keys must be declared: selected ones hang on the data.
    """
    whole = trace(rows, asked, seed)
    for index in range(len(rows)):
        kept = [row for place, row in enumerate(rows) if place != index]
        fault = _difference(whole, trace(kept, asked, seed), members, index)
        yield Check(TRACE, index, fault=fault)


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
    keys = list(zip(*(column.to_pylist() for column in mine.keys.columns), strict=True)) or [()]
    others = np.array([each != key for each in keys], dtype=bool)
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


def _numbers(column: Released) -> list[Any]:
    match column:
        case Chosen():
            return [column.index]
        case Ratio():
            return [column.total.numbers, column.count.numbers]
        case _:
            return [column.numbers]


def _is_narrow(column: Released) -> bool:
    if isinstance(column, Chosen):
        return max(map(abs, column.candidates)) < _NARROW
    return all(
        np.abs(each.astype(np.object_)).max(initial=0) < _NARROW for each in _numbers(column)
    )
