"""Suppression by the p% rule: who is sensitive, what protects them, what an attacker finds."""

import numpy as np
import pytest

from perrecord.errors import InputError
from perrecord.lab.experiments.agencies import suppression
from perrecord.lab.experiments.agencies.attack import Attack
from perrecord.lab.experiments.agencies.magnitudes import MagnitudeTable
from perrecord.lab.experiments.agencies.protection import (
    along_rectangles,
    cheapest_change,
    smallest_rectangle,
)
from perrecord.lab.experiments.agencies.suppression import sensitive, suppressed
from tests import first
from tests.lab.experiments.agencies.test_attack import fillings, limits


def of_cells(cells):
    """Return a table from the contributions of units that have one cell each."""
    records = [
        (i, j, value) for i, row in enumerate(cells) for j, cell in enumerate(row) for value in cell
    ]
    row, column, values = np.array(records, dtype=np.int64).reshape(-1, 3).T
    return MagnitudeTable.of(
        tuple(f"r{i}" for i in range(len(cells))),
        tuple(f"c{j}" for j in range(len(cells[0]))),
        row=row,
        column=column,
        unit=np.arange(len(row)),
        values=values,
    )


def random_table(seed, shape=(5, 4), units=12):
    """Return a table of heavy-tailed values, many cells of one or two units, some empty."""
    source = np.random.default_rng(seed)
    count = int(source.integers(5, 60))
    return MagnitudeTable.of(
        tuple(f"r{i}" for i in range(shape[0])),
        tuple(f"c{j}" for j in range(shape[1])),
        row=source.integers(0, shape[0], count),
        column=source.integers(0, shape[1], count),
        unit=source.integers(0, units, count),
        values=(source.pareto(0.9, count) * 10).astype(np.int64),
    )


def exposed(table, hidden, p=10):
    """Return the sensitive cells that an attacker knows too well, by programmes for each."""
    found = []
    attack = Attack.on(table.total, hidden)
    for row, column in np.argwhere(sensitive(table, p)):
        cell = (int(row), int(column))
        low, high = attack.interval(cell) if hidden[cell] else (table.total[cell],) * 2
        is_wide = 100 * (high - low) >= p * table.total[cell]
        # what the second contributor makes of it: high - x2 is at least (1 + p/100) x1
        is_high = 100 * (high - table.second[cell]) >= (100 + p) * table.first[cell]
        if not (is_wide and is_high):
            found.append(cell)
    return found


MANY = [3] * 12
"""The contributions of a cell that nobody could call sensitive."""

# -- the rule ----------------------------------------------------------------------------------


def test_the_rule_compares_the_rest_with_the_largest():
    """A rest of 10 is not below 10 % of 100; 9 is. Zeros and empty cells are not sensitive."""
    table = of_cells([[[100, 80, 10], [100, 80, 9], [0, 0], []], [[100], [50, 50], [1], MANY]])
    assert sensitive(table, 10)[:2, :4].tolist() == [
        [False, True, False, False],
        [True, True, True, False],
    ]
    assert not sensitive(table, 10)[-1, -1]


def test_a_firm_with_several_records_is_one_contributor():
    """Twelve records of one firm make a sensitive cell."""
    one = MagnitudeTable.of(
        ("r",), ("c",), row=np.zeros(12, int), column=np.zeros(12, int),
        unit=np.zeros(12, int), values=np.full(12, 3),
    )  # fmt: skip
    assert sensitive(one).all()
    assert not sensitive(of_cells([[MANY]])).any()


@pytest.mark.parametrize("p", [0, 101, -5])
def test_p_is_a_percentage(p):
    """From 1 to 100."""
    with pytest.raises(InputError, match="p is"):
        sensitive(of_cells([[MANY]]), p)


# -- protection --------------------------------------------------------------------------------


