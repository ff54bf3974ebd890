"""Cell suppression by the p% rule: what agencies publish where they do not add noise.

A cell of total x with largest contributions x1 >= x2 is sensitive if

    x - x1 - x2 < (p/100) x1,

for then the second contributor, who subtracts its own, knows x1 to within p %. Sensitive cells,
margins included, are the primary suppressions. A hidden cell could be found by subtraction, so
others are hidden with it. A primary cell is protected if all that is published leaves it an
interval [low, high] with

    high >= x1 + x2 + (p/100) x1     the second contributor still cannot bound x1 to within p %
    high - low >= (p/100) x          nobody else learns the cell to within p %

The first is the usual upper protection level. Cells of 0 are always published.

This is an audit of cells one by one, as agencies do it, and no formal guarantee: contributors who
put together what they know, a firm that fills another hidden cell alone, or one with cells in
several rows, can learn more. Each table is protected by itself; a table above it, such as the
nation's, is taken to hide what would give this one's margins away. Measures are suppressed each by
itself too: a quarter's payroll may be published where the year's, about four times as much, is
hidden. An agency that hides a cell in all measures hides more.
"""

from dataclasses import dataclass

import numpy as np

from perrecord.errors import InputError
from perrecord.exact import whole
from perrecord.lab.experiments.agencies.attack import Attack, Cell
from perrecord.lab.experiments.agencies.cell_sizes import Floats, Mask, Whole
from perrecord.lab.experiments.agencies.magnitudes import MagnitudeTable
from perrecord.lab.experiments.agencies.protection import (
    along_rectangles,
    cheapest_change,
    smallest_rectangle,
)

PERCENT = 10
"""The p that is used unless another is given; agencies keep theirs secret."""


@dataclass(frozen=True, slots=True, eq=False)
class Suppression:
    """Which cells of a table are hidden, and why; the last row and column are the margins.

    An attacker cannot rule out `low` nor `high` of a primary cell; elsewhere both are nan. The
    attacker's interval itself, which holds both, is `Attack.interval`.
    """

    primary: Mask
    complementary: Mask
    low: Floats
    high: Floats
    programmes: int
    """How many linear programmes of the attacker were solved."""

    @property
    def hidden(self) -> Mask:
        """All cells that are not published."""
        return self.primary | self.complementary


def sensitive(table: MagnitudeTable, p: int = PERCENT) -> Mask:
    """Return which cells are sensitive by the p% rule; those of one unit or two always are.

    >>> table = MagnitudeTable.of(
    ...     ("A",), ("x", "y"), row=np.array([0, 0, 0, 0]), column=np.array([0, 1, 1, 1]),
    ...     unit=np.array([1, 2, 3, 4]), values=np.array([100, 100, 80, 10]))
    >>> sensitive(table, 10).tolist(), sensitive(table, 11).tolist()
    ([[True, False, False], [True, False, False]], [[True, True, False], [True, True, False]])
    """
    rest = table.total - table.first - table.second
    return np.asarray(100 * rest < _percent(p) * table.first)


def suppressed(table: MagnitudeTable, p: int = PERCENT) -> Suppression:
    """Return a table's primary suppressions, and others that protect each of them.

    In turns: first the attacker's programme for every primary cell that is not seen to be
    protected already; then, from the largest unprotected cell down, the smallest cells that span a
    rectangle with it along which it can rise by p % of itself, or, where no rectangle is large
    enough, the cheapest change of the table. What is hidden once stays hidden, and each turn
    protects all cells that it was about, so it ends.

    >>> lone = MagnitudeTable.of(
    ...     ("A", "B"), ("x", "y"), row=np.repeat([0, 0, 1, 1], 9), unit=np.arange(36),
    ...     column=np.repeat([0, 1, 0, 1], 9), values=np.array([50] + [0] * 8 + [9] * 27))
    >>> found = suppressed(lone)
    >>> found.primary.sum(), found.complementary.sum()
    (np.int64(1), np.int64(3))
    >>> Attack.on(lone.total, found.hidden).interval((0, 0))
    (0.0, 131.0)
    """
    search = _Search.of(table, _percent(p))
    while unprotected := search.unprotected():
        for cell in unprotected:
            search.protect(cell)
    return Suppression(
        search.primary,
        search.hidden & ~search.primary,
        np.where(search.primary, search.low, np.nan),
        np.where(search.primary, search.high, np.nan),
        search.programmes,
    )


