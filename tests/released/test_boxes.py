"""Rows of tables in a grid: boxes and rows anywhere, in pieces, and products by row."""

from itertools import product

import numpy as np
import pytest

from perrecord.queries.hierarchies.placing import TableSides
from perrecord.released.fitting import boxes, runs, trees
from perrecord.released.fitting.blocks import box_factors
from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.printing import printed
from perrecord.released.fitting.products import factored, fit_separable, outer, separated
from perrecord.released.fitting.runs import Runs, summed_runs
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


def test_sides_that_are_a_box_are_found_without_their_places():
    """Whatever is said to be a box is that of its places; other orders and gaps are none."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(300):
        sizes = [int(rng.integers(1, 4)) for _ in GRID]
        starts = [int(rng.integers(0, n - s + 1)) for n, s in zip(GRID, sizes, strict=True)]
        order = rng.permutation(3)
        nodes = []
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            line = np.arange(start, start + size)
            if rng.random() < 0.1:
                line = rng.permutation(line)
            shape = [1, 1, 1]
            shape[int(order[axis])] = size
            nodes.append(line.reshape(shape))
        rows = [0, 0, 0]
        for axis, size in enumerate(sizes):
            rows[int(order[axis])] = size
        sides = TableSides(tuple(rows), tuple(nodes))
        own, plain = sides.box(), Placed.of(sides.places(GRID), GRID)
        if own is not None:
            found += 1
            assert plain.slices == own
        else:
            assert plain.slices is None
    assert 50 < found < 280


def test_variances_of_boxes_are_factored_as_if_written_out():
    """To the last bit; boxes that overlap, and variances that are no product, are not factored."""
    rng = np.random.default_rng(6)
    factors = [np.repeat([0.3, 7.1], 2), np.repeat([1.7, 0.9], [2, 3]), np.array([5.3, 1.1, 1.1])]
    boxed = [
        tuple(slice(*each) for each in sides)
        for sides in product([(0, 2), (2, 4)], [(0, 2), (2, 5)], [(0, 1), (1, 3)])
    ]
    for kept in (8, 7, 6):
        whole, rows, variances = np.full(GRID, np.inf), [], []
        some = [boxed[place] for place in rng.permutation(8)[:kept]]
        for box in some:
            own = np.asarray(outer(factors)[box].ravel()[0])
            whole[box] = 1 / (1 / own)
            rows.append(Placed.box(box))
            variances.append(own)
        expected, found = factored(whole), box_factors(GRID, rows, variances)
        assert (found is None) == (expected is None)
        if found is not None:
            assert all(map(np.array_equal, found, expected))
    assert kept < 8
    all_of_it, one = Placed.of(np.arange(60), GRID), np.asarray(2.0)
    assert box_factors(GRID, [all_of_it], [one]) is not None
    assert box_factors(GRID, [all_of_it, all_of_it], [one, one]) is None
    assert box_factors(GRID, rows[:1], [np.ones(rows[0].shape).ravel()]) is None


@pytest.mark.parametrize("stretch", [1, 7, 10_000])
def test_sums_over_runs_are_those_row_by_row(monkeypatch, stretch):
    """Also where sums have no places, and places no sum."""
    monkeypatch.setattr(runs, "STRETCH", stretch)
    rng = np.random.default_rng(7)
    for _ in range(100):
        shape = tuple(int(each) for each in rng.integers(1, 6, 3))
        lines = [np.sort(rng.integers(-1, 4, each)) for each in shape]
        lines[0] = np.arange(shape[0]) if rng.random() < 0.5 else lines[0]
        counts = [3, int(rng.integers(1, 4)), 2]
        counts[0] = shape[0] if rng.random() < 0.5 else 3
        numbers = rng.integers(-(10**6), 10**6, shape)
        expected = np.zeros(counts, dtype=np.int64)
        for at in np.ndindex(*shape):
            to = tuple(int(line[place]) for line, place in zip(lines, at, strict=True))
            if all(0 <= each < count for each, count in zip(to, counts, strict=True)):
                expected[to] += numbers[at]
        every = [Runs.of(line, count) for line, count in zip(lines, counts, strict=True)]
        assert np.array_equal(summed_runs(numbers, every), expected)


def test_numbers_printed_in_place_are_those_printed_apart():
    """To the last bit, with and without cells of which nothing is known."""
    rng = np.random.default_rng(8)
    for share in (0.0, 0.2):
        every = [random_tree(rng) for _ in range(2)]
        shape = tuple(tree.size for tree in every)
        values, known = rng.normal(0, 50, shape), rng.random(shape) >= share
        apart = printed(every, values, known, 100.0)
        assert np.array_equal(printed(every, values.copy(), known, 100.0, in_place=True), apart)


def test_grids_of_boxes_are_separated_as_those_written_out():
    """A sweep along each tree has the same numbers, whichever way variances are given."""
    rng = np.random.default_rng(9)
    for _ in range(20):
        every = [random_tree(rng) for _ in range(2)]
        shape = tuple(tree.size for tree in every)
        levels = [list(trees.walk(tree.starts)) for tree in every]
        spread = [rng.uniform(0.1, 9, len(each)) for each in levels]
        rows, variances, whole = [], [], np.empty(shape)
        for (one, first), (two, second) in product(*map(enumerate, levels)):
            if first.stop > first.start and second.stop > second.start:
                rows.append(Placed.box((first, second)))
                variances.append(np.asarray(spread[0][one] * spread[1][two]))
                whole[first, second] = 1 / (1 / variances[-1])
        found, expected = box_factors(shape, rows, variances), separated(every, whole)
        assert found is not None
        for tree, factor, sweep in zip(every, found, expected, strict=True):
            own = sweep_of(tree, factor)
            for name in ("own", "below", "share", "variances"):
                assert np.array_equal(getattr(own, name), getattr(sweep, name))
