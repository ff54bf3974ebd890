"""The noise of one number in one grouping, cell by cell, from public facts alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InternalError
from perrecord.laws import Law
from perrecord.laws.scales import Scale, StudentScale, student_scale
from perrecord.queries.methods import Blurring, Scales, Widening
from perrecord.tables.expressions import Expression, columns_of, evaluate


@dataclass(frozen=True, slots=True)
class NoisePlan:
    """The step of a number, and how much noise each of its cells gets.

    `scales` are the least that cells get, which losses are priced by. A public size of the cell may
    widen its noise.
    """

    step: Fraction
    scales: Scales
    fixed: Mapping[str, Expression]
    widening: Widening | None = None
    blurred: Blurring | None = None
    """Of noise that grows with the cell's own records: `scales` are of cells without any."""

    def law(self, scale: Scale) -> Law:
        """Return the noise law of a scale, on the grid."""
        return scale.law(self.step)

    def laws(self, keys: pa.Table) -> tuple[tuple[Law, ...], npt.NDArray[np.intp]]:
        """Return the laws in use and, for each cell, which of them is its own.

        Those of a blurred number are confidential, and no function of the keys.
        """
        if self.blurred is not None:
            raise InternalError("The noise of a blurred number was asked for without its records.")
        if self.widening is not None:
            return self._widened(self.widening, keys)
        dimensions = self.scales.dimensions
        needed = sorted({c for d in dimensions for c in columns_of(self.fixed[d])})
        if not needed:
            law = self.law(self.scales.at({}))
            return (law,), np.broadcast_to(np.intp(0), keys.num_rows)
        rows, which = different_keys(keys.select(needed))
        scales: dict[Scale, int] = {}
        numbers = np.empty(len(rows), dtype=np.intp)
        for index, row in enumerate(rows):
            key = {name: evaluate(self.fixed[name], row) for name in dimensions}
            numbers[index] = scales.setdefault(self.scales.at(key), len(scales))
        return tuple(self.law(each) for each in scales), numbers[which]

    def extremes(self) -> frozenset[Scale]:
        """Return the scales that cells can have; where sizes widen them, the least and greatest."""
        if self.widening is None:
            return self.scales.every()
        least = self.least_scale()
        widest = least.size + max(self.widening.added(least.nu))
        return frozenset({least, student_scale(widest, least.nu)})

    def _widened(
        self, widening: Widening, keys: pa.Table
    ) -> tuple[tuple[Law, ...], npt.NDArray[np.intp]]:
        least = self.least_scale()
        every = {each: place for place, each in enumerate(dict.fromkeys(widening.added(least.nu)))}
        numbers = np.array([every[each] for each in widening.added(least.nu)], dtype=np.intp)
        laws = tuple(self.law(student_scale(least.size + each, least.nu)) for each in every)
        return laws, numbers[widening.positions(keys)]

    def least_scale(self) -> StudentScale:
        """Return the noise of a cell without a size: a widened number has one method, a taper."""
        least = self.scales.at({})
        assert isinstance(least, StudentScale)  # noqa: S101
        return least


def different_keys(keys: pa.Table) -> tuple[list[dict[str, object]], npt.NDArray[np.intp]]:
    """Return the different rows, and which of them each row is."""
    if keys.num_columns == 1:
        encoded = keys.column(0).combine_chunks().dictionary_encode(null_encoding="encode")
        name = keys.column_names[0]
        rows = [{name: value} for value in encoded.dictionary.to_pylist()]
        return rows, np.asarray(encoded.indices).astype(np.intp)
    code = pa.array(np.zeros(keys.num_rows, dtype=np.int64))
    for column in keys.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        mixed = np.asarray(code) * len(encoded.dictionary) + np.asarray(encoded.indices)
        code = pa.array(mixed).dictionary_encode().indices.cast(pa.int64())
    which = np.asarray(code).astype(np.intp)
    count = int(which.max()) + 1 if len(which) else 0
    first = np.empty(count, dtype=np.int64)
    first[which[::-1]] = np.arange(len(which), dtype=np.int64)[::-1]
    return keys.take(pa.array(first)).to_pylist(), which
