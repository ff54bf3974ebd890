"""The replay audit through every door, until enough pairs of neighbours were compared.

A table goes in twice over: once beside itself without each of its records, so that every exact
integer of every pair is compared with what the record adds by the audit's own reading of how it was
spelled, and with P(r); and as two real sources, one without a record, each run with frozen bits and
computed anew. Where the sources of a door can be linked, two periods go through it too, with and
without an id (`linked`). Every table comes from its own seed.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import Random

from perrecord.errors import InputError
from perrecord.lab.audit.doors.asked import questions, tapered_questions, weighed_question
from perrecord.lab.audit.doors.databases import database_doors
from perrecord.lab.audit.doors.door import Door
from perrecord.lab.audit.doors.frames import frame_doors
from perrecord.lab.audit.doors.held import Held, random_held
from perrecord.lab.audit.doors.linked import READING as READING_CHANGES
from perrecord.lab.audit.doors.linked import linked_checks
from perrecord.lab.audit.doors.measurements import MEASUREMENT, measurement_checks
from perrecord.lab.audit.doors.other_files import other_file_doors
from perrecord.lab.audit.doors.parquet import parquet_doors
from perrecord.lab.audit.doors.spark import spark_doors
from perrecord.lab.audit.doors.text_files import text_doors
from perrecord.lab.audit.figures import Figures, FiguresTable, number
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.replay.checks import MOST_FAILURES, NOBODY, Check, Tally
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.redrawn import recomputed
from perrecord.lab.audit.replay.workloads import workload_checks
from perrecord.mechanisms.run import run
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.table import Table, table

READING = "the policy's own reading of a record"
BY_SESSION = "a session, with OpenDP measurements"
_TINY = 8
"""One in so many tables has a few records or a single one, whose neighbour is empty."""
_LINKED = 12
"""So many records at most have two periods that are linked."""
_MEASURED_EVERY = 4
"""Every so many rounds through the doors, measurements are run."""


def every_door() -> list[Door]:
    """Return every way for records to come in."""
    files = [*text_doors(), *parquet_doors(), *other_file_doors()]
    return [*files, *frame_doors(), *database_doors(), *spark_doors()]


@dataclass(slots=True)
class DoorsTally:
    """What was compared at which door."""

    checks: Tally
    pairs: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    linked: Counter[str] = field(default_factory=Counter)
    """Tables of changes."""


def doors_audit(
    pairs: int,
    seed: int,
    *,
    doors: Sequence[Door] | None = None,
    measures: bool = True,
    first: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    most_violations: int = MOST_FAILURES,
) -> Figures:
    """Compare at least so many neighbouring pairs, door after door; return the figures.

    With `measures` OpenDP measurements are run too. It gives up after so many violations.
    """
    if pairs < 1 or first < 0:
        raise InputError(
            f"{pairs} pairs were asked for, from round {first} on; expected at least one, from 0."
        )
    every = every_door() if doors is None else doors
    tried = [door for door in every if not door.missing()]
    measures = measures and find_spec("opendp") is not None
    tally = DoorsTally(Tally(pairs, most_violations))
    place = first
    while not tally.checks.is_done:
        for door in tried:
            if (place - first) % door.every == 0 and not tally.checks.is_done:
                _table(door, place, seed, tally)
                progress(min(tally.checks.pairs, pairs))
        if measures and (place - first) % _MEASURED_EVERY == 0 and not tally.checks.has_failed:
            _measured(place, seed, tally)
        place += 1
    return _figures(tally, every, seed)


def _measured(place: int, seed: int, tally: DoorsTally) -> None:
    """Compare what measurements are given of one random table and of its neighbours."""
    random = Random(f"perrecord measurements {seed} {place}")  # noqa: S311 - to be repeated
    checks = list(measurement_checks(random))
    tally.checks.add(checks, f"{BY_SESSION}, seed {seed}, round {place}")
    count = sum(each.what == MEASUREMENT and each.record != NOBODY for each in checks)
    tally.checks.pairs += count
    tally.pairs[BY_SESSION] += count
    tally.tables[BY_SESSION] += 1


def _table(door: Door, place: int, seed: int, tally: DoorsTally) -> None:
    """Compare the pairs of one random table at one door."""
    where = f"{door.name}, seed {seed}, round {place}"
    random = Random(f"perrecord doors {seed} {place} {door.name}")  # noqa: S311 - to be repeated
    # Tapers have a seed of their own, so that all other questions are what they were without them.
    tapers = Random(f"perrecord doors tapers {seed} {place} {door.name}")  # noqa: S311 - the same
    weights = Random(f"perrecord doors weights {seed} {place} {door.name}")  # noqa: S311 - the same
    count = random.randrange(1, 4) if random.randrange(_TINY) == 0 else door.records
    held = random_held(random, count, door.kinds, is_text=door.is_text)
    held = held.trimmed() if door.is_trimmed else held
    try:
        asked = [*questions(random, held), *tapered_questions(tapers, held)]
        asked.append(weighed_question(weights, held))
        with entered(door, held.worlds(), random) as opened:
            members = members_of(opened, held)
            tally.checks.add(_readings(opened, held, members), where)
            found = workload_checks(plan(asked, opened.schema), opened, members, FrozenBits(place))
            tally.checks.add(found.checks, where)
            tally.checks.add(found.whole, where)
        if not tally.checks.has_failed:
            tally.checks.add(_runs(door, held, asked, random, place), where)
        if door.is_linked and not tally.checks.has_failed:
            linked = Random(f"perrecord doors linked {seed} {place} {door.name}")  # noqa: S311
            few = min(count, _LINKED)
            found_linked = list(linked_checks(door, linked, few, place))
            tally.checks.add(found_linked, f"{where}, two periods")
            tally.linked[door.name] += 1
    except Exception as error:  # whatever the data, nothing here may fail
        tally.checks.fail(f"{where}: {type(error).__name__}: {error}")
    tally.checks.pairs += count
    tally.pairs[door.name] += count
    tally.tables[door.name] += 1


@contextmanager
def entered(door: Door, held: Held, random: Random) -> Iterator[Table]:
    """Put records in through a door, and open the table for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as folder:
        found = door.open(Path(folder), held, random)
        with table(found.source, **held.declared(), **found.options) as opened:
            yield opened


