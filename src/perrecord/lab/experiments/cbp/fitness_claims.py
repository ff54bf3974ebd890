"""What the paper says of fitness for use, compared with what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from perrecord.lab.experiments.cbp.data import MEASURES
from perrecord.lab.experiments.cbp.fitness import Reach
from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.report.numbers import amount, percent

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Price:
    """What a goal costs establishments under one splitting scheme, with one rho for each answer."""

    goal: Fraction
    scheme: str
    above: float
    """The share of the establishments that lose more than 1, the paper's line."""
    middle: float
    """The median of their losses."""


def smaller_thresholds_cost_less(
    cheaper: Mapping[tuple[str, str], float],
    medians: Mapping[str, float],
    largest: Mapping[str, float],
    apart: float,
) -> Claim:
    """Compare schemes at the same goal.

    `cheaper` says for how many establishments the finer of two schemes costs less by pieces,
    `medians` and `largest` are losses at one goal, and `apart` how far schemes differ by exact
    accounting.
    """
    is_most = all(share > 0.5 for share in cheaper.values())
    verdict: Verdict = "does not hold"
    if is_most:
        verdict = "holds with a condition" if apart <= _SAME else "holds"
    shares = ", ".join(
        f"{percent(share)} from {coarse} to {fine}" for (coarse, fine), share in cheaper.items()
    )
    by_pieces = ", ".join(f"{amount(loss)} ({name})" for name, loss in medians.items())
    most = ", ".join(f"{amount(loss)} ({name})" for name, loss in largest.items())
    return Claim(
        "We require smaller policy losses for the majority of establishments as the splitting "
        "thresholds get smaller, since larger establishments incur larger privacy losses.",
        f"At the same goal at least so many establishments lose less: {shares}. At the second "
        f"strictest goal the median loss is {by_pieces}, the largest {most}. All of it is a matter "
        "of accounting by pieces: by exact accounting (T11, T22) their quantiles differ by less "
        f"than {_part(apart)} from scheme to scheme, because the schemes add the same noise.",
        verdict,
    )


def larger_goals_cost_less(quantiles: Mapping[str, Sequence[Sequence[float]]]) -> Claim:
    """Compare goals: for each line, its quantiles at one goal after another, strict goals first."""
    steps = [
        after <= before * (1 + _SAME)
        for goals in quantiles.values()
        for stricter, looser in pairwise(goals)
        for before, after in zip(stricter, looser, strict=True)
    ]
    ratios = [
        goals[0][place] / goals[-1][place]
        for goals in quantiles.values()
        for place in range(len(goals[0]))
        if goals[-1][place] > 0
    ]
    verdict: Verdict = "does not hold"
    if all(steps):
        verdict = "holds"
    elif 2 * sum(steps) > len(steps):
        verdict = "holds with a condition"
    return Claim(
        "When delta increases, the distribution of the minimum policy loss decreases: the CDFs are "
        "shifted to the left.",
        f"{sum(steps)} of {len(steps)} quantiles fall or stay from one goal to the next, over "
        "schemes and readings. From the strictest goal to the loosest they become "
        f"{amount(min(ratios))} to {amount(max(ratios))} times smaller; losses go as 1/delta², "
        "but for noise so small that it is a matter of single units.",
        verdict,
    )


def top_coding_is_out_of_reach(
    reaches: Sequence[Reach], split_missed: int, prices: Sequence[Price]
) -> Claim:
    """Look for goals that top-coding cannot meet, and for what meeting them by splitting costs.

    A goal is feasible without a condition if most establishments lose at most 1 for it.
    """
    magnitudes = [
        each.out_of_reach[attribute]
        for each in reaches
        for attribute in MEASURES
        if attribute in each.out_of_reach
    ]
    missed = [each for each in reaches if each.missed]
    verdict: Verdict = "does not hold"
    if not split_missed and missed:
        is_cheap = all(each.above <= 0.5 for each in prices)
        is_always = len(missed) == len(reaches)
        verdict = "holds" if is_always and is_cheap else "holds with a condition"
    return Claim(
        "With these splitting schemes, fitness-for-use goals are more feasible than under the "
        "traditional top-coding assessment.",
        f"Under splitting {split_missed or 'none'} of the answers miss a goal for good: there is "
        f"no bias, and enough rho reaches any. {_priced(prices)} Under top-codes the bias alone "
        f"misses the goal in {percent(min(magnitudes))} to {percent(max(magnitudes))} of the cells "
        f"of a magnitude. {_out_of_reach(missed, len(reaches))}",
        verdict,
    )


def _priced(prices: Sequence[Price]) -> str:
    """Say for how many establishments each scheme stays above a loss of 1, goal by goal."""
    parts = []
    for scheme in dict.fromkeys(each.scheme for each in prices):
        own = [each for each in prices if each.scheme == scheme]
        shares = ", ".join(percent(each.above) for each in own)
        losses = [each.middle for each in own]
        parts.append(
            f"{scheme} {shares} (median losses {amount(min(losses))} to {amount(max(losses))})"
        )
    goals = ", ".join(percent(float(each)) for each in dict.fromkeys(p.goal for p in prices))
    dear = sum(each.above > 0.5 for each in prices)
    return (
        "What that costs is another matter. With one rho for each answer, so many establishments "
        f"lose more than 1, the paper's line, for goals of {goals}: {'; '.join(parts)}. They are "
        f"most establishments in {dear} of {len(prices)} combinations of scheme and goal."
    )


def _out_of_reach(missed: Sequence[Reach], combinations: int) -> str:
    if not missed:
        return (
            f"In none of {combinations} combinations of top-code and goal is there an answer that "
            "no rho brings to the goal on 95 % of its cells."
        )
    fewest = min(missed, key=lambda each: each.missed)
    most = max(missed, key=lambda each: each.missed)
    return (
        f"For {len(missed)} of {combinations} combinations of top-code and goal there are answers "
        f"that no rho brings to the goal on 95 % of their cells: from {_missed(fewest)} up to "
        f"{_missed(most)}."
    )


def _missed(found: Reach) -> str:
    return f"{found.missed} of {found.answers} ({found.scheme} within {percent(float(found.goal))})"


def _part(apart: float) -> str:
    return f"one part in {amount(10**12)}" if apart < 1e-12 else percent(apart)
