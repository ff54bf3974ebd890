"""Tables that follow from others by adding up: their keys, and the families that they join."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import pyarrow as pa

from perrecord.errors import InputError, listing, number_of
from perrecord.queries.hierarchies.families import (
    Families,
    Family,
    Member,
    SummedTable,
    family_of,
    never,
)
from perrecord.queries.hierarchies.following import Following, followed
from perrecord.queries.hierarchies.placing import NO_KEYS, declared_trees
from perrecord.queries.noise_plan import different_keys
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup


def keys_above(plan: Plan, source: int, columns: Sequence[str], declared: Sequence[Lookup]) -> Keys:
    """Return the keys of a table that is added up from a grouping; refuse what does not follow."""
    grouping = plan.groupings[source].grouping
    keys, own = grouping.cells, grouping.columns
    if not isinstance(keys, Keys):
        raise InputError(
            "the table has no keys below others."
            if keys is None
            else "the keys of the table are selected from the data, and what was not selected is "
            "not zero; it cannot be added up. Declare its keys."
        )
    following = followed(plan.schema, own, declared)
    unknown = [name for name in columns if name not in following]
    if unknown:
        raise InputError(
            f"{listing(unknown)} does not follow from {listing(own)}; group by columns that do, or "
            "say with hierarchies what lies in what."
        )
    if set(own) <= followed(plan.schema, columns, declared).keys():
        raise InputError(
            f"{listing(columns)} has the same cells as the table itself; nothing is added up."
        )
    if not columns:
        return NO_KEYS
    return _sides(keys, [(name, following[name]) for name in columns])


def _sides(keys: Keys, wanted: Sequence[tuple[str, Following]]) -> Keys:
    """Return what columns hold over all keys; those that read the same factors stand together."""
    sides: list[tuple[set[int], list[tuple[str, Following]]]] = []
    for name, column in wanted:
        reads = {
            place
            for place, factor in enumerate(keys.factors)
            if not set(column.reads).isdisjoint(factor.column_names)
        }
        joined = [side for side in sides if side[0] & reads]
        names = [each for side in joined for each in side[1]]
        first = sides.index(joined[0]) if joined else len(sides)
        sides = [side for side in sides if side not in joined]
        sides.insert(first, (reads.union(*(side[0] for side in joined)), [*names, (name, column)]))
    tables = [_side(keys, reads, columns) for reads, columns in sides]
    return Keys.trusted(*(each.table for each in tables))


def _side(keys: Keys, factors: set[int], columns: Sequence[tuple[str, Following]]) -> Keys:
    reads = sorted({name for _, column in columns for name in column.reads})
    whole = Keys.trusted(*(keys.factors[place] for place in sorted(factors)))
    rows, _ = different_keys(whole.table.select(reads))
    found = {name: [column.value(row) for row in rows] for name, column in columns}
    for (name, column), values in zip(columns, found.values(), strict=True):
        orphans = sum(
            value is None and None not in (row[each] for each in column.reads)
            for row, value in zip(rows, values, strict=True)
        )
        if orphans:
            lie = "lies" if orphans == 1 else "lie"
            raise InputError(
                f"{number_of(orphans, 'key')} of {listing(column.reads)} {lie} in no {name}; "
                "complete the table that says what lies in what."
            )
    return Keys.from_columns(pa.table({name: pa.array(each) for name, each in found.items()}))


def reason_against(grouping: PlannedGrouping, answer: str) -> str | None:
    """Return why an answer does not follow for sums of cells; None if it does."""
    found = next(each.answer for each in grouping.answers if each.answer.name == answer)
    return never(found, grouping)


def joined(
    plan: Plan, families: Families, table: SummedTable, declared: Sequence[Lookup]
) -> Families:
    """Return the families with one more table that follows; refuse what cannot be fitted.

    An answer that belongs to no family gets one for itself, for this table alone. Where tables are
    each below the next, one that would be no level between them is added up from rows.
    """
    found = list(families.fitted)
    for answer in table.answers:
        member = Member(table.source, answer)
        place = next(
            (p for p, each in enumerate(found) if member in each.members and len(each.members) > 1),
            None,
        )
        if place is None:
            own = family_of(plan, [member], declared, [table])
            found.append(_fit(own))
        elif table not in (*found[place].following, *found[place].beside):
            found[place] = _wider(plan, found[place], table, member, declared)
    return Families(tuple(found), families.unfitted)


def _wider(
    plan: Plan, family: Family, table: SummedTable, member: Member, declared: Sequence[Lookup]
) -> Family:
    """Return a family with one more table: as a level of its own, or beside a chain of levels."""
    wider = family_of(plan, family.members, declared, (*family.following, table))
    if family.is_chain and (isinstance(wider, str) or not wider.is_chain):
        return replace(family, beside=(*family.beside, table))
    found = replace(_fit(wider), beside=family.beside)
    _check_known(plan, found, member, declared)
    return found


def _fit(found: Family | str) -> Family:
    if isinstance(found, str):
        raise InputError(f"it cannot be fitted with the tables that there are: {found}.")
    return found


def _check_known(plan: Plan, family: Family, member: Member, declared: Sequence[Lookup]) -> None:
    """Refuse sums over combinations that no key lists, where these are not taken for nothing."""
    if family.is_chain:
        return
    trees = declared_trees(family, plan, declared)
    levels = family.levels[family.members.index(member)]
    sizes = [
        tree.starts[level + 1] - tree.starts[level]
        for tree, level in zip(trees, levels, strict=True)
        if tree is not None
    ]
    keys = plan.groupings[member.grouping].grouping.cells
    if isinstance(keys, Keys) and len(keys) < prod(sizes):
        raise InputError(
            f"the table lists {len(keys):,} of {prod(sizes):,} combinations of its hierarchies; "
            "where tables are not each below the next, the others are not taken as zero, so "
            "they cannot be added up. List them all."
        )
