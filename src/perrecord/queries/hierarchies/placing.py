"""Where the cells of a family's tables stand in its hierarchies, found from public keys alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.queries.hierarchies.families import Family, Hierarchy
from perrecord.queries.hierarchies.following import followed
from perrecord.queries.noise_plan import different_keys
from perrecord.queries.plan import Plan
from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.trees import CellTree, Indices
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup
from perrecord.tables.schema import Schema

Codes = npt.NDArray[np.int64]

NO_KEYS = Keys.trusted(pa.table({"": pa.array([True])}).select([]))
"""The keys of a table that is not grouped: one row without columns."""

MOST_CELLS = 60_000_000
"""So many combinations of nodes are written out to fit tables that are no chain."""


@dataclass(frozen=True, slots=True, eq=False)
class TableSides:
    """Where the rows of a table stand, by the factors of its keys: none is written out."""

    rows: tuple[int, ...]
    """How many rows each factor has."""
    nodes: tuple[Indices, ...]
    """In each tree the node of every row: an axis for each factor, 1 long where it stays."""

    def places(self, shape: tuple[int, ...]) -> Indices:
        """Return the place of each row in a grid, the last axis fastest."""
        place: Indices = np.zeros([1] * len(self.rows), dtype=np.intp)
        for size, nodes in zip(shape, self.nodes, strict=True):
            place = place * size + nodes
        return np.broadcast_to(place, self.rows).ravel()

    def box(self) -> tuple[slice, ...] | None:
        """Return the box of the grid that has these rows, in order; None if there may be none.

        There is one where each factor, or several in a row, goes through nodes of one tree that
        stand side by side, and trees come in the order of the factors.
        """
        box, taken = [], 0
        for nodes in self.nodes:
            moving = [factor for factor, rows in enumerate(nodes.shape) if rows > 1]
            line = nodes.ravel()
            if not len(line) or (np.diff(line) != 1).any() or any(f < taken for f in moving):
                return None
            taken = max([taken, *(factor + 1 for factor in moving)])
            box.append(slice(int(line[0]), int(line[-1]) + 1))
        size = prod(each.stop - each.start for each in box)
        return tuple(box) if size == prod(self.rows) else None


@dataclass(frozen=True, eq=False)
class Layout:
    """The hierarchies of a family as trees, and where every row stands among combinations."""

    trees: tuple[CellTree, ...]
    sides: tuple["TableSides", ...]
    """For each table where its rows stand. Tables are a family's members, then what follows."""

    @cached_property
    def places(self) -> tuple[Indices, ...]:
        """For each table the place of each row among all combinations of nodes, the last fastest.

        They are as many as the rows, and hardly ever needed: most tables are boxes.
        """
        return tuple(each.places(self.shape) for each in self.sides)

    @cached_property
    def rows(self) -> tuple[Placed, ...]:
        """For each table its rows in the grid of all combinations."""
        return tuple(
            Placed.of(self.places[table], self.shape) if box is None else Placed.box(box)
            for table, box in enumerate(each.box() for each in self.sides)
        )

    def count(self, table: int) -> int:
        """Return how many rows a table has."""
        return prod(self.sides[table].rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many nodes each tree has."""
        return tuple(tree.size for tree in self.trees)

    @property
    def size(self) -> int:
        """How many combinations of nodes there are."""
        return prod(self.shape)


def layout_of(
    family: Family, schema: Schema, keys: Sequence[Keys], declared: Sequence[Lookup] = ()
) -> Layout:
    """Return where the rows of every member's keys stand, and of tables that follow.

    The nodes of a level are the keys that some table lists, and what lies above these. Products of
    keys are looked up by their factors, and are never written out.
    """
    trees: list[CellTree] = []
    nodes: list[list[Indices]] = [[] for _ in keys]
    for axis, hierarchy in enumerate(family.hierarchies):
        levels = [each[axis] for each in family.levels]
        tree, found = _axis(hierarchy, levels, schema, keys, declared)
        trees.append(tree)
        for own, each in zip(nodes, found, strict=True):
            own.append(each)
    sides = [
        TableSides(tuple(factor.num_rows for factor in each.factors), tuple(own))
        for each, own in zip(keys, nodes, strict=True)
    ]
    return Layout(tuple(trees), tuple(sides))


def declared_trees(
    family: Family, plan: Plan, declared: Sequence[Lookup] = ()
) -> tuple[CellTree | None, ...]:
    """Return the hierarchies as far as declared keys show them; None if all keys are selected."""
    found: list[CellTree | None] = []
    for axis, hierarchy in enumerate(family.hierarchies):
        every = frozenset().union(*hierarchy.closures)
        levels: list[int] = []
        tables: list[Keys] = []
        for member, level in zip(family.members, family.measured_levels, strict=True):
            cells = plan.groupings[member.grouping].grouping.cells
            if cells is None or isinstance(cells, Keys):
                own = [] if cells is None else [each for each in cells.columns if each in every]
                levels.append(level[axis])
                tables.append(cells.project(own) if cells is not None and own else NO_KEYS)
        found.append(_axis(hierarchy, levels, plan.schema, tables, declared)[0] if levels else None)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Keys of two levels that cannot add up, as far as declared keys show it."""

    above: tuple[str, ...]
    below: tuple[str, ...]
    orphans: int
    """Keys below of which nothing says what they lie in."""
    empty: int
    """Keys above that hold no key below."""


def misfits(family: Family, plan: Plan, declared: Sequence[Lookup] = ()) -> Iterator[Misfit]:
    """Yield levels whose listed keys contradict each other, wherever all keys are declared."""
    for axis, hierarchy in enumerate(family.hierarchies):
        listed: dict[int, set[tuple[Any, ...]]] = {}
        for member, level in zip(family.members, family.measured_levels, strict=True):
            cells = plan.groupings[member.grouping].grouping.cells
            columns = hierarchy.levels[level[axis]]
            if isinstance(cells, Keys) and columns and set(columns) <= set(cells.columns):
                listed.setdefault(level[axis], set()).update(cells.project(columns).rows())
        for high, low in pairwise(sorted(listed)):
            above, below = hierarchy.levels[high], hierarchy.levels[low]
            following = followed(plan.schema, below, declared)
            parents = [
                tuple(following[name].value(dict(zip(below, row, strict=True))) for name in above)
                for row in listed[low]
            ]
            orphans = sum(all(part is None for part in parent) for parent in parents)
            empty = len(listed[high].difference(parents))
            if orphans or empty:
                yield Misfit(above, below, orphans, empty)


def _axis(
    hierarchy: Hierarchy,
    levels: Sequence[int],
    schema: Schema,
    keys: Sequence[Keys],
    declared: Sequence[Lookup],
) -> tuple[CellTree, list[Indices]]:
    """Return one hierarchy as a tree, and for each table the node of every row.

    Nodes have an axis for each factor of the keys, 1 long where they do not depend on it.
    """
    every = frozenset().union(*hierarchy.closures)
    nodes: list[dict[tuple[Any, ...], int]] = [{} for _ in hierarchy.levels]
    above: list[list[int]] = [[] for _ in hierarchy.levels]
    found: list[tuple[Indices, Indices]] = []
    known: dict[tuple[object, ...], Indices] = {}  # many tables share the keys of one side
    for level, each in zip(levels, keys, strict=True):
        own = [name for name in each.columns if name in every]
        rows, which = _rows_of(each, own)
        sides = (id(side) for side in each.factors if not every.isdisjoint(side.column_names))
        same = (level, *own, *sides)
        if same in known:
            found.append((known[same], which))
            continue
        following = followed(schema, own, declared)
        ways = [[following[name] for name in columns] for columns in hierarchy.levels[: level + 1]]
        numbers = np.empty(len(rows), dtype=np.intp)
        for place, row in enumerate(rows):
            parent = 0
            for depth, way in enumerate(ways):
                key = tuple(each.value(row) for each in way)
                node = nodes[depth].setdefault(key, len(nodes[depth]))
                if node == len(above[depth]):
                    above[depth].append(parent)
                parent = node
            numbers[place] = parent
        known[same] = numbers
        found.append((numbers, which))
    tree, orders = _ordered(above)
    moved = [
        (tree.starts[level] + orders[level][numbers])[which]
        for level, (numbers, which) in zip(levels, found, strict=True)
    ]
    return tree, moved


def _rows_of(keys: Keys, columns: Sequence[str]) -> tuple[list[dict[str, object]], Indices]:
    """Return the different rows of some columns, and which of them each key has, by factor."""
    is_needed = [not set(columns).isdisjoint(each.column_names) for each in keys.factors]
    needed = [each for each, is_one in zip(keys.factors, is_needed, strict=True) if is_one]
    if not needed:
        return [{}], np.zeros([1] * len(is_needed), dtype=np.intp)
    rows, which = different_keys(Keys.trusted(*needed).table.select(columns))
    sizes = [each.num_rows for each in keys.factors]
    return rows, which.reshape([n if yes else 1 for n, yes in zip(sizes, is_needed, strict=True)])


def _ordered(above: Sequence[Sequence[int]]) -> tuple[CellTree, list[Indices]]:
    """Return the tree of nodes with their parents by level, and each node's place in its level."""
    orders: list[Indices] = [np.arange(len(above[0]))]
    parents: list[Indices] = []
    for each in above[1:]:
        of_node = orders[-1][np.array(each, dtype=np.intp)]
        order = np.argsort(of_node, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        orders.append(place)
        parents.append(of_node[order])
    return CellTree(len(above[0]), tuple(parents)), orders


@dataclass(frozen=True, slots=True, eq=False)
class OneTree:
    """A family whose tables lie one below the other, as a single tree."""

    tree: CellTree
    places: tuple[Indices, ...]
    """For each table the node of each row."""


def one_tree(family: Family, layout: Layout) -> OneTree:
    """Return a chain of tables as a tree of their cells, with a rest where keys were selected.

    Below the last level whose keys were all declared each parent gets one more child, of which
    nothing was measured: what is in no selected key is not nothing.
    """
    levels = sorted(set(family.levels), key=sum)
    complete = max(
        (
            levels.index(level)
            for level, is_selected in zip(family.measured_levels, family.selected, strict=True)
            if not is_selected
        ),
        default=-1,
    )
    nodes: list[Codes] = [np.empty(0, np.int64)] * len(levels)
    below: Codes = np.empty(0, np.int64)
    for number in reversed(range(len(levels))):
        mine = [
            code
            for code, level in zip(layout.places, family.levels, strict=True)
            if level == levels[number]
        ]
        nodes[number] = np.unique(np.concatenate([*mine, below]))
        below = cells_above(layout, nodes[number], levels[number], levels[max(number - 1, 0)])
    orders, parents = [np.arange(len(nodes[0]))], []
    for number in range(1, len(levels)):
        lifted = cells_above(layout, nodes[number], levels[number], levels[number - 1])
        of_node = orders[-1][np.searchsorted(nodes[number - 1], lifted)]
        has_rest = number > complete
        of_rest = orders[-1][: len(nodes[number - 1])] if has_rest else of_node[:0]
        of_every = np.concatenate([of_node, of_rest])
        order = np.argsort(of_every, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        orders.append(place)
        parents.append(of_every[order])
    tree = CellTree(len(nodes[0]), tuple(parents))
    places = []
    for code, level in zip(layout.places, family.levels, strict=True):
        number = levels.index(level)
        row = np.searchsorted(nodes[number], code)
        places.append(tree.starts[number] + orders[number][row])
    return OneTree(tree, tuple(places))


def cells_above(layout: Layout, codes: Codes, level: Sequence[int], to: Sequence[int]) -> Codes:
    """Return the cells that cells of one level lie in, on another."""
    moved = []
    places = np.unravel_index(codes, layout.shape)
    for tree, place, start, end in zip(layout.trees, places, level, to, strict=True):
        node = place - tree.starts[start]
        for number in range(start, end, -1):
            node = tree.parents[number - 1][node]
        moved.append(node + tree.starts[end])
    return np.asarray(np.ravel_multi_index(moved, layout.shape), dtype=np.int64)
