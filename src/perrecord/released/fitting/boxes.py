"""Where the rows of a table stand in a grid of all combinations: in a box of it, or anywhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np

from perrecord.released.fitting.trees import STRETCH, Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The rows of a table in a grid: `grid[index]` has them in order, in the shape `shape`."""

    index: tuple[slice | Indices, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, places: Indices, grid: tuple[int, ...]) -> "Placed":
        """Return the rows at places of a grid, the last axis fastest; a box holds no places.

        >>> Placed.of(np.array([4, 5, 7, 8]), (3, 3)).index
        (slice(1, 3, None), slice(1, 3, None))
        """
        box = _box(places, grid)
        if box is None:
            return cls(np.unravel_index(places, grid), (len(places),))
        return cls.box(box)

    @classmethod
    def box(cls, box: tuple[slice, ...]) -> "Placed":
        """Return the rows of a box, in order."""
        return cls(box, tuple(each.stop - each.start for each in box))

    @property
    def slices(self) -> tuple[slice, ...] | None:
        """The box that has the rows; None if they stand elsewhere."""
        found = tuple(each for each in self.index if isinstance(each, slice))
        return found if len(found) == len(self.index) else None

    def pieces(self) -> "Iterator[tuple[slice, Placed]]":
        """Yield the rows in stretches that a cache holds: which they are, and where they stand."""
        wide = prod(self.shape[1:])
        width = max(1, STRETCH // max(wide, 1))
        for start in range(0, self.shape[0], width):
            end = min(start + width, self.shape[0])
            shape = (end - start, *self.shape[1:])
            first, *rest = self.index
            index: tuple[slice | Indices, ...]
            if isinstance(first, slice):
                index = (slice(first.start + start, first.start + end), *rest)
            else:
                index = tuple(each[start:end] for each in self.index if not isinstance(each, slice))
            yield slice(start * wide, end * wide), Placed(index, shape)

    def places(self, grid: tuple[int, ...]) -> tuple[Indices, ...]:
        """Return where each row stands, along each axis of the grid."""
        every = np.arange(prod(grid)).reshape(grid)[self.index].ravel()
        return np.unravel_index(every, grid)

    def of_product(self, factors: Sequence[Floats]) -> Floats:
        """Return a product of factors by row; an axis of a box along which it stays is 1 long.

        >>> rows = Placed.of(np.arange(6), (2, 3))
        >>> rows.of_product([np.full((2, 1), 2.0), np.array([[1.0, 2.0, 3.0]])])
        array([[2., 4., 6.]])
        """
        return np.asarray(reduce(np.multiply, map(self._of_factor, factors)))

    def _of_factor(self, factor: Floats) -> Floats:
        """Return one factor by row; it may be 1 long on axes that it does not depend on."""
        found = factor[
            tuple(
                each if length > 1 else slice(None) if isinstance(each, slice) else each * 0
                for each, length in zip(self.index, factor.shape, strict=True)
            )
        ]
        for axis in range(found.ndim):
            first = found.take([0], axis) if found.shape[axis] else found
            if np.array_equal(np.broadcast_to(first, found.shape), found):
                found = first
        return np.asarray(found)


def _box(places: Indices, grid: tuple[int, ...]) -> tuple[slice, ...] | None:
    """Return the box of a grid whose cells are these places, in order; None if they are none."""
    if not len(places):
        return None
    first, last = (np.unravel_index(int(places[end]), grid) for end in (0, -1))
    box = tuple(slice(int(low), int(high) + 1) for low, high in zip(first, last, strict=True))
    shape = [each.stop - each.start for each in box]
    if min(shape) < 1 or prod(shape) != len(places):
        return None
    every = np.ravel_multi_index(tuple(np.ogrid[box]), grid)
    return box if np.array_equal(every.ravel(), places) else None
