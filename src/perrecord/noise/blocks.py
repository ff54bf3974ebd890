"""Draw from exp(-phi(y)) without a table of its own: geometric blocks and one comparison.

Let phi be convex with phi(0) = 0 and phi(w) >= 1, w = 2^b. Block k holds the y from kw up to
(k+1)w, where phi(y) >= phi(kw) >= k phi(w) >= k. So draw k with Pr[k >= j] = exp(-j), the
offset uniformly among w, and accept with exp(-(phi(y) - k)): what is accepted has probability
proportional to exp(-phi(y)). On both sides of zero, a fair bit picks z = y or z = -1 - y, and
phi is taken at |z|; then zero is counted once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws.enclosure import ball
from perrecord.noise.bernoulli import FARTHEST, accept
from perrecord.noise.bits import BitSource
from perrecord.noise.potential import Potential
from perrecord.noise.tables import LabelTable
from perrecord.noise.uniform import CERTAIN, Certainty, Real, Uniform

Integers = NDArray[np.int64] | NDArray[np.object_]

FINE_BITS = 54
"""Offsets of at most this many bits leave room in an int64 for the block and the sign."""

_CHUNK = 1 << 15
_FEW = 1 << 11
_MOST_TRIES = 12


@dataclass(frozen=True, slots=True)
class Blocks:
    """A law cut into blocks of 2^bits integers, on one side of zero or on both."""

    potential: Potential
    bits: int
    both_sides: bool

    @classmethod
    def of(cls, potential: Potential, *, both_sides: bool) -> "Blocks":
        """Return the law with the least width w = 2^bits that has phi(w) >= 1."""
        bits = _fewest_bits(potential)
        while not potential.reaches(1, 1 << bits):
            bits += 1
        return cls(potential, bits, both_sides)

    def weight(self, value: int) -> Real:
        """Return exp(-phi(|value|)), to be enclosed as tightly as wanted."""
        return lambda: self.potential.weight(abs(value))

    def acceptance(self, value: int, block: int) -> Real:
        """Return exp(-(phi(|value|) - block)), the chance of keeping a value of that block."""
        rise = self.potential.at(abs(value)) - block
        return lambda: ball(-rise).exp()


def draw_many(
    laws: Sequence[Blocks],
    which: NDArray[np.intp],
    source: BitSource,
    certainty: Certainty = CERTAIN,
) -> Integers:
    """Return one value for each entry of `which`, drawn from the law at that index.

    The values are an int64 array, or Python ints in an object array when some block is wider
    than 2^54 (or, with probability below 2^-300, when a value does not fit).
    """
    columns = _Columns.of(laws)
    values: Integers = np.empty(len(which), dtype=np.int64)
    if columns.is_wide:
        values = values.astype(np.object_)
    for start in range(0, len(which), _CHUNK):
        pending = np.arange(start, min(start + _CHUNK, len(which)))
        while len(pending):
            # A few tries for each at once: numpy's calls cost more than its elements here.
            tries = max(1, min(_MOST_TRIES, _FEW // len(pending)))
            entries = np.repeat(which[pending], tries)
            candidates, kept = columns.attempt(entries, source, certainty)
            table = kept.reshape(-1, tries)
            is_done, first = table.any(axis=1), table.argmax(axis=1)
            chosen = (np.arange(len(pending)) * tries + first)[is_done]
            values = _store(values, pending[is_done], candidates[chosen])
            pending = pending[~is_done]
    return values


def draw_one(
    bits: int,
    weight: Callable[[int], Real | None],
    source: BitSource,
    *,
    both_sides: bool,
) -> int:
    """Return one value with probability proportional to its weight, by exact arithmetic alone.

    The weight of y (and of -1 - y) in block k of 2^bits values is at most exp(-k); None is 0.
    """
    while True:
        value = _attempt_one(bits, weight, source, both_sides=both_sides)
        if value is not None:
            return value


def _store(values: Integers, places: NDArray[np.intp], news: Integers) -> Integers:
    """Return the values with the new ones in their places, as Python ints if they need it."""
    if news.dtype == np.object_ and values.dtype != np.object_:
        values = values.astype(np.object_)
    values[places] = news
    return values


@dataclass(frozen=True, slots=True)
class _Columns:
    """Several laws as arrays. A block wider than 2^54 keeps its other bits in `coarse`."""

    laws: Sequence[Blocks]
    fine: NDArray[np.int64]
    coarse: list[int]
    mask: NDArray[np.uint64]
    scale: NDArray[np.float64]
    quadratic: NDArray[np.float64]
    linear: NDArray[np.float64]
    is_wide: bool

    @classmethod
    def of(cls, laws: Sequence[Blocks]) -> "_Columns":
        fine = [min(law.bits, FINE_BITS) for law in laws]
        floats = [law.potential.coarse(law.bits).floats() for law in laws]
        coarse = [law.bits - bits for law, bits in zip(laws, fine, strict=True)]
        return cls(
            laws,
            np.array(fine, dtype=np.int64),
            coarse,
            np.array([(1 << bits) - 1 for bits in fine], dtype=np.uint64),
            np.array([2.0**-bits for bits in fine]),
            np.array([quadratic for quadratic, _ in floats]),
            np.array([linear for _, linear in floats]),
            any(coarse),
        )

    def attempt(
        self, which: NDArray[np.intp], source: BitSource, certainty: Certainty
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """Return one candidate for each entry, and which of them are kept."""
        both_sides = self.laws[0].both_sides
        block = _block_table(certainty).draw(source, len(which)).astype(np.int64)
        word = source.words64(len(which))
        offset = (word & self.mask[which]).astype(np.int64)
        magnitude = (block << self.fine[which]) + offset
        side = (word >> np.uint64(63)).astype(np.int64) * both_sides

        candidates: Integers = magnitude
        if self.is_wide:
            candidates = self._widen(magnitude, which, source)
        candidates = candidates ^ -side  # -1 - y is the complement of y

        def exact(position: int) -> Real:
            law: Blocks = self.laws[which[position]]
            return law.acceptance(int(candidates[position]), int(block[position]))

        kept = accept(self.exponent(which, block, magnitude + side), exact, source, certainty)
        for position in np.flatnonzero(block == FARTHEST).tolist():
            law = self.laws[which[position]]
            value = _attempt_one(
                law.bits, law.weight, source, both_sides=both_sides, first_block=FARTHEST
            )
            kept[position] = value is not None
            if value is not None:
                candidates = _store(candidates, np.array([position]), _fitting(value))
        return candidates, kept

    def exponent(
        self, which: NDArray[np.intp], block: NDArray[np.int64], size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return phi(size) - block in floats, within the bound of Lemma 5 (docs/noise.md)."""
        point = size * self.scale[which]
        rise: NDArray[np.float64] = (self.quadratic[which] * point + self.linear[which]) * point
        rise -= block
        return np.maximum(rise, 0.0, out=rise)

    def _widen(
        self, magnitude: NDArray[np.int64], which: NDArray[np.intp], source: BitSource
    ) -> NDArray[np.object_]:
        shifts = [self.coarse[law] for law in which.tolist()]
        return _whole(
            [
                (high << shift) | source.integer(shift)
                for high, shift in zip(magnitude.tolist(), shifts, strict=True)
            ]
        )


