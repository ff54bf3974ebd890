"""How accurate the answers of a plan will be, cell by cell, before any noise is drawn (T21).

All of it is confidential: it reads the true numbers. A cell whose true number is 0 has no relative
error; such cells are counted and left out. `simulated_error` checks the closed forms by drawing
from the real samplers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InputError, ProbabilityError
from perrecord.evaluate.accuracy.mixtures import mixture_sizes, mixture_widths
from perrecord.evaluate.accuracy.noise_size import Floats, Relative, least, mean_size, reach
from perrecord.evaluate.accuracy.student_sizes import (
    student_deviations,
    student_means,
    student_reaches,
)
from perrecord.evaluate.accuracy.truths import Noisy, Truth, truths
from perrecord.exact import Exact, rational
from perrecord.laws import DiscreteStudent, Law
from perrecord.laws.normal import normal_below, normal_size
from perrecord.laws.widths import deviation
from perrecord.mechanisms.additive import draw
from perrecord.noise.bits import BitSource
from perrecord.queries.plan import Plan
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class CellErrors(Relative):
    """The errors to be expected of one answer in the cells of one grouping, in units.

    `noise_size` is E|noise|, `size` E|noise + bias|; `noise_reach` and `reach` are what |noise| and
    |noise + bias| stay within with the given confidence. The relative figures divide them by
    |true|, NaN where that is 0: `noise_error` and `error` are expected AREs, `noise_reach_error`
    is QueryRelErr(confidence). An average's are by the delta method, and so approximate.
    """

    truth: Truth
    confidence: Fraction
    true: Floats
    bias: Floats
    deviation: Floats
    noise_size: Floats
    size: Floats
    noise_reach: Floats
    reach: Floats

    def to_arrow(self) -> pa.Table:
        """Return a row for each cell: its key, how many records it has, and its errors."""
        figures = {
            "true": self.true,
            "bias": self.bias,
            "standard_error": self.deviation,
            "expected_noise_error": self.relative(self.noise_size),
            "expected_error": self.relative(self.size),
            "query_relative_error": self.relative(self.noise_reach),
            "relative_error": self.relative(self.reach),
        }
        table = self.truth.keys
        table = table.append_column("records", pa.array(self.truth.records.astype(np.int64)))
        for name, numbers in figures.items():
            table = table.append_column(name, pa.array(numbers, from_pandas=True))
        return table


def accuracy(planned: Plan, table: Table, *, confidence: Exact = "0.95") -> list[CellErrors]:
    """Return the errors to be expected of every count, total and average of a plan (T21).

    QueryRelErr(gamma) is the infimum of v with Pr[|noise| >= v |true|] <= 1 - gamma, from the exact
    law: the half width over |true|. Top-coding's bias stands apart, and with the noise in `size`
    and `reach`. Where noise decides which cells are published, errors are those before it does.

    >>> import perrecord
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", clamp=(0, 50), rho="0.5")
    ...     (errors,) = accuracy(plan(asked, source.schema), source)
    >>> errors.true, errors.bias, errors.relative(errors.noise_reach)
    (array([1000.]), array([-920.]), array([0.098]))
    """
    return list(each_accuracy(planned, table, confidence=confidence))


def each_accuracy(planned: Plan, table: Table, *, confidence: Exact) -> Iterator[CellErrors]:
    """Yield the same one answer after the other; only one at a time is held in memory."""
    level = rational(confidence, "the confidence")
    if not 0 < level < 1:
        raise ProbabilityError(
            f"the confidence is {confidence}; expected a number strictly between 0 and 1, such as "
            '"0.95".'
        )
    for truth in truths(planned, table):
        yield cell_errors(truth, level)


def cell_errors(truth: Truth, confidence: Fraction) -> CellErrors:
    """Return the errors to be expected of one answer, whose true numbers are known."""
    is_average = truth.count is not None
    return _average(truth, confidence) if is_average else _additive(truth, confidence)


def _additive(truth: Truth, confidence: Fraction) -> CellErrors:
    noisy, step = truth.total, float(truth.total.step)
    biases = floats(noisy.bias)
    none = np.zeros(len(biases))
    figures = np.zeros((5, len(biases)))
    blurred = _blurred_laws(noisy)
    if blurred:  # without a bias
        size, far = student_means(blurred), student_reaches(blurred, confidence)
        every = (student_deviations(blurred), size, size, far, far)
        figures[:] = np.array(every)[:, noisy.which]
    for cells, law in () if blurred else cells_of(noisy):
        figures[0, cells] = deviation(law)
        figures[1, cells] = mean_size(law, none[cells])
        figures[2, cells] = mean_size(law, biases[cells])
        figures[3, cells] = reach(law, none[cells], confidence)
        figures[4, cells] = reach(law, biases[cells], confidence)
    return CellErrors(truth, confidence, floats(noisy.exact) * step, biases * step, *figures * step)


def _average(truth: Truth, confidence: Fraction) -> CellErrors:
    """Return the delta method's figures, taken at the true numbers (T13).

    Noise counts as normal, and of a tapered total as Student's.
    """
    true, bias, spread = means(truth)
    level = (1 + float(confidence)) / 2
    widths = NormalDist().inv_cdf(level) * spread
    is_known = ~np.isnan(true)
    sizes, reaches = np.full((2, len(true)), np.nan)
    found, sigma = np.abs(bias[is_known]), spread[is_known]
    sizes[is_known] = normal_size(sigma, found)

    def chance(limits: Floats) -> Floats:
        return normal_below((limits - found) / sigma) - normal_below((-limits - found) / sigma)

    reaches[is_known] = least(chance, found + widths[is_known], float(confidence), 0.0)
    unbiased = normal_size(spread, np.zeros(len(spread)))
    total, count = mean_parts(truth)
    for cells, nu in tapered_cells(truth.total):  # without a bias
        own = total[cells], count[cells]
        unbiased[cells] = sizes[cells] = mixture_sizes(*own, nu)
        widths[cells] = reaches[cells] = mixture_widths(*own, confidence, nu)
    return CellErrors(truth, confidence, true, bias, spread, unbiased, sizes, widths, reaches)


def deviations(noisy: Noisy) -> Floats:
    """Return the standard deviation of each cell's noise, in steps."""
    blurred = _blurred_laws(noisy)
    if blurred:
        return student_deviations(blurred)[noisy.which]
    return np.array([deviation(law) for law in noisy.laws])[noisy.which]


