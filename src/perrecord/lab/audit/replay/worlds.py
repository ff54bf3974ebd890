"""A table beside itself without each of its records, all in one source: worlds 0 to n.

World 0 holds every record, world i all but the i-th. Questions are grouped by the world as well, so
one scan gives the exact integers of n neighbouring pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.confidential.revealing import revealed
from perrecord.lab.audit.random_tables import DECLARED, Row, arrow
from perrecord.laws import DiscreteStudent, Law
from perrecord.mechanisms.quantiles import scores_of
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Pieces, Rows
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, scanned
from perrecord.queries.groupings import Grouping, SelectCells, SelectKeys
from perrecord.queries.measurements import Choice, Measurement
from perrecord.queries.methods import Blurring
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Charged, Plan, PlannedGrouping, plan
from perrecord.queries.query import Query
from perrecord.released.numbers import Integers
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table, table

WORLD = "world"
_NO_KEY = pa.table({"": pa.array([True])}).select([])


@dataclass(frozen=True, slots=True, eq=False)
class WorldNumbers:
    """One exact integer for each cell (first axis) and world, and the noise that a cell gets."""

    aggregate: Aggregate
    numbers: Integers
    laws: tuple[Law, ...]
    which: npt.NDArray[np.intp]
    grown: "Grown | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """By what noise is wider in each cell and world: a share of the sum of its squares (T28)."""

    share: Fraction
    squares: Integers

    def spread(self, least: DiscreteStudent, cell: int, world: int) -> Fraction:
        """Return A of a cell in one world."""
        return least.spread + self.share * int(self.squares[cell, world])


@dataclass(frozen=True, slots=True, eq=False)
class ReadAnswer:
    """What one answer is made of: numbers that get noise, choices with their scores."""

    charged: Charged
    noisy: tuple[WorldNumbers, ...]
    chosen: tuple[tuple[Choice, Integers], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReadGrouping:
    """One grouping in every world: its cells, the answers in them, and the keys that occur."""

    planned: PlannedGrouping
    query: Query
    keys: pa.Table
    answers: tuple[ReadAnswer, ...]
    occupied: tuple[pa.Table, Integers] | None = None
    """Where keys are selected: each with its world, and its number of split rows."""

    def cells(self) -> list[tuple[Any, ...]]:
        """Return the key of every cell."""
        if not self.keys.num_columns:
            return [()]
        return list(zip(*(column.to_pylist() for column in self.keys.columns), strict=True))


def open_worlds(rows: Sequence[Row], declared: Mapping[str, Any] = DECLARED) -> Table:
    """Open the source of all worlds."""
    dimensions = {**declared["dimensions"], WORLD: WORLD}
    return table(_source(rows), **{**declared, "dimensions": dimensions})


def _source(rows: Sequence[Row]) -> pa.Table:
    count = len(rows)
    every = np.tile(np.arange(count), count + 1)
    worlds = np.repeat(np.arange(count + 1), count)
    kept = every != worlds - 1
    return arrow(rows).take(pa.array(every[kept])).append_column(WORLD, pa.array(worlds[kept]))


def read(planned: Plan, opened: Table, worlds: int) -> list[ReadGrouping]:
    """Return the exact integers of a plan in every world."""
    numbers = Keys.from_dict({WORLD: range(worlds)})
    spread = plan([_in_every_world(each, numbers) for each in planned.queries], opened.schema)
    with scanned(spread, opened) as cells:
        return [
            _Reading(planned, original, grouping, cells[grouping.scan], numbers).grouping()
            for original, grouping in zip(planned.groupings, spread.groupings, strict=True)
        ]


def _in_every_world(query: Query, worlds: Keys) -> Query:
    """Return the query answered for each world apart; worlds are the last part of a key."""
    groupings = []
    for grouping in query.groupings:
        match grouping.cells:
            case None:
                cells: Any = worlds
            case Keys() as keys:
                cells = keys * worlds
            case SelectCells(domain, answer, at_least):
                cells = SelectCells(
                    Domain(*domain.factors, worlds), answer=answer, at_least=at_least
                )
            case _:
                cells = grouping.cells
        groupings.append(Grouping((*grouping.columns, WORLD), cells))
    return replace(query, groupings=tuple(groupings))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One grouping, on its way from cells to numbers by world."""

    plan: Plan
    original: PlannedGrouping
    spread: PlannedGrouping
    cells: Cells
    worlds: Keys

    @property
    def columns(self) -> tuple[str, ...]:
        return self.spread.grouping.columns

    def grouping(self) -> ReadGrouping:
        query = self.plan.queries[self.original.query]
        found = self.original.grouping.cells
        occupied, keys = None, found if isinstance(found, Keys) else None
        if isinstance(found, SelectKeys):
            rows: Aggregate = Rows() if found.split is None else Pieces(found.split)
            held = self.cells.occupied(self.columns, rows)
            occupied = revealed(held.keys), revealed(held.numbers)
            own = occupied[0].filter(pc.equal(occupied[0][WORLD], 0)).drop_columns([WORLD])
            keys = Keys.trusted(own)
        elif isinstance(found, SelectCells):
            keys = found.domain.keys()
        shown = _NO_KEY if keys is None else keys.table
        if not shown.num_rows:  # no record passes the filter: there is nothing to compare
            return ReadGrouping(self.original, query, shown, (), occupied)
        every = self.worlds if keys is None else keys * self.worlds
        numbers = self._numbers(every)
        answers = tuple(self._answer(each, shown, every, numbers) for each in self.original.answers)
        return ReadGrouping(self.original, query, shown, answers, occupied)

    def _numbers(self, every: Keys) -> dict[Aggregate, Integers]:
        """Return every aggregate, a row for each cell and a column for each world."""
        found = self.cells.numbers(self.columns, self.spread.aggregates, every)
        return {
            each: revealed(numbers).reshape(-1, len(self.worlds)) for each, numbers in found.items()
        }

    def _answer(
        self, charged: Charged, keys: pa.Table, every: Keys, numbers: dict[Aggregate, Integers]
    ) -> ReadAnswer:
        answer, noisy, chosen = charged.answer, [], []
        columns, schema = self.original.grouping.columns, self.plan.schema
        currency = self.plan.queries[self.original.query].currency or Currency.RHO
        for step in answer.measurements:
            is_kept_by = self._is_kept_by(answer)
            exact = self._placed(step.aggregate) if is_kept_by else numbers[step.aggregate]
            noise = step.noise(schema, columns, currency)
            if step.blurred is not None and step.squares is not None:
                squares = numbers[step.squares].astype(np.object_)
                noisy.append(_blurred(step, step.blurred, noise, exact, squares))
                continue
            noisy.append(WorldNumbers(step.aggregate, exact, *noise.laws(keys)))
        for choice in answer.choices:
            counts = self.cells.buckets(self.columns, choice.bucket, every, choice.aggregate)
            parts = [revealed(each) for each in scores_of(choice, counts, len(every))]
            scores = np.concatenate(parts)
            chosen.append((choice, scores.reshape(len(keys), len(self.worlds), -1)))
        return ReadAnswer(charged, tuple(noisy), tuple(chosen))

    def _is_kept_by(self, answer: Answer) -> bool:
        found = self.original.grouping.cells
        return isinstance(found, SelectCells) and found.answer == answer.name

    def _placed(self, aggregate: Aggregate) -> Integers:
        """Return the numbers that the cells of a domain are kept by, empty cells included."""
        found = self.spread.grouping.cells
        assert isinstance(found, SelectCells)  # noqa: S101 - just looked at
        occupied = self.cells.positions(found.domain, self.columns, aggregate)
        positions, exact = revealed(occupied.positions), revealed(occupied.numbers)
        numbers = np.zeros(found.domain.size, dtype=exact.dtype)
        numbers[positions] = exact
        return numbers.reshape(-1, len(self.worlds))


def _blurred(
    step: Measurement,
    method: Blurring,
    noise: NoisePlan,
    exact: Integers,
    squares: Integers,
) -> WorldNumbers:
    """Return a blurred number with the squares that its noise grows with."""
    least = noise.law(noise.scales.at({}))
    assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    grown = Grown(least.nu * method.by**2, squares)
    return WorldNumbers(step.aggregate, exact, (least,), np.zeros(len(exact), np.intp), grown)
