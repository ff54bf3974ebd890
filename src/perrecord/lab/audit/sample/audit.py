"""The black-box audit: many runs of each case with its record and without, and what they show."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from perrecord.lab.audit.sample.bounds import Counted, cuts_from, least_loss
from perrecord.lab.audit.sample.case import SampledCase
from perrecord.lab.audit.sample.worlds import charged_policy, rounds_of, session_on

CONFIDENCE = 0.999
"""With this probability not one bound of the whole audit lies above the true loss."""

_CUTS = 32


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a record loses by the policy, and at least by what was seen."""

    case: SampledCase
    policy: Fraction
    least: float
    runs: int

    @property
    def share(self) -> float:
        """How much of the policy's loss the attack has shown."""
        return self.least / float(self.policy)

    @property
    def is_violated(self) -> bool:
        """Whether the mechanism loses more than its policy says."""
        return self.least > self.policy


def sampled(
    cases: Sequence[SampledCase],
    runs: int,
    chance: float,
    step: Callable[[str], None] = lambda _: None,
) -> Iterator[Sampled]:
    """Yield what was found for each case, run so many times with its record and without.

    Each bound lies above the true loss with at most this chance.
    """
    for case in cases:
        step(case.name)
        yield _sampled(case, runs, chance)


def _sampled(case: SampledCase, runs: int, chance: float) -> Sampled:
    worlds, rounds = rounds_of(runs)
    price = partial(case.asked.policy, worlds=worlds)
    with_it, without = case.sides
    with (
        session_on(with_it, worlds, price, rounds + 1) as present,
        session_on(without, worlds, price, rounds + 1) as absent,
    ):
        pilots = [case.asked.outputs(each, worlds) for each in (present, absent)]
        cuts = cuts_from(np.concatenate(pilots), _CUTS)
        counted = [Counted.nothing(cuts)] * 2
        for _ in range(rounds):
            for side, session in enumerate((present, absent)):
                counted[side] = counted[side].with_outputs(case.asked.outputs(session, worlds))
        policy = case.stated(charged_policy(present))
    least = least_loss(counted[0], counted[1], case.currency, chance)
    return Sampled(case, policy, least, counted[0].runs)
