"""Hints about tables that estimate the same numbers: whether they add up, and what cannot."""

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import prod
from operator import ge, itemgetter, le

import numpy as np

from perrecord.errors import listing, number_of
from perrecord.queries.hierarchies import Family, Hierarchy, Member
from perrecord.queries.hierarchies.placing import MOST_CELLS, Misfit, declared_trees, misfits
from perrecord.release.spec.build import Workload
from perrecord.release.spec.following import FOLLOW
from perrecord.release.spec.names import Found
from perrecord.release.spec.problems import Path
from perrecord.released.fitting.trees import CellTree

_MANY = 2
"""One in so many parents with a single child is worth a hint."""


def consistent_advice(workload: Workload) -> Iterator[Found]:
    """Yield hints about numbers that several tables estimate."""
    is_asked = workload.post_processing.consistent is not None
    told: set[tuple[str, ...]] = set()
    unfit: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    if not is_asked:
        yield from _not_asked(workload)
    yield from _beside_answers_alone(workload)
    for family in workload.families.fitted:
        trees = declared_trees(family, workload.plan, workload.hierarchies)
        cells = prod(tree.size for tree in trees if tree is not None)
        if is_asked and cells > MOST_CELLS and not family.is_chain:
            yield (
                _place(workload, family.members[0]),
                f"{family.members[0].answer!r} is not made consistent: its hierarchies have "
                f"{cells:,} combinations; at most {MOST_CELLS:,} are fitted. Publish fewer levels "
                "at once, or tables of which each lies below the next.",
            )
        if is_asked:
            for misfit in misfits(family, workload.plan, workload.hierarchies):
                if (misfit.above, misfit.below) not in unfit:
                    unfit.add((misfit.above, misfit.below))
                    yield _place(workload, family.members[0]), _contradiction(misfit)
        for hierarchy, tree in zip(family.hierarchies, trees, strict=True):
            for levels, message in _single_children(hierarchy, tree):
                if levels not in told:
                    told.add(levels)
                    yield _place(workload, family.members[0]), message
    if is_asked:
        yield from _never_compared(workload)
        for each in workload.families.unfitted:
            yield (
                _place(workload, each.member),
                f"{each.member.answer!r} is not made consistent: {each.reason}.",
            )


def _beside_answers_alone(workload: Workload) -> Iterator[Found]:
    """Yield what a table that follows does not have although its source does."""
    for table in workload.following:
        source = workload.table_names[table.source]
        missing = [
            f"{number.name!r}"
            for number in workload.derived
            if source in number.tables and number.plain <= set(table.answers)
        ]
        if workload.post_processing.status is not None:
            missing.append("words of status")
        if missing:
            yield (
                (*FOLLOW, table.name),
                f"{listing(missing)}: they stand beside answers, as in {source}, and a table that "
                "follows has none. Compute them from its columns, which end in _consistent and "
                "_consistent_se, or make it a query of its own.",
            )


def _contradiction(found: Misfit) -> str:
    """Return what is wrong with the keys of two levels, and what it does to the numbers."""
    above, below = (", ".join(each) for each in (found.above, found.below))
    parts = []
    if found.orphans:
        lie = "lies" if found.orphans == 1 else "lie"
        parts.append(f"{number_of(found.orphans, 'key')} of {below!r} {lie} in no {above!r}")
    if found.empty:
        hold = "holds" if found.empty == 1 else "hold"
        parts.append(f"{number_of(found.empty, 'key')} of {above!r} {hold} no key of {below!r}")
    return (
        f"{' and '.join(parts)}: consistent columns would move by what is missing, however large. "
        "Complete the lists of keys, or the table of hierarchies that says what lies in what."
    )


def _met_in_nothing_published(family: Family) -> Iterator[tuple[int, int]]:
    """Yield groupings that are fitted together and that no release compares with each other.

    Neither is finer, and no table is coarser than both, or finer.
    """
    levels = family.measured_levels
    for one, other in combinations(range(len(levels)), 2):
        pair = (levels[one], levels[other])
        meet, join = (tuple(map(side, *pair)) for side in (min, max))
        is_between = any(
            all(map(le, each, meet)) or all(map(ge, each, join)) for each in {*levels} - {*pair}
        )
        if meet not in pair and not is_between:
            yield family.members[one].grouping, family.members[other].grouping


def _never_compared(workload: Workload) -> Iterator[Found]:
    pairs = {
        pair: family.members[0]
        for family in reversed(workload.families.fitted)
        for pair in _met_in_nothing_published(family)
    }
    for (one, other), member in sorted(pairs.items(), key=itemgetter(0)):
        names = f"{workload.table_names[one]} and {workload.table_names[other]}"
        yield (
            _place(workload, member),
            f"{names} are fitted together by what both add up to, which no table has: if either "
            "list of keys leaves records out, such as those with a missing value, consistent "
            "columns move by what is missing, and no release can warn of it. Publish the total "
            "over both as well, or make sure that both lists are complete.",
        )


def _not_asked(workload: Workload) -> Iterator[Found]:
    """Yield a hint for each set of tables that estimate the same numbers."""
    together: dict[tuple[int, ...], list[Family]] = {}
    for family in workload.families.fitted:
        tables = tuple(sorted({member.grouping for member in family.members}))
        together.setdefault(tables, []).append(family)
    for families in together.values():
        members = [member for family in families for member in family.members]
        names = dict.fromkeys(workload.table_names[member.grouping] for member in members)
        answers = dict.fromkeys(repr(member.answer) for member in members)
        yield (
            _place(workload, members[1]),
            f"{listing(answers)} in the tables {listing(names)}: the same numbers are estimated "
            "more than once, each time with noise of its own, and will not add up; write "
            "post_processing: {consistent: true} for columns that do and err less, at no "
            "cost, if every list of keys is complete.",
        )


def _single_children(
    hierarchy: Hierarchy, tree: CellTree | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    if tree is None:
        return
    for (above, below), parents in zip(pairwise(hierarchy.levels), tree.parents, strict=True):
        children = np.bincount(parents) if len(parents) else np.zeros(0, np.intp)
        single, every = int((children == 1).sum()), int((children > 0).sum())
        if above and single and _MANY * single >= every:
            names = [", ".join(each) for each in (above, below)]
            yield (
                (*above, *below),
                f"{single:,} of {every:,} keys of {names[0]!r} hold one key of {names[1]!r}: the "
                "same cells, which are paid for twice. Leave one of the two levels out, or give "
                "one of them less.",
            )


def _place(workload: Workload, member: Member) -> Path:
    return ("queries", workload.plan.groupings[member.grouping].query)
