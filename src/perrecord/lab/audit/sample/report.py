"""What the black-box audit reports: bounds beside policies, and whether the audit has teeth."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from perrecord.lab.audit.figures import Figures, FiguresTable, number
from perrecord.lab.audit.sample.audit import CONFIDENCE, Sampled, sampled
from perrecord.lab.audit.sample.case import SampledCase
from perrecord.lab.audit.sample.lone_keys import PIECES, PROMISED, LoneKey, lone_keys

ENOUGH_RUNS = 4_000_000
"""So many runs must come close to the policy where that is the true loss."""
_LEAST_SHARES = ((Fraction(1, 10), 0.92), (Fraction(5), 0.94))
_LEAST_SHARE_BEYOND = 0.81
"""A large loss shows in outputs that are too rare for a sample of millions to count."""


def sample_audit(
    cases: Sequence[SampledCase], runs: int, step: Callable[[str], None] = lambda _: None
) -> Figures:
    """Run the audit; the confidence is shared by the cases and the lone keys."""
    chance = (1 - CONFIDENCE) / (len(cases) + len(PIECES))
    return figures_of(list(sampled(cases, runs, chance, step)), list(lone_keys(runs, chance, step)))


def figures_of(found: Sequence[Sampled], lone: Sequence[LoneKey]) -> Figures:
    """Return what was found as figures."""
    exact = [each for each in found if each.case.is_exact]
    sizes = [each.case.record["emp"] for each in found]
    figures = (
        ("cases", number(len(found))),
        ("runs of each, with the record and without", number(found[0].runs)),
        ("sizes of records, over all mechanisms", f"{number(min(sizes))} to {number(max(sizes))}"),
        ("confidence, for all bounds together", f"{CONFIDENCE:.1%}"),
        ("bounds above the policy", number(sum(each.is_violated for each in found))),
        *(
            (f"least share of the policy shown where it is exact, {what}", _least_share(some))
            for what, some in _by_loss(exact)
        ),
        ("rates of lone keys above delta", number(sum(each.is_violated for each in lone))),
    )
    tables = (
        FiguresTable(
            "What a record loses by its policy, and at least by what was seen",
            ("mechanism", "record", "policy", "at least", "share", "an excess shows from"),
            tuple(_row(each) for each in found),
        ),
        FiguresTable(
            "A key that one record alone has: how often it is published",
            ("pieces", "delta", "published", "of", "rate between", "and"),
            tuple(_lone_row(each) for each in lone),
        ),
    )
    return Figures("sample", figures, tables, tuple(_failures(found, lone)))


def _failures(found: Iterable[Sampled], lone: Iterable[LoneKey]) -> Iterable[str]:
    for each in found:
        what = f"{each.case.name}, record of {number(each.case.record['emp'])}"
        if each.is_violated:
            yield f"{what}: loses at least {each.least:.4g}, the policy says {_loss(each)}"
        if each.runs >= ENOUGH_RUNS and each.case.is_exact and each.share < _needed(each.policy):
            yield f"{what}: only {each.share:.1%} of the policy shown; the audit has no teeth"
    for key in lone:
        if key.is_violated:
            yield f"lone keys of {key.pieces} pieces: published more often than delta"
        if key.pieces == 1 and key.delta > PROMISED:
            yield f"lone keys of one piece: delta is above the promised {float(PROMISED)}"
        if key.is_short:
            yield f"lone keys of {key.pieces} pieces: published less often than their law says"


def _needed(policy: Fraction) -> float:
    return next((share for most, share in _LEAST_SHARES if policy < most), _LEAST_SHARE_BEYOND)


def _by_loss(exact: Sequence[Sampled]) -> Iterable[tuple[str, list[Sampled]]]:
    """Yield the cases by their policy, in the ranges that have a least share of their own."""
    limits = [Fraction(0), *(most for most, _ in _LEAST_SHARES), None]
    for low, high in pairwise(limits):
        some = [e for e in exact if e.policy >= (low or 0) and (high is None or e.policy < high)]
        shown = f"losses from {float(low or 0):g}" + (f" to {float(high):g}" if high else "")
        if some:
            yield shown, some


def _least_share(exact: Sequence[Sampled]) -> str:
    return f"{min((each.share for each in exact), default=0.0):.1%}"


def _row(each: Sampled) -> tuple[str, ...]:
    case = each.case
    return (
        case.name,
        number(case.record["emp"]),
        _loss(each),
        f"{each.least:.4f}",
        f"{each.share:.1%}",
        _excess(each) if case.is_exact else "the policy is an upper bound",
    )


def _excess(each: Sampled) -> str:
    """Return by how much a loss must exceed its policy to be shown by as many runs."""
    return f"{1 / each.share - 1:.1%}" if each.share else "too few runs"


def _loss(each: Sampled) -> str:
    return f"{float(each.policy):g} {each.case.currency.value}"


def _lone_row(key: LoneKey) -> tuple[str, ...]:
    return (
        number(key.pieces),
        f"{float(key.delta):.3g}",
        number(key.published),
        number(key.runs),
        f"{key.low:.3g}",
        f"{key.high:.3g}",
    )
