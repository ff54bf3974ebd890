"""Each answer with and without each record: only its own cell may change, and by no more than P.

Under Gaussian noise the divergence of a change is change^2 / (2 sigma^2), under Laplace noise the
log ratio is at most |change| / scale. A quantile whose scores change by D at most, chosen at a
rate, has eps = 2 rate D, or eps^2 / 8 under zCDP. All is compared with P(r) as rationals.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from perrecord.audit.replay.checks import Check
from perrecord.audit.replay.members import Members
from perrecord.audit.replay.worlds import Noisy, ReadAnswer, ReadGrouping
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, Law
from perrecord.mechanisms import quantiles
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.cells import Integers
from perrecord.queries.methods import Clamping, Splitting, leaves, tree_of

Places = list[int | None]
"""For each record the cell that it is in; None if it is in none."""


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
    if isinstance(asked, Quantile):
        losses, faults = _quantile(asked, answer, currency, places)
    else:
        losses, faults = [Fraction(0)] * len(places), [None] * len(places)
        for each in answer.noisy:
            _add(each, members, places, losses, faults)
    for record, lost in enumerate(losses):
        if lost or places[record] is not None or faults[record]:
            allowed = answer.charged.policy.loss(members.records[record])
            demanded = places[record] is not None and is_tight(asked, members, record)
            yield Check(what, record, lost, allowed, demanded, faults[record])


def _add(
    noisy: Noisy,
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
            losses[record] += cost(noisy.laws[noisy.which[place]], change)
    for record in np.flatnonzero(strays.any(axis=0)).tolist():
        faults[record] = "a cell changed that the record is not in"


def changes_of(numbers: Integers) -> Integers:
    """Return world 0 less every other world, exactly."""
    if numbers.dtype == np.int64 and (np.abs(numbers.astype(np.float64)) < 2.0**62).all():
        return np.asarray(numbers[:, :1] - numbers[:, 1:])
    wide = numbers.astype(np.object_)
    return np.asarray(wide[:, :1] - wide[:, 1:])


def cost(law: Law, change: int) -> Fraction:
    """Return the loss that a change causes under a law."""
    if isinstance(law, DiscreteGaussian):
        return change**2 / (2 * law.sigma_squared)
    assert isinstance(law, DiscreteLaplace)  # noqa: S101 - the two laws that there are
    return abs(change) / law.scale


def _quantile(
    asked: Quantile, answer: ReadAnswer, currency: Currency, places: Places
) -> tuple[list[Fraction], list[str | None]]:
    assert answer.scores is not None  # noqa: S101 - of every quantile
    changes = np.abs(answer.scores[:, :1] - answer.scores[:, 1:]).max(axis=2)
    rate, losses = quantiles.selection_rate(asked, currency), []
    faults: list[str | None] = [None] * len(places)
    for record, place in enumerate(places):
        column = changes[:, record]
        most = 0 if place is None else int(column[place])
        if int(column.sum()) != most:
            faults[record] = "scores changed in a cell that the record is not in"
        ratio = 2 * rate * most
        losses.append(ratio**2 / 8 if currency is Currency.RHO else ratio)
    return losses, faults


def is_tight(asked: Answer, members: Members, record: int) -> bool:
    """Tell whether a record that is in a cell must lose all that the policy says."""
    return _is_exact(asked) and _is_filled(asked, members, record)


def _is_exact(asked: Answer) -> bool:
    """Tell whether the policy of an answer is the true loss of whoever takes part."""
    if isinstance(asked, Count):
        return True
    if not isinstance(asked, Sum | Average):
        return False
    return all(
        isinstance(leaf.method, Splitting) and leaf.method.accounting == "exact"
        for leaf in leaves(tree_of(asked.method))
    )


def _is_filled(asked: Answer, members: Members, record: int) -> bool:
    """Tell whether a record counts: where its column is NULL it is paid for and adds nothing."""
    if isinstance(asked, Count) and asked.column is not None:
        return members.records[record][asked.column] is not None
    return not isinstance(asked, Average) or members.records[record][asked.measure] is not None


def kind_of(asked: Answer) -> str:
    """Return the kind of an answer, for people."""
    match asked:
        case Count(column=None):
            return "count of records"
        case Count():
            return "count of values"
        case CountDistinct():
            return "count of different values"
        case Quantile():
            return "quantile"
        case Average(method=Clamping()):
            return "average, clamped"
        case Average(method=method) | Sum(method=method):
            found = [leaf.method for leaf in leaves(tree_of(method))]
            ways = {
                f"split, {each.accounting} accounting" if isinstance(each, Splitting) else "clamped"
                for each in found
            }
            way = ways.pop() if len(ways) == 1 else "each part its own way"
            return f"{'average' if isinstance(asked, Average) else 'total'}, {way}"
