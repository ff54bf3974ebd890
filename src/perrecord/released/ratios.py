"""Confidence intervals of averages, from the laws of the noise in their totals and counts (T13).

An average theta = S / C is seen as T = S + Z1 and N = C + Z2. Whatever S and C are, T - theta N is
Z1 - theta Z2, so {theta: |T - theta N| <= q(theta)} holds the truth with probability 1 - a as soon
as Pr[|Z1 - theta Z2| > q(theta)] <= a: Fieller's interval. Two bounds serve as q, at every scale of
the noise; both are made of pieces c + d |theta|, and each piece gives its ends in closed form:

- |Z1| <= h1 and |Z2| <= h2 at once, each by its exact law, a shared between them in a few ways;
- Z plus a uniform number between -1/2 and 1/2 lies closer to 0 than a law without steps, a normal
  or Laplace one a little wider than Z. So q is the quantile of such a sum plus (1 + |theta|) / 2.
  It is a norm of the two scales, below the chords between its values at some slopes.

Everything is in steps of the total, in floats, vectorised. docs/theory.md has the proof.
"""

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from perrecord.exact import float_up
from perrecord.laws import Law
from perrecord.laws.widths import half_width

Floats = npt.NDArray[np.float64]
_Pieces = list[tuple[Floats, Floats]]
"""Bounds c + d |theta|: c and d by law of the total and by law of the count."""

Which = npt.NDArray[np.intp] | int
"""The law of each cell, or 0 where they share one."""

_SHARES = (Fraction(1, 2), Fraction(1, 20), Fraction(19, 20))
"""What a total gets of the chance to miss, where both parts are bounded apart."""

_CHORDS = 8
_AT_ONCE = 1 << 15
_SLACK = 1e-15


def ratio_ends(
    totals: Floats,
    total_laws: tuple[Law, ...],
    which_total: npt.NDArray[np.intp],
    counts: Floats,
    count_laws: tuple[Law, ...],
    which_count: npt.NDArray[np.intp],
    confidence: Fraction,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of totals / counts; infinite where the count may be 0."""
    bounds = [[_apart(total_laws, count_laws, confidence, share)] for share in _SHARES]
    together = _together(total_laws, count_laws, confidence)
    if together:
        bounds.append(together)
    low, high = np.empty(len(totals)), np.empty(len(totals))
    for start in range(0, len(totals), _AT_ONCE):
        cells = slice(start, start + _AT_ONCE)
        first = which_total[cells] if len(total_laws) > 1 else 0
        second = which_count[cells] if len(count_laws) > 1 else 0
        low[cells], high[cells] = _ends(totals[cells], counts[cells], bounds, first, second)
    return low - _SLACK * np.abs(low), high + _SLACK * np.abs(high)


def _ends(
    total: Floats, count: Floats, bounds: list[_Pieces], first: Which, second: Which
) -> tuple[Floats, Floats]:
    """Return the ends of some cells. Every bound holds, so all do; of a bound its widest piece."""
    low, high = np.full(len(total), -np.inf), np.full(len(total), np.inf)
    for pieces in bounds:
        below, above = np.full(len(total), np.inf), np.full(len(total), -np.inf)
        for fixed, slope in pieces:
            c, d = fixed[first], slope[second]
            more, less = count + d, count - d
            with np.errstate(divide="ignore", invalid="ignore"):
                # The least theta with total - theta count <= c + d |theta|, and the greatest.
                rest = total - c
                np.minimum(below, rest / np.where(rest >= 0, more, less), out=below)
                rest = total + c
                np.maximum(above, rest / np.where(rest >= 0, less, more), out=above)
            is_open = less <= 0
            if is_open.any():
                below[is_open], above[is_open] = -np.inf, np.inf
        np.maximum(low, below, out=low)
        np.minimum(high, above, out=high)
    return low, high


def _apart(
    total_laws: tuple[Law, ...], count_laws: tuple[Law, ...], confidence: Fraction, share: Fraction
) -> tuple[Floats, Floats]:
    """Return the bound h1 + h2 |theta|, each half width by its exact law."""
    miss = 1 - confidence
    return (
        _half_widths(total_laws, 1 - share * miss),
        _half_widths(count_laws, 1 - (1 - share) * miss),
    )


def _half_widths(laws: tuple[Law, ...], confidence: Fraction) -> Floats:
    return np.array([float_up(Fraction(half_width(law, confidence))) for law in laws])


def _together(
    total_laws: tuple[Law, ...], count_laws: tuple[Law, ...], confidence: Fraction
) -> _Pieces:
    """Return the pieces of the quantile of both parts together.

    There are none if their laws differ in kind, or are of a kind without a law without steps.
    """
    totals = [law.stepless for law in total_laws]
    counts = [law.stepless for law in count_laws]
    families = {None if each is None else each.family for each in (*totals, *counts)}
    if len(families) != 1 or None in families:
        return []
    scales, slopes = (
        np.array([each.scale for each in some if each is not None]) for some in (totals, counts)
    )
    return [
        (first * scales + 0.5, second * slopes + 0.5)
        for first, second in _chords(float(confidence), families == {"normal"})
    ]


@lru_cache(maxsize=64)
def _chords(confidence: float, is_normal: bool) -> list[tuple[float, float]]:
    """Return (A, B) with quantile of |x L1 + y L2| <= max of A x + B y, for all x, y >= 0."""
    angles = [math.pi / 2 * index / _CHORDS for index in range(_CHORDS + 1)]
    points = [(math.cos(angle), math.sin(angle)) for angle in angles]
    heights = [_quantile(*point, confidence, is_normal) for point in points]
    found = []
    for (x, y), (u, v), one, two in zip(points, points[1:], heights, heights[1:], strict=False):
        area = x * v - y * u
        found.append(((one * v - two * y) / area, (two * x - one * u) / area))
    return found


def _quantile(x: float, y: float, confidence: float, is_normal: bool) -> float:
    """Return what |x L1 + y L2| stays within with this confidence, x^2 + y^2 = 1."""
    if is_normal:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    small, large = sorted((max(x, 1e-9), max(y, 1e-9)))

    def outside(size: float) -> float:
        if large - small < 1e-6 * large:
            return (1 + size / (2 * large)) * math.exp(-size / large)
        ends = large**2 * math.exp(-size / large) - small**2 * math.exp(-size / small)
        return ends / (large**2 - small**2)

    low, high = 0.0, 1.0
    while outside(high) > 1 - confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle) > 1 - confidence else (low, middle)
    return high
