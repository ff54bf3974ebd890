"""Half widths and deviations of laws, remembered: thousands of cells share a few laws."""

from fractions import Fraction
from functools import lru_cache

from perrecord.exact import float_up, sqrt_up
from perrecord.laws.law import Law


@lru_cache(maxsize=8192)
def half_width(law: Law, confidence: Fraction) -> int:
    """Return the least c >= 0 with Pr[|Z| <= c] >= confidence."""
    return law.half_width(confidence)


@lru_cache(maxsize=8192)
def deviation(law: Law) -> float:
    """Return the standard deviation of a noise law."""
    return float_up(sqrt_up(law.variance().upper))