@dataclass(slots=True, eq=False)
class _Search:
    """What is hidden so far, and values of hidden cells that nobody can rule out.

    `rise` is 100 times what `high` must be above the total, `width` 100 times what it must be
    above `low`, so that both are whole.
    """

    total: Whole
    primary: Mask
    rise: Whole
    width: Whole
    hidden: Mask
    low: Floats
    high: Floats
    programmes: int = 0

    @classmethod
    def of(cls, table: MagnitudeTable, p: int) -> "_Search":
        primary = sensitive(table, p)
        rest = table.total - table.first - table.second
        rise, width = p * table.first - 100 * rest, p * table.total
        start = table.total.astype(np.float64)
        return cls(table.total, primary, rise, width, primary.copy(), start, start.copy())

    def unprotected(self) -> list[Cell]:
        """Return the primary cells that an attacker knows too well, the largest first."""
        left = [cell for cell in self._primary_cells() if not self._is_settled(cell)]
        if not left:
            return []
        attack = Attack.on(self.total, self.hidden)
        return [cell for cell in left if not self._is_safe_from(attack, cell)]

    def protect(self, cell: Cell) -> None:
        """Hide the smallest cells that let this one rise by p % of itself."""
        if self._is_settled(cell):
            return
        amount = -(-int(self.width[cell]) // 100)
        found = smallest_rectangle(self.total, self.hidden, cell, amount)
        if found is None:
            found = cheapest_change(self.total, self.hidden, cell, amount)
        self.hidden |= found
        self.high[cell] = max(self.high[cell], self.total[cell] + amount)

    def _primary_cells(self) -> list[Cell]:
        found = [(int(row), int(column)) for row, column in np.argwhere(self.primary)]
        return sorted(found, key=lambda cell: -self.total[cell])

    def _is_high_enough(self, cell: Cell) -> bool:
        return bool(100 * (self.high[cell] - self.total[cell]) >= self.rise[cell])

    def _is_protected(self, cell: Cell) -> bool:
        is_wide = 100 * (self.high[cell] - self.low[cell]) >= self.width[cell]
        return bool(is_wide and self._is_high_enough(cell))

    def _is_settled(self, cell: Cell) -> bool:
        """Tell whether values known so far, or one rectangle of hidden cells, protect the cell."""
        if not self._is_protected(cell):
            up = along_rectangles(self.total, self.hidden, cell, upward=True).max()
            down = along_rectangles(self.total, self.hidden, cell, upward=False).max()
            self.high[cell] = max(self.high[cell], self.total[cell] + up)
            self.low[cell] = min(self.low[cell], self.total[cell] - down)
        return self._is_protected(cell)

    def _is_safe_from(self, attack: Attack, cell: Cell) -> bool:
        """Tell whether the cell is protected when the attacker's programmes are solved."""
        for upward in (True, False):
            if self._is_protected(cell):
                return True
            self._solve(attack, cell, upward=upward)
            if not self._is_high_enough(cell):
                return False
        return self._is_protected(cell)

    def _solve(self, attack: Attack, cell: Cell, *, upward: bool) -> None:
        """Find the extreme of a cell; the table that attains it says something of all cells."""
        self.programmes += 1
        found = attack.extreme(cell, largest=upward)
        if found is None:
            self.high[cell] = np.inf
        else:
            self.low, self.high = np.minimum(self.low, found), np.maximum(self.high, found)


def _percent(p: int) -> int:
    number = whole(p, "p")
    if not 1 <= number <= 100:
        raise InputError(f"p is {p}; expected a whole number from 1 to 100, such as 10.")
    return number
