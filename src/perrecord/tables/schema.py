"""The public description of a table: which column plays which role. No row is in it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.exact import text
from perrecord.tables.expressions import (
    Column,
    Expression,
    Substring,
    columns_of,
    describe,
    evaluate,
)
from perrecord.tables.fields import Kind, TypedColumn
from perrecord.tables.linking import (
    CHANGE_KIND,
    RECORD_COUNT,
    changed_measure,
    linked_records,
    unless_read,
)
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column to filter and group by: a column of the source, or an expression over some."""

    name: str
    kind: Kind
    expression: Expression


@dataclass(frozen=True)
class Schema:
    """The roles of a table's columns, fixed before any row is read."""

    name: str
    id: str | None
    unit: str | None
    dimensions: tuple[Dimension, ...]
    measures: tuple[tuple[str, Measure], ...]
    columns: tuple[tuple[str, pa.DataType], ...] = ()
    lookups: tuple[Lookup, ...] = ()
    is_linked: bool = False
    """Whether records are changes between two periods (`tables.linking`)."""
    token: str = field(default="", compare=False)
    """Tells the lookups of one table from those of another in the same engine."""

    @cached_property
    def fields(self) -> Mapping[str, TypedColumn]:
        """Every dimension and measure by its name."""
        found = {each.name: TypedColumn(each.name, each.kind) for each in self.dimensions}
        for name, measure in self.measures:
            found[name] = TypedColumn(name, Kind.MEASURE, measure.resolution)
        return found

    @cached_property
    def dimension_names(self) -> frozenset[str]:
        """The names of the dimensions."""
        return frozenset(each.name for each in self.dimensions)

    @cached_property
    def roles(self) -> Roles:
        """What a query is checked against before any column is looked at."""
        resolutions = {name: measure.resolution for name, measure in self.measures}
        kinds = {each.name: each.kind for each in self.dimensions}
        return Roles(
            self.name, self.id, self.unit, tuple(kinds), resolutions, kinds, self.is_linked
        )

    @cached_property
    def rules(self) -> Mapping[str, Measure]:
        """The grid of each measure as a record holds it: a change is up to twice what a row is."""
        if not self.is_linked:
            return dict(self.measures)
        return {name: changed_measure(measure) for name, measure in self.measures}

    @cached_property
    def definitions(self) -> Mapping[str, Expression]:
        """The dimensions that follow from what else a record holds.

        Where records are changes, what reads a measure follows from the rows of its own period.
        """
        definitions = {each.name: each.expression for each in self.dimensions}
        return unless_read(definitions, self.rules) if self.is_linked else definitions

    def measure(self, name: str) -> Measure:
        """Return a measure, or say which there are."""
        self.roles.resolution(name)
        return dict(self.measures)[name]

    def grouping_kind(self, name: str) -> Kind:
        """Return the kind of keys that grouping by a column gives."""
        self.roles.check_grouping(name)
        found = self.fields[name]
        return Kind.INTEGER if found.kind is Kind.MEASURE else found.kind

    def fixed_by(self, columns: Iterable[str]) -> dict[str, Expression]:
        """Return the dimensions that a key over these columns fixes, as functions of the key.

        Beside the columns themselves these are dimensions derived from them: the first two digits
        of a code that is grouped by in full, or by its first three digits.
        """
        known = {each.name: each.expression for each in self.dimensions}
        found: dict[str, Expression] = {name: Column(name) for name in columns}
        plain = {name for name in found if known.get(name) == Column(name)}
        beginnings: dict[Expression, Substring] = {}
        for name, expression in known.items():
            if name in found and isinstance(expression, Substring) and expression.start == 1:
                shorter = beginnings.get(expression.operand)
                if shorter is None or shorter.length < expression.length:
                    beginnings[expression.operand] = Substring(Column(name), 1, expression.length)
        for name, expression in known.items():
            if name in found:
                continue
            if columns_of(expression) <= plain:
                found[name] = expression
            elif isinstance(expression, Substring) and expression.start == 1:
                longer = beginnings.get(expression.operand)
                if longer is not None and longer.length >= expression.length:
                    found[name] = Substring(longer.operand, 1, expression.length)
        return found

    def meaning(self, name: str) -> str:
        """Return what a dimension or measure stands for, as a text that changes when that does.

        A ledger holds it, so that one name means one thing in all charges.
        """
        measures = dict(self.measures)
        if name in measures:
            change = "change from the period before: " if self.is_linked else ""
            return f"{change}{self._measure_meaning(name, measures[name])}"
        found = {each.name: each for each in self.dimensions}[name]
        inner = {
            column: self._column_meaning(column)
            for column in sorted(columns_of(found.expression))
            if column in measures or self._is_looked_up(column)
        }
        shown = describe(found.expression)
        return f"{found.kind.value}: {shown}" + "".join(
            f"; {column} = {meaning}" for column, meaning in inner.items()
        )

    def _measure_meaning(self, name: str, measure: Measure) -> str:
        column = measure.stored(name)
        rule = (
            f"in steps of {text(measure.resolution)}, at most {measure.largest} of them, else "
            f"{measure.outside}"
        )
        if column is not None:
            return f"measure: {self._column_meaning(column)} {rule}"
        read = () if measure.expression is None else measure.expression.names
        return f"measure: {measure.expression} {rule}" + "".join(
            f"; {each} = ({self.meaning(each)})" for each in read
        )

    def _column_meaning(self, column: str) -> str:
        measures = dict(self.measures)
        if column in measures and measures[column].stored(column) != column:
            return self._measure_meaning(column, measures[column])
        for lookup in self.lookups:
            if column in lookup.columns:
                return f"{column} by the lookup {lookup.digest(column)[:16]}"
        return column

    def looked_up(self, name: str) -> tuple[str, ...]:
        """Return the columns of the source by which lookups find what a field reads."""
        measures = dict(self.measures)
        if name in measures:
            column = measures[name].stored(name)
            read = frozenset[str]() if column is None else frozenset((column,))
        else:
            (read,) = (columns_of(each.expression) for each in self.dimensions if each.name == name)
        return tuple(sorted({key for each in read for key in self.keys_of(each)}))

    def keys_of(self, column: str) -> Iterator[str]:
        """Yield the columns that lookups find a column by; none if it is no lookup's."""
        for lookup in self.lookups:
            if column in lookup.columns:
                for ours, _ in lookup.on:
                    yield from self.keys_of(ours) if self._is_looked_up(ours) else (ours,)

    def _is_looked_up(self, column: str) -> bool:
        return any(column in each.columns for each in self.lookups)

    def _stored(self, row: Mapping[str, Any], column: str) -> Any:
        """Return a value as its column holds it: of a 32-bit float Python has made a longer one."""
        value = row[column]
        is_short = isinstance(value, float) and dict(self.columns).get(column) == pa.float32()
        return np.float32(value) if is_short else value

    def linked_records(
        self, this: Mapping[str, Any] | None, last: Mapping[str, Any] | None
    ) -> list[dict[str, Any]]:
        """Return the records that a policy sees of one id, whose rows these are in both periods."""
        roles = [name for name in (self.id, self.unit) if name is not None]
        sides = [
            None if row is None else {**{each: row[each] for each in roles}, **self.record(row)}
            for row in (this, last)
        ]
        names = [name for name, _ in self.measures]
        groups = [*self.grouped_rows, *([] if self.unit is None else [self.unit])]
        return [
            {**each, **self._kinds(each)}
            for each in linked_records(sides[0], sides[1], names, groups)
        ]

    @cached_property
    def grouped_rows(self) -> tuple[str, ...]:
        """The dimensions that a row has by itself: all but those that read the kind of a change."""
        return tuple(
            each.name
            for each in self.dimensions
            if not (self.is_linked and CHANGE_KIND in columns_of(each.expression))
        )

    def _kinds(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the dimensions that read the kind of a change."""
        return {
            each.name: evaluate(each.expression, record)
            for each in self.dimensions
            if each.name not in self.grouped_rows
        }

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of the source as the record that a policy sees: derived and rounded.

        Of a table of changes it is the row of one period, without the kind of a change.
        """
        row = {**row, RECORD_COUNT: 1} if self.is_linked else row
        numbers: dict[str, Fraction | None] = {}
        for name, measure in self.measures:
            column = measure.stored(name)
            if column is not None:
                numbers[name] = measure.number(self._stored(row, column))
            elif measure.expression is not None:
                numbers[name] = measure.number(measure.expression.value(numbers))
        plain = {
            name: _written(value) if isinstance(value, date) else value
            for name, value in row.items()
        }
        scope = {**plain, **numbers}
        derived = {
            each.name: evaluate(each.expression, scope)
            for each in self.dimensions
            if each.name in self.grouped_rows
        }
        return {**derived, **numbers}


def _written(value: date) -> str:
    """Return a date or a moment as the engines write it."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="microseconds")
    return value.isoformat()
