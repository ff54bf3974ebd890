"""Tables that follow: `post_processing: {follow: {by_state: {from: county, by: [state]}}}`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from perrecord.errors import InputError, listing, suggestion
from perrecord.queries.answers.errors import ENDINGS
from perrecord.queries.hierarchies import Families, Family, SummedTable
from perrecord.queries.hierarchies.summed import joined, keys_above, reason_against
from perrecord.queries.plan import Plan
from perrecord.release.names import is_table_name, table_names
from perrecord.release.spec.problems import Problems
from perrecord.release.spec.processing import FollowEntry, PostProcessing
from perrecord.tables.lookups import Lookup

if TYPE_CHECKING:
    from perrecord.release.spec.build import NamedQuery

FOLLOW = ("post_processing", "follow")


def following_of(
    asked: PostProcessing,
    plan: Plan,
    queries: "Sequence[NamedQuery]",
    families: Families,
    declared: Sequence[Lookup],
    problems: Problems,
) -> tuple[tuple[SummedTable, ...], tuple[Family, ...]]:
    """Return the tables that follow, and what is fitted: with these tables, if it is asked for.

    Where tables are made consistent, sums are those of consistent numbers; otherwise, and of
    numbers that one table has alone, sums of the answers themselves.
    """
    named = {name: place for place, name in enumerate(grouping_names(plan, queries))}
    seen = {name.casefold(): name for name in named}
    fitted = families if asked.consistent is not None else Families((), families.unfitted)
    found: list[SummedTable] = []
    for name, entry in asked.follow.items():
        with problems.at(*FOLLOW, name):
            _check_name(name, seen)
            table = _table(name, entry, plan, named, declared)
            fitted = joined(plan, fitted, table, declared)
            found.append(table)
            seen[name.casefold()] = name
    return tuple(found), fitted.fitted


def grouping_names(plan: Plan, queries: "Sequence[NamedQuery]") -> Iterator[str]:
    """Yield the name of every table that is asked for, in the order of the plan."""
    for planned in plan.groupings:
        query = queries[planned.query]
        sets = [each.columns for each in query.query.groupings]
        yield table_names(query.name, sets)[sets.index(planned.grouping.columns)]


def _check_name(name: str, seen: Mapping[str, str]) -> None:
    if not is_table_name(name):
        raise InputError("expected a name of letters, digits, _ and -, such as by_state.")
    if name.casefold() in seen:
        raise InputError(
            f"there is a table {seen[name.casefold()]!r} already; give the table another name."
        )


def _table(
    name: str,
    entry: FollowEntry,
    plan: Plan,
    named: Mapping[str, int],
    declared: Sequence[Lookup],
) -> SummedTable:
    if entry.source not in named:
        raise InputError(
            f"there is no table {entry.source!r} to add up. Tables are {listing(named)}."
            f"{suggestion(entry.source, named)}"
        )
    twice = [each for each in entry.by if entry.by.count(each) > 1]
    if twice:
        raise InputError(f"by names {twice[0]!r} twice; name it once.")
    source = named[entry.source]
    keys = keys_above(plan, source, entry.by, declared)
    answers = tuple(_answers(entry, plan, source))
    columns = {f"{each}{ending}".casefold() for each in answers for ending in ENDINGS}
    taken = [each for each in keys.columns if each.casefold() in columns]
    if taken:
        raise InputError(
            f"the column {taken[0]!r} has the same name as one of its answers; rename one."
        )
    return SummedTable(name, entry.title or name, source, keys.columns, keys, answers)


def _answers(entry: FollowEntry, plan: Plan, source: int) -> Iterator[str]:
    """Yield the answers that follow: those that are named, or all that do."""
    grouping = plan.groupings[source]
    known = [each.answer.name for each in grouping.answers]
    reasons = {name: reason_against(grouping, name) for name in known}
    for name in entry.answers or ():
        if name not in reasons:
            raise InputError(
                f"the table {entry.source!r} has no answer {name!r}. Answers are {listing(known)}."
                f"{suggestion(name, known)}"
            )
        if reasons[name] is not None:
            raise InputError(f"{name!r} does not follow: {reasons[name]}.")
    if all(reasons.values()):
        raise InputError(
            f"none of its answers follows; {known[0]!r}, for one: {reasons[known[0]]}."
        )
    yield from (
        name
        for name in known
        if reasons[name] is None and (entry.answers is None or name in entry.answers)
    )
