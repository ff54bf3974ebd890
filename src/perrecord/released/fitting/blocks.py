"""A grid cut along the edges of boxes: what is one number in each box takes next to no memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.released.fitting.boxes import Placed
from perrecord.released.fitting.products import factored
from perrecord.released.fitting.trees import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class CutGrid:
    """The blocks that the edges of all boxes cut a grid into: each box is some of them."""

    edges: tuple[Indices, ...]
    """Where blocks begin along each axis, and where the last one ends."""

    @classmethod
    def of(cls, shape: tuple[int, ...], boxes: Sequence[tuple[slice, ...]]) -> "CutGrid":
        """Return the blocks of a grid of a shape.

        >>> [each.tolist() for each in CutGrid.of((4, 9), [(slice(0, 4), slice(2, 5))]).edges]
        [[0, 4], [0, 2, 5, 9]]
        """
        ends: list[set[int]] = [{0, size} for size in shape]
        for box in boxes:
            for own, side in zip(ends, box, strict=True):
                own.update((side.start, side.stop))
        return cls(tuple(np.array(sorted(own)) for own in ends))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many blocks there are along each axis."""
        return tuple(len(each) - 1 for each in self.edges)

    def box(self, box: tuple[slice, ...]) -> tuple[slice, ...]:
        """Return which blocks a box of the grid consists of."""
        ends = [
            np.searchsorted(edges, (side.start, side.stop))
            for edges, side in zip(self.edges, box, strict=True)
        ]
        return tuple(slice(int(start), int(stop)) for start, stop in ends)

    def lines(self, of_blocks: Sequence[Floats]) -> tuple[Floats, ...]:
        """Return numbers along each axis of the grid from those along the blocks."""
        return tuple(
            np.repeat(each, np.diff(edges))
            for each, edges in zip(of_blocks, self.edges, strict=True)
        )


def box_factors(
    shape: tuple[int, ...], rows: Sequence[Placed], variances: Sequence[Floats]
) -> tuple[Floats, ...] | None:
    """Return numbers along each axis that multiply to the variances of a grid; None if none do.

    They are those of `factored`, from one number for each box, which must not overlap. None also
    where rows are no boxes, or have variances of their own: then the grid has to be written out.
    """
    boxes = [each.slices for each in rows]
    known = [each for each in boxes if each is not None]
    if len(known) < len(boxes) or any(each.ndim for each in variances):
        return None
    blocks = CutGrid.of(shape, known)
    weights, times = np.zeros(blocks.shape), np.zeros(blocks.shape, dtype=np.intp)
    for box, variance in zip(known, variances, strict=True):
        weights[blocks.box(box)] += 1 / variance
        times[blocks.box(box)] += 1
    if times.max() > 1:
        return None
    with np.errstate(divide="ignore"):
        found = factored(1 / weights)
    return None if found is None else blocks.lines(found)
