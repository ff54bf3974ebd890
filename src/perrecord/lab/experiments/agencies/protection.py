"""Which cells to hide so that a hidden one can be what it is not: rectangles, then a programme.

Totals that are hidden change along cycles: one cell up, another of its row down, and so on until
every row and column adds up again. The shortest cycle is a rectangle. Cells and the grand total
(sign +, see `attack`) rise without limit and fall to 0; margins, written with their sign, the other
way round.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import hstack

from perrecord.errors import InternalError
from perrecord.lab.experiments.agencies.attack import Cell, balances, place_of, signs
from perrecord.lab.experiments.agencies.cell_sizes import Floats, Mask, Whole

_OPTIMAL, _INFEASIBLE = 0, 2


def along_rectangles(total: Whole, free: Mask, cell: Cell, *, upward: bool) -> Floats:
    """Return how far a cell can move along the rectangle that it spans with each other cell.

    The two corners beside it move against it, the opposite one with it, as far as they can. Cells
    that are not free do not move.

    >>> from perrecord.lab.experiments.agencies.magnitudes import margins_of
    >>> total, free = margins_of(np.array([[5, 20], [30, 40]])), np.zeros((3, 3), dtype=bool)
    >>> free[:2, :2] = True
    >>> along_rectangles(total, free, (0, 0), upward=True).tolist()[1]  # as 20 and 30 go down
    [0.0, 20.0, 0.0]
    """
    is_plus = signs(total) > 0
    values = total.astype(np.float64)
    rising = np.where(free, np.where(is_plus, np.inf, values), 0.0)
    falling = np.where(free, np.where(is_plus, values, np.inf), 0.0)
    with_it, against = (rising, falling) if upward == is_plus[cell] else (falling, rising)
    found = np.minimum(against[cell[0], :][None, :], against[:, cell[1]][:, None])
    found = np.minimum(found, with_it)
    found[cell[0], :] = found[:, cell[1]] = 0.0
    return found if upward else np.minimum(found, values[cell])


def smallest_rectangle(total: Whole, hidden: Mask, cell: Cell, amount: int) -> Mask | None:
    """Return the cells of the least total that let a cell rise by an amount along one rectangle.

    Margins are used only if they are hidden already. None if there is no such rectangle.
    """
    free = total > 0
    free[-1, :], free[:, -1] = hidden[-1, :], hidden[:, -1]
    price = np.where(hidden, 0.0, total)
    prices = price[cell[0], :][None, :] + price[:, cell[1]][:, None] + price
    prices[along_rectangles(total, free, cell, upward=True) < amount] = np.inf
    row, column = np.unravel_index(np.argmin(prices), prices.shape)
    if prices[row, column] == np.inf:
        return None
    corners = np.zeros_like(hidden)
    corners[row, column] = corners[cell[0], column] = corners[row, cell[1]] = True
    return corners


def cheapest_change(total: Whole, hidden: Mask, cell: Cell, amount: int) -> Mask:
    """Return cells that let a cell rise by an amount together, along as many cycles as it takes.

    A linear programme makes the sum of (total * amount moved) least over the cells that are not
    hidden yet. The grand total is used only if there is no other way; with it there always is.
    """
    free = total > 0
    free[-1, -1] = hidden[-1, -1]
    found = _moved(total, hidden, free, cell, amount)
    if found is None:
        found = _moved(total, hidden, total > 0, cell, amount)
    if found is None:
        raise InternalError("a cell cannot be protected, not even by hiding the whole table.")
    return found


def _moved(total: Whole, hidden: Mask, free: Mask, cell: Cell, amount: int) -> Mask | None:
    """Return the cells that move in the cheapest change, or None if there is none."""
    matrix, values = balances(free), total[free].astype(np.float64)
    place, count = place_of(cell, free), int(free.sum())
    upper = np.concatenate([np.full(count, np.inf), values])  # rises, then falls
    lower = np.zeros(2 * count)
    lower[place] = upper[place] = amount
    upper[count + place] = 0
    price = np.where(hidden, 0.0, total)[free]
    price /= max(1.0, price.max(initial=0))
    solution = linprog(
        np.concatenate([price, price]),
        A_eq=hstack([matrix, -matrix]),
        b_eq=np.zeros(matrix.shape[0]),
        bounds=np.column_stack([lower, upper]),
        method="highs-ds",
    )
    if solution.status == _INFEASIBLE:
        return None
    if solution.status != _OPTIMAL:
        raise InternalError(f"a linear programme has no solution: {solution.message}")
    moves = np.rint(solution.x[:count] - solution.x[count:]).astype(np.int64)
    if (matrix @ moves).any() or (moves < -values).any() or moves[place] != amount:
        raise InternalError("the solution of a linear programme is not a change of the table.")
    found = np.zeros_like(hidden)
    found[free] = moves != 0
    return found
