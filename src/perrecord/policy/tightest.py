"""Measures at which one sum of basis functions exceeds another, looked for where it is tightest.

`corners` proves where an inequality fails first: at the corners |x_a| = k T_a of a scheme on the
right; at one |x_a| just above (k - 1) T_a against powers on the right; far out in a measure that
the right side does not see. This module lists those places and evaluates both sides there.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice

import numpy as np

from perrecord.errors import InternalError
from perrecord.policy.cover import Weights
from perrecord.policy.growth import Floats
from perrecord.policy.normal import LargestOf, Normal, One, PiecesOf, PowerOf, SizeOf
from perrecord.policy.split import Split

Measures = dict[str, Fraction]

_FIRST = 64
_MOST_CORNERS = 20_000  # as many as `corners` walks
_FAR = [2**j for j in range(7, 129)] + [2 ** (2**j) for j in range(8, 15)]
_BATCH = 64
_SLACK = 1 + 2.0**-30
"""Floats of losses, sizes and weights are wrong by less than this, all of them together."""
_TINY = 1e-150
"""Squares of smaller floats may have lost digits."""
_ABOVE = [Fraction(1, 2**j) for j in (7, 20, 64, 512, 8192)]


def exceeded_at(
    left: Weights, right: Weights, power: int, *, every_corner: bool
) -> Measures | None:
    """Return measures at which the left side is the larger; None if none were met.

    The left side holds no maximum. Every corner that `walk` looks at is worth looking at only
    where it has found that one of them fails.
    """
    places = _places(left, right, power, every_corner)
    while batch := list(islice(places, _BATCH)):
        below = _clearly_below(left, right, batch, power)
        for measures, is_below in zip(batch, below, strict=True):
            if is_below:
                continue
            if _value(left, measures, power) > _value(right, measures, power):
                return measures
    return None


def _clearly_below(
    left: Weights, right: Weights, places: Sequence[Measures], power: int
) -> Sequence[bool]:
    """Return at which places floats show that the left side is the smaller; the rest is open."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        sides = [_floats(each, places, power) for each in (left, right)]
        if sides[0] is None or sides[1] is None:
            return [False] * len(places)
        found = (sides[0] * _SLACK < sides[1]) & (sides[1] > _TINY) & np.isfinite(sides[1])
    return [bool(each) for each in found]


def _floats(weights: Weights, places: Sequence[Measures], power: int) -> Floats | None:
    """Return the sum at each place, about; None where floats do not tell."""
    total = np.zeros(len(places))
    for basis, weight in weights.items():
        factor = _float(weight)
        match basis:
            case One():
                found: Floats | None = np.ones(len(places))
            case PowerOf(name):
                found = _sizes(places, name) ** power
            case SizeOf(name, growth):
                found = growth.floats(_sizes(places, name))
            case _:
                found = None
        if found is None or factor < 0:
            return None
        total += factor * found
    return total


def _sizes(places: Sequence[Measures], name: str) -> Floats:
    return np.array([_float(each.get(name, Fraction(0))) for each in places])


def _float(number: Fraction) -> float:
    """Return a number as a float; NaN, which tells nothing, if its square would lose digits."""
    try:
        found = float(number)
    except OverflowError:
        return math.nan
    return found if not number or _TINY < abs(found) < 1 / _TINY else math.nan


def _value(weights: Weights, measures: Measures, power: int) -> Fraction:
    total = Fraction(0)
    for basis, weight in weights.items():
        match basis:
            case One():
                total += weight
            case PiecesOf(split):
                total += weight * split.pieces(_padded(measures, split)) ** power
            case PowerOf(name):
                total += weight * measures.get(name, Fraction(0)) ** power
            case SizeOf(name, growth):  # rounded up: whoever asked compares losses as such
                total += weight * growth.loss(measures.get(name, Fraction(0))).amount
            case LargestOf(options):
                total += weight * max(_value_of(option, measures, power) for option in options)
            case _:
                raise InternalError("A sum without a value was evaluated.")
    return total


def _value_of(option: Normal, measures: Measures, power: int) -> Fraction:
    return _value(dict(option.weights), measures, power)


def _padded(measures: Measures, split: Split) -> Measures:
    return {name: measures.get(name, Fraction(0)) for name in split.measures}


