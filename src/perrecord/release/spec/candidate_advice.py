"""Hints about the candidates of medians and quantiles: what few, distant or missing ones do."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from perrecord.exact import text
from perrecord.release.spec.answers import Candidates
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found
from perrecord.release.spec.problems import Path as Place
from perrecord.release.spec.questions import CandidatesEntry

_FEW = 10
_FAR = 3


def candidate_advice(spec: Spec) -> Iterator[Found]:
    """Yield hints about the candidates and levels of every quantile."""
    for place, query in enumerate(spec.queries):
        here: Place = ("queries", place)
        every: dict[Place, CandidatesEntry | None] = {
            (*here, "answers", name, "candidates"): answer.candidates
            for name, answer in (query.answers or {}).items()
        }
        for name, entry in (query.candidates or {}).items():
            every[(*here, "candidates", name)] = entry
        for path, candidates in every.items():
            if candidates is not None:
                yield from ((path, words) for words in _hints(sorted(Candidates(candidates))))
        for name, answer in (query.answers or {}).items():
            if answer.level in (0, 1):
                yield (*here, "answers", name, "level"), _at_an_end(answer.level)


def _hints(candidates: list[Fraction]) -> Iterator[str]:
    if len(candidates) < _FEW:
        yield (
            f"{len(candidates)} candidates; the answer is one of them, however far it lies from "
            "the truth. More cost nothing."
        )
    else:
        for low, high in pairwise(candidates):
            if low > 0 and _FAR * low.numerator * high.denominator < (
                high.numerator * low.denominator
            ):
                yield (
                    f"no candidate lies between {text(low)} and {text(high)}; a quantile between "
                    "them is answered by the one that is nearer in rank. More cost nothing."
                )
                break
    if candidates and candidates[0] > 0:
        yield (
            "0 is not among the candidates; where many records share a value, such as 0, and it is "
            "the quantile, only that value as a candidate can say so."
        )


def _at_an_end(level: Fraction) -> str:
    side, end = ("at or below", "smallest") if level == 0 else ("at or above", "largest")
    near = "0.01" if level == 0 else "0.99"
    return (
        f"every candidate {side} the {end} value is as good an answer at the level {text(level)}, "
        f"however far away; ask for {near}, or end the candidates where values do."
    )
