"""Hierarchies as arrays: levels of nodes, each node below one of the level above."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from perrecord.errors import InternalError

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

STRETCH = 1 << 17
"""So many numbers at a time stay in a processor's cache while a tree is gone up and down."""
_LEAST_WIDTH = 16


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """The nodes of one level below their parents, as places among all nodes."""

    level: slice
    """The nodes of the level; those of one parent stand side by side."""
    first: Indices
    """Where in the level the children of each parent begin."""
    parents: Indices
    """The parents that have children, among all nodes."""
    group: Indices
    """For each node of the level, which of these parents it is below."""

    def total(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum over the children of each parent, of values by node of the level."""
        return np.asarray(np.add.reduceat(values, self.first, axis=0))


@dataclass(frozen=True, eq=False)
class CellTree:
    """A hierarchy, or several side by side: nodes are numbered level by level, the roots first.

    `parents` has an array for each level below the first: the place of each node's parent in the
    level above, which never falls. A node without children is a leaf, on whatever level.

    >>> tree = CellTree(1, (np.array([0, 0]), np.array([0, 0, 1])))
    >>> tree.size, np.flatnonzero(tree.is_leaf).tolist()
    (6, [3, 4, 5])
    """

    roots: int
    parents: tuple[Indices, ...] = ()

    def __post_init__(self) -> None:
        above = self.roots
        for each in self.parents:
            if len(each) and (each[0] < 0 or each[-1] >= above or (np.diff(each) < 0).any()):
                raise InternalError("the nodes of a hierarchy do not stand in its order.")
            above = len(each)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each level begins, and where the last one ends."""
        sizes = [self.roots, *(len(each) for each in self.parents)]
        return (0, *np.cumsum(sizes).tolist())

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.starts[-1]

    @cached_property
    def siblings(self) -> tuple[Siblings, ...]:
        """The levels below the first that have nodes, from top to bottom."""
        found = []
        for number, parents in enumerate(self.parents):
            if not len(parents):
                continue
            is_first = np.diff(parents, prepend=-1) > 0
            first = np.flatnonzero(is_first)
            found.append(
                Siblings(
                    slice(self.starts[number + 1], self.starts[number + 2]),
                    first,
                    self.starts[number] + parents[first],
                    np.cumsum(is_first) - 1,
                )
            )
        return tuple(found)

    @cached_property
    def is_leaf(self) -> Flags:
        """Which nodes have no children."""
        leaf = np.ones(self.size, dtype=np.bool_)
        for each in self.siblings:
            leaf[each.parents] = False
        return leaf

    def add_up(self, values: npt.NDArray[Any], axis: int = 0) -> None:
        """Write into every inner node the sum of the leaves below it."""
        for along in stretches(values, axis):
            for each in reversed(self.siblings):
                along[each.parents] = each.total(along[each.level])

    def hand_down(self, values: Floats, axis: int = 0) -> None:
        """Add to every node what its ancestors have: the adjoint of adding up."""
        for along in stretches(values, axis):
            for each in self.siblings:
                along[each.level] += along[each.parents][each.group]


def chain_of(codes: Sequence[npt.NDArray[np.int64]]) -> tuple[CellTree, tuple[Indices, ...]]:
    """Return the tree of levels that are given leaf by leaf, and each level's place by its code.

    `codes[level][path]` is the node of a level that a path from the top to a leaf passes: numbers
    from 0 on, each in use. A level's places are numbered anew, so that siblings stand together.

    >>> tree, places = chain_of([np.array([0, 0, 0]), np.array([1, 0, 1])])
    >>> tree.parents[0].tolist(), places[1].tolist()
    ([0, 0], [0, 1])
    """
    places: list[Indices] = []
    parents: list[Indices] = []
    for level, code in enumerate(codes):
        count = int(code.max()) + 1 if len(code) else 0
        above = np.zeros(count, dtype=np.intp)
        if level:
            above[code] = places[-1][codes[level - 1]]
        order = np.argsort(above, kind="stable")
        place = np.empty(count, dtype=np.intp)
        place[order] = np.arange(count)
        places.append(place)
        if level:
            parents.append(above[order])
    return CellTree(len(places[0]), tuple(parents)), tuple(places)


def stretches(values: npt.NDArray[Any], axis: int = 0) -> Iterator[npt.NDArray[Any]]:
    """Yield views with the axis first that are all of an array, each small enough for a cache.

    >>> [each.shape for each in stretches(np.zeros((100_000, 3)), axis=1)]
    [(3, 43690), (3, 43690), (3, 12620)]
    """
    along = np.moveaxis(values, axis, 0)
    if along.ndim == 1 or not along.size:
        yield along
        return
    count = along.shape[1]
    width = max(STRETCH * count // along.size, _LEAST_WIDTH)
    for start in range(0, count, width):
        yield along[:, start : start + width]


def walk(starts: Sequence[int]) -> Iterator[slice]:
    """Yield the levels as slices of all nodes."""
    for begin, end in pairwise(starts):
        yield slice(begin, end)