def _places(left: Weights, right: Weights, power: int, every_corner: bool) -> Iterator[Measures]:
    """Yield the places to look at, small records first."""
    schemes, powers = _schemes(right), _powers(right)
    own = _schemes(left)
    seen = {name for scheme in schemes for name in scheme.measures} | powers
    unseen = _unseen(own, _powers(left), seen)
    # Capped schemes on the left that the right side does not see are at their cap.
    reached = {
        name: max(
            (scheme.cap or 1) * scheme.threshold(name) for scheme in own if name in scheme.measures
        )
        for name in unseen
        if any(name in scheme.measures for scheme in own)
    }
    yield {}
    yield reached
    for name in sorted(unseen):
        size = reached.get(name, Fraction(1))
        yield from ({**reached, name: size * far} for far in chain(range(2, _FIRST), _FAR))
    for name in sorted({basis.measure for basis in (*left, *right) if isinstance(basis, SizeOf)}):
        yield from ({**reached, name: Fraction(far)} for far in chain(range(1, _FIRST), _FAR))
    counts = _counts(left, right, power)
    for scheme in dict.fromkeys([*schemes, *own]):
        thresholds = scheme.thresholds
        corner = {name: size for name, size in thresholds if name not in powers}
        if corner:
            yield from ({**reached, **_times(corner, k)} for k in counts)
        if powers:
            yield from (_times(dict(thresholds), k) for k in counts[:_FIRST])
            for name, threshold in thresholds:
                yield from _steps(name, threshold, counts)
    if every_corner and len(schemes) == 1:
        corner = {name: size for name, size in schemes[0].thresholds if name not in powers}
        yield from ({**reached, **_times(corner, k)} for k in range(_FIRST, _MOST_CORNERS + 1))


def _times(corner: Measures, count: int) -> Measures:
    return {name: size * count for name, size in corner.items()}


def _steps(name: str, threshold: Fraction, counts: list[int]) -> Iterator[Measures]:
    """Yield records just above a multiple of the threshold in one measure, zero in all else."""
    for k in counts:
        sizes = [Fraction(1), *(threshold * above for above in _ABOVE)]
        yield from ({name: k * threshold + size} for size in sizes if size <= threshold)


def _counts(left: Weights, right: Weights, power: int) -> list[int]:
    """Return the corners to look at: the first, far ones, caps, and the feet of parabolas.

    Where both sides grow alike only rounding tells them apart, which is nothing at multiples of
    the denominators of the ratios of thresholds: far corners are also taken one beyond those.
    """
    schemes = [*_schemes(left), *_schemes(right)]
    ratios = [
        one.threshold(name) / other.threshold(name)
        for one in schemes
        for other in schemes
        for name in {*one.measures} & {*other.measures}
    ]
    period = math.lcm(*(ratio.denominator for ratio in ratios))
    found = {*range(1, _FIRST), *_FAR, *(1 + period * far for far in _FAR)}
    for scheme in schemes:
        if scheme.cap is not None:
            found |= {scheme.cap - 1, scheme.cap}
    for basis, weight in left.items():
        if isinstance(basis, PiecesOf):
            for name, threshold in basis.split.thresholds:
                gain = right.get(PowerOf(name), Fraction(0)) * threshold**power
                if gain > weight:
                    foot = math.floor(gain / (gain - weight))
                    found |= {foot - 1, foot, foot + 1}
    return sorted(count for count in found if count > 0)


def _schemes(weights: Weights) -> list[Split]:
    found: list[Split] = []
    for basis in weights:
        if isinstance(basis, PiecesOf):
            found.append(basis.split)
        elif isinstance(basis, LargestOf):
            found += [split for option in basis.options for split in _schemes(dict(option.weights))]
    return list(dict.fromkeys(found))


def _powers(weights: Weights) -> set[str]:
    found = {basis.measure for basis in weights if isinstance(basis, PowerOf | SizeOf)}
    for basis in weights:
        if isinstance(basis, LargestOf):
            found = found.union(*(_powers(dict(option.weights)) for option in basis.options))
    return found


def _unseen(schemes: list[Split], powers: set[str], seen: set[str]) -> set[str]:
    """Return the measures of the left side that the right side does not depend on."""
    return {name for scheme in schemes for name in scheme.measures if name not in seen} | (
        powers - seen
    )
