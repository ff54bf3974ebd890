"""One family of answers fitted: by sweeps where variances are a product or its tables a chain.

Whatever else there is goes by gradients, which say how far they came.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.errors import InternalError
from perrecord.queries.hierarchies import Family, SummedTable
from perrecord.queries.hierarchies.families import family_of
from perrecord.queries.hierarchies.placing import MOST_CELLS, Layout, layout_of, one_tree
from perrecord.queries.hierarchies.sums import rows_above
from perrecord.queries.plan import Plan
from perrecord.released.fitting.blocks import box_factors
from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.gradients import fit_by_gradients
from perrecord.released.fitting.groups import variances_of_sums
from perrecord.released.fitting.products import Fitted, fit_separable, separated
from perrecord.released.fitting.sweeps import Sweep, sweep_of
from perrecord.released.fitting.trees import CellTree, Floats, Indices, stretches
from perrecord.released.numbers import Integers, floats
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup

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
        found = _separated(layout, values, variances)
        if found is not None:
            grid, sweeps = found
            fitted = fit_separable(grid, sweeps, in_place=True)
            return FamilyFit(layout.trees, fitted, layout.rows)
    if family.is_chain:
        one = one_tree(family, layout)
        shape = (one.tree.size,)
        rows = tuple(Placed.of(each, shape) for each in one.places)
        grid, spread = _gathered(shape, rows[: len(values)], values, variances)
        sweep = sweep_of(one.tree, spread)
        fitted = fit_separable(grid, [sweep], in_place=True)
        return FamilyFit((one.tree,), fitted, rows, sweep)
    if layout.size > MOST_CELLS:
        return None
    grid, spread = _gathered(layout.shape, layout.rows[: len(values)], values, variances)
    fitted = fit_by_gradients(layout.trees, grid, spread)
    return FamilyFit(layout.trees, fitted, layout.rows) if fitted.residual <= _SOLVED else None


def sums_beside(
    family: Family,
    table: SummedTable,
    place: int,
    fit: FamilyFit | None,
    plan: Plan,
    declared: Sequence[Lookup],
) -> tuple[Indices, Floats | None]:
    """Return for each row of a member the row above, in a table that is no level of the family.

    And the variances of the sums of fitted numbers, in its order; None if nothing was fitted.
    """
    alone = family_of(plan, [family.members[place]], declared, [table])
    cells = plan.groupings[table.source].grouping.cells
    if isinstance(alone, str) or not isinstance(cells, Keys):
        raise InternalError("a table that follows was not checked.")
    rows = rows_above(alone, layout_of(alone, plan.schema, [cells, table.keys], declared), 1, 0)
    if fit is None:
        return rows, None
    if fit.sweep is None:
        raise InternalError("a table that follows is beside no chain.")
    (nodes,) = fit.rows[place].places(fit.fitted.values.shape)
    return rows, variances_of_sums(fit.sweep, nodes, rows, table.keys.table.num_rows)


def _separated(
    layout: Layout, values: Sequence[Integers], variances: Sequence[Floats]
) -> tuple[Floats, tuple[Sweep, ...]] | None:
    """Return the value of each cell and a sweep along each tree; None if variances are no product.

    Where each table is a box and its variance one number, no variance is written out.
    """
    rows = layout.rows[: len(values)]
    factors = box_factors(layout.shape, rows, variances)
    if factors is not None:
        grid = _placed(layout.shape, rows, values, variances)
        every = zip(layout.trees, factors, strict=True)
        return grid, tuple(sweep_of(tree, each) for tree, each in every)
    grid, spread = _gathered(layout.shape, rows, values, variances)
    sweeps = separated(layout.trees, spread)
    return None if sweeps is None else (grid, sweeps)


def _placed(
    shape: tuple[int, ...],
    rows: Sequence[Placed],
    values: Sequence[Integers],
    variances: Sequence[Floats],
) -> Floats:
    """Return the value of each cell, as `_gathered` to the last bit; none is measured twice."""
    total = np.zeros(shape)
    for each, value, variance in zip(rows, values, variances, strict=True):
        weight = 1 / variance
        for which, piece in each.pieces():
            into = total[piece.index]
            np.multiply(floats(value[which]).reshape(piece.shape), weight, out=into)
            np.divide(into, weight, out=into)
    return total


def _gathered(
    shape: tuple[int, ...],
    rows: Sequence[Placed],
    values: Sequence[Integers],
    variances: Sequence[Floats],
) -> tuple[Floats, Floats]:
    """Return the value and variance of each cell; what was measured twice is put together."""
    weights, total = np.zeros(shape), np.zeros(shape)
    for each, value, variance in zip(rows, values, variances, strict=True):
        for which, piece in each.pieces():
            weight = 1 / (variance[which].reshape(piece.shape) if variance.ndim else variance)
            weights[piece.index] += weight
            total[piece.index] += floats(value[which]).reshape(piece.shape) * weight
    for sums, weight in zip(stretches(total, -1), stretches(weights, -1), strict=True):
        np.divide(sums, np.where(weight > 0, weight, 1.0), out=sums)
        with np.errstate(divide="ignore"):
            np.divide(1, weight, out=weight)
    return total, weights
