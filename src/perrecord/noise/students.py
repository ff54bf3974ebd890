"""Draw from the discrete Student law, whose weights (A / (A + z^2))^m are rational.

*Few values*: pieces. One attempt draws a piece of the envelope that all A of a class share
(`envelopes.py`), an offset in it uniformly and a side as `blocks.py` does, and keeps z with
probability f(|z|) / c_j. The first 16 bits of the number that decides are compared with two whole
numbers of the piece; nine attempts in ten are kept at that, and floats are computed for few.
*Many values*: `Student` is a shape for `buckets.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Protocol, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws import DiscreteStudent
from perrecord.laws.enclosure import ball
from perrecord.noise.bernoulli import Floats, begun, below
from perrecord.noise.bits import BitSource, Words
from perrecord.noise.blocks import Integers
from perrecord.noise.envelopes import (
    HEIGHT_BITS,
    LAST,
    PIECE_BITS,
    class_of,
    envelopes,
    step_of,
)
from perrecord.noise.uniform import CERTAIN, Certainty, Real, Uniform

Indices = NDArray[np.intp]
Entry = TypeVar("Entry", bound=np.generic)

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
    def step(self) -> int:
        """The step that A lies on, which says what class it has."""
        return step_of(self.above, self.below)

    @property
    def is_wide(self) -> bool:
        """Tell whether values may leave int64 so often that they are Python ints."""
        return self.step > LAST

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

    @property
    def near_spread(self) -> float:
        """The number A, rounded to nearest; beyond 2^200 and 2^-200 those numbers serve."""
        least, most = self.below, self.below << 2 * _LARGEST_BITS
        return min(max(self.above << _LARGEST_BITS, least), most) / (self.below << _LARGEST_BITS)

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

    def columns(self, places: Indices) -> tuple[NDArray[np.intp], Floats]:
        """Return the step and A of some cells; beyond the last step A is unused."""


def draw_students(
    cells: Students,
    source: BitSource,
    certainty: Certainty = CERTAIN,
    *,
    places: Indices | None = None,
    values: Integers | None = None,
) -> Integers:
    """Return one value for each cell, drawn from its law; with places, only for those cells.

    They are written into the values, if given and if they fit. They are int64, or Python ints in an
    object array when some A is wide or a value does not fit.
    """
    found = np.empty(len(cells), dtype=np.int64) if values is None else values
    rare: dict[int, int] = {}
    has_wide = False
    waiting = _stretches(len(cells)) if places is None else _parts(places)
    while True:
        vain = [np.empty(0, dtype=np.intp)]
        for part in waiting:
            lanes = Lanes.of(cells, part)
            wide = np.flatnonzero(lanes.steps > LAST)
            if len(wide):
                for place in part[wide].tolist():
                    rare[place], has_wide = _draw_one(cells[place], source), True
                lanes = lanes.at(np.flatnonzero(lanes.steps <= LAST))
            candidates, is_kept, exact = lanes.attempt(source, certainty)
            found[lanes.places] = candidates
            rare.update({int(lanes.places[lane]): value for lane, value in exact.items()})
            vain.append(lanes.places[np.flatnonzero(~is_kept)])
        again = np.concatenate(vain)
        if not len(again):
            break
        waiting = _parts(again)
    if has_wide or any(abs(value) >> 62 for value in rare.values()):
        found = found.astype(np.object_)
    for place, value in rare.items():
        found[place] = value
    return found


def _stretches(count: int) -> Iterator[Indices]:
    """Yield the places of all cells, some at a time."""
    for start in range(0, count, _CHUNK):
        yield np.arange(start, min(start + _CHUNK, count))


def _parts(places: Indices) -> Iterator[Indices]:
    """Yield places, some at a time."""
    for start in range(0, len(places), _CHUNK):
        yield places[start : start + _CHUNK]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Cells that wait for a value, as arrays: which they are, and their laws."""

    cells: Students
    places: Indices
    steps: NDArray[np.intp]
    spreads: Floats
    """A, within 6u of itself."""

    @classmethod
    def of(cls, cells: Students, places: Indices) -> "Lanes":
        """Return the cells at these places."""
        return cls(cells, places, *cells.columns(places))

    def at(self, lanes: NDArray[np.intp]) -> "Lanes":
        """Return some of the lanes."""
        return Lanes(self.cells, self.places[lanes], self.steps[lanes], self.spreads[lanes])

    def attempt(
        self, source: BitSource, certainty: Certainty
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], dict[int, int]]:
        """Return one candidate for each lane, which of them are kept, and those found exactly."""
        count, every = len(self.places), envelopes(self.cells.power)
        first, bits = source.words16(count), _at(every.bits, self.steps)
        chance = _at(every.first, self.steps)
        chance += first >> np.uint16(16 - PIECE_BITS)
        piece = _at(every.pieces, chance).astype(np.intp)
        candidates = _at(every.sizes, piece)
        candidates <<= bits
        candidates -= 1
        candidates &= source.words64(count).view(np.int64)
        start = _at(every.starts, piece)
        start <<= bits
        candidates += start
        candidates ^= -(first & np.uint16(1)).astype(np.int64)  # -1 - y is the complement of y
        shorter = np.uint16(max(0, HEIGHT_BITS - certainty.word))
        height = source.words16(count) >> shorter
        kept = height < _at(every.sure, piece) >> shorter
        is_open = height <= _at(every.last, piece) >> shorter
        is_open ^= kept
        lanes = np.flatnonzero(is_open)
        words = height.take(lanes).astype(np.uint64) << np.uint64(64 - HEIGHT_BITS + int(shorter))
        if certainty.word > HEIGHT_BITS:
            words |= source.words64(len(lanes)) >> np.uint64(HEIGHT_BITS)
        open_ = Open(self.at(lanes), piece.take(lanes), candidates.take(lanes), words)
        kept[lanes], exact = open_.settled(source, certainty)
        return candidates, kept, {int(lanes[lane]): value for lane, value in exact.items()}


