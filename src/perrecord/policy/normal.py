"""The normal form of a policy: what equality and `is_below` work on.

A normal form is a weighted sum of basis functions plus at most one `Part` per leading dimension.
A part is a decision on one dimension whose branches are normal forms over later dimensions (in
alphabetical order). What all branches of a part share is taken out of it, branches equal to the
default are dropped, and the largest of several piece counts with one weight is itself a piece
count. Equal normal forms are the same function of the record.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar, assert_never

from perrecord.policy.cases import Cases, TaggedKey
from perrecord.policy.growth import Growth
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import (
    Constant,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    Term,
)

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class One:
    """The basis function 1."""


@dataclass(frozen=True, slots=True)
class PiecesOf:
    """The basis function pieces^power of a plain scheme."""

    split: Split


@dataclass(frozen=True, slots=True)
class PowerOf:
    """The basis function |value|^power of a measure."""

    measure: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The basis function growth(|value|) of a measure."""

    measure: str
    growth: Growth


@dataclass(frozen=True, slots=True)
class LargestOf:
    """The basis function max over plain options, scaled so that all their weights add up to 1."""

    options: "frozenset[Normal]"


@dataclass(frozen=True, slots=True)
class Nowhere:
    """The basis function of records that no case covers: a sum that holds it is undefined."""


Basis = One | PiecesOf | PowerOf | SizeOf | LargestOf | Nowhere

OTHER = object()
"""Stands for any value of a dimension that no case names."""


@dataclass(frozen=True, slots=True)
class Part:
    """A decision on one dimension: a branch per named value, and one for every other."""

    dimension: str
    branches: "frozenset[tuple[object, Normal]]"
    default: "Normal"
    table: "dict[object, Normal]" = field(compare=False, repr=False)

    @classmethod
    def of(cls, dimension: str, table: "dict[object, Normal]", default: "Normal") -> "Part":
        """Build from a dictionary of branches."""
        return cls(dimension, frozenset(table.items()), default, table)


@dataclass(frozen=True, slots=True)
class Normal:
    """A weighted sum of basis functions and parts."""

    weights: frozenset[tuple[Basis, Fraction]] = frozenset()
    parts: frozenset[Part] = frozenset()


UNDEFINED = Normal(frozenset({(Nowhere(), Fraction(1))}))


def normal(form: Form, power: int) -> Normal:
    """Return the normal form of a form's loss; slots are compared apart."""
    return total(_of_term(term, power) for term in form.terms)


def total(normals: Iterable[Normal]) -> Normal:
    """Return the sum of normal forms."""
    weights: dict[Basis, Fraction] = {}
    parts: dict[str, list[Part]] = {}
    for one in normals:
        if one == UNDEFINED:
            return UNDEFINED
        for basis, weight in one.weights:
            weights[basis] = weights.get(basis, Fraction(0)) + weight
        for part in one.parts:
            parts.setdefault(part.dimension, []).append(part)
    alone = frozenset(group[0] for group in parts.values() if len(group) == 1)
    plain = Normal(_kept(weights), alone)
    together = [_add_parts(group) for group in parts.values() if len(group) > 1]
    return total([plain, *together]) if together else plain


def times(one: Normal, factor: Fraction) -> Normal:
    """Return a normal form with its weights multiplied, by a negative number too."""
    if one == UNDEFINED:
        return one
    weights = frozenset((basis, weight * factor) for basis, weight in one.weights)
    return Normal(weights, frozenset(_times_part(part, factor) for part in one.parts))


def _times_part(part: Part, factor: Fraction) -> Part:
    table = {value: times(form, factor) for value, form in part.table.items()}
    return Part.of(part.dimension, table, times(part.default, factor))


def leading_dimension(normals: Iterable[Normal]) -> str | None:
    """Return the first dimension that any of the forms decides on; None if all are plain."""
    return min((part.dimension for one in normals for part in one.parts), default=None)


