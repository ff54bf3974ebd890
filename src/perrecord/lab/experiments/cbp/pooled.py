"""Relative errors of several answers together, over all of their cells and over the noise (T21)."""

import math
from collections.abc import Sequence

from perrecord.evaluate.accuracy.errors import CellErrors
from perrecord.lab.experiments.univariate.spread import ErrorShares, error_quantiles

_SMALLEST = 1e-12
_CLOSE = 1e-9

KeptQuantiles = dict[CellErrors, list[float | None]]
"""The quantiles of each answer by itself."""


def pooled_share(errors: Sequence[CellErrors], limit: float) -> float:
    """Return the share of the errors, over cells and noise, that are at most a limit.

    Each answer counts with its cells whose true number is not 0; there has to be one.
    """
    return _together(_weighted(errors), [limit])[0]


def pooled_quantiles(
    errors: Sequence[CellErrors], shares: Sequence[float], kept: KeptQuantiles | None = None
) -> list[float | None]:
    """Return the least errors that these shares of the errors do not exceed.

    Those of one answer are `error_quantiles`; those of several lie between the least and the
    largest of theirs. Quantiles of an answer that were `kept`, of the same shares, are not found
    again.
    """
    own = {} if kept is None else kept
    for answer in errors:
        if answer not in own:
            own[answer] = error_quantiles(answer, shares)
    each = [own[answer] for answer in errors]
    known = [[own for own in of_share if own is not None] for of_share in zip(*each, strict=True)]
    if not all(known):
        return [None] * len(shares)
    weighted = _weighted(errors)
    lows, highs = [min(own) for own in known], [max(own) for own in known]
    for place, found in enumerate(_together(weighted, lows)):
        if found >= shares[place]:
            highs[place] = lows[place]
    lows = [
        low if low == high else max(low, _SMALLEST) for low, high in zip(lows, highs, strict=True)
    ]
    while open_ := [place for place, low in enumerate(lows) if highs[place] > low * (1 + _CLOSE)]:
        middles = [math.sqrt(lows[place] * highs[place]) for place in open_]
        for place, middle, found in zip(open_, middles, _together(weighted, middles), strict=True):
            if found >= shares[place]:
                highs[place] = middle
            else:
                lows[place] = middle
    return list(highs)


def _weighted(errors: Sequence[CellErrors]) -> list[tuple[int, ErrorShares]]:
    found = [ErrorShares.of(each) for each in errors]
    return [(int(each.is_known.sum()), each) for each in found if each.is_known.any()]


def _together(weighted: Sequence[tuple[int, ErrorShares]], limits: Sequence[float]) -> list[float]:
    """Return, for each limit, the share of all errors that are at most so much."""
    each = [[weight * share for share in within.at(limits)] for weight, within in weighted]
    whole = sum(weight for weight, _ in weighted)
    return [sum(shares) / whole for shares in zip(*each, strict=True)]
