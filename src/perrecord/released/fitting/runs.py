"""Sums over boxes of whole numbers, a run of places at a time along each axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from perrecord.released.fitting.trees import STRETCH, Indices

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Where along an axis the places of each sum begin and end."""

    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, places: Indices, count: int) -> "Runs":
        """Return the runs of so many sums, from the sum of each place; sums never fall.

        >>> runs = Runs.of(np.array([-1, 0, 0, 2, 5]), 3)
        >>> runs.starts.tolist(), runs.ends.tolist()
        ([1, 3, 3], [3, 3, 4])
        """
        every = np.arange(count)
        return cls(np.searchsorted(places, every), np.searchsorted(places, every, "right"))

    @property
    def counts(self) -> Indices:
        """How many places each sum has; one number where all have as many."""
        counts = self.ends - self.starts
        return counts[:1] if len(counts) and (counts == counts[0]).all() else counts

    @property
    def is_single(self) -> bool:
        """Whether each sum is one place, and they are side by side."""
        return np.array_equal(
            self.ends - self.starts, np.ones(len(self.starts))
        ) and np.array_equal(self.starts[1:], self.ends[:-1])


def summed_runs(numbers: Whole, runs: Sequence[Runs]) -> Whole:
    """Return the sums over a box, with the runs along each of its axes.

    Whole numbers of 64 bits go round at both ends, so differences of running sums are exact
    wherever the sums themselves fit.

    >>> box = np.array([[1, 2, 3], [4, 5, 6]])
    >>> summed_runs(box, [Runs.of(np.array([0, 0]), 1), Runs.of(np.array([0, 0, 1]), 2)])
    array([[12,  9]])
    """
    for axis, each in enumerate(runs):
        numbers = _along(numbers, each, axis)
    return numbers


def _along(numbers: Whole, runs: Runs, axis: int) -> Whole:
    before: tuple[Any, ...] = (slice(None),) * axis
    if runs.is_single and len(runs.starts):
        return numbers[(*before, slice(int(runs.starts[0]), int(runs.ends[-1])))]
    shape = list(numbers.shape)
    shape[axis] = len(runs.starts)
    result: Whole = np.empty(shape, dtype=np.int64)
    if axis == 0:
        _sums(numbers, runs, 0, result)
        return result
    width = max(1, STRETCH // max(prod(numbers.shape[1:]), 1))
    for start in range(0, len(numbers), width):
        part = slice(start, start + width)
        _sums(numbers[part], runs, axis, result[part])
    return result


def _sums(numbers: Whole, runs: Runs, axis: int, into: Whole) -> None:
    shape = list(numbers.shape)
    shape[axis] += 1
    running: Whole = np.zeros(shape, dtype=np.int64)
    after = tuple(slice(1, None) if place == axis else slice(None) for place in range(len(shape)))
    np.cumsum(numbers, axis=axis, out=running[after])
    np.take(running, runs.ends, axis=axis, out=into)
    into -= np.take(running, runs.starts, axis=axis)
