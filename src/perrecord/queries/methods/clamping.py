"""Clamping: a record's value is cut to [low, high] (T12)."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.exact import text
from perrecord.queries.methods.method import Method


@dataclass(frozen=True, slots=True)
class Clamping(Method):
    """Values are cut to [low, high]: global zCDP, top-coding (T12). A mean is centred first."""

    low: Fraction
    high: Fraction

    def sensitivity(self, measure: str | None, *, is_centred: bool = False) -> Fraction:  # noqa: ARG002
        """Return the most that one record adds, in the measure's own units."""
        if is_centred:
            return (self.high - self.low) / 2
        return max(abs(self.low), abs(self.high))

    def grid_numbers(self, measure: str) -> tuple[tuple[str, Fraction], ...]:  # noqa: ARG002
        """Return the numbers that must be multiples of the resolution, each with its word."""
        return ("bound", self.low), ("bound", self.high)

    @property
    def option(self) -> str:
        """The option of an answer by which it is given."""
        return "clamp"

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """What values are cut to before they are added."""
        return self.low, self.high

    @property
    def kind(self) -> str:
        """What the method is called where answers are told apart."""
        return "clamped"

    def words(self, measure: str) -> str:  # noqa: ARG002
        """Return how the method treats records, for people."""
        return f"values cut to {text(self.low)} to {text(self.high)}"
