"""The records of a table as policies see them, and exact integers counted from them in Python.

No engine, no SQL: what each record adds to an aggregate, and what the records of a cell add up to.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import InternalError
from perrecord.lab.audit.random_tables import Row
from perrecord.lab.audit.replay.worlds import WORLD
from perrecord.queries.aggregates import (
    Aggregate,
    Different,
    Filled,
    Giants,
    Pieces,
    Rows,
    SquarePart,
    SquareTotal,
    Total,
    WeightTotal,
)
from perrecord.queries.measurements import Choice
from perrecord.queries.methods import at
from perrecord.tables.expressions import Expression, evaluate
from perrecord.tables.schema import Schema

Key = tuple[Any, ...]
Cell = Sequence[int]
"""The numbers of the records in one cell."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The records of one table; what is asked of all of them is computed once."""

    schema: Schema
    records: list[dict[str, Any]]
    _known: dict[object, list[Any]]

    @classmethod
    def of(cls, schema: Schema, rows: Sequence[Row]) -> "Members":
        """Return the records of a table's rows, with id and unit beside."""
        roles = [name for name in (schema.id, schema.unit) if name is not None]
        records = [
            {**{name: row[name] for name in roles}, **schema.record({**row, WORLD: 0})}
            for row in rows
        ]
        return cls(schema, records, {})

    def pass_filter(self, condition: Expression | None) -> list[bool]:
        """Tell for each record whether it meets a condition."""
        if condition is None:
            return [True] * len(self.records)
        if condition not in self._known:
            self._known[condition] = [evaluate(condition, each) is True for each in self.records]
        return self._known[condition]

    def keys(self, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Return the key that each record has over these columns."""
        return [tuple(record[name] for name in columns) for record in self.records]

    def adds(self, aggregate: Aggregate) -> list[int | None]:
        """Return what each record adds to its cell; None if other records decide whether 0 or 1."""
        if aggregate not in self._known:
            self._known[aggregate] = [self._adds(aggregate, record) for record in self.records]
        return self._known[aggregate]

    def _adds(self, aggregate: Aggregate, record: dict[str, Any]) -> int | None:
        match aggregate:
            case Rows():
                return 1
            case Filled(column):
                return int(record[column] is not None)
            case Different(column):
                return 0 if record[column] is None else None
            case Pieces(split):
                return split.pieces(record)
            case SquareTotal() | Giants() | SquarePart():
                raise InternalError("the audit squares whole values.")
            case WeightTotal(measure):
                return self.weight(measure, record)
            case Total(measure, _, is_centred) if record[measure] is None:
                return 0
            case Total(measure, clamps, is_centred):
                step = self.schema.measure(measure).resolution
                value: Fraction = record[measure] / step
                method = None if clamps is None else at(clamps, record)
                if method is not None and method.bounds is not None:
                    low, high = (end / step for end in method.bounds)
                    value = min(max(value, low), high)
                    value = 2 * value - (low + high) if is_centred else value
                return int(value)

    def votes(self, asked: Choice, record: dict[str, Any]) -> int:
        """Return how often a record counts in a quantile, in steps of its weight (T37)."""
        return 1 if asked.weight is None else self.weight(asked.weight.measure, record)

    def weight(self, measure: str, record: dict[str, Any]) -> int:
        """Return a record's weight in steps; nothing where it is missing or below 0."""
        return int(max(record[measure] or 0, 0) / self.schema.measure(measure).resolution)


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

    def squares(self, measure: str, cell: Cell) -> int:
        """Return the sum of the squared grid values of a cell's records (T28)."""
        adds = self.members.adds(Total(measure, None))
        return sum((adds[each] or 0) ** 2 for each in cell)

    def scores(self, asked: Choice, cell: Cell) -> list[int]:
        """Return the whole-numbered score of every candidate, from its definition (T14, T37)."""
        held = [self.members.records[each] for each in cell]
        values: list[tuple[Fraction, int]] = [
            (each[asked.measure], self.members.votes(asked, each))
            for each in held
            if each[asked.measure] is not None
        ]
        whole, most = asked.level.denominator, sum(votes for _, votes in values)
        wanted = asked.level * most
        found = []
        for candidate in asked.candidates:
            smaller = sum(votes for value, votes in values if value < candidate)
            larger = sum(votes for value, votes in values if value > candidate)
            too_high, too_low = smaller - wanted, larger - (most - wanted)
            found.append(int(whole * max(too_high, too_low, Fraction(0))))
        return found


def rank(key: Key) -> list[Any]:
    """Return what keys are sorted by: text byte by byte, NULL after everything."""
    return [(part is None, part.encode() if isinstance(part, str) else part or 0) for part in key]
