"""Draw from the discrete Student law, whose weights (A / (A + z^2))^m are rational.

*Few values*: dyadic blocks. Let w = 2^b be the least power of two with 4 w^2 >= A. Block 0 is
0 <= y < w, block j >= 1 is 2^(j-1) w <= y < 2^j w, and f(y) <= c_j there:

    c_0 = 1,   c_j = (1 + 4^(j-2))^-m for j <= J,   c_j = 4^(-m (j-2)) for j > J.

Draw j with probability proportional to its size times c_j, the offset uniformly, a side as
`blocks.py` does, and keep z with probability f(|z|) / c_j. The law of j is the same for every A,
and rational; beyond J = 12 it is geometric with ratio 2^(1-2m), which plain bits decide.
*Many values*: `Student` is a shape for `buckets.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt
from typing import Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws import DiscreteStudent
from perrecord.laws.enclosure import ball
from perrecord.noise.bernoulli import Floats, below
from perrecord.noise.bits import BitSource
from perrecord.noise.blocks import Integers
from perrecord.noise.tables import LabelTable
from perrecord.noise.uniform import CERTAIN, Certainty, Real, Uniform

WIDEST_BITS = 48
"""Wider blocks than 2^this give Python ints: J more bits and a sign must fit an int64."""

_LAST_BLOCK = 12
_CHUNK = 1 << 15
_LARGEST_BITS = 200
_PER_SPREAD = 64
"""A bucket is at most sqrt A over this wide."""

_REACHES = {2: 64, 4: 16}
"""A table lists buckets up to so many times sqrt A: all but one value in a million, or in 10^8."""


@dataclass(frozen=True, slots=True)
class Student:
    """The weights f(y) = (A / (A + y^2))^power, A = above / below."""

    above: int
    below: int
    power: int

    @classmethod
    def of(cls, law: DiscreteStudent) -> "Student":
        """Return the weights of a law."""
        return cls(law.spread.numerator, law.spread.denominator, law.power)

    @property
    def spread(self) -> Fraction:
        """The number A."""
        return Fraction(self.above, self.below)

    def at(self, point: int) -> Fraction:
        """Return f(point), exactly."""
        return Fraction(self.above, self.above + self.below * point**2) ** self.power

    def coarse(self, bits: int) -> "Student":
        """Return y -> f(2^bits y)."""
        return Student(self.above, self.below << 2 * bits, self.power)

    def weight(self, point: int) -> arb:
        """Return f(point) as a ball of the working precision."""
        return (arb(self.above) / (self.above + self.below * point**2)) ** self.power

    def weights(self, last: int) -> Iterator[arb]:
        """Yield f(1), ..., f(last)."""
        return map(self.weight, range(1, last + 1))

    def near(self, points: Floats) -> Floats:
        """Return the weights of points >= 0 in floats, within 64 * 2^-53 (docs/noise.md)."""
        return _power(1 / (1 + self.rate * points**2), self.power)

    @property
    def rate(self) -> float:
        """The number 1/A, rounded to nearest; above 2^200 that number serves."""
        return min(self.below, self.above << _LARGEST_BITS) / self.above

    def heights(self, last: int) -> Floats:
        """Return f(last), ..., f(1), f(0) in floats."""
        return self.near(np.arange(last, -1, -1, dtype=np.float64))

    def total(self) -> arb:
        """Return the sum of the weights over all integers."""
        return 1 / DiscreteStudent(self.spread, 2 * self.power - 1)._mass(0)

    def is_slow(self) -> bool:
        """Tell whether f falls so little over one step that the step may be a bucket."""
        return self.below * _PER_SPREAD**2 <= self.above

    def last(self) -> int | None:
        """Return the last step that a table lists; None where nearly every value is 0."""
        if self.above < self.below:
            return None
        return isqrt(_REACHES[self.power] ** 2 * self.above // self.below) + 1

    def draw_from(self, start: int, source: BitSource) -> int:
        """Return y >= start >= 1 with probability proportional to f(y).

        In [2^i start, 2^(i+1) start) the weight (A + y^2)^-m is at most (2^i start)^-2m, and that
        times the number of integers falls by 2^(1-2m) from one i to the next.
        """
        while True:
            low = start << _geometric(self.power, source)
            point = low + _integer_below(low, source)
            kept = Fraction(self.below * low**2, self.above + self.below * point**2)
            if _happens(kept**self.power, source):
                return point


class Students(Protocol):
    """A Student law for each of many cells, all of one power."""

    @property
    def power(self) -> int:
        """The power of the weights."""

    def __len__(self) -> int:
        """Return the number of cells."""

    def __getitem__(self, place: int, /) -> Student:
        """Return the law of one cell, exactly."""

    def columns(self, start: int, end: int) -> tuple[NDArray[np.int64], Floats]:
        """Return b and 1/A for the cells from start to end; where b is above 48, 1/A is unused."""


def draw_students(cells: Students, source: BitSource, certainty: Certainty = CERTAIN) -> Integers:
    """Return one value for each cell, drawn from its law.

    The values are int64, or Python ints in an object array when some block is wider than 2^48 or a
    value does not fit. Whoever is drawn in vain waits, and tries again beside the next cells.
    """
    values = np.empty(len(cells), dtype=np.int64)
    rare: dict[int, int] = {}
    has_wide, end, waiting = False, 0, Lanes.of(cells, 0, 0)
    while len(waiting.places) or end < len(cells):
        if end < len(cells):
            start, end = end, min(end + _CHUNK - len(waiting.places), len(cells))
            lanes = Lanes.of(cells, start, end)
            wide = lanes.bits > WIDEST_BITS
            for place in lanes.places[wide].tolist():
                rare[place], has_wide = _draw_one(cells[place], source, certainty), True
            waiting = waiting.and_then(lanes.at(np.flatnonzero(~wide)) if has_wide else lanes)
        candidates, is_kept, found = waiting.attempt(source, certainty)
        kept = np.flatnonzero(is_kept)
        values[waiting.places[kept]] = candidates[kept]
        rare.update({int(waiting.places[lane]): value for lane, value in found.items()})
        waiting = waiting.at(np.flatnonzero(~is_kept))
    if not has_wide and not any(abs(value) >> 62 for value in rare.values()):
        values[list(rare)] = list(rare.values())
        return values
    result = values.astype(np.object_)
    for place, value in rare.items():
        result[place] = value
    return result


@dataclass(frozen=True, slots=True)
class Lanes:
    """Cells that wait for a value, as arrays: which they are, and their laws."""

    cells: Students
    places: NDArray[np.intp]
    bits: NDArray[np.int64]
    """b, at most 48 where values are drawn."""
    rates: Floats
    """1 / A."""

    @classmethod
    def of(cls, cells: Students, start: int, end: int) -> "Lanes":
        """Return the cells from start to end."""
        return cls(cells, np.arange(start, end), *cells.columns(start, end))

    def at(self, lanes: NDArray[np.intp]) -> "Lanes":
        """Return some of the lanes."""
        return Lanes(self.cells, self.places[lanes], self.bits[lanes], self.rates[lanes])

    def and_then(self, more: "Lanes") -> "Lanes":
        """Return these lanes and others after them."""
        return Lanes(
            self.cells,
            np.concatenate([self.places, more.places]),
            np.concatenate([self.bits, more.bits]),
            np.concatenate([self.rates, more.rates]),
        )

    def attempt(
        self, source: BitSource, certainty: Certainty
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], dict[int, int]]:
        """Return one candidate for each lane, which of them are kept, and those found exactly."""
        power, count = self.cells.power, len(self.places)
        block = _block_table(power, certainty).draw(source, count).astype(np.intp)
        beyond = np.flatnonzero(block > _LAST_BLOCK).tolist()
        block[beyond] = 0
        word = source.words64(count)
        starts, sizes = _blocks()
        offset = word.view(np.int64) & ((sizes.take(block) << self.bits) - 1)
        magnitude = (starts.take(block) << self.bits) + offset
        side = (word >> np.uint64(63)).view(np.int64)
        candidates = magnitude ^ -side  # -1 - y is the complement of y

        def exact(lane: int) -> Real:
            law, value = self.cells[int(self.places[lane])], int(candidates[lane])
            chance = law.at(abs(value)) / _bound(int(block[lane]), power)
            return lambda: ball(chance)

        near = self.near(block, magnitude + side)
        kept = below(source.words64(count), near, exact, source, certainty)
        found: dict[int, int] = {}
        for lane in beyond:
            law = self.cells[int(self.places[lane])]
            value = _attempt_in(law, _LAST_BLOCK + 1 + _geometric(power, source), source)
            kept[lane] = value is not None
            candidates[lane] = 0
            if value is not None:
                found[lane] = value
        return candidates, kept, found

    def near(self, block: NDArray[np.intp], size: NDArray[np.int64]) -> Floats:
        """Return f(size) / c_j in floats, within the bound of Lemma 8 (docs/noise.md)."""
        points = size.astype(np.float64)
        points *= points
        points *= self.rates
        points += 1
        ratio = _tops().take(block) / points
        return _power(ratio, self.cells.power)


def _power(ratio: Floats, power: int) -> Floats:
    """Return the second or fourth power."""
    squared = ratio * ratio
    return squared if power == 2 else squared * squared


def block_bits(law: Student) -> int:
    """Return the least b with 4 * 4^b >= A."""
    bits = max(0, (law.above.bit_length() - law.below.bit_length()) // 2 - 2)
    while law.below << 2 * bits + 2 < law.above:
        bits += 1
    return bits


def _bound(block: int, power: int) -> Fraction:
    """Return c_j."""
    if block == 0:
        return Fraction(1)
    quarter = Fraction(4) ** (block - 2)
    return (quarter if block > _LAST_BLOCK else 1 + quarter) ** -power


@lru_cache(maxsize=1)
def _blocks() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each block starts and how large it is, in units of w."""
    sizes = [1, *(1 << j for j in range(_LAST_BLOCK))]
    return np.array([0, *sizes[1:]], dtype=np.int64), np.array(sizes, dtype=np.int64)


