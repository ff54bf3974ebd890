"""The delta curve of a key selection as plain numbers, for readers without special functions (T9).

A curve lists points (m, delta): a record of m pieces, alone in its key, is revealed with at most
the delta of the first point whose m is not below its own; beyond the last point with at most 1.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from perrecord.exact import ceil_div
from perrecord.laws import DiscreteGaussian
from perrecord.policy.slots import Slot

MOST_POINTS = 2000
_LAST = 1 - Fraction(1, 10**9)
_LEAST = Decimal("1e-30")
_TWELVE_DIGITS = Context(prec=12, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Curve:
    """delta(m) = Pr[Z >= threshold - m] for a selection of this rho and threshold, rounded up.

    >>> curve = curve_of(Slot.of("0.1", ["county"], None, 13, None))
    >>> [f"{float(curve.at(pieces)):.2g}" for pieces in (1, 5, 10, 20, 1000)]
    ['1.1e-07', '0.00036', '0.13', '1', '1']
    """

    rho: Fraction
    threshold: int
    points: tuple[tuple[int, Decimal], ...]

    def at(self, pieces: int) -> Fraction:
        """Return the published delta of a record of this many pieces; never below the true one."""
        place = bisect_left(self.points, pieces, key=lambda point: point[0])
        return Fraction(self.points[place][1]) if place < len(self.points) else Fraction(1)


def curve_of(slot: Slot) -> Curve:
    """Return the curve of a slot: every m where that is few enough, else evenly spaced ones."""
    return _curve(slot.rho, slot.threshold)


def together(deltas: Iterable[Fraction]) -> Fraction:
    """Return 1 - prod(1 - delta), exactly: several selections of one release (T4)."""
    kept = Fraction(1)
    for delta in deltas:
        kept *= 1 - delta
    return 1 - kept


@lru_cache(maxsize=64)
def _curve(rho: Fraction, threshold: int) -> Curve:
    law = DiscreteGaussian.for_zcdp(rho)
    last = max(1, threshold - law.tail_point(_LAST) + 1)  # the first m beyond 1 - 1e-9
    stride = ceil_div(last, MOST_POINTS)
    sizes = sorted({1, last, *range(stride, last, stride)})
    tiny = law.tail_point(Fraction(_LEAST))  # beyond it the exact tails cost time and tell nothing
    return Curve(
        rho,
        threshold,
        tuple(
            [(m, _LEAST if threshold - m >= tiny else _delta(law, threshold - m)) for m in sizes]
        ),
    )


def _delta(law: DiscreteGaussian, start: int) -> Decimal:
    """Return Pr[Z >= start] to twelve digits, rounded up."""
    tail = law.tail(start).upper
    shown = _TWELVE_DIGITS.divide(Decimal(tail.numerator), Decimal(tail.denominator))
    return min(Decimal(1), shown).normalize()
