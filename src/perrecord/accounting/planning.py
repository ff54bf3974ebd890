"""What is left of a ledger: how many charges still fit, what a record loses over its periods."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction

from perrecord.accounting.parts import BudgetPart
from perrecord.errors import MissingFieldError, UnknownCaseError
from perrecord.policy.cases import Record
from perrecord.policy.policy import Policy
from perrecord.policy.reads import reads, thresholds

MOST = 1000
"""Beyond it nobody counts how many fit."""

_STEPS = 50_000


def how_many_fit(part: BudgetPart, policy: Policy, snapshot: str) -> int:
    """Return how many more charges of this policy are proved to fit the part, up to `MOST`."""
    if not policy.form.terms and not policy.slots:
        return MOST

    def is_too_much(count: int) -> bool:
        wanted = [policy] * count if policy.slots else [policy * count]
        after = part.spent.with_charge(Policy.total(wanted), snapshot)
        return not after.fits(part.budget, most_steps=_STEPS)

    return bisect_left(range(1, MOST + 1), True, key=is_too_much)


def read_by(parts: Iterable[BudgetPart]) -> dict[str, frozenset[type] | None]:
    """Return each field that the parts or their charges read: a dimension's types, or None."""
    return {
        name: types
        for part in parts
        for policy in (part.budget, *part.spent.sums.values())
        for name, types in reads(policy.form)
    }


def grown(record: Record, growth: Fraction, periods: int, parts: Iterable[BudgetPart]) -> Record:
    """Return a record whose measures have grown, period after period, by the same share."""
    measures = {name for name, types in read_by(parts).items() if types is None}
    return {
        name: value * (1 + growth) ** periods
        if name in measures and isinstance(value, int | Fraction)
        else value
        for name, value in record.items()
    }


def history_losses(
    parts: Iterable[BudgetPart], history: Mapping[str | None, Record]
) -> tuple[Fraction, Fraction]:
    """Return what a history has lost so far, and what it may lose if everything is spent (T35).

    A history says what a record was in each period; where it is missing it was not in the data.
    """
    lost = limit = Fraction(0)
    for part in parts:
        record = history.get(part.period)
        if record is not None:
            lost += sum((each.loss(record) for each in part.spent.sums.values()), Fraction(0))
            limit += part.budget.loss(record)
    return lost, limit


def usual_record(parts: Iterable[BudgetPart]) -> dict[str, Fraction] | None:
    """Return a record as large as the thresholds of a budget, the middle one of each measure.

    None where its loss would depend on dimensions, or on nothing.
    """
    every = list(parts)
    sizes: dict[str, set[Fraction]] = {}
    for part in every:
        for measure, size in thresholds(part.budget.form):
            sizes.setdefault(measure, set()).add(size)
    record = {name: sorted(found)[len(found) // 2] for name, found in sizes.items()}
    try:
        for part in every:
            part.budget.loss(record)
            for each in part.spent.sums.values():
                each.loss(record)
    except (MissingFieldError, UnknownCaseError):
        return None
    return record or None