@dataclass(frozen=True, slots=True)
class Open:
    """Candidates that the first bits of a number have neither kept nor refused."""

    lanes: Lanes
    pieces: NDArray[np.intp]
    candidates: NDArray[np.int64]
    words: Words
    """What the numbers that decide begin with."""

    def settled(
        self, source: BitSource, certainty: Certainty
    ) -> tuple[NDArray[np.bool_], dict[int, int]]:
        """Return which are kept, and those in the tail that are."""
        kept = below(self.words, self.near(), self._exact, source, certainty)
        found: dict[int, int] = {}
        every = envelopes(self.lanes.cells.power)
        for lane in np.flatnonzero(every.is_tail.take(self.pieces)).tolist():
            law, bits = self._law(lane), class_of(int(self.lanes.steps[lane])).bits
            uniform = begun(self.words, lane, source, certainty)
            is_negative = bool(self.candidates[lane] < 0)
            value = _attempt(law, int(self.pieces[lane]), bits, is_negative, uniform, source)
            kept[lane] = value is not None
            if value is not None:
                found[lane] = value
        return kept, found

    def near(self) -> Floats:
        """Return f(z) / c_j in floats, within the bound of Lemma 8 (docs/noise.md)."""
        power = self.lanes.cells.power
        ratio = self.candidates.astype(np.float64)
        ratio *= ratio
        ratio /= self.lanes.spreads
        ratio += 1
        np.divide(1, ratio, out=ratio)
        return _power(ratio, power) * envelopes(power).factors.take(self.pieces)

    def _exact(self, lane: int) -> Real:
        law = self._law(lane)
        envelope, piece = envelopes(law.power).whose[int(self.pieces[lane])]
        chance = law.at(abs(int(self.candidates[lane]))) * envelope.factor(piece)
        return lambda: ball(chance)

    def _law(self, lane: int) -> Student:
        return self.lanes.cells[int(self.lanes.places[lane])]


def _at(entries: NDArray[Entry], places: NDArray[np.intp]) -> NDArray[Entry]:
    """Return the entries at these places; the first or the last one for places beyond them."""
    return entries.take(places, mode="clip")  # three times as fast as where they are checked


def _power(ratio: Floats, power: int) -> Floats:
    """Return the second or fourth power."""
    squared = ratio * ratio
    return squared if power == 2 else squared * squared


def _draw_one(law: Student, source: BitSource) -> int:
    """Return one value by exact arithmetic alone."""
    (table, bits), every = class_of(law.step), envelopes(law.power)
    while True:
        piece = int(every.pieces[(table << PIECE_BITS) + source.integer(PIECE_BITS)])
        is_negative = bool(source.integer(1))
        value = _attempt(law, piece, bits, is_negative, Uniform(source), source)
        if value is not None:
            return value


def _attempt(
    law: Student, piece: int, bits: int, is_negative: bool, uniform: Uniform, source: BitSource
) -> int | None:
    """Return a value of a piece, in units of 2^bits, or None if the number does not keep it."""
    envelope, own = envelopes(law.power).whose[piece]
    doubling = _geometric(law.power, source) if own == envelope.tail else 0
    more = bits + doubling
    offset = source.integer(envelope.sizes[own].bit_length() - 1 + more)
    value = (envelope.starts[own] << more) + offset
    if is_negative:
        value = -1 - value
    chance = law.at(abs(value)) * envelope.factor(own, doubling)
    return value if uniform.below(lambda: ball(chance)) else None


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