def test_a_lone_hidden_cell_is_found_by_subtraction():
    """The broken twin of complementary suppression: without it the attack finds the very number."""
    table = of_cells([[[50], MANY, MANY], [MANY, MANY, MANY], [MANY, MANY, MANY]])
    primary = sensitive(table)
    assert np.argwhere(primary).tolist() == [[0, 0]]
    assert Attack.on(table.total, primary).interval((0, 0)) == (50, 50)
    assert exposed(table, primary) == [(0, 0)]
    found = suppressed(table)
    assert found.complementary.sum() == 3
    assert exposed(table, found.hidden) == []


@pytest.mark.parametrize("tables", first(1, [6, 15]))
def test_after_suppression_every_primary_cell_is_protected(tables):
    """Random tables; the audit is by programmes of its own, with no shortcut."""
    primaries = 0
    unprotected = 0
    for seed in range(tables):
        table = random_table(seed)
        found = suppressed(table)
        assert (found.primary == sensitive(table)).all()
        assert not (found.primary & found.complementary).any()
        assert not found.hidden[table.total == 0].any()
        assert exposed(table, found.hidden) == []
        primaries += int(found.primary.sum())
        unprotected += len(exposed(table, found.primary))
    assert primaries > 10 * tables
    assert unprotected > tables / 2  # the twin: primary suppressions alone


def test_protection_holds_for_every_filling_of_small_tables():
    """By enumeration: the values that hidden cells can have spread as far as the rule asks."""
    checked = 0
    for seed in range(60):
        table = random_small(seed)
        found = suppressed(table, 25)
        is_large = np.prod(limits(table.total, found.hidden) + 1.0) > 50_000
        if found.hidden[-1, -1] or is_large:
            continue
        every = fillings(table.total, found.hidden)
        for row, column in np.argwhere(found.primary):
            values = every[:, row, column]
            x, first = table.total[row, column], table.first[row, column]
            assert 100 * (values.max() - values.min()) >= 25 * x
            assert 100 * (values.max() - table.second[row, column]) >= 125 * first
            assert values.min() <= found.low[row, column] <= x
            assert x <= found.high[row, column] <= values.max()
            checked += 1
    assert checked > 20


def random_small(seed):
    """Return a table of two or three rows and columns and small values."""
    source = np.random.default_rng(seed)
    shape, count = source.integers(2, 4, 2), int(source.integers(4, 16))
    return MagnitudeTable.of(
        ("a", "b", "c")[: shape[0]],
        ("x", "y", "z")[: shape[1]],
        row=source.integers(0, shape[0], count),
        column=source.integers(0, shape[1], count),
        unit=source.integers(0, 30, count),
        values=source.choice([1, 1, 1, 3], count),
    )


def test_values_that_are_said_to_be_possible_lie_within_the_attackers_interval():
    """For primary cells; others have none."""
    for seed in range(8):
        table = random_table(seed)
        found = suppressed(table)
        attack = Attack.on(table.total, found.hidden)
        for row, column in np.argwhere(found.primary):
            low, high = attack.interval((row, column))
            assert low <= found.low[row, column] <= found.high[row, column] <= high
        assert np.isnan(found.low[~found.primary]).all()


def test_a_giant_is_protected_along_several_cycles_before_the_grand_total_is_hidden():
    """No single rectangle lets 10,000 rise by 1,000; nine together do."""
    cells = [[[10_000]] + [[30] * 10] * 9] + [[[30] * 10] * 10 for _ in range(9)]
    table = of_cells(cells)
    assert smallest_rectangle(table.total, sensitive(table), (0, 0), 1000) is None
    found = suppressed(table)
    assert found.primary[0, 0]
    assert not found.hidden[-1, -1]
    assert exposed(table, found.hidden) == []


