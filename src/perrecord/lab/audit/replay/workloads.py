"""One workload on one table: every answer, every grouping, and all together, against P(r).

With and without a record only its own cell may change, and by no more than P.
Under Gaussian noise the divergence of a change is change^2 / (2 sigma^2), under Laplace noise the
log ratio is at most |change| / scale; what a change costs under Student noise, and under noise that
grows with the record, is computed in lines of the audit's own (`tapered.py`, `blurred.py`). A
quantile whose scores change by D at most, chosen at a rate, has eps = 2 rate D, or eps^2 / 8 under
zCDP. All is compared with P(r) as rationals.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perrecord.lab.audit.blurred import blurred_loss
from perrecord.lab.audit.replay.checks import (
    GROUPING,
    TAPERED,
    WORKLOAD,
    Check,
    Places,
    cost,
)
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.selection import selection_checks
from perrecord.lab.audit.replay.worlds import (
    Grown,
    ReadAnswer,
    ReadGrouping,
    WorldNumbers,
    read,
)
from perrecord.laws import DiscreteStudent
from perrecord.mechanisms import quantiles
from perrecord.noise.bits import BitSource
from perrecord.policy.slots import any_of
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Filled, Rows, Total
from perrecord.queries.answers import Answer
from perrecord.queries.measurements import Choice, Measurement
from perrecord.queries.methods import Splitting, Tapering, leaves
from perrecord.queries.plan import Plan
from perrecord.released.numbers import Integers
from perrecord.tables.table import Table

_NEAR = 1e-3
"""Below, two terms of the series are below the loss, and nearly all of it."""


def places_of(grouping: ReadGrouping, members: Members) -> Places:
    """Return the cell of each record that passes the filter and whose key is among the cells."""
    cells = {key: place for place, key in enumerate(grouping.cells())}
    passes = members.pass_filter(grouping.query.filter)
    keys = members.keys(grouping.planned.grouping.columns)
    return [cells.get(key) if inside else None for key, inside in zip(keys, passes, strict=True)]


def answer_checks(
    grouping: ReadGrouping, answer: ReadAnswer, members: Members, places: Places
) -> Iterator[Check]:
    """Yield what each record changes in one answer."""
    asked = answer.charged.answer
    currency = grouping.query.currency or Currency.RHO
    what = kind_of(asked)
    losses: list[Fraction] = [Fraction(0)] * len(places)
    faults: list[str | None] = [None] * len(places)
    for each in answer.noisy:
        _add(each, currency, members, places, losses, faults)
    for choice, scores in answer.chosen:
        _choose(choice, scores, currency, members, places, losses, faults)
    for record, lost in enumerate(losses):
        if lost or places[record] is not None or faults[record]:
            allowed = answer.charged.policy.loss(members.records[record])
            demanded = places[record] is not None and is_tight(asked, members, record)
            spare = spare_of(asked)
            yield Check(what, record, lost, allowed, demanded, faults[record], spare=spare)


def _add(
    noisy: WorldNumbers,
    currency: Currency,
    members: Members,
    places: Places,
    losses: list[Fraction],
    faults: list[str | None],
) -> None:
    """Add what the changes of one number cost, and say which of them should not be."""
    changes = changes_of(noisy.numbers)
    adds = members.adds(noisy.aggregate)
    strays = changes != 0
    for record, place in enumerate(places):
        if place is None:
            continue
        strays[place, record] = False
        change, added = int(changes[place, record]), adds[record]
        if change != added and not (added is None and change in (0, 1)):
            faults[record] = "its cell changed by something else than it adds"
        if change:
            losses[record] += _cost(noisy, place, record, change, currency)
    if noisy.grown is not None:
        _squared(noisy.grown, adds, places, faults)
    for record in np.flatnonzero(strays.any(axis=0)).tolist():
        faults[record] = "a cell changed that the record is not in"


def _cost(
    noisy: WorldNumbers, place: int, record: int, change: int, currency: Currency
) -> Fraction:
    """Return what the change of one number costs, that of its noise included (T28)."""
    law = noisy.laws[noisy.which[place]]
    if noisy.grown is None:
        return cost(law, change, currency)
    assert isinstance(law, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    here, there = (noisy.grown.spread(law, place, world) for world in (0, record + 1))
    return blurred_loss(there, here, law.nu, Fraction(change), currency.value)


def _squared(
    grown: Grown, adds: Sequence[int | None], places: Places, faults: list[str | None]
) -> None:
    """Say whose squares widened other noise than its own cell's, or by something else."""
    changes = changes_of(grown.squares)
    for record, place in enumerate(places):
        expected = np.zeros(len(changes), np.object_)
        if place is not None:
            expected[place] = (adds[record] or 0) ** 2
        if (changes[:, record] != expected).any():
            faults[record] = "noise grew with something else than the squares of its own cell"


