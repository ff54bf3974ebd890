"""Losses under a policy that differs from cell to cell, for a hundred thousand cells and more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.evaluate.distributions import Distribution, distribution
from perrecord.evaluate.loss_sql import NOTHING, LossWriter
from perrecord.evaluate.losses import records_with
from perrecord.evaluate.noise_size import Floats
from perrecord.evaluate.workspace import workspace
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class CellPolicies:
    """A policy for each cell: its weight times one of a few policies. Outside them it is 0."""

    keys: pa.Table
    weights: Floats
    which: npt.NDArray[np.intp]
    policies: tuple[Policy, ...]


def cell_losses(every: Sequence[CellPolicies], table: Table) -> Distribution:
    """Return what the records of a table lose by all of these together, computed in the engine.

    The same as `policy_losses` of cases by key, without making a policy of each cell.
    """
    with workspace(table) as space:
        writer = LossWriter(table.schema, Currency.RHO.power, space.parts())
        losses = [_written(place, each, writer) for place, each in enumerate(every)]
        kept = space.keep(
            f"SELECT loss, count(*) AS number FROM (SELECT {' + '.join([NOTHING, *losses])} AS loss"
            f" FROM {records_with(table, writer.parts)}) AS valued GROUP BY loss",
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
        f" WHEN {which} = {number} THEN {weight} * {writer.form(policy.form)}"
        for number, policy in enumerate(found.policies)
    )
    return f"(CASE{cases} ELSE {NOTHING} END)"
