"""What a record changes in every number that a plan releases, as SQL (T17).

A change of size x in a number with Gaussian noise costs x^2 / (2 sigma^2), with Laplace noise
|x| / scale, with Student noise what T26 says, with blurred noise what T28 does. It depends on the
record alone: on its values, its filter, its cell.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

import pyarrow as pa

from perrecord.errors import InternalError
from perrecord.evaluate.losses.loss_sql import NOTHING, LossWriter, double, powered
from perrecord.exact import sqrt_up
from perrecord.laws.least import least_sql
from perrecord.laws.scales import Scale, StudentScale
from perrecord.policy.blurring import blurred_sql
from perrecord.policy.tapering import student_sql
from perrecord.policy.terms import Constant, Currency, Form, Piecewise
from perrecord.policy.weighing import range_sql
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
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.measurements import Choice, Measurement, Step
from perrecord.queries.methods import Scales, leaves
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.values import JoinedTables, pieces_value, total_value, weight_value
from perrecord.tables.expressions import to_sql
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class Change:
    """One released number: what a record adds to it, and what that costs.

    Where different values are counted, `value` is the record's own value. Where cells have noise
    of different laws each has its price, which is nothing in the cells of the others.
    """

    value: str
    prices: tuple["ChangePrice", ...]
    is_distinct: bool = False
    least: str | None = None
    """1 / (2 sqrt V) in the record's own cell, V the variance, if the number is unbiased (T30)."""


@dataclass(frozen=True, slots=True)
class ChangePrice:
    """What a change costs under a law: a weight, and how the cost grows with the change.

    Under Student noise of some nu the weight is 1 / (2 sqrt A), in steps; else the cost of 1.
    """

    weight: str
    nu: int | None = None
    by: Fraction | None = None
    is_range: bool = False
    """Whether the change times the weight is a range of log ratios, which costs f of it (T38)."""

    def cost(self, weight: str, change: str, squares: str, power: int) -> str:
        """Return the cost of a change, a DOUBLE, given the weight and the squares it is of as SQL.

        Blurred noise has 1 / (2 sqrt A0) for its weight, and a change widens it by its squares.
        """
        if self.nu is not None and self.by is not None:
            shift = f"(2 * coalesce(abs({change}), {NOTHING}) * {weight})"
            wider = f"({float(4 * self.nu * self.by**2)!r} * {squares} * {weight} * {weight})"
            larger = f"(1 + coalesce({wider}, {NOTHING}))"
            return blurred_sql(power, self.nu, shift, _AS_BEFORE, larger)
        if self.is_range:
            return range_sql(f"(coalesce({change}, {NOTHING}) * {weight})")
        if self.nu is None:
            return f"{weight} * {powered(change, power)}"
        return student_sql(power, self.nu, f"(coalesce(abs({change}), {NOTHING}) * {weight})")


@dataclass(frozen=True, slots=True)
class GroupingChanges:
    """One grouping: whether a record enters a cell of it, and what it changes there."""

    condition: str
    columns: tuple[str, ...]
    changes: tuple[Change, ...]

    def largest_ratio(self) -> str:
        """Return the largest change over its noise here, of unbiased numbers (T30)."""
        every = [
            noise_ratio(double(change.value), change.least)
            for change in self.changes
            if change.least is not None
        ]
        if not every:
            return NOTHING
        return f"CASE WHEN {self.condition} THEN {_largest(every)} ELSE {NOTHING} END"


def noise_ratio(change: str, weight: str) -> str:
    """Return a change over twice the deviation of its noise, given the weight as SQL."""
    return f"(coalesce(abs({change}), {NOTHING}) * {weight})"


def least_of(ratios: list[str]) -> str:
    """Return the least that changes cost, a DOUBLE: of several numbers the most (T30).

    It grows with the ratio, so that it is computed of the largest alone.
    """
    return least_sql(_largest(ratios))


def _largest(ratios: list[str]) -> str:
    return f"greatest({', '.join([NOTHING, NOTHING, *ratios])})"


