"""What the paper says of finding keys, compared with what is found."""

from collections.abc import Mapping, Sequence

from perrecord import Policy, Split
from perrecord.errors import listing
from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.lab.experiments.keys.chances import Industry, Selecting
from perrecord.report.numbers import amount

WORKED_EXAMPLE = {
    "Agriculture": ({"employees": 150, "payroll": 10_000_000},
                    {"employees": 50, "payroll": 15_000_000}),
    "Mining": ({"employees": 100, "payroll": 10_000_000},
               {"employees": 50, "payroll": 10_000_000}),
    "Retail": ({"employees": 20, "payroll": 1_000_000},),
}  # fmt: skip
"""The table of the paper's example of a group-by with unknown keys."""

_SCHEME = Split.by(
    "industry",
    {"Mining": Split(employees=50, payroll=10_000_000)},
    Split(employees=50, payroll=5_000_000),
)


def example_pieces() -> dict[str, list[int]]:
    """Return how many pieces each establishment of the worked example makes.

    >>> example_pieces()
    {'Agriculture': [3, 3], 'Mining': [2, 1], 'Retail': [1]}
    """
    return {
        industry: [_SCHEME.pieces({"industry": industry, **each}) for each in establishments]
        for industry, establishments in WORKED_EXAMPLE.items()
    }


def claims(
    small: Industry, giant: Industry, unsplit: Selecting, split: Selecting, rhos: Sequence[str]
) -> tuple[Claim, ...]:
    """Return the paper's statements on finding keys, each with what was measured."""
    return (
        _same_chance(small, giant, unsplit),
        _more_likely(small, giant, unsplit, split),
        each_populated(
            {name: sum(each) for name, each in example_pieces().items()}, unsplit.delta, rhos
        ),
        _pure(giant, split),
    )


def _same_chance(small: Industry, giant: Industry, unsplit: Selecting) -> Claim:
    chances = unsplit.chance(small), unsplit.chance(giant)
    return Claim(
        f"SELECT COUNT(*) … GROUP BY Industry under DP would include {small.name} and {giant.name} "
        f"with the same probability, although most employees work in {giant.name}.",
        f"Unsplit, {small.name} (one of {small.giant}) is found with chance {amount(chances[0])} "
        f"and {giant.name} (one of {giant.giant:,}) with {amount(chances[1])}, at ρ = "
        f"{unsplit.rho} and δ = {unsplit.delta}.",
        "holds" if chances[0] == chances[1] else "does not hold",
    )


def _more_likely(small: Industry, giant: Industry, unsplit: Selecting, split: Selecting) -> Claim:
    before, after = unsplit.chance(giant), split.chance(giant)
    return Claim(
        "Records that were split before partition selection are more likely to be discovered.",
        f"{split.name.capitalize()}, {giant.name} goes from a chance of {amount(before)} to one of "
        f"{amount(after, 4)}; {small.name} stays at {amount(split.chance(small))}.",
        "holds" if after > before else "does not hold",
    )


def each_populated(pieces: Mapping[str, int], delta: str, rhos: Sequence[str]) -> Claim:
    """Look for industries, by how many pieces they have, that are found with at least even chance.

    One that stays at delta or below, whatever the rho, refutes "each"; one that some rho finds and
    another does not is a condition.
    """
    parts = []
    best, least = dict.fromkeys(pieces, 0.0), 1.0
    for rho in rhos:
        way = Selecting(rho, delta)
        chances = {name: way.chance_of(rows) for name, rows in pieces.items()}
        least = min(least, *chances.values())
        best = {name: max(best[name], chance) for name, chance in chances.items()}
        shown = ", ".join(f"{name} {amount(chance)}" for name, chance in chances.items())
        parts.append(f"at ρ = {rho} pieces count from {way.keys.threshold} on: {shown}")
    counted = ", ".join(f"{name} {rows}" for name, rows in pieces.items())
    never = [name for name, chance in best.items() if chance <= float(delta)]
    verdict: Verdict = "holds" if least >= 0.5 else "holds with a condition"
    if never:
        verdict = "does not hold"
        parts[-1] += f". {listing(never)} stays at δ or below at every ρ"
    return Claim(
        "After unit splitting, partition selection finds each of the populated industries with "
        "high probability, even those of few but large establishments (its worked example).",
        f"In the example's own table the pieces are {counted}. With δ = {delta}, "
        f"{'; '.join(parts)}. An industry whose only establishment is not split is found with at "
        "most δ, whatever ρ; the others once their pieces reach the threshold.",
        verdict,
    )


def _pure(giant: Industry, split: Selecting) -> Claim:
    policy = Policy.selection(split.rho, ["industry"], split=_SCHEME, delta=split.delta)
    records = [
        {"industry": name, **each} for name, every in WORKED_EXAMPLE.items() for each in every
    ]
    worked = max(records, key=policy.loss)
    return Claim(
        "Finding the keys with ρ₁ and the sums with ρ₂ and ρ₃ satisfies P-PRzCDP with P(r) = (ρ₁ + "
        "ρ₂ + ρ₃)|A(r)|².",
        "Not for any finite P: a key that only r has is never seen without r, so the divergence is "
        "infinite. It holds with a delta(r) beside P (T9). At ρ₁ = "
        f"{split.rho} and δ = {split.delta}, delta(r) is {amount(float(policy.delta(worked)))} for "
        f"the example's establishments of {_SCHEME.pieces(worked)} pieces, and for {giant.name} "
        f"{split.name} {amount(split.revealed(giant.giant), 4)}, the very chance that it is found.",
        "does not hold",
    )
