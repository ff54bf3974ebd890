"""Pieces with a constant bound on Student weights, the same for every A between two numbers.

A piece is a stretch of y = 0, 1, 2, ... in units of 2^b, and on it (A / (A + y^2))^m is at most
c_j for every A of the class. The bounds are chosen such that each piece has a whole number of 4096
chances: twelve fair bits draw one, exactly (docs/noise.md, Theorem 9). The last one is the tail:
all that lies beyond, in stretches that double for ever.

From A = 1024 on a class is an eighth of a power of two, and A and 4 A have the same pieces in
another unit. Below, where pieces cannot be narrower than 1, a class is a power of four,
and the first one holds every A < 4.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perrecord.noise.bernoulli import Floats

PIECE_BITS, HEIGHT_BITS = 12, 16

WIDEST_BITS = 43
"""Units wider than 2^this give Python ints: what lies before the tail must fit an int64."""

SLACK = 2.0**-40
"""By so little of itself A may lie below its class."""

STEPS = 8
"""Classes to a power of two."""

FIRST = 10 * STEPS
"""The step from which on each has a class of its own: that of A = 1024."""

LAST = FIRST + 2 * STEPS * (WIDEST_BITS + 1) - 1
"""The last step whose units are not too wide."""

_SMALL = FIRST // (2 * STEPS)
_TABLES = _SMALL + 2 * STEPS
_CHANCES = 1 << PIECE_BITS
_POINT = 1 << 60
_DOUBLINGS = 12
_WIDTHS = (2, 16)
"""How long pieces are in the first two stretches beyond sqrt A; later ones are one piece each."""


class Class(NamedTuple):
    """Which envelope an A has, and b: its unit is 2^b."""

    table: int
    bits: int


def step_of(above: int, below: int) -> int:
    """Return 8 e + i for A = above / below in [2^e (1 + i/8), 2^e (1 + (i+1)/8)), exactly.

    >>> step_of(1, 1), step_of(15, 1), step_of(9, 16)
    (0, 31, -7)
    """
    power = above.bit_length() - below.bit_length()
    if above << max(0, -power) < below << max(0, power):
        power -= 1
    eighths = (STEPS * above << max(0, -power)) // (below << max(0, power))
    return STEPS * (power - 1) + eighths


def class_of(step: int) -> Class:
    """Return the class of a step.

    >>> class_of(-1), class_of(FIRST), class_of(FIRST + 16)
    (Class(table=0, bits=0), Class(table=5, bits=0), Class(table=5, bits=1))
    """
    if step < FIRST:
        return Class(max(0, step // (2 * STEPS)), 0)
    bits, table = divmod(step - FIRST, 2 * STEPS)
    return Class(_SMALL + table, bits)


@dataclass(frozen=True)
class Envelope:
    """The pieces of one class, in units; after the last one comes the tail."""

    least: Fraction
    """No A of the class is smaller, in squared units."""
    most: Fraction
    power: int

    @classmethod
    def of(cls, table: int, power: int) -> "Envelope":
        """Return the envelope with this number."""
        if table < _SMALL:
            least, most = Fraction(4**table if table else 0), Fraction(4 ** (table + 1))
        else:
            whole, part = divmod(table - _SMALL + FIRST, STEPS)
            least, most = (Fraction(2**whole * (STEPS + i), STEPS) for i in (part, part + 1))
        return cls(least * (1 - Fraction(SLACK)), most, power)

    @cached_property
    def starts(self) -> list[int]:
        """Where the pieces begin, and where the tail does: a power of two."""
        first = 1
        while first**2 < self.most:
            first *= 2
        found = list(range(first))
        for doubling in range(_DOUBLINGS):
            low = first << doubling
            width = min(low, _WIDTHS[doubling]) if doubling < len(_WIDTHS) else low
            found += range(low, 2 * low, width)
        return [*found, first << _DOUBLINGS]

    @cached_property
    def sizes(self) -> list[int]:
        """How long each piece is; of the tail, its first stretch."""
        return [*(end - start for start, end in pairwise(self.starts)), self.starts[-1]]

    @property
    def tail(self) -> int:
        """The number of the tail, which comes after all pieces."""
        return len(self.sizes) - 1

    @cached_property
    def unit(self) -> int:
        """The bound of a piece that is as long as it has chances, as a whole number of 2^-60.

        It is the least total / n, n whole, for which all pieces and the tail have enough.
        """
        total, low, high = sum(self.weights), _CHANCES - len(self.sizes), _CHANCES + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = sum(-(-each // -(-total // middle)) for each in self.weights) <= _CHANCES
            low, high = (middle, high) if fits else (low, middle)
        return -(-total // low)

    @cached_property
    def chances(self) -> list[int]:
        """How many of 4096 each piece has; the tail has what is left."""
        found = [-(-each // self.unit) for each in self.weights[: self.tail]]
        return [*found, _CHANCES - sum(found)]

    @cached_property
    def weights(self) -> list[int]:
        """How long each piece is times the largest weight there, rounded up to a 2^-60.

        In the tail that is (most / start^2)^m, and each stretch has 2^(1-2m) of the one before.
        """
        above, below, m = self.most.numerator, self.most.denominator, self.power
        found = [
            -(-size * _POINT * above**m // (above + below * start**2) ** m)
            for start, size in zip(self.starts, self.sizes, strict=True)
        ]
        stretch = Fraction(self.sizes[-1] * _POINT * above**m, (below * self.starts[-1] ** 2) ** m)
        found[self.tail] = ceil(stretch / (1 - self.ratio))
        return found

    @property
    def ratio(self) -> Fraction:
        """How the weights of the tail's stretches fall from one to the next."""
        return Fraction(1, 1 << 2 * self.power - 1)

    def factor(self, piece: int, doubling: int = 0) -> Fraction:
        """Return 1 / c_j; in the tail, that of its stretch so many doublings out."""
        found = Fraction(self.sizes[piece] * _POINT, self.chances[piece] * self.unit)
        if piece < self.tail:
            return found
        # 2^i times as long, and drawn with probability ratio^i (1 - ratio).
        return found * (1 << 2 * self.power * doubling) / (1 - self.ratio)

    def sure(self, piece: int) -> int:
        """Return such an n that what is drawn in a piece is kept if 2^16 U < n, whatever it is."""
        if piece == self.tail:
            return 0
        above, below, size = self.least.numerator, self.least.denominator, self.sizes[piece]
        end = self.starts[piece] + size
        top = (above**self.power * size * _POINT) << HEIGHT_BITS
        bottom = (above + below * end**2) ** self.power * self.chances[piece] * self.unit
        found: int = top // bottom
        return min(found, (1 << HEIGHT_BITS) - 1)

    def possible(self, piece: int) -> int:
        """Return such an n that what is drawn in a piece is not kept unless 2^16 U < n."""
        most = self.weights[piece] << HEIGHT_BITS
        return max(-(-most // (self.chances[piece] * self.unit)), self.sure(piece) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Envelopes:
    """All envelopes of one power as arrays; pieces are numbered through."""

    bits: NDArray[np.int64]
    """b of each step from 0 on; one more for all that are wide."""
    first: NDArray[np.int64]
    """The first chance of each step's class, likewise."""
    pieces: NDArray[np.uint16]
    """The piece that each chance stands for."""
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    factors: Floats
    """1 / c_j, rounded to nearest."""
    sure: NDArray[np.uint16]
    """Heights of 16 bits below this keep whatever is drawn in a piece."""
    last: NDArray[np.uint16]
    """Heights above this refuse it."""
    is_tail: NDArray[np.bool_]
    whose: tuple[tuple[Envelope, int], ...]
    """The envelope of each piece, and its number there."""


@lru_cache(maxsize=4)
def envelopes(power: int) -> Envelopes:
    """Return the envelopes of a power."""
    every = tuple(Envelope.of(table, power) for table in range(_TABLES))
    classes = [class_of(step) for step in range(LAST + 2)]
    pieces = [(each, piece) for each in every for piece in range(len(each.sizes))]
    chances = [each.chances[piece] for each, piece in pieces]
    return Envelopes(
        bits=np.array([each.bits for each in classes], dtype=np.int64),
        first=np.array([each.table << PIECE_BITS for each in classes], dtype=np.int64),
        pieces=np.repeat(np.arange(len(pieces), dtype=np.uint16), chances),
        starts=np.array([each.starts[piece] for each, piece in pieces], dtype=np.int64),
        sizes=np.array([each.sizes[piece] for each, piece in pieces], dtype=np.int64),
        factors=np.array([float(each.factor(piece)) for each, piece in pieces]),
        sure=np.array([each.sure(piece) for each, piece in pieces], dtype=np.uint16),
        last=np.array([each.possible(piece) - 1 for each, piece in pieces], dtype=np.uint16),
        is_tail=np.array([piece == each.tail for each, piece in pieces]),
        whose=tuple(pieces),
    )
