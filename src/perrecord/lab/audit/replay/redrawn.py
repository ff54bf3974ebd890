"""What a run must release, to the last number: exact integers counted anew, noise drawn anew.

The noise comes from the same bits by the same samplers, with the laws, counts and rates that
prices call for; so whatever a run adds, leaves out, or draws by another law shows as another
number or as other bits. Of the mechanisms only the law of a cell is asked, which is compared with
P(r) by itself; scores and rates of quantiles are computed here once more, from T14.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from math import ceil, isqrt

import numpy as np
import pyarrow as pa

from perrecord.errors import InternalError
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.replay.checks import NOBODY, RECOMPUTED, Check
from perrecord.lab.audit.replay.recount import Cell, Key, Members, Recount, rank
from perrecord.laws import DiscreteGaussian, DiscreteStudent, Law
from perrecord.mechanisms.answers import Answers
from perrecord.noise import choose, draw, gaussian_tail, passing, student_of_squares
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Pieces, Rows
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.measurements import Choice, Measurement, Step
from perrecord.queries.methods import Blurring
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.query import Query
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Ratio, Released
from perrecord.released.numbers import whole_numbers
from perrecord.tables.keys import Keys

_OTHER = "is not the exact number with the noise of its law"


@dataclass(frozen=True, slots=True)
class RedrawnNumbers:
    """A noisy number for each cell, its step, and the law of its noise."""

    name: str
    numbers: list[int]
    step: Fraction
    laws: list[Law]


@dataclass(frozen=True, slots=True)
class RedrawnAverages:
    """Noisy totals about a centre, and noisy counts."""

    name: str
    total: RedrawnNumbers
    count: RedrawnNumbers
    centre: Fraction


@dataclass(frozen=True, slots=True)
class RedrawnChoices:
    """For each cell the place of the chosen candidate."""

    name: str
    index: list[int]


@dataclass(frozen=True, slots=True)
class Redrawn:
    """One grouping: its keys in order, and its columns."""

    keys: list[Key]
    columns: list[RedrawnNumbers | RedrawnAverages | RedrawnChoices]


def redrawn(
    planned: Plan, members: Members, present: Sequence[int], bits: BitSource
) -> Iterator[Redrawn]:
    """Yield what a run of a plan gives on the records that are present, with these bits."""
    for grouping in planned.groupings:
        query = planned.queries[grouping.query]
        recount = Recount.of(members, present, query.filter)
        yield _Grouping(planned, grouping, query, recount, bits).redrawn()


@dataclass(frozen=True, slots=True)
class _Grouping:
    """One grouping, on its way from records to noisy numbers."""

    planned: Plan
    grouping: PlannedGrouping
    query: Query
    recount: Recount
    bits: BitSource

    @property
    def columns(self) -> tuple[str, ...]:
        return self.grouping.grouping.columns

    @property
    def currency(self) -> Currency:
        return self.query.currency or Currency.RHO

    def redrawn(self) -> Redrawn:
        occupied = self.recount.cells(self.columns)
        found = self.grouping.grouping.cells
        columns: list[RedrawnNumbers | RedrawnAverages | RedrawnChoices] = []
        by: RedrawnNumbers | None = None
        match found:
            case None:
                keys: list[Key] = [()]
            case Keys():
                keys = found.rows()
            case SelectKeys():
                keys, by = self._selected(found, occupied)
                if found.rows_as is not None:
                    columns.append(by)
            case SelectCells():
                keys, by = self._kept(found, occupied)
        cells = [occupied.get(key, []) for key in keys]
        table = self._table(keys)
        for asked in self.query.answers:
            is_kept_by = isinstance(found, SelectCells) and asked.name == found.answer
            columns.append(by if by and is_kept_by else self._answer(asked, cells, table))
        return Redrawn(keys, columns)

    def _selected(
        self, found: SelectKeys, occupied: dict[Key, list[int]]
    ) -> tuple[list[Key], RedrawnNumbers]:
        """Select keys: noise of 1 / (2 rho) on the split rows of every key that there is (T9)."""
        rows: Aggregate = Rows() if found.split is None else Pieces(found.split)
        law = DiscreteGaussian(1 / (2 * found.rho))
        noise = _drawn(law, len(occupied), self.bits)
        noisy = {
            key: self.recount.number(rows, cell) + added
            for (key, cell), added in zip(occupied.items(), noise, strict=True)
        }
        keys = sorted((key for key in noisy if noisy[key] >= found.threshold), key=rank)
        numbers = [noisy[key] for key in keys]
        name = found.rows_as or ""
        return keys, RedrawnNumbers(name, numbers, Fraction(1), [law] * len(keys))

    def _kept(
        self, found: SelectCells, occupied: dict[Key, list[int]]
    ) -> tuple[list[Key], RedrawnNumbers]:
        """Keep cells of a domain: those with records by their noise, others by chance (T9)."""
        asked = next(each for each in self.query.answers if each.name == found.answer)
        (step,) = asked.measurements
        noise = self._noise(step)
        law = noise.law(noise.scales.at({}))
        assert isinstance(law, DiscreteGaussian)  # noqa: S101 - zCDP alone keeps cells
        start = ceil(found.at_least / noise.step)
        every = found.domain.keys().rows()
        places = [place for place, key in enumerate(every) if key in occupied]
        own = _drawn(law, len(places), self.bits)
        noisy = {
            place: self.recount.number(step.aggregate, occupied[every[place]]) + added
            for place, added in zip(places, own, strict=True)
        }
        empty = passing(len(every) - len(places), law, start, _bits=self.bits)
        taken = np.array(places, dtype=np.int64)
        others = found.domain.sample(empty, taken, _bits=self.bits).tolist()
        values = gaussian_tail(law.sigma_squared, start, empty, _bits=self.bits).tolist()
        noisy |= dict(zip(others, values, strict=True))
        kept = [place for place in sorted(noisy) if noisy[place] >= start]
        numbers = [noisy[place] for place in kept]
        return [every[place] for place in kept], RedrawnNumbers(
            asked.name, numbers, noise.step, [law] * len(kept)
        )

    def _answer(
        self, asked: Answer, cells: Sequence[Cell], table: pa.Table
    ) -> RedrawnNumbers | RedrawnAverages | RedrawnChoices:
        results = [self._step(asked.name, step, cells, table) for step in asked.steps]
        match results:
            case [only]:
                return only
            case [RedrawnNumbers() as total, RedrawnNumbers() as count]:
                step = asked.measurements[0]
                low, high = step.bounds if step.is_centred and step.bounds else (0, 0)
                centre = Fraction(low + high) / 2
                return RedrawnAverages(asked.name, total, count, centre)
            case _:
                raise InternalError(f"the audit knows no answer of {len(results)} steps.")

    def _step(
        self, name: str, step: Step, cells: Sequence[Cell], table: pa.Table
    ) -> RedrawnNumbers | RedrawnChoices:
        if not isinstance(step, Choice) and step.blurred is not None:
            return self._blurred(name, step, step.blurred, cells)
        if not isinstance(step, Choice):
            return self._numbers(name, step.aggregate, self._noise(step), cells, table)
        scores = [self.recount.scores(step, cell) for cell in cells]
        if not scores:
            return RedrawnChoices(name, [])
        wide = max(map(max, scores)) >= 2**62
        held = np.array(scores, np.object_ if wide else np.int64)
        chosen = choose(held, self._rate(step), _bits=self.bits)
        return RedrawnChoices(name, chosen.tolist())

    def _rate(self, asked: Choice) -> Fraction:
        """Return eps / (2 max(q, 1 - q)) for a score of 1, eps^2 / 8 = rho to 300 bits (T14)."""
        eps = asked.amount
        if self.currency is Currency.RHO:
            eps = Fraction(isqrt(int(8 * asked.amount * 4**300)), 2**300)
        if asked.weight is not None:
            step = self.planned.schema.measure(asked.weight.measure).resolution
            eps = eps * step / asked.weight.at
        level, whole = asked.level, asked.level.denominator
        return eps / (2 * max(level.numerator, whole - level.numerator))

    def _noise(self, step: Measurement) -> NoisePlan:
        return step.noise(self.planned.schema, self.columns, self.currency)

    def _numbers(
        self,
        name: str,
        aggregate: Aggregate,
        noise: NoisePlan,
        cells: Sequence[Cell],
        table: pa.Table,
    ) -> RedrawnNumbers:
        laws, which = noise.laws(table)
        numbers = [self.recount.number(aggregate, cell) for cell in cells]
        for index, law in enumerate(laws):
            places = np.flatnonzero(which == index).tolist()
            for place, added in zip(places, _drawn(law, len(places), self.bits), strict=True):
                numbers[place] += added
        return RedrawnNumbers(name, numbers, noise.step, [laws[each] for each in which.tolist()])

    def _blurred(
        self, name: str, step: Measurement, method: Blurring, cells: Sequence[Cell]
    ) -> RedrawnNumbers:
        """Draw noise of A = A0 + nu by^2 Q for each cell, Q its own records' squares (T28)."""
        noise = self._noise(step)
        least = noise.law(noise.scales.at({}))
        assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
        squares = [self.recount.squares(step.measure or "", cell) for cell in cells]
        growth = least.nu * method.by**2
        drawn = student_of_squares(
            least.spread, growth, whole_numbers(squares), nu=least.nu, _bits=self.bits
        ).tolist()
        numbers = [self.recount.number(step.aggregate, cell) for cell in cells]
        found = [number + int(added) for number, added in zip(numbers, drawn, strict=True)]
        return RedrawnNumbers(name, found, noise.step, [least] * len(cells))

    def _table(self, keys: list[Key]) -> pa.Table:
        """Return the keys in Arrow, as the laws of cells are asked for."""
        if not self.columns:
            return pa.table({"": pa.array([True])}).select([])
        return pa.table(
            {
                name: pa.array([_plain(key[place]) for key in keys])
                for place, name in enumerate(self.columns)
            }
        )


