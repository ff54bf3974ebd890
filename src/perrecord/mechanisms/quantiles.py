"""Quantiles by the exponential mechanism over public candidates, on unsplit records (T14)."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from perrecord.exact import sqrt_up
from perrecord.mechanisms.released import Chosen
from perrecord.noise import choose
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Quantile
from perrecord.queries.cells import Counts, Integers

_ENTRIES = 4_000_000
"""So many scores are held at once."""


def quantile(
    answer: Quantile, counts: Counts, cells: int, currency: Currency, bits: BitSource | None
) -> Chosen:
    """Return a candidate for each cell, empty ones included."""
    rate = selection_rate(answer, currency)
    parts = [choose(scores, rate, _bits=bits) for scores in scores_of(answer, counts, cells)]
    return Chosen(answer.name, answer.candidates, np.concatenate(parts or [_NONE]))


def selection_rate(answer: Quantile, currency: Currency) -> Fraction:
    """Return the rate at which a candidate's weight falls with its whole-numbered score.

    The score b * |(1 - q) #{x < c} - q #{x > c}|, q = a/b, changes by at most b * max(q, 1 - q)
    with one record. eps = sqrt(8 rho), rounded down, makes the choice rho-zCDP.
    """
    eps = answer.amount
    if currency is Currency.RHO:
        eps = 8 * answer.amount / sqrt_up(8 * answer.amount)
    level = answer.level
    return eps / (2 * max(level, 1 - level) * level.denominator)


def scores_of(answer: Quantile, counts: Counts, cells: int) -> Iterator[Integers]:
    """Yield the scores of some cells at a time: a row per cell, a column per candidate."""
    wide = 2 * len(answer.candidates) + 1
    most = max(1, _ENTRIES // wide)
    order = np.argsort(counts.cells, kind="stable")
    places = counts.cells[order]
    over, under = answer.level.denominator - answer.level.numerator, answer.level.numerator
    for start in range(0, cells, most):
        end = min(cells, start + most)
        chosen = order[np.searchsorted(places, start) : np.searchsorted(places, end)]
        table = np.zeros((end - start, wide), dtype=np.int64)
        table[counts.cells[chosen] - start, counts.buckets[chosen]] = counts.numbers[chosen]
        below = np.cumsum(table, axis=1)
        less, more = below[:, 0:-1:2], below[:, -1:] - below[:, 1::2]
        yield np.abs(over * less - under * more)


_NONE: Integers = np.empty(0, dtype=np.int64)
