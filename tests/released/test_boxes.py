"""Rows of tables in a grid: boxes and rows anywhere, in pieces, and products by row."""

from itertools import product

import numpy as np
import pytest

from perrecord.released.fitting import boxes, trees
from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.products import fit_separable, outer
from perrecord.released.fitting.sweeps import sweep_of
from perrecord.released.numbers import tiled
from tests.released.dense import random_tree

GRID = (4, 5, 3)


def every_box():
    """Yield all boxes of the grid, as lists of places in order."""
    cells = np.arange(np.prod(GRID)).reshape(GRID)
    ends = [list(product(range(size), range(1, size + 1))) for size in GRID]
    for bounds in product(*ends):
        if all(low < high for low, high in bounds):
            yield cells[tuple(slice(low, high) for low, high in bounds)].ravel()


def test_every_box_is_found_and_holds_no_places():
    """Its rows are those of the grid, in order."""
    values = np.random.default_rng(0).normal(size=GRID)
    for places in every_box():
        rows = Placed.of(places, GRID)
        assert all(isinstance(each, slice) for each in rows.index)
        assert np.array_equal(values[rows.index].ravel(), values.ravel()[places])


def test_rows_that_are_no_box_keep_their_places():
    """Two rows changed, one left out, one twice, another order, nothing at all."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=GRID)
    cells = np.arange(np.prod(GRID)).reshape(GRID)
    some = [each for each in every_box() if len(each) > 3]
    for number in rng.integers(0, len(some), 200):
        box = some[number]
        inside = box.copy()
        inside[[1, 2]] = inside[[2, 1]]
        for places in (inside, np.delete(box, 1), np.insert(box, 1, box[0]), rng.permutation(box)):
            rows = Placed.of(places, GRID)
            assert np.array_equal(values[rows.index].ravel(), values.ravel()[places])
    assert values[Placed.of(cells.ravel()[:0], GRID).index].size == 0


@pytest.mark.parametrize("stretch", [1, 7, 10_000])
def test_pieces_are_all_rows_in_order(monkeypatch, stretch):
    """For boxes and for rows anywhere."""
    monkeypatch.setattr(boxes, "STRETCH", stretch)
    rng = np.random.default_rng(2)
    cells = np.arange(np.prod(GRID)).reshape(GRID)
    for places in (cells[1:3, 2:5].ravel(), cells[:, 1:2, 1:].ravel(), rng.permutation(60)[:20]):
        rows = Placed.of(places, GRID)
        found, at = [], 0
        for which, piece in rows.pieces():
            assert which.start == at
            at = which.stop
            found.append(cells[piece.index].reshape(piece.shape).ravel())
        assert np.array_equal(np.concatenate(found), places)


def test_a_product_by_row_is_that_of_the_whole_grid():
    """Factors of one hierarchy each, or one of all; what is the same along an axis is held once."""
    rng = np.random.default_rng(3)
    lines = [np.array([2.0, 2.0, 2.0, 5.0]), rng.normal(size=5), np.array([1.0, np.inf, 1.0])]
    factors = np.ix_(*lines)
    whole = outer(lines)
    for places in (*list(every_box())[::17], rng.permutation(60)[:20]):
        rows = Placed.of(places, GRID)
        for given in (factors, (whole,)):
            found = rows.of_product(given)
            shown = np.broadcast_to(found, rows.shape).ravel()
            assert np.array_equal(shown, whole.ravel()[places])
            assert tiled(found, rows.shape).to_pylist() == shown.tolist()
    first = Placed.of(np.arange(45), GRID)
    assert first.of_product(factors[:2]).shape == (1, 5, 1)


@pytest.mark.parametrize("stretch", [1, 50, 10_000])
def test_sweeps_in_stretches_are_those_of_the_whole(monkeypatch, stretch):
    """Along each axis every line is swept by itself, wherever a stretch ends."""
    monkeypatch.setattr(trees, "STRETCH", stretch)
    monkeypatch.setattr(trees, "_LEAST_WIDTH", 1)
    rng = np.random.default_rng(4)
    every = [random_tree(rng) for _ in range(3)]
    sweeps = [sweep_of(tree, np.exp(rng.normal(size=tree.size))) for tree in every]
    values = rng.normal(size=[tree.size for tree in every])
    expected = values
    for axis, sweep in enumerate(sweeps):
        expected = np.apply_along_axis(_fitted, axis, expected, sweep)
    np.testing.assert_allclose(fit_separable(values, sweeps).values, expected, atol=1e-12)


def _fitted(line, sweep):
    fitted = line.copy()
    sweep.fit(fitted)
    return fitted