def _whole(values: list[int]) -> NDArray[np.object_]:
    return np.array(values, dtype=np.object_)


def _fitting(value: int) -> Integers:
    return np.array([value], dtype=np.int64) if not abs(value) >> 62 else _whole([value])


@lru_cache(maxsize=8)
def _block_table(certainty: Certainty) -> LabelTable:
    """Return the law of the block, Pr[k >= j] = exp(-j); label 45 means 45 or more."""

    def boundaries() -> list[arb]:
        return [1 - arb(-k).exp() for k in range(1, FARTHEST + 1)]

    return LabelTable.build(range(FARTHEST + 1), boundaries, certainty)


def _attempt_one(
    bits: int,
    weight: Callable[[int], Real | None],
    source: BitSource,
    *,
    both_sides: bool,
    first_block: int = 0,
) -> int | None:
    block = first_block
    while Uniform(source).below(lambda: arb(-1).exp()):
        block += 1
    value = (block << bits) + source.integer(bits)
    if both_sides and source.integer(1):
        value = -1 - value
    chance = weight(value)
    if chance is None or not Uniform(source).below(lambda: chance() * arb(block).exp()):
        return None
    return value


def _fewest_bits(potential: Potential) -> int:
    """Return a number of bits not above the least that has phi(2^bits) >= 1, and near it.

    At that least width one of the two terms is 1/2 or more; a factor of n bits is below 2^n.
    """
    enough = []
    if potential.quadratic:
        enough.append((potential.over.bit_length() - potential.quadratic.bit_length() - 2) // 2)
    if potential.linear:
        enough.append(potential.over.bit_length() - potential.linear.bit_length() - 2)
    return max(0, min(enough))
