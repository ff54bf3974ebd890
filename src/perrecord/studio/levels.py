"""How the amount of a number that stands in several tables is divided among them, and moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InputError
from perrecord.evaluate.accuracy.summaries import middle
from perrecord.evaluate.tuning.of_spec import check_names, queries_of
from perrecord.evaluate.tuning.shares import (
    COUNTED,
    SharedAnswer,
    Sharing,
    divided,
    in_digits,
    shared,
)
from perrecord.evaluate.tuning.tuned_spec import check_cost, rewritten
from perrecord.exact import parameter
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.studio.taking import taken


@dataclass(frozen=True, slots=True)
class ShareOfLevel:
    """One table of several: what its answer costs, its share of all, and the errors that follow."""

    table: str
    answer: str
    amount: Fraction
    share: Fraction
    error: float | None
    """The standard error of the median cell, of the noise alone."""
    fitted: float | None
    """The same once tables are fitted so that they add up."""


@dataclass(frozen=True, slots=True)
class DividedAmounts:
    """Every number that stands in several tables, and those whose amounts cannot be moved."""

    families: tuple[tuple[ShareOfLevel, ...], ...]
    untouched: tuple[tuple[str, str], ...]
    is_consistent: bool


def divided_of(loaded: LoadedSpec, workload: Workload) -> DividedAmounts:
    """Return how amounts are divided among tables, from the spec alone."""
    found = _divided(workload, {})
    families: dict[int, list[SharedAnswer]] = {}
    for each in found.answers:
        families.setdefault(each.family, []).append(each)
    is_consistent = loaded.spec.post_processing.consistent is not None
    return DividedAmounts(
        tuple(tuple(_levels(each)) for each in families.values()), found.untouched, is_consistent
    )


def _levels(answers: Sequence[SharedAnswer]) -> list[ShareOfLevel]:
    whole = sum((each.before.amounts[0] for each in answers), Fraction(0))
    return [
        ShareOfLevel(
            each.table,
            each.before.name,
            each.before.amounts[0],
            each.before.amounts[0] / whole,
            middle(each.errors_before.noise),
            None if each.errors_before.fitted is None else middle(each.errors_before.fitted),
        )
        for each in answers
    ]


def moved(
    levels: Sequence[ShareOfLevel], place: int, percent: str
) -> dict[tuple[str, str], Fraction]:
    """Return the amounts by table and answer once one has another share; the others give or take.

    Their sum stays what it is, to the last digit, and so does what they are to each other.
    """
    share = parameter(percent.strip().removesuffix("%").strip(), "the share") / 100
    if not 0 < share < 1:
        raise InputError(f"the share is {percent}; expected a percentage above 0 and below 100.")
    if not 0 <= place < len(levels):
        raise InputError("this table is not among those that share the amount any more.")
    rest = 1 - levels[place].share
    shares = [
        float(share if number == place else (1 - share) * each.share / rest)
        for number, each in enumerate(levels)
    ]
    amounts = in_digits(sum((each.amount for each in levels), Fraction(0)), shares)
    return {(each.table, each.answer): amount for each, amount in zip(levels, amounts, strict=True)}


def text_with_amounts(
    text: str,
    loaded: LoadedSpec,
    workload: Workload,
    given: Mapping[tuple[str, str], Fraction],
) -> str:
    """Return the text of a spec with these amounts; a query over several tables becomes several."""
    return _text(text, loaded, workload, _divided(workload, given))


def text_counted(text: str, loaded: LoadedSpec, workload: Workload, counted: str) -> str:
    """Return the text with amounts shared so that fitted numbers err least, by `COUNTED`."""
    if loaded.spec.post_processing.consistent is None or counted not in COUNTED:
        raise InputError(
            "shares for the least errors are of tables that are made consistent; add to the spec: "
            "post_processing: {consistent: true}"
        )
    found = shared(queries_of(workload), workload.schema, counted, workload.hierarchies)
    return _text(text, loaded, workload, found)


def _divided(workload: Workload, given: Mapping[tuple[str, str], Fraction]) -> Sharing:
    return divided(queries_of(workload), workload.schema, given, workload.hierarchies)


def _text(text: str, loaded: LoadedSpec, workload: Workload, found: Sharing) -> str:
    check_names(queries_of(workload))
    written = rewritten(text, loaded, found, workload.schema, loaded.path)
    made = taken(text, written)
    check_cost(made, found, workload.schema, loaded.path)
    return made
