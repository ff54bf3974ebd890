"""Logarithmic axes: which decades they span, where their ticks stand, what is written there."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_MOST_DECADES = 14
_MOST_TICKS = 7
_TICKS_WITHIN = (1, 2, 5)

_NUMBER = (
    "datum.value >= 1e15 || datum.value < 1e-4 ? format(datum.value, '.0e') : "
    "datum.value >= 1e4 ? replace(format(datum.value, '~s'), 'G', 'B') : format(datum.value, '~g')"
)
_PERCENT = (
    "datum.value >= 1e6 || datum.value < 1e-6 ? format(datum.value, '.0e') : "
    "format(datum.value * 100, ',~r') + '%'"
)


@dataclass(frozen=True, slots=True)
class AxisScale:
    """The ends of an axis, and its ticks; `zero` is where numbers that are 0 stand."""

    low: float
    high: float
    ticks: tuple[float, ...]
    zero: float | None = None

    def clipped(self, numbers: Iterable[float]) -> list[float]:
        """Return numbers with those outside moved to the ends."""
        return [min(max(number, self.low), self.high) for number in numbers]

    def axis(self, unit: str) -> dict[str, Any]:
        """Return where labels stand and how they read: as numbers, or in per cent."""
        words = _PERCENT if unit == "percent" else _NUMBER
        if self.zero is not None:
            words = f"datum.value <= {self.zero!r} ? '0' : {words}"
        return {"values": list(self.ticks), "labelExpr": words}


def log_scale(numbers: Sequence[float], *, with_zero: bool = False) -> AxisScale | None:
    """Return an axis from the decade below the least positive number to that above the largest.

    None if no number is above 0. With zero, a decade more on the left stands for numbers of 0.

    >>> log_scale([0.03, 2, 5]).ticks
    (0.01, 0.1, 1.0, 10.0)
    """
    known = [each for each in numbers if each > 0 and math.isfinite(each)]
    if not known:
        return None
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    last = max(last, first + 1)
    first = max(first, last - _MOST_DECADES)
    has_zero = with_zero and any(each <= 0 for each in numbers)
    every = 1 + (last - first) // _MOST_TICKS
    ticks = [10.0**power for power in range(last, first - 1, -every)][::-1]
    if last - first == 1:
        ticks = [k * 10.0**first for k in _TICKS_WITHIN] + [10.0**last]
    low = 10.0 ** (first - 1) if has_zero else 10.0**first
    return AxisScale(
        low,
        10.0**last,
        tuple([low, *ticks] if has_zero else ticks),
        low if has_zero else None,
    )
