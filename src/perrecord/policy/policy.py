"""The `Policy`: a public function from records to privacy loss, as a value."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from perrecord.errors import CurrencyError, InputError
from perrecord.exact import Exact
from perrecord.policy import reading
from perrecord.policy.blurring import blurred
from perrecord.policy.cases import Case, Cases
from perrecord.policy.dominate import is_below
from perrecord.policy.excess import Excess, find_excess
from perrecord.policy.inputs import amount_of, not_negative, scheme_of
from perrecord.policy.showing import ShownPolicy
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme, measure_name, positive_threshold
from perrecord.policy.steps import Steps
from perrecord.policy.tapering import tapered
from perrecord.policy.terms import (
    Constant,
    Currency,
    ExactLoss,
    Form,
    Guard,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    Term,
    add,
    every_slot,
    has_slots,
    scale,
)
from perrecord.policy.weighing import WeighedChoice, Weighting


@dataclass(frozen=True, eq=False, repr=False)
class Policy(ShownPolicy):
    """How much privacy a record of any given value loses: P(r), with its delta where there is one.

    M is P-PRzCDP if adding or removing one record r gives D_alpha <= alpha P(r) both ways (T1).
    Policies are built from a few forms, add up with `+` and scale with `*`:

    >>> from perrecord import Policy, Split
    >>> scheme = Split(employees=50, payroll=5_000_000)
    >>> policy = Policy.constant("0.1") + Policy.split("0.2", scheme)
    >>> policy.loss({"employees": 150, "payroll": 10_000_000})     # 0.1 + 0.2 * 3^2
    Fraction(19, 10)
    >>> policy.minimum()
    Fraction(3, 10)

    Amounts are zCDP's rho; with `epsilon=` in place of the amount they are pure epsilon (T16).
    P is public. The loss of a real record is confidential, as the record is.
    """

    # -- building ---------------------------------------------------------------------------

    @classmethod
    def zero(cls, currency: Currency = Currency.RHO) -> "Policy":
        """Return the policy of a release that reads no data."""
        if not isinstance(currency, Currency):
            raise InputError(f"the currency is {currency!r}; expected Currency.RHO or .EPSILON.")
        return cls(currency, Form())

    @classmethod
    def total(cls, policies: Iterable["Policy"]) -> "Policy":
        """Return the sum of many policies in one go: sequential composition (T4)."""
        every = list(policies)
        return cls(_common_currency(every), add(policy.form for policy in every))

    @classmethod
    def constant(cls, rho: Exact | None = None, *, epsilon: Exact | None = None) -> "Policy":
        """Return the policy of a plain zCDP (or pure DP) mechanism: the same for all (T6)."""
        currency, amount = amount_of(rho, epsilon)
        return _of(currency, Constant(amount))

    @classmethod
    def split(
        cls, rho: Exact | None = None, split: Scheme | None = None, *, epsilon: Exact | None = None
    ) -> "Policy":
        """Return rho * pieces^2: any rho-zCDP mechanism run on split records (T8).

        Under pure epsilon: eps * pieces.
        """
        currency, amount = amount_of(rho, epsilon)
        return _of(currency, SplitLoss(amount, scheme_of(split)))

    @classmethod
    def exact(
        cls,
        rho: Exact | None = None,
        *,
        measure: str,
        threshold: Exact,
        epsilon: Exact | None = None,
    ) -> "Policy":
        """Return rho * (value/threshold)^2: the true loss of a sum with Gaussian noise (T11).

        It is never above `Policy.split` of a scheme with that threshold. Under pure epsilon, with
        Laplace noise: eps * |value|/threshold.

        >>> Policy.exact("0.1", measure="employees", threshold=50).loss({"employees": 75})
        Fraction(9, 40)
        """
        currency, amount = amount_of(rho, epsilon)
        limit = positive_threshold(measure, threshold)
        return _of(currency, ExactLoss(amount, measure_name(measure), limit))

    @classmethod
    def tapered(
        cls,
        rho: Exact | None = None,
        *,
        measure: str,
        at: Exact,
        nu: int = 7,
        epsilon: Exact | None = None,
    ) -> "Policy":
        """Return the loss of a total with Student noise: a record of size `at` loses rho (T26).

        It grows like the logarithm of the size; `nu` is 7 or 3.

        >>> policy = Policy.tapered("0.2", measure="employees", at=50)
        >>> [round(float(policy.loss({"employees": size})), 2) for size in (50, 150, 4000)]
        [0.2, 1.64, 24.56]
        """
        currency, amount = amount_of(rho, epsilon)
        size = positive_threshold(measure, at)
        growth = tapered(currency.power, amount, size, nu)
        return _of(currency, SizeLoss(Fraction(1), measure_name(measure), growth))

    @classmethod
    def blurred(
        cls,
        rho: Exact | None = None,
        *,
        measure: str,
        at: Exact,
        by: Exact,
        nu: int = 7,
        epsilon: Exact | None = None,
    ) -> "Policy":
        """Return the loss of a total whose Student noise grows with its own records (T28).

        A record of size `at` loses rho, and every record adds the share `by` of its size to sd.

        >>> policy = Policy.blurred("0.2", measure="employees", at=50, by="0.1")
        >>> [round(float(policy.loss({"employees": size})), 2) for size in (50, 150, 4000)]
        [0.2, 1.7, 22.98]
        """
        currency, amount = amount_of(rho, epsilon)
        growth = blurred(currency.power, amount, positive_threshold(measure, at), by, nu)
        return _of(currency, SizeLoss(Fraction(1), measure_name(measure), growth))

    @classmethod
    def weighed(
        cls,
        rho: Exact | None = None,
        *,
        measure: str,
        at: Exact,
        epsilon: Exact | None = None,
    ) -> "Policy":
        """Return the loss of a quantile with weights: a record of weight `at` loses rho, or less.

        It is quadratic in small weights and eventually linear (T37).

        >>> policy = Policy.weighed("0.2", measure="w", at=20)
        >>> [round(float(policy.loss({"w": weight})), 2) for weight in (20, 60, 1600)]
        [0.2, 1.53, 95.58]
        """
        currency, amount = amount_of(rho, epsilon)
        weighting = Weighting(measure, at)
        if currency.adds_up:
            return cls.exact(measure=measure, threshold=weighting.at, epsilon=amount)
        growth = WeighedChoice(amount, weighting.at)
        return _of(currency, SizeLoss(Fraction(1), weighting.measure, growth))

    @classmethod
    def largest(cls, *policies: "Policy") -> "Policy":
        """Return the largest of several policies, record by record.

        A budget of rho spread freely over schemes is the largest of `split(rho, scheme)` (T4).
        """
        currency = _common_currency(policies)
        if any(has_slots(policy.form) for policy in policies):
            raise InputError(
                "a key selection is inside Policy.largest; deltas have no largest of several. "
                "Add the slots outside: Policy.largest(...) + Policy.slot(...)."
            )
        return _of(currency, Largest(tuple(policy.form for policy in policies)))

    @classmethod
    def by(
        cls,
        dimensions: str | tuple[str, ...],
        cases: Mapping[Case, "Policy"],
        default: "Policy | None" = None,
    ) -> "Policy":
        """Return a piecewise policy: mechanisms run on the parts of a public partition (T5).

        Parts may differ in rho, thresholds and kind. Records that no part holds lose nothing if
        you say so: `default=Policy.zero()`.

        >>> policy = Policy.by("sector", {"farm": Policy.constant("0.5")}, Policy.constant("0.1"))
        >>> policy.loss({"sector": "farm"})
        Fraction(1, 2)
        """
        table = Cases.of(dimensions, cases, default)
        currency = _common_currency(table.values())
        return _of(currency, Piecewise(table.map(lambda policy: policy.form)))

    @classmethod
    def personalised(
        cls, identifier: str, losses: Mapping[Case, Exact], default: Exact | None = None
    ) -> "Policy":
        """Return P(r) = Phi(id): losses that depend on a public identifier alone (T20)."""
        return cls.by(
            identifier,
            {key: cls.constant(loss) for key, loss in losses.items()},
            None if default is None else cls.constant(default),
        )

    @classmethod
    def slot(
        cls,
        rho: Exact,
        keys: Iterable[str],
        *,
        split: Scheme | None = None,
        threshold: int | None = None,
        delta: Exact | None = None,
    ) -> "Policy":
        """Return the delta part alone of one key selection: what a delta budget lists (T4).

        >>> from perrecord import Split
        >>> scheme = Split(employees=50)
        >>> budget = Policy.split(1, scheme) + Policy.slot("0.1", ["k"], split=scheme, threshold=13)
        >>> Policy.selection("0.1", ["k"], split=scheme, threshold=13).is_below(budget)
        True
        """
        return cls(Currency.RHO, Form((), (Slot.of(rho, keys, split, threshold, delta),)))

    @classmethod
    def selection(
        cls,
        rho: Exact,
        keys: Iterable[str],
        *,
        split: Scheme | None = None,
        threshold: int | None = None,
        delta: Exact | None = None,
    ) -> "Policy":
        """Return the policy of threshold key selection: rho * pieces^2 and delta(pieces) (T9).

        Give the threshold tau, or the delta that an unsplit record is promised. Large records
        alone in their key are openly revealed: delta(m) tends to 1.

        >>> from perrecord import Split
        >>> policy = Policy.selection("0.1", ["industry"], split=Split(employees=50), delta="1e-6")
        >>> float(policy.delta({"industry": "Mining", "employees": 500}))
        0.1297...
        """
        loss = cls.constant(rho) if split is None else cls.split(rho, split)
        return loss + cls.slot(rho, keys, split=split, threshold=threshold, delta=delta)

    # -- comparing and combining ------------------------------------------------------------

    @cached_property
    def slots(self) -> Counter[tuple[Guard, Slot]]:
        """The key selections, each with the conditions on the records that take part."""
        return Counter(every_slot(self.form))

    def is_below(self, other: "Policy", *, most_steps: int | None = None) -> bool:
        """Tell whether P(r) <= other(r) for EVERY possible record (T4).

        True is always right. Key selections must each fill one of the other's slots exactly. The
        work is bounded, by `most_steps` or to some seconds; if it runs out, the answer is False.

        >>> from perrecord import Split
        >>> scheme = Split(employees=50)
        >>> count, total = Policy.constant("0.1"), Policy.split("0.9", scheme)
        >>> (count + total).is_below(Policy.split(1, scheme))
        True
        >>> (count + total).is_below(Policy.constant(1))
        False
        """
        self._same_currency(other, "compare")
        if not self.slots <= other.slots:
            return False
        steps = None if most_steps is None else Steps(most_steps)
        return is_below(self.normal, other.normal, self.currency.power, steps)

    def excess(self, other: "Policy") -> Excess | None:
        """Return a possible record that loses more under this policy than under the other.

        It is the counter-example when `is_below` says no, on the losses alone; key selections
        are not looked at. None means that none was found: either the policy is below, or that
        could be neither proved nor disproved (a sum over several schemes on the other side).

        >>> from perrecord import Split
        >>> found = Policy.constant(2).excess(Policy.split("0.5", Split(employees=50)))
        >>> found.record, found.loss, found.limit
        ({'employees': 0}, Fraction(2, 1), Fraction(1, 2))
        """
        self._same_currency(other, "compare")
        sides = (self.form, self.normal), (other.form, other.normal)
        return find_excess(*sides, self.currency.power)

    def __add__(self, other: "Policy") -> "Policy":
        if not isinstance(other, Policy):
            return NotImplemented
        self._same_currency(other, "add")
        return Policy(self.currency, add((self.form, other.form)))

    def __radd__(self, other: object) -> "Policy":
        return self if other == 0 else NotImplemented  # so that sum(policies) works

    def __mul__(self, factor: Exact) -> "Policy":
        amount = not_negative(factor, "the factor")
        if has_slots(self.form):
            raise InputError(
                "a policy with key selections cannot be scaled: its deltas would not follow. "
                "Build it anew with the rho you want."
            )
        return Policy(self.currency, add((scale(self.form, amount),)))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return (
            self.currency is other.currency
            and self.normal == other.normal
            and self.slots == other.slots
        )

    def __hash__(self) -> int:
        return hash((self.currency, self.normal))

    def _same_currency(self, other: "Policy", verb: str) -> None:
        if not isinstance(other, Policy):
            raise InputError(
                f"cannot {verb} a policy and a {type(other).__name__}; for a plain "
                'amount write Policy.constant("0.1").'
            )
        if self.currency is not other.currency:
            raise CurrencyError(
                f"cannot {verb} a policy in {self.currency.value} and one in "
                f"{other.currency.value}. A pure epsilon-DP mechanism is epsilon tanh(epsilon/2)-"
                "zCDP: write Policy.constant(perrecord.laws.bounded_range.rho_of_pure(epsilon)) "
                "for it, or keep two separate budgets."
            )

    # -- reading ----------------------------------------------------------------------------

    @classmethod
    def from_json(cls, written: str) -> "Policy":
        """Read a policy back from its document; nothing is lost."""
        return cls(*reading.read(written))

    @classmethod
    def from_document(cls, parsed: object) -> "Policy":
        """Read a policy back from a document that stood inside another, parsed with it."""
        return cls(*reading.read_parsed(parsed))


def _of(currency: Currency, term: Term) -> Policy:
    return Policy(currency, Form((term,)))


def _common_currency(policies: Iterable[Policy]) -> Currency:
    every = list(policies)
    for policy in every:
        if not isinstance(policy, Policy):
            raise InputError(
                f"a {type(policy).__name__} is given where a policy is expected; for a plain "
                'amount write Policy.constant("0.1").'
            )
    if not every:
        raise InputError("no policy was given; give at least one.")
    for policy in every[1:]:
        every[0]._same_currency(policy, "combine")
    return every[0].currency
