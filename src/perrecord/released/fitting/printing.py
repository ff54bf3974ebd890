"""Fitted numbers as whole numbers of a small unit, so that they add up to the last digit (T32)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from perrecord.released.fitting.descent import stages
from perrecord.released.fitting.trees import CellTree, Flags, Floats, Siblings, stretches

Whole = npt.NDArray[np.int64]


def printed(
    trees: Sequence[CellTree],
    values: Floats,
    is_known: Flags,
    parts: float = 1.0,
    *,
    in_place: bool = False,
) -> Whole:
    """Return every number in parts, rounded: leaves by themselves, others as their children's sums.

    Where a child has no number its parent is rounded by itself. A sum of n leaves moves by about
    sqrt(n / 12), so the unit should be small beside the errors. In place, the memory of the values
    is taken for the result, and they are gone.

    >>> tree = CellTree(1, (np.array([0, 0, 0]),))
    >>> printed([tree], np.array([1.2, 0.4, 0.4, 0.4]), np.ones(4, np.bool_)).tolist()
    [0, 0, 0, 0]
    """
    every: Whole = values.view(np.int64) if in_place else np.empty(values.shape, dtype=np.int64)
    has_all = bool(is_known.all())
    by_rows = (stretches(each, axis=-1) for each in (every, values, is_known))
    for rounded, number, known in zip(*by_rows, strict=True):
        found = number * parts
        rounded[...] = np.rint(found if has_all else np.where(known, found, 0.0), out=found)
    for axis, tree in enumerate(trees):
        if has_all:
            tree.add_up(every, axis)
            continue
        along, known = np.moveaxis(every, axis, 0), np.moveaxis(is_known, axis, 0)
        for each in reversed(tree.siblings):
            have_all = np.logical_and.reduceat(known[each.level], each.first, axis=0)
            total = each.total(along[each.level])
            along[each.parents] = np.where(have_all, total, along[each.parents])
    return every


def whole(trees: Sequence[CellTree], every: Whole, is_known: Flags, unit: int) -> Whole:
    """Return whole multiples of a unit that add up, each next to its number along one tree.

    The root is rounded to the nearest. Under each parent all are rounded down, and those with the
    largest remainders up, until they sum to it: the sum of the lower ends is never above it nor
    that of the upper ends below. Of several hierarchies the first is gone down, then below each of
    its leaves the next; what is not on that way is the sum of its leaves.

    >>> tree = CellTree(1, (np.array([0, 0, 0]),))
    >>> whole([tree], np.array([14, 4, 5, 5]), np.ones(4, np.bool_), 10).tolist()
    [1, 0, 1, 0]
    """
    result = (2 * every + unit) // (2 * unit)
    for tree, place, axis in stages(trees):
        along, numbers = np.moveaxis(result[place], axis, 0), np.moveaxis(every[place], axis, 0)
        known = np.moveaxis(is_known[place], axis, 0)
        for each in tree.siblings:
            level = each.level
            have_all = np.logical_and.reduceat(known[level], each.first, axis=0)[each.group]
            rounded = _rounded(each, numbers[level], along[each.parents], unit)
            along[level] = np.where(have_all, rounded, along[level])
        result[place] = np.moveaxis(along, 0, axis)
    if len(trees) > 1:
        for axis, tree in enumerate(trees):
            tree.add_up(result, axis)
    return result


def _rounded(siblings: Siblings, numbers: Whole, sums: Whole, unit: int) -> Whole:
    lower, remainder = np.divmod(numbers, unit)
    missing = sums - siblings.total(lower)
    group = siblings.group.reshape(-1, *[1] * (numbers.ndim - 1))
    order = np.argsort(group * (unit + 1) + unit - remainder, axis=0, kind="stable")
    rank = np.empty_like(order)
    start = siblings.first[siblings.group].reshape(group.shape)
    every = np.arange(len(numbers)).reshape(group.shape) - start
    np.put_along_axis(rank, order, np.broadcast_to(every, order.shape), axis=0)
    return np.asarray(lower + (rank < missing[siblings.group]))
