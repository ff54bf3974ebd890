"""Tables of totals with their margins, and the two largest contributors to every cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, listing
from perrecord.lab.experiments.agencies.cell_sizes import Whole

LARGEST = 1 << 40
"""Totals stay below this, so that programmes in floats are right to the last unit."""


@dataclass(frozen=True, slots=True, eq=False)
class MagnitudeTable:
    """Totals by row and column; the last row and the last column are the margins.

    `first` and `second` are the two largest contributions of units to each cell, margins included,
    and `records` is how many records there are, which is published as it is.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    total: Whole
    first: Whole
    second: Whole
    records: Whole

    def __post_init__(self) -> None:
        shape = (len(self.rows) + 1, len(self.columns) + 1)
        for array in (self.total, self.first, self.second, self.records):
            if array.shape != shape:
                raise InputError(
                    f"an array has the shape {array.shape}; expected {shape}, with the margins in "
                    "the last row and the last column."
                )
        if (self.total < 0).any() or (self.second < 0).any():
            raise InputError(_NEGATIVE)
        if (self.total >= LARGEST).any():
            raise InputError(
                f"a total reaches {LARGEST:,}; give the measure in a larger unit, such as $1,000."
            )
        if (margins_of(self.total[:-1, :-1]) != self.total).any():
            raise InputError("the margins are not the sums of the cells.")

    @classmethod
    def of(
        cls,
        rows: tuple[str, ...],
        columns: tuple[str, ...],
        *,
        row: Whole,
        column: Whole,
        unit: Whole,
        values: Whole,
    ) -> "MagnitudeTable":
        """Return the table of records: each one's row, column and unit by number, and its value.

        >>> table = MagnitudeTable.of(
        ...     ("A", "B"), ("x",), row=np.array([0, 0, 1]), column=np.array([0, 0, 0]),
        ...     unit=np.array([7, 8, 7]), values=np.array([5, 2, 9]))
        >>> table.total.tolist(), table.first.tolist(), table.second.tolist()
        ([[7, 7], [9, 9], [16, 16]], [[5, 5], [9, 9], [14, 14]], [[2, 2], [0, 0], [2, 2]])
        """
        if (values < 0).any():
            raise InputError(_NEGATIVE)
        shape = (len(rows) + 1, len(columns) + 1)
        total, first, second, records = (np.zeros(shape, dtype=np.int64) for _ in range(4))
        last_row, last_column = np.full_like(row, len(rows)), np.full_like(column, len(columns))
        for down, across in (
            (row, column),
            (row, last_column),
            (last_row, column),
            (last_row, last_column),
        ):
            cell = np.ravel_multi_index((down, across), shape)
            np.add.at(records.reshape(-1), cell, 1)
            np.add.at(total.reshape(-1), cell, values)
            _two_largest(cell, unit, values, first.reshape(-1), second.reshape(-1))
        return cls(rows, columns, total, first, second, records)


def magnitude_tables(
    records: pa.Table, *, area: str, row: str, column: str, measure: str, unit: str
) -> Iterator[tuple[str, MagnitudeTable]]:
    """Yield the table of every area by name: rows by columns, say counties by industries.

    A value that is null counts as 0; a record without a unit is a unit of its own.
    """
    names = (area, row, column, measure, unit)
    missing = [name for name in names if name not in records.column_names]
    if missing:
        raise InputError(
            f"the records have no column {listing(missing)}; they have "
            f"{listing(records.column_names)}."
        )
    if not pa.types.is_integer(records.schema.field(measure).type):
        raise InputError(f"{measure} is not of an integer type; cast it to int64, in small units.")
    areas, area_of = encoded(records[area], area)
    rows, row_of = encoded(records[row], row)
    columns, column_of = encoded(records[column], column)
    unit_of = unit_codes(records[unit])
    values = pc.fill_null(records[measure], 0).to_numpy().astype(np.int64)
    order = np.argsort(area_of, kind="stable")
    ends = np.searchsorted(area_of[order], np.arange(len(areas) + 1))
    for place, name in enumerate(areas):
        own = order[ends[place] : ends[place + 1]]
        met, row_in = np.unique(row_of[own], return_inverse=True)
        yield (
            name,
            MagnitudeTable.of(
                tuple(rows[index] for index in met),
                tuple(columns),
                row=row_in,
                column=column_of[own],
                unit=unit_of[own],
                values=values[own],
            ),
        )


def margins_of(cells: Whole) -> Whole:
    """Return cells with their margins.

    >>> margins_of(np.array([[1, 2], [3, 4]])).tolist()
    [[1, 2, 3], [3, 4, 7], [4, 6, 10]]
    """
    wide = np.hstack([cells, cells.sum(axis=1, keepdims=True)])
    return np.vstack([wide, wide.sum(axis=0, keepdims=True)])


def encoded(column: pa.ChunkedArray, name: str) -> tuple[Sequence[str], Whole]:
    """Return the values of a column as sorted text, and the number of each record's."""
    text = column.cast(pa.string()).combine_chunks()
    if text.null_count:
        raise InputError(f"{name} is null in some records; expected a value in each.")
    found = pc.dictionary_encode(text)
    names = found.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[order] = np.arange(len(names))
    return [names[index] for index in order], ranks[found.indices.to_numpy()]


def unit_codes(units: pa.ChunkedArray) -> Whole:
    """Return a number for the unit of every record; those without one get one each."""
    found: Any = units.combine_chunks()
    if not isinstance(found, pa.DictionaryArray):
        found = pc.dictionary_encode(found)
    indices = pc.fill_null(found.indices.cast(pa.int64()), -1)
    codes = indices.to_numpy(zero_copy_only=False).copy()
    alone = np.flatnonzero(codes < 0)
    codes[alone] = int(codes.max(initial=-1)) + 1 + np.arange(len(alone))
    return np.asarray(codes)


def _two_largest(cell: Whole, unit: Whole, values: Whole, first: Whole, second: Whole) -> None:
    """Write the two largest contributions of units to each cell."""
    if not len(cell):
        return
    order = np.lexsort((unit, cell))
    cell, unit = cell[order], unit[order]
    starts = np.flatnonzero(_changes(cell) | _changes(unit))
    sums, cell = np.add.reduceat(values[order], starts), cell[starts]
    order = np.lexsort((-sums, cell))
    sums, cell = sums[order], cell[order]
    starts = np.flatnonzero(_changes(cell))
    first[cell[starts]] = sums[starts]
    later = starts[starts + 1 < len(cell)]
    later = later[cell[later + 1] == cell[later]]
    second[cell[later]] = sums[later + 1]


def _changes(values: Whole) -> Any:
    return np.concatenate([[True], values[1:] != values[:-1]])


_NEGATIVE = (
    "a value is negative; the p% rule and its attackers take contributions to be 0 or more. Leave "
    "such records out, or publish gains and losses apart."
)
