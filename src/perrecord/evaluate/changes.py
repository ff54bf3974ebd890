"""What a record changes in every number that a plan releases, as SQL (T17).

A change of size x in a number with Gaussian noise costs x^2 / (2 sigma^2), with Laplace noise
|x| / scale. It depends on the record alone: on its values, its filter, its cell.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

import pyarrow as pa

from perrecord.evaluate.loss_sql import ARROW, LossWriter
from perrecord.mechanisms.additive import NoisePlan, noise_plan
from perrecord.policy.terms import Constant, Currency, Form, Piecewise
from perrecord.queries.aggregates import total_of
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Spreads
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.values import pieces_value, total_value
from perrecord.tables.expressions import to_sql
from perrecord.tables.keys import Keys


@dataclass(frozen=True, slots=True)
class Change:
    """One released number: what a record adds to it, and what a change of 1 costs.

    Where different values are counted, `value` is the record's own value.
    """

    value: str
    weight: str
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One grouping: whether a record enters a cell of it, and what it changes there."""

    condition: str
    columns: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ChangeWriter:
    """Writes the changes of a plan's groupings for one statement over `records`."""

    planned: Plan
    losses: LossWriter
    _listed: dict[Keys, str] = field(default_factory=dict)

    def entry(self, grouping: PlannedGrouping) -> Entry:
        """Return what a record changes in one grouping."""
        dialect = self.losses.dialect
        columns = tuple(f"records.{dialect.identifier(name)}" for name in grouping.grouping.columns)
        changes = [
            change
            for charged in grouping.answers
            for change in self._answer(charged.answer, grouping)
        ]
        cells = grouping.grouping.cells
        if isinstance(cells, SelectKeys):  # at its policy value, rho * pieces^2 (T9)
            pieces = dialect.literal(1)
            if cells.split is not None:
                resolutions = {name: m.resolution for name, m in self.planned.schema.measures}
                pieces = pieces_value(cells.split, resolutions, self.losses.parts)
            changes.append(Change(pieces, self._amount(cells.rho)))
        return Entry(self._condition(grouping), columns, tuple(changes))

    def _answer(self, answer: Answer, grouping: PlannedGrouping) -> list[Change]:
        one = self.losses.dialect.literal(1)
        match answer:
            case Quantile(amount=amount):  # at its policy value, whatever the measure is (T14)
                return [Change(one, self._amount(amount))]
            case Count(column=column):
                value = one if column is None else self._filled(column)
                return [Change(value, self._noise(answer, grouping))]
            case CountDistinct(column=column):
                name = self.losses.dialect.identifier(column)
                return [Change(f"records.{name}", self._noise(answer, grouping), is_distinct=True)]
            case Sum():
                return [self._total(answer, grouping)]
            case Average(count=count, measure=measure):
                filled = self._filled(measure)
                noise = NoisePlan.of(
                    count, None, self.planned.schema, grouping.grouping.columns, self._currency
                )
                return [self._total(answer, grouping), Change(filled, self._weight(noise))]
            case _:
                assert_never(answer)

    def _total(self, answer: Sum | Average, grouping: PlannedGrouping) -> Change:
        resolution = self.planned.schema.measure(answer.measure).resolution
        value = total_value(total_of(answer), resolution, self.losses.parts)
        return Change(value, self._noise(answer, grouping))

    def _filled(self, column: str) -> str:
        name = self.losses.dialect.identifier(column)
        return f"CASE WHEN records.{name} IS NOT NULL THEN {self.losses.dialect.literal(1)} END"

    @property
    def _currency(self) -> Currency:
        return Currency.RHO if self.losses.power == 2 else Currency.EPSILON

    def _noise(
        self, answer: Count | CountDistinct | Sum | Average, grouping: PlannedGrouping
    ) -> str:
        columns = grouping.grouping.columns
        return self._weight(noise_plan(answer, self.planned.schema, columns, self._currency))

    def _weight(self, noise: NoisePlan) -> str:
        """Return the cost of one step, looked up by the record's own dimensions.

        The key of its cell fixes them, so they find the cell's own noise.
        """
        return self.losses.form(_weights(noise.spreads, noise.step, self.losses.power))

    def _amount(self, amount: Fraction) -> str:
        return self.losses.form(Form((Constant(amount),)))

    def _condition(self, grouping: PlannedGrouping) -> str:
        """Return whether a record passes the filter and has a cell that may be published."""
        dialect, schema = self.losses.dialect, self.planned.schema
        conditions = []
        query = self.planned.queries[grouping.query]
        if query.filter is not None:
            fragments = {name: f"records.{dialect.identifier(name)}" for name in schema.fields}
            conditions.append(f"({to_sql(query.filter, schema.fields, fragments, dialect)})")
        cells = grouping.grouping.cells
        if isinstance(cells, Keys):
            conditions.append(self._is_listed(cells))
        elif isinstance(cells, SelectCells):
            conditions += [self._is_listed(factor) for factor in cells.domain.factors]
        return " AND ".join(conditions) or "TRUE"

    def _is_listed(self, keys: Keys) -> str:
        """Return whether a record's key is in a public list, which is joined."""
        if keys in self._listed:
            return self._listed[keys]
        parts, schema = self.losses.parts, self.planned.schema
        alias = f"{parts.prefix}_keys{len(self._listed)}"
        typed = pa.schema([(name, ARROW[schema.grouping_kind(name)]) for name in keys.columns])
        listed = pa.array([True] * len(keys), pa.bool_())
        parts.tables[alias] = keys.table.cast(typed).append_column(_LISTED, listed)
        conditions = " AND ".join(
            parts.dialect.is_same(f"records.{name}", f"{alias}.{name}")
            for name in map(parts.dialect.identifier, keys.columns)
        )
        parts.joins.append(f" LEFT JOIN {alias} ON {conditions}")
        self._listed[keys] = f"{alias}.{_LISTED} IS NOT NULL"
        return self._listed[keys]


_LISTED = "_perrecord_listed"


def _weights(spreads: Spreads, step: Fraction, power: int) -> Form:
    if spreads.cases is not None:
        return Form((Piecewise(spreads.cases.map(lambda each: _weights(each, step, power))),))
    if spreads.value is None:
        return Form()
    cost = step**2 / (2 * spreads.value) if power == 2 else step / spreads.value
    return Form((Constant(cost),))
