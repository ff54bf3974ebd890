"""The formulas behind the figures, written out once more: laws summed term by term, T18 and T19."""

import math
from fractions import Fraction
from functools import lru_cache

from perrecord.lab.audit.shown import students

_REACH = 40


@lru_cache(maxsize=4096)
def _masses(law: str, spread: Fraction, step: Fraction) -> tuple[int, tuple[float, ...], float]:
    """Return the reach of a law in steps, its masses from 0 on, and the sum over all integers."""
    if law == "gaussian":
        width = math.sqrt(spread / step**2)
        reach = int(_REACH * width) + 2
        falls = [-(k * k) / (2 * width * width) for k in range(reach + 1)]
    else:
        width = float(spread / step)
        reach = int(_REACH * width) + 2
        falls = [-k / width for k in range(reach + 1)]
    masses = tuple(math.exp(each) for each in falls)
    return reach, masses, masses[0] + 2 * math.fsum(masses[1:])


@lru_cache(maxsize=4096)
def variance(law: str, spread: Fraction, step: Fraction) -> float:
    """Return the variance of discrete noise, in the units of the step.

    >>> round(variance("gaussian", Fraction(1250), Fraction(1)), 6)
    1250.0
    """
    if students.nu_of(law):
        return students.variance(law, spread)
    if _is_wide(law, spread, step):  # the next term is below exp(-2 pi^2 10^6)
        scale = float(spread)
        return scale if law == "gaussian" else 2 * scale**2 - float(step) ** 2 / 6
    _, masses, whole = _masses(law, spread, step)
    squares = math.fsum(k * k * mass for k, mass in enumerate(masses))
    return 2 * squares / whole * float(step) ** 2


def _is_wide(law: str, spread: Fraction, step: Fraction) -> bool:
    return (spread / step**2 if law == "gaussian" else (spread / step) ** 2) > 10**6


def tail(spread: Fraction, start: int) -> float:
    """Return Pr[Z >= start] of discrete Gaussian noise on the integers."""
    if start < 1:
        return 1 - tail(spread, 1 - start)
    reach, masses, whole = _masses("gaussian", spread, Fraction(1))
    return math.fsum(masses[start:]) / whole if start <= reach else 0.0


@lru_cache(maxsize=4096)
def half_width(law: str, spread: Fraction, step: Fraction, confidence: float) -> int | None:
    """Return the least c, in steps, with Pr[|Z| <= c] >= confidence; None for wide laws."""
    if students.nu_of(law):
        return students.half_width(law, spread, step, confidence)
    if _is_wide(law, spread, step):
        return None
    _, masses, whole = _masses(law, spread, step)
    reached, count = masses[0], 0
    while reached < confidence * whole:
        count += 1
        reached += 2 * masses[count]
    return count


@lru_cache(maxsize=4096)
def epsilon(loss: float, delta: float = 1e-6) -> float:
    """Return the least epsilon that T18's bound gives, by looking ever closer."""
    if loss == 0:
        return 0.0

    def bound(above: float) -> float:
        order = 1 + above
        inner = math.log(1 / delta) + order * math.log(above / order) - math.log(above)
        return order * loss + inner / above

    low, high = -30.0, 30.0
    for _ in range(60):
        grid = [low + (high - low) * k / 24 for k in range(25)]
        best = min(range(25), key=lambda k: bound(math.exp(grid[k])))
        low, high = grid[max(0, best - 1)], grid[min(24, best + 1)]
    return max(0.0, bound(math.exp((low + high) / 2)))


def power(loss: float, level: float, delta: float = 0.0) -> float:
    """Return T19's bound on the power of a test, with what key selection reveals on top."""
    if math.log(1 / level) < loss:
        return 1.0
    plain = math.exp(-((math.sqrt(math.log(1 / level)) - math.sqrt(loss)) ** 2))
    return min(1.0, plain + delta)


def odds(loss: float, delta: float = 0.0) -> float:
    """Return T19's bound on the odds of the right answer, for both right answers."""
    if delta >= 0.05:
        return math.inf
    exponent = loss + 2 * math.sqrt(loss * math.log(1 / (0.05 - delta)))
    return math.exp(exponent) / (1 - delta) if exponent < 709 else math.inf


def gaussian_power(loss: float) -> float:
    """Return the power at 5 % of the best test of a Gaussian shift: 1 - Phi(1.645 - mu)."""
    return math.erfc((1.6448536269514722 - math.sqrt(2 * loss)) / math.sqrt(2)) / 2


def least_loss(change: float, variance: float) -> float:
    """Return T30's bound, 2 t atanh(t), with 1 - t = 4V / (r^2 + 4V) / (1 + t).

    >>> round(least_loss(50_000, 35.4**2), 1), least_loss(0, 1)
    (14.5, 0.0)
    """
    whole = change**2 + 4 * variance
    t = change / math.sqrt(whole)
    return t * math.log((1 + t) ** 2 * whole / (4 * variance))
