"""Fits over hierarchies are generalised least squares: values, variances, what is identified."""

import numpy as np
import pytest

from perrecord.errors import InternalError
from perrecord.lab.synth.industries import industry_codes
from perrecord.released.fitting.gradients import fit_by_gradients
from perrecord.released.fitting.groups import variances_of_sums
from perrecord.released.fitting.products import (
    added_up,
    fit_separable,
    leaves_of,
    outer,
    separated,
)
from perrecord.released.fitting.sweeps import sweep_of
from perrecord.released.fitting.trees import CellTree, chain_of, walk
from tests.released.dense import dense_fit, random_tree

RANDOM = 300


def measured(rng, tree, missing):
    """Return variances by node over two orders of size, infinite for a share of the nodes."""
    variances = np.exp(rng.normal(0, 1, tree.size))
    variances[rng.random(tree.size) < missing] = np.inf
    return variances


def drawn(rng, variances):
    """Return values that are 0 where nothing was measured."""
    return np.where(np.isfinite(variances), rng.normal(0, 10, variances.shape), 0.0)


def same(found, values, variances):
    """Check values and variances to 1e-10, and that the same cells have a number."""
    is_known = np.isfinite(variances)
    assert np.array_equal(np.isfinite(found.variances), is_known)
    np.testing.assert_allclose(found.values[is_known], values[is_known], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.variances[is_known], variances[is_known], rtol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.6])
