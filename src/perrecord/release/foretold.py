"""The columns that each table of a release will have, known before anything is computed."""

from collections.abc import Iterable, Iterator, Mapping

from perrecord.queries.plan import PlannedGrouping
from perrecord.release.contents import table_name
from perrecord.release.processing import steps_of
from perrecord.release.processing.consistent import Consistent
from perrecord.release.processing.deriving import BESIDE
from perrecord.release.processing.step import ForetoldNumber, TableStep
from perrecord.release.spec import Workload

_OF_INTERVALS = ("_low", "_high", "_sd_at_most")
"""Endings of what is left out where a spec says `intervals: false`."""


def foretold_columns(workload: Workload) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the name of each table and its columns, in the order in which they are written."""
    asked = [
        (table_name(workload, each), tuple(_columns(workload, place, each)))
        for place, each in enumerate(workload.plan.groupings)
    ]
    following = [
        (table.name, (*table.columns, *_names(table.answers, _consistent(workload))))
        for table in workload.following
    ]
    return (*asked, *following)


def _columns(workload: Workload, place: int, grouping: PlannedGrouping) -> Iterator[str]:
    yield from grouping.grouping.columns
    numbers = list(_numbers(workload, grouping))
    for each in numbers:
        yield each.name
        yield from _names([each.name], each.beside)
    for step in steps_of(workload):
        if isinstance(step, TableStep):
            yield from (f"{each.name}{step.ending}" for each in numbers if step.adds_to(each))
    fitted = {
        (member.grouping, member.answer)
        for family in workload.fits
        if len(family.members) > 1
        for member in family.members
    }
    own = [each.name for each in numbers if (place, each.name) in fitted]
    yield from _names(own, _consistent(workload))


def _numbers(workload: Workload, grouping: PlannedGrouping) -> Iterator[ForetoldNumber]:
    for charged in grouping.answers:
        answer = charged.answer
        yield ForetoldNumber(answer.name, _shown(answer.beside, workload), bool(answer.beside))
    for number in workload.derived:
        if table_name(workload, grouping) in number.tables:
            yield ForetoldNumber(number.name, _shown(BESIDE, workload), is_noisy=False)


def _shown(beside: Mapping[str, str], workload: Workload) -> tuple[str, ...]:
    has_intervals = workload.outputs.intervals
    return tuple(each for each in beside if has_intervals or each not in _OF_INTERVALS)


def _consistent(workload: Workload) -> tuple[str, ...]:
    """Return the endings of the columns that add up over all tables; none if not asked for."""
    found = Consistent.asked(workload)
    return () if found is None else tuple(found.endings())


def _names(names: Iterable[str], endings: Iterable[str]) -> list[str]:
    every = tuple(endings)
    return [f"{name}{ending}" for name in names for ending in every]
