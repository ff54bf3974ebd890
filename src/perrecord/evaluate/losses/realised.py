"""What the records and units of a confidential table lose under a plan: policy and realised.

Everything here is confidential. It is computed in the engine, in DOUBLE, and agrees with the exact
losses to one part in 10^9; no guarantee rests on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from perrecord.evaluate.losses.changes import (
    Change,
    ChangeWriter,
    GroupingChanges,
    least_of,
    noise_ratio,
)
from perrecord.evaluate.losses.distributions import Distribution, distribution
from perrecord.evaluate.losses.loss_sql import (
    NOTHING,
    LossWriter,
    advanced_sql,
    double,
)
from perrecord.evaluate.workspace import Workspace, workspace
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.values import JoinedTables
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True)
class UnitLosses:
    """What units lose, all of their records changed together.

    `realised` is T17's loss; `simple`, `advanced` and `tight` are the bounds of T7 on the records'
    policy losses. Under pure epsilon losses add, and the three are one. `least` is what any
    unbiased answers as accurate would cost at least (T30), None under pure epsilon. A record
    without a unit is a unit of its own.
    """

    realised: Distribution
    simple: Distribution
    advanced: Distribution
    tight: Distribution
    least: Distribution | None = None


@dataclass(frozen=True, slots=True)
class Losses:
    """What the records of a table lose under a plan, and its units if it has any.

    `minimum` is PolicyMin: the least loss of any possible record. `least` is the least that each
    record could lose, by how accurate the answers are (T30); None under pure epsilon.
    """

    currency: Currency
    minimum: Fraction
    policy: Distribution
    realised: Distribution
    units: UnitLosses | None
    least: Distribution | None = None

    @property
    def share_above_minimum(self) -> float:
        """The share of the records that lose more than the policy's minimum."""
        return self.policy.share_above(self.minimum)

    def to_arrow(self) -> pa.Table:
        """Return every distribution in one table: of whom, which loss, value, share."""
        tables = []
        for whom, loss, found in self._each():
            table = found.to_arrow()
            for name, text in (("loss", loss), ("of", whom)):
                table = table.add_column(0, name, pa.array([text] * table.num_rows, pa.string()))
            tables.append(table)
        return pa.concat_tables(tables)

    def _each(self) -> Iterator[tuple[str, str, Distribution]]:
        yield "records", "policy", self.policy
        yield "records", "realised", self.realised
        if self.least is not None:
            yield "records", "least possible", self.least
        if self.units is not None:
            yield "units", "realised", self.units.realised
            if self.units.least is not None:
                yield "units", "least possible", self.units.least
            yield "units", "simple", self.units.simple
            yield "units", "advanced", self.units.advanced
            yield "units", "tight", self.units.tight


