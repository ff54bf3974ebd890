"""One step of post-processing: the column that it adds beside an answer, and its words."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from perrecord.release.spec.models import PostProcessing
from perrecord.released.columns import Released


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """What every step says of itself, in its own file."""

    ending: ClassVar[str]
    """How the names of its columns end."""

    @classmethod
    @abstractmethod
    def asked(cls, entry: PostProcessing) -> Self | None:
        """Return the step as a spec asks for it; None if it does not."""

    @abstractmethod
    def values(self, column: Released) -> pa.Array | None:
        """Return what is added beside an answer; None if nothing is."""

    @abstractmethod
    def described(self, answer: str) -> str:
        """Return what the column beside an answer holds, for people."""

    @abstractmethod
    def words(self, quoted: Callable[[str], str]) -> str:
        """Return what the step does, for the methodology; names are quoted by the caller's rule."""