@dataclass(frozen=True, slots=True)
class ChangeWriter:
    """Writes the changes of a plan's groupings for one statement over `records`.

    Writers of several plans for one statement share the keys that are `listed` there.
    """

    planned: Plan
    losses: LossWriter
    listed: dict[Keys, str] = field(default_factory=dict)

    def entry(self, grouping: PlannedGrouping) -> GroupingChanges:
        """Return what a record changes in one grouping."""
        dialect = self.losses.dialect
        columns = tuple(f"records.{dialect.identifier(name)}" for name in grouping.grouping.columns)
        changes = [
            self._step(step, grouping)
            for charged in grouping.answers
            for step in charged.answer.steps
        ]
        cells = grouping.grouping.cells
        if isinstance(cells, SelectKeys):  # at its policy value, rho * pieces^2 (T9)
            rows = Rows() if cells.split is None else Pieces(cells.split)
            changes.append(Change(self._value(rows), (self._amount(cells.rho),)))
        return GroupingChanges(self._condition(grouping), columns, tuple(changes))

    def _step(self, step: Step, grouping: PlannedGrouping) -> Change:
        if isinstance(step, Choice):  # at its policy value, whatever the measure is (T14, T37)
            return Change(self._value(step.aggregate), (self._choice_price(step),))
        noise = step.noise(self.planned.schema, grouping.grouping.columns, self._currency)
        is_distinct = isinstance(step.aggregate, Different)
        least = self._least(step, noise, grouping)
        return Change(self._value(step.aggregate), self._prices(noise), is_distinct, least)

    def _least(self, step: Measurement, noise: NoisePlan, grouping: PlannedGrouping) -> str | None:
        """Return what a change is multiplied by for its least loss; None where none is known."""
        is_cut = any(leaf.method.bounds is not None for leaf in leaves(step.tree))
        is_selected = isinstance(grouping.grouping.cells, SelectKeys | SelectCells)
        is_no_total = isinstance(step.aggregate, Different) or self._currency is not Currency.RHO
        if noise.widening is not None or noise.blurred is not None:
            return None  # its cells have more noise than losses are priced by
        if is_cut or is_selected or is_no_total:
            return None
        return self.losses.form(_weights(noise.scales, partial(_inverse_root, noise.step)))

    def _value(self, aggregate: Aggregate) -> str:
        """Return what a record adds, or its own value where different ones are counted."""
        dialect, schema = self.losses.dialect, self.planned.schema
        match aggregate:
            case Rows():
                return dialect.literal(1)
            case Filled(column):
                name = dialect.identifier(column)
                return f"CASE WHEN records.{name} IS NOT NULL THEN {dialect.literal(1)} END"
            case Different(column):
                return f"records.{dialect.identifier(column)}"
            case Total(measure):
                resolution = schema.measure(measure).resolution
                return total_value(aggregate, resolution, self.losses.parts)
            case WeightTotal(measure):
                return weight_value(measure, dialect)
            case SquareTotal() | Giants() | SquarePart():
                raise InternalError("A change was to be priced in a sum of squares.")
            case Pieces(split):
                resolutions = {name: each.resolution for name, each in schema.measures}
                return pieces_value(split, resolutions, self.losses.parts)

    @property
    def _currency(self) -> Currency:
        return Currency.RHO if self.losses.power == 2 else Currency.EPSILON

    def _prices(self, noise: NoisePlan) -> tuple[ChangePrice, ...]:
        """Return the price of a change under each law, looked up by the record's own dimensions.

        The key of its cell fixes them, so they find the cell's own noise.
        """
        laws = sorted({_nu(scale) or 0 for scale in noise.scales.every()})
        by = None if noise.blurred is None else noise.blurred.by
        return tuple(
            ChangePrice(self.losses.form(_weights(noise.scales, weight)), nu or None, by)
            for nu in laws
            for weight in (partial(_weight, nu or None, noise.step, self._currency),)
        )

    def _choice_price(self, step: Choice) -> ChangePrice:
        """Return what a record's vote costs, or each step of its weight."""
        if step.weight is None:
            return self._amount(step.amount)
        each = step.weight_step(self.planned.schema) / step.weight.at
        if self._currency.adds_up:
            return self._amount(step.amount * each)
        rate = self._currency.log_ratios(step.amount) * each
        return ChangePrice(self.losses.form(Form((Constant(rate),))), is_range=True)

    def _amount(self, amount: Fraction) -> ChangePrice:
        return ChangePrice(self.losses.form(Form((Constant(amount),))))

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
        """Return whether a record's key is in a public list, which is joined unless it is known."""
        if keys not in self.listed:
            name = f"keys{len(self.listed)}"
            self.listed[keys] = is_listed(keys, name, self.losses.parts, self.planned.schema)
        return self.listed[keys]


def is_listed(keys: Keys, name: str, parts: JoinedTables, schema: Schema) -> str:
    """Return whether the key of a record of `records` is in a public list, which is joined."""
    alias = f"{parts.prefix}_{name}"
    typed = pa.schema([(each, schema.grouping_kind(each).types.arrow) for each in keys.columns])
    listed = pa.array([True] * len(keys), pa.bool_())
    parts.tables[alias] = keys.table.cast(typed).append_column(_LISTED, listed)
    conditions = " AND ".join(
        parts.dialect.is_same(f"records.{name}", f"{alias}.{name}")
        for name in map(parts.dialect.identifier, keys.columns)
    )
    parts.joins.append(f" LEFT JOIN {alias} ON {conditions}")
    return f"{alias}.{_LISTED} IS NOT NULL"


_LISTED = "_perrecord_listed"
_AS_BEFORE = double("1")
_LEAST_VARIANCE = Fraction(1, 10**200)


def _weights(scales: Scales, weight: Callable[[Scale], Fraction]) -> Form:
    if scales.cases is not None:
        return Form((Piecewise(scales.cases.map(lambda each: _weights(each, weight))),))
    return Form() if scales.value is None else Form((Constant(weight(scales.value)),))


@lru_cache(maxsize=4096)
def largest_variance(scale: Scale, step: Fraction) -> Fraction:
    """Return a number that the variance of noise is not above, in the measure's own units.

    Next to no noise counts as 10^-200 squared steps, which floats can hold.
    """
    return max(scale.law(step).variance().upper, _LEAST_VARIANCE) * step**2


def _inverse_root(step: Fraction, scale: Scale) -> Fraction:
    return step / (2 * sqrt_up(largest_variance(scale, step)))


def _nu(scale: Scale) -> int | None:
    return scale.nu if isinstance(scale, StudentScale) else None


def _weight(nu: int | None, step: Fraction, currency: Currency, scale: Scale) -> Fraction:
    """Return the weight of a change in steps of the grid; nothing where noise is of another law."""
    if _nu(scale) != nu:
        return Fraction(0)
    if nu is None:
        return currency.cost(scale, step)
    return step / (2 * sqrt_up(scale.size))
