"""Quantiles of the cells, and the five numbers of a box plot; of no cells, None."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from perrecord.evaluate.accuracy.summaries import FIVE

Floats = npt.NDArray[np.float64]


def quantiles(values: Floats, shares: Sequence[float]) -> list[float | None]:
    """Return for each share the least value that so many of the values do not exceed.

    >>> quantiles(np.array([3.0, 1.0, 2.0, 9.0]), [0.5, 1])
    [2.0, 9.0]
    """
    if not len(values):
        return [None] * len(shares)
    found: list[float | None] = np.quantile(values, list(shares), method="inverted_cdf").tolist()
    return found


def five_numbers(values: Floats) -> dict[str, float | None]:
    """Return what a box shows: the 5th, 25th, 50th, 75th and 95th percentile."""
    return dict(zip(FIVE, quantiles(values, list(FIVE.values())), strict=True))
