"""Linear programs over rationals, sparse and exact."""

from fractions import Fraction

from perrecord.policy.steps import Steps

Row = dict[int, Fraction]
"""The numbers of a row that are not 0, by column."""


def maximum(objective: Row, rows: list[Row], limits: list[Fraction], steps: Steps) -> Fraction:
    """Return the largest objective·x over x >= 0 with rows·x <= limits, all limits >= 0.

    The simplex method from the origin. The column of the largest gain enters; while the objective
    stands still it is the first one, by Bland's rule, so that the method ends. The programs asked
    here are bounded. Every number that is changed is
    a step, and so is a look at sixteen.

    >>> one = Fraction(1)
    >>> rows = [{0: one, 1: 2 * one}, {0: 3 * one, 1: one}]
    >>> maximum({0: one, 1: one}, rows, [4 * one, 6 * one], Steps(100))
    Fraction(14, 5)
    """
    width = 1 + max((column for row in (objective, *rows) for column in row), default=-1)
    table = [{**row, width + i: Fraction(1)} for i, row in enumerate(rows)]
    amounts = list(limits)
    gains = dict(objective)
    basis = [width + i for i in range(len(rows))]
    value, stands_still = Fraction(0), False
    while True:
        positive = [column for column, gain in gains.items() if gain > 0]
        if not positive:
            return value
        # Ties go to the first column, so that every process takes the same way.
        entering = min(positive, key=lambda column: (0 if stands_still else -gains[column], column))
        steps.take(1 + (len(gains) + len(table)) // 16)
        candidates = [
            (amounts[i] / row[entering], basis[i], i)
            for i, row in enumerate(table)
            if row.get(entering, 0) > 0
        ]
        ratio, _, leaving = min(candidates)
        factor = table[leaving][entering]
        pivot = {column: number / factor for column, number in table[leaving].items()}
        table[leaving], amounts[leaving], basis[leaving] = pivot, ratio, entering
        for i, row in enumerate(table):
            factor = row.get(entering, _ZERO)
            if i != leaving and factor:
                steps.take(len(pivot))
                _eliminate(row, pivot, factor)
                amounts[i] -= factor * ratio
        stands_still = ratio == 0
        value += gains[entering] * ratio
        _eliminate(gains, pivot, gains[entering])


_ZERO = Fraction(0)


def _eliminate(row: Row, pivot: Row, factor: Fraction) -> None:
    for column, number in pivot.items():
        left = row.get(column, _ZERO) - factor * number
        if left:
            row[column] = left
        else:
            row.pop(column, None)
