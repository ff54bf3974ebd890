"""What the paper claims of splitting on SIM alone, compared with what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.lab.experiments.univariate.settings import Lost, Row
from perrecord.report.numbers import amount, percent

_SAME = 1e-6
_QUANTILES = ("0.1", "0.5", "0.9", "0.99", "0.999", 1)


@dataclass(frozen=True, slots=True)
class Claimed:
    """At this rho a median ARE is reached with fewer than this share of the records above rho."""

    rho: str
    error: float
    share: float


@dataclass(frozen=True, slots=True)
class Needed:
    """How many records a cell must have at a threshold for the claimed error; None: too many."""

    threshold: int
    share: float
    size: int | None


@dataclass(frozen=True, slots=True)
class SameNoise:
    """Two settings with the same noise, coarse and fine: what records lose, and median AREs."""

    lost: tuple[Lost, Lost]
    errors: tuple[float, float]


def ten_percent(by_size: Sequence[Row], needed: Sequence[Needed], claimed: Claimed) -> Claim:
    """Find with which cells, at this rho, a median ARE is reached with so few records above rho.

    It holds if it does for every number of records in a cell that was tried.
    """
    rho, error, share = claimed.rho, claimed.error, claimed.share
    within = [row for row in by_size if row["rho"] == float(rho) and row["share"] < share]
    sizes = sorted({row["records_per_cell"] for row in by_size})
    best = {
        size: min((row for row in within if row["records_per_cell"] == size), key=_middle)
        for size in sizes
        if any(row["records_per_cell"] == size for row in within)
    }
    met = [size for size, row in best.items() if row["middle"] <= error]
    verdict: Verdict = "does not hold"
    if met:
        verdict = "holds" if len(met) == len(sizes) else "holds with a condition"
    shown = "; ".join(
        f"{percent(row['middle'])} with {size:,} records a cell (threshold {row['threshold']:,})"
        for size, row in best.items()
    )
    return Claim(
        f"At ρ = {rho} for the simulated data, a median {percent(error)} ARE is achieved while "
        f"less than {percent(share)} of records have policy loss greater than ρ = {rho}.",
        f"{needed_words(needed, claimed)} The least median AREs with fewer than "
        f"{percent(share)} above ρ: {shown or 'none'}. The paper does not state how many records "
        "it has.",
        verdict,
    )


def needed_words(needed: Sequence[Needed], claimed: Claimed) -> str:
    """Return in words which cells meet an error with few records above rho, at which threshold.

    The least size is that of the thresholds tried: one between them may do with fewer records.
    """
    rho, error, share = claimed.rho, claimed.error, claimed.share
    reached = [each for each in needed if each.share < share and each.size is not None]
    if not reached:
        return (
            f"At ρ = {rho}, no threshold tried with fewer than {percent(share)} of the records "
            f"above ρ brings the median ARE to {percent(error)}."
        )
    least = min(reached, key=lambda each: each.size or 0)
    others = "; ".join(
        f"{each.size:,} at threshold {each.threshold:,}" for each in reached if each is not least
    )
    return (
        f"At ρ = {rho}, a median ARE of {percent(error)} with fewer than {percent(share)} of the "
        "records above ρ takes, among the thresholds tried, cells of at least "
        f"{least.size:,} records, at threshold {least.threshold:,} ({percent(least.share)} above ρ)"
        f"{f'; {others}' if others else ''}."
    )


def two_knobs(found: SameNoise) -> Claim:
    """See whether threshold and rho are two knobs: the same noise at another threshold and rho.

    At the same noise, a finer threshold costs nobody more if and only if it divides the coarser:
    ceil(r/T) <= k ceil(r/(kT)), but a record of T' pays more at a T that does not divide T' (T11).
    """
    coarse, fine = found.lost
    is_same = abs(found.errors[0] / found.errors[1] - 1) < _SAME
    verdict: Verdict = "holds with a condition" if is_same else "holds"
    condition = (
        " Only T²/ρ decides the noise, so the two are knobs of their own only while ρ is held; at "
        f"the same noise {_cost_words(coarse, fine)}, and the share above ρ says little by itself."
    )
    return Claim(
        "ρ toggles the privacy-utility trade-off for all records, whereas the threshold toggles "
        "how fast the policy loss grows as records become more skewed.",
        f"At the median, {_words(coarse)} errs by {percent(found.errors[0])} and {_words(fine)} by "
        f"{percent(found.errors[1])}. Half of the records lose up to "
        f"{amount(coarse.losses.quantile('0.5'))} under the first and up to "
        f"{amount(fine.losses.quantile('0.5'))} under the second; "
        f"{percent(coarse.losses.share_above(1))} and {percent(fine.losses.share_above(1))} lose "
        f"more than 1.{'' if verdict == 'holds' else condition}",
        verdict,
    )


def _cost_words(coarse: Lost, fine: Lost) -> str:
    """Return in words whether the finer of two thresholds with the same noise costs some more."""
    large, small = coarse.setting, fine.setting
    is_cheaper = all(
        fine.losses.quantile(q) <= coarse.losses.quantile(q) * (1 + _SAME) for q in _QUANTILES
    )
    if large.threshold % small.threshold == 0:
        return (
            f"a threshold that divides the other, as {small.label} does {large.label}, costs "
            f"nobody more (T11){'' if is_cheaper else ', though more was measured here'}"
        )
    costs = [_loss(each, large.threshold) for each in (coarse, fine)]
    return (
        f"the finer threshold may cost more, as {small.label} does not divide {large.label}: a "
        f"record of {large.label} loses {amount(costs[0])} and {amount(costs[1])} (T11)"
    )


def _loss(lost: Lost, size: int) -> float:
    """Return what the policy by pieces says of a record of so much: rho m^2."""
    pieces = -(-size // lost.setting.threshold)
    return float(Fraction(lost.setting.rho) * pieces**2)


def _words(lost: Lost) -> str:
    return f"threshold {lost.setting.label} at ρ = {lost.setting.rho}"


def _middle(row: Row) -> float:
    return float(row["middle"])
