"""Clamped sums of drawn Pareto data, as the library answers them, beside their closed forms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

import perrecord
from perrecord import Keys, Query
from perrecord.evaluate.accuracy.errors import CellErrors, accuracy
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.lab.experiments.global_zcdp.clamped_pareto import ClampedSum
from perrecord.lab.synth.simulation import pareto
from perrecord.queries.plan import plan

_RESOLUTION = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class MeasuredBound:
    """RMSE / E[sum] at one bound, sampling included: in closed form, and over drawn data sets.

    `scores` is the difference of the mean square errors in standard errors of the drawn one.
    """

    tail: float
    rho: str
    bound: Decimal
    closed_form: float
    found: float
    scores: float


def measured(
    records: int, tails: Sequence[float], rhos: Sequence[str], data_sets: int, seed: int
) -> list[MeasuredBound]:
    """Return the library's errors at the best bounds, on so many data sets of each tail.

    Nothing is drawn but data: the noise is in the errors at its standard deviation.
    """
    found = []
    for tail, own in zip(tails, np.random.SeedSequence(seed).spawn(len(tails)), strict=True):
        values = pareto(np.random.default_rng(own).random(records * data_sets), tail)
        asked = [ClampedSum(records, tail, float(rho)) for rho in rhos]
        bounds = [on_grid(each.best_bound) for each in asked]
        errors = clamped_errors(values, records, list(zip(bounds, rhos, strict=True)))
        for each, bound, rho, error in zip(asked, bounds, rhos, errors, strict=True):
            squares = (error.true + error.bias - each.expected) ** 2
            wanted = float(each.squared_error(float(bound), with_sampling=True))
            mean = float(squares.mean() + error.deviation[0] ** 2)
            spread = float(squares.std(ddof=1)) / math.sqrt(data_sets)
            found.append(
                MeasuredBound(
                    tail,
                    rho,
                    bound,
                    math.sqrt(wanted) / each.expected,
                    math.sqrt(mean) / each.expected,
                    (mean - wanted) / spread,
                )
            )
    return found


def clamped_errors(
    values: Floats,
    records: int,
    bounds: Sequence[tuple[Decimal, str]],
    resolution: Decimal = _RESOLUTION,
) -> list[CellErrors]:
    """Return the errors of clamped sums, a cell for every so many records, at bounds and rhos."""
    data_sets = len(values) // records
    cells = np.repeat(np.arange(data_sets), records)
    data = pa.table({"data_set": cells, "value": values})
    keys = Keys.from_dict({"data_set": range(data_sets)})
    queries = [
        Query().group_by("data_set", keys=keys).sum("value", clamp=(0, bound), rho=rho)
        for bound, rho in bounds
    ]
    measures = {"value": resolution}
    with perrecord.table(data, dimensions=["data_set"], measures=measures) as source:
        return accuracy(plan(queries, source.schema), source)


def on_grid(bound: float) -> Decimal:
    """Return a bound as a multiple of the resolution."""
    return Decimal(round(bound / float(_RESOLUTION))) * _RESOLUTION


@dataclass(frozen=True, slots=True)
class Units:
    """Both ratios of one data set at its best bound, and how they grow in other units."""

    tail: float
    rho: str
    scale: int
    ratio: float
    root_ratio: float
    ratio_grows: float
    root_ratio_grows: float


def in_other_units(records: int, tail: float, rho: str, scale: int, seed: int) -> Units:
    """Return the library's MSE / E and RMSE / E of one data set, and of it multiplied."""
    asked = ClampedSum(records, tail, float(rho))
    values = pareto(np.random.default_rng(seed).random(records), tail)
    bound = on_grid(asked.best_bound)
    ratios = []
    for factor in (1, scale):
        resolution = _RESOLUTION * factor
        (error,) = clamped_errors(values * factor, records, [(bound * factor, rho)], resolution)
        expected = asked.expected * factor
        square = float((error.true[0] + error.bias[0] - expected) ** 2 + error.deviation[0] ** 2)
        ratios.append((square / expected, math.sqrt(square) / expected))
    (ratio, root), (other, other_root) = ratios
    return Units(tail, rho, scale, ratio, root, other / ratio, other_root / root)


@dataclass(frozen=True, slots=True)
class Exponents:
    """The powers of bound and rho in the variance of a clamped sum's noise, and one variance."""

    of_bound: float
    of_rho: float
    bound: float
    rho: float
    variance: float


def exponents() -> Exponents:
    """Return how the library's noise grows with the bound and with rho, a hundred times each."""
    bounds = (Decimal(10), Decimal(1000))
    rhos = ("0.001", "0.1")
    asked = [(bounds[0], rhos[0]), (bounds[1], rhos[0]), (bounds[0], rhos[1])]
    base, larger, richer = (
        float(each.deviation[0]) ** 2 for each in clamped_errors(np.ones(1), 1, asked)
    )
    return Exponents(
        math.log(larger / base) / math.log(bounds[1] / bounds[0]),
        math.log(richer / base) / math.log(float(rhos[1]) / float(rhos[0])),
        float(bounds[0]),
        float(rhos[0]),
        base,
    )
