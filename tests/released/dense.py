"""Generalised least squares written out as matrices, in a few lines of its own."""

from functools import reduce

import numpy as np

from perrecord.released.fitting.trees import CellTree


def random_tree(rng, levels=None, most=3):
    """Return a small hierarchy: some nodes have one child, some none, and some several."""
    counts = [int(rng.integers(1, 3))]
    parents = []
    for _ in range(int(rng.integers(0, 4)) if levels is None else levels):
        children = rng.integers(0, most + 1, counts[-1])
        if not children.any():
            children[0] = 1
        parents.append(np.repeat(np.arange(counts[-1]), children))
        counts.append(int(children.sum()))
    return CellTree(counts[0], tuple(parents))


def leaf_matrix(tree):
    """Return which leaves each node is the sum of, found by walking up from every leaf."""
    above = {}
    for number, parents in enumerate(tree.parents):
        for place, parent in enumerate(parents):
            above[tree.starts[number + 1] + place] = tree.starts[number] + int(parent)
    inner = set(above.values())
    leaves = [node for node in range(tree.size) if node not in inner]
    matrix = np.zeros((tree.size, len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node is not None:
            matrix[node, column] = 1
            node = above.get(node)
    return matrix


def dense_fit(trees, values, variances):
    """Return values and variances of every combination of nodes; infinite where there is none."""
    design = reduce(np.kron, [leaf_matrix(tree) for tree in trees])
    y, t = values.ravel(), variances.ravel()
    is_measured = np.isfinite(t)
    weights = np.where(is_measured, 1 / t, 0.0)
    root = np.sqrt(weights)[:, None]
    inverse = np.linalg.pinv(root * design, rcond=1e-11)  # of the weighted design
    x = design @ inverse @ (root[:, 0] * np.where(is_measured, y, 0.0))
    spread = design @ inverse
    v = (spread**2).sum(axis=1)
    space = np.linalg.pinv(design[is_measured]) @ design[is_measured]
    is_identified = np.abs(design @ space - design).max(axis=1) < 1e-8
    v = np.where(is_identified, v, np.inf)
    return x.reshape(values.shape), v.reshape(values.shape)
