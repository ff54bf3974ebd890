"""Parts of a public partition as a tree, each with its method, and the noise that cells get."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perrecord.laws.scales import Scale, largest
from perrecord.policy.cases import Cases
from perrecord.queries.methods.method import Method, Methods


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

    >>> from fractions import Fraction
    >>> from perrecord.policy.split import Split
    >>> from perrecord.queries.methods import Splitting
    >>> tree = tree_of(Splitting(Fraction(1), Split.by("k", {"a": Split(x=5)}, Split(x=50))))
    >>> [leaf.method.split for leaf in leaves(tree)]
    [Split(x=5), Split(x=50)]
    """
    cases = methods if isinstance(methods, Cases) else methods.parts()
    if cases is not None:
        return Branch(cases.map(tree_of))
    assert isinstance(methods, Method)  # noqa: S101 - what is no case is a method
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


def has_default(tree: Tree) -> bool:
    """Tell whether every record falls into some part."""
    if isinstance(tree, Leaf):
        return True
    return tree.cases.default is not None and all(map(has_default, tree.cases.values()))


@dataclass(frozen=True, slots=True)
class Scales:
    """How much noise each cell gets: one scale, or one per value of dimensions the cell fixes.

    Where several parts can reach a cell, it gets the largest of their scales (T11); which parts
    can is public: it is read off the cell's key alone.
    """

    value: Scale | None
    cases: "Cases[Scales] | None"

    def at(self, key: Mapping[str, Any]) -> Scale:
        """Return the scale of the cell with this key."""
        if self.cases is None:
            assert self.value is not None  # noqa: S101 - one of the two is there
            return self.value
        return self.cases.at(key).at(key)

    def every(self) -> frozenset[Scale]:
        """Return all scales that a cell can have."""
        if self.cases is None:
            return frozenset() if self.value is None else frozenset({self.value})
        return frozenset().union(*(each.every() for each in self.cases.values()))

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions that the scale depends on."""
        if self.cases is None:
            return frozenset()
        return frozenset(self.cases.dimensions).union(*(s.dimensions for s in self.cases.values()))


def scales_of(tree: Tree, fixed: frozenset[str], of: Callable[[Method], Scale]) -> Scales:
    """Return the scale of every cell, when a cell's key fixes these dimensions."""
    if isinstance(tree, Leaf):
        return Scales(of(tree.method), None)
    if fixed.issuperset(tree.cases.dimensions):
        return Scales(None, tree.cases.map(lambda part: scales_of(part, fixed, of)))
    return Scales(largest(of(leaf.method) for leaf in leaves(tree)), None)
