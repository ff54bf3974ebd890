"""Cells told apart by how many records they hold."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from perrecord.evaluate.accuracy.summaries import SIZES

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]


def size_classes(records: Whole, starts: Sequence[int] = SIZES) -> Iterator[tuple[str, Mask]]:
    """Yield the classes that have cells, each as its name and a mask; cells without records none.

    >>> [(name, int(cells.sum())) for name, cells in size_classes(np.array([0, 1, 9, 10, 5000]))]
    [('1 to 9', 2), ('10 to 99', 1), ('1000 or more', 1)]
    """
    *bounded, last = sorted(starts)
    for start, end in pairwise([*bounded, last]):
        cells = (records >= start) & (records < end)
        if cells.any():
            yield f"{start} to {end - 1}", cells
    if (records >= last).any():
        yield f"{last} or more", records >= last
