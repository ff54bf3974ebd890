"""Variances of sums of fitted numbers on one hierarchy, whichever nodes are added up (T31).

A child is x = k x_parent + (z - k Z), and the second part is uncorrelated with everything above and
beside it. So a sum over nodes below a parent is a x_parent + r with a = sum a_c k_c and

    Var r = sum (Var r_c + a_c^2 u_c) - (sum a_c u_c)^2 / S

from the nodes up; at a root the variance is a^2 v + Var r. docs/theory.md has the proof.
"""

import numpy as np

from perrecord.released.fitting.sweeps import Sweep
from perrecord.released.fitting.trees import Floats, Indices


def variances_of_sums(sweep: Sweep, nodes: Indices, groups: Indices, count: int) -> Floats:
    """Return the variance of each of so many sums; every node is in the sum that its group says.

    Nodes are measured ones of one level, so that each has a number.

    >>> from perrecord.released.fitting.sweeps import sweep_of
    >>> from perrecord.released.fitting.trees import CellTree
    >>> tree = CellTree(1, (np.array([0, 0]),))
    >>> sweep = sweep_of(tree, np.array([np.inf, 2.0, 3.0]))
    >>> variances_of_sums(sweep, np.array([1, 2]), np.array([0, 0]), 1)
    array([5.])
    """
    tree = sweep.tree
    node, group = nodes, groups
    share, rest = np.ones(len(nodes)), np.zeros(len(nodes))
    for each in reversed(tree.siblings):
        is_here = (node >= each.level.start) & (node < each.level.stop)
        if not is_here.any():
            continue
        mine, of_group, a = node[is_here], group[is_here], share[is_here]
        spread = np.where(a > 0, sweep.below_variances[mine], 0.0)  # what is above a rest has a = 0
        total = each.total(sweep.below_variances[each.level])
        above = each.group[mine - each.level.start]
        pairs, place = np.unique(above * count + of_group, return_inverse=True)
        parent = pairs // count

        def summed(parts: Floats, place: Indices = place, size: int = len(pairs)) -> Floats:
            return np.asarray(np.bincount(place, parts, size), dtype=np.float64)

        left = summed(rest[is_here] + a * a * spread) - summed(a * spread) ** 2 / total[parent]
        node = np.concatenate([node[~is_here], each.parents[parent]])
        group = np.concatenate([group[~is_here], pairs % count])
        share = np.concatenate([share[~is_here], summed(a * sweep.share[mine])])
        rest = np.concatenate([rest[~is_here], left])
    of_roots = share * share * np.where(share > 0, sweep.variances[node], 0.0) + rest
    return np.asarray(np.bincount(group, np.maximum(of_roots, 0.0), count), dtype=np.float64)
