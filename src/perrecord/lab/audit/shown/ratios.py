"""Intervals of averages by hand: where |T - theta N| stays within what its noise allows (T13)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from perrecord.lab.audit.shown import by_hand

_ALPHA = 0.05
_SHARES = (0.5, 0.05, 0.95)
_SLOPES = 8
_HALVINGS = 80
_FARTHEST = 1e18


@dataclass(frozen=True, slots=True)
class LawOnGrid:
    """A law on a grid."""

    law: str
    spread: Fraction
    step: Fraction

    @property
    def variance(self) -> float:
        """The variance in units."""
        return by_hand.variance(self.law, self.spread, self.step)

    @property
    def scale(self) -> float:
        """The scale of the law without steps that noise with a uniform step is closer than."""
        if self.law == "gaussian":
            return math.sqrt(float(self.spread / self.step**2) + 0.2)
        return 0.5 / math.tanh(0.5 * float(self.step / self.spread))

    def reach(self, miss: float) -> float:
        """Return what the noise stays within unless something of this chance happens, in steps."""
        return _reach(self.law, self.spread, self.step, miss)


@lru_cache(maxsize=4096)
def _reach(law: str, spread: Fraction, step: Fraction, miss: float) -> float:
    found = by_hand.half_width(law, spread, step, 1 - miss)
    if found is not None:
        return found
    if law == "gaussian":  # up to a whole step: Pr[|Z| > c] is that of |N| > c + 1/2
        return math.ceil(math.sqrt(spread) / float(step) * NormalDist().inv_cdf(1 - miss / 2) - 0.5)
    fall = float(step / spread)  # Pr[|Z| > c] = 2 exp(-fall (c + 1)) / (1 + exp(-fall))
    return math.ceil(math.log(2 / (1 + math.exp(-fall)) / miss) / fall) - 1


def interval(
    total: int, count: int, noise: LawOnGrid, counted: LawOnGrid
) -> tuple[float, float] | None:
    """Return the ends of total / count, in steps of the total; None where there are none."""
    bounds: list[Callable[[float], float]] = []
    for share in _SHARES:
        one, two = noise.reach(share * _ALPHA), counted.reach((1 - share) * _ALPHA)
        if count > two:
            bounds.append(lambda size, one=one, two=two: one + two * size)  # type: ignore[misc]
    if noise.law == counted.law:
        chords = _chords(noise.law == "gaussian")
        slope = max(part[1] for part in chords) * counted.scale + 0.5
        if count > slope:

            def together(size: float) -> float:
                across = [one * noise.scale + two * counted.scale * size for one, two in chords]
                return max(across) + (1 + size) / 2

            bounds.append(together)
    if not bounds:
        return None
    middle = total / count
    low = max(_end(total, count, bound, middle, -1) for bound in bounds)
    return low, min(_end(total, count, bound, middle, 1) for bound in bounds)


def _end(
    total: int, count: int, bound: Callable[[float], float], middle: float, side: int
) -> float:
    """Return how far theta may go to one side, by ever smaller steps."""
    inside, beyond = 0.0, 1.0 + abs(middle)
    while abs(total - (middle + side * beyond) * count) <= bound(abs(middle + side * beyond)):
        inside, beyond = beyond, 2 * beyond
        if beyond > _FARTHEST:
            return side * math.inf
    for _ in range(_HALVINGS):
        half = (inside + beyond) / 2
        theta = middle + side * half
        is_inside = abs(total - theta * count) <= bound(abs(theta))
        inside, beyond = (half, beyond) if is_inside else (inside, half)
    return middle + side * inside


@lru_cache(maxsize=2)
def _chords(is_normal: bool) -> list[tuple[float, float]]:
    """Return (a, b) of the chords a x + b y of the quantile of |x L + y L'| at nine slopes."""
    angles = [math.pi / 2 * place / _SLOPES for place in range(_SLOPES + 1)]
    found = []
    for one, two in pairwise(angles):
        left, right = _quantile(one, is_normal), _quantile(two, is_normal)
        # a cos + b sin is the quantile at both ends.
        area = math.sin(two - one)
        a = (left * math.sin(two) - right * math.sin(one)) / area
        b = (right * math.cos(one) - left * math.cos(two)) / area
        found.append((a, b))
    return found


def _quantile(angle: float, is_normal: bool) -> float:
    if is_normal:
        return NormalDist().inv_cdf(1 - _ALPHA / 2)
    x, y = max(math.cos(angle), 1e-9), max(math.sin(angle), 1e-9)

    def outside(size: float) -> float:
        """Pr[|x L + y L'| > size] of two Laplace laws of scale 1."""
        if math.isclose(x, y, rel_tol=1e-6):
            return (1 + size / (2 * x)) * math.exp(-size / x)
        return (x**2 * math.exp(-size / x) - y**2 * math.exp(-size / y)) / (x**2 - y**2)

    low, high = 0.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle) > _ALPHA else (low, middle)
    return high
