"""What the paper claims of splitting by one measure, compared with what was measured."""

from collections.abc import Sequence
from itertools import pairwise

from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.lab.experiments.univariate.settings import Lost, Row
from perrecord.report.numbers import amount, percent

_SAME = 1e-6
_MOST = 0.5
"""Most records are more than half of them."""

_MUCH = 2
"""An error that is so many times smaller has improved significantly."""

_USELESS = 1.0
"""An error as large as the total itself."""


def better_at_little_loss(boxes: Sequence[Row], rho: str) -> Claim:
    """See whether errors fall with finer thresholds while most records keep the least loss.

    Boxes are compared with others of their `kind` and rho, a line of thresholds; the example is
    the last kind at one rho. A line counts if errors fall at every step, and at its finest
    threshold with most records at the least loss are much smaller than at the coarsest and than
    with the best top-code, and below 100 %. With all lines and most records at every threshold the
    claim holds; with some, it holds with a condition.
    """
    lines: dict[tuple[str, float], list[Row]] = {}
    for row in boxes:
        lines.setdefault((row["kind"], row["rho"]), []).append(row)
    steps = [step for line in lines.values() for step in _falls(line)]
    better = [_is_better(line) for line in lines.values()]
    kind = boxes[-1]["kind"]
    line = lines[kind, float(rho)]
    coarse, fine, coded = line[0], _finest(line), _best_coded(line)
    beyond = [row["threshold"] for row in boxes if row["share"] >= _MOST]
    verdict: Verdict = "does not hold"
    if any(better):
        verdict = "holds" if all(better) and not beyond else "holds with a condition"
    return Claim(
        "ARE improves significantly as the splitting threshold decreases, while policy loss for "
        "most records remains the same as the global zCDP counterpart.",
        f"The median ARE falls in {sum(steps)} of {len(steps)} steps to a finer threshold. At "
        f"ρ = {rho}, {kind}, it goes from {percent(coarse['middle'])} (threshold "
        f"{coarse['threshold']:,}, {percent(1 - coarse['share'], 5)} of the records at the least "
        f"loss) to {percent(fine['middle'])} (threshold {fine['threshold']:,}, "
        f"{percent(1 - fine['share'])} of them). Under global zCDP, with every record at the least "
        f"loss, the best top-code among the same thresholds, {coded['threshold']:,}, has a median "
        f"of {percent(coded['top_coded_middle'])}.{_shortfall(line)} In {sum(better)} of "
        f"{len(better)} combinations of cells and ρ, splitting with most records at the least loss "
        f"has a median below {percent(_USELESS)} and at most 1/{_MUCH} of that of the coarsest "
        "threshold and of the best top-code."
        + (
            f" From a threshold of {max(beyond):,} down, most records lose more than the least."
            if beyond
            else ""
        ),
        verdict,
    )


def _falls(line: Sequence[Row]) -> list[bool]:
    """Tell of each step to a finer threshold whether the median error falls."""
    return [fine["middle"] < coarse["middle"] for coarse, fine in pairwise(line)]


def _finest(line: Sequence[Row]) -> Row:
    """Return the finest threshold with most records at the least loss; without any, the finest."""
    return ([row for row in line if row["share"] < _MOST] or line)[-1]


def _best_coded(line: Sequence[Row]) -> Row:
    return min(line, key=lambda row: float(row["top_coded_middle"]))


def _is_better(line: Sequence[Row]) -> bool:
    """Tell whether splitting, most records at the least loss, beats the coarsest and top-codes."""
    falls, fine = _falls(line), _finest(line)
    return (
        bool(falls)
        and all(falls)
        and fine["share"] < _MOST
        and line[0]["middle"] >= _MUCH * fine["middle"]
        and _beats_top_codes(line)
        and fine["middle"] < _USELESS
    )


def _beats_top_codes(line: Sequence[Row]) -> bool:
    return bool(_best_coded(line)["top_coded_middle"] >= _MUCH * _finest(line)["middle"])


def _shortfall(line: Sequence[Row]) -> str:
    """Return in words what splitting lacks beside the best top-code, and beside the total."""
    said = ""
    if not _beats_top_codes(line):
        said += f" Splitting is not {_MUCH} times better than that."
    if _finest(line)["middle"] >= _USELESS:
        said += " The median of splitting is as large as the totals themselves or larger."
    return said


def moving_distributions(lost: Sequence[Lost]) -> Claim:
    """See whether losses grow with rho for all alike, and with finer thresholds for some.

    Where some finer thresholds change nothing, as those that no record exceeds, it is a condition.
    """
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
    pairs = [
        (coarse, fine)
        for line in by_rho.values()
        for coarse, fine in pairwise(sorted(line, key=lambda each: -each.setting.threshold))
    ]
    moves = [
        coarse.share_above < fine.share_above and coarse.losses.largest < fine.losses.largest
        for coarse, fine in pairs
    ]
    reversals = [
        coarse.share_above > fine.share_above or coarse.losses.largest > fine.losses.largest
        for coarse, fine in pairs
    ]
    first = next(iter(by_rho.values()))
    coarse, fine = (pick(first, key=lambda each: each.setting.threshold) for pick in (max, min))
    verdict: Verdict = "does not hold"
    if all(factors) and any(moves) and not any(reversals):
        verdict = "holds" if all(moves) else "holds with a condition"
    rest = "" if all(moves) else f", and one of them moves the other way in {sum(reversals)}"
    return Claim(
        "As ρ increases, the CDFs of policy loss shift to the right, uniformly across records; "
        "larger thresholds leave more records at the smallest possible loss, smaller ones let it "
        "grow more rapidly for larger records.",
        f"Between budgets, all losses grow by the ratio of the budgets in {sum(factors)} of "
        f"{len(factors)} comparisons. The share at the smallest loss falls, and the largest loss "
        f"grows, in {sum(moves)} of {len(moves)} steps to a finer threshold{rest}: from "
        f"{percent(1 - coarse.share_above, 5)} at {coarse.setting.label} to "
        f"{percent(1 - fine.share_above)} at {fine.setting.label}, while the largest loss grows "
        f"{amount(fine.losses.largest / coarse.losses.largest)} times.",
        verdict,
    )


def _is_scaled(low: Lost, high: Lost) -> bool:
    """Tell whether every loss is larger by the ratio of the budgets."""
    factor = float(high.setting.rho) / float(low.setting.rho)
    pairs = zip(low.losses.values, high.losses.values, strict=True)
    return (
        factor > 1
        and low.losses.at_most == high.losses.at_most
        and all(abs(b / (a * factor) - 1) < _SAME for a, b in pairs)
    )