@lru_cache(maxsize=1)
def _tops() -> Floats:
    """Return 1 + 4^(j-2), exact in floats, and 1 for block 0."""
    return np.array([1.0, *(1 + 4.0 ** (j - 2) for j in range(1, _LAST_BLOCK + 1))])


@lru_cache(maxsize=16)
def _block_table(power: int, certainty: Certainty) -> LabelTable:
    """Return the law of the block; the label after the last stands for all beyond."""
    starts, sizes = _blocks()
    weights = [int(size) * _bound(block, power) for block, size in enumerate(sizes)]
    # From J + 1 on each block has 2^(1-2m) of the weight of the one before.
    first = (1 << _LAST_BLOCK) * _bound(_LAST_BLOCK + 1, power)
    total = sum(weights) + first / (1 - Fraction(2) ** (1 - 2 * power))
    ends = [end / total for end in accumulate(weights)]
    return LabelTable.build(range(len(starts) + 1), lambda: [ball(end) for end in ends], certainty)


def _draw_one(law: Student, source: BitSource, certainty: Certainty) -> int:
    """Return one value by exact arithmetic alone."""
    while True:
        block = int(_block_table(law.power, certainty).draw(source, 1)[0])
        if block > _LAST_BLOCK:
            block += _geometric(law.power, source)
        value = _attempt_in(law, block, source)
        if value is not None:
            return value


def _attempt_in(law: Student, block: int, source: BitSource) -> int | None:
    """Return a value of a block, or None if it is not kept."""
    bits = block_bits(law) + max(block - 1, 0)
    value = source.integer(bits) + (1 << bits if block else 0)
    if source.integer(1):
        value = -1 - value
    chance = law.at(abs(value)) / _bound(block, law.power)
    return value if _happens(chance, source) else None


def _geometric(power: int, source: BitSource) -> int:
    """Return i with probability proportional to 2^((1 - 2 power) i)."""
    found = 0
    while not source.integer(2 * power - 1):
        found += 1
    return found


def _integer_below(bound: int, source: BitSource) -> int:
    """Return an integer that is uniform on 0, ..., bound - 1, however large the bound."""
    while True:
        found = source.integer((bound - 1).bit_length())
        if found < bound:
            return found


def _happens(chance: Fraction, source: BitSource) -> bool:
    """Return True with this probability."""
    return Uniform(source).below(lambda: ball(chance))
