"""The attacker's linear programme: how far published cells and margins pin down a hidden one.

In a table with its margins, give every total a sign: + to the cells and the grand total, - to the
margins of rows and columns. Then every row and every column adds up to 0, margins included. Who
sees the published totals, and knows that none is negative, knows of the hidden ones x

    A x = b,  x >= 0

and nothing else: b is what the published ones of each row and column leave open. The least and the
largest value of a hidden cell are two linear programmes with the same A and b. Up to signs A is the
incidence matrix of a graph with two sides (rows, columns), hence totally unimodular: both values
are attained by whole numbers, so knowing that totals are whole helps no attacker.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from perrecord.errors import InputError, InternalError
from perrecord.lab.experiments.agencies.cell_sizes import Mask, Whole

Cell = tuple[int, int]

_OPTIMAL, _UNBOUNDED = 0, 3


def signs(table: npt.NDArray[Any]) -> Whole:
    """Return + 1 for the cells and the grand total of a table, - 1 for its margins.

    >>> signs(np.zeros((2, 3))).tolist()
    [[1, 1, -1], [-1, -1, 1]]
    """
    found = np.ones(table.shape, dtype=np.int64)
    found[-1, :] *= -1
    found[:, -1] *= -1
    return found


def balances(cells: Mask) -> csr_array:
    """Return A: a line for each row and then each column, an entry for each of these cells."""
    rows, columns = np.nonzero(cells)
    places, entries = np.arange(len(rows)), signs(cells)[cells]
    lines = np.concatenate([rows, cells.shape[0] + columns])
    where = (lines, np.concatenate([places, places]))
    return csr_array(
        (np.concatenate([entries, entries]), where), shape=(sum(cells.shape), len(rows))
    )


def place_of(cell: Cell, cells: Mask) -> int:
    """Return which of these cells, counted row by row, is the one."""
    return int(np.count_nonzero(cells.reshape(-1)[: np.ravel_multi_index(cell, cells.shape)]))


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What the published totals say about the hidden ones: one model, asked about many cells.

    >>> from perrecord.lab.experiments.agencies.magnitudes import margins_of
    >>> total = margins_of(np.array([[5, 20], [30, 40]]))
    >>> hidden = np.zeros((3, 3), dtype=bool)
    >>> hidden[0, 0] = True                      # one cell alone is found by subtraction
    >>> Attack.on(total, hidden).interval((0, 0))
    (5.0, 5.0)
    >>> hidden[:2, :2] = True
    >>> Attack.on(total, hidden).interval((0, 0))
    (0.0, 25.0)
    """

    hidden: Mask
    published: Whole
    matrix: csr_array
    sums: Whole

    @classmethod
    def on(cls, total: Whole, hidden: Mask) -> "Attack":
        """Return the attack on a table with its margins; totals that are hidden are not read."""
        published = np.where(hidden, 0, total)
        signed = signs(hidden) * published
        sums = -np.concatenate([signed.sum(axis=1), signed.sum(axis=0)])
        return cls(hidden.copy(), published, balances(hidden), sums)

    def interval(self, cell: Cell) -> tuple[float, float]:
        """Return the least and the largest value that a hidden cell can have."""
        least, largest = self.extreme(cell, largest=False), self.extreme(cell, largest=True)
        if least is None:
            raise InternalError("a total of at least 0 has no least value.")
        return float(least[cell]), np.inf if largest is None else float(largest[cell])

    def extreme(self, cell: Cell, *, largest: bool) -> Whole | None:
        """Return a whole table that agrees with all that is published and makes the cell extreme.

        None if nothing bounds the cell, which happens only when the grand total is hidden. The
        table is checked in whole numbers; that nothing exceeds it is the solver's word.
        """
        if not self.hidden[cell]:
            raise InputError(f"cell {cell} is published; expected a hidden one.")
        objective = np.zeros(self.matrix.shape[1])
        objective[place_of(cell, self.hidden)] = -1 if largest else 1
        found = linprog(objective, A_eq=self.matrix, b_eq=self.sums, method="highs-ds")
        if found.status == _UNBOUNDED:
            return None
        if found.status != _OPTIMAL:
            raise InternalError(f"a linear programme has no solution: {found.message}")
        values = np.rint(found.x).astype(np.int64)
        if (values < 0).any() or (self.matrix @ values != self.sums).any():
            raise InternalError("the solution of a linear programme is not a table.")
        table = self.published.copy()
        table[self.hidden] = values
        return table
