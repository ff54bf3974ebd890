"""How accurate the answers would be, by table and size of cell, on the data behind the door.

The data is counted once. What is chosen on the page changes the noise, not the numbers, so errors
follow from what was counted, in closed form, and only those of the answer that was changed. A
choice that needs another number of each cell, such as a clamp, has that number counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

from perrecord.evaluate.accuracy.errors import CellErrors, cell_errors
from perrecord.evaluate.accuracy.quantiles import (
    QuantileErrors,
    QuantileTruth,
    quantile_errors,
    quantile_truths,
    quantile_truths_of,
)
from perrecord.evaluate.accuracy.summaries import summary_rows
from perrecord.evaluate.accuracy.truths import Asked, CountedCells, Truth, counted, truths_of
from perrecord.release.names import table_names
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.studio.doors import StudioDoor
from perrecord.watch import Progress, within

CONFIDENCE = Fraction(19, 20)
_SIZES = (1, 10, 100, 1000)
_LIMIT = "0.05"
_CELLS = 0.6
"""How much of the counting is that of cells, where quantiles are counted after them."""


@dataclass(frozen=True, slots=True)
class SizeErrors:
    """The cells of one answer that hold about so many records."""

    table: str
    answer: str
    size: str
    cells: int
    median: float | None
    """What half of the cells err by at most, relative to the true number; None without any."""
    within: float | None
    """The share of the cells that come within 5 % with 95 % confidence."""


_Sizes = tuple[tuple[str, int, float | None, float | None], ...]
"""What is kept of an answer: a class of cells, how many, their median error, how many within."""


class DataErrors:
    """Errors on the data behind a door, counted once for as long as it serves."""

    def __init__(self, door: StudioDoor) -> None:
        self.door = door
        self._counted: tuple[object, CountedCells] | None = None
        self._known: dict[Asked, _Sizes] = {}
        self._quantiles: list[QuantileTruth] | None = None
        self._lock = Lock()
        self.done: float | None = None
        """How much of the data has been counted; None while nothing is."""

    def of(self, loaded: LoadedSpec, workload: Workload) -> tuple[SizeErrors, ...]:
        """Return the errors of every answer; of a median, how far it is from a true one."""
        planned = workload.plan
        with self._lock:
            cells = self._cells(loaded, workload)
            for truth in truths_of(planned, cells, self._known):
                self._know(cell_errors(truth, CONFIDENCE))
            for each in self._medians(loaded, workload):
                if (each.query, each.columns, each.answer) not in self._known:
                    self._know(quantile_errors(each, CONFIDENCE))
            asked = [
                (each.query, each.grouping.columns, charged.answer)
                for each in planned.groupings
                for charged in each.answers
            ]
            self._known = {each: self._known[each] for each in asked if each in self._known}
            return tuple(
                SizeErrors(_table(workload, query, columns), answer.name, *row)
                for (query, columns, answer), rows in self._known.items()
                for row in rows
            )

    def _know(self, errors: CellErrors | QuantileErrors) -> None:
        rows = summary_rows([errors], by=("size",), limits=[_LIMIT], sizes=_SIZES)
        truth = errors.truth
        self._known[truth.query, truth.columns, truth.answer] = tuple(
            (str(row["size"]), row["cells"], row["median_relative_error"], row["within_5_percent"])
            for row in rows
        )

    def truths(self, loaded: LoadedSpec, workload: Workload) -> list[tuple[str, Truth]]:
        """Return the true numbers of every answer with its noise, beside the name of its table."""
        with self._lock:
            cells = self._cells(loaded, workload)
        return [
            (_table(workload, each.query, each.columns), each)
            for each in truths_of(workload.plan, cells)
        ]

    def _cells(self, loaded: LoadedSpec, workload: Workload) -> CountedCells:
        """Return what was counted; what it lacks is counted, and all of it once the data changed.

        What is known of answers belongs to these cells and this currency.
        """
        state = self.door.state(loaded), workload.policy.currency
        last = self._counted
        before = last[1] if last is not None and last[0] == state else None
        if before is None or not before.is_beside(workload.plan):
            self._known, self._quantiles = {}, None
        if before is None or not before.serves(workload.plan):
            is_first = self._quantiles is None and any(e.buckets for e in workload.plan.groupings)
            with (
                self._telling(0.0, _CELLS if is_first else 1.0) as share,
                self.door.opened(loaded) as table,
            ):
                before = counted(workload.plan, table, before=before, share=share)
            self._counted = state, before
        return before

    @contextmanager
    def _telling(self, start: float, end: float) -> Iterator[Progress]:
        """Give whom to tell how much was counted, which is shown as a part of all there is."""
        self.done = start
        try:
            yield within(self._told, start, end)
        finally:
            self.done = None

    def _told(self, done: float) -> None:
        self.done = done

    def _medians(self, loaded: LoadedSpec, workload: Workload) -> list[QuantileTruth]:
        """Return the true quantiles; they are of the same data as the cells, which come first."""
        known = None
        if self._quantiles is not None:
            known = quantile_truths_of(workload.plan, self._quantiles)
        if known is None:
            with self._telling(_CELLS, 1.0) as share, self.door.opened(loaded) as table:
                known = quantile_truths(workload.plan, table, share=share)
            self._quantiles = known
        return known


def _table(workload: Workload, query: int, columns: tuple[str, ...]) -> str:
    named = workload.queries[query]
    sets = [each.columns for each in named.query.groupings]
    return table_names(named.name, sets)[sets.index(columns)]
