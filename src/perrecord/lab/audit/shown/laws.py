"""Errors of one cell by hand: how large noise is on average, and how probably it stays small.

Laws on a grid are added up term by term; averages are by the delta method, as T13 and T21 say.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from perrecord.lab.audit.shown import by_hand, students
from perrecord.lab.audit.shown.source import CellNumber

_MOST_STEPS = 20_000
"""Wider laws, in steps, differ from those without steps by less than one part in 10^8."""

_POINTS = 400
"""Points of the integral over Student noise, by Gauss and Legendre: closest at its ends."""

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=4096)
def _summed(law: str, spread: Fraction, step: Fraction) -> tuple[Floats, Floats]:
    """Return Pr[Z >= k] and the sum of j Pr[Z = j] over j >= k, for k = 0, 1, ..."""
    width = math.sqrt(spread) / step if law == "gaussian" else float(spread / step)
    steps = np.arange(int(40 * width) + 3, dtype=np.float64)
    falls = -((steps / width) ** 2) / 2 if law == "gaussian" else -steps / width
    masses = np.exp(falls)
    masses /= masses[0] + 2 * math.fsum(masses[1:])
    return np.cumsum(masses[::-1])[::-1], np.cumsum((steps * masses)[::-1])[::-1]


def is_wide(number: CellNumber) -> bool:
    """Tell whether a law is taken as one without steps."""
    return not students.nu_of(number.law) and _width(number) > _MOST_STEPS


def _width(number: CellNumber) -> float:
    if number.law == "laplace":
        return float(number.spread / number.step)
    return math.sqrt(number.spread) / float(number.step)


def mean_size(number: CellNumber) -> float:
    """Return E|Z + b|, in units: |b| + 2 E max(Z - |b|, 0)."""
    bias = abs(number.bias / number.step)
    step = float(number.step)
    if students.nu_of(number.law):
        law, first = (number.law, number.spread, number.step), int(bias) + 1
        above = students.moment(*law, first) - float(bias) * students.tail(*law, first)
        return step * (float(bias) + 2 * above)
    if is_wide(number):
        return step * _smooth_size(number, float(bias))
    first = int(bias) + 1
    tails, moments = _summed(number.law, number.spread, number.step)
    if first >= len(tails):
        return step * float(bias)
    above = float(moments[first]) - float(bias) * float(tails[first])
    return step * (float(bias) + 2 * above)


def _smooth_size(number: CellNumber, bias: float) -> float:
    width = _width(number)
    if number.law == "gaussian":
        return normal_size(width, bias)
    return bias + width * math.exp(-bias / width)


def chance_below(number: CellNumber, limit: Fraction) -> float:
    """Return Pr[|Z + b| < limit], the limit in units."""
    bias = abs(number.bias / number.step)
    last = math.ceil(limit / number.step) - 1
    return _within(number, int(bias), last)


def reach(number: CellNumber, confidence: float) -> float:
    """Return the least w with Pr[|Z + b| <= w] >= confidence, in units."""
    bias = int(abs(number.bias / number.step))
    far = 10**6 if students.nu_of(number.law) else 40
    low, high = -1, bias + int(far * _width(number)) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _within(number, bias, middle) >= confidence else (middle, high)
    return high * float(number.step)


def _within(number: CellNumber, bias: int, last: int) -> float:
    """Return Pr[|Z + b| <= last], for whole numbers of steps."""
    return 0.0 if last < 0 else 1 - _tail(number, last - bias + 1) - _tail(number, last + bias + 1)


def _tail(number: CellNumber, start: int) -> float:
    if start < 1:
        return 1 - _tail(number, 1 - start)
    if students.nu_of(number.law):
        return students.tail(number.law, number.spread, number.step, start)
    width = _width(number)
    if width > _MOST_STEPS:
        score = (start - 0.5) / width
        is_gaussian = number.law == "gaussian"
        return math.erfc(score / math.sqrt(2)) / 2 if is_gaussian else math.exp(-score) / 2
    tails, _ = _summed(number.law, number.spread, number.step)
    return float(tails[start]) if start < len(tails) else 0.0


# -- averages ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mean:
    """An average of a cell: what it is, what clamping adds, and the delta method's error.

    `total` and `count` are what the deviations of the two noisy numbers add to it.
    """

    true: float
    bias: float
    total: float
    count: float
    nu: int

    def size(self, bias: float) -> float:
        """Return E|error + b|; tapered totals have no bias."""
        if self.nu:
            chances, sizes = self._given()
            return float(chances @ [normal_size(self.count, each) for each in sizes])
        return normal_size(math.hypot(self.total, self.count), bias)

    def below(self, limit: float) -> float:
        """Return Pr[|error| < limit]."""
        if self.nu:
            chances, sizes = self._given()
            return float(chances @ [normal_below(self.count, each, limit) for each in sizes])
        return normal_below(math.hypot(self.total, self.count), self.bias, limit)

    def _given(self) -> tuple[Floats, Floats]:
        """Return chances and sizes of Student noise: sqrt(nu) tan(a) has the density cos(a)^(nu-1).

        With the deviation d the noise is d sqrt(nu - 2) tan(a).
        """
        chances, tangents = _student_points(self.nu)
        return chances, self.total * math.sqrt(self.nu - 2) * tangents


@lru_cache
def _student_points(nu: int) -> tuple[Floats, Floats]:
    """Return the chances of the angles of Student noise, and their tangents."""
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    angles = (points + 1) * math.pi / 4
    chances = weights * np.cos(angles) ** (nu - 1)
    return chances / chances.sum(), np.tan(angles)


def mean_of(total: CellNumber, count: CellNumber, centre: Fraction) -> Mean | None:
    """Return an average by the delta method; None without a value.

    A total about a centre c is S - c n.
    """
    if not count.true:
        return None
    size = count.true
    offset = total.true / size - centre
    answered = offset + total.bias / size
    sums = by_hand.variance(total.law, total.spread, total.step)
    counts = float(answered) ** 2 * by_hand.variance(count.law, count.spread, count.step)
    true, bias = float(total.true / size), float(total.bias / size)
    total_part, count_part = (math.sqrt(each) / float(size) for each in (sums, counts))
    return Mean(true, bias, total_part, count_part, students.nu_of(total.law))


def normal_size(sigma: float, bias: float) -> float:
    """Return E|N + b| of normal noise."""
    if not sigma:
        return abs(bias)
    score = abs(bias) / sigma
    density = math.exp(-(score**2) / 2) / math.sqrt(2 * math.pi)
    return 2 * sigma * density + abs(bias) * math.erf(score / math.sqrt(2))


def normal_below(sigma: float, bias: float, limit: float) -> float:
    """Return Pr[|N + b| < limit]."""
    if not sigma:
        return float(abs(bias) < limit)
    root = sigma * math.sqrt(2)
    return (math.erf((limit - bias) / root) + math.erf((limit + bias) / root)) / 2
