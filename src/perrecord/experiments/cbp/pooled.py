"""Relative errors of several answers together, over all of their cells and over the noise (T21)."""

import math
from collections.abc import Sequence

from perrecord.evaluate.accuracy import CellErrors
from perrecord.experiments.univariate.spread import error_quantiles, share_within

_SMALLEST = 1e-12
_CLOSE = 1e-9


def pooled_share(errors: Sequence[CellErrors], limit: float) -> float:
    """Return the share of the errors, over cells and noise, that are at most a limit.

    Each answer counts with its cells whose true number is not 0; there has to be one.
    """
    weights = [int((~each.is_zero).sum()) for each in errors]
    shares = [
        weight * share_within(each, limit)
        for weight, each in zip(weights, errors, strict=True)
        if weight
    ]
    return sum(shares) / sum(weights)


def pooled_quantiles(errors: Sequence[CellErrors], shares: Sequence[float]) -> list[float | None]:
    """Return the least errors that these shares of the errors do not exceed.

    Those of one answer are `error_quantiles`; those of several lie between the least and the
    largest of theirs.
    """
    each = [error_quantiles(answer, shares) for answer in errors]
    return [
        _between(errors, share, [own[place] for own in each]) for place, share in enumerate(shares)
    ]


def _between(
    errors: Sequence[CellErrors], share: float, found: Sequence[float | None]
) -> float | None:
    known = [number for number in found if number is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    if low == high or pooled_share(errors, low) >= share:
        return low
    low = max(low, _SMALLEST)
    while high > low * (1 + _CLOSE):
        middle = math.sqrt(low * high)
        if pooled_share(errors, middle) >= share:
            high = middle
        else:
            low = middle
    return high
