"""The budget of a ledger, what is spent of it, and whether one more charge fits (T4).

On one snapshot of the data losses add record by record. Between two a record may have changed in
any way, so what two snapshots cost is never taken to fall on different records, nor on equal ones:
each counts with its largest loss of any record, and these add.

    one snapshot     P_1(r) + ... + P_n(r)  <=  budget(r)              for every record r
    several          sup S_1 + ... + sup S_k  <=  budget(r)            for every record r

S_j being the sum of the charges on snapshot j. Whatever values a record takes, r_j in snapshot j,
it loses S_1(r_1) + ... + S_k(r_k), which is then within budget(r_j) for each of its values.

In a ledger with periods all of this is about one period and its own part of the budget (T35). Its
snapshots are revisions of each other, for which `revisions` knows another rule beside.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from perrecord.accounting.entries import Charge, LedgerEntry
from perrecord.accounting.refusals import check_budget, number
from perrecord.accounting.revisions import REVISED, REVISION, have_shares
from perrecord.errors import BudgetExceededError, InputError, LedgerError, listing
from perrecord.exact import Exact
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Constant, ExactLoss, Form, SizeLoss

Snapshot = str | int
"""What a snapshot is called; a charge that does not say its own stands alone, as its number."""

_WHY = (
    "a record may have changed in any way in between, so each snapshot counts with the largest "
    "loss that any record can have in it"
)
_ADVICE = (
    "Nothing was charged. Ask about the same data as before (a file must be the same byte for "
    "byte), or make a new ledger with a budget of its own: a record may then lose both budgets. If "
    "there is new data every year, make it with periods, each with a budget of its own: perrecord "
    'ledger create SPEC --periods 2026..2035, or Session(..., new=True, periods="2026..2035").'
)


def Budget(  # noqa: N802 - it reads as the value that it makes
    rho: Exact | None = None,
    splits: Iterable[Scheme] | Scheme = (),
    *,
    epsilon: Exact | None = None,
    slots: Iterable[Policy] | Policy = (),
    tapers: Iterable[Policy] | Policy = (),
    weights: Iterable[Policy] | Policy = (),
) -> Policy:
    """Return the budget "total rho, spread freely over the declared schemes".

    It is rho * max over schemes s of m_s(r)^2 (T4), so charges whose amounts add up to rho fit
    whichever schemes they use; answers on unsplit records fit too, since m >= 1. Under pure
    epsilon: epsilon * max over s of m_s(r). Without schemes the budget is rho for every record.

    >>> from perrecord import Policy, Split
    >>> fine, coarse = Split(employees=50), Split(employees=200, payroll=5_000_000)
    >>> total = Budget(1, [fine, coarse])
    >>> total.loss({"employees": 120, "payroll": 20_000_000})    # 1 * 4^2
    Fraction(16, 1)
    >>> charges = Policy.split("0.5", fine) + Policy.split("0.3", coarse) + Policy.constant("0.2")
    >>> charges.is_below(total)
    True

    Key selections each need a slot of their own; the loss of a selection is paid from rho:

    >>> slot = Policy.slot("0.1", ["industry"], split=fine, delta="1e-6")
    >>> Budget(1, fine, slots=slot)
    Policy(1·pieces² of Split(employees=50) + selection of industry at 13)

    No amount covers tapered answers, except as far as a scheme's pieces do; so a budget also lists
    those that it allows, each as often as it may be asked for (T26):

    >>> allowed = Budget(1, fine, tapers=6 * Policy.tapered("0.1", measure="employees", at=50))
    >>> (3 * Policy.tapered("0.1", measure="employees", at=50)).is_below(allowed)
    True

    The same with quantiles whose records have weights (T37):

    >>> allowed = Budget(1, weights=2 * Policy.weighed("0.1", measure="w", at=20))
    """
    schemes = (splits,) if isinstance(splits, Split | SplitBy) else tuple(splits)
    amount = {"rho": rho, "epsilon": epsilon}
    if schemes:
        options = [Policy.split(split=scheme, **amount) for scheme in schemes]
        total = Policy.largest(*options) if len(options) > 1 else options[0]
    else:
        total = Policy.constant(**amount)
    for slot in _listed(slots):
        if not isinstance(slot, Policy) or slot.form.terms:
            raise InputError(
                "one of the budget's slots is not a slot; give "
                'Policy.slot("0.1", ["industry"], delta="1e-6"). Its loss is paid from the total.'
            )
        total += slot
    for each in _listed(tapers):
        if not isinstance(each, Policy) or not _is_tapered(each):
            raise InputError(
                "one of the budget's tapers is not made of tapered answers; give something like "
                '6 * Policy.tapered("0.1", measure="employees", at=50).'
            )
        total += each
    for each in _listed(weights):
        if not isinstance(each, Policy) or not _is_weighed(each):
            raise InputError(
                "one of the budget's weights is not made of weighted quantiles; give something "
                'like 2 * Policy.weighed("0.1", measure="w", at=20).'
            )
        total += each
    return total


def _listed(given: object) -> tuple[object, ...]:
    """Return what was given in a list, or alone."""
    return tuple(given) if isinstance(given, Iterable) else (given,)


def _is_tapered(policy: Policy) -> bool:
    terms = policy.form.terms
    return not policy.slots and all(isinstance(each, SizeLoss) for each in terms)


def _is_weighed(policy: Policy) -> bool:
    """Tell whether all terms are those of weighted quantiles: exact ones under pure epsilon."""
    expected = ExactLoss if policy.currency.adds_up else SizeLoss
    return not policy.slots and all(isinstance(each, expected) for each in policy.form.terms)


# -- what is spent --------------------------------------------------------------------------


def total_of(before: Policy, entries: Iterable[LedgerEntry]) -> Policy:
    """Return the sum of the charges; equal policies are multiplied, which is much faster."""
    counted: dict[int, tuple[Policy, int]] = {}
    for entry in entries:
        if isinstance(entry, Charge):
            # Policies read from one document are one object, so its id finds its like.
            policy, count = counted.get(id(entry.policy), (entry.policy, 0))
            counted[id(policy)] = (policy, count + 1)
    sums: list[Policy] = [before]
    for policy, count in counted.values():
        sums.extend([policy] * count if policy.slots else [policy * count])
    return Policy.total(sums)


@dataclass(frozen=True, slots=True)
class Spent:
    """The sum of the charges on each snapshot of the data, of one period if there are periods."""

    zero: Policy
    sums: Mapping[Snapshot, Policy]
    period: str | None = None

    def after(self, entries: Iterable[LedgerEntry]) -> "Spent":
        """Return what is spent when these entries have followed."""
        charges: dict[Snapshot, list[LedgerEntry]] = {}
        for entry in entries:
            if isinstance(entry, Charge):
                own = entry.number if entry.snapshot is None else entry.snapshot
                charges.setdefault(own, []).append(entry)
        fresh = {
            each: total_of(self.sums.get(each, self.zero), made) for each, made in charges.items()
        }
        return replace(self, sums={**self.sums, **fresh})

    def with_charge(self, policy: Policy, snapshot: str) -> "Spent":
        """Return what would be spent with one more charge."""
        together = self.sums.get(snapshot, self.zero) + policy
        return replace(self, sums={**self.sums, snapshot: together})

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

    def fits(self, budget: Policy, *, most_steps: int | None = None) -> bool:
        """Tell whether the charges are within the budget, whatever a record was in each."""
        compared = self.compared()
        if compared is not None and compared.is_below(budget, most_steps=most_steps):
            return True
        return self.are_revisions() and have_shares(self.sums.values(), budget)

    def are_revisions(self) -> bool:
        """Tell whether there are several snapshots of one period."""
        return self.period is not None and len(self.sums) > 1

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
    """Refuse a charge that does not fit, with every value that a record may have had (T4).

    The budget is that of the period, where there are periods (T35).
    """
    after = spent.with_charge(policy, snapshot)
    try:
        if len(after.sums) == 1:
            check_budget(spent.total(), policy, budget)
        else:
            _check_snapshots(spent, after, snapshot, budget)
    except BudgetExceededError as error:
        if spent.period is None:
            raise
        raise BudgetExceededError(f"period {spent.period}: {error}") from None


def _check_snapshots(spent: Spent, after: Spent, snapshot: str, budget: Policy) -> None:
    """Refuse charges on several snapshots that do not fit."""
    compared = after.compared()
    if compared is None or not compared.is_below(budget):
        if not after.are_revisions():
            why = f"{_before(spent, snapshot)}, and {_WHY}. {_reason(after, snapshot, budget)}"
            raise BudgetExceededError(f"{why} {_ADVICE}")
        if not have_shares(after.sums.values(), budget):
            raise BudgetExceededError(REVISED)


_QUICK_STEPS = 5_000
"""Some hundredths of a second: what others may be made to wait for."""


def is_quickly_within(spent: Spent, policy: Policy, snapshot: str, budget: Policy) -> bool:
    """Tell whether a charge fits, as far as little work can prove it."""
    compared = spent.with_charge(policy, snapshot).compared()
    return compared is not None and compared.is_below(budget, most_steps=_QUICK_STEPS)


def remark(spent: Spent, snapshot: str) -> str | None:
    """Return what to know before charging on this snapshot; None if all charges were made on it."""
    if not {*spent.sums} - {snapshot}:
        return None
    return REVISION if spent.period is not None else f"{_before(spent, snapshot)}; {_WHY}."


def snapshot_name(snapshot: Snapshot | None) -> str:
    """Return a snapshot for people: its name, or the beginning of the keyed hash.

    >>> snapshot_name("2026-11"), snapshot_name("hmac:" + "0f" * 32), snapshot_name(None)
    ('2026-11', 'hmac:0f0f0f0f0f0f', 'not said')
    """
    if not isinstance(snapshot, str):
        return "not said"
    return snapshot[:17] if snapshot.startswith("hmac:") else snapshot


def check_same(
    path: Path, earlier: Charge, policy: Policy, snapshot: str, period: str | None
) -> None:
    """Refuse another policy, period or other data under the identity of an earlier charge."""
    if earlier.policy != policy:
        raise LedgerError(
            f"{path}: {earlier.identity!r} was charged before with another policy, in entry "
            f"{earlier.number}: {earlier.policy}, now {policy}. A changed release needs an "
            "identity of its own, and its own charge."
        )
    if earlier.period != period:
        raise LedgerError(
            f"{path}: {earlier.identity!r} was charged before for another period, in entry "
            f"{earlier.number}: {earlier.period}, now {period}. A release of another period needs "
            "an identity of its own, and its own charge."
        )
    if earlier.snapshot != snapshot:
        raise LedgerError(
            f"{path}: {earlier.identity!r} was charged before on another snapshot of the data, in "
            f"entry {earlier.number}: {snapshot_name(earlier.snapshot)}, now "
            f"{snapshot_name(snapshot)}. One charge pays for one result: other data needs an "
            "identity of its own, and its own charge."
        )


def _before(spent: Spent, snapshot: str) -> str:
    others = [each for each in spent.sums if each != snapshot]
    named = [snapshot_name(each) for each in others if isinstance(each, str)]
    unnamed = len(others) - len(named)
    remarks = []
    if named:
        remarks.append(
            "earlier charges of this ledger were made on another snapshot of the data "
            f"({listing(named, limit=3)}; this one is {snapshot_name(snapshot)})"
        )
    if unnamed:
        remarks.append(
            f"{unnamed} of the ledger's charges, written by an earlier perrecord, do not say which "
            "snapshot of the data they were made on, so each counts as one of its own"
        )
    return "; ".join(remarks)


def _reason(after: Spent, snapshot: str, budget: Policy) -> str:
    """Say why charges on several snapshots do not fit."""
    for own, each in after.sums.items():
        which = "the charges on this snapshot" if own == snapshot else "the charges before"
        if each.bound() is None:
            return f"There is none for {which}: they cost more the larger a record is."
        if any(guard or slot.split is not None for guard, slot in each.slots):
            return (
                f"There is none for {which}: they select keys with a split or for a part of the "
                "records, which almost surely reveals large records."
            )
    largest = after.largest() or after.zero
    if not largest.slots <= budget.slots:
        return "The budget has no free slot for one of the key selections."
    unit, in_all = budget.currency.value, largest.loss({})
    return (
        f"These add up to {number(in_all)} {unit}, and the least budget of any record is "
        f"{number(budget.minimum())}."
    )
