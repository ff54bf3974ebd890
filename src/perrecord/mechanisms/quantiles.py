"""Quantiles by the exponential mechanism over public candidates, on unsplit records (T14).

A candidate c covers the ranks from n_<, how many of the n values lie below it, to n_<=, how many
do not lie above it. Its score is how far q n lies from them,

    max(0, n_< - q n, q n - n_<=),

which is 0 exactly where c is a q-quantile, whatever the ties. One record changes it by at most
max(q, 1 - q). With weights, n and the others are sums of them, and a record of weight w changes it
by at most max(q, 1 - q) w (T37). What is held here are whole numbers: scores times the level's
denominator, of weights in steps of their grid.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.confidential.tally import reach
from perrecord.noise import choose
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.cells import Counts
from perrecord.queries.measurements import Choice
from perrecord.released.columns import Chosen
from perrecord.released.numbers import Integers, NoisyIntegers

_ENTRIES = 4_000_000
"""So many scores are held at once."""

_FITS = 2**62
"""Whole-numbered scores up to here, and their differences, are 64-bit integers."""

_ONE = Fraction(1)


def quantile(
    name: str,
    asked: Choice,
    counts: Counts,
    cells: int,
    currency: Currency,
    bits: BitSource | None,
    weight_step: Fraction = _ONE,
) -> Chosen:
    """Return a candidate for each cell, empty ones included."""
    rate = selection_rate(asked, currency, weight_step)
    parts = [choose(revealed(each), rate, _bits=bits) for each in scores_of(asked, counts, cells)]
    return Chosen(name, asked.candidates, NoisyIntegers(np.concatenate(parts or [_NONE])))


def selection_rate(asked: Choice, currency: Currency, weight_step: Fraction = _ONE) -> Fraction:
    """Return the rate at which a candidate's weight falls with its whole-numbered score.

    With q = a/b a record changes that score by at most b * max(q, 1 - q), some candidates' up and
    others' down, so log ratios vary within 2 * rate * b * max(q, 1 - q) = eps. eps = sqrt(8 rho),
    rounded down, makes the choice rho-zCDP. With weights, counted in steps of their grid, that
    holds for a record of the weight T that pays the amount: eps is divided by as many steps (T37).
    """
    eps, level = currency.log_ratios(asked.amount), asked.level
    if asked.weight is not None:
        eps *= weight_step / asked.weight.at
    return eps / (2 * max(level, 1 - level) * level.denominator)


def scores_of(asked: Choice, counts: Counts, cells: int) -> Iterator[Confidential[Integers]]:
    """Yield the scores of some cells at a time: a row per cell, a column per candidate."""
    wide = 2 * len(asked.candidates) + 1
    most = max(1, _ENTRIES // wide)
    occupied, buckets, numbers = map(revealed, (counts.cells, counts.buckets, counts.numbers))
    order = np.argsort(occupied, kind="stable")
    places = occupied[order]
    whole = asked.level.denominator
    is_small = reach(numbers) * whole <= _FITS
    for start in range(0, cells, most):
        end = min(cells, start + most)
        chosen = order[np.searchsorted(places, start) : np.searchsorted(places, end)]
        table = np.zeros((end - start, wide), dtype=np.int64 if is_small else np.object_)
        table[occupied[chosen] - start, buckets[chosen]] = numbers[chosen]
        up_to = np.cumsum(table, axis=1)
        below, not_above = up_to[:, 0:-1:2], up_to[:, 1::2]
        rank = asked.level.numerator * up_to[:, -1:]
        scores = np.maximum(np.maximum(whole * below - rank, rank - whole * not_above), 0)
        yield Confidential(scores)


_NONE: Integers = np.empty(0, dtype=np.int64)
