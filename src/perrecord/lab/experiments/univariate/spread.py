"""The distribution of relative errors over the cells of a table and over the noise (T21).

The paper shows AREs of one draw, cell by cell. Their distribution needs no draw: the share of
errors up to v is the mean over cells of Pr[|noise + bias| <= v |true|], from each cell's own law.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perrecord.evaluate.accuracy.errors import CellErrors, cells_of, floats
from perrecord.evaluate.accuracy.noise_size import Floats, below
from perrecord.laws import Law
from perrecord.laws.normal import normal_below

_SMALLEST, _LARGEST = 1e-12, 1e9
_HALVINGS = 34
"""From so wide an interval, so many leave an error of three parts in 10^9."""


def error_quantiles(errors: CellErrors, shares: Sequence[float]) -> list[float | None]:
    """Return the least errors |noisy - true|/|true| that these shares of the errors do not exceed.

    Cells whose true number is 0 are left out; without any other there are no quantiles. Errors
    of totals and counts are from the exact law, those of averages by the delta method.

    >>> import perrecord, pyarrow as pa
    >>> from perrecord.evaluate.accuracy.errors import accuracy
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [400, 600]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", split=perrecord.Split(emp=100), rho="0.5")
    ...     (errors,) = accuracy(plan(asked, source.schema), source)
    >>> error_quantiles(errors, [0.5])                      # 0.6745 sigma, on the grid
    [0.067...]
    """
    if errors.is_zero.all():
        return [None] * len(shares)
    within = ErrorShares.of(errors)
    lows = [math.log(_SMALLEST)] * len(shares)
    highs = [math.log(_LARGEST)] * len(shares)
    for _ in range(_HALVINGS):
        middles = [(low + high) / 2 for low, high in zip(lows, highs, strict=True)]
        found = within.at([math.exp(middle) for middle in middles])
        for place, middle in enumerate(middles):
            if found[place] >= shares[place]:
                highs[place] = middle
            else:
                lows[place] = middle
    at_zero = within.at([0.0])[0]
    return [
        0.0 if at_zero >= share else math.exp(high)
        for share, high in zip(shares, highs, strict=True)
    ]


def share_within(errors: CellErrors, limit: float) -> float:
    """Return the share of the errors that are at most so much of the true number."""
    return ErrorShares.of(errors).at([limit])[0]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorShares:
    """What shares of an answer's errors stay within limits; asked often, so prepared once."""

    errors: CellErrors
    is_known: npt.NDArray[np.bool_]
    sizes: Floats
    biases: Floats
    laws: tuple[tuple[npt.NDArray[np.intp], Law], ...]

    @classmethod
    def of(cls, errors: CellErrors) -> "ErrorShares":
        """Prepare the errors of one answer."""
        total, is_known = errors.truth.total, ~errors.is_zero
        sizes = np.abs(np.where(is_known, errors.true, 0.0))
        return cls(errors, is_known, sizes, floats(total.bias), tuple(cells_of(total)))

    def at(self, limits: Sequence[float]) -> list[float]:
        """Return, for each limit, the share of errors that are at most so much of the true number.

        All limits at once, because tables may be small and NumPy's calls cost more than they do.
        """
        chances = self._chances(np.asarray(limits)[:, np.newaxis] * self.sizes)
        known = chances if self.is_known.all() else np.compress(self.is_known, chances, axis=1)
        return [float(share) for share in known.mean(axis=1)]

    def _chances(self, limits: Floats) -> Floats:
        """Return Pr[|noise + bias| <= limit] of each cell, in a row for each limit."""
        truth = self.errors.truth
        if truth.count is not None:
            spread = np.where(self.is_known, self.errors.deviation, 1.0)
            bias = np.where(self.is_known, self.errors.bias, 0.0)
            return normal_below((limits - bias) / spread) - normal_below((-limits - bias) / spread)
        found = np.zeros(limits.shape)
        for cells, law in self.laws:
            steps = np.floor(limits[:, cells] / float(truth.total.step))
            if not self.biases[cells].any():  # both tails are one number
                tails = law.float_tails(steps + 1)
                found[:, cells] = 1 - tails - tails
                continue
            lower = below(law, -steps - self.biases[cells] - 1)
            found[:, cells] = below(law, steps - self.biases[cells]) - lower
        return found
