"""Draw from the discrete Student law, whose weights (A / (A + z^2))^m are rational.

*Few values*: dyadic blocks. Let w = 2^b be the least power of two with 4 w^2 >= A. Block 0 is
0 <= y < w, block j >= 1 is 2^(j-1) w <= y < 2^j w, and f(y) <= c_j there:

    c_0 = 1,   c_j = (1 + 4^(j-2))^-m for j <= J,   c_j = 4^(-m (j-2)) for j > J.

Draw j with probability proportional to its size times c_j, the offset uniformly, a side as
`blocks.py` does, and keep z with probability f(|z|) / c_j. The law of j is the same for every A,
and rational; beyond J = 12 it is geometric with ratio 2^(1-2m), which plain bits decide.
*Many values*: `Student` is a shape for `buckets.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt

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
        """Return the weights of points >= 0 in floats, within 40 * 2^-53 (docs/noise.md)."""
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


def draw_students(
    laws: Sequence[Student],
    which: NDArray[np.intp],
    source: BitSource,
    certainty: Certainty = CERTAIN,
) -> Integers:
    """Return one value for each entry of `which`, drawn from the law at that index.

    All laws have the same power. The values are int64, or Python ints in an object array when some
    block is wider than 2^48 or a value does not fit.
    """
    columns = _Columns.of(laws)
    values = np.empty(len(which), dtype=np.int64)
    rare: dict[int, int] = {}
    for start in range(0, len(which), _CHUNK):
        pending = np.arange(start, min(start + _CHUNK, len(which)))
        wide = columns.is_wide[which[pending]]
        for place in pending[wide].tolist():
            rare[place] = _draw_one(laws[which[place]], source, certainty)
        pending = pending[~wide]
        while len(pending):
            candidates, kept, found = columns.attempt(which[pending], source, certainty)
            values[pending[kept]] = candidates[kept]
            rare.update({int(pending[place]): value for place, value in found.items()})
            pending = pending[~kept]
    if not any(abs(value) >> 62 for value in rare.values()) and not columns.is_wide.any():
        values[list(rare)] = list(rare.values())
        return values
    result = values.astype(np.object_)
    for place, value in rare.items():
        result[place] = value
    return result


@dataclass(frozen=True, slots=True)
class _Columns:
    """Several laws as arrays, of which the wide ones are left out."""

    laws: Sequence[Student]
    bits: NDArray[np.int64]
    is_wide: NDArray[np.bool_]
    rates: Floats
    """4^b / A."""

    @classmethod
    def of(cls, laws: Sequence[Student]) -> "_Columns":
        bits = [block_bits(law) for law in laws]
        narrow = [min(each, WIDEST_BITS) for each in bits]
        rates = [law.coarse(each).rate for law, each in zip(laws, bits, strict=True)]
        return cls(
            laws,
            np.array(narrow, dtype=np.int64),
            np.array([each > WIDEST_BITS for each in bits], dtype=np.bool_),
            np.array(rates),
        )

    def attempt(
        self, which: NDArray[np.intp], source: BitSource, certainty: Certainty
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], dict[int, int]]:
        """Return one candidate for each entry, which of them are kept, and those found exactly."""
        power = self.laws[0].power
        block = _block_table(power, certainty).draw(source, len(which)).astype(np.int64)
        beyond = np.flatnonzero(block > _LAST_BLOCK).tolist()
        block[beyond] = 0
        word = source.words64(len(which))
        start, size = _blocks()
        bits = self.bits[which]
        offset = word.view(np.int64) & ((size[block] << bits) - 1)
        magnitude = (start[block] << bits) + offset
        side = (word >> np.uint64(63)).astype(np.int64)
        candidates = magnitude ^ -side  # -1 - y is the complement of y

        def exact(position: int) -> Real:
            law, value = self.laws[which[position]], int(candidates[position])
            chance = law.at(abs(value)) / _bound(int(block[position]), power)
            return lambda: ball(chance)

        kept = below(
            source.words64(len(which)),
            self.near(which, block, magnitude + side),
            exact,
            source,
            certainty,
        )
        found: dict[int, int] = {}
        for position in beyond:
            law = self.laws[which[position]]
            value = _attempt_in(law, _LAST_BLOCK + 1 + _geometric(power, source), source)
            kept[position] = value is not None
            candidates[position] = 0
            if value is not None:
                found[position] = value
        return candidates, kept, found

    def near(
        self, which: NDArray[np.intp], block: NDArray[np.int64], size: NDArray[np.int64]
    ) -> Floats:
        """Return f(size) / c_j in floats, within the bound of Lemma 8 (docs/noise.md)."""
        points = size * 2.0 ** -self.bits[which].astype(np.float64)
        ratio = _tops()[block] / (1 + self.rates[which] * points**2)
        return _power(ratio, self.laws[0].power)


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
