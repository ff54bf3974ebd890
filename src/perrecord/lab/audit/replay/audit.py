"""The replay audit: random tables and workloads, each record left out in turn, until enough pairs.

A pair is a table and the same table without one record; each is asked one workload. Every table
comes from its own seed, so that one of them can be repeated alone.
"""

from collections.abc import Callable
from random import Random

from perrecord.errors import InputError
from perrecord.lab.audit import random_blurs, random_queries, random_tables, random_tapers
from perrecord.lab.audit.figures import Figures
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_sql import sql_query
from perrecord.lab.audit.random_tables import Row
from perrecord.lab.audit.replay.checks import MOST_FAILURES, WORKLOAD, Tally
from perrecord.lab.audit.replay.derived import derived_checks
from perrecord.lab.audit.replay.linked import history_checks, linked_checks
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.releases import Seeds, release_checks
from perrecord.lab.audit.replay.rows import random_rows, rows_checks
from perrecord.lab.audit.replay.selection import promise_checks
from perrecord.lab.audit.replay.traces import trace_checks
from perrecord.lab.audit.replay.workloads import workload_checks
from perrecord.lab.audit.replay.worlds import open_worlds
from perrecord.policy.terms import Currency
from perrecord.queries.plan import plan
from perrecord.tables.table import Table

RECORDS = 120
_ON_ROWS = 0.12
"""So many of the questions are mechanisms on rows."""
_TINY = 8
"""Every so many tables, one has a few records or a single one, whose neighbour is empty."""
_TRACED_EVERY, _FEW, _LEFT_OUT = 12, 13, 3
"""Every so many tables, so few of its records are run for real, some of them left out in turn."""
_RELEASED_EVERY, _RELEASED = 24, 2
"""Every so many tables, so many pairs are released both ways."""
_DERIVED_EVERY = 6
"""Every so many tables, derived measures and a weight are declared and asked for."""
_TAPERED_EVERY = 2
"""Every so many tables, the workload has a blurred question more, and between them a tapered."""
_PROMISES = 2
_LINKED_EVERY, _LINKED, _HISTORIES = 24, 30, 12
"""Every so many tables, so many ids in two linked periods, each record left out in turn; and so
many histories over several periods."""


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
        number += 1
        progress(min(tally.pairs, pairs))
    return tally.figures(seed)


def _table(number: int, seed: int, tally: Tally) -> None:
    """Compare the pairs of one random table."""
    where = f"seed {seed}, table {number} (repeat it with --seed {seed} --first {number} --pairs 1)"
    random = Random(f"perrecord replay {seed} {number}")  # noqa: S311 - to be repeated
    # Tapers have a seed of their own, so that all other questions are what they were without them;
    # and so have blurred totals and tables that add up.
    tapers = Random(f"perrecord replay tapers {seed} {number}")  # noqa: S311 - the same
    blurs = Random(f"perrecord replay blurs {seed} {number}")  # noqa: S311 - the same
    sums = Random(f"perrecord replay sums {seed} {number}")  # noqa: S311 - the same
    count = random.randrange(1, 4) if number % _TINY == _TINY - 1 else RECORDS
    rows = random_tables.rows(random, count, unique=False)
    try:
        with open_worlds(rows) as opened:
            members = Members.of(opened.schema, rows)
            _question(random, tapers, blurs, opened, members, number, tally, where)
        tally.tables += 1
        tally.pairs += count
        tally.add(promise_checks(random, _PROMISES), where)
        if number % _DERIVED_EVERY == 2:
            derived = Random(f"perrecord replay derived {seed} {number}")  # noqa: S311 - the same
            tally.add(derived_checks(derived, rows, number), where)
        if number % _TRACED_EVERY == 0 and not tally.has_failed:
            _traced(random, tapers, rows, members, number, tally, where)
            _traced_blurs(blurs, rows, members, number, tally, where)
        if number % _RELEASED_EVERY == 3 and not tally.has_failed:
            series = Random(f"perrecord replay series {seed} {number}")  # noqa: S311 - the same
            seeds = Seeds(random, tapers, blurs, sums, series)
            tally.add(release_checks(seeds, _RELEASED, number), where)
        if number % _LINKED_EVERY == 5 and not tally.has_failed:
            linked = Random(f"perrecord replay linked {seed} {number}")  # noqa: S311 - the same
            found = list(linked_checks(linked, linked, _LINKED, number))
            tally.pairs += sum(check.what == WORKLOAD for check in found)
            tally.add(found, where)
            tally.add(history_checks(linked, _HISTORIES), where)
    except Exception as error:  # whatever the data, nothing here may fail
        tally.fail(f"{where}: {type(error).__name__}: {error}")


def _traced(
    random: Random,
    tapers: Random,
    rows: list[Row],
    members: Members,
    number: int,
    tally: Tally,
    where: str,
) -> None:
    """Run questions with and without records of so small tables that most cells empty with one."""
    for most in (_LEFT_OUT, 1):
        asked = random_queries.to_run(random, selects=most == 1)
        asked.append(sql_query(random, members.schema))
        if most == 1:
            asked.append(random_tapers.sql_query(tapers, members.schema))
        else:
            asked.append(random_tapers.query(tapers, tapers.choice(["rho", "epsilon"])))
        if not tally.has_failed:
            few = rows[: random.randrange(1, _FEW)]
            left_out = random.sample(range(len(few)), min(most, len(few)))
            tally.add(trace_checks(few, members, asked, number, left_out), where)


def _traced_blurs(
    blurs: Random, rows: list[Row], members: Members, number: int, tally: Tally, where: str
) -> None:
    """Run blurred questions by themselves: how many bits they take depends on the records."""
    currency = blurs.choice(["rho", "epsilon"])
    asked = [make(blurs, currency) for make in (random_blurs.query, random_blurs.scaled_query)]
    few = rows[: blurs.randrange(1, _FEW)]
    if not tally.has_failed:
        left_out = blurs.sample(range(len(few)), 1)
        tally.add(trace_checks(few, members, asked, number, left_out), where)


def _question(
    random: Random,
    tapers: Random,
    blurs: Random,
    opened: Table,
    members: Members,
    number: int,
    tally: Tally,
    where: str,
) -> None:
    """Ask one thing of a table, and compare what every record loses with its policy."""
    if random.random() < _ON_ROWS:
        tally.add(rows_checks(random_rows(random), opened, members), where)
        return
    asked = random_queries.workload(random)
    currency = (asked[0].currency or Currency.RHO).value
    if number % _TAPERED_EVERY:
        asked.append(random_tapers.query(tapers, currency))
    else:
        asked.append(random_blurs.query(blurs, currency))
    planned = plan(asked, opened.schema)
    found = workload_checks(planned, opened, members, FrozenBits(number))
    tally.add(found.checks, where)
    tally.add(found.whole, where)
