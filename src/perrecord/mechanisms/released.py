"""What a query gives: noisy numbers with the exact law of their noise. All of it is public."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import ProbabilityError
from perrecord.exact import Exact, rational
from perrecord.laws import Law
from perrecord.mechanisms.numbers import (
    added,
    common_step,
    repeated,
    to_arrow,
    whole_numbers,
)
from perrecord.queries.cells import Integers

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A noisy whole number of steps for each cell; `which` says which law's noise a cell has."""

    name: str
    numbers: Integers
    step: Fraction
    laws: tuple[Law, ...]
    which: npt.NDArray[np.intp]

    def values(self) -> pa.Array:
        """Return the noisy numbers in the measure's own units."""
        return to_arrow(self.numbers, self.step)

    def standard_errors(self) -> Floats:
        """Return the standard deviation of each cell's noise, in units."""
        return np.asarray(self._deviations()[self.which])

    def error_column(self) -> pa.ChunkedArray:
        """Return the standard errors as a column, which takes no memory where they are all one."""
        if len(self.laws) == 1:
            return repeated(float(self._deviations()[0]), len(self.numbers))
        return pa.chunked_array([pa.array(self.standard_errors())])

    def _deviations(self) -> Floats:
        return np.array([float(self.step) * deviation(law) for law in self.laws])

    def interval(self, confidence: Exact = "0.95") -> tuple[pa.Array, pa.Array]:
        """Return lower and upper ends: the true number lies between with this probability.

        From the exact law, so it holds for small noise too.
        """
        level = _checked(confidence)
        reach = whole_numbers([_half_width(law, level) for law in self.laws])[self.which]
        low, high = added(self.numbers, -reach), added(self.numbers, reach)
        return to_arrow(low, self.step), to_arrow(high, self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """An average: a noisy total over a noisy count, the total about a public centre (T13)."""

    name: str
    total: Estimate
    count: Estimate
    centre: Fraction

    def values(self) -> pa.Array:
        """Return centre + total / count, the count taken as 1 at least."""
        return pa.array(float(self.centre) + self._offset())

    def standard_errors(self) -> Floats:
        """Return the delta method's figure: sqrt(sigma_S^2 + mu^2 sigma_C^2) / n (T13)."""
        spread = np.hypot(
            self.total.standard_errors(), self._offset() * self.count.standard_errors()
        )
        return np.asarray(spread / self._denominator())

    def error_column(self) -> pa.ChunkedArray:
        """Return the standard errors as a column."""
        return pa.chunked_array([pa.array(self.standard_errors())])

    def interval(self, confidence: Exact = "0.95") -> tuple[pa.Array, pa.Array]:
        """Return approximate ends, by the delta method; unreliable where the count is small."""
        level = (1 + float(_checked(confidence))) / 2
        reach = NormalDist().inv_cdf(level) * self.standard_errors()
        middle = float(self.centre) + self._offset()
        return pa.array(middle - reach), pa.array(middle + reach)

    def _denominator(self) -> Floats:
        return np.maximum(self.count.numbers.astype(np.float64), 1.0)

    def _offset(self) -> Floats:
        total = self.total.numbers.astype(np.float64) * float(self.total.step)
        return np.asarray(total / self._denominator())


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A quantile: one of the public candidates for each cell (T14)."""

    name: str
    candidates: tuple[Fraction, ...]
    index: npt.NDArray[np.int64]

    def values(self) -> pa.Array:
        """Return the chosen candidates."""
        step = common_step(self.candidates)
        steps = np.array([int(each / step) for each in self.candidates], np.object_)
        return to_arrow(steps[self.index], step)


Released = Estimate | Ratio | Chosen


def _checked(confidence: Exact) -> Fraction:
    level = rational(confidence, "the confidence")
    if not 0 < level < 1:
        raise ProbabilityError(
            f"the confidence is {confidence}; expected a number strictly between 0 and 1, such as "
            '"0.95".'
        )
    return level


@lru_cache(maxsize=1024)
def deviation(law: Law) -> float:
    """Return the standard deviation of a noise law."""
    return math.sqrt(law.variance().upper)


@lru_cache(maxsize=1024)
def _half_width(law: Law, confidence: Fraction) -> int:
    return law.half_width(confidence)
