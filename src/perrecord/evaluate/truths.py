"""The exact numbers behind every answer of a plan, cell by cell, with their noise. Confidential.

A quantile has no noise that adds to it; see `quantile_errors`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.laws import Law
from perrecord.mechanisms.additive import NoisePlan, noise_plan
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Filled, Rows, Total, aggregates_of, total_of
from perrecord.queries.answers import Answer, Average, Quantile, Sum
from perrecord.queries.cells import Cells, Integers, scanned
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Clamping
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """One released number of every cell: the exact one in steps, its bias, and its noise.

    The bias is what clamping adds: the clamped total less the true one. `exact` is without it.
    """

    exact: Integers
    bias: Integers
    noise: NoisePlan
    laws: tuple[Law, ...]
    which: npt.NDArray[np.intp]

    @property
    def step(self) -> Fraction:
        """The step of the grid, in the measure's own units."""
        return self.noise.step


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One answer of one grouping: how many records each cell has, and the numbers it is made of.

    An average is its total, about a public centre, and its count (T13); other answers have no
    count.
    """

    query: int
    columns: tuple[str, ...]
    answer: Answer
    policy: Policy
    keys: pa.Table
    records: Integers
    total: Noisy
    count: Noisy | None = None
    centre: Fraction = Fraction(0)


def truths(planned: Plan, table: Table) -> list[Truth]:
    """Return the exact numbers of every count, total and average.

    Where noise decides which cells are published, these are all cells that the data holds.
    """
    with scanned(_with_truths(planned), table) as cells:
        return [
            truth
            for grouping in planned.groupings
            for truth in _grouping(planned, grouping, cells[grouping.scan])
        ]


def _with_truths(planned: Plan) -> Plan:
    """Return the plan with the number of records and unclamped totals in its scans."""
    scans = []
    for index, scan in enumerate(planned.scans):
        wanted: list[Aggregate] = [*scan.aggregates, Rows()]
        for grouping in planned.groupings:
            if grouping.scan == index:
                wanted += [each for charged in grouping.answers for each in _needed(charged.answer)]
        scans.append(replace(scan, aggregates=tuple(dict.fromkeys(wanted))))
    return replace(planned, scans=tuple(scans))


def _needed(answer: Answer) -> tuple[Aggregate, ...]:
    if isinstance(answer, Sum | Average):
        return (*aggregates_of(answer), Total(answer.measure, None))
    return aggregates_of(answer)


def _grouping(planned: Plan, grouping: PlannedGrouping, cells: Cells) -> Iterator[Truth]:
    keys = keys_of(grouping, cells)
    columns = grouping.grouping.columns
    shown = pa.table({"": pa.array([True])}).select([]) if keys is None else keys.table
    asked = [each for each in grouping.answers if not isinstance(each.answer, Quantile)]
    wanted = dict.fromkeys([Rows(), *(a for each in asked for a in _needed(each.answer))])
    numbers = cells.numbers(columns, list(wanted), keys)
    currency = planned.queries[grouping.query].currency or Currency.RHO
    for charged in asked:
        answer = charged.answer
        assert not isinstance(answer, Quantile)  # noqa: S101 - left out above
        noise = noise_plan(answer, planned.schema, columns, currency)
        found = numbers[aggregates_of(answer)[0]]
        exact, count, centre = found, None, Fraction(0)
        if isinstance(answer, Sum | Average):
            exact = numbers[Total(answer.measure, None)]
        if isinstance(answer, Average):
            filled = numbers[Filled(answer.measure)]
            counting = NoisePlan.of(answer.count, None, planned.schema, columns, currency)
            count = _noisy(filled, filled, counting, shown)
            if isinstance(answer.method, Clamping):
                centre = (answer.method.low + answer.method.high) / 2
            if isinstance(answer, Average) and total_of(answer).is_centred:
                # The total is of 2 * value - (low + high), in half steps.
                exact = 2 * _wide(exact) - int(centre / noise.step) * _wide(filled)
        yield Truth(
            grouping.query,
            columns,
            answer,
            charged.policy,
            shown,
            numbers[Rows()],
            _noisy(exact, found, noise, shown),
            count,
            centre,
        )


def keys_of(grouping: PlannedGrouping, cells: Cells) -> Keys | None:
    """Return the keys of a grouping; all that the data holds, where noise decides."""
    columns, found = grouping.grouping.columns, grouping.grouping.cells
    match found:
        case SelectKeys():
            return Keys.from_columns(cells.occupied(columns, Rows())[0])
        case SelectCells(domain=domain):
            positions, _ = cells.positions(domain, columns, Rows())
            return Keys.trusted(domain.decode(positions))
        case _:
            return found


def _noisy(exact: Integers, answered: Integers, noise: NoisePlan, keys: pa.Table) -> Noisy:
    laws, which = noise.laws(keys)
    bias = np.zeros(len(exact), np.int64) if answered is exact else _wide(answered) - _wide(exact)
    return Noisy(exact, bias, noise, laws, which)


def _wide(numbers: Integers) -> Integers:
    """Return Python's own integers: differences of large totals must not wrap around."""
    return numbers.astype(np.object_)