def _blurred_laws(noisy: Noisy) -> list[DiscreteStudent]:
    """Return the laws of a blurred number, which are hundreds; nothing of any other number."""
    if noisy.noise.blurred is None:
        return []
    return [law for law in noisy.laws if isinstance(law, DiscreteStudent)]


def means(
    truth: Truth, spread_of: Callable[[Noisy], Floats] = deviations
) -> tuple[Floats, Floats, Floats]:
    """Return true averages, their bias and the delta method's standard errors; NaN if empty."""
    offset, bias, _ = _offsets(truth)
    return float(truth.centre) + offset, bias, np.hypot(*mean_parts(truth, spread_of))


def mean_parts(
    truth: Truth, spread_of: Callable[[Noisy], Floats] = deviations
) -> tuple[Floats, Floats]:
    """Return what the noise of the total and that of the count add to an average's error."""
    offset, bias, numbers = _offsets(truth)
    assert truth.count is not None  # noqa: S101 - asked of averages alone
    total = float(truth.total.step) * spread_of(truth.total) / numbers
    return total, np.abs(offset + bias) * spread_of(truth.count) / numbers


def _offsets(truth: Truth) -> tuple[Floats, Floats, Floats]:
    """Return averages about their centre, their bias, and of how many; NaN if of nobody."""
    assert truth.count is not None  # noqa: S101 - asked of averages alone
    numbers = floats(truth.count.exact)
    numbers[numbers == 0] = np.nan
    step = float(truth.total.step)
    found = (floats(each) * step / numbers for each in (truth.total.exact, truth.total.bias))
    return next(found), next(found), numbers


def cells_of(noisy: Noisy) -> Iterator[tuple[npt.NDArray[np.intp], Law]]:
    """Yield the cells of each law in use."""
    order = np.argsort(noisy.which, kind="stable")
    bounds = np.searchsorted(noisy.which[order], np.arange(len(noisy.laws) + 1))
    for index, law in enumerate(noisy.laws):
        yield order[bounds[index] : bounds[index + 1]], law


def tapered_cells(noisy: Noisy) -> Iterator[tuple[npt.NDArray[np.intp], int]]:
    """Yield the cells of each Student law in use, with its nu."""
    for cells, law in cells_of(noisy):
        if isinstance(law, DiscreteStudent):
            yield cells, law.nu


def floats(numbers: npt.NDArray[np.generic]) -> Floats:
    """Return whole numbers of any size as floats."""
    return numbers.astype(np.float64)


def simulated_error(
    errors: CellErrors, repeats: int = 100, *, _bits: BitSource | None = None
) -> Floats:
    """Return each cell's mean of |noisy - true| / |true| over repeated draws; NaN where true is 0.

    It charges nobody and is confidential, as what it averages is.
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError(f"repeats is {repeats!r}; expected a whole number from 1.")
    total = np.zeros(len(errors.true))
    for _ in range(repeats):
        total += _size(errors, _bits)
    return errors.relative(total / repeats)


def _size(errors: CellErrors, bits: BitSource | None) -> Floats:
    """Return |noisy - true| of one draw."""
    truth = errors.truth
    total = _drawn(truth.total, bits) * float(truth.total.step)
    if truth.count is None:
        return np.abs(total + errors.bias)
    true, bias, _ = means(truth)
    filled = floats(truth.count.exact)
    released = (true + bias - float(truth.centre)) * filled + total
    count = np.maximum(filled + _drawn(truth.count, bits), 1.0)  # as a release does (T13)
    return np.asarray(np.abs(float(truth.centre) + released / count - true))


def _drawn(noisy: Noisy, bits: BitSource | None) -> Floats:
    drawn = np.zeros(len(noisy.exact))
    for cells, law in cells_of(noisy):
        drawn[cells] = floats(draw(law, len(cells), bits))
    return drawn
