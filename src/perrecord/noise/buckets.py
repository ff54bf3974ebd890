"""Draw many values of one symmetric law: a table of buckets, and the little that it leaves out.

Let f fall from f(0) = 1 as |z| grows, buckets be w = 2^b integers wide, g(m) = f(m w) for m >= 1.
On the bucket from (m-1) w up, and on the one from -m w up, f is at least g(m). Its *flat* part has
the constant weight g(m): bucket by table, offset uniform, nothing to compare. The *residue*, a
percent or so, is the set of points (z, u) with g(m) <= u < f(z): draw u uniformly on [0, 1),
find the m with g(m) <= u < g(m-1), draw a side and an offset, keep z if u < f(z).
With w = 1 the table holds the values of the law themselves and leaves out only the tails.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.noise.bernoulli import Floats, begun, below, leading
from perrecord.noise.bits import BitSource
from perrecord.noise.blocks import Integers
from perrecord.noise.shapes import Shape
from perrecord.noise.tables import LabelTable
from perrecord.noise.uniform import CERTAIN, Certainty, Real, Uniform

_MOST_BITS = 49
"""Buckets at most this wide keep every value of the table below 2^60."""

KEPT_LAWS = 128
"""How many laws keep their tables, about 150 kB each, and their count of values asked for."""

_TAIL = (1 << 15) - 1
_RESIDUE = (1 << 15) - 2
_BATCH = 1 << 18
_CHUNK = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """A symmetric law prepared for drawing millions of values."""

    shape: Shape
    bits: int
    last: int
    """The greatest m in the table."""
    heights: Floats
    """g(last), ..., g(1), g(0) = 1 in floats."""
    table: LabelTable
    certainty: Certainty

    @property
    def _steps(self) -> Shape:
        """The law in steps of one bucket: g(m)."""
        return self.shape.coarse(self.bits)

    def draw(self, source: BitSource, count: int) -> Integers:
        """Return independent values as int64.

        One of 2^62 or more turns them into Python ints.
        """
        values = np.empty(count, dtype=np.int64)
        rare: dict[int, int] = {}
        for start in range(0, count, _BATCH):
            batch = values[start : start + _BATCH]
            labels = self.table.draw(source, len(batch))
            for low in range(0, len(labels), _CHUNK):
                self._place(source, labels[low : low + _CHUNK], batch[low : low + _CHUNK])
            found = self._residue(source, batch, np.flatnonzero(labels == _RESIDUE))
            for place in np.flatnonzero(labels == _TAIL).tolist():
                found[place] = self._tail(source)
            rare.update({start + place: value for place, value in found.items()})
        return _with(values, rare)

    def _place(
        self, source: BitSource, labels: NDArray[np.int16], values: NDArray[np.int64]
    ) -> None:
        """Write label * w + offset."""
        if self.bits:
            np.left_shift(labels, self.bits, out=values, dtype=np.int64)
            values += _offsets(source, self.bits, len(labels))
        else:
            values[:] = labels

    def _residue(
        self, source: BitSource, values: NDArray[np.int64], places: NDArray[np.intp]
    ) -> dict[int, int]:
        """Write values of weight f(z) - g(m) into the places; return those found exactly."""
        found: dict[int, int] = {}
        while len(places):
            words = source.words64(len(places))
            bucket, is_open = self._bucket_at(leading(words, self.certainty))
            candidates = self._candidates(source, bucket)
            kept = below(
                words,
                self._steps.near(np.abs(candidates) * 2.0**-self.bits),
                self._exact_weights(candidates),
                source,
                self.certainty,
            )
            for position in np.flatnonzero(is_open).tolist():
                uniform = begun(words, position, source, self.certainty)
                value = self._residue_one(source, uniform)
                kept[position] = value is not None
                if value is not None:
                    found[int(places[position])] = value
            values[places[kept]] = candidates[kept]
            places = places[~kept]
        return found

    def _bucket_at(self, height: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the m with g(m) <= u < g(m-1), and where u is too near to either to tell."""
        above = np.searchsorted(self.heights, height, side="right")
        over = height - self.heights.take(above - 1, mode="clip")
        under = self.heights.take(above, mode="clip") - height
        is_open = np.minimum(over, under) <= self.certainty.margin
        return self.last + 1 - above, is_open

    def _candidates(self, source: BitSource, bucket: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return uniform values of the two buckets numbered m."""
        fresh = source.words64(len(bucket))
        label = np.where(fresh >> np.uint64(63), -bucket, bucket - 1)
        offset = fresh & np.uint64((1 << self.bits) - 1)
        return (label << self.bits) + offset.astype(np.int64)

    def _exact_weights(self, values: NDArray[np.int64]) -> Callable[[int], Real]:
        return lambda position: partial(self.shape.weight, abs(int(values[position])))

    def _residue_one(self, source: BitSource, uniform: Uniform) -> int | None:
        """Return what a candidate at this height is, or None if it is not kept."""
        steps = self._steps
        high = 1
        while uniform.below(partial(steps.weight, high)):
            high *= 2
        low = high // 2  # u < g(low)
        while high - low > 1:
            middle = (low + high) // 2
            is_below = uniform.below(partial(steps.weight, middle))
            low, high = (middle, high) if is_below else (low, middle)
        value = self._in_bucket(source, high)
        return value if uniform.below(partial(self.shape.weight, abs(value))) else None

    def _tail(self, source: BitSource) -> int:
        """Return a value of the flat parts beyond the table; with w = 1, of the law beyond it."""
        bucket = self._steps.draw_from(self.last + 1, source)
        if not self.bits:
            return -bucket if source.integer(1) else bucket
        return self._in_bucket(source, bucket)

    def _in_bucket(self, source: BitSource, bucket: int) -> int:
        label = -bucket if source.integer(1) else bucket - 1
        return (label << self.bits) + source.integer(self.bits)


@lru_cache(maxsize=KEPT_LAWS)
def buckets(shape: Shape, certainty: Certainty = CERTAIN) -> Buckets | None:
    """Return the law with its table, or None where tables do not serve.

    They do not for a law so wide that values may leave int64, nor for one so narrow that nearly
    every value is 0 and the others cannot be told from 64 bits.
    """
    bits = _width_bits(shape)
    steps = shape.coarse(bits)
    last = steps.last()
    if bits > _MOST_BITS or last is None:
        return None
    if not bits:
        return Buckets(shape, 0, last, np.empty(0), _direct(shape, last, certainty), certainty)
    table = _flat(shape, bits, last, certainty)
    return Buckets(shape, bits, last, steps.heights(last), table, certainty)


def _width_bits(shape: Shape) -> int:
    """Return the greatest b for which f falls slowly enough over 2^b, or 0."""
    bits = 0
    while bits <= _MOST_BITS and shape.coarse(bits + 1).is_slow():
        bits += 1
    return bits


def _direct(shape: Shape, last: int, certainty: Certainty) -> LabelTable:
    """Return the table of 0, 1, -1, 2, -2, ... and, for all values beyond, the tail."""

    def boundaries() -> list[arb]:
        total = shape.total()
        return list(accumulate(weight / total for weight in [arb(1), *_pairs(shape, last)]))

    labels = [0, *(sign * m for m in range(1, last + 1) for sign in (1, -1)), _TAIL]
    return LabelTable.build(labels, boundaries, certainty)


def _flat(shape: Shape, bits: int, last: int, certainty: Certainty) -> LabelTable:
    """Return the table of the buckets' flat parts, then those beyond it, then the residue."""
    steps = shape.coarse(bits)

    def boundaries() -> list[arb]:
        share = arb(1 << bits) / shape.total()
        listed = accumulate(weight * share for weight in _pairs(steps, last))
        return [*listed, (steps.total() - 1) * share]

    labels = [label for m in range(1, last + 1) for label in (m - 1, -m)]
    return LabelTable.build([*labels, _TAIL, _RESIDUE], boundaries, certainty)


def _pairs(shape: Shape, last: int) -> Iterator[arb]:
    """Yield f(m) twice for m = 1, ..., last."""
    for weight in shape.weights(last):
        yield weight
        yield weight


def _offsets(source: BitSource, bits: int, count: int) -> NDArray[np.integer]:
    """Return uniform integers below 2^bits, from words no longer than they need be."""
    if bits <= 16:
        return source.words16(count) >> np.uint16(16 - bits)
    if bits <= 32:
        return source.words32(count) >> np.uint32(32 - bits)
    return (source.words64(count) >> np.uint64(64 - bits)).view(np.int64)


def _with(values: NDArray[np.int64], rare: dict[int, int]) -> Integers:
    result: Integers = values
    if any(abs(value) >> 62 for value in rare.values()):
        result = values.astype(np.object_)
    for place, value in rare.items():
        result[place] = value
    return result