def test_one_hierarchy_is_least_squares(missing):
    """Random trees: single children, leaves on every level, nodes that nothing is known of."""
    rng = np.random.default_rng(int(10 * missing))
    for _ in range(RANDOM):
        tree = random_tree(rng)
        variances = measured(rng, tree, missing)
        values = drawn(rng, variances)
        same(
            fit_separable(values, [sweep_of(tree, variances)]),
            *dense_fit([tree], values, variances),
        )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_product_of_hierarchies_is_least_squares(missing):
    """Two or three hierarchies, whole levels or single nodes of each unmeasured."""
    rng = np.random.default_rng(int(10 * missing) + 1)
    for number in range(RANDOM // 3):
        trees = [random_tree(rng, levels=number % 3, most=2) for _ in range(2 + (number % 5 == 0))]
        factors = [measured(rng, tree, missing) for tree in trees]
        if not all(np.isfinite(each).any() for each in factors):
            continue
        variances = outer(factors)
        values = drawn(rng, variances)
        sweeps = separated(trees, variances)
        assert sweeps is not None
        same(fit_separable(values, sweeps), *dense_fit(trees, values, variances))


def test_variances_that_are_no_product_are_not_taken_for_one():
    """One table less, or one cell with more noise, and the sweeps do not apply."""
    trees = [CellTree(1, (np.array([0, 0]),)), CellTree(1, (np.array([0, 0, 0]),))]
    plain = np.full((3, 4), 2.0)
    assert separated(trees, plain) is not None
    for place, variance in (((0, 0), np.inf), ((2, 3), np.inf), ((2, 3), 2.1)):
        other = plain.copy()
        other[place] = variance
        assert separated(trees, other) is None


def test_gradients_reach_least_squares_and_never_understate_a_variance():
    """Missing tables, and noise that differs from cell to cell; also where nothing was measured."""
    rng = np.random.default_rng(5)
    tight, following = [], 0
    for number in range(100):
        trees = [random_tree(rng, levels=1 + number % 2, most=3) for _ in range(2)]
        variances = outer([np.exp(rng.normal(0, 0.5, tree.size)) for tree in trees])
        if number % 2:
            variances = variances * np.exp(rng.normal(0, 0.3, variances.shape))
        for level in range(1 + number % 3):
            first, second = (int(rng.integers(0, len(tree.starts) - 1)) for tree in trees)
            if level < number % 3:
                block = tuple(
                    slice(tree.starts[each], tree.starts[each + 1])
                    for tree, each in zip(trees, (first, second), strict=True)
                )
                variances[block] = np.inf
        values = drawn(rng, variances)
        found = fit_by_gradients(trees, values, variances)
        expected, least = dense_fit(trees, values, variances)
        is_measured = np.isfinite(variances)
        assert found.residual <= 1e-8
        np.testing.assert_allclose(
            found.values[is_measured], expected[is_measured], rtol=1e-6, atol=1e-6
        )
        assert (found.variances[is_measured] >= least[is_measured] * (1 - 1e-9)).all()
        assert (found.variances[is_measured] <= variances[is_measured] * (1 + 1e-9)).all()
        follows = ~is_measured & found.is_known
        following += int(follows.sum())
        assert np.isfinite(least[follows]).all()
        np.testing.assert_allclose(found.values[follows], expected[follows], rtol=1e-6, atol=1e-6)
        assert (found.variances[follows] >= least[follows] * (1 - 1e-9)).all()
        if number % 2 == 0:
            tight.append(np.sqrt(found.variances[is_measured] / least[is_measured]))
    assert np.median(np.concatenate(tight)) < 1.05
    assert following > 50


@pytest.mark.parametrize("giant", [1e6, 1e9, 1e12])
def test_beside_giants_the_fit_of_small_cells_is_as_good(giant):
    """Fits are linear and the truth adds up: what is fitted is the truth and the fit of noise."""
    rng = np.random.default_rng(3)
    for number in range(20):
        trees = [random_tree(rng, levels=1 + number % 2, most=3) for _ in range(2)]
        variances = 2500 * outer([np.exp(rng.normal(0, 0.5, tree.size)) for tree in trees])
        variances *= np.exp(rng.normal(0, 0.3, variances.shape))
        places = np.argwhere(leaves_of(trees))
        leaves = np.where(leaves_of(trees), np.round(np.exp(rng.normal(3, 2, variances.shape))), 0)
        leaves[tuple(places[rng.integers(len(places))])] = giant
        truth, noise = added_up(trees, leaves), np.round(rng.normal(0, np.sqrt(variances)))
        found = fit_by_gradients(trees, truth + noise, variances)
        off = found.values - truth - dense_fit(trees, noise, variances)[0]
        assert np.abs(off / np.sqrt(variances)).max() < 1e-3


def test_what_was_not_measured_is_the_sum_of_leaves_that_were():
    """Leaves on two levels, neither of which is measured throughout."""
    trees = [CellTree(1, (np.array([0, 0]), np.array([1, 1]))), CellTree(1)]
    variances = np.array([[np.inf], [4.0], [np.inf], [2.0], [3.0]])
    found = fit_by_gradients(trees, np.array([[0.0], [5.0], [0.0], [7.0], [8.0]]), variances)
    np.testing.assert_allclose(found.values[:, 0], [20, 5, 15, 7, 8])
    np.testing.assert_allclose(found.variances[:, 0], [9, 4, 5, 2, 3])


def test_replayed_noise_has_the_stated_standard_errors():
    """2,000 draws: each standard error within 3 % on average over a level, five in a million."""
    rng = np.random.default_rng(7)
    trees = [
        CellTree(1, (np.repeat([0], 4), np.repeat(np.arange(4), 5))),
        CellTree(1, (np.repeat([0], 6),)),
    ]
    variances = outer([np.repeat([9.0, 4.0, 1.0], [1, 4, 20]), np.repeat([1.0, 2.0], [1, 6])])
    sweeps = separated(trees, variances)
    stated = fit_separable(np.zeros_like(variances), sweeps).variances
    draws = np.array(
        [
            fit_separable(rng.normal(0, 1, variances.shape) * np.sqrt(variances), sweeps).values
            for _ in range(2_000)
        ]
    )
    ratios = np.sqrt((draws**2).mean(axis=0) / stated)
    assert abs(ratios - 1).max() < 0.09  # 5.7 standard errors of 1/sqrt(4,000)
    for rows in (slice(0, 1), slice(1, 5), slice(5, 25)):
        for columns in (slice(0, 1), slice(1, 7)):
            assert abs(ratios[rows, columns].mean() - 1) < 0.03 * (2.4 if rows.stop == 1 else 1)


def test_a_rest_takes_what_its_siblings_leave():
    """An unknown child is the difference; its siblings keep their own numbers."""
    tree = CellTree(1, (np.array([0, 0, 0]),))
    sweep = sweep_of(tree, np.array([4.0, 1.0, 2.0, np.inf]))
    values = np.array([100.0, 30.0, 20.0, 0.0])
    sweep.fit(values)
    assert values.tolist() == [100, 30, 20, 50]
    assert sweep.variances.tolist() == [4, 1, 2, 7]


def test_two_unknown_siblings_have_no_number():
    """Nothing tells them apart."""
    sweep = sweep_of(CellTree(1, (np.array([0, 0, 0]),)), np.array([4.0, 1.0, np.inf, np.inf]))
    assert sweep.is_identified.tolist() == [True, True, False, False]


def test_a_chain_of_codes_becomes_a_tree_with_siblings_together():
    """Paths in any order give the tree of their nodes."""
    tree, places = chain_of([np.array([1, 0, 1, 0]), np.array([0, 3, 2, 1])])
    assert tree.parents[0].tolist() == [0, 0, 1, 1]
    assert places[1].tolist() == [2, 0, 3, 1]


def test_a_tree_out_of_order_is_refused():
    """Children of one parent must stand side by side."""
    with pytest.raises(InternalError):
        CellTree(2, (np.array([1, 0]),))


def test_errors_of_six_levels_of_industries_are_as_the_guide_says():
    """Equal noise on every level: 3 % less at the top, 36 % less at five digits."""
    codes = industry_codes()
    levels = [[code[:digits] for code in codes] for digits in (0, 2, 3, 4, 5, 6)]
    numbers = [np.unique(level, return_inverse=True)[1] for level in levels]
    tree, _ = chain_of(numbers)
    errors = np.sqrt(sweep_of(tree, np.ones(tree.size)).variances)
    means = [errors[level].mean() for level in walk(tree.starts)]
    np.testing.assert_allclose(means, [0.972, 0.831, 0.723, 0.660, 0.636, 0.719], rtol=0.002)


def test_variances_of_any_sums_are_those_of_least_squares():
    """Random trees, nodes of their last level in random sums, with and without unknown ones."""
    rng = np.random.default_rng(11)
    for number in range(RANDOM):
        tree = random_tree(rng)
        variances = measured(rng, tree, 0.3 * (number % 2))
        nodes = np.arange(tree.starts[-2], tree.starts[-1])
        nodes = nodes[np.isfinite(variances[nodes])]
        if not len(nodes):
            continue
        groups = rng.integers(0, 3, len(nodes))
        found = variances_of_sums(sweep_of(tree, variances), nodes, groups, 3)
        design = np.eye(tree.size)[:, tree.is_leaf]
        tree.add_up(design)
        weights = np.where(np.isfinite(variances), 1 / variances, 0.0)
        covariances = design @ np.linalg.pinv(design.T @ (weights[:, None] * design)) @ design.T
        for group in range(3):
            chosen = nodes[groups == group]
            expected = covariances[np.ix_(chosen, chosen)].sum()
            np.testing.assert_allclose(found[group], expected, rtol=1e-8, atol=1e-9)
