"""The attacker's linear programme against every filling of small tables, one by one."""

from itertools import product

import numpy as np
import pytest

from perrecord.errors import InputError
from perrecord.lab.experiments.agencies.attack import Attack, balances, signs
from perrecord.lab.experiments.agencies.magnitudes import margins_of


def limits(total, hidden):
    """Return the most that each hidden cell can be: a margin that is published, the grand total."""
    published = np.where(hidden, total[-1, -1], total)
    return np.minimum(published[:, -1:], published[-1:, :])[hidden]


def fillings(total, hidden):
    """Return every table that agrees with what is published, the grand total included."""
    places = np.argwhere(hidden)
    every = np.array(list(product(*(range(most + 1) for most in limits(total, hidden)))))
    tables = np.tile(np.where(hidden, 0, total), (len(every), 1, 1))
    tables[:, places[:, 0], places[:, 1]] = every
    signed = tables * signs(total)
    is_table = (signed.sum(axis=1) == 0).all(axis=1) & (signed.sum(axis=2) == 0).all(axis=1)
    return tables[is_table]


def random_case(seed, *, with_margins):
    """Return a small table and some hidden cells of it; the grand total is published."""
    source = np.random.default_rng(seed)
    shape = (int(source.integers(1, 4)), int(source.integers(1, 4)))
    total = margins_of(source.integers(0, 3, shape))
    hidden = np.zeros(total.shape, dtype=bool)
    free = np.argwhere(np.ones(total.shape if with_margins else shape, dtype=bool))
    free = free[(free != np.array(shape)).any(axis=1)]
    chosen = free[source.permutation(len(free))[: int(source.integers(1, 7))]]
    hidden[chosen[:, 0], chosen[:, 1]] = True
    return total, hidden


@pytest.mark.parametrize("with_margins", [False, True])
def test_intervals_are_those_of_all_fillings(with_margins):
    """For 60 tables and every hidden cell: the least and the largest value that any filling has."""
    checked, wide = 0, 0
    for seed in range(60):
        total, hidden = random_case(seed, with_margins=with_margins)
        if np.prod(limits(total, hidden) + 1.0) > 200_000:
            continue
        every = fillings(total, hidden)
        attack = Attack.on(total, hidden)
        for row, column in np.argwhere(hidden):
            values = every[:, row, column]
            assert attack.interval((row, column)) == (values.min(), values.max())
            checked += 1
            wide += bool(values.min() < values.max())
    assert checked > 100
    assert 20 < wide < checked


def test_forgetting_the_columns_is_caught():
    """The broken twin: an attacker who adds up rows alone finds intervals that are too wide."""
    total, hidden = margins_of(np.array([[2, 1], [1, 2]])), np.zeros((3, 3), dtype=bool)
    hidden[:2, 0] = hidden[0, 1] = True
    every = fillings(total, hidden)
    assert Attack.on(total, hidden).interval((0, 0)) == (2, 2)
    rows_alone = Attack.on(total, hidden)
    half = Attack(hidden, rows_alone.published, rows_alone.matrix[:3], rows_alone.sums[:3])
    assert half.interval((0, 0)) == (0, 3)
    assert {int(value) for value in every[:, 0, 0]} == {2}


def test_hidden_values_are_never_read():
    """Any other table with the same published totals is attacked in the same way."""
    total = margins_of(np.array([[5, 20, 7], [30, 40, 9], [1, 2, 3]]))
    hidden = np.zeros((4, 4), dtype=bool)
    hidden[:2, :2] = True
    garbled = np.where(hidden, 999_999, total)
    for cell in ((0, 0), (1, 0)):
        found = Attack.on(total, hidden).interval(cell)
        assert Attack.on(garbled, hidden).interval(cell) == found
    assert Attack.on(total + margins_of(np.eye(3, dtype=int)), hidden).interval((1, 0)) != found


def test_a_cell_has_no_upper_bound_only_when_the_grand_total_is_hidden():
    """With everything hidden only signs are known; a grand total bounds what it adds up."""
    for seed in range(20):
        source = np.random.default_rng(seed)
        shape = tuple(source.integers(1, 5, 2))
        total = margins_of(source.integers(0, 10**9, shape))
        hidden = np.ones(total.shape, dtype=bool)
        for cell in ((0, 0), (0, shape[1]), (shape[0], 0), shape):
            assert Attack.on(total, hidden).interval(cell) == (0, np.inf)
        hidden[-1, -1] = False
        assert Attack.on(total, hidden).interval((0, 0))[1] == total[-1, -1]


def test_large_totals_are_right_to_the_last_unit():
    """Near 2^40, odd numbers, in a rectangle whose interval is known."""
    total = margins_of(np.array([[2**37 + 1, 2**36 + 3], [2**35 + 7, 2**38 + 11]]))
    hidden = np.zeros((3, 3), dtype=bool)
    hidden[:2, :2] = True
    low, high = Attack.on(total, hidden).interval((0, 0))
    assert (low, high) == (0, 2**37 + 1 + 2**35 + 7)
    assert Attack.on(total, hidden).interval((1, 1))[0] == 2**38 + 11 - 2**37 - 1


def test_a_published_cell_is_refused():
    """There is nothing to find."""
    hidden = np.zeros((2, 2), dtype=bool)
    hidden[0, 0] = True
    attack = Attack.on(margins_of(np.array([[3]])), hidden)
    with pytest.raises(InputError, match="is published"):
        attack.interval((1, 1))


def test_every_row_and_column_adds_up_to_nothing():
    """With their signs, margins included."""
    total = margins_of(np.arange(12).reshape(3, 4))
    assert not (balances(np.ones(total.shape, dtype=bool)) @ total.reshape(-1)).any()
