"""The replay audit: random tables and workloads, each record left out in turn, until enough pairs.

Every table comes from its own seed, so that one of them can be repeated alone.
"""

from collections.abc import Callable
from random import Random

from perrecord.audit import random_queries, random_tables
from perrecord.audit.figures import Figures
from perrecord.audit.random_tables import Row
from perrecord.audit.replay.frozen import FrozenBits
from perrecord.audit.replay.members import Members
from perrecord.audit.replay.releases import release_checks
from perrecord.audit.replay.rows import random_rows, rows_checks
from perrecord.audit.replay.tally import MOST_FAILURES, Tally
from perrecord.audit.replay.traces import trace_checks
from perrecord.audit.replay.workloads import workload_losses
from perrecord.audit.replay.worlds import open_worlds
from perrecord.errors import InputError
from perrecord.queries.plan import plan
from perrecord.tables.table import Table

RECORDS = 80
QUESTIONS = 4
_ON_ROWS = 0.12
"""So many of the questions are mechanisms on rows."""
_TINY = 8
"""Every so many tables, one has a few records or a single one, whose neighbour is empty."""
_TRACED_EVERY, _TRACED, _FEW = 6, 20, 13
_RELEASED_EVERY, _RELEASED = 8, 5
"""Every so many tables, so many pairs are run, and released, both ways."""


def replay(
    pairs: int,
    seed: int,
    first: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    most_violations: int = MOST_FAILURES,
) -> Figures:
    """Compare at least so many neighbouring pairs, from a table on; return the figures.

    It gives up after so many violations: one is too many.
    """
    if pairs < 1 or first < 0:
        raise InputError(
            f"{pairs} pairs were asked for, from table {first} on; expected at least one, from 0."
        )
    tally = Tally(pairs, most_violations)
    number = first
    while not tally.is_done:
        _table(number, seed, tally)
        tally.tables += 1
        number += 1
        progress(min(tally.pairs, pairs))
    return tally.figures(seed)


def _table(number: int, seed: int, tally: Tally) -> None:
    """Compare the pairs of one random table."""
    where = f"seed {seed}, table {number} (repeat it with --seed {seed} --first {number} --pairs 1)"
    random = Random(f"perrecord replay {seed} {number}")  # noqa: S311 - to be repeated
    count = random.randrange(1, 4) if number % _TINY == _TINY - 1 else RECORDS
    rows = random_tables.rows(random, count, unique=False)
    try:
        with open_worlds(rows) as opened:
            members = Members.of(opened.schema, rows)
            for question in range(QUESTIONS):
                if not tally.has_failed:
                    _question(
                        random, opened, members, number, tally, f"{where}, question {question}"
                    )
        if number % _TRACED_EVERY == 0 and not tally.has_failed:
            _traced(random, rows, members, number, tally, where)
        if number % _RELEASED_EVERY == 3 and not tally.has_failed:
            tally.add(release_checks(random, _RELEASED, number), where)
    except Exception as error:  # whatever the data, nothing here may fail
        tally.fail(f"{where}: {type(error).__name__}: {error}")


def _traced(
    random: Random, rows: list[Row], members: Members, number: int, tally: Tally, where: str
) -> None:
    """Run questions with and without records of so small tables that most cells empty with one."""
    done = 0
    while done < _TRACED and not tally.has_failed:
        few = rows[: random.randrange(1, _FEW)]
        tally.add(trace_checks(few, members, [random_queries.query(random)], number), where)
        done += len(few)


def _question(
    random: Random, opened: Table, members: Members, number: int, tally: Tally, where: str
) -> None:
    """Ask one thing of a table, and hold what every record loses against its policy."""
    tally.workloads += 1
    if random.random() < _ON_ROWS:
        tally.add(rows_checks(random_rows(random), opened, members), where)
        return
    planned = plan(random_queries.workload(random), opened.schema)
    found = workload_losses(planned, opened, members, FrozenBits(number))
    tally.add(found.checks, where)
    tally.add(found.whole, where)
