"""Derived measures and weights, compared as everything else is, and each computed once more."""

from collections.abc import Iterator, Sequence
from random import Random

from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_derived import derived_table, query
from perrecord.lab.audit.random_tables import Row
from perrecord.lab.audit.replay.checks import DERIVED, Check
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.workloads import workload_checks
from perrecord.lab.audit.replay.worlds import open_worlds
from perrecord.queries.plan import plan


def derived_checks(random: Random, rows: Sequence[Row], number: int) -> Iterator[Check]:
    """Yield whether every record's measures are what they should be, and what it loses by them."""
    found = derived_table(random)
    with open_worlds(rows, found.declared) as opened:
        members = Members.of(opened.schema, rows)
        for place, record in enumerate(members.records):
            wrong = next(found.faults(record), None)
            fault = None if wrong is None else f"the measure {wrong} is another than it should be"
            yield Check(DERIVED, place, fault=fault)
        planned = plan([query(random, found, random.choice(["rho", "epsilon"]))], opened.schema)
        checked = workload_checks(planned, opened, members, FrozenBits(number))
        yield from checked.checks
        yield from checked.whole
