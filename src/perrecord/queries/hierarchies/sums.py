"""Which rows of one table are, if lists of keys are complete, sums of rows of another."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import permutations

import numpy as np

from perrecord.queries.hierarchies.families import Family
from perrecord.queries.hierarchies.placing import Layout, cells_above
from perrecord.released.fitting.trees import CellTree, Flags, Indices


@dataclass(frozen=True, slots=True, eq=False)
class SumRows:
    """Where the rows of a table lie in those of a coarser one, each by its place in the family."""

    above: int
    below: int
    rows: Indices
    """For each row below, the row above; as many as there are rows above if there is none."""
    listed: Indices
    """For each row above, how many rows below it there are."""
    is_sum: Flags
    """For each row above whether the fit takes it for the sum of what is listed below."""


def neighbours(family: Family) -> list[tuple[int, int]]:
    """Return pairs of members, each with the next finer ones; selected keys have a rest."""
    levels = [
        (place, np.array(level))
        for place, level in enumerate(family.measured_levels)
        if not family.selected[place]
    ]

    def is_below(one: tuple[int, ...] | Indices, other: tuple[int, ...] | Indices) -> bool:
        return bool(np.all(one >= other) and np.any(one > other))

    return [
        (above, below)
        for (above, high), (below, low) in permutations(levels, 2)
        if (above < below and np.array_equal(high, low))
        or (
            is_below(low, high)
            and not any(is_below(low, middle) and is_below(middle, high) for _, middle in levels)
        )
    ]


def sum_rows(family: Family, layout: Layout) -> Iterator[SumRows]:
    """Yield which rows are sums of which, for each table and the next finer ones.

    Where tables are each below the next, what is not listed is taken for nothing. Otherwise a row
    is a sum only if all combinations below it are listed.
    """
    for above, below in neighbours(family):
        high, low = family.levels[above], family.levels[below]
        codes, rows = layout.places[above], rows_above(family, layout, above, below)
        listed = np.bincount(rows, minlength=len(codes) + 1)[:-1]
        is_sum = listed > 0
        if not family.is_chain:
            is_sum &= listed == _combinations(layout, codes, high, low)
        yield SumRows(above, below, rows, listed, is_sum)


def rows_above(family: Family, layout: Layout, above: int, below: int) -> Indices:
    """Return for each row of a table the row of a coarser one that it lies in.

    As many as that one has rows, where it lies in none of them.
    """
    boxed = _in_boxes(family, layout, above, below)
    if boxed is not None:
        return boxed
    codes = layout.places[above]
    is_sorted = bool((np.diff(codes) > 0).all())
    order = np.arange(len(codes)) if is_sorted else np.argsort(codes, kind="stable")
    lying = cells_above(layout, layout.places[below], family.levels[below], family.levels[above])
    place = np.minimum(np.searchsorted(codes, lying, sorter=order), len(codes) - 1)
    found = order[place]
    return np.where(codes[found] == lying, found, len(codes))


def _in_boxes(family: Family, layout: Layout, above: int, below: int) -> Indices | None:
    """Return the same where both tables are boxes of the grid: axis by axis, with no search."""
    high, low = layout.rows[above], layout.rows[below]
    count = len(layout.places[above])
    rows: Indices = np.zeros((), dtype=np.intp)
    inside: list[Flags] = []
    levels = zip(family.levels[below], family.levels[above], strict=True)
    for tree, outer, inner, (start, end) in zip(
        layout.trees, high.index, low.index, levels, strict=True
    ):
        if not isinstance(outer, slice) or not isinstance(inner, slice):
            return None
        node = np.arange(inner.start, inner.stop) - tree.starts[start]
        for level in range(start, end, -1):
            node = tree.parents[level - 1][node]
        place = node + tree.starts[end] - outer.start
        width = outer.stop - outer.start
        rows = np.add.outer(rows * width, place)
        inside.append((place >= 0) & (place < width))
    if all(each.all() for each in inside):
        return rows.ravel()
    return np.where(reduce(np.logical_and.outer, inside), rows, count).ravel()


def _combinations(
    layout: Layout, codes: Indices, high: tuple[int, ...], low: tuple[int, ...]
) -> Indices:
    """Return how many combinations of a finer level there are below each cell."""
    places = np.unravel_index(codes, layout.shape)
    counts = [
        _descendants(tree, start, end)[place - tree.starts[start]]
        for tree, place, start, end in zip(layout.trees, places, high, low, strict=True)
    ]
    return np.asarray(reduce(np.multiply, counts))


def _descendants(tree: CellTree, high: int, low: int) -> Indices:
    count = np.ones(tree.starts[low + 1] - tree.starts[low], dtype=np.intp)
    for level in range(low, high, -1):
        above = tree.starts[level] - tree.starts[level - 1]
        count = np.bincount(tree.parents[level - 1], count, above).astype(np.intp)
    return count
