"""What tuning is told: goals of accuracy (T22), and in which sense the policy is to be small.

Both as values and as people write them: "5% for 95% of cells"; "largest", "99%", or the name of an
example record.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import InputError, ProbabilityError, listing, suggestion
from perrecord.evaluate.losses.least import least_loss, least_quantiles, unbiased_outputs
from perrecord.evaluate.losses.policies import policy_quantiles
from perrecord.exact import Exact, float_down, parameter, text
from perrecord.policy.policy import Policy
from perrecord.queries.plan import Plan
from perrecord.tables.table import Table

DEFAULT_CONFIDENCE = Fraction(95, 100)


_AT_ONCE = 8
"""So many policies are evaluated in one pass over the records."""


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
            f"the goal is {written!r}; expected such as '5% for 95% of cells', or for one answer "
            "'employment: 5% for 95% of cells with 90% confidence'."
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


def check_names(targets: Iterable[Target], known: Iterable[str]) -> None:
    """Refuse a target about an answer that is not asked for, or that has no one noise."""
    names = list(dict.fromkeys(known))
    for each in targets:
        if each.about is not None and each.about not in names:
            raise InputError(
                f"the goal {str(each)!r} is about {each.about!r}, which is no count, total or "
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


@dataclass(frozen=True, slots=True)
class LossOf:
    """The loss of one hypothetical record."""

    name: str
    record: Mapping[str, Any]

    def __str__(self) -> str:
        return f"the loss of {self.name}"


@dataclass(frozen=True, slots=True)
class LossAt:
    """The loss that a share of the table's records does not exceed; at 1 it is the largest."""

    share: Fraction

    def __str__(self) -> str:
        return "the largest loss" if self.share == 1 else f"the loss at {percent(self.share)}"


Smallest = LossOf | LossAt


def smallest(written: "str | Smallest", examples: Mapping[str, Mapping[str, Any]]) -> Smallest:
    """Return the sense that somebody writes: `largest`, `99%`, or the name of an example record.

    >>> str(smallest("99%", {})), str(smallest("largest", {}))
    ('the loss at 99%', 'the largest loss')
    """
    if isinstance(written, LossOf | LossAt):
        return written
    if written in examples:
        return LossOf(written, examples[written])
    if written == "largest":
        return LossAt(Fraction(1))
    if written.endswith("%"):
        return at_share(parameter(written.removesuffix("%").strip(), "the percentile") / 100)
    raise InputError(
        f"the policy is to be smallest in {written!r}; expected 'largest', a percentile such as "
        f"'99%', or the name of an example record. Examples are {listing(examples) or 'none'}."
        f"{suggestion(written, examples)}"
    )


def at_share(share: Exact) -> LossAt:
    """Return the loss that a share of the records does not exceed."""
    level = parameter(share, "the share")
    if not 0 < level <= 1:
        raise InputError(f"the percentile is {percent(level)}; expected above 0% and up to 100%.")
    return LossAt(level)


def sizes(
    policies: Sequence[Policy], senses: Sequence[Smallest], table: Table
) -> list[list[float]]:
    """Return how large each policy is in each sense; percentiles are computed in the engine."""
    shares = [each.share for each in senses if isinstance(each, LossAt)]
    found = []
    for policy, quantiles in zip(policies, _quantiles(policies, shares, table), strict=True):
        at = iter(quantiles)
        found.append(
            [
                float(policy.loss(each.record)) if isinstance(each, LossOf) else next(at)
                for each in senses
            ]
        )
    return found


def least_sizes(
    plans: Sequence[Plan], senses: Sequence[Smallest], table: Table
) -> list[list[float]]:
    """Return, for each plan, the least that its accuracy would cost in each sense (T30)."""
    shares = [each.share for each in senses if isinstance(each, LossAt)]
    found = []
    for start in range(0, len(plans), _AT_ONCE):
        some = plans[start : start + _AT_ONCE]
        quantiles = least_quantiles(some, table, shares) if shares else [[] for _ in some]
        for each, row in zip(some, quantiles, strict=True):
            at, outputs = iter(row), unbiased_outputs(each)
            found.append(
                [
                    float_down(least_loss(outputs, sense.record))
                    if isinstance(sense, LossOf)
                    else next(at)
                    for sense in senses
                ]
            )
    return found


def _quantiles(
    policies: Sequence[Policy], shares: Sequence[Fraction], table: Table
) -> Iterator[list[float]]:
    if not shares:
        yield from ([] for _ in policies)
        return
    for start in range(0, len(policies), _AT_ONCE):
        yield from policy_quantiles(policies[start : start + _AT_ONCE], table, shares)
