"""How an additive answer is made private: what a record adds at most, and at which price.

    Counting(amount)                 a record adds 0 or 1                 (T10)
    Splitting(amount, split)         a record is split, a piece adds <= T (T11)
    Clamping(amount, low, high)      a record's value is cut to [low, high] (T12)

A method may differ from part to part of a public partition, in rho, thresholds and kind (T5):
then `Cases` of methods stand in its place.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, assert_never

from perrecord.errors import QueryError, listing
from perrecord.exact import text
from perrecord.policy.cases import Cases
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Currency

Accounting = Literal["split", "exact"]

_MOST_STEPS = 10**30


@dataclass(frozen=True, slots=True)
class Counting:
    """Each record adds 0 or 1."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class Splitting:
    """Records are split; the policy is rho * pieces^2, or exactly rho * (value/T)^2 (T11)."""

    amount: Fraction
    split: Scheme
    accounting: Accounting = "split"


@dataclass(frozen=True, slots=True)
class Clamping:
    """Values are cut to [low, high]: global zCDP, top-coding (T12). A mean is centred first."""

    amount: Fraction
    low: Fraction
    high: Fraction


Method = Counting | Splitting | Clamping
Methods = Method | Cases[Method] | Cases[Counting]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part: its method, every scheme of it reduced to plain thresholds."""

    method: Method


@dataclass(frozen=True, slots=True)
class Branch:
    """Parts told apart by a record's dimensions."""

    cases: "Cases[Tree]"


Tree = Leaf | Branch


def tree_of(methods: Methods) -> Tree:
    """Return the parts as a tree; a piecewise scheme is a partition like any other.

    >>> tree = tree_of(Splitting(Fraction(1), Split.by("k", {"a": Split(x=5)}, Split(x=50))))
    >>> [leaf.method.split for leaf in leaves(tree)]
    [Split(x=5), Split(x=50)]
    """
    match methods:
        case Cases():
            return Branch(methods.map(tree_of))
        case Splitting(amount, SplitBy(cases), accounting):
            return Branch(cases.map(lambda inner: tree_of(Splitting(amount, inner, accounting))))
        case _:
            return Leaf(methods)


def leaves(tree: Tree) -> Iterator[Leaf]:
    """Yield every part."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        for part in tree.cases.values():
            yield from leaves(part)


def dimensions_of(tree: Tree) -> frozenset[str]:
    """Return the dimensions that the parts are told apart by."""
    if isinstance(tree, Leaf):
        return frozenset()
    inner = [dimensions_of(part) for part in tree.cases.values()]
    return frozenset(tree.cases.dimensions).union(*inner)


def at(tree: Tree, record: Mapping[str, Any]) -> Method:
    """Return the method of the part that the record falls into."""
    return tree.method if isinstance(tree, Leaf) else at(tree.cases.at(record), record)


def sensitivity(method: Method, measure: str | None, *, is_centred: bool = False) -> Fraction:
    """Return the most that one piece (or unsplit record) adds, in the measure's own units."""
    match method:
        case Counting():
            return Fraction(1)
        case Splitting(_, Split() as split):
            return split.threshold(measure or "")
        case Clamping(_, low, high):
            return (high - low) / 2 if is_centred else max(abs(low), abs(high))
        case Splitting():
            raise QueryError("a piecewise scheme has no single threshold.")
        case _:
            assert_never(method)


Spread = Fraction
"""sigma^2 of Gaussian noise, or the scale of Laplace noise, in the measure's own units."""


def spread(
    method: Method, measure: str | None, currency: Currency, *, is_centred: bool = False
) -> Spread:
    """Return the noise that a method asks for: sigma^2 = D^2/(2 rho), or scale D/eps (T11, T16)."""
    most = sensitivity(method, measure, is_centred=is_centred)
    if currency is Currency.RHO:
        return most**2 / (2 * method.amount)
    return most / method.amount


@dataclass(frozen=True, slots=True)
class Spreads:
    """How much noise each cell gets: one spread, or one per value of dimensions the cell fixes.

    Where several parts can reach a cell, it gets the largest of their spreads (T11); which parts
    can is public: it is read off the cell's key alone.
    """

    value: Spread | None
    cases: "Cases[Spreads] | None"

    def at(self, key: Mapping[str, Any]) -> Spread:
        """Return the spread of the cell with this key."""
        if self.cases is None:
            assert self.value is not None  # noqa: S101 - one of the two is there
            return self.value
        return self.cases.at(key).at(key)

    def every(self) -> frozenset[Spread]:
        """Return all spreads that a cell can have."""
        if self.cases is None:
            return frozenset() if self.value is None else frozenset({self.value})
        return frozenset().union(*(each.every() for each in self.cases.values()))

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions that the spread hangs on."""
        if self.cases is None:
            return frozenset()
        return frozenset(self.cases.dimensions).union(*(s.dimensions for s in self.cases.values()))


def spreads_of(tree: Tree, fixed: frozenset[str], of: Callable[[Method], Spread]) -> Spreads:
    """Return the spread of every cell, when a cell's key fixes these dimensions."""
    if isinstance(tree, Leaf):
        return Spreads(of(tree.method), None)
    if fixed.issuperset(tree.cases.dimensions):
        return Spreads(None, tree.cases.map(lambda part: spreads_of(part, fixed, of)))
    return Spreads(max(of(leaf.method) for leaf in leaves(tree)), None)


def has_default(tree: Tree) -> bool:
    """Tell whether every record falls into some part."""
    if isinstance(tree, Leaf):
        return True
    return tree.cases.default is not None and all(map(has_default, tree.cases.values()))


def check_on_grid(tree: Tree, measure: str, resolution: Fraction) -> None:
    """Refuse thresholds and bounds that are no multiples of the measure's resolution (T3)."""
    for leaf in leaves(tree):
        match leaf.method:
            case Splitting(_, Split() as split):
                numbers = [("threshold", split.threshold(measure))]
            case Clamping(_, low, high):
                numbers = [("bound", low), ("bound", high)]
            case _:
                numbers = []
        for word, number in numbers:
            if abs(number) > _MOST_STEPS * resolution:
                raise QueryError(
                    f"the {word} of {measure!r} is beyond 10^30 steps of its resolution, and so "
                    "beyond any number that the measure can hold; give a smaller one."
                )
            if (number / resolution).denominator > 1:
                raise QueryError(
                    f"the {word} {text(number)} of {measure!r} is no multiple of its resolution "
                    f"{text(resolution)}; give a multiple, or declare a finer resolution."
                )


def check_split_grid(split: Scheme, resolutions: Mapping[str, Fraction]) -> None:
    """Refuse a scheme whose measures are unknown or whose thresholds are off the grid."""
    if isinstance(split, SplitBy):
        for inner in split.cases.values():
            check_split_grid(inner, resolutions)
        return
    for name, threshold in split.thresholds:
        if name not in resolutions:
            raise QueryError(
                f"the scheme splits by {name!r}, which is no measure of the table. Its measures "
                f"are {listing(resolutions) or 'none'}."
            )
        if (threshold / resolutions[name]).denominator > 1:
            raise QueryError(
                f"the threshold {text(threshold)} of {name!r} is no multiple of its resolution "
                f"{text(resolutions[name])}; give a multiple, or declare a finer resolution."
            )
