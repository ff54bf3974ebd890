"""How far a number may be relied on, in words, by its relative standard error."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.exact import Exact, text
from perrecord.release.processing.step import Added, ForetoldNumber, TableStep
from perrecord.release.spec import Workload
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Released
from perrecord.released.derived import Computed, Uncertain, evaluated, uncertain
from perrecord.released.numbers import floats

WORDS = ("reliable", "use with caution", "unreliable")


@dataclass(frozen=True, slots=True)
class Status(TableStep):
    """`status: {reliable: 0.1, caution: 0.3}`: relative standard errors up to which a word holds.

    Both the number and the standard error are published, so that the word tells nothing more. In
    the place of a confidential standard error stands the published bound on it.
    """

    ending: ClassVar[str] = "_status"
    reliable: Fraction
    caution: Fraction
    confidence: Exact | None
    """That of the intervals which are published, and of bounds on confidential errors."""

    @classmethod
    def asked(cls, workload: Workload) -> Self | None:
        """Return the step as a workload asks for it; None if it does not."""
        found, outputs = workload.post_processing.status, workload.outputs
        confidence = outputs.confidence if outputs.intervals else None
        return None if found is None else cls(found.reliable, found.caution, confidence)

    def adds_to(self, number: ForetoldNumber) -> bool:
        """Tell whether a number has a standard error, or a bound on it."""
        return bool({"_se", "_sd_at_most"} & {*number.beside})

    def added(self, column: Released | Computed) -> Iterator[Added]:
        """Yield the words beside whatever has standard errors, or bounds on them."""
        numbers = self._numbers(column)
        if numbers is not None:
            words = pa.DictionaryArray.from_arrays(self.grades(numbers), pa.array(WORDS))
            yield self.ending, words.cast(pa.string())

    def grades(self, numbers: Uncertain) -> npt.NDArray[np.int8]:
        """Return the places of words in `WORDS`; what has no number or error is unreliable."""
        sizes = np.abs(numbers.values)
        is_reliable = numbers.errors <= float(self.reliable) * sizes
        is_usable = numbers.errors <= float(self.caution) * sizes
        return np.where(is_reliable, 0, np.where(is_usable, 1, 2)).astype(np.int8)

    def _numbers(self, column: Released | Computed) -> Uncertain | None:
        """Return numbers with errors, or bounds on them; None where neither is published."""
        match column:
            case Chosen():
                return None
            case Blurred():
                bounds = dict(column.beside(self.confidence)).get("_sd_at_most")
                values = floats(column.numbers) * float(column.step)
                return None if bounds is None else Uncertain(values, bounds.to_numpy(False))
            case Computed():
                found = evaluated(column.formula, column.given, 0.5)
                return Uncertain(found.values, found.errors)
        return uncertain(column)

    def described(self, answer: str) -> Mapping[str, str]:
        """Return what the column beside an answer holds, for people."""
        return {
            self.ending: f"how far {answer} may be relied on: {WORDS[0]}, {WORDS[1]} or "
            f"{WORDS[2]}, by the standard error of its noise, or the bound on it, relative to it"
        }

    def words(self, quoted: Callable[[str], str]) -> str:  # noqa: ARG002 - it names no answer
        """Return what the step does, for the methodology."""
        first, second = (f"{text(100 * each)} %" for each in (self.reliable, self.caution))
        return (
            f"Columns that end in `{self.ending}` say how far a number may be relied on: "
            f"{WORDS[0]} if its standard error is at most {first} of it, {WORDS[1]} if it is at "
            f"most {second}, {WORDS[2]} beyond, and where there is no standard error; where "
            "that is confidential, by the bound on it that is given beside the number. They "
            "are about the noise alone, not about cut values, sampling or errors in the data."
        )
