"""One family of answers fitted: by sweeps where variances are a product or its tables a chain.

Whatever else there is goes by gradients, which say how far they came.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.queries.hierarchies import Family
from perrecord.queries.hierarchies.placing import MOST_CELLS, Layout, one_tree
from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.gradients import fit_by_gradients
from perrecord.released.fitting.products import Fitted, fit_separable, separated
from perrecord.released.fitting.sweeps import Sweep, sweep_of
from perrecord.released.fitting.trees import CellTree, Floats, stretches
from perrecord.released.numbers import Integers, floats

_MUCH_WIDER = 4
"""A chain of tables is one tree where the combinations are so many times its cells."""
_SOLVED = 1e-6
MOST_CODES = 2**62
"""So many combinations whole numbers of 64 bits tell apart."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyFit:
    """Fitted numbers of a family in steps, and where each table's rows stand among them."""

    trees: tuple[CellTree, ...]
    fitted: Fitted
    rows: tuple[Placed, ...]
    sweep: Sweep | None = None
    """Of tables that lie one below the other, and are fitted on one tree."""


def fit_family(
    family: Family, layout: Layout, values: Sequence[Integers], variances: Sequence[Floats]
) -> FamilyFit | None:
    """Return the least squares fit of numbers by member and row; None where there is none.

    What follows is fitted as a level of which nothing was measured.
    Variances are by row too, or one number where all rows of a member have the same.
    There is none if the combinations are too many to be written out, or the equations were not
    solved; `perrecord check` tells of the first beforehand.
    """
    if layout.size > MOST_CODES:
        return None  # no whole number of 64 bits tells its combinations apart
    cells = sum(len(each) for each in values)
    is_narrow = layout.size <= min(MOST_CELLS, max(_MUCH_WIDER * cells, 10_000))
    if is_narrow and not any(family.selected) and not family.beside:
        grid, spread = _gathered(layout.shape, layout.rows, values, variances)
        sweeps = separated(layout.trees, spread)
        if sweeps is not None:
            fitted = fit_separable(grid, sweeps, in_place=True)
            return FamilyFit(layout.trees, fitted, layout.rows)
    if family.is_chain:
        one = one_tree(family, layout)
        shape = (one.tree.size,)
        rows = tuple(Placed.of(each, shape) for each in one.places)
        grid, spread = _gathered(shape, rows, values, variances)
        sweep = sweep_of(one.tree, spread)
        fitted = fit_separable(grid, [sweep], in_place=True)
        return FamilyFit((one.tree,), fitted, rows, sweep)
    if layout.size > MOST_CELLS:
        return None
    grid, spread = _gathered(layout.shape, layout.rows, values, variances)
    fitted = fit_by_gradients(layout.trees, grid, spread)
    return FamilyFit(layout.trees, fitted, layout.rows) if fitted.residual <= _SOLVED else None


def _gathered(
    shape: tuple[int, ...],
    rows: Sequence[Placed],
    values: Sequence[Integers],
    variances: Sequence[Floats],
) -> tuple[Floats, Floats]:
    """Return the value and variance of each cell; what was measured twice is put together."""
    weights, total = np.zeros(shape), np.zeros(shape)
    for each, value, variance in zip(rows[: len(values)], values, variances, strict=True):
        for which, piece in each.pieces():
            weight = 1 / (variance[which].reshape(piece.shape) if variance.ndim else variance)
            weights[piece.index] += weight
            total[piece.index] += floats(value[which]).reshape(piece.shape) * weight
    for sums, weight in zip(stretches(total, -1), stretches(weights, -1), strict=True):
        np.divide(sums, np.where(weight > 0, weight, 1.0), out=sums)
        with np.errstate(divide="ignore"):
            np.divide(1, weight, out=weight)
    return total, weights
