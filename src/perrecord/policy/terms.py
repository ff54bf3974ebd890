"""Policy terms as frozen values, and their exact evaluation on one record (T1, T8, T11, T16).

A `Form` is a sum of terms with its key selection slots; it does not know its currency. Losses are
raised to a power that the currency decides: 2 under zCDP, 1 under pure epsilon.

    Constant(c)                    c
    SplitLoss(c, split)            c * pieces^power
    ExactLoss(c, measure, T)       c * (|value| / T)^power
    SizeLoss(c, measure, growth)   c * growth(|value|), which may be irrational
    Largest(forms)                 the largest of several forms
    Piecewise(cases)               the form of the case that the record falls into
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import chain
from typing import assert_never

from perrecord.errors import InternalError
from perrecord.exact import sqrt_up
from perrecord.laws.bounded_range import bounded_range
from perrecord.laws.scales import GaussianScale, LaplaceScale, Scale
from perrecord.policy.cases import Cases, Record, TaggedKey
from perrecord.policy.growth import Growth
from perrecord.policy.loss import Loss, largest
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme, measure


class Currency(Enum):
    """What a loss is counted in: rho of zCDP, or pure epsilon. The two never mix in one sum.

    It alone says how losses grow, which noise and which choice an amount buys, what a range of
    log ratios costs, and its words; nobody else asks which of the two it is to work these out.
    """

    RHO = "rho"
    EPSILON = "epsilon"

    @property
    def power(self) -> int:
        """How a loss grows with size: squared under zCDP, linearly under pure epsilon."""
        return 2 if self is Currency.RHO else 1

    def scale(self, sensitivity: Fraction, amount: Fraction) -> Scale:
        """Return the noise at which a shift costs an amount: D^2/(2 rho), or D/eps (T11, T16)."""
        if self is Currency.RHO:
            return GaussianScale(sensitivity**2 / (2 * amount))
        return LaplaceScale(sensitivity / amount)

    def cost(self, scale: Scale, shift: Fraction) -> Fraction:
        """Return the loss of a record that moves a number with this noise by so much."""
        return scale.rho(shift) if self is Currency.RHO else scale.epsilon(shift)

    def amount(self, amount: Fraction) -> dict[str, Fraction]:
        """Return an amount as the constructors of a policy take it: `rho=...` or `epsilon=...`."""
        return {self.value: amount}

    @property
    def words(self) -> str:
        """What a loss is in, for people."""
        return {Currency.RHO: "zCDP rho", Currency.EPSILON: "pure epsilon"}[self]

    @property
    def promise(self) -> str:
        """The name of what is promised to a record."""
        return {
            Currency.RHO: "per-record zero-concentrated differential privacy (PRzCDP)",
            Currency.EPSILON: "per-record pure differential privacy",
        }[self]

    @property
    def adds_up(self) -> bool:
        """Whether records changed together lose the sum of their losses (T16), and no more (T7)."""
        return self.power == 1

    @property
    def selects_keys(self) -> bool:
        """Whether noise may decide which keys and cells are published: under zCDP alone (T9)."""
        return self is Currency.RHO

    def log_ratios(self, amount: Fraction) -> Fraction:
        """Return the range of log ratios that a choice may have: eps, or sqrt(8 rho) (T14).

        Rounded down, so that it costs no more than the amount.
        """
        if self is Currency.EPSILON:
            return amount
        return 8 * amount / sqrt_up(8 * amount)

    def range_loss(self, eta: Fraction) -> Loss:
        """Return what log ratios that vary within eta cost: f(eta) (T38), or eta itself."""
        if self is Currency.EPSILON:
            return Loss(eta)
        return Loss(bounded_range(eta).upper, is_exact=not eta)


@dataclass(frozen=True, slots=True)
class Constant:
    """The same loss for every record: a plain zCDP (or pure DP) mechanism (T6)."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class SplitLoss:
    """amount * pieces^power: any mechanism run on split records (T8)."""

    amount: Fraction
    split: Scheme


