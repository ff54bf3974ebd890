"""Counting: a record adds 0 or 1 (T10)."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.queries.methods.method import Method


@dataclass(frozen=True, slots=True)
class Counting(Method):
    """Each record adds 0 or 1."""

    def sensitivity(self, measure: str | None, *, is_centred: bool = False) -> Fraction:  # noqa: ARG002
        """Return the most that one record adds."""
        return Fraction(1)

    @property
    def is_tight(self) -> bool:
        """Whether the policy is the true loss of every record, and not only a bound on it."""
        return True
