"""Which rows of one table are, if lists of keys are complete, sums of rows of another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import permutations
from math import prod

import numpy as np

from perrecord.queries.hierarchies.families import Family
from perrecord.queries.hierarchies.placing import Layout, cells_above
from perrecord.released.fitting.runs import Runs, summed_runs
from perrecord.released.fitting.trees import CellTree, Flags, Floats, Indices
from perrecord.released.numbers import Integers, floats, largest

_EXACT = 2**53
"""Sums of whole numbers below it are the same in floats, in whichever order they are added."""


@dataclass(frozen=True, eq=False)
class SumRows:
    """Where the rows of a table lie in those of a coarser one, each by its place in the family.

    Rows above have a shape, that of their box in the grid or else how many they are. Where both
    tables are boxes they are added up axis by axis, and `rows` is hardly ever needed.
    """

    above: int
    below: int
    family: Family
    layout: Layout
    runs: tuple[Runs, ...] | None
    """Along each axis where the rows below each row above stand, if both tables are boxes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the rows above."""
        if self.runs is None:
            return (self.layout.count(self.above),)
        return self.layout.rows[self.above].shape

    @cached_property
    def rows(self) -> Indices:
        """For each row below, the row above; as many as there are rows above if there is none."""
        return rows_above(self.family, self.layout, self.above, self.below)

    @cached_property
    def listed(self) -> Indices:
        """For each row above, how many rows below it there are; 1 long on axes where it stays."""
        if self.runs is None:
            return np.bincount(self.rows, minlength=prod(self.shape) + 1)[:-1]
        return np.asarray(reduce(np.multiply, np.ix_(*(each.counts for each in self.runs))))

    @cached_property
    def is_sum(self) -> Flags:
        """For each row above whether the fit takes it for the sum of what is listed below."""
        is_sum: Flags = self.listed > 0
        if not self.family.is_chain:
            high, low = self.family.levels[self.above], self.family.levels[self.below]
            codes = self.layout.places[self.above]
            every = _combinations(self.layout, codes, high, low).reshape(self.shape)
            is_sum = is_sum & (self.listed == every)
        return is_sum

    def differences(self, above: Integers, below: Integers) -> Integers:
        """Return for each row above its number less the sum of those below it.

        Whole numbers where that is exact either way, else floats.
        """
        if self.runs is not None and above.dtype == below.dtype == np.int64:
            most = max(largest(above), largest(below) * int(self.listed.max(initial=1)))
            if most < _EXACT:
                box = below.reshape(self.layout.rows[self.below].shape)
                total = summed_runs(box, self.runs)
                into = None if np.may_share_memory(total, below) else total
                return np.subtract(above.reshape(self.shape), total, out=into).ravel()
        return floats(above) - self.sums(floats(below))

    def sums(self, numbers: Floats) -> Floats:
        """Return the same of any numbers, added up row by row."""
        every = np.bincount(self.rows, numbers, prod(self.shape) + 1)
        return np.asarray(every[:-1], dtype=np.float64)


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
        lines = _lines(family, layout, above, below)
        runs = None if lines is None else tuple(Runs.of(*each) for each in lines)
        yield SumRows(above, below, family, layout, runs)


def rows_above(family: Family, layout: Layout, above: int, below: int) -> Indices:
    """Return for each row of a table the row of a coarser one that it lies in.

    As many as that one has rows, where it lies in none of them.
    """
    lines = _lines(family, layout, above, below)
    if lines is not None:
        return _in_boxes(lines, layout.count(above))
    codes = layout.places[above]
    is_sorted = bool((np.diff(codes) > 0).all())
    order = np.arange(len(codes)) if is_sorted else np.argsort(codes, kind="stable")
    lying = cells_above(layout, layout.places[below], family.levels[below], family.levels[above])
    place = np.minimum(np.searchsorted(codes, lying, sorter=order), len(codes) - 1)
    found = order[place]
    return np.where(codes[found] == lying, found, len(codes))


def _lines(
    family: Family, layout: Layout, above: int, below: int
) -> list[tuple[Indices, int]] | None:
    """Return along each axis the place above of each place below, and how many are above.

    Only where both tables are boxes of the grid. Places never fall; some may be of no row above,
    and are then below 0 or not below how many there are.
    """
    high, low = layout.rows[above].slices, layout.rows[below].slices
    if high is None or low is None:
        return None
    found = []
    levels = zip(family.levels[below], family.levels[above], strict=True)
    for tree, outer, inner, (start, end) in zip(layout.trees, high, low, levels, strict=True):
        node = np.arange(inner.start, inner.stop) - tree.starts[start]
        for level in range(start, end, -1):
            node = tree.parents[level - 1][node]
        found.append((node + tree.starts[end] - outer.start, outer.stop - outer.start))
    return found


def _in_boxes(lines: Sequence[tuple[Indices, int]], count: int) -> Indices:
    """Return for each row of a box the row of another that it lies in, or how many these are."""
    rows: Indices = np.zeros((), dtype=np.intp)
    for place, width in lines:
        rows = np.add.outer(rows * width, place)
    inside = [(place >= 0) & (place < width) for place, width in lines]
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
