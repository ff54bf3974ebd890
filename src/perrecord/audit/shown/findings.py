"""What a recomputation finds: a figure that agrees, or in words how it does not."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from perrecord.audit.figures import Figures, FiguresTable, number

_MOST_TOLD = 20
_TOLERANCE = 1e-7
_MOST_ABOVE = 0.02
"""What is rounded up to three digits is at most one per cent too large."""


@dataclass(slots=True)
class Findings:
    """How many figures of each kind were compared, and the first that were wrong."""

    made: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)
    where: str = ""

    def add(self, what: str, *, agrees: bool, shown: Any, expected: Any) -> None:
        """Count one comparison."""
        self.made[what] += 1
        if not agrees:
            self.wrong[what] += 1
            if len(self.failures) < _MOST_TOLD:
                self.failures.append(f"{self.where}: {what}: shown {shown}, should be {expected}")

    def equal(self, what: str, shown: Any, expected: Any) -> None:
        """Compare what must be the same to the last digit."""
        self.add(what, agrees=shown == expected, shown=shown, expected=expected)

    def close(self, what: str, shown: Any, expected: Any, within: float = _TOLERANCE) -> None:
        """Compare floats; None and what is beyond floats must be so on both sides."""
        self.add(what, agrees=_is_close(shown, expected, within), shown=shown, expected=expected)

    def at_most(self, what: str, shown: float, bound: float, above: float = _MOST_ABOVE) -> None:
        """Check a printed limit: never below the bound, and above it by its last digit only."""
        is_near = bound * (1 - _TOLERANCE) <= shown <= bound * (1 + above) + 1e-12
        self.add(what, agrees=shown == bound or is_near, shown=shown, expected=f"{bound} or so")

    def figures(self, told: list[tuple[str, str]]) -> Figures:
        """Return what was counted, as text."""
        rows = tuple(
            (what, number(count), number(self.wrong[what]))
            for what, count in sorted(self.made.items())
        )
        figures = (
            ("figures recomputed", number(sum(self.made.values()))),
            ("figures that differ", number(sum(self.wrong.values()))),
            *told,
        )
        table = FiguresTable("Figures by kind", ("figure", "recomputed", "differ"), rows)
        return Figures("figures", figures, (table,), tuple(self.failures))


def _is_close(shown: Any, expected: Any, within: float) -> bool:
    if shown is None or expected is None:
        return shown is expected or (shown is None and not math.isfinite(expected))
    return math.isclose(shown, expected, rel_tol=within, abs_tol=1e-300)


def printed(text: str) -> float:
    """Return a number as people are shown it: 1,235 or 1.2e+18 or 7/3 or 52.7 %."""
    plain = text.replace(",", "").removesuffix("%").strip()
    return math.inf if plain == "inf" else float(Fraction(plain))


def numbers_after(pattern: str, text: str) -> list[float]:
    """Return the numbers that a pattern's groups find in a text, once; none if it is not there."""
    found = re.search(pattern, text)
    return [] if found is None else [printed(each) for each in found.groups()]
