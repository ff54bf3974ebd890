"""Least squares over hierarchies where variances are no product, by conjugate gradients (T32).

A table is missing, or noise differs from cell to cell. The unknowns are the leaves; every measured
cell is a sum of them. The steps are preconditioned by the fit with variances that are a product.
"""

from collections.abc import Sequence
from itertools import product as combinations

import numpy as np

from perrecord.released.fitting.products import Fitted, added_up, leaves_of, outer, separated
from perrecord.released.fitting.sweeps import Sweep, sweep_of
from perrecord.released.fitting.trees import CellTree, Flags, Floats, walk

_PRECISE, _MOST_STEPS, _MOST_ROUNDS = 1e-8, 500, 5
_OF_NOISE = 1e-4
"""Fitted numbers are off by at most about so much of their standard errors, as far as floats go."""

_FEW_ROUNDS = 20
_MOST_SUBSETS = 64


def fit_by_gradients(trees: Sequence[CellTree], values: Floats, variances: Floats) -> Fitted:
    """Return the fit, and variances that are never below the true ones.

    Cells that nothing was measured of get a number if some set of tables identifies them, or if all
    leaves below them were measured; otherwise their variance is infinite.
    """
    least = np.min(variances, where=np.isfinite(variances), initial=np.inf)
    weights = np.where(np.isfinite(variances), least / variances, 0.0)  # of any size, they fit
    are_leaves = leaves_of(trees)

    def gathered(of_cells: Floats) -> Floats:
        """Return for each leaf the sum over all cells that it is in."""
        for axis, tree in enumerate(trees):
            tree.hand_down(of_cells, axis)
        of_cells *= are_leaves
        return of_cells

    nearby = _nearby(trees, weights)
    leaf_variances = np.where(are_leaves, outer([near for _, near in nearby]), 0.0)

    def preconditioned(residual: Floats) -> Floats:
        """Return the leaves of the separable fit whose equations have this right-hand side."""
        found = residual * leaf_variances
        for axis, (sweep, _) in enumerate(nearby):
            sweep.fit(found, axis)
        found *= are_leaves
        return found

    size = float(np.linalg.norm(gathered(weights * values)))
    leaves, left, steps = np.zeros_like(values), 1.0 if size else 0.0, 0
    for _ in range(_MOST_ROUNDS if size else 0):
        # What is left over is found afresh: beside giants, that of other cells would be lost.
        residual = gathered(weights * (values - added_up(trees, leaves)))
        direction = preconditioned(residual)
        slope = float(np.vdot(residual, direction))
        left = float(np.linalg.norm(residual)) / size
        if left <= _PRECISE and slope <= _OF_NOISE**2 * least:
            break
        enough = _PRECISE * left
        while left > enough and steps < _MOST_STEPS and slope > 0:
            image = gathered(weights * added_up(trees, direction))
            length = slope / float(np.vdot(direction, image))
            leaves += length * direction
            residual -= length * image
            left, steps = float(np.linalg.norm(residual)) / size, steps + 1
            better = preconditioned(residual)
            slope, before = float(np.vdot(residual, better)), slope
            direction = better + (slope / before) * direction
    every = added_up(trees, leaves)
    return Fitted(every, (_bounds(trees, variances),), False, left, steps, adds_up=True)


def _nearby(trees: Sequence[CellTree], weights: Floats) -> list[tuple[Sweep, Floats]]:
    """Return sweeps whose weights multiply to nearly these, and their variances; leaves have some.

    The logarithms of the weights are fitted by a sum over hierarchies, where anything is measured.
    """
    is_measured = weights > 0
    logs = np.where(is_measured, np.log(np.where(is_measured, weights, 1.0)), 0.0)
    effects = [np.zeros(tree.size) for tree in trees]
    counts = [
        is_measured.sum(axis=tuple(a for a in range(len(trees)) if a != axis))
        for axis in range(len(trees))
    ]
    for _ in range(_FEW_ROUNDS):
        for axis in range(len(trees)):
            others = tuple(a for a in range(len(trees)) if a != axis)
            fitted = _sum(effects)
            rest = np.where(is_measured, logs - fitted, 0.0).sum(axis=others)
            effects[axis] += rest / np.maximum(counts[axis], 1)
    found = []
    for tree, effect, count in zip(trees, effects, counts, strict=True):
        least = float(effect[count > 0].min()) if (count > 0).any() else 0.0
        shown = np.where(count > 0, effect, least)
        variances = np.where((count > 0) | tree.is_leaf, np.exp(-shown), np.inf)
        found.append((sweep_of(tree, variances), variances))
    return found


