"""Rows that any zCDP mechanism may see: a record becomes pieces(r) of them, others stay (T8)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from perrecord.lab.audit.random_queries import AMOUNTS, FILTERS, scheme
from perrecord.lab.audit.random_tables import MEASURES
from perrecord.lab.audit.replay.checks import ROWS, Check
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.worlds import WORLD
from perrecord.mechanisms.rows import plan_rows, run_rows
from perrecord.policy.split import Scheme
from perrecord.tables.parse import parse_expression
from perrecord.tables.table import Table

_COLUMNS = ["id", "firm", "sector", "code", "big", "head", "zone", *MEASURES]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """A mechanism on rows: which columns, how split, which records, at what price."""

    columns: tuple[str, ...]
    split: Scheme | None
    where: str | None
    rho: str | int


def random_rows(random: Random) -> RowsAsked:
    """Return random columns, a capped scheme or none, a filter, an amount."""
    columns = random.sample(_COLUMNS, random.randrange(1, len(_COLUMNS) + 1))
    split = None
    if random.random() < 0.9:
        split = scheme(random, random.choice(list(MEASURES))).capped(random.choice([1, 2, 7, 20]))
    where = random.choice(FILTERS) if random.random() < 0.7 else None
    return RowsAsked(tuple(columns), split, where, random.choice(AMOUNTS))


def rows_checks(asked: RowsAsked, opened: Table, members: Members) -> Iterator[Check]:
    """Yield what each record changes in the rows that a mechanism is given."""
    planned = plan_rows(
        opened,
        lambda rows: rows,
        columns=[WORLD, *asked.columns],
        rho=asked.rho,
        split=asked.split,
        where=asked.where,
    )
    given = run_rows(planned, opened).result
    worlds: list[Counter[Row]] = [Counter() for _ in range(len(members.records) + 1)]
    for world, *row in zip(*(column.to_pylist() for column in given.columns), strict=True):
        worlds[world][tuple(row)] += 1
    condition = None if asked.where is None else parse_expression(asked.where)
    passes = members.pass_filter(condition)
    for index, record in enumerate(members.records):
        mine, others = worlds[0] - worlds[index + 1], worlds[index + 1] - worlds[0]
        fault = "rows of other records changed" if others else None
        if not passes[index]:
            if mine or fault:
                yield Check(ROWS, index, fault=fault or "a row of a record that is filtered out")
            continue
        pieces = 1 if asked.split is None else asked.split.pieces(record)
        if mine.total() != pieces:
            fault = "the record became another number of rows than its pieces"
        fault = fault or _fault(asked, members, record, mine)
        # A mechanism that is rho-zCDP for one row: J rows cost rho J^2 (T7).
        lost = Fraction(asked.rho) * mine.total() ** 2
        yield Check(ROWS, index, lost, planned.policy.loss(record), is_tight=True, fault=fault)


def _fault(
    asked: RowsAsked, members: Members, record: dict[str, Any], rows: Counter[Row]
) -> str | None:
    """Return what is wrong with the rows of one record: they sum up to it, each within reach."""
    split = None if asked.split is None else asked.split.at(record)
    limits = {} if split is None else dict(split.thresholds)
    for place, name in enumerate(asked.columns):
        values = [row[place] for row in rows.elements()]
        if name not in MEASURES or record[name] is None:
            if any(value != record[name] for value in values):
                return f"{name} is not what the record holds"
            continue
        step = members.schema.measure(name).resolution
        whole = record[name] / step
        if name not in limits:
            if any(value != whole for value in values):
                return f"{name}, which is not split, is not what the record holds"
            continue
        limit = limits[name] / step
        most = limit * rows.total()
        if any(abs(value) > limit for value in values):
            return f"a piece of {name} exceeds its threshold"
        if sum(values) != min(max(whole, -most), most):
            return f"the pieces of {name} do not sum up"
    return None
