"""What it costs blurred numbers that a record is in its cell, beside the others there (T28)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from perrecord.lab.audit.replay.checks import DIFFERENCE, Check
from perrecord.lab.audit.replay.recount import Members, Recount
from perrecord.laws import DiscreteStudent
from perrecord.laws.blurring import blurred_epsilon_between, blurred_rho_between
from perrecord.policy.terms import Currency
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import Blurring
from perrecord.queries.plan import Plan, PlannedGrouping

_ABOVE = Fraction(1, 1 << 90)
"""By so small a share a price may be above its formula; that of P(r) is rounded in other units."""


def blurred_costs(
    planned: Plan, members: Members, present: Sequence[int], index: int
) -> Iterator[Check]:
    """Yield what a record costs each blurred number at least, by the laws with it and without it.

    The number moves by its value, and A by nu by^2 value^2, from what the others make of it.
    """
    for grouping in planned.groupings:
        query = planned.queries[grouping.query]
        recount = Recount.of(members, present, query.filter)
        if index not in recount.inside:
            continue
        for charged in grouping.answers:
            for step in charged.answer.measurements:
                if step.blurred is not None:
                    lost = _lost(planned, grouping, step, step.blurred, recount, index)
                    allowed = charged.policy.loss(members.records[index])
                    yield Check(DIFFERENCE, index, lost, allowed)


def _lost(
    planned: Plan,
    grouping: PlannedGrouping,
    step: Measurement,
    method: Blurring,
    recount: Recount,
    index: int,
) -> Fraction:
    columns, measure = grouping.grouping.columns, step.measure or ""
    currency = planned.queries[grouping.query].currency or Currency.RHO
    keys = recount.members.keys(columns)
    others = [each for each in recount.inside if keys[each] == keys[index] and each != index]
    noise = step.noise(planned.schema, columns, currency)
    least = noise.law(noise.scales.at({}))
    assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    price = blurred_rho_between if currency is Currency.RHO else blurred_epsilon_between
    before = recount.squares(measure, others)
    after = before + recount.squares(measure, [index])
    shift = recount.number(step.aggregate, [index])
    return price(shift, before, after, least.spread, method.by, least.nu) * (1 - _ABOVE)
