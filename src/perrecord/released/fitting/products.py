"""Several hierarchies at once, such as places by industries: one sweep along each (T32)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from perrecord.released.fitting.sweeps import Sweep, sweep_of
from perrecord.released.fitting.trees import CellTree, Flags, Floats

_CLOSE = 1e-9
"""How far, relatively, variances may be from a product for the product to be taken for them."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fitted numbers for every combination of nodes, an axis for each hierarchy."""

    values: Floats
    variances: Floats
    """Infinite where there is no number."""
    is_exact: bool = True
    """Whether the variances are the true ones; else they are never below them."""
    residual: float = 0.0
    """How far the equations are from being solved, relatively; 0 where they are solved directly."""
    steps: int = 0


def fit_separable(values: Floats, sweeps: Sequence[Sweep]) -> Fitted:
    """Return the least squares fit where the variance of a cell is a product over hierarchies.

    The variance of every fitted number is the product of those along each hierarchy.
    """
    fitted = values.copy()
    for axis, sweep in enumerate(sweeps):
        sweep.fit(fitted, axis)
    return Fitted(fitted, outer([sweep.variances for sweep in sweeps]))


def separated(trees: Sequence[CellTree], variances: Floats) -> tuple[Sweep, ...] | None:
    """Return a sweep along each hierarchy whose variances multiply to these; None if none do.

    On one hierarchy they always do.
    """
    if len(trees) == 1:
        return (sweep_of(trees[0], variances),)
    if not np.isfinite(variances).any():
        return None
    start = np.unravel_index(int(np.argmin(variances)), variances.shape)
    factors: list[Floats] = []
    for axis in range(variances.ndim):
        line = variances[tuple(slice(None) if a == axis else start[a] for a in range(len(start)))]
        factors.append(np.array(line if axis == 0 else line / variances[start]))
    product = outer(factors)
    is_measured = np.isfinite(variances)
    if not np.array_equal(np.isfinite(product), is_measured):
        return None
    with np.errstate(invalid="ignore"):
        product /= variances  # no number where both are infinite, which is far from nothing
    product -= 1
    if (np.abs(product, out=product) > _CLOSE).any():
        return None
    return tuple(sweep_of(tree, each) for tree, each in zip(trees, factors, strict=True))


def outer(factors: Sequence[Floats]) -> Floats:
    """Return the product for every combination."""
    return reduce(np.multiply.outer, factors)


def leaves_of(trees: Sequence[CellTree]) -> Flags:
    """Return which combinations consist of leaves alone."""
    return np.asarray(reduce(np.logical_and.outer, (tree.is_leaf for tree in trees)))


def added_up(trees: Sequence[CellTree], leaves: Floats) -> Floats:
    """Return every combination's sum of leaves, from numbers that are 0 but for leaves."""
    every = leaves.copy()
    for axis, tree in enumerate(trees):
        tree.add_up(every, axis)
    return every
