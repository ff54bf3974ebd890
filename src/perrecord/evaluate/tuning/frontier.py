"""The frontier of privacy against error: what other errors would cost, and other ways at each."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pyarrow as pa

from perrecord.evaluate.losses.alike import AlikeRecords
from perrecord.evaluate.tuning.candidates import AS_WRITTEN, WRITTEN, Candidate
from perrecord.evaluate.tuning.senses import Smallest, least_sizes, sizes
from perrecord.evaluate.tuning.tuner import OutOfReach, Times, Tuner
from perrecord.evaluate.variants import accounted
from perrecord.queries.plan import Plan, plan

_MULTIPLES = tuple(Fraction(2) ** power for power in range(-3, 4))

TUNED, EXACTLY = "tuned", "exact accounting"


def frontier(
    tuner: Tuner,
    records: AlikeRecords,
    ranked: Sequence[Candidate],
    times: Times,
    senses: Sequence[Smallest],
) -> pa.Table:
    """Return losses against errors: as tuned, as written, exactly, and by the best of other ways.

    `ranked` are the candidates, the chosen one first. `times` is what all errors are multiplied by
    once more, from an eighth to eight, where that can be reached. `least` is the least that a
    record could lose by unbiased answers as accurate as those of its line (T30).
    """
    lines = [
        (name, float(multiple), planned)
        for multiple in _MULTIPLES
        for name, planned in _at(tuner, ranked, {p: each * multiple for p, each in times.items()})
    ]
    plans = [planned for *_, planned in lines]
    found = sizes([planned.policy for planned in plans], senses, records)
    least = least_sizes(plans, senses, records)
    return pa.Table.from_pylist(
        [
            {"policy": name, "times": error, "of": str(sense), "loss": loss, "least": lowest}
            for (name, error, _), *both in zip(lines, found, least, strict=True)
            for sense, loss, lowest in zip(senses, *both, strict=True)
        ]
    )


def _at(tuner: Tuner, ranked: Sequence[Candidate], times: Times) -> Iterator[tuple[str, Plan]]:
    """Yield the lines of the frontier at some errors, but for what cannot come so close."""
    schema, is_exact_shown = tuner.table.schema, False
    for name, candidate in shown_lines(ranked):
        try:
            tuned = tuner.tuned(candidate, times)
        except OutOfReach:
            continue
        planned = plan(tuned, schema)
        yield name, planned
        exactly = plan(accounted(tuned, "exact"), schema)
        if exactly.policy != planned.policy and not is_exact_shown:
            is_exact_shown = True  # by exact accounting thresholds make no difference
            yield EXACTLY, exactly


def shown_lines(ranked: Sequence[Candidate]) -> list[tuple[str, Candidate]]:
    """Return the candidates that the frontier shows: the chosen one, as written, each other kind.

    >>> split, other = Candidate("fine", kind="split"), Candidate("tapered", kind="taper")
    >>> [name for name, _ in shown_lines([other, split, WRITTEN])]
    ['tuned', 'fine', 'as written']
    """
    best = ranked[0]
    lines, kinds = [(TUNED, best)], {best.kind}
    for each in ranked[1:]:
        if each.kind not in kinds:
            lines.append((AS_WRITTEN if each == WRITTEN else each.name, each))
            kinds.add(each.kind)
    return lines
