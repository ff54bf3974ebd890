"""What a refused charge is told: which record would exceed its budget, and what is left."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path

from perrecord.errors import BudgetExceededError, LedgerError, listing
from perrecord.exact import float_up, text
from perrecord.policy.cases import Record
from perrecord.policy.policy import Policy
from perrecord.policy.slots import Slot


def check_budget(spent: Policy, policy: Policy, budget: Policy) -> None:
    """Refuse unless spent + policy is below the budget for EVERY possible record (T4)."""
    total = spent + policy
    if total.is_below(budget):
        return
    if not total.slots <= budget.slots:
        raise BudgetExceededError(_no_slot(spent, policy, budget))
    found = total.excess(budget)
    unit = budget.currency.value
    if found is None:
        raise BudgetExceededError(
            "it could not be proved that the charges stay below the budget for every possible "
            f"record, so nothing was charged. Spent so far: {spent}. This charge: {policy}. "
            f"Budget: {budget}. Ask for less {unit}, with a scheme that the budget declares, or "
            "with filters and parts on fewer dimensions: too many combinations of them cannot be "
            "compared."
        )
    record = _shown(found.record)
    if found.limit is None:
        raise BudgetExceededError(
            f"the budget has no case for {record}, so nothing was charged. Leave such records out "
            "of the query, or use a ledger whose budget has a default."
        )
    if found.loss is None:
        raise BudgetExceededError(
            f"the charge has no case for {record}, which the budget covers, so nothing was "
            "charged. Give the policy a default; for records left out, default=Policy.zero()."
        )
    left = found.limit - spent.loss(found.record)
    raise BudgetExceededError(
        f"{record} would lose {number(found.loss)} {unit} in all, and its budget is "
        f"{number(found.limit)}. This charge takes {number(policy.loss(found.record))} of it, "
        f"and {number(left)} is left. Nothing was charged. Ask for less {unit}, for fewer "
        "answers, or with a scheme that the budget declares."
    )


def check_meanings(
    path: Path,
    earlier: Mapping[str, tuple[str | None, int]],
    names: Iterable[str],
    given: Mapping[str, str],
) -> None:
    """Refuse a name that stands for something else than in an earlier charge.

    Charges are added as functions of one record. Were a name to change its meaning, two charges
    could fall on the same record while their sum says that they fall on two.
    """
    for name in sorted(names):
        then, number = earlier.get(name, (given.get(name), 0))
        if then != given.get(name):
            raise LedgerError(
                f"{path}: {name!r} means something else than when it was first charged, in entry "
                f"{number}: then {then or 'nothing was said'}, now "
                f"{given.get(name) or 'nothing is said'}. Losses add up record by record, so a "
                "name keeps its meaning for as long as the ledger lasts; give the new one another "
                "name. Nothing was charged."
            )


def _no_slot(spent: Policy, policy: Policy, budget: Policy) -> str:
    missing = next(iter((spent.slots + policy.slots) - budget.slots))[1]
    free = Counter(slot for _, slot in (budget.slots - spent.slots).elements())
    shown = [f"{count} × {_slot(slot)}" for slot, count in free.items()]
    return (
        f"the budget has no free slot for a key selection with {_slot(missing)}, so nothing was "
        f"charged. Free slots: {listing(shown) or 'none'}. A selection must fill a slot exactly: "
        "the same rho, threshold, keys, split and part of the records."
    )


def _slot(slot: Slot) -> str:
    split = "no split" if slot.split is None else str(slot.split)
    return f"(rho {text(slot.rho)}, threshold {slot.threshold}, keys {listing(slot.keys)}, {split})"


def _shown(record: Record) -> str:
    """Return a hypothetical record in words."""
    if not record:
        return "every record"
    fields = [
        f"{name} = {number(value) if isinstance(value, Fraction) else _short(value)}"
        for name, value in record.items()
    ]
    return f"a record with {listing(fields, limit=12)}"


def _short(value: object) -> str:
    if type(value) is int:
        return number(Fraction(value))
    return repr(value)


_MOST_DIGITS = 30


def number(value: Fraction) -> str:
    """Return an exact number, or about what it is where that would fill the screen."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 8 * _MOST_DIGITS:
        return f"about {float_up(value):.6g}"
    exact = text(value)
    return exact if len(exact) <= _MOST_DIGITS else f"about {float_up(value):.6g}"
