"""How a budget is best shared among the levels of hierarchies when least squares follows (T32).

No data is needed: the variance of every fitted number follows from the tree of public keys and from
the variances of the noise. It is convex in the precisions, and so in shares of rho.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.released.fitting.sweeps import sweep_of
from perrecord.released.fitting.trees import CellTree, Floats, Indices

Shares = tuple[float, ...]
Variance = Callable[[float], float]
"""The variance of a level's noise by its amount."""

_STEP = 1e-4
_PRECISE = 1e-6
_MOST_ROUNDS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Measured levels of one hierarchy: where their cells stand in its tree, and what each counts.

    What is to be small is the sum over levels of the weight times the mean variance of its cells.
    """

    tree: CellTree
    nodes: tuple[Indices, ...]
    weights: tuple[float, ...]

    def variances(self, measured: Sequence[float]) -> list[Floats]:
        """Return the variances of the fitted cells by level, given those of their noise."""
        every = np.full(self.tree.size, np.inf)
        for nodes, variance in zip(self.nodes, measured, strict=True):
            every[nodes] = variance
        fitted = sweep_of(self.tree, every).variances
        return [fitted[nodes] for nodes in self.nodes]

    def size(self, measured: Sequence[float]) -> float:
        """Return the weighted mean variance."""
        found = self.variances(measured)
        return sum(w * float(v.mean()) for w, v in zip(self.weights, found, strict=True))


def best_amounts(levels: Levels, total: float, variances: Sequence[Variance]) -> Shares:
    """Return the amounts by level, of this sum, with the least weighted mean variance.

    Each round multiplies every amount by the square root of what more of it would gain; at the
    optimum that is the same for all (Torsney's algorithm for optimal designs). Rounds that do not
    help are halved.
    """
    count = len(variances)
    amounts = np.full(count, total / count)

    def size(logs: Floats) -> float:
        found = [each(a) for each, a in zip(variances, np.exp(logs).tolist(), strict=True)]
        return levels.size(found)

    least = size(np.log(amounts))
    for _ in range(_MOST_ROUNDS):
        logs = np.log(amounts)
        gains = np.empty(count)
        for place in range(count):
            moved = [logs.copy(), logs.copy()]
            moved[0][place] -= _STEP
            moved[1][place] += _STEP
            gains[place] = max(size(moved[0]) - size(moved[1]), 0.0) / amounts[place]
        if not gains.any():
            break
        power, before = 0.5, least
        while power > _PRECISE:
            better = amounts * np.maximum(gains / gains.max(), 1e-12) ** power
            better *= total / better.sum()
            found = size(np.log(better))
            if found <= before:
                break
            power /= 2
        else:
            break
        is_done = bool(np.all(np.abs(better - amounts) <= _PRECISE * total))
        amounts, least = better, found
        if is_done:
            break
    return tuple(amounts.tolist())


def inverse(amount: float) -> float:
    """Return the variance of Gaussian noise, but for a constant."""
    return 1 / amount if amount > 0 else math.inf