def named_values(dimension: str, normals: Iterable[Normal]) -> set[object]:
    """Return every value of a leading dimension that some branch names, and OTHER."""
    parts = [part for one in normals for part in one.parts if part.dimension == dimension]
    return {OTHER}.union(*(part.table for part in parts))


def independent(parts: Iterable[Part]) -> list[list[Part]]:
    """Gather parts that share a dimension; different groups can be decided apart."""
    groups: list[tuple[set[str], list[Part]]] = []
    for part in parts:
        dimensions, members = dimensions_of(part), [part]
        apart = []
        for others, known in groups:
            if others & dimensions:
                dimensions, members = dimensions | others, members + known
            else:
                apart.append((others, known))
        groups = [*apart, (dimensions, members)]
    return [members for _, members in groups]


def dimensions_of(part: Part) -> set[str]:
    """Return every dimension that a part decides on, first or later."""
    inside = {inner for form in (*part.table.values(), part.default) for inner in form.parts}
    return {part.dimension}.union(*(dimensions_of(inner) for inner in inside))


def restrict(one: Normal, dimension: str, value: object) -> Normal:
    """Return the form for records with this value of the dimension."""
    pieces = [Normal(one.weights)]
    for part in one.parts:
        if part.dimension == dimension:
            pieces.append(part.table.get(value, part.default))
        elif part.dimension > dimension:  # decides on later dimensions only
            pieces.append(Normal(parts=frozenset({part})))
        else:
            inner = {known: restrict(form, dimension, value) for known, form in part.table.items()}
            pieces.append(_branch(part.dimension, inner, restrict(part.default, dimension, value)))
    return total(pieces)


def _of_term(term: Term, power: int) -> Normal:
    match term:
        case Constant(amount):
            return _single(One(), amount)
        case SplitLoss(amount, split):
            return _of_split(amount, split)
        case ExactLoss(amount, measure, threshold):
            return _single(PowerOf(measure), amount / threshold**power)
        case SizeLoss(amount, measure, growth):
            return _single(SizeOf(measure, growth), amount)
        case Largest(options):
            return _largest([normal(option, power) for option in options])
        case Piecewise(cases):
            return _tree(cases, lambda form: normal(form, power))
        case _:
            assert_never(term)


def _of_split(amount: Fraction, split: Scheme) -> Normal:
    match split:
        case Split(cap=1):
            return _single(One(), amount)
        case Split():
            return _single(PiecesOf(split), amount)
        case SplitBy(cases):
            return _tree(cases, lambda inner: _of_split(amount, inner))


def _single(basis: Basis, weight: Fraction) -> Normal:
    return Normal(_kept({basis: weight}))


def _kept(weights: Mapping[Basis, Fraction]) -> frozenset[tuple[Basis, Fraction]]:
    return frozenset((basis, weight) for basis, weight in weights.items() if weight)


def _tree(cases: Cases[V], leaf: Callable[[V], Normal]) -> Normal:
    """Turn a table over several dimensions into decisions on one after the other."""
    order = sorted(range(len(cases.dimensions)), key=lambda index: cases.dimensions[index])
    default = UNDEFINED if cases.default is None else leaf(cases.default)
    rows = [
        (tuple(key[index] for index in order), leaf(value)) for key, value in cases.tagged_items()
    ]

    def decide(depth: int, rows: list[tuple[TaggedKey, Normal]]) -> Normal:
        if depth == len(order):
            return rows[0][1]
        groups: dict[object, list[tuple[TaggedKey, Normal]]] = {}
        for row in rows:
            groups.setdefault(row[0][depth], []).append(row)
        branches = {value: decide(depth + 1, group) for value, group in groups.items()}
        return _branch(cases.dimensions[order[depth]], branches, default)

    return decide(0, rows)


