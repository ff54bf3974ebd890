"""Proof by covering: every term on the left is paid for by terms on the right.

    1                 <= pieces^p                    pieces >= 1
    (|x| / T)^p       <= pieces^p                    of a scheme without cap that holds T for x
    pieces^p          <= k^p * other pieces^p        k = the largest ratio of thresholds, rounded up
    pieces^p          <= cap^p                       of a scheme with a cap
    sum of l_i Q_i    <= max of Q_i                  weights l_i >= 0 that add up to 1

Which amount pays for which is a linear program over rationals, solved exactly.
"""

from fractions import Fraction

from perrecord.exact import ceil_div
from perrecord.policy.normal import Basis, LargestOf, One, PiecesOf, PowerOf
from perrecord.policy.simplex import maximum
from perrecord.policy.split import Split

Weights = dict[Basis, Fraction]


def covers(left: Weights, right: Weights, power: int) -> bool:
    """Tell whether the terms on the right can pay for all the terms on the left.

    Columns: an amount paid by supply i to demand j, for each pair with a rate; then the weight
    of each option of each maximum. Rows: each supply, each demand, each maximum's weights.
    """
    maxima = [basis for basis in right if isinstance(basis, LargestOf)]
    options = [(basis, dict(option.weights)) for basis in maxima for option in basis.options]
    supplies = list(
        dict.fromkeys(
            basis
            for weights in (right, *(weights for _, weights in options))
            for basis in weights
            if not isinstance(basis, LargestOf)
        )
    )
    demands = list(left)
    payments = [
        (i, j, rate)
        for i, supply in enumerate(supplies)
        for j, demand in enumerate(demands)
        if (rate := _rate(supply, demand, power))
    ]
    rows = [
        [Fraction(i == supplier) for supplier, _, _ in payments]
        + [-right[basis] * weights.get(supply, Fraction(0)) for basis, weights in options]
        for i, supply in enumerate(supplies)
    ]
    limits = [right.get(supply, Fraction(0)) for supply in supplies]
    for j, demand in enumerate(demands):
        rows.append([rate * (j == target) for _, target, rate in payments] + [_ZERO] * len(options))
        limits.append(left[demand])
    for basis in maxima:
        rows.append([_ZERO] * len(payments) + [Fraction(basis == owner) for owner, _ in options])
        limits.append(Fraction(1))
    # Value every demand by what it asks for, so that the objective is the share that is paid.
    worth = [rate / left[demands[j]] for _, j, rate in payments] + [_ZERO] * len(options)
    return maximum(worth, rows, limits) == len(demands)


_ZERO = Fraction(0)


def _rate(supply: Basis, demand: Basis, power: int) -> Fraction | None:
    """Return how much of the demand one unit of the supply covers; None for nothing."""
    match supply, demand:
        case PowerOf(paid), PowerOf(asked) if paid == asked:
            return Fraction(1)
        case One() | PiecesOf(), One():
            return Fraction(1)
        case One(), PiecesOf(Split(cap=int() as cap)):
            return Fraction(1, cap**power)
        case PiecesOf(Split(cap=None) as split), PowerOf(measure) if measure in split.measures:
            return 1 / split.threshold(measure) ** power
        case PiecesOf(split), PiecesOf(other):
            factor = _factor(other, split)
            return None if factor is None else Fraction(1, factor**power)
        case _:
            return None


def _factor(small: Split, large: Split) -> int | None:
    """Return an integer k with m_small <= k * m_large for every record, where there is one.

    ceil(|x|/t) <= ceil(k |x|/T) <= k ceil(|x|/T) for an integer k >= T/t. A cap on the large side
    must not bite before the small side's does.
    """
    if not set(small.measures) <= set(large.measures):
        return small.cap
    ratios = [large.threshold(name) / threshold for name, threshold in small.thresholds]
    factor = max(1, *(ceil_div(ratio.numerator, ratio.denominator) for ratio in ratios))
    if large.cap is None:
        return factor if small.cap is None else min(factor, small.cap)
    return (
        None if small.cap is None else min(small.cap, max(factor, ceil_div(small.cap, large.cap)))
    )
