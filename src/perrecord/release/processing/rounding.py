"""Answers rounded to decimals, tens or hundreds, exactly."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from perrecord.release.processing.step import Added, ForetoldNumber, TableStep
from perrecord.release.spec import Workload
from perrecord.released.columns import Released
from perrecord.released.derived import Computed


@dataclass(frozen=True, slots=True)
class Rounding(TableStep):
    """`round: {emp: -2}`: to so many decimals, or to tens, hundreds and so on if negative."""

    ending: ClassVar[str] = "_rounded"
    places: Mapping[str, int]

    @classmethod
    def asked(cls, workload: Workload) -> Self | None:
        """Return the step as a workload asks for it; None if it does not."""
        places = workload.post_processing.round
        return cls(places) if places else None

    def adds_to(self, number: ForetoldNumber) -> bool:
        """Tell whether a number is to be rounded."""
        return number.name in self.places

    def added(self, column: Released | Computed) -> Iterator[Added]:
        """Yield an answer rounded, if that was asked for."""
        places = self.places.get(column.name)
        if places is not None:
            yield self.ending, column.rounded(places)

    def described(self, answer: str) -> Mapping[str, str]:
        """Return what the column beside an answer holds, for people."""
        if answer not in self.places:
            return {}
        return {
            self.ending: f"{answer}, rounded to {unit_of(self.places[answer])}; errors and "
            f"intervals are of {answer} before it was rounded"
        }

    def words(self, quoted: Callable[[str], str]) -> str:
        """Return what the step does, for the methodology."""
        shown = "; ".join(
            f"{quoted(name)} to {unit_of(places)}" for name, places in self.places.items()
        )
        return (
            f"Columns that end in `{self.ending}` hold rounded answers, ties away from zero: "
            f"{shown}. Errors and intervals are of the answers before they were rounded."
        )


def unit_of(places: int) -> str:
    """Return what an answer is rounded to, for people.

    >>> unit_of(-2), unit_of(0), unit_of(3)
    ('the nearest 100', 'the nearest whole number', '3 decimals')
    """
    if places == 0:
        return "the nearest whole number"
    return f"the nearest {10**-places:,}" if places < 0 else f"{places} decimals"
