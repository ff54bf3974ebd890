"""Student laws of many cells: one of a list for each, or A = spread + growth Q for each (T28).

With squares every cell may have a law of its own, so nothing is made for each of them. The width
2^b of its blocks follows from comparing Q with whole numbers, one for each b; 1/A is computed in
floats (docs/noise.md, Lemma 8); its exact law is made only where a comparison stays open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from perrecord.noise.bernoulli import Floats
from perrecord.noise.blocks import Integers
from perrecord.noise.students import WIDEST_BITS, Student, block_bits

_INT64 = (1 << 63) - 1
_LARGEST_SPREAD = 4 ** (WIDEST_BITS + 1)
"""The largest A whose blocks are not wide."""

_LEAST_FLOAT = Fraction(1, 1 << 900)
"""A spread and a growth from here on give normal floats all the way."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Cells that each have one law of a list."""

    laws: Sequence[Student]
    which: NDArray[np.intp]
    bits: NDArray[np.int64]
    rates: Floats

    @classmethod
    def of(cls, laws: Sequence[Student], which: NDArray[np.intp]) -> "Listed":
        """Return cells that have the laws at these indices, all of one power."""
        bits = np.array([block_bits(law) for law in laws], dtype=np.int64)
        return cls(laws, which, bits, np.array([law.rate for law in laws], dtype=np.float64))

    @property
    def power(self) -> int:
        """The power of the weights."""
        return self.laws[0].power

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, place: int) -> Student:
        """Return the law of one cell."""
        return self.laws[int(self.which[place])]

    def columns(self, start: int, end: int) -> tuple[NDArray[np.int64], Floats]:
        """Return b and 1/A for the cells from start to end."""
        which = self.which[start:end]
        return self.bits[which], self.rates[which]


@dataclass(frozen=True, slots=True)
class Squares:
    """Cells with a Student law each, of spread A = spread + growth Q, growth > 0, Q >= 0 whole."""

    spread: Fraction
    growth: Fraction
    power: int
    squares: Integers
    """Q of each cell: int64, or Python ints in an object array."""
    largest: Integers
    """The largest Q whose blocks are at most 2^b wide, b = 0, ..., 48; of the type of the Q."""

    @classmethod
    def of(cls, spread: Fraction, growth: Fraction, squares: Integers, power: int) -> "Squares":
        """Return the cells with these squares."""
        widths = range(WIDEST_BITS + 1)
        ends = [max(-1, (4 ** (bits + 1) - spread) // growth) for bits in widths]
        if squares.dtype == np.object_:
            return cls(spread, growth, power, squares, np.array(ends, dtype=np.object_))
        fitting = np.array([min(each, _INT64) for each in ends], dtype=np.int64)
        return cls(spread, growth, power, squares, fitting)

    def __len__(self) -> int:
        return len(self.squares)

    def __getitem__(self, place: int) -> Student:
        """Return the law of one cell, exactly."""
        below = lcm(self.spread.denominator, self.growth.denominator)
        spread = self.spread + self.growth * int(self.squares[place])
        return Student(int(spread * below), below, self.power)

    def columns(self, start: int, end: int) -> tuple[NDArray[np.int64], Floats]:
        """Return b, exactly, and 1/A within 7u of itself, for the cells from start to end."""
        squares = self.squares[start:end]
        bits = np.searchsorted(self.largest, squares)
        if min(self.spread, self.growth) < _LEAST_FLOAT:
            exact = [self[place].rate for place in range(start, end)]
            return bits, np.array(exact, dtype=np.float64)
        spread, growth = (float(min(each, _LARGEST_SPREAD)) for each in (self.spread, self.growth))
        most = max(self.largest[-1], 0)  # beyond it blocks are wide, and any 1/A will do
        spreads = np.minimum(squares, most).astype(np.float64)
        spreads *= growth
        spreads += spread
        return bits, 1 / spreads