def _branch(dimension: str, branches: dict[object, Normal], default: Normal) -> Normal:
    """Return a decision on one dimension, whatever dimensions its branches decide on."""
    first = leading_dimension([*branches.values(), default])
    if first is not None and first < dimension:
        values = named_values(first, [*branches.values(), default])
        outer = {
            value: _branch(
                dimension,
                {known: restrict(form, first, value) for known, form in branches.items()},
                restrict(default, first, value),
            )
            for value in values
        }
        return _branch(first, outer, outer.pop(OTHER))
    if first == dimension:  # a branch that asks again for what is already known
        branches = {
            value: restrict(branches.get(value, default), dimension, value)
            for value in branches.keys() | (named_values(dimension, [default]) - {OTHER})
        }
        default = restrict(default, dimension, OTHER)
    return _without_common(dimension, branches, default)


def _without_common(dimension: str, branches: dict[object, Normal], default: Normal) -> Normal:
    different = {value: form for value, form in branches.items() if form != default}
    if not different:
        return default
    forms = [form for form in (*different.values(), default) if form != UNDEFINED]
    common = _common(forms)
    shared = frozenset.intersection(*(form.parts for form in forms))
    table = {value: _minus(form, common, shared) for value, form in different.items()}
    part = Part.of(dimension, table, _minus(default, common, shared))
    return Normal(_kept(common), shared | {part})


def _common(forms: list[Normal]) -> dict[Basis, Fraction]:
    """Return the weights that every form holds at least."""
    first, *others = [dict(form.weights) for form in forms]
    return {
        basis: min([weight, *(other.get(basis, Fraction(0)) for other in others)])
        for basis, weight in first.items()
    }


def _minus(
    form: Normal, common: Mapping[Basis, Fraction], shared: frozenset[Part] = frozenset()
) -> Normal:
    if form == UNDEFINED:
        return form
    rest = dict(form.weights)
    for basis, weight in common.items():
        rest[basis] = rest.get(basis, Fraction(0)) - weight
    return Normal(_kept(rest), form.parts - shared)


def _add_parts(parts: list[Part]) -> Normal:
    """Return the sum of decisions on the same dimension, branch by branch."""
    values = {value for part in parts for value in part.table}
    branches = {
        value: total(part.table.get(value, part.default) for part in parts) for value in values
    }
    return _branch(parts[0].dimension, branches, total(part.default for part in parts))


def _largest(options: list[Normal]) -> Normal:
    """Return the maximum of forms: decided first, then taken between plain forms."""
    options = list(dict.fromkeys(options))
    if len(options) == 1:
        return options[0]
    first = leading_dimension(options)
    if first is not None:
        branches = {
            value: _largest([restrict(option, first, value) for option in options])
            for value in named_values(first, options)
        }
        return _branch(first, branches, branches.pop(OTHER))
    if UNDEFINED in options:
        return UNDEFINED
    common = _common(options)
    rest = _merge_schemes({_minus(option, common) for option in options} - {Normal()})
    if len(rest) > 1:
        size = sum((weight for option in rest for _, weight in option.weights), Fraction(0))
        scaled = frozenset(times(option, 1 / size) for option in rest)
        rest = {_single(LargestOf(scaled), size)}
    return total([Normal(_kept(common)), *rest])


def _merge_schemes(options: set[Normal]) -> set[Normal]:
    """Replace piece counts of one weight by the piece count of their least thresholds.

    The largest of several counts max(1, ceil(|x|/T), ...) is the count of the scheme that takes
    the least threshold of each measure; under different caps it is not, so those stay apart.
    """
    least: dict[tuple[Fraction, int | None], dict[str, Fraction]] = {}
    rest: set[Normal] = set()
    for option in options:
        match tuple(option.weights):
            case ((PiecesOf(split), weight),):
                thresholds = least.setdefault((weight, split.cap), {})
                for name, threshold in split.thresholds:
                    thresholds[name] = min(threshold, thresholds.get(name, threshold))
            case _:
                rest.add(option)
    for (weight, cap), thresholds in least.items():
        scheme = Split(thresholds)
        rest.add(_single(PiecesOf(scheme if cap is None else scheme.capped(cap)), weight))
    return rest
