"""What the paper claims of global zCDP on skewed data, compared with what was measured."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.lab.experiments.global_zcdp.clamped_release import Exponents, Units
from perrecord.report.numbers import amount, percent

Row = dict[str, Any]
"""What is found at the best bound of one tail and rho; errors are shares of the expected sum."""

_ORDERS_OF_MAGNITUDE = 10
"""So many times as much is an order of magnitude."""


def exceeding(best: Sequence[Row]) -> Claim:
    """Hold the noise at the best bounds against the expected sum."""
    noise, squared = [row["noise"] for row in best], [row["ratio"] for row in best]
    verdict: Verdict = "does not hold"
    if min(noise) >= _ORDERS_OF_MAGNITUDE:
        verdict = "holds"
    elif min(squared) >= _ORDERS_OF_MAGNITUDE:
        verdict = "holds with a condition"
    large = sum(each >= _ORDERS_OF_MAGNITUDE for each in squared)
    return Claim(
        "In every case, privacy-preserving noise exceeds the sum's expected value by orders of "
        "magnitude.",
        f"At the best bounds the noise has a standard deviation of {percent(min(noise))} to "
        f"{percent(max(noise))} of the expected sum; with the bias, the error is "
        f"{percent(min(row['root_ratio'] for row in best))} to "
        f"{percent(max(row['root_ratio'] for row in best))} of it. The ratio MSE / E, which "
        f"the paper plots, is {amount(min(squared))} to {amount(max(squared))}, and at least "
        f"{_ORDERS_OF_MAGNITUDE} in {large} of {len(best)} cases. Noise alone exceeds the sum only "
        "where the bound is larger than the expected sum times √(2ρ).",
        verdict,
    )


def prohibitive(best: Sequence[Row], goal: float) -> Claim:
    """Hold the errors at the best bounds against a goal."""
    beyond = [row for row in best if row["root_ratio"] > goal]
    verdict: Verdict = "does not hold"
    if beyond:
        verdict = "holds" if len(beyond) == len(best) else "holds with a condition"
    tails = sorted({row["tail"] for row in beyond})
    by_tail = "; ".join(_range_of(best, tail) for tail in sorted({row["tail"] for row in best}))
    condition = f", with α = {', '.join(f'{tail:g}' for tail in tails)}" if tails else ""
    return Claim(
        "Even at these optimal Δ values, the errors are prohibitively large.",
        f"RMSE / E is above {percent(goal)} in {len(beyond)} of {len(best)} cases{condition}. "
        f"{by_tail}.",
        verdict,
    )


def _range_of(best: Sequence[Row], tail: float) -> str:
    found = [row["root_ratio"] for row in best if row["tail"] == tail]
    return f"α = {tail:g}: {percent(max(found))} to {percent(min(found))}"


def without_units(units: Units) -> Claim:
    """Hold the paper's ratio of data in other units against that in the first."""
    same = abs(units.ratio_grows - 1) < 1e-6
    return Claim(
        'MSE over the sum\'s expected value measures "noise-to-signal".',
        f"One data set (α = {units.tail:g}, ρ = {units.rho}, the best Δ), summed by the library, "
        f"and then the same records in units {units.scale:,} times as small: MSE / E goes from "
        f"{amount(units.ratio)} to {amount(units.ratio * units.ratio_grows)}, "
        f"{amount(units.ratio_grows)} times as much; RMSE / E goes from "
        f"{percent(units.root_ratio)} to {percent(units.root_ratio * units.root_ratio_grows)}.",
        "holds" if same else "does not hold",
    )


def moving_optimum(best: Sequence[Row]) -> Claim:
    """See where the best bound moves as tails get heavier and budgets larger."""
    bounds = {(row["tail"], row["rho"]): row["bound"] for row in best}
    tails, rhos = (sorted({row[name] for row in best}) for name in ("tail", "rho"))
    by_tail = [bounds[a, rho] > bounds[b, rho] for rho in rhos for a, b in pairwise(tails)]
    by_rho = [bounds[tail, a] < bounds[tail, b] for tail in tails for a, b in pairwise(rhos)]
    verdict: Verdict = "does not hold"
    if any(by_tail) and any(by_rho):
        verdict = "holds" if all(by_tail) and all(by_rho) else "holds with a condition"
    middle = rhos[len(rhos) // 2]
    shown = ", ".join(f"{amount(bounds[tail, middle])} at α = {tail:g}" for tail in tails)
    heavy = ", ".join(f"{amount(bounds[tails[0], rho])} at ρ = {rho:g}" for rho in rhos)
    return Claim(
        "The optimal Δ increases as α decreases and as ρ increases.",
        f"It grows in {sum(by_tail)} of {len(by_tail)} steps to a heavier tail and in "
        f"{sum(by_rho)} of {len(by_rho)} steps to a larger budget. At ρ = {middle:g} it is "
        f"{shown}; at α = {tails[0]:g} it is {heavy}.",
        verdict,
    )


def lower_bound(found: Exponents) -> Claim:
    """Hold the paper's bound on the variance against that of the mechanism it is tight for."""
    is_paper_s = abs(found.of_bound - 1) < 0.01 and abs(found.of_rho + 2) < 0.01
    return Claim(
        "Any ρ-zCDP mechanism for the sum needs noise of variance Ω(Δ/ρ²).",
        f"{'' if is_paper_s else 'A misprint for Ω(Δ²/ρ). '}The library's clamped sums have a "
        f"variance that grows as Δ to the power {amount(found.of_bound, 4)} and as ρ to the power "
        f"{amount(found.of_rho, 4)}. Gaussian noise of variance Δ²/(2ρ) suffices for ρ-zCDP, and "
        "falls below any multiple of Δ/ρ² as Δρ gets small: at "
        f"Δ = {amount(found.bound)} and ρ = {amount(found.rho)} it is {amount(found.variance)}, "
        f"where Δ/ρ² is {amount(found.bound / found.rho**2)}.",
        "holds" if is_paper_s else "does not hold",
    )
