"""Whether one policy is below another for EVERY possible record: the ledger's question (T4).

The answer yes is always right. What is looked at is the difference of both, and whether it is
anywhere above 0:

- dimensions are decided one by one. A branch that lies below another branch of the same decision
  for every record need not be looked at: filters, whose records either pay or do not, are decided
  at once, however many there are.
- before the branches of a decision are tried, a bound is: the difference with the largest amount of
  each term that any combination of branches gives it. If that is never above 0, none of them is.
  Dimensions that are independent of each other are also tried one by one.
- every option of a maximum on the left stands for itself, in the same way.
- what is left is two sums of terms, answered by one of two proofs: `cover`, the right side pays for
  the left term by term (sound, any number of schemes); `corners`, a walk over the records where the
  inequality is tightest (exact, one scheme on the right).

Work is counted in steps. When they run out nothing is proved, and the answer is no. docs/theory.md
says where the answer is complete, and shows a true inequality that gets a no.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from perrecord.policy.corners import walk
from perrecord.policy.cover import Weights, covers
from perrecord.policy.normal import (
    OTHER,
    UNDEFINED,
    Basis,
    LargestOf,
    Normal,
    Part,
    dimensions_of,
    independent,
    named_values,
    restrict,
    times,
    total,
)
from perrecord.policy.steps import OutOfStepsError, Steps

Decided = dict[str, object]
"""Dimensions, each with the value that was chosen for it."""

_MOST_RIVALS = 8
"""Branches that each other one is compared with."""
_MANY_BRANCHES = 50
"""Of so many, each is compared with the largest one alone, term by term."""


def is_below(left: Normal, right: Normal, power: int, steps: Steps | None = None) -> bool:
    """Tell whether left(r) <= right(r) for every record r; no if the steps run out."""
    try:
        return next(unproved(left, right, power, steps or steps_for(left, right)), None) is None
    except OutOfStepsError:
        return False


def steps_for(left: Normal, right: Normal) -> Steps:
    """Return what a comparison of two forms may take."""
    return Steps.for_size(_size(left) + _size(right))


def _size(one: Normal) -> int:
    inner = (form for part in one.parts for form in (*part.table.values(), part.default))
    return len(one.weights) + sum(1 + _size(form) for form in inner)


@dataclass(frozen=True, slots=True)
class Unproved:
    """A place where it is not proved that left <= right: decided dimensions, and both sums there.

    The sums are None where just one side is defined.
    """

    decided: Decided
    sums: tuple[Weights, Weights] | None


def unproved(left: Normal, right: Normal, power: int, steps: Steps) -> Iterator[Unproved]:
    """Yield the places where left <= right is not proved; raises when the steps run out.

    If there is none, left <= right everywhere. If there are some, not all need be yielded: a branch
    below another one is left out.
    """
    yield from _defined_alike(left, right, _Search(power, steps), {})


@dataclass(slots=True)
class _Search:
    power: int
    steps: Steps
    proved: set[Normal] = field(default_factory=set)
    """Differences that are known to be nowhere above 0."""
    branches: "dict[tuple[str, frozenset[Part]], list[_Branch]]" = field(default_factory=dict)
    """The branches of a dimension that are left, by the parts that ask for it."""


def _defined_alike(
    left: Normal, right: Normal, search: _Search, decided: Decided
) -> Iterator[Unproved]:
    """Decide what tells whether the sides are defined, then look at their difference."""
    search.steps.take()
    if left == right:
        return
    if UNDEFINED in (left, right):
        yield Unproved(decided, None)
        return
    partial = [part for part in (*left.parts, *right.parts) if _is_partial(part)]
    if not partial:
        yield from _above(total([left, times(right, Fraction(-1))]), search, decided)
        return
    dimension = min(part.dimension for part in partial)
    for value in _values(dimension, [left, right]):
        search.steps.take(len(left.parts) + len(right.parts))
        low, high = restrict(left, dimension, value), restrict(right, dimension, value)
        yield from _defined_alike(low, high, search, {**decided, dimension: value})


def _is_partial(part: Part) -> bool:
    forms = (*part.table.values(), part.default)
    return any(
        form == UNDEFINED or any(_is_partial(inner) for inner in form.parts) for form in forms
    )


def _above(one: Normal, search: _Search, decided: Decided) -> Iterator[Unproved]:
    """Yield places where a difference is not proved to be at most 0."""
    if one.parts and not _is_above(_sides(bound(one, search.steps)), search):
        return
    one, decided = _settled(one, search, decided)
    if not one.parts:
        for left, right in _sums_above(_sides(dict(one.weights)), search):
            yield Unproved(decided, (left, right))
        return
    search.steps.take(1 + len(one.parts))
    if one in search.proved:
        return
    if _is_below_apart(one, search):
        search.proved.add(one)
        return
    found = False
    dimension, branches = _fewest(one, search)
    for value, branch in branches:
        for place in _above(_decide(one, dimension, branch), search, {**decided, dimension: value}):
            found = True
            yield place
    if not found:
        search.proved.add(one)


def _is_below_apart(one: Normal, search: _Search) -> bool:
    """Try independent dimensions one by one: cheap where each is nowhere above 0 by itself."""
    groups = independent(one.parts)
    if len(groups) == 1:
        return False
    forms = [Normal(one.weights), *(Normal(parts=frozenset(group)) for group in groups)]
    return all(next(_above(form, search, {}), None) is None for form in forms)


_Branch = tuple[object, Normal]
"""A value of a dimension, and what the parts that ask for it come to."""


def _settled(one: Normal, search: _Search, decided: Decided) -> tuple[Normal, Decided]:
    """Decide every dimension that has one branch above all its others."""
    decided = dict(decided)
    waiting = sorted({part.dimension for part in one.parts})
    while waiting:
        dimension = waiting.pop(0)
        branches = _branches(one, dimension, search)
        if len(branches) == 1:
            ((decided[dimension], branch),) = branches
            one = _decide(one, dimension, branch)
            # What was below the decision is at the top now.
            waiting = sorted({part.dimension for part in one.parts} & {*waiting, *_leading(branch)})
    return one, decided


def _leading(branch: Normal) -> set[str]:
    return {part.dimension for part in branch.parts}


def _fewest(one: Normal, search: _Search) -> tuple[str, list[_Branch]]:
    """Return the dimension with the fewest branches left; a first one where several have as few."""
    every = [
        (dimension, _branches(one, dimension, search))
        for dimension in sorted({part.dimension for part in one.parts})
    ]
    return min(every, key=lambda pair: len(pair[1]))


def _branches(one: Normal, dimension: str, search: _Search) -> list[_Branch]:
    """Return the branches of a dimension, without those that are below another for every record."""
    parts = frozenset(part for part in one.parts if _asks(part, dimension))
    known = search.branches.get((dimension, parts))
    if known is None:
        known = _largest_branches(Normal(parts=parts), dimension, search)
        search.branches[dimension, parts] = known
    return known


def _largest_branches(asking: Normal, dimension: str, search: _Search) -> list[_Branch]:
    forms: dict[Normal, object] = {}
    for value in _values(dimension, [asking]):
        search.steps.take(len(asking.parts))
        forms.setdefault(restrict(asking, dimension, value), value)
    bounds = {form: bound(form, search.steps) for form in forms}
    # The largest first: then most others are found to be below it at once.
    order = sorted(forms, key=lambda form: -sum(bounds[form].values()))
    is_many = len(order) > _MANY_BRANCHES
    kept: list[Normal] = []
    for form in order:
        rivals = kept[: 1 if is_many else _MOST_RIVALS]
        if not any(_lies_below(form, other, search, by_term=is_many) for other in rivals):
            kept.append(form)
    return [(forms[form], form) for form in kept]


def _asks(part: Part, dimension: str) -> bool:
    return part.dimension <= dimension and dimension in dimensions_of(part)


def _decide(one: Normal, dimension: str, branch: Normal) -> Normal:
    """Return the difference with a branch in the place of the parts that ask for a dimension."""
    others = frozenset(part for part in one.parts if not _asks(part, dimension))
    return total([Normal(one.weights, others), branch])


def _lies_below(low: Normal, high: Normal, search: _Search, *, by_term: bool) -> bool:
    """Tell whether one branch is below another for every record, without deciding anything."""
    search.steps.take(1 + len(low.weights) + len(high.weights))
    most = bound(total([low, times(high, Fraction(-1))]), search.steps)
    if by_term:
        return all(weight <= 0 for weight in most.values())
    return not _is_above(_sides(most), search)


def bound(one: Normal, steps: Steps) -> Weights:
    """Return a sum that is never below a form: of each term, the most that any branch holds."""
    most = dict(one.weights)
    for part in one.parts:
        held: dict[Basis, list[Fraction]] = {}
        branches = (*part.table.values(), part.default)
        for branch in branches:
            inner = bound(branch, steps)
            steps.take(1 + len(inner))
            for basis, weight in inner.items():
                held.setdefault(basis, []).append(weight)
        for basis, weights in held.items():
            if len(weights) < len(branches):
                weights.append(Fraction(0))  # a branch without the term
            most[basis] = most.get(basis, Fraction(0)) + max(weights)
    return {basis: weight for basis, weight in most.items() if weight}


def _values(dimension: str, normals: Iterable[Normal]) -> list[object]:
    """Return every named value of a dimension, wherever it is asked for; then OTHER."""
    found: set[object] = {OTHER}
    waiting = list(normals)
    while waiting:
        one = waiting.pop()
        found |= named_values(dimension, [one])
        for part in one.parts:
            if part.dimension < dimension:
                waiting += [form for form in (*part.table.values(), part.default) if form.parts]
    return sorted(found, key=_order)


def _order(value: object) -> tuple[bool, str, str]:
    """Sort named values alike in every process, and every other value last."""
    return value is OTHER, type(value).__name__, "" if value is OTHER else str(value)


# -- two sums of terms ---------------------------------------------------------------------------

Sides = tuple[Weights, Weights]


def _sides(difference: Weights) -> Sides:
    """Return a difference as two sums, left - right, that share no term."""
    left = {basis: weight for basis, weight in difference.items() if weight > 0}
    return left, {basis: -weight for basis, weight in difference.items() if weight < 0}


def _is_above(sides: Sides, search: _Search) -> bool:
    return next(_sums_above(sides, search), None) is not None


def _sums_above(sides: Sides, search: _Search) -> Iterator[Sides]:
    """Yield the sums, a choice among the options of every maximum on the left, not proved below."""
    left, right = sides
    maxima = [basis for basis in left if isinstance(basis, LargestOf)]
    if not maxima:
        if not _is_proved(left, right, search):
            yield left, right
        return
    if not _is_above(_with_largest_amounts(sides, maxima), search):
        return
    first = min(maxima, key=lambda basis: (len(basis.options), str(left[basis])))
    for option in sorted(first.options, key=_amount, reverse=True):
        search.steps.take(1 + len(left) + len(option.weights))
        yield from _sums_above(_instead(sides, first, dict(option.weights)), search)


def _amount(option: Normal) -> Fraction:
    """Return what all terms of a sum hold together; where it is largest, an excess is likely."""
    return sum((weight for _, weight in option.weights), Fraction(0))


def _with_largest_amounts(sides: Sides, maxima: list[LargestOf]) -> Sides:
    """Return the sums with the most of each term that any option holds for every maximum."""
    for largest in maxima:
        most: Weights = {}
        for option in largest.options:
            for basis, weight in option.weights:
                most[basis] = max(weight, most.get(basis, Fraction(0)))
        sides = _instead(sides, largest, most)
    return sides


def _instead(sides: Sides, largest: LargestOf, option: Weights) -> Sides:
    """Return both sums with a sum in the place of a maximum on the left."""
    left, right = sides
    factor = left[largest]
    difference = {basis: weight for basis, weight in left.items() if basis != largest}
    for basis, weight in right.items():
        difference[basis] = -weight
    for basis, weight in option.items():
        difference[basis] = difference.get(basis, Fraction(0)) + factor * weight
    return _sides(difference)


def _is_proved(left: Weights, right: Weights, search: _Search) -> bool:
    search.steps.take(1 + len(left) + len(right))
    return (
        not left
        or covers(left, right, search.power, search.steps)
        or walk(left, right, search.power, search.steps) is True
    )
