"""Linear programs over rationals, small and exact."""

from fractions import Fraction


def maximum(
    objective: list[Fraction], rows: list[list[Fraction]], limits: list[Fraction]
) -> Fraction:
    """Return the largest objective·x over x >= 0 with rows·x <= limits, all limits >= 0.

    The simplex method from the origin, with Bland's rule, so that it ends. The programs asked
    here are bounded.

    >>> one = Fraction(1)
    >>> maximum([one, one], [[one, 2 * one], [3 * one, one]], [4 * one, 6 * one])
    Fraction(14, 5)
    """
    slack = [[Fraction(i == j) for j in range(len(rows))] for i in range(len(rows))]
    table = [[*row, *unit, limit] for row, unit, limit in zip(rows, slack, limits, strict=True)]
    costs = [-value for value in objective] + [Fraction(0)] * (len(rows) + 1)
    basis = [len(objective) + i for i in range(len(rows))]
    while True:
        entering = next((j for j, cost in enumerate(costs[:-1]) if cost < 0), None)
        if entering is None:
            return costs[-1]
        candidates = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(table)
            if row[entering] > 0
        ]
        _, _, leaving = min(candidates)
        pivot = [value / table[leaving][entering] for value in table[leaving]]
        for i, row in enumerate(table):
            table[i] = pivot if i == leaving else _eliminate(row, pivot, entering)
        costs = _eliminate(costs, pivot, entering)
        basis[leaving] = entering


def _eliminate(row: list[Fraction], pivot: list[Fraction], column: int) -> list[Fraction]:
    factor = row[column]
    if not factor:
        return row
    return [value - factor * other for value, other in zip(row, pivot, strict=True)]
