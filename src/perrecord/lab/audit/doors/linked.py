"""Two periods through a door: tables of changes, read as they were spelled, and ledgers (T35).

Both periods come in through the same door, and every change is recounted from how the two rows of
an id were spelled. The changes are charged to their own period of a ledger, and to no other.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from perrecord.accounting.ledger import Ledger
from perrecord.errors import LedgerError
from perrecord.lab.audit.changes import CHANGE_KIND, KINDS, RECORD_COUNT, changes
from perrecord.lab.audit.doors.asked import questions, tapered_questions, weighed_question
from perrecord.lab.audit.doors.door import Door
from perrecord.lab.audit.doors.held import Held, random_held
from perrecord.lab.audit.doors.spelling import spelled
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.replay.checks import NOBODY, Check
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.redrawn import recomputed
from perrecord.lab.audit.replay.worlds import WORLD
from perrecord.mechanisms.run import run
from perrecord.policy.policy import Policy
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.session import Session
from perrecord.tables.given import Linked
from perrecord.tables.keys import Keys
from perrecord.tables.measures import Measure
from perrecord.tables.table import Table, table

READING = "the table's own reading of a change"
PERIOD = "what is charged to a period"
NET = "net"
_MOST_STEPS = 2**62 - 1
"""The difference of two values of at most so many steps is a 64-bit integer."""
_ENTER, _LEAVE, _MOVE, _STAY = 0.15, 0.3, 0.5, 0.6
"""Below these an id is in this period alone, in the last alone, moves, or stays as it was."""
_PLACE = ("firm", "sector", "code")
_PERIODS, _BEFORE, _NOW = "2025..2027", "2025", "2026"
_BUDGET = Policy.constant(10**9)


@dataclass(frozen=True, slots=True)
class HeldPeriods:
    """The rows of this period and of the last, with the same columns."""

    this: Held
    last: Held

    @property
    def both(self) -> Held:
        """The rows of both, to ask about what occurs in either."""
        return replace(self.this, rows=(*self.this.rows, *self.last.rows))

    def ids(self) -> list[Any]:
        """Return every id, once."""
        return list(dict.fromkeys(row["id"] for row in self.both.rows))

    def pair(self, each: Any) -> list[dict[str, Any] | None]:
        """Return the rows of an id in this period and in the last."""
        sides = (self.this, self.last)
        return [next((r for r in side.rows if r["id"] == each), None) for side in sides]

    def without(self, each: Any) -> "HeldPeriods":
        """Return the periods without an id."""
        return HeldPeriods(
            *(
                replace(side, rows=tuple(row for row in side.rows if row["id"] != each))
                for side in (self.this, self.last)
            )
        )

    def changed(self) -> "HeldPeriods":
        """Return the periods without one row: of the last, if it has any."""
        if not self.last.rows:
            return replace(self, this=replace(self.this, rows=self.this.rows[1:]))
        return replace(self, last=replace(self.last, rows=self.last.rows[1:]))

    def changes(self, each: Any) -> list[dict[str, Any]]:
        """Return the records of an id, by the audit's own reading of how its rows were spelled."""
        measures = {
            name: Measure(
                each.resolution,
                column=each.column,
                largest=min(each.largest, _MOST_STEPS) * each.resolution,
                outside=each.outside,
            )
            for name, each in self.this.measures.items()
        }
        reader = replace(self.this, measures=measures)
        this, last = (
            None if row is None else {**reader.record(row), NET: 1} for row in self.pair(each)
        )
        return [dict(found) for found in changes(this, last, [*measures, NET, WORLD])]

    def declared(self) -> dict[str, Any]:
        """Return how the table of changes is declared."""
        found = self.this.declared()
        measures = {**self.this.measures, NET: Measure(column=RECORD_COUNT)}
        dimensions = {**found["dimensions"], CHANGE_KIND: CHANGE_KIND}
        return {**found, "dimensions": dimensions, "measures": measures}


def random_periods(random: Random, count: int, door: Door) -> HeldPeriods:
    """Return two periods whose ids stay, change, enter, leave and move."""
    held = random_held(random, count, door.kinds, is_text=door.is_text)
    columns = [each.column or name for name, each in held.measures.items()]
    this, last = [], []
    for place, row in enumerate(held.rows):
        luck = random.random()
        if not _ENTER <= luck < _LEAVE:
            this.append(row)
        if luck < _ENTER:
            continue
        before = dict(row)
        if _LEAVE <= luck < _MOVE:
            other = random.choice(held.rows)
            before |= {name: other[name] for name in _PLACE}
        if luck < _LEAVE or luck >= _STAY:
            before |= {name: spelled(random, held.kinds[name], place) for name in columns}
        last.append(before)
    sides = (replace(held, rows=tuple(rows)) for rows in (this, last))
    return HeldPeriods(*(side.trimmed() if door.is_trimmed else side for side in sides))


