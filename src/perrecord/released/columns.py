"""What a query gives: noisy numbers with the exact law of their noise. All of it is public."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.exact import Exact
from perrecord.laws import Law
from perrecord.laws.widths import deviation, half_width
from perrecord.released.blurred import Blurred
from perrecord.released.confidence import confidence_level
from perrecord.released.numbers import (
    NoisyColumn,
    NoisyIntegers,
    added,
    common_step,
    floats,
    repeated,
    rounded_floats,
    rounded_to,
    to_arrow,
    whole_numbers,
)
from perrecord.released.ratios import ratio_ends

Floats = npt.NDArray[np.float64]

FEW = 4
"""Below so many standard errors of itself, a noisy count says little of what it divides."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(NoisyColumn):
    """A noisy whole number of steps for each cell; `which` says which law's noise a cell has."""

    laws: tuple[Law, ...]
    which: npt.NDArray[np.intp]

    def standard_errors(self) -> Floats:
        """Return the standard deviation of each cell's noise, in units."""
        return np.asarray(self._deviations()[self.which])

    def error_column(self) -> pa.ChunkedArray:
        """Return the standard errors as a column, which takes no memory where they are all one."""
        if len(self.laws) == 1:
            return repeated(float(self._deviations()[0]), len(self.numbers))
        return pa.chunked_array([pa.array(self.standard_errors())])

    def beside(self, confidence: Exact | None) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
        """Yield what stands beside the numbers, by the ending of the column's name."""
        yield from _errors(self, confidence)

    def _deviations(self) -> Floats:
        return np.array([float(self.step) * deviation(law) for law in self.laws])

    def interval(self, confidence: Exact = "0.95") -> tuple[pa.Array, pa.Array]:
        """Return lower and upper ends: the true number lies between with this probability.

        From the exact law, so it holds for small noise too.
        """
        level = confidence_level(confidence)
        reach = whole_numbers([half_width(law, level) for law in self.laws])
        if len(self.laws) > 1:
            reach = reach[self.which]
        low, high = added(self.numbers, -reach), added(self.numbers, reach)
        return to_arrow(low, self.step), to_arrow(high, self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """An average: a noisy total over a noisy count, the total about a public centre (T13).

    `bounds` are those that every value was cut to, if they were: no average lies outside.
    """

    name: str
    total: Estimate
    count: Estimate
    centre: Fraction
    bounds: tuple[Fraction, Fraction] | None = None

    @property
    def parts(self) -> tuple[Estimate, ...]:
        """What was drawn for it: its total and its count."""
        return self.total, self.count

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

    def beside(self, confidence: Exact | None) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
        """Yield what stands beside the averages, by the ending of the column's name."""
        yield from _errors(self, confidence)
        yield "_few_records", pa.array(self.few_records())

    def few_records(self) -> npt.NDArray[np.bool_]:
        """Tell where the noisy count is below 1 or below 4 standard errors of its noise.

        There the average may be of few records or of none: it is a number, not knowledge.
        """
        least = np.maximum(FEW * self.count.standard_errors(), 1.0)
        return np.asarray(floats(self.count.numbers) < least)

    def interval(self, confidence: Exact = "0.95") -> tuple[pa.Array, pa.Array]:
        """Return ends that hold the average of a cell with records at least this probably (T13).

        From the laws of both parts, so they hold for small noise too. Where the count's noise does
        not tell it from 0 there is no end: NULL, or the bounds that values were cut to.
        """
        low, high = ratio_ends(
            floats(self.total.numbers),
            self.total.laws,
            self.total.which,
            floats(self.count.numbers),
            self.count.laws,
            self.count.which,
            confidence_level(confidence),
        )
        ends = []
        for each, side in ((low, -1.0), (high, 1.0)):
            offset = each * float(self.total.step)
            widened = abs(float(self.centre)) + np.abs(offset)
            ends.append(float(self.centre) + offset + side * _SLACK * widened)
        if self.bounds is not None:
            least, most = map(float, self.bounds)
            ends = [np.clip(each, least, most) for each in ends]
        first, second = (pa.array(each, mask=~np.isfinite(each)) for each in ends)
        return first, second

    def floored(self) -> pa.Array | None:
        """Return the averages with 0 in the place of what noise made negative."""
        return pa.array(np.maximum(self.values().to_numpy(), 0.0))

    def rounded(self, places: int) -> pa.Array:
        """Return the averages rounded to so many decimals, in floats, ties away from zero."""
        return pa.array(rounded_floats(self.values().to_numpy(), places))

    def _denominator(self) -> Floats:
        return np.maximum(floats(self.count.numbers), 1.0)

    def _offset(self) -> Floats:
        total = floats(self.total.numbers) * float(self.total.step)
        return np.asarray(total / self._denominator())


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A quantile: one of the public candidates for each cell (T14)."""

    name: str
    candidates: tuple[Fraction, ...]
    index: NoisyIntegers

    @property
    def parts(self) -> "tuple[Chosen, ...]":
        """What was drawn for it: itself."""
        return (self,)

    @property
    def drawn(self) -> NoisyIntegers:
        """What came out of the mechanism."""
        return self.index

    def values(self) -> pa.Array:
        """Return the chosen candidates."""
        step = common_step(self.candidates)
        steps = np.array([int(each / step) for each in self.candidates], np.object_)
        return to_arrow(steps[self.index], step)

    def beside(self, confidence: Exact | None) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:  # noqa: ARG002
        """Yield nothing: a choice has no error that could be told without the data."""
        yield from ()

    def floored(self) -> pa.Array | None:
        """Return None: candidates are as they were declared."""
        return None

    def rounded(self, places: int) -> pa.Array:
        """Return the candidates rounded to so many decimals, exactly, ties away from zero."""
        unit, step = Fraction(10) ** -places, common_step(self.candidates)
        steps = np.array([int(each / step) for each in self.candidates], np.object_)
        return to_arrow(rounded_to(steps, step / unit)[self.index], unit)


Released = Estimate | Blurred | Ratio | Chosen


def _errors(
    column: Estimate | Ratio, confidence: Exact | None
) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    yield "_se", column.error_column()
    if confidence is not None:
        yield from zip(("_low", "_high"), column.interval(confidence), strict=True)


_SLACK = 1e-15
"""What scaling in floats may move an end by, relatively."""
