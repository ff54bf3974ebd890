"""Answers with 0 in the place of what noise made negative."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from perrecord.release.processing.step import Added, ForetoldNumber, TableStep
from perrecord.release.spec import Workload
from perrecord.released.columns import Released
from perrecord.released.derived import Computed


@dataclass(frozen=True, slots=True)
class Flooring(TableStep):
    """`floor_at_zero: true`."""

    ending: ClassVar[str] = "_floored"

    @classmethod
    def asked(cls, workload: Workload) -> Self | None:
        """Return the step as a workload asks for it; None if it does not."""
        return cls() if workload.post_processing.floor_at_zero else None

    def adds_to(self, number: ForetoldNumber) -> bool:
        """Tell whether noise can have made a number negative."""
        return number.is_noisy

    def added(self, column: Released | Computed) -> Iterator[Added]:
        """Yield counts, totals and averages without what is negative."""
        values = column.floored()
        if values is not None:
            yield self.ending, values

    def described(self, answer: str) -> Mapping[str, str]:
        """Return what the column beside an answer holds, for people."""
        return {self.ending: f"{answer}, taken as 0 where the noise made it negative; biased"}

    def words(self, quoted: Callable[[str], str]) -> str:  # noqa: ARG002 - it names no answer
        """Return what the step does, for the methodology."""
        return (
            f"Columns that end in `{self.ending}` hold 0 where noise made an answer negative, "
            "which makes them too large on average."
        )
