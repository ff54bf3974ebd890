"""Choose one candidate for each group with probability proportional to exp(-rate * score), exactly.

This is the exponential mechanism (T14) by inversion. Let d be a score less the least of its row,
t = rate d, w = exp(-t), C_j the sum of the first j of n weights, W = C_n >= 1, u = 2^-53. The
choice is the number of j < n with C_j <= U W, for one uniform U. Floats decide that unless U W is
near some C_j (docs/noise.md, Lemma 7):

- d as a float errs by 2u, the rate by u, their product by u, all relative; t exp(-t) < 0.37 makes
  that 1.5u of the weight, and `exp_minus` adds 8u (Lemma 4): together below 10u, absolute.
- A sum of n such weights, none negative, errs by 10u n, and its additions by 1.01u n W.
- U W errs by what W does, by u W for the bits of U that are not looked at, and by u W in the
  product; the subtraction that forms the gap adds u W.

Since W >= 1 the gap U W - C_j errs by less than 26u n W. It decides beyond 64u n W: the margin
2^-42 for each 32 candidates, times W. Otherwise the row is settled by balls, with the same U.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from perrecord.errors import InputError
from perrecord.exact import Exact, rational
from perrecord.laws.enclosure import ball
from perrecord.noise.bernoulli import FARTHEST, Floats, begun, exp_minus, leading
from perrecord.noise.bits import BitSource, Words, system_bits
from perrecord.noise.uniform import CERTAIN, Certainty, Uniform

Scores = NDArray[Any]
Choices = NDArray[np.int64]

_ENTRIES = 1 << 13
"""So many weights are computed at once: they stay in the processor's cache."""

_PER_MARGIN = 32
"""The margin serves sums of so many weights; longer ones get a multiple."""


def choose(
    scores: Scores,
    rate: Exact,
    *,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Choices:
    """Return for each row the index of one candidate, i with weight exp(-rate * scores[row, i]).

    Exactly so: no probability is rounded, and no candidate is too unlikely to be chosen. For
    scores that one record changes by at most D, rate eps / (2 D) is eps^2/8-zCDP (T14).

    >>> choose(np.array([[0, 10**6], [10**6, 0]]), "0.5").tolist()
    [0, 1]
    """
    exact = rational(rate, "the rate")
    if exact <= 0:
        raise InputError("the rate is 0 or below; expected a number above 0, such as '0.1'.")
    _check(scores)
    source = _bits or system_bits()
    groups, candidates = scores.shape
    words = source.words64(groups)
    chosen = np.empty(groups, dtype=np.int64)
    rows = max(1, _ENTRIES // candidates)
    for start in range(0, groups, rows):
        stop = start + rows
        low, high = _between(scores[start:stop], exact, words[start:stop], _certainty)
        for row in np.flatnonzero(low < high).tolist():
            uniform = begun(words, start + row, source, _certainty)
            low[row] = _settle(scores[start + row], exact, uniform, int(low[row]), int(high[row]))
        chosen[start:stop] = low
    return chosen


def _check(scores: object) -> None:
    """Refuse what is no table of scores, without a word of what it holds."""
    if not isinstance(scores, np.ndarray):
        raise InputError(
            f"the scores are a {type(scores).__name__}; expected an array: np.array(scores)."
        )
    is_whole = scores.dtype == np.object_ and all(type(each) is int for each in scores.flat)
    if scores.dtype != np.int64 and not is_whole:
        raise InputError(
            f"the scores are {scores.dtype}; expected int64, or Python ints where they are "
            "larger: multiply them to get whole numbers, and divide the rate by as much."
        )
    if scores.ndim != 2:
        raise InputError(
            f"the scores have {scores.ndim} dimensions; expected 2: a row for each group, a column "
            "for each candidate. For one group write scores.reshape(1, -1)."
        )
    if not scores.shape[1]:
        raise InputError("the scores have no column; expected at least one candidate to choose.")
    if scores.size and scores.min() < 0:
        raise InputError("a score is below 0; expected 0 for the best candidate, more for others.")


def _between(
    scores: Scores, rate: Fraction, words: Words, certainty: Certainty
) -> tuple[Choices, Choices]:
    """Return for each row the least and the greatest index that its word may stand for."""
    sums = _sums(scores, rate)
    total = sums[:, -1]
    point = leading(words, certainty) * total
    slack = total * (certainty.margin * -(-scores.shape[1] // _PER_MARGIN))
    ends = sums[:, :-1]  # they never fall, so counting those below a point finds its place
    low = np.count_nonzero(ends < (point - slack)[:, None], axis=1)
    high = np.count_nonzero(ends <= (point + slack)[:, None], axis=1)
    return low, high


def _sums(scores: Scores, rate: Fraction) -> Floats:
    """Return the cumulative weights of each row in floats, within 10u n + 1.01u n W.

    A rate above 45 makes every weight but the greatest invisible to floats, as 45 does. One that
    is no normal float makes every t less than 2^-900, and so does its float.
    """
    exponent = (scores - scores.min(axis=1, keepdims=True)).astype(np.float64)
    exponent *= float(min(rate, Fraction(FARTHEST)))
    weights = exp_minus(exponent)
    return np.cumsum(weights, axis=1, out=weights)


def _settle(scores: Scores, rate: Fraction, uniform: Uniform, low: int, high: int) -> int:
    """Return the choice, known to lie from low to high, by more bits of the same number."""
    ends = _exact_ends(scores, rate)
    while low < high:
        middle = (low + high) // 2
        if uniform.below(partial(ends, middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _exact_ends(scores: Scores, rate: Fraction) -> Callable[[int], arb]:
    """Return a function of i: where the probability of candidate i ends, as a ball."""
    least = int(scores.min())
    distances = [score - least for score in scores.tolist()]

    @cache
    def sums(_precision: int) -> list[arb]:
        slope = ball(-rate)
        weights = {distance: (slope * distance).exp() for distance in set(distances)}
        return list(accumulate(weights[distance] for distance in distances))

    def end(index: int) -> arb:
        every = sums(ctx.prec)
        return every[index] / every[-1]

    return end