@dataclass(frozen=True, slots=True)
class ExactLoss:
    """amount * (|value| / threshold)^power: the true loss of a noisy sum (T11)."""

    amount: Fraction
    measure: str
    threshold: Fraction


@dataclass(frozen=True, slots=True)
class SizeLoss:
    """amount * growth(|value|): a loss that grows in a way of its own, irrational or not (T26)."""

    amount: Fraction
    measure: str
    growth: Growth


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of several forms: a budget to be spread freely over schemes (T4)."""

    options: tuple["Form", ...]


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A form per part of a public partition: parallel composition (T5)."""

    cases: Cases["Form"]


Term = Constant | SplitLoss | ExactLoss | SizeLoss | Largest | Piecewise


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of terms, and the key selections that go with it."""

    terms: tuple[Term, ...] = ()
    slots: tuple[Slot, ...] = ()


def evaluate(form: Form, record: Record, power: int) -> Loss:
    """Return the loss of one record: exactly, or rounded up where it is irrational."""
    total, others = Fraction(0), []
    for term in form.terms:
        match term:
            case Constant(amount):
                total += amount
            case SplitLoss(amount, split):
                total += amount * split.pieces(record) ** power
            case ExactLoss(amount, name, threshold):
                total += amount * abs((measure(record, name) or 0) / threshold) ** power
            case SizeLoss(amount, name, growth):
                size = abs(Fraction(measure(record, name) or 0))
                others.append(growth.loss(size).times(amount))
            case Largest(options):
                others.append(largest(evaluate(option, record, power) for option in options))
            case Piecewise(cases):
                others.append(evaluate(cases.at(record), record, power))
            case _:
                assert_never(term)
    return sum(others, Loss(total))


def totals_apart(form: Form, one: Record, other: Record, power: int) -> tuple[Fraction, Form]:
    """Return what the difference of two records costs the totals of a form, and what is no total.

    Exact and growing terms are taken for totals with noise of their own (T27), those of a case if
    both records fall into it.
    """
    cost, rest = Fraction(0), list[Term]()
    for term in form.terms:
        match term:
            case ExactLoss(amount, name, threshold):
                cost += amount * (_distance(name, one, other) / threshold) ** power
            case SizeLoss(amount, name, growth):
                before, after = (Fraction(measure(each, name) or 0) for each in (one, other))
                cost += growth.change(before, after).amount * amount
            case Piecewise(cases) if cases.locate(one)[0] == cases.locate(other)[0]:
                inside, left = totals_apart(cases.at(one), one, other, power)
                cost += inside
                rest += left.terms
            case _:
                rest.append(term)
    return cost, Form(tuple(rest))


def measures_of(form: Form) -> Iterator[str]:
    """Yield every measure that some term is about, some more than once."""
    for term in form.terms:
        match term:
            case ExactLoss(_, name, _) | SizeLoss(_, name, _):
                yield name
            case SplitLoss(_, split):
                yield from split.measures
            case Largest(options):
                yield from chain.from_iterable(map(measures_of, options))
            case Piecewise(cases):
                yield from chain.from_iterable(map(measures_of, cases.values()))


def _distance(name: str, one: Record, other: Record) -> Fraction:
    return abs(Fraction(measure(one, name) or 0) - Fraction(measure(other, name) or 0))


Condition = tuple[tuple[str, ...], TaggedKey | frozenset[TaggedKey]]
"""Dimensions, and the key that they must equal or the keys that they must not."""

Guard = frozenset[Condition]
"""All conditions that a record must meet to take part in a key selection."""


def slots_of(form: Form, record: Record) -> Iterator[tuple[Guard, Slot]]:
    """Yield the key selections that the record takes part in.

    Each (guard, slot) is one run, on the records that meet the guard.
    """
    for slot in form.slots:
        yield frozenset(), slot
    for term in form.terms:
        if isinstance(term, Piecewise):
            key, part = term.cases.locate(record)
            condition = _condition(term.cases, key)
            for guard, slot in slots_of(part, record):
                yield guard | {condition}, slot


def every_slot(form: Form) -> Iterator[tuple[Guard, Slot]]:
    """Yield every key selection with its guard, whichever records take part."""
    for slot in form.slots:
        yield frozenset(), slot
    for term in form.terms:
        if isinstance(term, Piecewise):
            parts: list[tuple[TaggedKey | None, Form]] = [*term.cases.tagged_items()]
            if term.cases.default is not None:
                parts.append((None, term.cases.default))
            for key, part in parts:
                if has_slots(part):
                    condition = _condition(term.cases, key)
                    yield from ((guard | {condition}, slot) for guard, slot in every_slot(part))


def _condition(cases: Cases[Form], key: TaggedKey | None) -> Condition:
    """Return the condition of a case, its dimensions in alphabetical order."""
    order = sorted(range(len(cases.dimensions)), key=lambda index: cases.dimensions[index])
    names = tuple(cases.dimensions[index] for index in order)
    if key is not None:
        return names, tuple(key[index] for index in order)
    others = (tuple(known[index] for index in order) for known, _ in cases.tagged_items())
    return names, frozenset(others)


def has_slots(form: Form) -> bool:
    """Tell whether any record takes part in a key selection."""
    return bool(form.slots) or any(
        has_slots(part)
        for term in form.terms
        if isinstance(term, Piecewise)
        for part in term.cases.values()
    )


def add(forms: Iterable[Form]) -> Form:
    """Return the sum of forms, like terms gathered."""
    terms: dict[object, Term] = {}
    slots: list[Slot] = []
    for form in forms:
        slots.extend(form.slots)
        for term in form.terms:
            kind = _kind(term)
            terms[kind] = _together(terms[kind], term) if kind in terms else term
    return Form(tuple(terms.values()), tuple(slots))


def _kind(term: Term) -> object:
    """Return what two terms must share to be written as one."""
    match term:
        case Constant():
            return Constant
        case SplitLoss(_, split):
            return split
        case ExactLoss(_, name, threshold):
            return name, threshold
        case SizeLoss(_, name, growth):
            return name, growth
        case Piecewise(cases) if not has_slots(Form((term,))):  # merging would split its runs
            return Piecewise, cases.dimensions, cases.kinds  # each table keeps its own types
        case Piecewise() | Largest():
            return object()


def _together(first: Term, second: Term) -> Term:
    """Return one term for the sum of two of the same kind."""
    match first, second:
        case Constant(a), Constant(b):
            return Constant(a + b)
        case SplitLoss(a, split), SplitLoss(b):
            return SplitLoss(a + b, split)
        case ExactLoss(a, name, threshold), ExactLoss(b):
            return ExactLoss(a + b, name, threshold)
        case SizeLoss(a, name, growth), SizeLoss(b):
            return SizeLoss(a + b, name, growth)
        case Piecewise(cases), Piecewise(others):
            return Piecewise(cases.merge(others, lambda a, b: add((a, b))))
        case _:
            raise InternalError("Two terms of different kinds were added into one.")


def scale(form: Form, factor: Fraction) -> Form:
    """Return the form with every amount multiplied; slots stay as they are."""
    terms: list[Term] = []
    for term in form.terms:
        match term:
            case Constant(amount) | SplitLoss(amount) | ExactLoss(amount) | SizeLoss(amount):
                terms.append(replace(term, amount=amount * factor))
            case Largest(options):
                terms.append(Largest(tuple(scale(option, factor) for option in options)))
            case Piecewise(cases):
                terms.append(Piecewise(cases.map(lambda part: scale(part, factor))))
            case _:
                assert_never(term)
    return Form(tuple(terms), form.slots)
