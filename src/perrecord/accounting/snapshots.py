"""Charges on several snapshots of the data, and whether one more fits the budget (T4).

On one snapshot losses add record by record. Between two a record may have changed in any way, so
what two snapshots cost is never taken to fall on different records, nor on equal ones: each counts
with its largest loss of any record, and these add.

    one snapshot     P_1(r) + ... + P_n(r)  <=  budget(r)              for every record r
    several          sup S_1 + ... + sup S_k  <=  budget(r)            for every record r

S_j being the sum of the charges on snapshot j. Whatever values a record takes, r_j in snapshot j,
it loses S_1(r_1) + ... + S_k(r_k), which is then within budget(r_j) for each of its values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from perrecord.accounting.entries import Charge, Entry, total_of
from perrecord.accounting.refusals import check_budget, number
from perrecord.errors import BudgetExceededError, listing
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Constant, Form

Snapshot = str | int
"""What a snapshot is called; a charge that does not say its own stands alone, as its number."""

_WHY = (
    "a record may have changed in any way in between, so each snapshot counts with the largest "
    "loss that any record can have in it"
)
_ADVICE = (
    "Nothing was charged. Ask about the same data as before, a file byte for byte the same, or "
    "make a new ledger with a budget of its own: a record may then lose both budgets in all."
)


@dataclass(frozen=True, slots=True)
class Spent:
    """The sum of the charges on each snapshot of the data."""

    zero: Policy
    sums: Mapping[Snapshot, Policy]

    def after(self, entries: Iterable[Entry]) -> "Spent":
        """Return what is spent when these entries have followed."""
        charges: dict[Snapshot, list[Entry]] = {}
        for entry in entries:
            if isinstance(entry, Charge):
                own = entry.number if entry.snapshot is None else entry.snapshot
                charges.setdefault(own, []).append(entry)
        fresh = {
            each: total_of(self.sums.get(each, self.zero), made) for each, made in charges.items()
        }
        return Spent(self.zero, {**self.sums, **fresh})

    def with_charge(self, policy: Policy, snapshot: str) -> "Spent":
        """Return what would be spent with one more charge."""
        together = self.sums.get(snapshot, self.zero) + policy
        return Spent(self.zero, {**self.sums, snapshot: together})

    def largest(self) -> Policy | None:
        """Return the largest losses of all snapshots added up, a constant; None if one has none.

        Key selections are kept where every record has the same delta: unsplit, of all records.
        """
        losses = [each.bound() for each in self.sums.values()]
        runs = [run for each in self.sums.values() for run in each.slots.elements()]
        if None in losses or any(guard or slot.split is not None for guard, slot in runs):
            return None
        amount = sum((loss for loss in losses if loss is not None), Fraction(0))
        return Policy(
            self.zero.currency, Form((Constant(amount),), tuple(slot for _, slot in runs))
        )

    def compared(self) -> Policy | None:
        """Return what must be below the budget; None if nothing that is would do."""
        return self.largest() if len(self.sums) > 1 else self._plain()

    def total(self) -> Policy:
        """Return what is compared with the budget, or else the plain sum of all charges.

        A ledger that an earlier perrecord wrote may hold charges on snapshots that it does not
        name and that have no largest loss; their plain sum is what a record lost that never
        changed.
        """
        return self.compared() or self._plain()

    def _plain(self) -> Policy:
        return Policy.total([self.zero, *self.sums.values()])


def check_charge(spent: Spent, policy: Policy, snapshot: str, budget: Policy) -> None:
    """Refuse a charge that does not fit, with every value that a record may have had (T4)."""
    after = spent.with_charge(policy, snapshot)
    if len(after.sums) == 1:
        check_budget(spent.total(), policy, budget)
        return
    compared = after.compared()
    if compared is None or not compared.is_below(budget):
        raise BudgetExceededError(
            f"{_before(spent, snapshot)}, and {_WHY}. {_reason(after, snapshot, budget)} {_ADVICE}"
        )


_QUICK_STEPS = 5_000
"""Some hundredths of a second: what others may be made to wait for."""


def is_quickly_within(spent: Spent, policy: Policy, snapshot: str, budget: Policy) -> bool:
    """Tell whether a charge fits, as far as little work can prove it."""
    compared = spent.with_charge(policy, snapshot).compared()
    return compared is not None and compared.is_below(budget, most_steps=_QUICK_STEPS)


def remark(spent: Spent, snapshot: str) -> str | None:
    """Return what to know before charging on this snapshot; None if all charges were made on it."""
    return f"{_before(spent, snapshot)}; {_WHY}." if {*spent.sums} - {snapshot} else None


def shown(snapshot: Snapshot | None) -> str:
    """Return a snapshot for people: its name, or the beginning of the keyed hash.

    >>> shown("2026-11"), shown("hmac:" + "0f" * 32), shown(None)
    ('2026-11', 'hmac:0f0f0f0f0f0f', 'not said')
    """
    if not isinstance(snapshot, str):
        return "not said"
    return snapshot[:17] if snapshot.startswith("hmac:") else snapshot


def _before(spent: Spent, snapshot: str) -> str:
    others = [each for each in spent.sums if each != snapshot]
    named = [shown(each) for each in others if isinstance(each, str)]
    unnamed = len(others) - len(named)
    found = []
    if named:
        found.append(
            "earlier charges of this ledger were made on another snapshot of the data "
            f"({listing(named, limit=3)}; this one is {shown(snapshot)})"
        )
    if unnamed:
        found.append(
            f"{unnamed} of the ledger's charges, written by an earlier perrecord, do not say which "
            "snapshot of the data they were made on, so each counts as one of its own"
        )
    return "; ".join(found)


def _reason(after: Spent, snapshot: str, budget: Policy) -> str:
    """Say why charges on several snapshots do not fit."""
    for own, each in after.sums.items():
        which = "the charges on this snapshot" if own == snapshot else "the charges before"
        if each.bound() is None:
            return f"There is none for {which}: they cost the more the larger a record is."
        if any(guard or slot.split is not None for guard, slot in each.slots):
            return (
                f"There is none for {which}: they select keys with a split or for a part of the "
                "records, and large records show in that almost surely."
            )
    largest = after.largest() or after.zero
    if not largest.slots <= budget.slots:
        return "The budget has no free slot for one of the key selections."
    unit, in_all = budget.currency.value, largest.loss({})
    return (
        f"These add up to {number(in_all)} {unit}, and the least budget of any record is "
        f"{number(budget.minimum())}."
    )