def _sum(effects: Sequence[Floats]) -> Floats:
    total = effects[0]
    for each in effects[1:]:
        total = np.add.outer(total, each)
    return total


def _bounds(trees: Sequence[CellTree], variances: Floats) -> Floats:
    """Return variances never below the true ones: those of fits that know less.

    A cell's own number is one, the sum of the measured leaves below it another. Others are sets of
    levels all of whose tables are there, with variances that are a product and nowhere below the
    true ones.
    """
    least = variances.copy()
    levels = [list(walk(tree.starts)) for tree in trees]
    is_measured = np.isfinite(variances)
    for chosen in _full_sets(is_measured, levels):
        kept = _levels_alone(variances, levels, chosen)
        sweeps = _above(trees, kept)
        if sweeps is not None:
            np.minimum(least, outer([each.variances for each in sweeps]), out=least)
    return np.where(is_measured, least, np.minimum(least, _of_sums(trees, variances, is_measured)))


def _of_sums(trees: Sequence[CellTree], variances: Floats, is_measured: Flags) -> Floats:
    """Return the variance of each cell's sum of measured leaves; infinite if one was not measured.

    Leaves as they were measured: their noise is independent, which their fitted numbers are not.
    """
    is_leaf = leaves_of(trees)
    missing = np.where(is_leaf & ~is_measured, 1.0, 0.0)
    total = np.where(is_leaf & is_measured, variances, 0.0)
    for axis, tree in enumerate(trees):
        tree.add_up(missing, axis)
        tree.add_up(total, axis)
    return np.where(missing == 0, total, np.inf)


def _full_sets(
    is_measured: Floats, levels: Sequence[Sequence[slice]]
) -> list[tuple[tuple[int, ...], ...]]:
    """Return sets of levels, one set for each hierarchy, all combinations of which are measured.

    For each set of levels of all hierarchies but the last, the last has as many as there can be.
    """
    there = np.zeros([len(each) for each in levels], dtype=np.bool_)
    for place in np.ndindex(*there.shape):
        block = is_measured[tuple(levels[a][level] for a, level in enumerate(place))]
        there[place] = bool(block.size) and bool(block.all())
    found: dict[tuple[tuple[int, ...], ...], None] = {}
    for masks in combinations(*(range(1, 2 ** len(each)) for each in levels[:-1])):
        if len(found) >= _MOST_SUBSETS:
            break
        sets = tuple(
            tuple(level for level in range(len(each)) if mask >> level & 1)
            for mask, each in zip(masks, levels[:-1], strict=True)
        )
        inner = there[np.ix_(*sets)].all(axis=tuple(range(len(sets))))
        last = tuple(np.flatnonzero(inner).tolist())
        if last:
            found[*sets, last] = None
    every = list(found)
    return [
        each
        for each in every
        if not any(
            each != other and all(set(a) <= set(b) for a, b in zip(each, other, strict=True))
            for other in every
        )
    ]


def _levels_alone(
    variances: Floats, levels: Sequence[Sequence[slice]], chosen: Sequence[Sequence[int]]
) -> Floats:
    kept = np.full_like(variances, np.inf)
    for place in combinations(*chosen):
        block = tuple(levels[axis][level] for axis, level in enumerate(place))
        kept[block] = variances[block]
    return kept


def _above(trees: Sequence[CellTree], variances: Floats) -> tuple[Sweep, ...] | None:
    """Return sweeps whose variances multiply to these, or to no less anywhere."""
    exact = separated(trees, variances)
    if exact is not None:
        return exact
    is_measured = np.isfinite(variances)
    if not is_measured.any():
        return None
    nearby = [near for _, near in _nearby(trees, np.where(is_measured, 1 / variances, 0.0))]
    product = outer(nearby)
    with np.errstate(invalid="ignore"):
        factor = float(np.max(np.where(is_measured, variances / product, 0.0)))
    seen = [
        is_measured.any(axis=tuple(a for a in range(len(trees)) if a != axis))
        for axis in range(len(trees))
    ]
    return tuple(
        sweep_of(tree, np.where(is_seen, near * (factor if axis == 0 else 1.0), np.inf))
        for axis, (tree, near, is_seen) in enumerate(zip(trees, nearby, seen, strict=True))
    )
