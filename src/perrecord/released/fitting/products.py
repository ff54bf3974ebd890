"""Several hierarchies at once, such as places by industries: one sweep along each (T32)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from perrecord.released.fitting.sweeps import Sweep, sweep_of
from perrecord.released.fitting.trees import STRETCH, CellTree, Flags, Floats

_CLOSE = 1e-9
"""How far, relatively, variances may be from a product for the product to be taken for them."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fitted numbers for every combination of nodes, an axis for each hierarchy."""

    values: Floats
    factors: tuple[Floats, ...]
    """What multiplies to the variances, each of one hierarchy's length or of all."""
    is_exact: bool = True
    """Whether the variances are the true ones; else they are never below them."""
    residual: float = 0.0
    """How far the equations are from being solved, relatively; 0 where they are solved directly."""
    steps: int = 0
    adds_up: bool = False
    """Whether numbers add up also where nothing identifies them; no other of these is published."""

    @property
    def variances(self) -> Floats:
        """Of every number; infinite where there is none."""
        return np.asarray(reduce(np.multiply, self.factors))

    @property
    def is_known(self) -> Flags:
        """Which combinations have a number."""
        flags = reduce(np.logical_and, (np.isfinite(each) for each in self.factors))
        return np.asarray(np.broadcast_to(flags, self.values.shape))


def fit_separable(values: Floats, sweeps: Sequence[Sweep], *, in_place: bool = False) -> Fitted:
    """Return the least squares fit where the variance of a cell is a product over hierarchies.

    The variance of every fitted number is the product of those along each hierarchy.
    """
    fitted = values if in_place else values.copy()
    for axis, sweep in enumerate(sweeps):
        sweep.fit(fitted, axis)
    return Fitted(fitted, _each_along_its_own([sweep.variances for sweep in sweeps]))


def separated(trees: Sequence[CellTree], variances: Floats) -> tuple[Sweep, ...] | None:
    """Return a sweep along each hierarchy whose variances multiply to these; None if none do.

    On one hierarchy they always do.
    """
    factors = factored(variances)
    if factors is None:
        return None
    return tuple(sweep_of(tree, each) for tree, each in zip(trees, factors, strict=True))


def factored(variances: Floats) -> tuple[Floats, ...] | None:
    """Return numbers along each axis that multiply to these; None if none do."""
    if variances.ndim == 1:
        return (variances,)
    if not np.isfinite(variances).any():
        return None
    start = np.unravel_index(int(np.argmin(variances)), variances.shape)
    factors: list[Floats] = []
    for axis in range(variances.ndim):
        line = variances[tuple(slice(None) if a == axis else start[a] for a in range(len(start)))]
        factors.append(np.array(line if axis == 0 else line / variances[start]))
    first, rest = factors[0], outer(factors[1:])
    width = max(1, STRETCH // rest.size)
    for begin in range(0, len(first), width):
        part = slice(begin, begin + width)
        if not _are_close(np.multiply.outer(first[part], rest), variances[part]):
            return None
    return tuple(factors)


def _are_close(product: Floats, variances: Floats) -> bool:
    """Tell whether all of a product are nearly these, and infinite where these are."""
    with np.errstate(invalid="ignore"):
        product /= variances  # no number where both are infinite, far from 1 where one of them is
    product -= 1
    return not (np.abs(product, out=product) > _CLOSE).any()


def _each_along_its_own(factors: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return factors of hierarchies, shaped so that they multiply to every combination."""
    return tuple(
        each.reshape([-1 if place == axis else 1 for place in range(len(factors))])
        for axis, each in enumerate(factors)
    )


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
