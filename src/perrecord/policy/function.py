"""A policy as a function: what records, groups of them and changes lose."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from perrecord.errors import CurrencyError
from perrecord.exact import Exact
from perrecord.policy.cases import Record, as_record
from perrecord.policy.compose import GroupBound, group_loss
from perrecord.policy.extremes import bound, minimum, supremum
from perrecord.policy.inputs import several
from perrecord.policy.loss import Loss
from perrecord.policy.meaning import Meaning, meaning
from perrecord.policy.normal import Normal, normal
from perrecord.policy.slots import Slot, any_of
from perrecord.policy.terms import (
    Currency,
    Form,
    Guard,
    evaluate,
    measures_of,
    slots_of,
    totals_apart,
)

if TYPE_CHECKING:
    from perrecord.policy.columns import Columns, Floats


@dataclass(frozen=True, eq=False, repr=False)
class LossFunction:
    """P(r) of any record, in its currency; `Policy` builds such functions and compares them."""

    currency: Currency
    form: Form

    @cached_property
    def normal(self) -> Normal:
        """The normal form of the loss, which extremes and comparisons work on."""
        return normal(self.form, self.currency.power)

    def loss(self, record: Record) -> Fraction:
        """Return P(r), exactly; rounded up where it is irrational, see `bounded_loss`."""
        return self.bounded_loss(record).amount

    def bounded_loss(self, record: Record) -> Loss:
        """Return P(r), and whether it is exact or an upper bound (T26).

        >>> from perrecord import Policy
        >>> print(Policy.constant("0.1").bounded_loss({}))
        0.1
        """
        return evaluate(self.form, as_record(record), self.currency.power)

    def delta(self, record: Record) -> Fraction:
        """Return delta(r), rounded up: 0 unless keys are selected (T9)."""
        record = as_record(record)
        return any_of(slot.delta(slot.pieces(record)) for _, slot in slots_of(self.form, record))

    def meaning(self, record: Record, *, delta: Exact | float = "1e-6") -> Meaning[float]:
        """Return what the record's loss means, its key's delta included (T18, T19).

        >>> from perrecord import Policy
        >>> round(Policy.constant("0.1").meaning({}).epsilon, 2)
        2.14
        """
        if self.currency is Currency.EPSILON:
            raise CurrencyError(
                "the policy is in pure epsilon, which is its own meaning: the record's loss bounds "
                "the logarithm of every likelihood ratio."
            )
        return meaning(self.loss(record), delta=delta, key_delta=self.delta(record))

    def losses(self, columns: "Columns") -> "Floats":
        """Return P(r) of every row of numpy or Arrow columns, as float64 rounded up.

        Never below the exact loss, and above it by less than one part in 2^40 for policies of up
        to 4,000 terms.
        """
        from perrecord.policy.columns import losses_of_columns  # noqa: PLC0415 - Arrow loads slowly

        return losses_of_columns(self.form, columns, self.currency.power)

    def group_loss(self, records: Iterable[Record], bound: GroupBound = "tight") -> Fraction:
        """Return the loss of several records changed together (T7); epsilons simply add (T16)."""
        losses = [self.loss(record) for record in several(records)]
        if self.currency.adds_up:
            return sum(losses, Fraction(0))
        return group_loss(losses, bound)

    def group_delta(self, records: Iterable[Record]) -> Fraction:
        """Return the delta of several records changed together, rounded up (T9).

        A group's pieces add up within each of its keys. Equal slots of several parts may be one
        selection each, or one selection of a filter that lets several parts pass: the bound holds
        for both.
        """
        runs: dict[tuple[Slot, int], dict[Guard, list[Record]]] = {}
        for record in map(as_record, several(records)):
            seen: Counter[tuple[Guard, Slot]] = Counter()
            for guard, slot in slots_of(self.form, record):
                parts = runs.setdefault((slot, seen[guard, slot]), {})
                parts.setdefault(guard, []).append(record)
                seen[guard, slot] += 1
        return any_of(slot.delta_of_parts(parts.values()) for (slot, _), parts in runs.items())

    def substitution_loss(self, record: Record, other: Record) -> Fraction:
        """Return the loss when one record is replaced by another (T20)."""
        return self.group_loss([record, other])

    def substitution_delta(self, record: Record, other: Record) -> Fraction:
        """Return the delta when one record is replaced by another, rounded up (T9)."""
        return max(self.delta(record), self.delta(other))

    def change(self, record: Record, other: Record, *, of_totals: bool = False) -> Fraction:
        """Return what replacing one record by another costs, rounded up (T20, T27).

        It holds for whatever keeps the promise: a policy alone does not say what is published. With
        `of_totals` each `exact` and `tapered` term is taken to be one total with noise of its own,
        which costs only the difference of the values, if the records differ in nothing but
        measures of the policy: otherwise they may be in different cells. That is right for
        the sum of such answers without filters on measures, and wrong for a budget. The exact cost
        under a release is `PublishedPolicy.change`.

        >>> from perrecord import Policy
        >>> policy = Policy.tapered("0.2", measure="employees", at=50)
        >>> before, after = {"employees": 4000}, {"employees": 4400}
        >>> round(float(policy.change(before, after, of_totals=True)), 2)
        6.87
        """
        before, after = as_record(record), as_record(other)
        if _tagged(before) == _tagged(after):
            return Fraction(0)
        apart, rest = Fraction(0), self.form
        if of_totals and self._differ_in_measures(before, after):
            apart, rest = totals_apart(self.form, before, after, self.currency.power)
        sides = [evaluate(rest, each, self.currency.power).amount for each in (before, after)]
        return apart + (sum(sides) if self.currency.adds_up else group_loss(sides))

    def _differ_in_measures(self, one: Record, other: Record) -> bool:
        """Tell whether two records are alike but for measures that the policy reads."""
        measures = frozenset(measures_of(self.form))
        before, after = (
            {name: value for name, value in _tagged(each).items() if name not in measures}
            for each in (one, other)
        )
        return before == after

    def minimum(self) -> Fraction:
        """Return PolicyMin: the least loss of any possible record."""
        return minimum(self.normal)

    def supremum(self) -> Fraction | None:
        """Return the least upper bound of P over all possible records; None if there is none."""
        return supremum(self.normal, self.currency.power)

    def bound(self) -> Fraction | None:
        """Return a loss that no possible record exceeds; None if none is found.

        It is the supremum, or a larger number that is found quickly where cases on different
        dimensions depend on one another; None also where some records have no case.

        >>> from perrecord import Policy
        >>> Policy.by("sector", {"farm": Policy.constant("0.5")}, Policy.constant("0.1")).bound()
        Fraction(1, 2)
        """
        return bound(self.normal, self.currency.power)


def _tagged(record: Record) -> dict[str, tuple[type, Hashable]]:
    """Return the values of a record with their types: True is not 1."""
    return {name: (type(value), value) for name, value in record.items()}
