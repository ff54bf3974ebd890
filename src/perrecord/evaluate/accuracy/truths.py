"""The exact numbers behind every answer of a plan, cell by cell, with their noise. Confidential.

A quantile has no noise that adds to it; see `quantiles`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.confidential.revealing import revealed
from perrecord.laws import DiscreteStudent, Law
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Rows, square_factor
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, scanned
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.measurements import Measurement
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.released.numbers import Integers
from perrecord.tables.keys import Keys
from perrecord.tables.sizes import two_digits_up
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
                wanted += _needed(grouping)
        scans.append(replace(scan, aggregates=tuple(dict.fromkeys(wanted))))
    return replace(planned, scans=tuple(scans))


def _needed(grouping: PlannedGrouping) -> list[Aggregate]:
    steps = [step for charged in grouping.answers for step in charged.answer.measurements]
    return [each for step in steps for each in (step.aggregate, step.truth, *step.squares)]


def _grouping(planned: Plan, grouping: PlannedGrouping, cells: Cells) -> Iterator[Truth]:
    keys = keys_of(grouping, cells)
    columns = grouping.grouping.columns
    shown = pa.table({"": pa.array([True])}).select([]) if keys is None else keys.table
    wanted = dict.fromkeys([Rows(), *_needed(grouping)])
    read = cells.numbers(columns, list(wanted), keys)
    numbers = {aggregate: revealed(each) for aggregate, each in read.items()}
    currency = planned.queries[grouping.query].currency or Currency.RHO
    for charged in grouping.answers:
        steps = charged.answer.measurements
        if not steps:
            continue
        noises = [step.noise(planned.schema, columns, currency) for step in steps]
        exact = [numbers[step.truth] for step in steps]
        if steps[0].is_centred:
            # The total is of 2 * value - (low + high), in half steps.
            middle = int(steps[0].centre / noises[0].step)
            exact[0] = 2 * _wide(exact[0]) - middle * _wide(exact[1])
        total, *count = [
            _noisy(true, numbers[step.aggregate], noise, _laws(step, noise, numbers, shown))
            for true, step, noise in zip(exact, steps, noises, strict=True)
        ]
        yield Truth(
            grouping.query,
            columns,
            charged.answer,
            charged.policy,
            shown,
            numbers[Rows()],
            total,
            count[0] if count else None,
            steps[0].centre,
        )


def keys_of(grouping: PlannedGrouping, cells: Cells) -> Keys | None:
    """Return the keys of a grouping; all that the data holds, where noise decides."""
    columns, found = grouping.grouping.columns, grouping.grouping.cells
    match found:
        case SelectKeys():
            return Keys.from_columns(revealed(cells.occupied(columns, Rows()).keys))
        case SelectCells(domain=domain):
            occupied = cells.positions(domain, columns, Rows())
            return Keys.trusted(domain.decode(revealed(occupied.positions)))
        case _:
            return found


_Laws = tuple[tuple[Law, ...], npt.NDArray[np.intp]]


def _laws(
    step: Measurement, noise: NoisePlan, numbers: Mapping[Aggregate, Integers], keys: pa.Table
) -> _Laws:
    """Return the laws of the cells; of a blurred number from its true squares (T28).

    Their A is rounded up to two digits, so that cells share a few hundred laws: errors are then
    too large by less than 5 %.
    """
    if step.blurred is None:
        return noise.laws(keys)
    least = noise.law(noise.scales.at({}))
    assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    high, middle, low = (square_factor(each) * _wide(numbers[each]) for each in step.squares)
    different: dict[Fraction, int] = {}
    which = [
        different.setdefault(
            two_digits_up(least.nu * step.blurred.by**2 * int(each)), len(different)
        )
        for each in high + middle + low
    ]
    laws = tuple(DiscreteStudent(least.spread + more, least.nu) for more in different)
    return laws, np.array(which, dtype=np.intp)


def _noisy(exact: Integers, answered: Integers, noise: NoisePlan, own: _Laws) -> Noisy:
    laws, which = own
    bias = np.zeros(len(exact), np.int64) if answered is exact else _wide(answered) - _wide(exact)
    return Noisy(exact, bias, noise, laws, which)


def _wide(numbers: Integers) -> Integers:
    """Return Python's own integers: differences of large totals must not wrap around."""
    return numbers.astype(np.object_)
