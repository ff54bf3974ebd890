"""Answers with 0 in the place of what noise made negative."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from perrecord.release.processing.step import Step
from perrecord.release.spec.models import PostProcessing
from perrecord.released.columns import Released


@dataclass(frozen=True, slots=True)
class Flooring(Step):
    """`floor_at_zero: true`."""

    ending: ClassVar[str] = "_floored"

    @classmethod
    def asked(cls, entry: PostProcessing) -> Self | None:
        """Return the step as a spec asks for it; None if it does not."""
        return cls() if entry.floor_at_zero else None

    def values(self, column: Released) -> pa.Array | None:
        """Return counts, totals and averages without what is negative."""
        return column.floored()

    def described(self, answer: str) -> str:
        """Return what the column beside an answer holds, for people."""
        return f"{answer}, taken as 0 where the noise made it negative; biased"

    def words(self, quoted: Callable[[str], str]) -> str:  # noqa: ARG002 - it names no answer
        """Return what the step does, for the methodology."""
        return (
            f"Columns that end in `{self.ending}` hold 0 where noise made an answer negative, "
            "which makes them too large on average."
        )
