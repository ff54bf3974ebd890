"""Whether charges on one state of the data are below the budget, and what a refused one is told."""

from collections import Counter
from fractions import Fraction

from perrecord.accounting.listed import listing_advice
from perrecord.errors import BudgetExceededError, continued, listing
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
    excess = total.excess(budget)
    unit = budget.currency.value
    if excess is None:
        unproved = (
            "it could not be proved that the charges stay below the budget for every possible "
            f"record, so nothing was charged. Spent so far: {spent}. This charge: {policy}. "
            f"Budget: {budget}. Ask for less {unit}, with a scheme that the budget declares, or "
            "with filters and parts on fewer dimensions: too many combinations of them cannot be "
            "compared."
        )
        raise BudgetExceededError(continued(unproved, listing_advice(spent, policy, budget)))
    record = _in_words(excess.record)
    if excess.limit is None:
        raise BudgetExceededError(
            f"the budget has no case for {record}, so nothing was charged. Leave such records out "
            "of the query, or use a ledger whose budget has a default."
        )
    if excess.loss is None:
        raise BudgetExceededError(
            f"the charge has no case for {record}, which the budget covers, so nothing was "
            "charged. Give the policy a default; for records left out, default=Policy.zero()."
        )
    left = excess.limit - spent.loss(excess.record)
    refusal = (
        f"{record} would lose {number(excess.loss)} {unit} in all, and its budget is "
        f"{number(excess.limit)}. This charge takes {number(policy.loss(excess.record))} of it, "
        f"and {number(left)} is left. Nothing was charged. Ask for less {unit}, for fewer "
        f"answers, or with a scheme that the budget declares."
    )
    raise BudgetExceededError(continued(refusal, listing_advice(spent, policy, budget)))


def _no_slot(spent: Policy, policy: Policy, budget: Policy) -> str:
    missing = next(iter((spent.slots + policy.slots) - budget.slots))[1]
    free = Counter(slot for _, slot in (budget.slots - spent.slots).elements())
    slots = [f"{count} × {_slot(slot)}" for slot, count in free.items()]
    return (
        f"the budget has no free slot for a key selection with {_slot(missing)}, so nothing was "
        f"charged. Free slots: {listing(slots) or 'none'}. A selection must fill a slot exactly: "
        "the same rho, threshold, keys, split and part of the records."
    )


def _slot(slot: Slot) -> str:
    split = "no split" if slot.split is None else str(slot.split)
    return f"(rho {text(slot.rho)}, threshold {slot.threshold}, keys {listing(slot.keys)}, {split})"


def _in_words(record: Record) -> str:
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
