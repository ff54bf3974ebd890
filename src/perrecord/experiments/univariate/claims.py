"""What the paper claims of splitting by one measure, held against what was measured."""

from collections.abc import Sequence
from itertools import pairwise

from perrecord.experiments.experiment import Claim, Verdict
from perrecord.experiments.univariate.settings import Lost, Row
from perrecord.report.numbers import amount, percent

_SAME = 1e-6
_MOST = 0.5
"""Most records are more than half of them."""

_MUCH = 2
"""An error that is so many times smaller has improved significantly."""


def better_at_little_loss(boxes: Sequence[Row], rho: str) -> Claim:
    """See whether errors fall with finer thresholds while most records keep the least loss.

    Boxes are compared with others of their `kind` and rho; what is said is said of the last kind.
    """
    lines: dict[tuple[str, float], list[Row]] = {}
    for row in boxes:
        lines.setdefault((row["kind"], row["rho"]), []).append(row)
    steps = [
        fine["middle"] < coarse["middle"]
        for line in lines.values()
        for coarse, fine in pairwise(line)
    ]
    few = [row for row in boxes if row["share"] < _MOST]
    kind = boxes[-1]["kind"]
    line = lines[kind, float(rho)]
    coarse, fine = line[0], ([row for row in line if row["share"] < _MOST] or line)[-1]
    coded = min(line, key=lambda row: float(row["top_coded_middle"]))
    is_better = bool(steps) and all(steps) and coarse["middle"] >= _MUCH * fine["middle"]
    verdict: Verdict = "does not hold"
    if is_better and few:
        verdict = "holds" if len(few) == len(boxes) else "holds with a condition"
    beyond = [row["threshold"] for row in boxes if row["share"] >= _MOST]
    condition = (
        f" Below a threshold of {fine['threshold']:,}, most records lose more than that."
        if beyond
        else ""
    )
    return Claim(
        "ARE improves significantly as the splitting threshold decreases, while policy loss for "
        "most records remains the same as the global zCDP counterpart.",
        f"The median ARE falls in {sum(steps)} of {len(steps)} steps to a finer threshold. At "
        f"ρ = {rho}, {kind}, it goes from {percent(coarse['middle'])} (threshold "
        f"{coarse['threshold']:,}, {percent(1 - coarse['share'], 5)} of the records at the least "
        f"loss) to {percent(fine['middle'])} (threshold {fine['threshold']:,}, "
        f"{percent(1 - fine['share'])} of them). Under global zCDP, with every record at the least "
        f"loss, the best top-code among the same thresholds, {coded['threshold']:,}, has a median "
        f"of {percent(coded['top_coded_middle'])}.{condition}",
        verdict,
    )


def moving_distributions(lost: Sequence[Lost]) -> Claim:
    """See whether losses grow with rho for all alike, and with finer thresholds for some."""
    by_threshold: dict[int, list[Lost]] = {}
    by_rho: dict[str, list[Lost]] = {}
    for each in lost:
        by_threshold.setdefault(each.setting.threshold, []).append(each)
        by_rho.setdefault(each.setting.rho, []).append(each)
    factors = [
        _is_scaled(a, b)
        for line in by_threshold.values()
        for a, b in pairwise(sorted(line, key=lambda each: float(each.setting.rho)))
    ]
    steps = [
        coarse.share_above <= fine.share_above and coarse.losses.largest <= fine.losses.largest
        for line in by_rho.values()
        for coarse, fine in pairwise(sorted(line, key=lambda each: -each.setting.threshold))
    ]
    first = next(iter(by_rho.values()))
    coarse, fine = (pick(first, key=lambda each: each.setting.threshold) for pick in (max, min))
    holds = all(factors) and all(steps)
    return Claim(
        "As ρ increases, the CDFs of policy loss shift to the right, uniformly across records; "
        "larger thresholds leave more records at the smallest possible loss, smaller ones let it "
        "grow more rapidly for larger records.",
        f"Between budgets, all losses grow by the ratio of the budgets in {sum(factors)} of "
        f"{len(factors)} comparisons. The share at the smallest loss falls, and the largest loss "
        f"grows, in {sum(steps)} of {len(steps)} steps to a finer threshold: from "
        f"{percent(1 - coarse.share_above, 5)} at {coarse.setting.label} to "
        f"{percent(1 - fine.share_above)} at {fine.setting.label}, while the largest loss grows "
        f"{amount(fine.losses.largest / coarse.losses.largest)} times.",
        "holds" if holds else "does not hold",
    )


def _is_scaled(low: Lost, high: Lost) -> bool:
    """Tell whether every loss is larger by the ratio of the budgets."""
    factor = float(high.setting.rho) / float(low.setting.rho)
    pairs = zip(low.losses.values, high.losses.values, strict=False)
    return (
        factor > 1
        and low.losses.at_most == high.losses.at_most
        and all(abs(b / (a * factor) - 1) < _SAME for a, b in pairs)
    )
