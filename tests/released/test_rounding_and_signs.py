"""Fitted numbers as printed: they add up to the last digit, also whole or never negative."""

from itertools import product

import numpy as np
import pytest

from perrecord.released.fitting.descent import nonnegative
from perrecord.released.fitting.printing import printed, whole
from perrecord.released.fitting.products import added_up, fit_separable, leaves_of
from perrecord.released.fitting.sweeps import sweep_of
from perrecord.released.fitting.trees import CellTree
from tests.released.dense import leaf_matrix, random_tree


def adds_up(trees, every):
    """Tell whether each cell is the sum of the leaves below it, exactly."""
    total = every
    for axis, tree in enumerate(trees):
        matrix = leaf_matrix(tree).astype(np.int64)
        leaves = np.take(total, np.flatnonzero(tree.is_leaf), axis=axis)
        total = np.moveaxis(np.tensordot(matrix, leaves, axes=(1, axis)), 0, axis)
    return np.array_equal(total, every)


def fitted(rng, number):
    """Return random hierarchies, one or two, and a fit over them."""
    trees = [random_tree(rng, most=3) for _ in range(1 + number % 2)]
    sweeps = [sweep_of(tree, np.exp(rng.normal(0, 1, tree.size))) for tree in trees]
    values = rng.normal(3, 10, [tree.size for tree in trees])
    return trees, fit_separable(values, sweeps)


def test_printed_numbers_add_up_to_the_last_digit():
    """On one hierarchy and on two; each is next to what was fitted."""
    rng = np.random.default_rng(1)
    for number in range(100):
        trees, found = fitted(rng, number)
        every = printed(trees, found.values * 10_000, np.ones(found.values.shape, np.bool_))
        assert adds_up(trees, every)
        assert np.abs(every - found.values * 10_000).max() < 100


