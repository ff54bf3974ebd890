"""What records lose under policies alone: one, the sum of several, or one that differs by cell.

Computed in the engine, in DOUBLE, and confidential, as everything that reads the records is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import CurrencyError
from perrecord.evaluate.losses.alike import AlikeRecords, ListedCells, alike_records
from perrecord.evaluate.losses.distributions import Distribution, distribution
from perrecord.evaluate.losses.loss_sql import (
    NOTHING,
    LossWriter,
)
from perrecord.evaluate.workspace import workspace
from perrecord.policy.policy import Policy
from perrecord.policy.tapering import student_sql
from perrecord.policy.terms import Currency
from perrecord.tables.engines import RESERVED
from perrecord.tables.table import Table


def policy_losses(
    policies: Policy | Sequence[Policy],
    table: Table | AlikeRecords,
    *,
    points: Sequence[float | Fraction] = (),
) -> Distribution:
    """Return what the records of a table lose under a policy, or the sum of several."""
    if isinstance(table, Table):
        with alike_records(table) as records:
            return policy_losses(policies, records, points=points)
    every = (policies,) if isinstance(policies, Policy) else tuple(policies)
    if len({policy.currency for policy in every}) > 1:
        raise CurrencyError(
            "the policies are partly in rho and partly in epsilon, which do not add up."
        )
    power = every[0].currency.power if every else Currency.RHO.power
    return table.distribution(power, partial(_added, every), points=points)


def _added(policies: Sequence[Policy], writer: LossWriter, _: ListedCells) -> str:
    # Not Policy.total: gathering the like terms of a million cases would take minutes.
    return " + ".join([NOTHING, *(writer.form(policy.form) for policy in policies)])


def policy_quantiles(
    policies: Sequence[Policy], records: AlikeRecords, shares: Sequence[Fraction]
) -> list[list[float]]:
    """Return, for each policy, the least losses that these shares of the records do not exceed.

    A table without records has losses of 0.
    """
    return [
        records.quantiles(each.currency.power, partial(_added, [each]), (), shares)
        for each in policies
    ]


@dataclass(frozen=True, slots=True)
class TaperedCells:
    """What Student noise costs in a cell whose weight is 1 / (2 sqrt A), in the measure's units.

    `entered` is 1 for the records that enter, and 0 for others.
    """

    measure: str
    nu: int
    entered: Policy


@dataclass(frozen=True, slots=True, eq=False)
class CellPolicies:
    """A price for each cell: its weight times a policy, or tapered. Outside cells it is 0."""

    keys: pa.Table
    weights: npt.NDArray[np.float64]
    which: npt.NDArray[np.intp]
    prices: tuple[Policy | TaperedCells, ...]


def cell_losses(every: Sequence[CellPolicies], table: Table) -> Distribution:
    """Return what the records of a table lose by all of these together, computed in the engine.

    The same as `policy_losses` of cases by key, without making a policy of each cell.
    """
    (found,) = each_cell_losses([every], table)
    return found


def each_cell_losses(choices: Sequence[Sequence[CellPolicies]], table: Table) -> list[Distribution]:
    """Return the same for each of several choices of prices, in one pass over the records."""
    with workspace(table) as space:
        writer = LossWriter(table.schema, Currency.RHO.power, space.parts())
        cells = _PricedCells(writer)
        losses = [
            f"{' + '.join([NOTHING, *map(cells.written, every)])} AS l{place}"
            for place, every in enumerate(choices)
        ]
        cells.join()
        kept = space.keep(
            f"SELECT {', '.join(losses)} FROM {writer.records(table)}", writer.parts.tables
        )
        return [distribution(space, kept, f"l{place}", None, ()) for place in range(len(losses))]


@dataclass(frozen=True, slots=True)
class _PricedCells:
    """Writes prices of cells; those of the same keys are joined as one table."""

    writer: LossWriter
    _columns: dict[int, tuple[str, dict[str, pa.Array]]] = field(default_factory=dict)

    def written(self, found: CellPolicies) -> str:
        """Return what a record loses in its cell, as SQL."""
        alias, columns = self._columns.setdefault(id(found.keys), self._keys(found.keys))
        number = len(columns)
        columns[f"_perrecord_weight{number}"] = pa.array(found.weights)
        columns[f"_perrecord_which{number}"] = pa.array(found.which.astype(np.int64))
        weight, which = f"{alias}._perrecord_weight{number}", f"{alias}._perrecord_which{number}"
        cases = "".join(
            f" WHEN {which} = {place} THEN {_priced(price, weight, self.writer)}"
            for place, price in enumerate(found.prices)
        )
        return f"(CASE{cases} ELSE {NOTHING} END)"

    def _keys(self, keys: pa.Table) -> tuple[str, dict[str, pa.Array]]:
        writer, names = self.writer, keys.column_names
        alias = f"{writer.parts.prefix}_cells{len(self._columns)}"
        typed = pa.schema([(name, writer.schema.grouping_kind(name).types.arrow) for name in names])
        return alias, dict(zip(names, keys.cast(typed).columns, strict=True))

    def join(self) -> None:
        """Join the tables of what was written."""
        parts = self.writer.parts
        for alias, columns in self._columns.values():
            names = [each for each in columns if not each.startswith(RESERVED)]
            same = [
                parts.dialect.is_same(f"records.{name}", f"{alias}.{name}")
                for name in map(parts.dialect.identifier, names)
            ]
            parts.tables[alias] = pa.table(columns)
            parts.joins.append(f" LEFT JOIN {alias} ON {' AND '.join(same) or 'TRUE'}")


def _priced(price: Policy | TaperedCells, weight: str, writer: LossWriter) -> str:
    if isinstance(price, Policy):
        return f"{weight} * {writer.form(price.form)}"
    ratio = f"({weight} * {writer.size(price.measure)})"
    cost = student_sql(Currency.RHO.power, price.nu, ratio)
    return f"coalesce({cost}, {NOTHING}) * {writer.form(price.entered.form)}"
