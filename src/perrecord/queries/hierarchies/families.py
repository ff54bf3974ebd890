"""Answers of a workload that estimate sums of the same numbers, and the hierarchies they are over.

A family is one additive number (records, or a measure's total) under one filter, published in
several tables. Its grouping columns fall into hierarchies, such as county below state and industry
below sector; every table is one level of each. What belongs to no family is named, with the reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from perrecord.queries.aggregates import Different, Total
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import Grouping, SelectCells, SelectKeys
from perrecord.queries.hierarchies.following import followed
from perrecord.queries.methods import Leaf, Tree
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup

LevelColumns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One answer in one grouping of a plan."""

    grouping: int
    answer: str


@dataclass(frozen=True, slots=True)
class SummedTable:
    """A table that was not asked for and follows from one that was, by adding up."""

    name: str
    title: str
    source: int
    """The grouping that it is added up from."""
    columns: LevelColumns
    keys: Keys
    answers: tuple[str, ...]
    """Of the source, those that it has."""

    @property
    def grouping(self) -> Grouping:
        """Its columns and keys; a total has none."""
        return Grouping(self.columns, self.keys if self.columns else None)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Levels from the coarsest to the finest, each by its columns; () is everything together."""

    levels: tuple[LevelColumns, ...]
    closures: tuple[frozenset[str], ...]
    """For each level the columns of the family that it fixes."""

    def level_of(self, fixed: frozenset[str]) -> int:
        """Return the level of a table that fixes these columns of the family."""
        every = frozenset().union(*self.closures)
        return self.closures.index(fixed & every)


@dataclass(frozen=True, slots=True)
class Family:
    """Answers that estimate the same number on several levels, of one hierarchy or more."""

    members: tuple[Member, ...]
    hierarchies: tuple[Hierarchy, ...]
    levels: tuple[tuple[int, ...], ...]
    """For each member, then for each table that follows, its level of each hierarchy."""
    selected: tuple[bool, ...]
    """For each member whether its keys were selected, so that there may be others."""
    following: tuple[SummedTable, ...] = ()
    """Tables that nothing was measured for, and that follow."""
    beside: tuple[SummedTable, ...] = ()
    """Tables that follow and are no level: the family is a chain, and would be none with them."""

    @property
    def measured_levels(self) -> tuple[tuple[int, ...], ...]:
        """For each member its level of each hierarchy."""
        return self.levels[: len(self.members)]

    @property
    def is_chain(self) -> bool:
        """Whether every two of its tables are one below the other: one tree holds them all."""
        every = sorted(set(self.levels), key=sum)
        return all(
            all(a <= b for a, b in zip(first, second, strict=True))
            for first, second in pairwise(every)
        )


@dataclass(frozen=True, slots=True)
class Unfitted:
    """An answer that is not made consistent, and why."""

    member: Member
    reason: str


@dataclass(frozen=True, slots=True)
class Families:
    """What of a workload can be made consistent, and what cannot."""

    fitted: tuple[Family, ...]
    unfitted: tuple[Unfitted, ...]


def families_of(plan: Plan, declared: Sequence[Lookup] = ()) -> Families:
    """Return the families of a workload, in the order of their first answers."""
    together: dict[object, list[Member]] = {}
    unfitted: list[Unfitted] = []
    for place, grouping in enumerate(plan.groupings):
        for charged in grouping.answers:
            member = Member(place, charged.answer.name)
            reason = never(charged.answer, grouping)
            if reason is None:
                together.setdefault(_number(charged.answer, grouping), []).append(member)
            else:
                unfitted.append(Unfitted(member, reason))
    fitted: list[Family] = []
    for members in together.values():
        found = family_of(plan, members, declared) if len(members) > 1 else _ALONE
        if isinstance(found, Family):
            fitted.append(found)
        else:
            unfitted.extend(Unfitted(member, found) for member in members)
    order = {member: place for place, member in enumerate(_every(plan))}
    return Families(tuple(fitted), tuple(sorted(unfitted, key=lambda each: order[each.member])))


_ALONE = "no other table of the release estimates the same number"


def _every(plan: Plan) -> Iterable[Member]:
    for place, grouping in enumerate(plan.groupings):
        yield from (Member(place, charged.answer.name) for charged in grouping.answers)


def never(answer: Answer, grouping: PlannedGrouping) -> str | None:
    """Return why an answer does not add up over cells at all; None if it does."""
    cells = grouping.grouping.cells
    if not answer.is_additive:
        kind = answer.kind
        return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} does not add up over cells" + (
            "; publish its total and its count, which do" if answer.measurements else ""
        )
    if any(isinstance(step.aggregate, Different) for step in answer.measurements):
        return "different values do not add up: one value may be in several cells"
    if any(step.blurred is not None for step in answer.measurements):
        return (
            "its noise grows with its own records, so that no public weight is known; blur it by a "
            "public scale, which tables can be fitted with"
        )
    if isinstance(cells, SelectCells) and cells.answer == answer.name:
        return (
            "it decided which cells are published, so it is too large in those that are; ask for "
            "the same number once more under another name"
        )
    return None


def _number(answer: Answer, grouping: PlannedGrouping) -> object:
    """Return what an answer estimates a sum of; the same for all answers that add up together.

    The scan stands for the filter. How a total is split or tapered does not matter; cut values add
    up with values that are cut alike.
    """
    aggregate = answer.measurements[0].aggregate
    if isinstance(aggregate, Total) and aggregate.clamps is not None:
        return grouping.scan, Total(aggregate.measure, None), _cut(aggregate.clamps)
    return grouping.scan, aggregate


def _cut(tree: Tree) -> Any:
    if isinstance(tree, Leaf):
        return tree.method.bounds
    cases = tree.cases
    default = None if cases.default is None else _cut(cases.default)
    return cases.dimensions, frozenset((key, _cut(part)) for key, part in cases.entries), default


def family_of(
    plan: Plan,
    members: Sequence[Member],
    declared: Sequence[Lookup],
    following: Sequence[SummedTable] = (),
) -> Family | str:
    """Return the members over their hierarchies, or why they cannot be fitted together.

    Tables that follow are levels of their own, of which nothing was measured.
    """
    tables = [frozenset(plan.groupings[each.grouping].grouping.columns) for each in members]
    tables += [frozenset(each.columns) for each in following]
    every = frozenset().union(*tables)

    def fixed(columns: Iterable[str]) -> frozenset[str]:
        return frozenset(columns) | (every & followed(plan.schema, columns, declared).keys())

    found: list[Hierarchy] = []
    for axis in _axes(plan, every, declared):
        closures = sorted(
            {fixed(table & axis) & axis for table in tables},
            key=lambda each: (len(each), sorted(each)),
        )
        for coarse, fine in pairwise(closures):
            if not coarse < fine:
                one, two = (", ".join(sorted(each)) for each in (coarse, fine))
                return f"of the levels {one} and {two} neither lies below the other"
        narrowest = {
            closure: min(
                (table & axis for table in tables if fixed(table & axis) & axis == closure),
                key=lambda each: (len(each), sorted(each)),
            )
            for closure in closures
        }
        levels = tuple(tuple(sorted(narrowest[closure])) for closure in closures)
        found.append(Hierarchy(levels, tuple(closures)))
    places = tuple(tuple(each.level_of(fixed(table)) for each in found) for table in tables)
    selected = tuple(
        isinstance(plan.groupings[each.grouping].grouping.cells, SelectKeys | SelectCells)
        for each in members
    )
    family = Family(tuple(members), tuple(found), places, selected, tuple(following))
    if any(selected) and not family.is_chain:
        return (
            "keys are selected from the data in tables over several hierarchies, of which not "
            "each lies below the next"
        )
    return family


def _axes(plan: Plan, every: frozenset[str], declared: Sequence[Lookup]) -> list[frozenset[str]]:
    """Return the columns of each hierarchy: those that follow from each other stand together."""
    groups: list[frozenset[str]] = [frozenset({name}) for name in sorted(every)]
    for name in sorted(every):
        following = followed(plan.schema, every - {name}, declared).get(name)
        if following is not None:
            joined = [each for each in groups if not each.isdisjoint({name, *following.reads})]
            rest = [each for each in groups if each not in joined]
            groups = [*rest, frozenset().union(*joined)]
    return sorted(groups, key=sorted) or [frozenset()]