def members_of(opened: Table, held: Held) -> Members:
    """Return the records by the audit's own reading of how they were spelled."""
    return Members(opened.schema, [held.record(row) for row in held.rows], {})


def _readings(opened: Table, held: Held, members: Members) -> Iterator[Check]:
    """Yield whether the policy reads each record as the audit does."""
    for index, (row, record) in enumerate(zip(held.rows, members.records, strict=True)):
        plain = {name: None if value == "" else value for name, value in row.items()}
        read = opened.schema.record(plain if held.blank_is_null else row)
        wrong = sorted(name for name, value in read.items() if value != record[name])
        fault = f"another value of {', '.join(wrong)} than was spelled" if wrong else None
        yield Check(READING, index, fault=fault)


def _runs(door: Door, held: Held, asked: list[Query], random: Random, seed: int) -> Iterator[Check]:
    """Yield whether real runs, with all records and without one, release what they must."""
    left_out = random.randrange(len(held.rows))
    for record, side in ((NOBODY, held), (left_out, held.without(left_out))):
        with entered(door, side, random) as opened:
            planned, bits = plan(asked, opened.schema), FrozenBits(seed)
            answers = run(planned, opened, _bits=bits)
            members = members_of(opened, side)
        present = range(len(side.rows))
        yield recomputed(planned, members, present, seed, answers, bits.drawn, record)


def _figures(tally: DoorsTally, every: Sequence[Door], seed: int) -> Figures:
    checks = tally.checks
    figures = (
        ("neighbouring pairs: a source, and it without one record", number(checks.pairs)),
        ("violations", number(checks.violations)),
        ("doors", number(len(tally.tables))),
        ("random tables", number(sum(tally.tables.values()))),
        ("tables of changes, from two periods", number(sum(tally.linked.values()))),
        ("readings of a record by its policy compared", number(checks.made[READING])),
        ("readings of a change compared", number(checks.made[READING_CHANGES])),
        ("answers, selections and runs compared", number(_compared(checks))),
        ("released numbers recomputed", number(checks.numbers)),
        ("seed", str(seed)),
    )
    rows = []
    for door in every:
        missing = ", ".join(door.missing())
        shown = f"not tried: needs {missing}" if missing else number(tally.pairs[door.name])
        counted = number(tally.tables[door.name]), number(tally.linked[door.name])
        rows.append((door.name, shown, *counted))
    session = tally.pairs[BY_SESSION]
    rows.append((BY_SESSION, number(session), number(tally.tables[BY_SESSION]), number(0)))
    heads = ("door", "pairs", "tables", "of changes")
    by_door = FiguresTable("Pairs by door", heads, tuple(rows))
    by_kind = FiguresTable(
        "What was compared",
        ("kind", "compared"),
        tuple((kind, number(count)) for kind, count in sorted(checks.made.items())),
    )
    return Figures("doors", figures, (by_door, by_kind), tuple(checks.failures))


def _compared(checks: Tally) -> int:
    return sum(checks.made.values()) - checks.made[READING] - checks.made[READING_CHANGES]
