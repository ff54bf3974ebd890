"""Two linked periods, replayed: tables of changes without each record, and histories (T35).

A table of changes is put together in Python, id by id, and compared with what the engine makes of
two files: without each of its records in turn, so that every exact integer is compared with what
that record adds and with P(r); and without each establishment, in a base and in the changes of
several periods, so that what its whole history loses is compared with what is published of it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.lab.audit import random_queries, random_tables, random_tapers
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_tables import DECLARED, SCHEMA, VALUES, Row
from perrecord.lab.audit.replay.checks import HISTORY, TAPERED, Check, cost
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.workloads import changes_of, workload_checks
from perrecord.lab.audit.replay.worlds import WORLD, read
from perrecord.policy.changes import unit_loss
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.release.outputs import outputs_of
from perrecord.tables.given import Linked
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table, table

_ENTER, _LEAVE, _MOVE = 0.15, 0.3, 0.5
"""Below these an id is in this period alone, in the last alone, or in both at other dimensions."""

Pair = tuple[Row | None, Row | None]
"""The rows of one id in this period and in the last."""

_WORLDS = pa.schema([*SCHEMA, pa.field(WORLD, pa.int64())])
_DIMENSIONS = {**DECLARED["dimensions"], WORLD: WORLD}
_DECLARED = {**DECLARED, "dimensions": _DIMENSIONS}


def random_pairs(random: Random, count: int) -> list[Pair]:
    """Return rows of two periods that stay, change, enter, leave and move."""
    rows = random_tables.rows(random, count)
    others = random_tables.rows(random, count)
    return [_pair(random, row, other) for row, other in zip(rows, others, strict=True)]


def _pair(random: Random, row: Row, other: Row) -> Pair:
    luck = random.random()
    if luck < _ENTER:
        return row, None
    if luck < _LEAVE:
        return None, row
    if luck < _MOVE:
        return row, other
    changed = {name: other[name] for name in ("emp", "pay", "rent", "mass")}
    return row, {**row, **changed} if random.random() < _MOVE else row


def open_pairs(worlds: Sequence[Sequence[Pair]]) -> Table:
    """Open tables of changes, one for each world, as one source of two files."""
    sides = []
    for side in (0, 1):
        rows = [
            {**row, "id": world * len(worlds[0]) * 2 + place, WORLD: world}
            for world, pairs in enumerate(worlds)
            for place, row in enumerate(pair[side] for pair in pairs)
            if row is not None
        ]
        sides.append(pa.Table.from_pylist(rows, schema=_WORLDS))
    return table(Linked(sides[0], last=sides[1]), **_DECLARED)


def records_of(opened: Table, pair: Pair) -> list[dict[str, Any]]:
    """Return the records of one id, by their meaning in Python."""
    this, last = ({**row, WORLD: 0} if row is not None else None for row in pair)
    return opened.schema.linked_records(this, last)


def linked_checks(random: Random, tapers: Random, count: int, seed: int) -> Iterator[Check]:
    """Yield what removing each record of a table of changes costs, against its policy."""
    pairs = random_pairs(random, count)
    with open_pairs([pairs]) as opened:
        sizes = [len(records_of(opened, pair)) for pair in pairs]
    left: list[list[Pair]] = []
    for place, ((this, last), size) in enumerate(zip(pairs, sizes, strict=True)):
        without: list[Pair] = [(None, None)] if size == 1 else [(None, last), (this, None)]
        left += [[*pairs[:place], kept, *pairs[place + 1 :]] for kept in without]
    with open_pairs([pairs, *left]) as opened:
        records = [record for pair in pairs for record in records_of(opened, pair)]
        members = Members(opened.schema, records, {})
        asked = random_queries.workload(random)
        currency = asked[0].currency or Currency.RHO
        asked.append(random_tapers.query(tapers, currency.value))
        found = workload_checks(plan(asked, opened.schema), opened, members, FrozenBits(seed))
        yield from found.checks
        yield from found.whole


# -- histories --------------------------------------------------------------------------------


_SECTORS = Keys.from_dict({"sector": [each for each in VALUES["sector"] if each is not None]})
_SIZES = Keys.from_dict({"size": ["small", "large"]})
ASKED = (
    Query()
    .group_by("sector", keys=_SECTORS)
    .count(rho="0.1", name="n")
    .sum("emp", split=Split(emp=50), rho="0.2", accounting="exact", name="emp")
    .sum("pay", taper=50, rho="0.3", name="pay"),
    Query()
    .group_by("size", keys=_SIZES)
    .sum("emp", taper=40, rho="0.2", name="emp")
    .sum("rent", clamp=(-20, 30), rho="0.1", name="rent"),
    Query().sum("emp", split=Split(emp=10), rho="0.1", name="all"),
)
"""What is asked of every period: counts, split, tapered and clamped totals, fine and coarse."""


def history_checks(random: Random, count: int) -> Iterator[Check]:
    """Yield what each establishment loses over several periods, by a base and by changes.

    What is lost is added up from the exact integers of every period without it; what is allowed is
    what the published outputs say of all its records together (T34), period by period.
    """
    periods = [random_tables.rows(random, count)]
    for _ in range(random.randrange(1, 4)):
        pairs = [_pair(random, row, other) for row, other in _next(random, periods[-1], count)]
        periods.append([this for this, _ in pairs if this is not None])
    sides = [{row["id"]: row for row in rows} for rows in periods]
    ids = sorted(frozenset[int]().union(*sides))
    lost: defaultdict[int, Fraction] = defaultdict(Fraction)
    allowed: defaultdict[int, Fraction] = defaultdict(Fraction)
    for period, this in enumerate(sides):
        last = sides[period - 1] if period else {}
        pairs_now = [(this.get(each), last.get(each)) for each in ids]
        _add_period(pairs_now, lost, allowed)
    for place in range(len(ids)):
        yield Check(HISTORY, place, lost[place], allowed[place] * (1 + TAPERED))


def _next(random: Random, rows: Sequence[Row], count: int) -> Iterator[tuple[Row, Row]]:
    """Yield for each row what it may become, and rows of new ids."""
    others = random_tables.rows(random, len(rows) + count // 4)
    for row, other in zip(rows, others, strict=False):
        yield {**other, "id": row["id"]}, row
    top = max((row["id"] for row in rows), default=0) + 1
    for place, other in enumerate(others[len(rows) :]):
        yield {**other, "id": top + place}, other


def _add_period(
    pairs: Sequence[Pair],
    lost: defaultdict[int, Fraction],
    allowed: defaultdict[int, Fraction],
) -> None:
    """Add what each id loses by one period; the base is the changes from a period without rows."""
    without = [[*pairs[:place], (None, None), *pairs[place + 1 :]] for place in range(len(pairs))]
    with open_pairs([pairs, *without]) as opened:
        planned = plan(list(ASKED), opened.schema)
        outputs = outputs_of(planned)
        for place, found in enumerate(_losses(planned, opened, len(pairs) + 1)):
            lost[place] += found
        for place, pair in enumerate(pairs):
            records = records_of(opened, pair)
            if records:
                allowed[place] += unit_loss(outputs, records).amount


def _losses(planned: Plan, opened: Table, worlds: int) -> list[Fraction]:
    """Return what leaving out each world's id costs in all noisy numbers of a plan."""
    found = [Fraction(0)] * (worlds - 1)
    for grouping in read(planned, opened, worlds):
        currency = grouping.query.currency or Currency.RHO
        for answer in grouping.answers:
            for noisy in answer.noisy:
                changes = changes_of(noisy.numbers)
                for cell, own in enumerate(changes.tolist()):
                    for world, change in enumerate(own):
                        if change:
                            law = noisy.laws[noisy.which[cell]]
                            found[world] += cost(law, int(change), currency)
    return found