def test_the_smallest_rectangle_is_the_smallest_of_all():
    """By trying every one; hidden cells cost nothing, margins are left alone."""
    for seed in range(30):
        table = random_table(seed, shape=(4, 5))
        total, hidden = table.total, sensitive(table)
        hidden[-1, :] = hidden[:, -1] = False
        cells = [(i, j) for i in range(4) for j in range(5) if total[i, j]]
        cell = cells[seed % len(cells)]
        amount = -(-int(total[cell]) // 10)
        prices = {}
        for i, j in cells:
            corners = [(i, j), (cell[0], j), (i, cell[1])]
            if i == cell[0] or j == cell[1] or min(total[corner] for corner in corners) == 0:
                continue
            if min(total[cell[0], j], total[i, cell[1]]) >= amount:
                prices[i, j] = sum(0 if hidden[corner] else total[corner] for corner in corners)
        found = smallest_rectangle(total, hidden, cell, amount)
        if found is None:
            assert not prices
        else:
            assert total[found & ~hidden].sum() == min(prices.values())


def test_the_cheapest_change_lets_the_cell_rise():
    """What it hides is enough: the attacker's upper bound is the total and the amount at least."""
    for seed in range(30):
        table = random_table(seed, shape=(4, 5))
        total, hidden = table.total, sensitive(table)
        if not hidden.any():
            continue
        row, column = np.argwhere(hidden)[0]
        amount = -(-int(total[row, column]) // 10)
        found = hidden | cheapest_change(total, hidden, (row, column), amount)
        assert Attack.on(total, found).interval((row, column))[1] >= total[row, column] + amount


@pytest.mark.parametrize("tables", first(1, [10, 30]))
def test_rectangles_never_claim_more_than_the_attacker_finds(tables):
    """A shortcut that said too much would leave cells exposed."""
    for seed in range(tables):
        table = random_table(seed)
        hidden = sensitive(table)
        attack = Attack.on(table.total, hidden)
        for row, column in np.argwhere(hidden):
            low, high = attack.interval((row, column))
            x = table.total[row, column]
            cell = (row, column)
            assert x + along_rectangles(table.total, hidden, cell, upward=True).max() <= high
            assert x - along_rectangles(table.total, hidden, cell, upward=False).max() >= low


def test_a_shortcut_that_says_too_much_is_caught(monkeypatch):
    """The broken twin: capacities of the table as if nothing were published."""
    monkeypatch.setattr(
        suppression,
        "along_rectangles",
        lambda total, free, cell, upward: along_rectangles(total, total > 0, cell, upward=upward),
    )
    assert any(exposed(table, suppressed(table).hidden) for table in map(random_table, range(10)))


# -- edges -------------------------------------------------------------------------------------


def test_tables_with_nothing_to_protect_are_published_whole():
    """No records, zeros, empty rows and columns, large cells."""
    for cells in ([[[]]], [[[0, 0], [0]], [[], [0]]], [[MANY, MANY], [[], []]], [[MANY]]):
        found = suppressed(of_cells(cells))
        assert not found.hidden.any()
        assert not found.programmes


def test_a_single_record_hides_all_that_shows_it():
    """One cell, two margins and the grand total are the same number; all four are hidden."""
    table = of_cells([[[7], []], [[], []]])
    found = suppressed(table)
    assert np.argwhere(found.hidden).tolist() == [[0, 0], [0, 2], [2, 0], [2, 2]]
    assert Attack.on(table.total, found.hidden).interval((0, 0)) == (0, np.inf)


def test_one_row_has_its_margins_hidden_with_its_cells():
    """In a state of one county the margins of industries are the cells themselves."""
    table = of_cells([[[50], [40], MANY, MANY]])
    found = suppressed(table)
    assert found.hidden[0].tolist() == found.hidden[1].tolist() == [True, True, False, False, False]
    assert exposed(table, found.hidden) == []


def test_what_the_audit_does_not_see():
    """A firm alone in another hidden cell of a row of two knows the first: no formal guarantee."""
    table = of_cells([[[50], [60], MANY], [[70], [80], MANY], [MANY, MANY, MANY]])
    found = suppressed(table)
    assert exposed(table, found.hidden) == []
    insider = found.hidden.copy()
    insider[0, 1] = False  # its own cell is no secret to it
    assert Attack.on(table.total, insider).interval((0, 0)) == (50, 50)
