"""The exact numbers behind every answer of a plan, cell by cell, with their noise. Confidential.

A quantile has no noise that adds to it; see `quantiles`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.confidential.revealing import revealed
from perrecord.laws import DiscreteStudent, Law
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Rows
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, scanned
from perrecord.queries.groupings import Grouping, SelectCells, SelectKeys
from perrecord.queries.measurements import Measurement
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Plan, PlannedGrouping, without_choices
from perrecord.queries.scan import Scan
from perrecord.released.numbers import Integers
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema
from perrecord.tables.sizes import two_digits_up
from perrecord.tables.table import Table
from perrecord.watch import Progress, nobody


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


@dataclass(frozen=True, slots=True, eq=False)
class CountedCells:
    """The exact numbers of every grouping of a plan, as its scans gave them.

    They depend on what is counted and not on how it is made private: plans that differ in amounts
    and sizes alone share them.
    """

    schema: Schema
    scans: tuple[Scan, ...]
    """Which records are counted by what; their aggregates are those of the cells."""
    groupings: tuple[tuple[int, Grouping], ...]
    cells: tuple[tuple[pa.Table, Mapping[Aggregate, Integers]], ...]
    """For each grouping its keys, and its aggregates in their order."""

    def serves(self, planned: Plan) -> bool:
        """Return whether a plan counts nothing else, of a table that is declared the same."""
        return self.is_beside(planned) and all(
            set(_needed(grouping)) <= numbers.keys()
            for grouping, (_, numbers) in zip(planned.groupings, self.cells, strict=True)
        )

    def is_beside(self, planned: Plan) -> bool:
        """Return whether a plan counts the same cells, if perhaps more of each."""
        if planned.schema != self.schema or _bare(planned.scans) != self.scans:
            return False
        return _groupings(planned) == self.groupings


def truths(planned: Plan, table: Table) -> list[Truth]:
    """Return the exact numbers of every count, total and average.

    Where noise decides which cells are published, these are all cells that the data holds.
    """
    return truths_of(planned, counted(planned, table))


def counted(
    planned: Plan, table: Table, *, before: CountedCells | None = None, share: Progress = nobody
) -> CountedCells:
    """Return the exact numbers of a plan, scanned once.

    What was counted `before` in the same cells is not counted again. `share` is told how much was
    scanned, where the engine knows.
    """
    known = before if before is not None and before.is_beside(planned) else None
    had = [{} for _ in planned.groupings] if known is None else [each for _, each in known.cells]
    lacking = [
        [each for each in _needed(grouping) if each not in numbers]
        for grouping, numbers in zip(planned.groupings, had, strict=True)
    ]
    with scanned(_counting(planned, lacking), table, share) as cells:
        found = [
            _counted(grouping, cells[grouping.scan], wanted, numbers)
            for grouping, wanted, numbers in zip(planned.groupings, lacking, had, strict=True)
        ]
    return CountedCells(planned.schema, _bare(planned.scans), _groupings(planned), tuple(found))


Asked = tuple[int, tuple[str, ...], Answer]
"""An answer of a grouping: the number of its query, and by which columns."""


def truths_of(
    planned: Plan, cells: CountedCells, apart_from: Collection[Asked] = ()
) -> list[Truth]:
    """Return the exact numbers behind every answer with its noise, from what was counted before."""
    return [
        truth
        for grouping, (keys, numbers) in zip(planned.groupings, cells.cells, strict=True)
        for truth in _grouping(planned, grouping, keys, numbers, apart_from)
    ]


def _bare(scans: Iterable[Scan]) -> tuple[Scan, ...]:
    return tuple(replace(scan, aggregates=()) for scan in scans)


def _groupings(planned: Plan) -> tuple[tuple[int, Grouping], ...]:
    return tuple((each.scan, each.grouping) for each in planned.groupings)


def _counting(planned: Plan, lacking: Sequence[Sequence[Aggregate]]) -> Plan:
    """Return the plan with scans of the number of records, and of what groupings lack."""
    planned = without_choices(planned)
    wanted: list[dict[Aggregate, None]] = [{Rows(): None} for _ in planned.scans]
    for grouping, needed in zip(planned.groupings, lacking, strict=True):
        wanted[grouping.scan] |= dict.fromkeys(needed)
    scans = [
        replace(scan, aggregates=tuple(each))
        for scan, each in zip(planned.scans, wanted, strict=True)
    ]
    return replace(planned, scans=tuple(scans))


def _needed(grouping: PlannedGrouping) -> list[Aggregate]:
    steps = [step for charged in grouping.answers for step in charged.answer.measurements]
    return [each for step in steps for each in (*step.counted, step.truth)]


def _counted(
    grouping: PlannedGrouping,
    cells: Cells,
    lacking: Sequence[Aggregate],
    known: Mapping[Aggregate, Integers],
) -> tuple[pa.Table, Mapping[Aggregate, Integers]]:
    """Return the keys of a grouping, and the exact numbers of its cells."""
    keys = keys_of(grouping, cells)
    shown = pa.table({"": pa.array([True])}).select([]) if keys is None else keys.table
    wanted = dict.fromkeys([Rows(), *lacking])
    read = cells.numbers(grouping.grouping.columns, list(wanted), keys)
    return shown, {**known, **{aggregate: revealed(each) for aggregate, each in read.items()}}


def _grouping(
    planned: Plan,
    grouping: PlannedGrouping,
    shown: pa.Table,
    numbers: Mapping[Aggregate, Integers],
    apart_from: Collection[Asked],
) -> Iterator[Truth]:
    columns = grouping.grouping.columns
    currency = planned.queries[grouping.query].currency or Currency.RHO
    for charged in grouping.answers:
        steps = charged.answer.measurements
        if not steps or (grouping.query, columns, charged.answer) in apart_from:
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
    if step.blurred is None or step.squares is None:
        return noise.laws(keys)
    least = noise.law(noise.scales.at({}))
    assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    different: dict[Fraction, int] = {}
    factor, squares = least.nu * step.blurred.by**2, numbers[step.squares].tolist()
    rounded = {each: two_digits_up(factor * int(each)) for each in set(squares)}
    which = [different.setdefault(rounded[each], len(different)) for each in squares]
    laws = tuple(DiscreteStudent(least.spread + more, least.nu) for more in different)
    return laws, np.array(which, dtype=np.intp)


def _noisy(exact: Integers, answered: Integers, noise: NoisePlan, own: _Laws) -> Noisy:
    laws, which = own
    bias = np.zeros(len(exact), np.int64) if answered is exact else _wide(answered) - _wide(exact)
    return Noisy(exact, bias, noise, laws, which)


def _wide(numbers: Integers) -> Integers:
    """Return Python's own integers: differences of large totals must not wrap around."""
    return numbers.astype(np.object_)
