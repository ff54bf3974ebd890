"""Where cells stand among public keys: positions of many rows at once, without a join.

A key set is a product of small tables, and a position is the sum of row * stride over them. So
three million keys of a thousand counties and industries each take two small lookups, and the keys
themselves are never written out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Positions = npt.NDArray[np.int64]
_Value = TypeVar("_Value", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coded:
    """A column of cells: its different values, and which of them each row has. Confidential."""

    values: pa.Array
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, column: pa.Array) -> "Coded":
        """Return a column coded; NULL is a value like others."""
        found = column.dictionary_encode(null_encoding="encode")
        return cls(found.dictionary, np.asarray(found.indices))

    def beginning(self, length: int) -> "Coded":
        """Return the column of the first so many characters; values may then come twice."""
        return Coded(pc.utf8_slice_codeunits(self.values, 0, length), self.codes)


@dataclass(frozen=True, slots=True)
class Places:
    """The positions of rows in the product of key tables."""

    factors: tuple["_Factor", ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tables: Sequence[pa.Table]) -> "Places":
        """Return the places in the product of sorted tables, the last changing fastest."""
        sizes = [each.num_rows for each in reversed(tables)]
        strides = list(accumulate(sizes, mul, initial=1))[:-1]
        return cls(tuple(map(_Factor.of, tables)), tuple(reversed(strides)))

    def positions(self, columns: Mapping[str, Coded], size: int) -> Positions:
        """Return the position of each of so many rows; -1 where there is no such key."""
        found = np.zeros(size, dtype=np.int64)
        is_missing = np.zeros(size, dtype=np.bool_)
        for factor, stride in zip(self.factors, self.strides, strict=True):
            rows = factor.rows(columns)
            found += rows.each(rows.different * stride)
            if (rows.different < 0).any():
                is_missing |= rows.each(rows.different < 0)
        found[is_missing] = -1
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Rows:
    """Rows of a table of keys, -1 where there is none: the different ones, and who has which."""

    different: Positions
    codes: npt.NDArray[np.int32] | None = None
    """Which of them each cell has; without, there is one for each cell."""

    def each(self, values: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Return for each cell what was worked out of the different rows."""
        return values if self.codes is None else values.take(self.codes)


@dataclass(frozen=True, slots=True)
class _Factor:
    """One table of keys, looked up column by column.

    After each column the rows' values so far have a rank among those of the keys, so that no number
    exceeds the square of the number of keys, however many columns there are.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    ranks: tuple[Positions, ...]
    order: Positions | None

    @classmethod
    def of(cls, table: pa.Table) -> "_Factor":
        columns = [column.combine_chunks() for column in table.columns]
        if len(columns) == 1:  # sorted, each once: the place among the values is the row
            return cls(tuple(table.column_names), (columns[0],), (), None)
        coded = [Coded.of(column) for column in columns]
        rank, ranks = coded[0].codes.astype(np.int64), []
        for each in coded[1:]:
            mixed = rank * len(each.values) + each.codes
            known, rank = np.unique(mixed, return_inverse=True)
            ranks.append(known)
        order = np.empty(table.num_rows, dtype=np.int64)
        order[rank] = np.arange(table.num_rows)
        values = tuple(each.values for each in coded)
        return cls(tuple(table.column_names), values, tuple(ranks), order)

    def rows(self, columns: Mapping[str, Coded]) -> _Rows:
        """Return the row of the table that each row of the columns is; -1 where it is none."""
        indices = [
            _indices(columns[name], values)
            for name, values in zip(self.names, self.values, strict=True)
        ]
        if self.order is None:
            return indices[0]
        first, *others = (each.each(each.different) for each in indices)
        rank, is_there = first, first >= 0
        for known, values, found in zip(self.ranks, self.values[1:], others, strict=True):
            mixed = rank * len(values) + found
            is_there &= found >= 0
            rank = np.searchsorted(known, mixed)
            rank[rank == len(known)] = 0
            is_there &= _at(known, rank) == mixed
        return _Rows(np.where(is_there, _at(self.order, rank), -1))


def _at(numbers: Positions, rows: Positions) -> Positions:
    """Return numbers at rows; -1 where there are no numbers at all."""
    return numbers[rows] if len(numbers) else np.full(len(rows), -1, dtype=np.int64)


def _indices(column: Coded, values: pa.Array) -> _Rows:
    """Return the place of each row's value among the key values; -1 where it is not there."""
    if values.type != column.values.type:
        values = values.cast(column.values.type)  # keys that are all NULL have no type of their own
    found = pc.index_in(column.values, value_set=values).fill_null(-1)
    return _Rows(np.asarray(found, dtype=np.int64), column.codes)
