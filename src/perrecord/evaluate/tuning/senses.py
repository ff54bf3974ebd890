"""In which sense a policy is to be small, as a value and as people write it.

"largest", "99%", or the name of an example record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import InputError, listing, suggestion
from perrecord.evaluate.losses.alike import AlikeRecords
from perrecord.evaluate.losses.least import least_loss, least_quantiles, unbiased_outputs
from perrecord.evaluate.losses.policies import policy_quantiles
from perrecord.exact import Exact, float_down, parameter
from perrecord.policy.policy import Policy
from perrecord.queries.plan import Plan
from perrecord.release.goals import percent


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
    policies: Sequence[Policy], senses: Sequence[Smallest], records: AlikeRecords
) -> list[list[float]]:
    """Return how large each policy is in each sense; percentiles are computed in the engine."""
    shares = [each.share for each in senses if isinstance(each, LossAt)]
    every = policy_quantiles(policies, records, shares) if shares else [[] for _ in policies]
    found = []
    for policy, quantiles in zip(policies, every, strict=True):
        at = iter(quantiles)
        found.append(
            [
                float(policy.loss(each.record)) if isinstance(each, LossOf) else next(at)
                for each in senses
            ]
        )
    return found


def least_sizes(
    plans: Sequence[Plan], senses: Sequence[Smallest], records: AlikeRecords
) -> list[list[float]]:
    """Return, for each plan, the least that its accuracy would cost in each sense (T30)."""
    shares = [each.share for each in senses if isinstance(each, LossAt)]
    quantiles = least_quantiles(plans, records, shares) if shares else [[] for _ in plans]
    found = []
    for each, row in zip(plans, quantiles, strict=True):
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
