"""The exact integers of a grouping, counted once more in Python: no engine, no SQL."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perrecord.lab.audit.replay.members import Members
from perrecord.queries.aggregates import Aggregate, Different
from perrecord.queries.measurements import Choice
from perrecord.tables.expressions import Expression

Key = tuple[Any, ...]
Cell = Sequence[int]
"""The numbers of the records in one cell."""


@dataclass(frozen=True, slots=True)
class Recount:
    """The records of a table, or of all but one, that pass a filter."""

    members: Members
    inside: tuple[int, ...]

    @classmethod
    def of(
        cls, members: Members, present: Sequence[int], condition: Expression | None
    ) -> "Recount":
        """Return those of the records that are present and pass."""
        passes = members.pass_filter(condition)
        return cls(members, tuple(each for each in present if passes[each]))

    def cells(self, columns: tuple[str, ...]) -> dict[Key, list[int]]:
        """Return every cell that holds a record, sorted by key, NULL last."""
        found: defaultdict[Key, list[int]] = defaultdict(list)
        keys = self.members.keys(columns)
        for record in self.inside:
            found[keys[record]].append(record)
        return {key: found[key] for key in sorted(found, key=rank)}

    def number(self, aggregate: Aggregate, cell: Cell) -> int:
        """Return what the records of a cell add up to."""
        if isinstance(aggregate, Different):
            values = {self.members.records[each][aggregate.column] for each in cell}
            return len(values - {None})
        adds = self.members.adds(aggregate)
        return sum(adds[each] or 0 for each in cell)

    def scores(self, asked: Choice, cell: Cell) -> list[int]:
        """Return the whole-numbered score of every candidate, from its definition (T14)."""
        held = [self.members.records[each][asked.measure] for each in cell]
        values = [each for each in held if each is not None]
        whole, most = asked.level.denominator, len(values)
        wanted = asked.level * most
        found = []
        for candidate in asked.candidates:
            smaller = sum(value < candidate for value in values)
            larger = sum(value > candidate for value in values)
            too_high, too_low = smaller - wanted, larger - (most - wanted)
            found.append(int(whole * max(too_high, too_low, 0)))
        return found


def rank(key: Key) -> list[Any]:
    """Return what keys are sorted by: text byte by byte, NULL after everything."""
    return [(part is None, part.encode() if isinstance(part, str) else part or 0) for part in key]
