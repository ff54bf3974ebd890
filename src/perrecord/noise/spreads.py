"""Student laws of many cells: one of a list for each, or A = spread + growth Q for each (T28).

With squares every cell may have a law of its own, so nothing is made for each of them. A is
computed in floats (docs/noise.md, Lemma 8), whose first bits say what class it has; its exact law
is made only where a comparison stays open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from perrecord.noise.bernoulli import Floats
from perrecord.noise.blocks import Integers
from perrecord.noise.envelopes import LAST, SLACK, STEPS
from perrecord.noise.students import Indices, Student

_INT64 = (1 << 63) - 1
_WIDE = Fraction(1 << 100)
"""An A that is wide for sure; larger ones are as this one."""

_LEAST_FLOAT = Fraction(1, 1 << 900)
"""A spread and a growth from here on give normal floats all the way."""

_MANTISSA = 52 - (STEPS.bit_length() - 1)
_AT_ONE = int(np.float64(1).view(np.int64)) >> _MANTISSA


@dataclass(frozen=True, slots=True)
class Listed:
    """Cells that each have one law of a list."""

    laws: Sequence[Student]
    which: NDArray[np.intp]
    steps: NDArray[np.intp]
    spreads: Floats

    @classmethod
    def of(cls, laws: Sequence[Student], which: NDArray[np.intp]) -> "Listed":
        """Return cells that have the laws at these indices, all of one power."""
        spreads = np.array([law.near_spread for law in laws], dtype=np.float64)
        steps = np.array([min(law.step, LAST + 1) for law in laws], dtype=np.intp)
        return cls(laws, which, steps, spreads)

    @property
    def power(self) -> int:
        """The power of the weights."""
        return self.laws[0].power

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, place: int) -> Student:
        """Return the law of one cell."""
        return self.laws[int(self.which[place])]

    def columns(self, places: Indices) -> tuple[NDArray[np.intp], Floats]:
        """Return the step and A of some cells."""
        which = self.which[places]
        return self.steps[which], self.spreads[which]


@dataclass(frozen=True, slots=True)
class Squares:
    """Cells with a Student law each, of spread A = spread + growth Q, growth > 0, Q >= 0 whole."""

    spread: Fraction
    growth: Fraction
    squares: Integers
    """Q of each cell: int64, or Python ints in an object array."""
    power: int

    def __len__(self) -> int:
        return len(self.squares)

    def __getitem__(self, place: int) -> Student:
        """Return the law of one cell, exactly."""
        below = lcm(self.spread.denominator, self.growth.denominator)
        spread = self.spread + self.growth * int(self.squares[place])
        return Student(int(spread * below), below, self.power)

    def columns(self, places: Indices) -> tuple[NDArray[np.intp], Floats]:
        """Return the step and A of some cells, A within 6u of itself."""
        spreads = self._spreads(places)
        # A little more than A: the class reaches up to A, and down to it but for the slack.
        steps = (spreads * (1 + SLACK / 2)).view(np.int64)
        steps >>= _MANTISSA
        steps -= _AT_ONE
        return steps, spreads

    def _spreads(self, places: Indices) -> Floats:
        if min(self.spread, self.growth) < _LEAST_FLOAT:
            exact = [self[place].near_spread for place in places.tolist()]
            return np.array(exact, dtype=np.float64)
        spread, growth = (float(min(each, _WIDE)) for each in (self.spread, self.growth))
        squares = self.squares[places]
        if squares.dtype == np.object_:
            squares = np.minimum(squares, int(_WIDE / self.growth) + 1)
        spreads = squares.astype(np.float64)
        spreads *= growth
        spreads += spread
        return spreads
