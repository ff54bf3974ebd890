"""What records lose under policies alone: one, the sum of several, or one that differs by cell.

Computed in the engine, in DOUBLE, and confidential, as everything that reads the records is.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import CurrencyError
from perrecord.evaluate.losses.distributions import Distribution, distribution
from perrecord.evaluate.losses.loss_sql import (
    NOTHING,
    LossWriter,
)
from perrecord.evaluate.workspace import workspace
from perrecord.policy.policy import Policy
from perrecord.policy.tapering import student_sql
from perrecord.policy.terms import Currency
from perrecord.tables.table import Table


def policy_losses(
    policies: Policy | Sequence[Policy], table: Table, *, points: Sequence[float | Fraction] = ()
) -> Distribution:
    """Return what the records of a table lose under a policy, or the sum of several."""
    every = (policies,) if isinstance(policies, Policy) else tuple(policies)
    if len({policy.currency for policy in every}) > 1:
        raise CurrencyError(
            "the policies are partly in rho and partly in epsilon, which do not add up."
        )
    with workspace(table) as space:
        power = every[0].currency.power if every else Currency.RHO.power
        writer = LossWriter(table.schema, power, space.parts())
        # Not Policy.total: gathering the like terms of a million cases would take minutes.
        loss = " + ".join([NOTHING, *(writer.form(policy.form) for policy in every)])
        kept = space.keep(
            f"SELECT loss, count(*) AS number FROM (SELECT {loss} AS loss "
            f"FROM {writer.records(table)}) AS valued GROUP BY loss",
            writer.parts.tables,
        )
        return distribution(space, kept, "loss", "number", points)


def policy_quantiles(
    policies: Sequence[Policy], table: Table, shares: Sequence[Fraction]
) -> list[list[float]]:
    """Return, for each policy, the least losses that these shares of the records do not exceed.

    All policies are evaluated in one pass; a table without records has losses of 0.
    """
    return quantiles_of(
        table,
        policies[0].currency,
        lambda writer: [writer.form(each.form) for each in policies],
        shares,
    )


def quantiles_of(
    table: Table,
    currency: Currency,
    written: Callable[[LossWriter], list[str]],
    shares: Sequence[Fraction],
) -> list[list[float]]:
    """Return the quantiles of each of several losses that are written as SQL."""
    with workspace(table) as space:
        writer = LossWriter(table.schema, currency.power, space.parts())
        losses = [f"{each} AS l{place}" for place, each in enumerate(written(writer))]
        kept = space.keep(
            f"SELECT {', '.join(losses)} FROM {writer.records(table)}",
            writer.parts.tables,
        )
        count = space.read(f"SELECT count(*) AS number FROM {kept}")["number"][0].as_py()
        if not count:
            return [[0.0] * len(shares) for _ in losses]
        # In the middle of the rank, where no rounding of the share can reach another.
        ranks = [max(1, math.ceil(share * count)) for share in shares]
        levels = ", ".join(repr((rank - 0.5) / count) for rank in ranks)
        wanted = [
            f"quantile_disc(l{place}, [{levels}]) AS l{place}" for place in range(len(losses))
        ]
        row = space.read(f"SELECT {', '.join(wanted)} FROM {kept}").to_pylist()[0]
        return [row[f"l{place}"] for place in range(len(losses))]


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
    with workspace(table) as space:
        writer = LossWriter(table.schema, Currency.RHO.power, space.parts())
        losses = [_written(place, each, writer) for place, each in enumerate(every)]
        kept = space.keep(
            f"SELECT loss, count(*) AS number FROM (SELECT {' + '.join([NOTHING, *losses])} AS loss"
            f" FROM {writer.records(table)}) AS valued GROUP BY loss",
            writer.parts.tables,
        )
        return distribution(space, kept, "loss", "number", ())


def _written(place: int, found: CellPolicies, writer: LossWriter) -> str:
    alias = f"{writer.parts.prefix}_cells{place}"
    names = found.keys.column_names
    typed = pa.schema([(name, writer.schema.grouping_kind(name).types.arrow) for name in names])
    columns = dict(zip(names, found.keys.cast(typed).columns, strict=True))
    columns["_perrecord_weight"] = pa.array(found.weights)
    columns["_perrecord_which"] = pa.array(found.which.astype(np.int64))
    writer.parts.tables[alias] = pa.table(columns)
    same = [
        writer.dialect.is_same(f"records.{name}", f"{alias}.{name}")
        for name in map(writer.dialect.identifier, names)
    ]
    writer.parts.joins.append(f" LEFT JOIN {alias} ON {' AND '.join(same) or 'TRUE'}")
    weight, which = f"{alias}._perrecord_weight", f"{alias}._perrecord_which"
    cases = "".join(
        f" WHEN {which} = {number} THEN {_priced(price, weight, writer)}"
        for number, price in enumerate(found.prices)
    )
    return f"(CASE{cases} ELSE {NOTHING} END)"


def _priced(price: Policy | TaperedCells, weight: str, writer: LossWriter) -> str:
    if isinstance(price, Policy):
        return f"{weight} * {writer.form(price.form)}"
    ratio = f"({weight} * {writer.size(price.measure)})"
    cost = student_sql(Currency.RHO.power, price.nu, ratio)
    return f"coalesce({cost}, {NOTHING}) * {writer.form(price.entered.form)}"