def _plain(part: object) -> object:
    return int(part) if isinstance(part, Fraction) else part


def _drawn(law: Law, count: int, bits: BitSource) -> list[int]:
    """Return so much noise of a law, from the samplers themselves."""
    return [int(each) for each in draw(law, count, _bits=bits)]


def recomputed(
    planned: Plan,
    members: Members,
    present: Sequence[int],
    seed: int,
    answers: Sequence[Answers],
    drawn: Sequence[int],
    left_out: int = NOBODY,
) -> Check:
    """Return whether a run with bits from a seed released what follows from records and prices."""
    bits = FrozenBits(seed)
    expected = list(redrawn(planned, members, present, bits))
    faults = (_fault(*each) for each in zip_longest(answers, expected))
    fault = next((each for each in faults if each is not None), None)
    if fault is None and list(drawn) != bits.drawn:
        fault = "other random bits were drawn than the noise takes"
    numbers = sum(len(each) * len(each.columns) for each in answers)
    return Check(RECOMPUTED, left_out, fault=fault, numbers=numbers)


def _fault(found: Answers | None, expected: Redrawn | None) -> str | None:
    """Return how one table of a run differs from what it must be."""
    if found is None or expected is None:
        return "there are more or fewer tables than groupings"
    columns = [column.to_pylist() for column in found.keys.columns]
    if (list(zip(*columns, strict=True)) if columns else [()]) != expected.keys:
        return "other keys were published than those that are declared, or that noise selects"
    if [each.name for each in found.columns] != [each.name for each in expected.columns]:
        return "other columns were published"
    for column, wanted in zip(found.columns, expected.columns, strict=True):
        if not _is_same(column, wanted):
            return f"a number of {column.name} {_OTHER}"
    return None


def _is_same(column: Released, wanted: RedrawnNumbers | RedrawnAverages | RedrawnChoices) -> bool:
    match column, wanted:
        case Chosen(), RedrawnChoices():
            return bool(wanted.index == column.index.tolist())
        case Ratio(), RedrawnAverages():
            return (
                column.centre == wanted.centre
                and _is_same(column.total, wanted.total)
                and _is_same(column.count, wanted.count)
            )
        case Blurred(), RedrawnNumbers():
            least = DiscreteStudent(column.spread, column.nu)
            return (
                wanted.numbers == column.numbers.tolist()
                and column.step == wanted.step
                and all(law == least for law in wanted.laws)
            )
        case Estimate(), RedrawnNumbers():
            laws = [column.laws[each] for each in column.which.tolist()]
            return (
                wanted.numbers == column.numbers.tolist()
                and column.step == wanted.step
                and laws == wanted.laws
            )
    return False