def test_whole_numbers_add_up_and_are_next_to_theirs_on_one_tree():
    """Every number of one tree is rounded up or down; of two, they add up."""
    rng = np.random.default_rng(2)
    for number in range(100):
        trees, found = fitted(rng, number)
        every = printed(trees, found.values * 100, np.ones(found.values.shape, np.bool_))
        rounded = whole(trees, every, np.ones(every.shape, np.bool_), 100)
        assert adds_up(trees, rounded)
        if len(trees) == 1:
            assert (rounded >= every // 100).all()
            assert (rounded <= -(-every // 100)).all()


def test_non_negative_numbers_add_up_and_are_the_nearest():
    """Each family of siblings is the projection, compared with a search over who is 0."""
    rng = np.random.default_rng(3)
    tree = CellTree(1, (np.zeros(5, np.intp),))
    for _ in range(100):
        values, variances = rng.normal(1, 4, 6), np.exp(rng.normal(0, 1, 6))
        values[0] = max(values[1:].sum(), 0.5)
        found = nonnegative([tree], values, variances)
        assert found.min() >= 0
        np.testing.assert_allclose(found[1:].sum(), found[0])
        best = np.inf
        for mask in range(1, 32):
            kept = np.array([mask >> place & 1 for place in range(5)], bool)
            level = (values[1:][kept].sum() - values[0]) / variances[1:][kept].sum()
            tried = np.where(kept, values[1:] - level * variances[1:], 0.0)
            if tried.min() >= -1e-12:
                best = min(best, ((tried - values[1:]) ** 2 / variances[1:]).sum())
        distance = ((found[1:] - values[1:]) ** 2 / variances[1:]).sum()
        assert distance == pytest.approx(best)


def test_non_negative_numbers_of_random_hierarchies_add_up():
    """On one hierarchy and on two, once printed."""
    rng = np.random.default_rng(4)
    for number in range(100):
        trees, found = fitted(rng, number)
        signs = nonnegative(trees, found.values, found.variances)
        assert signs.min() >= 0
        every = printed(trees, signs * 10_000, np.ones(signs.shape, np.bool_))
        assert adds_up(trees, every)
        assert np.abs(every / 10_000 - signs).max() < 0.01


def test_the_root_keeps_its_number_where_it_is_positive():
    """Least squares under non-negativity would add to it: this does not."""
    rng = np.random.default_rng(5)
    tree = CellTree(1, (np.zeros(400, np.intp),))
    sweep = sweep_of(tree, np.full(401, 100.0**2))
    values = rng.normal(0, 100, 401)
    values[0] += 300
    sweep.fit(values)
    assert nonnegative([tree], values, sweep.variances)[0] == max(values[0], 0)


def test_numbers_beside_one_that_is_unknown_are_rounded_by_themselves():
    """Nothing is claimed to add up where a sibling has no number."""
    tree = CellTree(1, (np.array([0, 0, 0]),))
    known = np.array([True, True, False, False])
    values = np.array([14.0, 6.0, 0.0, 0.0])
    assert printed([tree], values, known).tolist() == [14, 6, 0, 0]
    assert whole([tree], np.array([14, 6, 0, 0]), known, 10).tolist() == [1, 1, 0, 0]
    variances = np.where(known, 1.0, np.inf)
    assert nonnegative([tree], np.array([14.0, -6.0, 0, 0]), variances).tolist() == [14, 0, 0, 0]


def test_products_are_gone_down_along_one_tree():
    """The leaves below each combination of roots sum to it."""
    rng = np.random.default_rng(6)
    trees = [CellTree(2, (np.array([0, 0, 1]),)), CellTree(1, (np.array([0, 0]),))]
    sweeps = [sweep_of(tree, np.ones(tree.size)) for tree in trees]
    found = fit_separable(rng.normal(0, 5, (5, 3)), sweeps)
    signs = nonnegative(trees, found.values, found.variances)
    np.testing.assert_allclose(signs[:2, 0], np.maximum(found.values[:2, 0], 0), atol=1e-12)


def known_by_levels(rng, trees):
    """Return which combinations are known: some levels, and all above them; never the finest."""
    known = np.zeros([tree.size for tree in trees], np.bool_)
    depths = [range(len(tree.starts) - 1) for tree in trees]
    for levels in product(*depths):
        is_margin = sum(level > 0 for level in levels) <= 1
        is_finest = all(level == depth[-1] for level, depth in zip(levels, depths, strict=True))
        if is_margin or (not is_finest and rng.random() < 0.3):
            above = tuple(
                slice(0, tree.starts[level + 1]) for tree, level in zip(trees, levels, strict=True)
            )
            known[above] = True
    return known


def test_nothing_moves_where_nothing_that_is_known_is_negative():
    """Two or three hierarchies whose cells nobody knows; what was taken for them is negative."""
    rng = np.random.default_rng(8)
    for number in range(60):
        trees = [CellTree(1, (np.sort(rng.integers(0, 1, 3)), np.sort(rng.integers(0, 3, 7))))]
        trees += [CellTree(1, (np.zeros(4, np.intp),)) for _ in range(1 + number % 2)]
        leaves = leaves_of(trees)
        true = added_up(trees, np.where(leaves, rng.exponential(50, leaves.shape), 0.0))
        known = known_by_levels(rng, trees)
        values = np.where(known, true, rng.normal(-40, 100, leaves.shape))
        signs = nonnegative(trees, values, np.where(known, 1.0, np.inf))
        assert signs.min() >= 0
        np.testing.assert_allclose(signs[known], true[known], rtol=1e-6)
        assert adds_up(trees, printed(trees, signs * 1e6, np.ones(signs.shape, np.bool_)))


def test_hierarchies_that_meet_in_unknown_cells_are_gone_down_one_by_one():
    """A negative number of one of them moves its siblings alone, as if the other were not there."""
    tree = CellTree(1, (np.zeros(3, np.intp),))
    values = np.full((4, 4), -9.0)
    values[:, 0] = [100, 70, 36, -6]
    values[0, :] = [100, 50, 30, 20]
    known = np.zeros((4, 4), np.bool_)
    known[:, 0] = known[0, :] = True
    signs = nonnegative([tree, tree], values, np.where(known, 1.0, np.inf))
    np.testing.assert_allclose(signs[:, 0], [100, 67, 33, 0], atol=1e-6)
    np.testing.assert_allclose(signs[0, :], [100, 50, 30, 20], atol=1e-6)
