"""Numbers that follow from published ones, with their errors. They cost nothing (T6, T33).

The numbers that a formula names have independent noise of known standard errors. A fraction of two
sums of them, N / D, gets the delta method's standard error where D is more than three of its own
standard errors from 0, and Fieller's interval: all theta for which N - theta D is within z of its
own standard errors of 0. Far from D = 0 that is the usual interval; where the noise of D does not
tell it from 0 the set has no ends. What there is not is NaN. Quantiles are the normal law's, so
that intervals are approximate for noise of other laws.

>>> import numpy as np
>>> pay = Uncertain(np.array([9000.0]), np.array([300.0]))
>>> workers = Uncertain(np.array([300.0]), np.array([10.0]))
>>> mean = evaluated(formula("pay / workers"), {"pay": pay, "workers": workers}, 0.95)
>>> [round(float(each[0]), 2) for each in (mean.values, mean.errors, mean.low, mean.high)]
[30.0, 1.41, 27.35, 32.91]
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.exact import Exact
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Ratio
from perrecord.released.confidence import confidence_level
from perrecord.released.formulas import Formula, Linear, Name, formula
from perrecord.released.numbers import floats, rounded_floats

__all__ = [
    "Computed",
    "Derived",
    "Uncertain",
    "columns_of",
    "evaluated",
    "formula",
    "masked",
    "uncertain",
]

Floats = npt.NDArray[np.float64]

_FAR = 3
"""Within so many of its standard errors from 0, a number divides too wildly for one more error."""


@dataclass(frozen=True, slots=True, eq=False)
class Uncertain:
    """Published numbers and the standard errors of their noise; NaN where there is none."""

    values: Floats
    errors: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """What a formula gives: NaN where it divides by 0, or where there is no error or end."""

    values: Floats
    errors: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """A column that a formula gives, to stand beside answers as one of them."""

    name: str
    formula: Formula
    given: Mapping[Name, Uncertain]

    def values(self) -> pa.Array:
        """Return the numbers; NULL where the formula divides by 0."""
        return masked(evaluated(self.formula, self.given, 0.5).values)

    def beside(self, confidence: Exact | None) -> Iterator[tuple[str, pa.Array]]:
        """Yield what stands beside the numbers, by the ending of the column's name."""
        level = 0.5 if confidence is None else float(confidence_level(confidence))
        found = evaluated(self.formula, self.given, level)
        yield "_se", masked(found.errors)
        if confidence is not None:
            yield "_low", masked(found.low)
            yield "_high", masked(found.high)

    def floored(self) -> None:
        """Return nothing: a difference may be negative."""

    def rounded(self, places: int) -> pa.Array:
        """Return the numbers rounded to so many decimals, in floats, ties away from zero."""
        return masked(rounded_floats(evaluated(self.formula, self.given, 0.5).values, places))


def uncertain(column: Estimate | Blurred | Ratio | Chosen) -> Uncertain:
    """Return an answer's numbers with their errors; none of averages of few records."""
    if isinstance(column, Estimate):
        return Uncertain(floats(column.numbers) * float(column.step), column.standard_errors())
    if isinstance(column, Ratio):
        errors = np.where(column.few_records(), np.nan, column.standard_errors())
        return Uncertain(column.values().to_numpy(), errors)
    none = floats(column.drawn) * np.nan
    return Uncertain(none, none)


def masked(values: Floats) -> pa.Array:
    """Return floats as a column, NULL where there is no number."""
    return pa.array(values, mask=~np.isfinite(values))


def columns_of(name: str, found: Derived) -> dict[str, pa.Array]:
    """Return numbers with their errors and the ends of their intervals, by the names of columns."""
    return {
        name: masked(found.values),
        f"{name}_se": masked(found.errors),
        f"{name}_low": masked(found.low),
        f"{name}_high": masked(found.high),
    }


def evaluated(found: Formula, given: Mapping[Name, Uncertain], confidence: float) -> Derived:
    """Return the numbers that a formula makes of published ones of independent noise."""
    above, below = _sum(found.above, given), _sum(found.below, given)
    shared = _shared(found, given)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = above.values / below.values
        values[~np.isfinite(values)] = np.nan
        spread = above.errors**2 - 2 * values * shared + values**2 * below.errors**2
        errors = np.sqrt(np.maximum(spread, 0.0)) / np.abs(below.values)
        low, high = _fieller(above, below, shared, NormalDist().inv_cdf((1 + confidence) / 2))
    errors[~(np.abs(below.values) > _FAR * below.errors)] = np.nan
    return Derived(values, errors, low, high)


def _sum(linear: Linear, given: Mapping[Name, Uncertain]) -> Uncertain:
    size = len(next(iter(given.values())).values)
    values, variances = np.full(size, float(linear.constant)), np.zeros(size)
    for name, factor in linear.factors:
        values += float(factor) * given[name].values
        variances += (float(factor) * given[name].errors) ** 2
    return Uncertain(values, np.sqrt(variances))


def _shared(found: Formula, given: Mapping[Name, Uncertain]) -> Floats:
    """Return the covariance of what is above and below: numbers that stand on both sides."""
    size = len(next(iter(given.values())).values)
    covariances, below = np.zeros(size), dict(found.below.factors)
    for name, factor in found.above.factors:
        if name in below:
            covariances += float(factor * below[name]) * given[name].errors ** 2
    return covariances


def _fieller(above: Uncertain, below: Uncertain, shared: Floats, z: float) -> tuple[Floats, Floats]:
    """Return the ends of {theta: (N - theta D)^2 <= z^2 (VN - 2 theta C + theta^2 VD)}.

    That is a theta^2 - 2 b theta + c <= 0: an interval exactly where a > 0, that is where D is more
    than z of its own standard errors from 0; there b^2 >= a c always.
    """
    a = below.values**2 - (z * below.errors) ** 2
    b = above.values * below.values - z**2 * shared
    c = above.values**2 - (z * above.errors) ** 2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    # The end farther from 0 by addition, the other by the product of both, c / a: nothing cancels.
    far = (b + np.copysign(root, b)) / a
    near = np.where(far == 0, 0.0, c / (a * far))
    is_bounded = a > 0
    low = np.where(is_bounded, np.minimum(far, near), np.nan)
    high = np.where(is_bounded, np.maximum(far, near), np.nan)
    return low, high
