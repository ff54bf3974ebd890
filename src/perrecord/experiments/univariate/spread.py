"""The distribution of relative errors over the cells of a table and over the noise (T21).

The paper shows AREs of one draw, cell by cell. Their distribution needs no draw: the share of
errors up to v is the mean over cells of Pr[|noise + bias| <= v |true|], from each cell's own law.
"""

import math
from collections.abc import Sequence

import numpy as np

from perrecord.evaluate.accuracy import CellErrors, cells_of, floats
from perrecord.evaluate.noise_size import Floats, below, normal_below

_SMALLEST, _LARGEST = 1e-12, 1e9
_HALVINGS = 34
"""From so wide an interval, so many leave an error of three parts in 10^9."""


def error_quantiles(errors: CellErrors, shares: Sequence[float]) -> list[float | None]:
    """Return the least errors |noisy - true|/|true| that these shares of the errors do not exceed.

    Cells whose true number is 0 are left out; without any other there are no quantiles. Errors
    of totals and counts are from the exact law, those of averages by the delta method.

    >>> import perrecord, pyarrow as pa
    >>> from perrecord.evaluate.accuracy import accuracy
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [400, 600]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", split=perrecord.Split(emp=100), rho="0.5")
    ...     (errors,) = accuracy(plan(asked, source.schema), source)
    >>> error_quantiles(errors, [0.5])                      # 0.6745 sigma, on the grid
    [0.067...]
    """
    if errors.is_zero.all():
        return [None] * len(shares)
    return [_quantile(errors, share) for share in shares]


def _quantile(errors: CellErrors, share: float) -> float:
    if share_within(errors, 0.0) >= share:
        return 0.0
    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if share_within(errors, math.exp(middle)) >= share:
            high = middle
        else:
            low = middle
    return math.exp(high)


def share_within(errors: CellErrors, limit: float) -> float:
    """Return the share of the errors that are at most so much of the true number."""
    known = ~errors.is_zero
    chances = _chances(errors, limit * np.abs(np.where(known, errors.true, 0.0)))
    return float(chances[known].mean())


def _chances(errors: CellErrors, limits: Floats) -> Floats:
    """Return Pr[|noise + bias| <= limit] of each cell."""
    truth = errors.truth
    if truth.count is not None:
        known = ~errors.is_zero
        spread = np.where(known, errors.deviation, 1.0)
        bias = np.where(known, errors.bias, 0.0)
        return normal_below((limits - bias) / spread) - normal_below((-limits - bias) / spread)
    biases = floats(truth.total.bias)
    found = np.zeros(len(limits))
    for cells, law in cells_of(truth.total):
        steps = np.floor(limits[cells] / float(truth.total.step))
        lower = below(law, -steps - biases[cells] - 1)
        found[cells] = below(law, steps - biases[cells]) - lower
    return found
