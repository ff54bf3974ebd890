"""One step of post-processing: the columns that it adds beside an answer, and its words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.release.spec import Workload
from perrecord.released.columns import Released
from perrecord.released.derived import Computed

Added = tuple[str, pa.Array | pa.ChunkedArray]
"""A column that is added beside an answer: how its name ends, and its values."""

Making = Callable[[], Iterator[Added]]
"""What makes the columns beside an answer when its table is written, so that few are held."""

AnswerPlace = tuple[int, str]
"""An answer of a workload: the place of its grouping in the plan, and its name."""


@dataclass(frozen=True, slots=True)
class AddedAcross:
    """What a step that looks across tables adds, and what it found."""

    beside: Mapping[AnswerPlace, Making]
    """Beside answers of tables that were asked for."""
    following: Mapping[str, Mapping[str, Making]]
    """Of tables that follow, by their names and those of answers."""
    warnings: tuple[str, ...] = ()
    """What is wrong with the release, as far as its published numbers show it."""


@dataclass(frozen=True, slots=True)
class ProcessingStep(ABC):
    """What every step says of itself, in its own file."""

    @classmethod
    @abstractmethod
    def asked(cls, workload: Workload) -> Self | None:
        """Return the step as a workload asks for it; None if it does not."""

    @abstractmethod
    def described(self, answer: str) -> Mapping[str, str]:
        """Return what the columns beside an answer hold, by the endings of their names."""

    @abstractmethod
    def words(self, quoted: Callable[[str], str]) -> str:
        """Return what the step does, for the methodology; names are quoted by the caller's rule."""


@dataclass(frozen=True, slots=True)
class ForetoldNumber:
    """What is known of an answer or a derived number before it is computed."""

    name: str
    beside: tuple[str, ...]
    """The endings of what stands beside it."""
    is_noisy: bool
    """Whether noise was added to it; not to choices, nor by itself to what is derived."""


@dataclass(frozen=True, slots=True)
class TableStep(ProcessingStep):
    """A step that looks at one answer of one table; tables are written as they come."""

    ending: ClassVar[str]
    """How the name of its column ends."""

    @abstractmethod
    def adds_to(self, number: ForetoldNumber) -> bool:
        """Tell, before anything is computed, whether a column is added beside a number."""

    @abstractmethod
    def added(self, column: Released | Computed) -> Iterator[Added]:
        """Yield what is added beside an answer."""


@dataclass(frozen=True, slots=True)
class WorkloadStep(ProcessingStep):
    """A step that looks across tables: all of them are held until the last is there."""

    @abstractmethod
    def added(self, answers: Sequence[Answers]) -> AddedAcross:
        """Return what makes columns, from the answers of every grouping."""
