"""What was found about one record: what it lost, what its policy says, and what else is wrong."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.exact import text

NOBODY = -1
"""In place of a record's number, where none was left out."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question asked of one neighbouring pair."""

    what: str
    record: int
    """The number of the record that was left out."""
    lost: Fraction = Fraction(0)
    allowed: Fraction = Fraction(0)
    is_tight: bool = False
    """Whether all that is allowed must be lost: accounting is exact, and the record takes part."""
    fault: str | None = None
    numbers: int = 0
    """How many released numbers were looked at."""

    def problem(self) -> str | None:
        """Return what is wrong, if anything is."""
        if self.fault is not None:
            return f"{self.what}: {self.fault}"
        if self.lost > self.allowed:
            return f"{self.what}: lost {text(self.lost)}, the policy says {text(self.allowed)}"
        if self.is_tight and self.lost != self.allowed:
            return f"{self.what}: lost {text(self.lost)}, exactly {text(self.allowed)} was said"
        return None
