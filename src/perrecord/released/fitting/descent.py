"""From the top down, parent by parent: non-negative numbers that sum to their parents (T32)."""

from collections.abc import Iterator, Sequence

import numpy as np

from perrecord.released.fitting.products import leaves_of
from perrecord.released.fitting.spreading import spread_out
from perrecord.released.fitting.trees import CellTree, Flags, Floats, Indices, Siblings


def stages(trees: Sequence[CellTree]) -> Iterator[tuple[CellTree, tuple[Indices, ...], int]]:
    """Yield the way down: each hierarchy, the cells that it is gone down in, and its axis.

    The first is gone down among the roots of the others, each next one below the leaves of those
    before. So one tree is gone down, which ends in every combination of leaves.
    """
    for axis, tree in enumerate(trees):
        before = [np.flatnonzero(each.is_leaf) for each in trees[:axis]]
        after = [np.arange(each.roots) for each in trees[axis + 1 :]]
        yield tree, np.ix_(*before, np.arange(tree.size), *after), axis


def _margins(trees: Sequence[CellTree]) -> Iterator[tuple[CellTree, tuple[Indices, ...], int]]:
    """Yield each hierarchy but the first, gone down among the roots of the others."""
    roots = [np.arange(each.roots) for each in trees]
    for axis, tree in enumerate(trees[1:], start=1):
        yield tree, np.ix_(*roots[:axis], np.arange(tree.size), *roots[axis + 1 :]), axis


def nonnegative(trees: Sequence[CellTree], values: Floats, variances: Floats) -> Floats:
    """Return numbers that are never negative and add up: the root first, then its children.

    A root that is negative becomes 0. Children are moved as little as possible, each weighed by its
    variance, so that none is negative and they sum to their parent; where one of them has no
    number, each is only kept from being negative. It is biased: what is small becomes too large,
    and what is large beside it too small.

    Where several hierarchies meet in cells that have no number, each is gone down by itself, and
    the cells are any that add up to what is known.
    """
    result = np.maximum(values, 0.0)
    is_known = np.isfinite(variances)
    meet = len(trees) == 1 or bool(is_known[leaves_of(trees)].all())
    for tree, place, axis in (*stages(trees), *(() if meet else _margins(trees))):
        along = np.moveaxis(result[place], axis, 0)
        targets, spread, known = (
            np.moveaxis(each[place], axis, 0) for each in (values, variances, is_known)
        )
        for each in tree.siblings:
            level = each.level
            have_all = np.logical_and.reduceat(known[level], each.first, axis=0)[each.group]
            safe = np.where(have_all, spread[level], 1.0)
            found = _projected(each, targets[level], safe, along[each.parents])
            along[level] = np.where(have_all, found, along[level])
        result[place] = np.moveaxis(along, 0, axis)
    if not meet:
        return spread_out(trees, result, is_known)
    if len(trees) > 1:
        for axis, tree in enumerate(trees):
            tree.add_up(result, axis)
    return result


def _projected(siblings: Siblings, targets: Floats, spread: Floats, sums: Floats) -> Floats:
    """Return max(0, target - level * spread), the level such that siblings sum to their parent.

    Whoever would become negative is set to 0 and the others share what is left, until nobody is.
    """
    is_left: Flags = np.ones(targets.shape, dtype=np.bool_)
    while True:
        total = siblings.total(np.where(is_left, targets, 0.0))
        width = siblings.total(np.where(is_left, spread, 0.0))
        level = (total - sums) / np.where(width > 0, width, 1.0)
        moved = targets - level[siblings.group] * spread
        is_still = is_left & (moved >= 0)
        if np.array_equal(is_still, is_left):
            return np.where(is_left & (sums[siblings.group] > 0), moved, 0.0)
        is_left = is_still
