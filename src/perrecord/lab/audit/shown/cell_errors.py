"""Errors of every cell of an answer, by hand, and the few numbers that reports show of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.lab.audit.shown import laws
from perrecord.lab.audit.shown.declared import exact
from perrecord.lab.audit.shown.document import Json, Row, votes
from perrecord.lab.audit.shown.source import (
    CellNumber,
    TableAnswer,
    measure_of,
    noisy,
    ways,
)

LIMITS = (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100))
FIVE: Mapping[str, Fraction] = {
    "low": Fraction(5, 100),
    "lower": Fraction(1, 4),
    "middle": Fraction(1, 2),
    "upper": Fraction(3, 4),
    "high": Fraction(95, 100),
}
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class CellError:
    """What is to be expected of one cell, in units; `true` is None where there is nothing."""

    records: int
    true: float | None
    size: float
    """How far the answer lies from the true number, on average over the noise."""
    noise_size: float
    bias: float
    within: tuple[bool, ...]
    """For each limit, whether the error stays below so much of the true number, 95 % probably."""
    hit: float = math.nan
    """Of a quantile: the chance that the answer is one."""
    reach: float = math.nan

    @property
    def has_relative(self) -> bool:
        """Whether the cell has a relative error."""
        return bool(self.true)

    def relative(self, size: float) -> float:
        """Return a size as a share of the true number."""
        return size / abs(self.true or math.nan)


def cell_errors(
    spec: Json,
    one: TableAnswer,
    limits: Sequence[Fraction] = LIMITS,
    confidence: float = CONFIDENCE,
) -> list[CellError]:
    """Return the errors of every cell of an answer."""
    found = []
    for key, records in one.cells:
        if {"median", "quantile"} & one.answer.keys():
            error = _of_quantile(one, records, limits, confidence)
        else:
            numbers = noisy(spec, one, key, records)
            if len(numbers) == 1:
                error = _of_number(numbers[0], len(records), limits, confidence)
            else:
                error = _of_average(spec, one, numbers, records, limits, confidence)
        found.append(error)
    return found


def _of_number(
    number: CellNumber, records: int, limits: Sequence[Fraction], confidence: float
) -> CellError:
    within = tuple(
        laws.chance_below(number, limit * abs(number.true)) >= confidence for limit in limits
    )
    plain = CellNumber(number.true, Fraction(0), number.law, number.spread, number.step)
    return CellError(
        records,
        float(number.true),
        laws.mean_size(number),
        laws.mean_size(plain),
        float(number.bias),
        within,
    )


def centre_of(spec: Json, one: TableAnswer) -> Fraction:
    """Return the middle of the bounds of a clamped average, 0 of others."""
    cases, way = ways(spec, one)
    return Fraction(0) if cases or way.bounds is None else sum(way.bounds, Fraction(0)) / 2


def _of_average(
    spec: Json,
    one: TableAnswer,
    numbers: Sequence[CellNumber],
    records: Sequence[Row],
    limits: Sequence[Fraction],
    confidence: float,
) -> CellError:
    mean = laws.mean_of(numbers[0], numbers[1], centre_of(spec, one))
    if mean is None:
        return CellError(len(records), None, math.nan, math.nan, math.nan, (False,) * len(limits))
    within = tuple(mean.below(float(limit) * abs(mean.true)) > confidence for limit in limits)
    size, noise = mean.size(mean.bias), mean.size(0.0)
    return CellError(len(records), mean.true, size, noise, mean.bias, within)


def _of_quantile(
    one: TableAnswer, records: Sequence[Row], limits: Sequence[Fraction], confidence: float
) -> CellError:
    """Return the errors of a median or quantile, from the chance of every candidate (T14)."""
    measure = measure_of(one.answer) or ""
    level = exact(one.answer.get("level", "1/2"))
    weight = one.answer.get("weight")
    held_by = [each for each in records if each[measure] is not None and votes(weight, each)]
    values = sorted((each[measure], votes(weight, each)) for each in held_by)
    candidates = sorted(map(exact, one.answer["candidates"]))
    most = sum((each for _, each in values), Fraction(0))
    rank = level * most
    scores = []
    for candidate in candidates:
        below = sum(each for value, each in values if value < candidate)
        above = sum(each for value, each in values if value > candidate)
        scores.append(max(Fraction(0), below - rank, above - (most - rank)))
    amount = float(one.amounts[0])
    epsilon = math.sqrt(8 * amount) if one.currency == "rho" else amount
    rate = epsilon / (2 * float(max(level, 1 - level)))
    rate /= 1 if weight is None else float(exact(weight["at"]))
    least = min(scores)
    weights = [math.exp(-rate * float(score - least)) for score in scores]
    chances = [weight / math.fsum(weights) for weight in weights]
    if not values:
        return CellError(len(records), None, math.nan, math.nan, math.nan, (False,) * len(limits))
    low, high = _ends(values, rank)
    outside = [max(low - each, each - high, Fraction(0)) for each in candidates]
    size = math.fsum(c * float(o) for c, o in zip(chances, outside, strict=True))
    best = min(o for o, score in zip(outside, scores, strict=True) if score == least)
    within = tuple(
        math.fsum(c for c, o in zip(chances, outside, strict=True) if o < limit * abs(low))
        >= confidence - 1e-12
        for limit in limits
    )
    hit = math.fsum(c for c, o in zip(chances, outside, strict=True) if o == 0)
    held = sorted(set(outside))
    reach = next(
        size
        for size in held
        if math.fsum(c for c, o in zip(chances, outside, strict=True) if o <= size)
        >= confidence - 1e-12
    )
    return CellError(
        len(records), float(low), size, math.nan, float(best), within, hit, float(reach)
    )


def _ends(values: Sequence[tuple[Fraction, Fraction]], rank: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest quantile: values with at most their share on each side."""
    most = sum((votes for _, votes in values), Fraction(0))
    fit = [
        value
        for value, _ in values
        if sum(votes for each, votes in values if each < value) <= rank
        and sum(votes for each, votes in values if each > value) <= most - rank
    ]
    return fit[0], fit[-1]


# -- many cells as a few numbers --------------------------------------------------------------


def at_share(numbers: Sequence[float], share: Fraction) -> float | None:
    """Return the least number that this share of the numbers, or more, does not exceed."""
    if not numbers:
        return None
    return sorted(numbers)[max(1, math.ceil(share * len(numbers))) - 1]


def five(errors: Sequence[CellError]) -> dict[str, float | None]:
    """Return the five numbers of expected relative errors."""
    known = [each.relative(each.size) for each in errors if each.has_relative]
    return {name: at_share(known, share) for name, share in FIVE.items()}


def shares_within(errors: Sequence[CellError]) -> list[float | None]:
    """Return, for each limit, the share of the cells with a relative error that stay below it."""
    known = [each.within for each in errors if each.has_relative]
    return [sum(each) / len(known) for each in zip(*known, strict=True)] if known else [None] * 3
