"""The least that records could lose, by how accurate a plan's answers are (T30).

Of every count and total that is unbiased, a record that moves it by r loses 2 t atanh(t) at least,
whatever noise of the same variance is added. Of several answers the largest counts, and not the
sum: their noise might be shared. Clamped totals are biased, counts of different values and
quantiles are no totals, of cells that noise decides to publish nothing is known, and the variance
of a blurred total is another in every cell, with its size; all of these are left out, so that what
is said is never too much.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.losses.alike import AlikeRecords, ListedCells, alike_records
from perrecord.evaluate.losses.changes import ChangeWriter, largest_variance, least_of
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.loss_sql import LossWriter
from perrecord.laws.least import least_rho
from perrecord.laws.scales import scale_of
from perrecord.policy.cases import Record
from perrecord.policy.outputs import NoisyNumber
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.release.noise import CellNoise
from perrecord.release.outputs import outputs_of
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table


def least_losses(planned: Plan, table: Table | AlikeRecords) -> Distribution | None:
    """Return the least that the records of a table could lose; None under pure epsilon.

    >>> import perrecord
    >>> from perrecord.queries.plan import plan
    >>> rows = pa.table({"emp": [0, 50, 4_000]})
    >>> asked = perrecord.Query().sum("emp", taper=50, rho="0.2")
    >>> with perrecord.table(rows, measures=["emp"]) as source:
    ...     found = least_losses(plan(asked, source.schema), source)
    >>> [round(each, 2) for each in found.values]
    [0.0, 0.17, 7.74]
    """
    if isinstance(table, Table):
        with alike_records(table) as records:
            return least_losses(planned, records)
    if planned.policy.currency is not Currency.RHO:
        return None
    return table.distribution(Currency.RHO.power, partial(_least, planned), _keys_of(planned))


def least_quantiles(
    plans: Sequence[Plan], records: AlikeRecords, shares: Sequence[Fraction]
) -> list[list[float]]:
    """Return, for each plan, the least losses that these shares of the records do not exceed."""
    power = Currency.RHO.power
    return [
        records.quantiles(power, partial(_least, each), _keys_of(each), shares) for each in plans
    ]


def _keys_of(planned: Plan) -> list[Keys]:
    every = (each.grouping.cells for each in planned.groupings)
    return [*dict.fromkeys(each for each in every if isinstance(each, Keys))]


def _least(planned: Plan, writer: LossWriter, listed: ListedCells) -> str:
    """Return the least that a record of `records` could lose, as SQL."""
    changes = ChangeWriter(planned, writer, dict(listed))
    return least_of([changes.entry(each).largest_ratio() for each in planned.groupings])


def unbiased_outputs(planned: Plan) -> tuple[tuple[PlannedGrouping, NoisyNumber], ...]:
    """Return the numbers of a plan that a least loss is known of, each with its grouping."""
    found = []
    for grouping in planned.groupings:
        if isinstance(grouping.grouping.cells, SelectKeys | SelectCells):
            continue
        answers = tuple(each for each in grouping.answers if not each.answer.is_blurred)
        for each in outputs_of(replace(planned, groupings=(replace(grouping, answers=answers),))):
            if isinstance(each, NoisyNumber) and each.distinct is None and _is_certain(each):
                found.append((grouping, each))
    return tuple(found)


def _is_certain(output: NoisyNumber) -> bool:
    return output.scope.is_certain and output.noise.is_certain


def least_loss(outputs: Sequence[tuple[PlannedGrouping, NoisyNumber]], record: Record) -> Fraction:
    """Return the least that a record could lose by any of a plan's unbiased outputs, rounded down.

    A column that the record does not say is taken for one of a published cell.
    """
    every = [Fraction(0)]
    published = {
        each: _is_published(grouping, record)
        for each, grouping in {id(grouping): grouping for grouping, _ in outputs}.items()
    }
    for grouping, output in outputs:
        among, cell = output.scope.among, output.noise.at(record)
        is_inside = among is None or among.at(record)
        if cell is None or not is_inside or not published[id(grouping)]:
            continue
        if not isinstance(cell, CellNoise) or cell.bounds is not None:
            continue
        variance = largest_variance(scale_of(cell.law, cell.spread, cell.step), cell.step)
        every.append(least_rho(output.noise.shift(record), variance))
    return max(every)


def _is_published(grouping: PlannedGrouping, record: Record) -> bool:
    cells = grouping.grouping.cells
    if not isinstance(cells, Keys):
        return True
    known = {name for name in cells.columns if name in record}
    return not known or all(_holds(factor, known, record) for factor in cells.factors)


def _holds(factor: pa.Table, known: set[str], record: Record) -> bool:
    """Tell whether some row of a factor of keys is that of the record, as far as it says so.

    A key that is missing is a key too.
    """
    rows = factor
    for name in known.intersection(factor.column_names):
        own = pa.array([record[name]], rows[name].type)
        rows = rows.filter(pc.is_in(rows[name], value_set=own))
    return bool(rows.num_rows)
