"""Least squares on one hierarchy, in two sweeps: up, and down again (T31).

Node values y with variances t (infinite where nothing was measured); children sum to their parent.

    up      leaf z = y, u = t; inner 1/u = 1/t + 1/S, z = u (y/t + Z/S)
    down    root x = z, v = u; child x = z + k (x_parent - Z), v = k (S - u) + k^2 v_parent

where Z and S are the sums of z and u over the children, and k = u/S is a child's share of what is
left to explain. What S = infinity means is in `sweep_of`. docs/theory.md has the proof.
"""

from dataclasses import dataclass

import numpy as np

from perrecord.released.fitting.trees import CellTree, Flags, Floats, stretches


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What the two sweeps do on a tree; it depends on the variances alone, not on the values."""

    tree: CellTree
    own: Floats
    """How much a node's own number weighs in what is known from below."""
    below: Floats
    """How much the sum of its children does."""
    share: Floats
    """How much of what its parent has left to explain a node takes."""
    variances: Floats
    """Of the fitted numbers; infinite where there is none."""
    below_variances: Floats
    """Of what is known of each node from itself and from below."""

    @property
    def is_identified(self) -> Flags:
        """Which nodes the measured ones determine; the others have no number."""
        return np.isfinite(self.variances)

    def fit(self, values: Floats, axis: int = 0) -> None:
        """Put the fitted numbers into the place of the measured ones; unmeasured ones are 0."""
        if not self.tree.siblings and (self.own == 1).all():
            return  # nothing lies below anything
        wide = (slice(None), *[None] * (values.ndim - 1))
        for along in stretches(values, axis):
            np.multiply(along, self.own[wide], out=along)
            totals = []
            for each in reversed(self.tree.siblings):
                total = each.total(along[each.level])
                totals.append(total)
                along[each.parents] += self.below[each.parents][wide] * total
            for each in self.tree.siblings:
                left = along[each.parents] - totals.pop()
                along[each.level] += self.share[each.level][wide] * left[each.group]


def sweep_of(tree: CellTree, variances: Floats) -> Sweep:
    """Return the sweeps for public variances by node, infinite where nothing was measured.

    With one unknown child, a "rest", a parent's own number is all that is known of it, the other
    children keep theirs, and the rest is the difference. With two or more nothing tells these
    apart: they have no number.
    """
    above: Floats = np.array(variances, dtype=np.float64)
    own, below = np.isfinite(above).astype(np.float64), np.zeros(tree.size)
    share = np.zeros(tree.size)
    sums: list[tuple[Floats, Floats]] = []
    for each in reversed(tree.siblings):
        of_child = above[each.level]
        unknown = np.asarray(each.total(np.isinf(of_child).astype(np.intp)))
        known = np.asarray(each.total(np.where(np.isinf(of_child), 0.0, of_child)), np.float64)
        total = np.where(unknown > 0, np.inf, known)
        measured = above[each.parents]
        own[each.parents] = _share(total, measured)
        below[each.parents] = _share(measured, total)
        above[each.parents] = _together(measured, total)
        share[each.level] = np.where(
            unknown[each.group] == 0,
            of_child / known[each.group],
            (np.isinf(of_child) & (unknown[each.group] == 1)).astype(np.float64),
        )
        sums.append((known, total))
    result = above.copy()
    for each in tree.siblings:
        known, _ = sums.pop()
        of_child, of_parent = above[each.level], result[each.parents][each.group]
        taken = share[each.level]
        others = known[each.group] - np.where(np.isinf(of_child), 0.0, of_child)
        fitted = taken * others + taken**2 * np.where(taken > 0, of_parent, 0.0)
        result[each.level] = np.where(taken > 0, fitted, of_child)
    return Sweep(tree, own, below, share, result, above)


def _share(first: Floats, second: Floats) -> Floats:
    """Return first / (first + second): what the second weighs, beside the first (1 if inf)."""
    with np.errstate(invalid="ignore"):
        plain = first / (first + second)
    return np.where(np.isinf(second), 0.0, np.where(np.isinf(first), 1.0, plain))


def _together(first: Floats, second: Floats) -> Floats:
    """Return the variance of two independent numbers of one thing, put together."""
    with np.errstate(invalid="ignore"):
        plain = first * (second / (first + second))
    return np.where(np.isinf(second), first, np.where(np.isinf(first), second, plain))
