"""Figures of blurred totals in released tables: ends and bounds, by bisection of what they mean.

With A0 / nu = s^2 and t the Student quantile, a total S of values that are not negative has noise
of at most t sqrt(s^2 + by^2 S^2), but for the confidence that t is for (T28). In steps, half a step
apart from the noisy number y, the ends are where S + t sqrt(...) is y - 1/2, and S - t sqrt(...) is
y + 1/2.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown import students
from perrecord.lab.audit.shown.document import Json
from perrecord.lab.audit.shown.findings import Comparisons

_CONFIDENCE = 0.95
_ENDS = ("_se", "_low", "_high", "_sd_at_most")


def check_grid(findings: Comparisons, shown: Fraction, step: Fraction) -> Fraction:
    """Compare a number with the grid; return what it may be off by, as floats are."""
    slack = step / 10**7 + abs(shown) / 2**50  # columns of fractions are floats
    steps = shown / step
    is_whole = abs(steps - round(steps)) * step <= slack
    findings.add("tables: on the grid", agrees=is_whole, shown=shown, expected=step)
    return slack


def check_number(
    findings: Comparisons, row: Mapping[str, Any], answer: str, cell: Json, *, is_signed: bool
) -> None:
    """Compare what stands beside a blurred total: ends and a bound, and no standard error."""
    step, number = Fraction(cell["step"]), Fraction(row[answer])
    slack = check_grid(findings, number, step)
    beside = {each for each in _ENDS if f"{answer}{each}" in row}
    findings.equal(
        "tables: columns of a blurred total", beside, set() if is_signed else set(_ENDS[1:])
    )
    if is_signed or beside != set(_ENDS[1:]):
        return
    nu, by = students.nu_of(cell["law"]), float(cell["blurred_by"])
    least = float(Fraction(cell["spread"]) / nu / step**2)
    t = students.quantile(nu, _CONFIDENCE)
    y = float(number / step)

    def reach(total: float) -> float:
        return t * math.sqrt(least + (by * total) ** 2)

    low = _first(lambda total: total + reach(total) >= y - 0.5)
    _end(findings, row[f"{answer}_low"], low, step, slack, -1)
    if t * by >= 1:
        open_ends = row[f"{answer}_high"], row[f"{answer}_sd_at_most"]
        findings.equal("tables: no upper end", open_ends, (None, None))
        return
    high = _first(lambda total: total - reach(total) >= y + 0.5)
    _end(findings, row[f"{answer}_high"], high, step, slack, 1)
    most = math.sqrt(nu / (nu - 2) * (least + (by * high) ** 2)) * float(step)
    findings.close("tables: bound of the deviation", row[f"{answer}_sd_at_most"], most)


def _end(
    findings: Comparisons, shown: Any, end: float, step: Fraction, slack: Fraction, side: int
) -> None:
    """Compare an end, which was widened to a whole step: -1 for the lower, 1 for the upper."""
    check_grid(findings, Fraction(shown), step)
    wanted = Fraction(end) * step
    widened = side * (Fraction(shown) - wanted)
    most = slack + abs(wanted) / 10**8
    agrees = -most <= widened < step + most
    findings.add("tables: interval of a blurred total", agrees=agrees, shown=shown, expected=end)


def _first(is_beyond: Callable[[float], bool]) -> float:
    """Return the least number from 0 on that is beyond, where all above it are."""
    low, high = 0.0, 1.0
    if is_beyond(0.0):
        return 0.0
    while not is_beyond(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high
