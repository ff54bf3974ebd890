"""One workload on one table: every answer, every grouping, and all together, against P(r)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.lab.audit.replay.answers import answer_checks, places_of
from perrecord.lab.audit.replay.checks import Check
from perrecord.lab.audit.replay.members import Members
from perrecord.lab.audit.replay.selection import selection_checks
from perrecord.lab.audit.replay.worlds import read
from perrecord.noise.bits import BitSource
from perrecord.policy.slots import any_of
from perrecord.queries.plan import Plan
from perrecord.tables.table import Table

GROUPING, WORKLOAD = "a grouping", "a workload"


@dataclass(frozen=True, slots=True)
class Losses:
    """What each record loses by a workload, and what its policy says."""

    checks: tuple[Check, ...]
    """Of single answers and selections, and of each grouping."""
    whole: tuple[Check, ...]
    """Of the workload, one for each record."""


def workload_losses(planned: Plan, opened: Table, members: Members, bits: BitSource) -> Losses:
    """Return what removing each record changes in a workload, compared with its policy."""
    groupings = read(planned, opened, len(members.records) + 1)
    checks: list[Check] = []
    lost: defaultdict[int, Fraction] = defaultdict(Fraction)
    is_tight = [True] * len(members.records)
    for grouping in groupings:
        places = places_of(grouping, members)
        found = [
            check
            for answer in grouping.answers
            for check in answer_checks(grouping, answer, members, places)
        ]
        found += selection_checks(grouping, members, places, bits)
        own: defaultdict[int, Fraction] = defaultdict(Fraction)
        for check in found:
            own[check.record] += check.lost
            lost[check.record] += check.lost
            is_tight[check.record] &= check.lost == check.allowed
        policy = grouping.planned.policy
        checks += found
        checks += [
            Check(GROUPING, record, loss, policy.loss(members.records[record]))
            for record, loss in own.items()
        ]
        takes_part = {check.record for check in found}
        for record in range(len(members.records)):
            is_tight[record] &= record in takes_part
    return Losses(tuple(checks), tuple(_whole(planned, members, lost, is_tight)))


def _whole(
    planned: Plan, members: Members, lost: defaultdict[int, Fraction], is_tight: Sequence[bool]
) -> Iterator[Check]:
    """Yield for each record what all answers together cost it (T4)."""
    policy = planned.policy
    selections = [each.selection for each in planned.groupings if each.selection is not None]
    for index, record in enumerate(members.records):
        fault = None
        if selections and policy.delta(record) < any_of(each.delta(record) for each in selections):
            fault = "its delta is less than that of its selections together"
        yield Check(WORKLOAD, index, lost[index], policy.loss(record), is_tight[index], fault)