def losses(planned: Plan, table: Table, *, points: Sequence[float | Fraction] = ()) -> Losses:
    """Return the policy and the realised losses of every record and unit, as distributions.

    A realised loss adds up, over the cells that a record or unit enters, change^2/(2 sigma^2)
    (T17); quantiles and key selections enter at their policy value, different values as if nobody
    else had them, and cells whose publication noise decides as published. The shares above
    `points` are exact, and so is the one above the policy's minimum.

    >>> import perrecord
    >>> from perrecord.queries.plan import plan
    >>> rows = pa.table({"firm": [1, 1, 2], "emp": [10, 150, 75]})
    >>> with perrecord.table(rows, unit="firm", measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", split=perrecord.Split(emp=50), rho="0.5")
    ...     found = losses(plan(asked, source.schema), source)
    >>> found.policy.values, found.units.simple.values, found.policy.share_above(2)
    ((0.5, 2.0, 4.5), (2.0, 10.0), 0.333...)
    >>> found.units.realised.largest                                # 0.5 * (160 / 50)^2
    5.12
    """
    policy = planned.policy
    minimum = policy.minimum()
    every = [minimum, *points]
    with workspace(table) as space:
        run = _Run(planned, table, space, policy)
        records = run.records()
        units = None
        if table.schema.unit is not None:
            units = run.units(records, every)
        return Losses(
            policy.currency,
            minimum,
            distribution(space, records, "policy", "number", every),
            distribution(space, records, "realised", "number", every),
            units,
            None
            if policy.currency.adds_up
            else distribution(space, records, "lowest", "number", ()),
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """The statements of one evaluation."""

    planned: Plan
    table: Table
    space: Workspace
    policy: Policy

    @property
    def power(self) -> int:
        return self.policy.currency.power

    def records(self) -> str:
        """Keep how many records have which policy, realised and lowest loss.

        Of records that share their unit with others, the unit as well.
        """
        writer = LossWriter(self.table.schema, self.power, self.space.parts())
        policy = writer.form(self.policy.form)
        changes = ChangeWriter(self.planned, writer)
        entries = [changes.entry(each) for each in self.planned.groupings]
        realised = " + ".join(map(self._entered, entries)) or NOTHING
        lowest = least_of([each.largest_ratio() for each in entries])
        unit = ""
        if self.table.schema.unit is not None:
            unit = f"{_SEVERAL}.unit AS unit, "
            writer.parts.joins.append(f" LEFT{self._several()}")
        names = f"{'unit, ' if unit else ''}policy, realised, lowest"
        return self.space.keep(
            f"SELECT {names}, count(*) AS number FROM (SELECT {unit}{policy} AS policy, "
            f"{realised} AS realised, {lowest} AS lowest FROM {writer.records(self.table)}) "
            f"AS valued GROUP BY {names}",
            writer.parts.tables,
        )

    def units(self, records: str, points: Sequence[float | Fraction]) -> UnitLosses:
        """Return the losses of units, given what was kept of their records."""
        units = self._units(records)
        if self.policy.currency.adds_up:
            added = distribution(self.space, units, "total", "number", points)
            realised = distribution(self.space, units, "realised", "number", points)
            return UnitLosses(realised, added, added, added)
        members = (
            "(SELECT unit, policy FROM (SELECT unit, policy, count(*) OVER (PARTITION BY unit) AS "
            f"several FROM {_members(records)} WHERE policy > 0) AS counted WHERE several > 1) "
            "AS members"
        )
        bounds = (
            f"(SELECT bound, 1 AS number FROM ({advanced_sql(members, 'unit', 'policy')}) "
            f"AS several UNION ALL SELECT total AS bound, number FROM {units} WHERE records < 2) "
            "AS bounds"
        )
        tight = "least(roots * roots, records * total)"  # rounding must not lift it above simple
        columns = (
            (units, "realised"),
            (units, "CASE WHEN records > 1 THEN records * total ELSE total END"),
            (bounds, "bound"),
            (units, f"CASE WHEN records > 1 THEN {tight} ELSE total END"),
            (units, "lowest"),
        )
        return UnitLosses(
            *(distribution(self.space, name, value, "number", points) for name, value in columns)
        )

    def _units(self, records: str) -> str:
        """Return how many units there are of which losses.

        `records` counts those of a unit's records that lose anything. A unit of one record loses
        what the record does.
        """
        positive = "CASE WHEN policy > 0 THEN 1 ELSE 0 END"
        return (
            f"(SELECT coalesce(changed.realised, {NOTHING}) AS realised, whole.records AS records, "
            f"whole.total AS total, whole.roots AS roots, coalesce(changed.lowest, {NOTHING}) "
            "AS lowest, 1 AS number FROM "
            f"(SELECT unit, CAST(sum({positive}) AS BIGINT) AS records, sum(policy) AS total, "
            f"sum(sqrt(policy)) AS roots FROM {_members(records)} GROUP BY unit) AS whole "
            f"LEFT JOIN {self._kept_changes()} AS changed ON changed.unit = whole.unit "
            "UNION ALL SELECT realised, 1 AS records, policy AS total, sqrt(policy) AS roots, "
            f"lowest, number FROM {records} WHERE unit IS NULL) AS units"
        )

    def _kept_changes(self) -> str:
        """Keep what units of several records lose really, and at least."""
        tables: dict[str, pa.Table] = {}
        realised = []
        for grouping in self.planned.groupings:
            sql, own = self._by_cell(grouping)
            realised.append(sql)
            tables |= own.tables
        return self.space.keep(
            "SELECT unit, sum(realised) AS realised, max(lowest) AS lowest FROM "
            f"({' UNION ALL '.join(realised)}) AS cells GROUP BY unit",
            tables,
        )

    def _several(self) -> str:
        """Return the join of the units that have several records."""
        unit = self.table.engine.dialect.identifier(self.table.schema.unit or "")
        units = self.table.select([self.table.schema.unit or ""])
        return (
            f" JOIN (SELECT {unit} AS unit FROM ({units}) AS records WHERE {unit} IS NOT NULL "
            f"GROUP BY {unit} HAVING count(*) > 1) AS {_SEVERAL} ON {_SEVERAL}.unit = "
            f"records.{unit}"
        )

    def _entered(self, entry: GroupingChanges) -> str:
        costs = [
            price.cost(price.weight, size, f"({size} * {size})", self.power)
            for change in entry.changes
            for size in (self._size(change),)
            for price in change.prices
        ]
        return f"CASE WHEN {entry.condition} THEN {' + '.join(costs)} ELSE {NOTHING} END"

    def _size(self, change: Change) -> str:
        value = f"CASE WHEN {change.value} IS NOT NULL THEN 1 END"
        return double(value if change.is_distinct else change.value)

    def _by_cell(self, grouping: PlannedGrouping) -> tuple[str, JoinedTables]:
        """Return the SELECT of each unit's realised and lowest loss in each cell of a grouping.

        Of units of several records: their changes add up in a cell before they cost anything.
        """
        writer = LossWriter(self.table.schema, self.power, self.space.parts())
        entry = ChangeWriter(self.planned, writer).entry(grouping)
        keys = [f"{column} AS k{place}" for place, column in enumerate(entry.columns)]
        shown = [f"{_SEVERAL}.unit AS unit", *keys]
        writer.parts.joins.append(self._several())
        inner, costs, ratios = [], [], []
        for place, change in enumerate(entry.changes):
            shown.append(f"{change.value} AS v{place}")
            total = writer.dialect.total(f"v{place}")
            added = f"count(DISTINCT v{place})" if change.is_distinct else total
            inner.append(f"{double(added)} AS v{place}")
            if any(price.by is not None for price in change.prices):
                value = double(f"v{place}")
                inner.append(f"sum({value} * {value}) AS q{place}")
            for number, price in enumerate(change.prices):
                weight = f"w{place}_{number}"
                shown.append(f"{price.weight} AS {weight}")
                inner.append(f"max({weight}) AS {weight}")
                costs.append(price.cost(weight, f"v{place}", f"q{place}", self.power))
            if change.least is not None:
                shown.append(f"{change.least} AS least{place}")
                inner.append(f"max(least{place}) AS least{place}")
                ratios.append(noise_ratio(f"v{place}", f"least{place}"))
        grouped = ", ".join(["unit", *(f"k{place}" for place in range(len(keys)))])
        sql = (
            f"SELECT unit, {' + '.join(costs)} AS realised, {least_of(ratios)} AS lowest FROM "
            f"(SELECT {', '.join([grouped, *inner])} FROM (SELECT {', '.join(shown)} "
            f"FROM {writer.records(self.table)} WHERE {entry.condition}) AS entered "
            f"GROUP BY {grouped}) AS changed"
        )
        return sql, writer.parts


_SEVERAL = "_perrecord_several"


def _members(records: str) -> str:
    """Return a row for each record that shares its unit with others."""
    return (
        "(SELECT unit, policy, unnest(range(number)) AS copy "
        f"FROM {records} WHERE unit IS NOT NULL) AS members"
    )
