"""Totals whose noise grows with their own records, and what may be said of their errors (T28).

The noise has A = A0 + nu by^2 Q, Q being the sum of the squared values in the cell, which is
confidential, and so is a standard error. Values that are not negative have Q <= S^2, S the true
total, so that the noisy number y bounds it. With s^2 = A0 / nu, t the Student quantile, all in
steps, and q = 1 - (t by)^2, S lies with the chance that t is for between

    low    where low + t sqrt(s^2 + by^2 low^2) = y - 1/2, or 0
    high   where high - t sqrt(s^2 + by^2 high^2) = y + 1/2; there is none where t by is 1 or more

and the standard deviation is at most sqrt(nu / (nu - 2)) sqrt(s^2 + by^2 high^2). All of it comes
from the noisy number and public parameters alone; ends are widened to whole steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from flint import arb

from perrecord.exact import Exact, float_up
from perrecord.laws.enclosure import at_most, ball
from perrecord.released.confidence import confidence_level
from perrecord.released.numbers import Integers, NoisyColumn, floats, to_arrow

Floats = npt.NDArray[np.float64]

LEAST_CONFIDENCE = Fraction(4, 5)
"""Half a step makes up for whole numbers where tails are convex, from this confidence on."""

_SLACK = 1e-9
"""What floats may lose, relatively, and the integers add to the standard deviation."""

_EXACTLY = 2.0**52


@dataclass(frozen=True, slots=True, eq=False)
class Blurred(NoisyColumn):
    """A noisy whole number of steps for each cell, of noise whose size nobody is told.

    `spread` is A0 in squared steps: the noise of a cell without records.
    """

    spread: Fraction
    by: Fraction
    nu: int
    is_signed: bool

    def beside(self, confidence: Exact | None) -> Iterator[tuple[str, pa.Array]]:
        """Yield the ends of an interval and a bound on the noise; nothing of signed values."""
        if confidence is None or self.is_signed:
            return
        low, high = self._ends(confidence)
        shown = to_arrow(_whole(np.floor(low * (1 - _SLACK))), self.step)
        yield "_low", shown
        if high is None:
            yield "_high", pa.nulls(len(low), shown.type)
            yield "_sd_at_most", pa.nulls(len(low), pa.float64())
            return
        yield "_high", to_arrow(_whole(np.ceil(high * (1 + _SLACK))), self.step)
        spread = float(self.spread / self.nu) + (float(self.by) * high) ** 2
        widest = np.sqrt(spread * self.nu / (self.nu - 2)) * (1 + _SLACK)
        yield "_sd_at_most", pa.array(widest * float(self.step))

    def interval(self, confidence: Exact = "0.95") -> tuple[Floats, Floats | None]:
        """Return the least and greatest true totals, in units; None where there is no upper end."""
        low, high = self._ends(confidence)
        step = float(self.step)
        return low * step, None if high is None else high * step

    def floored(self) -> pa.Array | None:
        """Return the numbers with 0 where noise made them negative; nothing of signed values."""
        return None if self.is_signed else NoisyColumn.floored(self)

    def _ends(self, confidence: Exact) -> tuple[Floats, Floats | None]:
        level = max(confidence_level(confidence), LEAST_CONFIDENCE)
        t, by = student_quantile(level, self.nu), float(self.by)
        least = float(self.spread / self.nu)  # s^2
        q = 1 - (t * by) ** 2
        below, above = floats(self.numbers) - 0.5, floats(self.numbers) + 0.5
        # Ends as quotients of what has one sign, so that nothing cancels.
        is_above = below > t * np.sqrt(least)
        root = t * np.sqrt(np.maximum((by * below) ** 2 + least * q, 0.0))
        divisor = np.where(is_above, below + root, 1.0)
        low = np.where(is_above, (below**2 - t**2 * least) / divisor, 0.0)
        if q <= 0:
            return low, None
        root = t * np.sqrt((by * above) ** 2 + least * q)
        negative = np.where(above < 0, root - above, 1.0)
        high = np.where(above < 0, (t**2 * least - above**2) / negative, (above + root) / q)
        return low, np.maximum(high, 0.0)


@lru_cache(maxsize=256)
def student_quantile(confidence: Fraction, nu: int) -> float:
    """Return a t, rounded up, that a Student variable stays within with this probability.

    >>> [round(student_quantile(Fraction("0.95"), nu), 4) for nu in (3, 7)]
    [3.1824, 2.3646]
    """

    def is_enough(t: Fraction) -> bool:
        return at_most(lambda: _outside(t, nu), 1 - confidence)

    low, high = Fraction(0), Fraction(1)
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > high / 10**12:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return float_up(high)


def _outside(t: Fraction, nu: int) -> arb:
    """Return Pr[|T| > t]: the angle atan(t / sqrt nu), and its sine times powers of the cosine."""
    x = ball(t) / ball(Fraction(nu)).sqrt()
    angle, square = x.atan(), 1 / (1 + x**2)
    term, series = x * square, arb(0)
    for order in range(1, (nu - 1) // 2 + 1):
        series += term
        term = term * square * (2 * order) / (2 * order + 1)
    return 1 - 2 * (angle + series) / arb.pi()


def _whole(numbers: Floats) -> Integers:
    """Return whole floats of any size as integers."""
    if not len(numbers) or float(np.abs(numbers).max()) < _EXACTLY * 2**9:
        return numbers.astype(np.int64)
    return np.array([int(each) for each in numbers.tolist()], dtype=np.object_)
