"""A record that one policy takes beyond another: the counter-example behind a no of `is_below`.

`dominate` names places where nothing is proved: dimensions, and the sums of terms there. The search
looks there at the records where `corners` says that the inequality is tightest, and at a few more.
Whatever is found is evaluated, irrational losses as what they are at least and at most, so a record
that is returned is a counter-example without any proof.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import RecordError, UnknownCaseError
from perrecord.policy.cases import Cases, Record
from perrecord.policy.corners import walk
from perrecord.policy.dominate import Unproved, steps_for, unproved
from perrecord.policy.loss import Loss
from perrecord.policy.normal import OTHER, Normal
from perrecord.policy.split import Scheme, SplitBy
from perrecord.policy.steps import OutOfStepsError, Steps
from perrecord.policy.terms import (
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    evaluate,
)
from perrecord.policy.tightest import exceeded_at

_MOST_FRUITLESS = 5
"""Sums without a proof either way that are searched before giving up."""


@dataclass(frozen=True, slots=True)
class Excess:
    """A possible record whose loss under one policy exceeds its loss under another.

    A side is None where that policy has no case for the record.
    """

    record: Record
    loss: Fraction | None
    limit: Fraction | None


def find_excess(left: tuple[Form, Normal], right: tuple[Form, Normal], power: int) -> Excess | None:
    """Return a record with left(r) > right(r); None if the search meets none."""
    fields = _Fields.of((left[0], right[0]))
    steps = steps_for(left[1], right[1])
    try:
        for tried, place in enumerate(unproved(left[1], right[1], power, steps)):
            for record in fields.records(place.decided, _measures(place, power, steps)):
                found = _compare(left[0], right[0], record, power)
                if found is not None:
                    return found
            if tried >= _MOST_FRUITLESS:
                break
    except OutOfStepsError:
        pass
    return None


def _measures(place: Unproved, power: int, steps: Steps) -> dict[str, Fraction] | None:
    """Return measures at which the left side is the larger; None if none were found."""
    if place.sums is None:
        return {}
    left, right = place.sums
    is_refuted = walk(left, right, power, steps) is False
    return exceeded_at(left, right, power, every_corner=is_refuted)


def _compare(left: Form, right: Form, record: Record, power: int) -> Excess | None:
    """Return the excess if it is one; a record of the wrong types is none."""
    losses: list[Loss | None] = []
    for form in (left, right):
        try:
            losses.append(evaluate(form, record, power))
        except UnknownCaseError:
            losses.append(None)
        except RecordError:
            return None
    loss, limit = losses
    is_excess = loss is not limit if loss is None or limit is None else loss.is_above(limit)
    return Excess(record, _amount(loss), _amount(limit)) if is_excess else None


def _amount(loss: Loss | None) -> Fraction | None:
    return None if loss is None else loss.amount


@dataclass(frozen=True, slots=True)
class _Fields:
    """What a record must hold for some forms to be evaluated on it."""

    measures: frozenset[str]
    dimensions: dict[str, set[object]]
    """Every dimension with the values that any case names."""

    @classmethod
    def of(cls, forms: Iterable[Form]) -> "_Fields":
        measures: set[str] = set()
        dimensions: dict[str, set[object]] = {}
        for form in forms:
            _gather(form, measures, dimensions)
        return cls(frozenset(measures), dimensions)

    def records(
        self, decided: dict[str, object], measures: dict[str, Fraction] | None
    ) -> Iterator[Record]:
        """Yield whole records; dimensions left open take a value that no case names, or null.

        Null comes second because it reads badly, and is tried because every table takes it.
        """
        if measures is None:
            return
        for unnamed in (_unnamed, lambda _: None):
            chosen: dict[str, Any] = {}
            for name, named in sorted(self.dimensions.items()):
                value = decided.get(name, OTHER)
                if value is OTHER:
                    chosen[name] = unnamed(named)
                else:
                    chosen[name] = value[0] if isinstance(value, tuple) else value
            for name in sorted(self.measures):
                size = measures.get(name, Fraction(0))
                chosen[name] = int(size) if size.denominator == 1 else size
            yield chosen


def _gather(form: Form, measures: set[str], dimensions: dict[str, set[object]]) -> None:
    for term in form.terms:
        match term:
            case SplitLoss(_, split):
                _gather_scheme(split, measures, dimensions)
            case ExactLoss(_, name, _) | SizeLoss(_, name, _):
                measures.add(name)
            case Largest(options):
                for option in options:
                    _gather(option, measures, dimensions)
            case Piecewise(cases):
                _gather_cases(cases, dimensions)
                for part in cases.values():
                    _gather(part, measures, dimensions)
            case _:
                pass


def _gather_scheme(scheme: Scheme, measures: set[str], dimensions: dict[str, set[object]]) -> None:
    measures.update(scheme.measures)
    if isinstance(scheme, SplitBy):
        _gather_cases(scheme.cases, dimensions)
        for inner in scheme.cases.values():
            _gather_scheme(inner, measures, dimensions)


def _gather_cases(cases: Cases[Any], dimensions: dict[str, set[object]]) -> None:
    for position, name in enumerate(cases.dimensions):
        dimensions.setdefault(name, set()).update(key[position] for key, _ in cases.entries)


def _unnamed(named: set[object]) -> object:
    """Return a value that no case names, of a type that the cases have where there is one."""
    texts = {value for value in named if isinstance(value, str)}
    numbers = {value for value in named if type(value) is int}
    if texts:
        fresh = "other"
        while fresh in texts:
            fresh += "_"
        return fresh
    if numbers:
        return max(numbers) + 1
    return next((value for value in (None, False, True) if value not in named), None)