def changes_of(numbers: Integers) -> Integers:
    """Return world 0 less every other world, exactly."""
    if numbers.dtype == np.int64 and (np.abs(numbers.astype(np.float64)) < 2.0**62).all():
        return np.asarray(numbers[:, :1] - numbers[:, 1:])
    wide = numbers.astype(np.object_)
    return np.asarray(wide[:, :1] - wide[:, 1:])


def _choose(
    choice: Choice,
    scores: Integers,
    currency: Currency,
    members: Members,
    places: Places,
    losses: list[Fraction],
    faults: list[str | None],
) -> None:
    """Add what changed scores cost, and say which of them should not have changed."""
    changes = np.abs(scores[:, :1] - scores[:, 1:]).max(axis=2)
    rate = quantiles.selection_rate(choice, currency, choice.weight_step(members.schema))
    for record, place in enumerate(places):
        column = changes[:, record]
        most = 0 if place is None else int(column[place])
        if int(column.sum()) != most:
            faults[record] = "scores changed in a cell that the record is not in"
        ratio = 2 * rate * most
        if currency is not Currency.RHO:
            losses[record] += ratio
        elif choice.weight is None:
            losses[record] += ratio**2 / 8
        else:
            losses[record] += weighed_loss(ratio)


def weighed_loss(eta: Fraction) -> Fraction:
    """Return f(eta) of T38 in lines of the audit's own: its series, or y - 1 - ln y (T37).

    Rounded down by the hair that floats may be wrong.
    """
    small = float(eta)
    if small < _NEAR:
        return eta**2 / 8 - eta**4 / 576 if eta else Fraction(0)
    y = small / (1 - math.exp(-small))
    return Fraction((y - 1 - math.log(y)) * (1 - 1e-9))


def is_tight(asked: Answer, members: Members, record: int) -> bool:
    """Tell whether a record that is in a cell must lose all that the policy says.

    Where its column is NULL it is paid for and adds nothing. Decided here once more, so that no
    mistake in what an answer says of itself makes the audit demand less.
    """
    return not asked.choices and all(
        _is_true_loss(step, members.records[record]) for step in asked.measurements
    )


def _is_true_loss(step: Measurement, record: Mapping[str, Any]) -> bool:
    match step.aggregate:
        case Rows():
            return True
        case Filled(column):
            return record[column] is not None
        case Total():
            methods = [leaf.method for leaf in leaves(step.tree)]
            return all(
                isinstance(each, Tapering)
                or (isinstance(each, Splitting) and each.accounting == "exact")
                for each in methods
            )
        case _:
            return False


def spare_of(asked: Answer) -> Fraction:
    """Return by what share of its loss an answer may be charged more, where it is lost whole."""
    methods = [leaf.method for step in asked.measurements for leaf in leaves(step.tree)]
    return TAPERED if any(isinstance(each, Tapering) for each in methods) else Fraction(0)


def kind_of(asked: Answer) -> str:
    """Return the kind of an answer and of its methods, for people."""
    kinds = {leaf.method.kind for step in asked.measurements for leaf in leaves(step.tree)} - {""}
    if not kinds:
        return asked.kind
    return f"{asked.kind}, {kinds.pop() if len(kinds) == 1 else 'each part its own way'}"


@dataclass(frozen=True, slots=True)
class WorkloadChecks:
    """What each record loses by a workload, and what its policy says."""

    checks: tuple[Check, ...]
    """Of single answers and selections, and of each grouping."""
    whole: tuple[Check, ...]
    """Of the workload, one for each record."""


def workload_checks(
    planned: Plan, opened: Table, members: Members, bits: BitSource
) -> WorkloadChecks:
    """Return what removing each record changes in a workload, compared with its policy."""
    groupings = read(planned, opened, len(members.records) + 1)
    checks: list[Check] = []
    lost: defaultdict[int, Fraction] = defaultdict(Fraction)
    is_tight, spare = [True] * len(members.records), Fraction(0)
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
            is_tight[check.record] &= check.is_all_lost
            spare = max(spare, check.spare)
        policy = grouping.planned.policy
        checks += found
        checks += [
            Check(GROUPING, record, loss, policy.loss(members.records[record]))
            for record, loss in own.items()
        ]
        takes_part = {check.record for check in found}
        for record in range(len(members.records)):
            is_tight[record] &= record in takes_part
    return WorkloadChecks(tuple(checks), tuple(_whole(planned, members, lost, is_tight, spare)))


def _whole(
    planned: Plan,
    members: Members,
    lost: defaultdict[int, Fraction],
    is_tight: Sequence[bool],
    spare: Fraction,
) -> Iterator[Check]:
    """Yield for each record what all answers together cost it (T4)."""
    policy = planned.policy
    selections = [each.selection for each in planned.groupings if each.selection is not None]
    for index, record in enumerate(members.records):
        fault = None
        if selections and policy.delta(record) < any_of(each.delta(record) for each in selections):
            fault = "its delta is less than that of its selections together"
        allowed = policy.loss(record)
        yield Check(
            WORKLOAD, index, lost[index], allowed, is_tight[index], fault=fault, spare=spare
        )
