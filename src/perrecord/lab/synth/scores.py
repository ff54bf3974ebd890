"""Normal scores: how values of a stated distribution are drawn so that they go together.

A measure is a monotone function of a standard normal score that passes through published
percentiles; scores correlate, so measures do, while every marginal stays as published.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Percentiles = Mapping[float, int]
"""Share of records -> the whole value that so many do not exceed."""

_BEYOND = 3
_END, _STEPS = 8.0, 1024


def at_score(scores: Scores, percentiles: Percentiles) -> Whole:
    """Return whole values whose distribution passes through the percentiles exactly.

    log(1 + value) runs straight between them on the normal scale, and on beyond the last.

    >>> at_score(np.array([-1.0, 0.0, 1.0]), {0.1: 0, 0.5: 20, 0.99: 1000})
    array([  1,  20, 110])
    """
    at, logs = _curve(percentiles)
    return np.asarray(np.ceil(np.expm1(np.interp(scores, at, logs)) - 1e-9), dtype=np.int64)


def score_at(values: Whole, percentiles: Percentiles) -> Scores:
    """Return the greatest score at which `at_score` gives no more than a value.

    >>> percentiles = {0.1: 0, 0.5: 20, 0.99: 1000}
    >>> at_score(score_at(np.array([0, 20, 333]), percentiles), percentiles)
    array([  0,  20, 333])
    """
    at, logs = _curve(percentiles)
    return np.interp(np.log1p(values), logs, at)


def between(low: float, high: float, uniform: Scores) -> Scores:
    """Return standard normal scores given that they lie between two, from uniform numbers.

    The normal distribution is tabulated at a thousand places and runs straight between them; 8
    standard deviations are the end of it.

    >>> between(0.0, math.inf, np.array([0.0, 0.5])).round(3)
    array([0.   , 0.674])
    """
    places = np.linspace(max(low, -_END), min(high, _END), _STEPS + 1)
    normal = NormalDist()
    shares = np.array([normal.cdf(place) for place in places])
    inside = shares[0] + uniform * (shares[-1] - shares[0])
    return np.asarray(np.interp(inside, shares, places))


def mix(shared: Scores, own: Scores, correlation: float) -> Scores:
    """Return standard normal scores that correlate with others."""
    return correlation * shared + math.sqrt(1 - correlation**2) * own


def standardised(scores: Scores, shares: Scores) -> Scores:
    """Return scores of mean 0 and variance 1 when weighted by shares; of one alone, 0."""
    centred = scores - shares @ scores
    spread = math.sqrt(shares @ centred**2)
    return np.asarray(centred / spread if spread > 0 else np.zeros_like(centred))


def by_rank(scores: Scores) -> Scores:
    """Return the normal scores of the ranks: the same order, and normal for any number of them.

    >>> by_rank(np.array([5.0, -1.0, 100.0])).round(2)
    array([ 0.  , -0.97,  0.97])
    """
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    normal = NormalDist()
    return np.array([normal.inv_cdf((rank + 0.5) / len(scores)) for rank in ranks])


def pick(bounds: Scores, uniform: Scores) -> npt.NDArray[np.int32]:
    """Return categories with the shares whose cumulative sums are given."""
    return np.minimum(np.searchsorted(bounds, uniform), len(bounds) - 1).astype(np.int32)


def _curve(percentiles: Percentiles) -> tuple[Scores, Scores]:
    """Return the scores and the logarithms that the curve runs through."""
    at = np.array([NormalDist().inv_cdf(share) for share in percentiles])
    logs = np.log1p(np.array(list(percentiles.values()), dtype=np.float64))
    slope = (logs[-1] - logs[-2]) / (at[-1] - at[-2])
    return (
        np.array([*at, at[-1] + _BEYOND]),
        np.array([*logs, logs[-1] + _BEYOND * slope]),
    )
