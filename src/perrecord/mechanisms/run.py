"""A plan, run: scan, read the exact integers, add noise. Nothing else leaves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from perrecord.confidential.withheld import withheld
from perrecord.mechanisms.additive import blurred, estimate
from perrecord.mechanisms.answers import UNGROUPED, Answers
from perrecord.mechanisms.parallel import in_threads
from perrecord.mechanisms.quantiles import quantile
from perrecord.mechanisms.selection import Selected, check_sparse, selected_cells, selected_keys
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Aggregate, Pieces, Rows
from perrecord.queries.answers import Answer
from perrecord.queries.cells import Cells, Counts, Reading, scanned
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.measurements import Choice, Measurement, Step
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import Plan, PlannedGrouping, plan
from perrecord.queries.query import Query
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Released
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table
from perrecord.watch import NOBODY, Watch

Made = TypeVar("Made")


def answer(
    table: Table, queries: Query | Sequence[Query], *, _bits: BitSource | None = None
) -> list[Answers]:
    """Return the answers of a workload, one for each grouping of each query, in order.

    It charges nobody.
    """
    return run(plan(queries, table.schema), table, _bits=_bits)


def run(
    planned: Plan,
    table: Table,
    *,
    charge: Callable[[], None] = lambda: None,
    _bits: BitSource | None = None,
) -> list[Answers]:
    """Return the answers of a plan."""
    return run_each(planned, table, lambda _, found: found, charge=charge, _bits=_bits)


def run_each(
    planned: Plan,
    table: Table,
    make: Callable[[PlannedGrouping, Answers], Made],
    *,
    charge: Callable[[], None] = lambda: None,
    watch: Watch = NOBODY,
    _bits: BitSource | None = None,
) -> list[Made]:
    """Return what is made of the answers of each grouping, in the order of the plan.

    `charge` is called between the last look at the source and the first noise: a source that cannot
    be read costs nothing, and nothing leaves that was not charged.

    Groupings are computed in several threads, and each one's answers are let go once something
    was made of them. Given bits are drawn from in the order of the plan, in this thread.
    """
    check_plan(planned)
    watch.step("reading the data")
    with scanned(planned, table, watch.share) as cells:
        charge()
        watch.step("adding noise")
        done, every = [0], sum(map(_declared_keys, planned.groupings)) or 1

        def made(grouping: PlannedGrouping) -> Made:
            own = _Run(planned, grouping, _bits)
            found = withheld(lambda: own.answers(cells[grouping.scan]))
            result = make(grouping, found)
            done.append(_declared_keys(grouping))
            return result

        if _bits is not None:
            return [made(grouping) for grouping in planned.groupings]
        return in_threads(
            made,
            planned.groupings,
            _declared_keys,
            on_step=lambda: watch.share(sum(done) / every),
            interrupt=table.engine.interrupt,
        )


def _declared_keys(grouping: PlannedGrouping) -> int:
    cells = grouping.grouping.cells
    return len(cells) if isinstance(cells, Keys) else 0


def check_plan(planned: Plan) -> None:
    """Refuse whatever can be refused before a row is read, and before anything is charged."""
    for grouping in planned.groupings:
        _Run(planned, grouping, None).check()


@dataclass(frozen=True, slots=True)
class _Run:
    """One grouping of one query, on its way from exact integers to answers."""

    planned: Plan
    grouping: PlannedGrouping
    bits: BitSource | None

    @property
    def schema(self) -> Schema:
        return self.planned.schema

    @property
    def query(self) -> Query:
        return self.planned.queries[self.grouping.query]

    @property
    def currency(self) -> Currency:
        return self.query.currency or Currency.RHO

    @property
    def columns(self) -> tuple[str, ...]:
        return self.grouping.grouping.columns

    def check(self) -> None:
        found = self.grouping.grouping.cells
        if isinstance(found, SelectCells):
            check_sparse(found, self._noise(self._kept_by(found)))

    def answers(self, cells: Cells) -> Answers:
        selected = self._selected(cells)
        declared = self.grouping.grouping.cells
        keys = selected.keys if selected else declared if isinstance(declared, Keys) else None
        table = UNGROUPED if keys is None else keys.table
        read = _Read(cells, self.columns, keys, cells.reading(self.columns, keys))
        columns: list[Released] = []
        if selected and isinstance(declared, SelectKeys) and declared.rows_as is not None:
            columns.append(selected.by)
        for each in self.query.answers:
            is_kept_by = isinstance(declared, SelectCells) and each.name == declared.answer
            columns.append(
                selected.by if selected and is_kept_by else self._released(each, table, read)
            )
        return Answers(table, tuple(columns), self.grouping.policy, self.grouping.charges)

    def _released(self, asked: Answer, keys: pa.Table, read: "_Read") -> Released:
        return asked.combined([self._result(asked, step, keys, read) for step in asked.steps])

    def _result(
        self, asked: Answer, step: Step, keys: pa.Table, read: "_Read"
    ) -> Estimate | Blurred | Chosen:
        if isinstance(step, Choice):
            counts, weight_step = read.buckets(step), step.weight_step(self.schema)
            return quantile(
                asked.name, step, counts, keys.num_rows, self.currency, self.bits, weight_step
            )
        exact = read.exact.numbers(step.aggregate)
        if step.squares is not None:
            squares = read.exact.numbers(step.squares)
            return blurred(asked.name, exact, squares, self._noise(step), self.bits)
        return estimate(asked.name, exact, keys, self._noise(step), self.bits)

    def _noise(self, step: Measurement) -> NoisePlan:
        return step.noise(self.schema, self.columns, self.currency)

    def _kept_by(self, found: SelectCells) -> Measurement:
        """Return the one noisy number that decides which cells are kept."""
        asked = next(each for each in self.query.answers if each.name == found.answer)
        return asked.measurements[0]

    def _selected(self, cells: Cells) -> Selected | None:
        found = self.grouping.grouping.cells
        if isinstance(found, SelectKeys):
            rows: Aggregate = Rows() if found.split is None else Pieces(found.split)
            return selected_keys(found, cells.occupied(self.columns, rows), self.bits)
        if isinstance(found, SelectCells):
            step = self._kept_by(found)
            occupied = cells.positions(found.domain, self.columns, step.aggregate)
            return selected_cells(found, occupied, self._noise(step), self.bits)
        return None


@dataclass(frozen=True, slots=True)
class _Read:
    """The exact integers of one grouping, in the order of its keys."""

    cells: Cells
    columns: tuple[str, ...]
    keys: Keys | None
    exact: Reading

    def buckets(self, step: Choice) -> Counts:
        return self.cells.buckets(self.columns, step.bucket, self.keys, step.aggregate)
