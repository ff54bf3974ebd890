"""Cells that nothing was published of: some that are not negative and add up to what was (T32)."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from perrecord.released.fitting.products import added_up, leaves_of
from perrecord.released.fitting.trees import CellTree, Flags, Floats

_ROUNDS = 200
_CLOSE = 1e-10
"""How far sums may be from what they should be, relatively, or in steps where that is more."""

Block = tuple[slice, ...]


def spread_out(trees: Sequence[CellTree], sums: Floats, is_known: Flags) -> Floats:
    """Return numbers of every combination that add up, none negative, by the sums that are known.

    Leaves begin as ones and are scaled to the known sums of one combination of levels after the
    other, from the finest to the coarsest, until nothing moves. If the sums contradict each other,
    because some were negative, those of one hierarchy alone are kept.

    >>> tree = CellTree(1, (np.array([0, 0]),))
    >>> sums = np.array([[10.0, 9.0, 1.0], [8.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    >>> known = np.array([[True, True, True], [True, False, False], [True, False, False]])
    >>> spread_out([tree, tree], sums, known).round(1).tolist()
    [[10.0, 9.0, 1.0], [8.0, 7.2, 0.8], [2.0, 1.8, 0.2]]
    """
    leaves = np.where(leaves_of(trees), 1.0, 0.0)
    blocks = [each for each in _blocks(trees) if is_known[each].any()]
    margins = [each for each in blocks if _is_margin(each, trees)]
    for chosen in (blocks, margins):
        for _ in range(_ROUNDS):
            moved = max(_scale(trees, leaves, sums, is_known, block) for block in chosen)
            if moved <= _CLOSE:
                return added_up(trees, leaves)
    return added_up(trees, leaves)


def _blocks(trees: Sequence[CellTree]) -> list[Block]:
    """Return where each combination of levels stands, those of the most cells first."""
    levels = [
        [slice(start, end) for start, end in zip(tree.starts, tree.starts[1:], strict=False)]
        for tree in trees
    ]
    return sorted(product(*levels), key=_size, reverse=True)


def _size(block: Block) -> int:
    return prod(each.stop - each.start for each in block)


def _is_margin(block: Block, trees: Sequence[CellTree]) -> bool:
    """Tell whether all hierarchies but one are at their roots."""
    deeper = [each.start >= tree.roots for each, tree in zip(block, trees, strict=True)]
    return deeper.count(True) <= 1


def _scale(
    trees: Sequence[CellTree], leaves: Floats, sums: Floats, is_known: Flags, block: Block
) -> float:
    """Scale the leaves below a block to its known sums; return how far they were from them."""
    now, wanted, known = added_up(trees, leaves)[block], sums[block], is_known[block]
    apart = np.where(known, np.abs(now - wanted) / np.maximum(wanted, 1.0), 0.0)
    farthest = float(apart.max(initial=0.0))
    if farthest > _CLOSE:
        ratios = np.ones(leaves.shape)
        scaled = np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
        ratios[block] = np.where(known, scaled, 1.0)
        for axis, tree in enumerate(trees):
            along = np.moveaxis(ratios, axis, 0)
            for each in tree.siblings:
                along[each.level] *= along[each.parents][each.group]
        leaves *= ratios
    return farthest
