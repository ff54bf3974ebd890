"""Exact integers, read from columns and added up by position; what comes out is confidential."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.released.numbers import Integers

_NONE: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
_FITS = 2**63 - 1
_HALF = 32
_WIDE = pa.decimal128(38, 0)  # two halves of 64 bits, the lower one first


@dataclass(frozen=True, slots=True, eq=False)
class Addends:
    """Integers that are to be added up, and the sum of their absolute values."""

    values: Confidential[Integers]
    reach: Confidential[int]

    @classmethod
    def of(cls, values: Integers) -> Self:
        """Return integers to be added up; if all are 0, they take the memory of one."""
        found = reach(values)
        if not found:
            values = np.broadcast_to(np.int64(0), len(values))
        return cls(Confidential(values), Confidential(found))

    def times(self, factor: int) -> "Addends":
        """Return each of them times a number above 0, as a Python int."""
        values = revealed(self.values).astype(np.object_) * factor
        return Addends(Confidential(values), Confidential(revealed(self.reach) * factor))


class ExactSums:
    """Sums by position, exactly: int64 for as long as no sum can leave it, then Python ints."""

    __slots__ = ("_numbers", "_reach")

    def __init__(self, size: int) -> None:
        self._numbers: Integers = np.zeros(size, dtype=np.int64)
        self._reach = 0

    def add(self, positions: npt.NDArray[np.int64], addends: Addends) -> None:
        """Add each value at its position; those whose position is -1 have none."""
        if not revealed(addends.reach):
            return
        known = slice(None) if positions.min(initial=0) >= 0 else positions >= 0
        self._reach += revealed(addends.reach)
        if self._reach > _FITS and self._numbers.dtype != np.object_:
            self._numbers = self._numbers.astype(np.object_)
        np.add.at(self._numbers, positions[known], revealed(addends.values)[known])

    def sums(self) -> Confidential[Integers]:
        """Return the sums, which go on being added to."""
        return Confidential(self._numbers)


def reach(values: Integers) -> int:
    """Return the sum of absolute values, exactly: by halves, whose sums fit, if it might not."""
    sizes = np.abs(values)
    if sizes.dtype == np.object_ or not len(sizes) or int(sizes.max()) * len(sizes) <= _FITS:
        return int(sizes.sum())
    high, low = sizes >> _HALF, sizes & ((1 << _HALF) - 1)
    return (int(high.sum()) << _HALF) + int(low.sum())


def integers(column: pa.Array | pa.ChunkedArray) -> Integers:
    """Return a column of whole numbers, exactly: int64, or Python ints where it takes more."""
    if pa.types.is_integer(column.type):
        return np.asarray(column.cast(pa.int64()))
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not len(column):
        return _NONE
    if column.type == _WIDE and not column.null_count:
        halves = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)
        low, high = halves[column.offset : column.offset + len(column)].T
        if (high == low >> 63).all() and low.min() >= -_FITS:
            return np.ascontiguousarray(low)
    return np.array([int(each) for each in column.to_pylist()], dtype=np.object_)
