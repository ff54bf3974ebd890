"""What it takes for the cells to be fit for use, scheme by scheme and by exact accounting (T22)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from perrecord import Policy, Split
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import CellPolicies, cell_losses, policy_losses
from perrecord.evaluate.tuning.fitness import Fitness, Requirement, fitness
from perrecord.evaluate.variants import TOP_CODING, accounted
from perrecord.lab.experiments.cbp.data import MEASURES, Establishments, workload
from perrecord.lab.experiments.cbp.errors import variants_of
from perrecord.queries.plan import plan

SHARE = Fraction(95, 100)
CONFIDENCE = Fraction(95, 100)

ONE_RHO, EVERY_CELL = "95 % of cells, one rho", "every cell, its own rho"
"""The two readings of a goal: a rho for each answer at each level, or one for each cell."""

QUANTILES = ("0.1", "0.25", "0.5", "0.75", "0.9", "0.99", "0.999", 1)


@dataclass(frozen=True, slots=True, eq=False)
class SchemeFit:
    """The losses of establishments at which the cells meet a goal, under one splitting scheme.

    `split` is by the paper's accounting, rho * pieces^2; `exact` by the true loss (T11).
    """

    goal: Fraction
    reading: str
    scheme: str
    split: Distribution
    exact: Distribution
    policy: Policy | None
    """With one rho for each answer: the policy that `split` is the distribution of."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of the workload comes within a goal at all under one top-code scheme."""

    goal: Fraction
    scheme: str
    out_of_reach: Mapping[str, float]
    """Attribute -> share of its cells whose bias alone misses the goal, whatever the rho."""
    answers: int
    missed: int
    """Answers, level by level, of which 95 % of the cells cannot meet the goal."""
    loss: float
    """What everybody loses for the other answers to meet it on 95 % of their cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Everything about fitness for use."""

    goals: tuple[Fraction, ...]
    schemes: tuple[SchemeFit, ...]
    reaches: tuple[Reach, ...]
    unmet: int
    """Answers under splitting with a cell that no rho brings to a goal."""
    cheaper: Mapping[tuple[str, str], float]
    """Coarser and finer scheme -> least share, over goals, of establishments that lose less."""

    def of(self, goal: Fraction, reading: str) -> list[SchemeFit]:
        """Return the schemes at one goal, in one reading."""
        return [each for each in self.schemes if (each.goal, each.reading) == (goal, reading)]

    def apart(self) -> float:
        """Return how far quantiles by exact accounting differ from scheme to scheme, relatively.

        Thresholds cancel (T22), so it is nothing but rounding.
        """
        found = [0.0]
        for goal in self.goals:
            for reading in (ONE_RHO, EVERY_CELL):
                every = self.of(goal, reading)
                for share in QUANTILES:
                    numbers = [each.exact.quantile(share) for each in every]
                    if max(numbers) > 0:
                        found.append(max(numbers) / min(numbers) - 1)
        return max(found)


def measured_fitness(
    data: Establishments,
    goals: Sequence[Fraction],
    splits: Mapping[str, Split],
    top_codes: Mapping[str, Split],
) -> Fits:
    """Return what each goal takes on the evaluated cells; budgets play no part in it."""
    cells = data.evaluated
    variants = variants_of(cells, Fraction(1), splits, top_codes, data.levels)
    planned = plan([query for each in variants for query in each.queries], data.table.schema)
    schemes: list[SchemeFit] = []
    reaches = []
    unmet = 0
    for goal in goals:
        found = fitness(planned, data.table, within=goal, confidence=CONFIDENCE)
        for number, variant in enumerate(variants):
            name = variant.name.split(" ", 1)[1]
            own = [each for each in found.requirements if each.truth.query // len(cells) == number]
            if variant.kind == TOP_CODING:
                reaches.append(_reach(goal, name, own))
            else:
                unmet += sum(each.unreachable > 0 for each in own)
                schemes += _fits(data, replace(found, requirements=tuple(own)), name, splits[name])
    cheaper = _cheaper(data, schemes, splits)
    return Fits(tuple(goals), tuple(schemes), tuple(reaches), unmet, cheaper)


def _fits(data: Establishments, found: Fitness, name: str, split: Split) -> list[SchemeFit]:
    """Return what the goal takes under one scheme, in both readings."""
    goal = found.goal.within
    levels = tuple(data.evaluated)
    amounts = {}
    for each in found.requirements:
        rho = each.rho(SHARE)
        assert rho is not None  # noqa: S101 - splitting has no bias
        amounts[levels[each.truth.query % len(levels)], each.truth.answer.name] = rho
    asked = workload(data.keys, split, amounts)
    charged = plan(asked, data.table.schema).policy
    exactly = plan(accounted(asked, "exact"), data.table.schema).policy
    by_cell = [_by_cell(each, split) for each in found.requirements]
    return [
        SchemeFit(
            goal,
            ONE_RHO,
            name,
            policy_losses(charged, data.table),
            policy_losses(exactly, data.table),
            charged,
        ),
        SchemeFit(
            goal,
            EVERY_CELL,
            name,
            cell_losses(by_cell, data.table),
            found.losses(data.table),
            None,
        ),
    ]


def _by_cell(required: Requirement, split: Split) -> CellPolicies:
    """Return the split policy with each cell's own rho."""
    truth, rhos = required.truth, required.values
    is_total = truth.answer.name in MEASURES
    each = Policy.split(1, split) if is_total else Policy.constant(1)
    return CellPolicies(
        truth.keys,
        np.where(np.isfinite(rhos), rhos, 0.0),
        np.zeros(len(rhos), np.intp),
        (each,),
    )


def _reach(goal: Fraction, name: str, own: Sequence[Requirement]) -> Reach:
    shares: dict[str, tuple[int, int]] = {}
    for each in own:
        missed, cells = shares.get(each.truth.answer.name, (0, 0))
        here = len(each.most) - each.zeros
        shares[each.truth.answer.name] = (missed + each.unreachable, cells + here)
    rhos = [each.rho(SHARE) for each in own]
    return Reach(
        goal,
        name,
        {attribute: missed / max(1, cells) for attribute, (missed, cells) in shares.items()},
        len(own),
        sum(rho is None for rho in rhos),
        float(sum((rho for rho in rhos if rho is not None), Fraction(0))),
    )


def _cheaper(
    data: Establishments, schemes: Sequence[SchemeFit], splits: Mapping[str, Split]
) -> dict[tuple[str, str], float]:
    """Return for whom the next finer scheme is cheaper at the same goal, one rho each."""
    rows = data.rows.select(list(MEASURES.values()))
    lost = {
        (each.goal, each.scheme): each.policy.losses(rows)
        for each in schemes
        if each.policy is not None
    }
    goals = dict.fromkeys(goal for goal, _ in lost)
    names = list(splits)
    return {
        (coarse, fine): min(float((lost[goal, fine] < lost[goal, coarse]).mean()) for goal in goals)
        for coarse, fine in pairwise(names)
    }
