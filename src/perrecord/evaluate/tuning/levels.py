"""How an amount is best shared among the levels of a hierarchy when least squares follows (T32).

No data is needed: the variance of every fitted number follows from the tree of public keys and the
variances of the noise. It is convex in the precisions, which are proportional to amounts of rho.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.released.fitting.sweeps import sweep_of
from perrecord.released.fitting.trees import CellTree, Floats, Indices

_STEP = 1e-4
_PRECISE = 1e-5
_MOST_ROUNDS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Measured levels of one hierarchy: their nodes in its tree, their noise, what each counts."""

    tree: CellTree
    nodes: tuple[Indices, ...]
    variances: tuple[Floats | float, ...]
    """Of the noise, by level or by node of it, at an amount of 1; at half of it they double."""
    weights: tuple[float, ...]

    def fitted(self, amounts: Sequence[float]) -> list[Floats]:
        """Return the variances of the fitted numbers by level."""
        precisions = np.zeros(self.tree.size)
        for nodes, own, amount in zip(self.nodes, self.variances, amounts, strict=True):
            precisions[nodes] += amount / own
        with np.errstate(divide="ignore"):
            every = sweep_of(self.tree, 1 / precisions).variances
        return [every[nodes] for nodes in self.nodes]

    def size(self, amounts: Sequence[float]) -> float:
        """Return the sum over levels of weight times mean variance: what is to be small."""
        found = self.fitted(amounts)
        return sum(w * float(each.mean()) for w, each in zip(self.weights, found, strict=True))


def best_shares(levels: Levels) -> tuple[float, ...]:
    """Return the shares of an amount with the least weighted mean variance.

    Each round multiplies every share by the square root of what more of it would gain, which never
    makes the sum larger and ends where more gains the same everywhere (Torsney's algorithm).

    >>> tree = CellTree(1, (np.zeros(100, dtype=np.intp),))
    >>> nodes = (np.arange(1), np.arange(1, 101))
    >>> [round(each, 2) for each in best_shares(Levels(tree, nodes, (1.0, 1.0), (0.5, 0.5)))]
    [0.5, 0.5]
    >>> [round(each, 2) for each in best_shares(Levels(tree, nodes, (1.0, 1.0), (0.01, 0.99)))]
    [0.08, 0.92]
    """
    count = len(levels.nodes)
    shares = np.full(count, 1 / count)
    for _ in range(_MOST_ROUNDS):
        gains = np.array([_gain(levels, shares, place) for place in range(count)])
        better = shares * np.sqrt(np.maximum(gains, 0))
        better /= better.sum()
        is_done = bool(np.abs(better - shares).max() <= _PRECISE)
        shares = better
        if is_done:
            break
    return tuple(shares.tolist())


def _gain(levels: Levels, shares: Floats, place: int) -> float:
    """Return how fast the size falls as one share grows."""
    less, more = shares.copy(), shares.copy()
    less[place] *= 1 - _STEP
    more[place] *= 1 + _STEP
    return (levels.size(less.tolist()) - levels.size(more.tolist())) / (
        2 * _STEP * float(shares[place])
    )