@contextmanager
def entered(door: Door, periods: HeldPeriods, random: Random) -> Iterator[Table]:
    """Put both periods in through a door, and open the table of changes."""
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as folder:
        sources: list[Any] = []
        options: dict[str, Any] = {}
        for name, side in (("this", periods.this), ("last", periods.last)):
            (Path(folder) / name).mkdir()
            found = door.open(Path(folder) / name, side, random)
            sources.append(found.source)
            options |= found.options
        linked = Linked(sources[0], last=sources[1])
        with table(linked, **periods.declared(), **options) as opened:
            yield opened


def linked_checks(door: Door, random: Random, count: int, seed: int) -> Iterator[Check]:
    """Yield whether changes that came in through a door are read, run and charged as they must."""
    periods = random_periods(random, count, door)
    both = periods.both
    asked = [*questions(random, both), *tapered_questions(random, both)]
    asked += [weighed_question(random, both), _by_kind()]
    out = random.choice(periods.ids())
    for record, side in ((NOBODY, periods), (periods.ids().index(out), periods.without(out))):
        with entered(door, side, random) as opened:
            yield from _readings(opened, side)
            planned, bits = plan(asked, opened.schema), FrozenBits(seed)
            answers = run(planned, opened, _bits=bits)
            records = [each for name in side.ids() for each in side.changes(name)]
            members = Members(opened.schema, records, {})
        present = range(len(records))
        yield recomputed(planned, members, present, seed, answers, bits.drawn, record)
    yield from _charges(door, periods, random)


def _by_kind() -> Query:
    asked = Query().group_by(CHANGE_KIND, keys=Keys.from_dict({CHANGE_KIND: [*KINDS]}))
    return asked.count(name="n", rho=1).sum(NET, clamp=(-1, 1), name="net", rho="0.5")


def _readings(opened: Table, periods: HeldPeriods) -> Iterator[Check]:
    """Yield whether the table reads the rows of each id as the audit does."""
    for place, each in enumerate(periods.ids()):
        rows = [None if row is None else _plain(row, periods.this) for row in periods.pair(each)]
        read = opened.schema.linked_records(*rows)
        wanted = [{name: record[name] for name in found} for found, record in zip(
            read, periods.changes(each), strict=False)]  # fmt: skip
        is_same = len(read) == len(periods.changes(each)) and read == wanted
        yield Check(READING, place, fault=None if is_same else "other changes than were spelled")


def _plain(row: dict[str, Any], held: Held) -> dict[str, Any]:
    if not held.blank_is_null:
        return row
    return {name: None if value == "" else value for name, value in row.items()}


def _charges(door: Door, periods: HeldPeriods, random: Random) -> Iterator[Check]:
    """Yield whether a session charges changes to their own period, and on one state of the data."""
    asked, luck = _by_kind(), random.random()  # of which files and types are chosen, both times
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as folder:
        path = Path(folder) / "audit.ledger"
        names: dict[str, Any] = {"snapshot": "this"} if door.is_named else {}
        with entered(door, periods, Random(luck)) as opened:  # noqa: S311 - to be repeated
            paid = plan(asked, opened.schema).policy
            session = Session(
                opened,
                ledger=path,
                budget=_BUDGET,
                new=True,
                periods=_PERIODS,
                period=_NOW,
                **names,
            )
            session.ask(asked)
        ledger = Ledger.open(path)
        yield Check(PERIOD, NOBODY, fault=_wrong(ledger, paid, Policy.zero()))
        if names:
            return
        with entered(door, periods.changed(), Random(luck)) as opened:  # noqa: S311 - the same
            other = Session(opened, ledger=path, period=_NOW)
            fault: str | None = "a period was charged on two states of the data"
            try:
                other.ask(asked)
            except LedgerError:
                fault = _wrong(Ledger.open(path), paid, Policy.zero())
            yield Check(PERIOD, NOBODY, fault=fault)
            Session(opened, ledger=path, period=_BEFORE).ask(asked)
        yield Check(PERIOD, NOBODY, fault=_wrong(Ledger.open(path), paid, paid))


def _wrong(ledger: Ledger, now: Policy, before: Policy) -> str | None:
    found: Sequence[Policy] = [ledger.part(each).spent.total() for each in (_NOW, _BEFORE)]
    return None if found == [now, before] else "a period was charged for something else"
