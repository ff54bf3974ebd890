"""A run compared with what it must release: keys, numbers, laws, and every bit that was drawn."""

from collections.abc import Sequence
from itertools import zip_longest

from perrecord.lab.audit.replay.checks import NOBODY, Check
from perrecord.lab.audit.replay.frozen import FrozenBits
from perrecord.lab.audit.replay.members import Members
from perrecord.lab.audit.replay.redrawn import Averages, Choices, Numbers, Redrawn, redrawn
from perrecord.mechanisms.answers import Answers
from perrecord.queries.plan import Plan
from perrecord.released.columns import Chosen, Estimate, Ratio, Released

RECOMPUTED = "a run computed anew"
_OTHER = "is not the exact number with the noise of its law"


def recomputed(
    planned: Plan,
    members: Members,
    present: Sequence[int],
    seed: int,
    answers: Sequence[Answers],
    drawn: Sequence[int],
    left_out: int = NOBODY,
) -> Check:
    """Return whether a run with bits from a seed released what follows from records and prices."""
    bits = FrozenBits(seed)
    expected = list(redrawn(planned, members, present, bits))
    faults = (_fault(*each) for each in zip_longest(answers, expected))
    fault = next((each for each in faults if each is not None), None)
    if fault is None and list(drawn) != bits.drawn:
        fault = "other random bits were drawn than the noise takes"
    numbers = sum(len(each) * len(each.columns) for each in answers)
    return Check(RECOMPUTED, left_out, fault=fault, numbers=numbers)


def _fault(found: Answers | None, expected: Redrawn | None) -> str | None:
    """Return how one table of a run differs from what it must be."""
    if found is None or expected is None:
        return "there are more or fewer tables than groupings"
    columns = [column.to_pylist() for column in found.keys.columns]
    if (list(zip(*columns, strict=True)) if columns else [()]) != expected.keys:
        return "other keys were published than those that are declared, or that noise selects"
    if [each.name for each in found.columns] != [each.name for each in expected.columns]:
        return "other columns were published"
    for column, wanted in zip(found.columns, expected.columns, strict=True):
        if not _is_same(column, wanted):
            return f"a number of {column.name} {_OTHER}"
    return None


def _is_same(column: Released, wanted: Numbers | Averages | Choices) -> bool:
    match column, wanted:
        case Chosen(), Choices():
            return bool(wanted.index == column.index.tolist())
        case Ratio(), Averages():
            return (
                column.centre == wanted.centre
                and _is_same(column.total, wanted.total)
                and _is_same(column.count, wanted.count)
            )
        case Estimate(), Numbers():
            laws = [column.laws[each] for each in column.which.tolist()]
            return (
                wanted.numbers == column.numbers.tolist()
                and column.step == wanted.step
                and laws == wanted.laws
            )
    return False
