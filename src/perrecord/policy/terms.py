"""Policy terms as frozen values, and their exact evaluation on one record (T1, T8, T11, T16).

A `Form` is a sum of terms with its key selection slots; it does not know its currency. Losses are
raised to a power that the currency decides: 2 under zCDP, 1 under pure epsilon.

    Constant(c)                    c
    SplitLoss(c, split)            c * pieces^power
    ExactLoss(c, measure, T)       c * (|value| / T)^power
    Largest(forms)                 the largest of several forms
    Piecewise(cases)               the form of the case that the record falls into
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import assert_never

from perrecord.policy.cases import Cases, Record
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme, measure


class Currency(Enum):
    """What a loss is counted in. The two never mix in one sum."""

    RHO = "rho"
    EPSILON = "epsilon"

    @property
    def power(self) -> int:
        """How a loss grows with size: squared under zCDP, linearly under pure epsilon."""
        return 2 if self is Currency.RHO else 1


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
class Largest:
    """The largest of several forms: a budget to be spread freely over schemes (T4)."""

    options: tuple["Form", ...]


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A form per part of a public partition: parallel composition (T5)."""

    cases: Cases["Form"]


Term = Constant | SplitLoss | ExactLoss | Largest | Piecewise


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of terms, and the key selections that go with it."""

    terms: tuple[Term, ...] = ()
    slots: tuple[Slot, ...] = ()


def evaluate(form: Form, record: Record, power: int) -> Fraction:
    """Return the loss of one record, exactly."""
    total = Fraction(0)
    for term in form.terms:
        match term:
            case Constant(amount):
                total += amount
            case SplitLoss(amount, split):
                total += amount * split.pieces(record) ** power
            case ExactLoss(amount, name, threshold):
                total += amount * abs((measure(record, name) or 0) / threshold) ** power
            case Largest(options):
                total += max(evaluate(option, record, power) for option in options)
            case Piecewise(cases):
                total += evaluate(cases.at(record), record, power)
            case _:
                assert_never(term)
    return total


Part = tuple[int, ...]
"""Which part of a piecewise policy a slot stands in, from the outside in."""


def slots_of(form: Form, record: Record, part: Part = ()) -> Iterator[tuple[Slot, Part]]:
    """Yield the key selections that the record takes part in, with where each one stands."""
    for slot in form.slots:
        yield slot, part
    for term in form.terms:
        if isinstance(term, Piecewise):
            chosen = term.cases.at(record)
            yield from slots_of(chosen, record, (*part, id(chosen)))


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
    terms: list[Term] = []
    slots: list[Slot] = []
    for form in forms:
        slots.extend(form.slots)
        for term in form.terms:
            _gather(terms, term)
    return Form(tuple(terms), tuple(slots))


def _gather(terms: list[Term], term: Term) -> None:
    for index, known in enumerate(terms):
        together = _together(known, term)
        if together is not None:
            terms[index] = together
            return
    terms.append(term)


def _together(first: Term, second: Term) -> Term | None:
    """Return one term for the sum of two, where they are of the same kind."""
    match first, second:
        case Constant(a), Constant(b):
            return Constant(a + b)
        case SplitLoss(a, scheme), SplitLoss(b, other) if scheme == other:
            return SplitLoss(a + b, scheme)
        case ExactLoss(a, name, at), ExactLoss(b, other_name, other_at) if (name, at) == (
            other_name,
            other_at,
        ):
            return ExactLoss(a + b, name, at)
        case Piecewise(cases), Piecewise(others) if cases.dimensions == others.dimensions:
            return Piecewise(cases.merge(others, lambda a, b: add((a, b))))
        case _:
            return None


def scale(form: Form, factor: Fraction) -> Form:
    """Return the form with every amount multiplied; slots stay as they are."""
    terms: list[Term] = []
    for term in form.terms:
        match term:
            case Constant(amount) | SplitLoss(amount) | ExactLoss(amount):
                terms.append(replace(term, amount=amount * factor))
            case Largest(options):
                terms.append(Largest(tuple(scale(option, factor) for option in options)))
            case Piecewise(cases):
                terms.append(Piecewise(cases.map(lambda part: scale(part, factor))))
            case _:
                assert_never(term)
    return Form(tuple(terms), form.slots)
