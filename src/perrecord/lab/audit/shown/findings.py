"""What a recomputation finds: a figure that agrees, or in words how it does not."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.figures import Figures, FiguresTable, number
from perrecord.lab.audit.shown.numerals import Expected, is_as_expected, numerals

_MOST_TOLD = 20
_TOLERANCE = 1e-7


@dataclass(slots=True)
class Comparisons:
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

    def loss(self, what: str, shown: Fraction, expected: Fraction, spare: Fraction) -> None:
        """Compare a loss that may be rounded up by a share of itself."""
        agrees = expected <= shown <= expected * (1 + spare)
        self.add(what, agrees=agrees, shown=shown, expected=expected)

    def close(self, what: str, shown: Any, expected: Any, within: float = _TOLERANCE) -> None:
        """Compare floats; None and what is beyond floats must be so on both sides."""
        self.add(what, agrees=_is_close(shown, expected, within), shown=shown, expected=expected)

    def numerals(self, what: str, text: str, expected: Sequence[Expected]) -> None:
        """Compare the numbers of a text, one after the other; there must be no more of them."""
        shown = numerals(text)
        if len(shown) != len(expected):
            self.add(what, agrees=False, shown=shown, expected=expected)
            return
        for one, wanted in zip(shown, expected, strict=True):
            self.add(what, agrees=is_as_expected(one, wanted), shown=one, expected=wanted)

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
