"""Goals of accuracy (T22): "5% for 95% of cells" -> what is asked of which answer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InputError, ProbabilityError, listing, suggestion
from perrecord.exact import Exact, parameter, text

DEFAULT_CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Goal:
    """|error| < `within` * |true| with probability `confidence`, in one cell."""

    within: Fraction
    confidence: Fraction

    @classmethod
    def of(cls, within: Exact, confidence: Exact = DEFAULT_CONFIDENCE) -> "Goal":
        """Return the goal, or say why it is none."""
        goal = cls(parameter(within, "the error"), parameter(confidence, "the confidence"))
        if goal.within <= 0:
            raise InputError(f"the error is {within}; expected a share above 0, such as '0.1'.")
        if not 0 < goal.confidence < 1:
            raise ProbabilityError(
                f"the confidence is {confidence}; expected a number strictly between 0 and 1, such "
                'as "0.95".'
            )
        return goal

    def times(self, factor: Fraction) -> "Goal":
        """Return the goal with another error."""
        return Goal(self.within * factor, self.confidence)


@dataclass(frozen=True, slots=True)
class Target:
    """A goal for a share of the cells, of every answer or of those that `about` names.

    `about` is the name of an answer, or of a table and an answer: `county_industry.employment`.
    """

    goal: Goal
    share: Fraction
    about: str | None = None

    def __str__(self) -> str:
        """Return the target as it is written, and read by `target`."""
        goal = self.goal
        written = f"{percent(goal.within)} for {percent(self.share)} of cells"
        if goal.confidence != DEFAULT_CONFIDENCE:
            written += f" with {percent(goal.confidence)} confidence"
        return written if self.about is None else f"{self.about}: {written}"


_TARGET = re.compile(
    r"(?:(?P<about>[^:]+?)\s*:\s*)?(?P<within>[0-9.]+)\s*%\s+for\s+(?P<share>[0-9.]+)\s*%\s+of"
    r"\s+(?:the\s+)?cells(?:\s+with\s+(?P<confidence>[0-9.]+)\s*%(?:\s+(?:confidence|probability))?"
    r")?",
    re.IGNORECASE,
)


def target(written: "str | Target") -> Target:
    """Return the target that a sentence says.

    >>> found = target("employment: 5% for 95% of cells")
    >>> found.about, found.goal.within, found.share
    ('employment', Fraction(1, 20), Fraction(19, 20))
    >>> str(target("2.5 % for 90 % of the cells with 99 % confidence"))
    '2.5% for 90% of cells with 99% confidence'
    """
    if isinstance(written, Target):
        return written
    match = _TARGET.fullmatch(written.strip()) if isinstance(written, str) else None
    if match is None:
        raise InputError(
            f"the goal is {written!r}; expected something like '5% for 95% of cells' or, for one "
            "answer, 'employment: 5% for 95% of cells with 90% confidence'."
        )
    confidence = match["confidence"]
    goal = Goal.of(
        _hundredth(match["within"]),
        DEFAULT_CONFIDENCE if confidence is None else _hundredth(confidence),
    )
    share = _hundredth(match["share"])
    if not 0 < share <= 1:
        raise InputError(
            f"the goal is for {match['share']}% of cells; expected above 0 and up to 100."
        )
    return Target(goal, share, match["about"])


def target_of(targets: Sequence[Target], names: Iterable[str]) -> Target | None:
    """Return the target that holds for an answer, the most precise name first, the last if several.

    `names` are what the answer may be called, from the least precise to the most.
    """
    ranks = {None: 0} | {name: rank for rank, name in enumerate(names, 1)}
    found = [each for each in targets if each.about in ranks]
    return max(reversed(found), key=lambda each: ranks[each.about], default=None)


def answer_names(query: str, table: str, answer: str) -> list[str]:
    """Return what a goal may call an answer, from the least precise name to the most.

    >>> answer_names("farms", "farms_by_state", "acres")
    ['acres', 'farms.acres', 'farms_by_state.acres']
    """
    return list(dict.fromkeys([answer, f"{query}.{answer}", f"{table}.{answer}"]))


def check_names(targets: Iterable[Target], known: Iterable[str]) -> None:
    """Refuse a target about an answer that is not asked for, or that has no one noise."""
    names = list(dict.fromkeys(known))
    for each in targets:
        if each.about is not None and each.about not in names:
            raise InputError(
                f"the goal {str(each)!r} is about {each.about!r}, which is not a count, total or "
                f"average. There are {listing(names) or 'none'}.{suggestion(each.about, names)}"
            )


def percent(share: Fraction) -> str:
    """Return a share in per cent.

    >>> percent(Fraction(1, 40))
    '2.5%'
    """
    return f"{text(100 * share)}%"


def _hundredth(written: str) -> Fraction:
    return parameter(written, "the percentage") / 100
