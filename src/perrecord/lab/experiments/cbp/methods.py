"""What a record loses by each way to publish a total, all with the same median error.

Splitting and tapering beside noise on the logarithm and on the square root of the total (T29), and
the least that an unbiased total can cost (T30). One answer: employment by county and sector, in the
evaluated cells. Laws are taken on the real line; amounts follow from the errors, as nobody should
choose them for a release.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from scipy.special import ndtr, stdtr

from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.lab.experiments.transformations import Logarithm, SquareRoot, Transformation
from perrecord.laws.tapering import tapered_rho
from perrecord.report.charts import Axis, Panels, curves
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
SHOWN = (5, 50, 500, 5_000, 50_000)
LEAST = "least possible"
NU = 7

Chance = Callable[[Floats, Floats], Floats]
"""Limits and true numbers -> the chance that the error stays within the limit."""


@dataclass(frozen=True, slots=True)
class PublishedBy:
    """A way to publish a total: what a record of each size loses, and the errors of cells."""

    name: str
    losses: tuple[float, ...]
    largest_cell: float
    """The standard error in the largest cell, as a share of its number."""


def compared(true: Floats, threshold: Fraction, rho: Fraction) -> tuple[float, list[PublishedBy]]:
    """Return the median error of splitting, and every way that has the same one.

    Transformations have the threshold as their offset, the one public number that all of them use.
    """
    deviation = float(threshold) / math.sqrt(2 * rho)
    median = _median_error(_gaussian(deviation), true)
    spread = Fraction(f"{_fitted(_student, true, median) ** 2:.9g}")
    logarithm, root = (
        kind(threshold, Fraction(f"{_fitted(_of(kind, threshold), true, median):.9g}"))
        for kind in (Logarithm, SquareRoot)
    )
    largest, tapered = true.max(), math.sqrt(spread / (NU - 2))
    found = [
        _published(
            "splitting", lambda size: rho * math.ceil(size / threshold) ** 2, deviation / largest
        ),
        _published(
            "tapering",
            lambda size: tapered_rho(size, spread, NU),
            tapered / largest,
        ),
    ]
    for name, each in (("logarithm", logarithm), ("square root", root)):
        error = float(np.sqrt(each.variance(np.array([largest])))[0]) / largest
        found.append(_published(name, each.loss, error))
    least = _published(LEAST, lambda size: least_loss(size, tapered), tapered / largest)
    return median, [*found, least]


def least_loss(size: float, deviation: float) -> float:
    """Return what a record loses at least by an unbiased total of this standard error (T30).

    >>> least_loss(50_000, 35.4)
    14.5...
    """
    t = size / math.sqrt(size**2 + 4 * deviation**2)
    return 2 * t * math.log((1 + t) ** 2 * (size**2 + 4 * deviation**2) / (4 * deviation**2)) / 2


def methods_figure(true: Floats, threshold: Fraction, rho: Fraction) -> Figure:
    """Return losses by size of the record, a line for each way."""
    median, found = compared(true, threshold, rho)
    numbers = pa.table(
        {
            "method": [each.name for each in found for _ in SIZES],
            "employees": [size for _ in found for size in SIZES],
            "loss": [loss for each in found for loss in each.losses],
            "largest_cell": [each.largest_cell for each in found for _ in SIZES],
        }
    )
    return Figure(
        "cbp-methods",
        "What a record loses by the way its total is published, at one median error",
        _finding(found, median),
        "Employment by county and sector (two digits of NAICS), one answer by itself. Splitting is "
        f"at a threshold of {amount(float(threshold))} and rho {amount(float(rho))}; the other "
        "ways have as much noise as gives the same median of |noisy − true|/|true| over cells and "
        "noise. Tapering is T26. The logarithm and the square root are of the total, with unbiased "
        "inverses (T29); they are not in the paper and no release is made by them. The least "
        "possible is a lower bound for any unbiased total with the standard error of tapering "
        "(T30).",
        lambda width: curves(
            numbers,
            width,
            x=Axis("employees", "Employees of the record"),
            y=Axis("loss", "Loss (rho)"),
            colour="method",
            panels=Panels(orders={"method": [each.name for each in found]}),
        ),
        numbers,
        (_table(found),),
    )


def _finding(found: Sequence[PublishedBy], median: float) -> str:
    largest = ", ".join(f"{amount(each.losses[-1])} ({each.name})" for each in found)
    smallest = ", ".join(
        f"{amount(each.losses[SIZES.index(SHOWN[0])])} ({each.name})" for each in found
    )
    return (
        f"With a median error of {percent(median, 2)}, a record of {amount(SIZES[-1])} employees "
        f"loses {largest}; one of {SHOWN[0]} loses {smallest}."
    )


def _table(found: Sequence[PublishedBy]) -> ShownTable:
    return ShownTable(
        "Losses in rho by employees of the record, and the standard error in the largest cell",
        ("method", *(amount(size) for size in SHOWN), "largest cell"),
        tuple(
            (
                each.name,
                *(amount(each.losses[SIZES.index(size)]) for size in SHOWN),
                "–" if each.name == LEAST else percent(each.largest_cell, 2),
            )
            for each in found
        ),
    )


def _published(
    name: str, loss: Callable[[int], Fraction | float], largest_cell: float
) -> PublishedBy:
    return PublishedBy(name, tuple(float(loss(size)) for size in SIZES), float(largest_cell))


def _gaussian(deviation: float) -> Chance:
    return lambda limits, _: np.asarray(2 * ndtr(limits / deviation) - 1)


def _student(scale: float) -> Chance:
    """Return the chances of a density (A + x^2)^-4 with A the square of the scale."""
    return lambda limits, _: np.asarray(2 * stdtr(NU, limits * math.sqrt(NU) / scale) - 1)


def _of(kind: type[Transformation], offset: Fraction) -> Callable[[float], Chance]:
    return lambda sigma: kind(offset, Fraction(sigma)).chance_within


def _share_within(chance: Chance, true: Floats, error: float) -> float:
    return float(chance(error * true, true).mean())


def _median_error(chance: Chance, true: Floats) -> float:
    return _halved(lambda error: _share_within(chance, true, error) >= 0.5)


def _fitted(kind: Callable[[float], Chance], true: Floats, median: float) -> float:
    """Return the scale of the noise at which half of the errors are within the median."""
    return _halved(lambda scale: _share_within(kind(scale), true, median) <= 0.5)


def _halved(is_enough: Callable[[float], bool]) -> float:
    low, high = math.log(1e-9), math.log(1e12)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(math.exp(middle)) else (middle, high)
    return math.exp(high)
