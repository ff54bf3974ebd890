"""What a table of buckets needs to know of a law: weights f(|z|) that fall from f(0) = 1 towards 0.

The potentials of `potential.py` are such laws, with f(y) = exp(-phi(y)); `students.py` has others.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Protocol, Self

import numpy as np
from flint import arb

from perrecord.laws.enclosure import ball, nearest_float
from perrecord.noise.bernoulli import FARTHEST, Floats, exp_minus
from perrecord.noise.bits import BitSource
from perrecord.noise.blocks import Blocks, draw_one
from perrecord.noise.potential import Potential

_PER_QUADRATIC = 2048
_PER_LINEAR = 16
"""phi rises by at most 1 / this over the first bucket: 32 to 64 buckets to a sigma, 16 to 32 to
a scale."""


class Shape(Hashable, Protocol):
    """A symmetric law on the integers by its weights, exact and in floats."""

    def coarse(self, bits: int) -> Self:
        """Return y -> f(2^bits y): the law seen in steps of 2^bits."""

    def weight(self, point: int) -> arb:
        """Return f(point) as a ball of the working precision."""

    def weights(self, last: int) -> Iterator[arb]:
        """Yield f(1), ..., f(last) as balls of the working precision."""

    def near(self, points: Floats) -> Floats:
        """Return the weights of points >= 0 in floats, within 2^-43."""

    def heights(self, last: int) -> Floats:
        """Return f(last), ..., f(1), f(0) in floats, within 2^-43."""

    def total(self) -> arb:
        """Return the sum of the weights over all integers."""

    def is_slow(self) -> bool:
        """Tell whether f falls so little over one step that the step may be a bucket."""

    def last(self) -> int | None:
        """Return the last of the steps that a table lists; None if a table does not serve."""

    def draw_from(self, start: int, source: BitSource) -> int:
        """Return y >= start >= 1 with probability proportional to f(y), by exact arithmetic."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """The weights exp(-phi(y)) of a potential."""

    potential: Potential

    def coarse(self, bits: int) -> "Exponential":
        """Return y -> f(2^bits y)."""
        return Exponential(self.potential.coarse(bits))

    def weight(self, point: int) -> arb:
        """Return f(point) as a ball of the working precision."""
        return self.potential.weight(point)

    def weights(self, last: int) -> Iterator[arb]:
        """Yield f(1), ..., f(last), each from the one before."""
        potential = self.potential
        weight = potential.weight(1)
        ratio = potential.beyond(1).weight(1)
        shrink = ball(Fraction(-2 * potential.quadratic, potential.over)).exp()
        for _ in range(last):
            yield weight
            weight *= ratio
            ratio *= shrink

    def near(self, points: Floats) -> Floats:
        """Return the weights of points >= 0 in floats."""
        quadratic, linear = self.potential.floats()
        return exp_minus((quadratic * points + linear) * points)

    def heights(self, last: int) -> Floats:
        """Return f(last), ..., f(1), f(0), each rounded to the nearest float."""
        return np.array([nearest_float(partial(self.weight, m)) for m in range(last, -1, -1)])

    def total(self) -> arb:
        """Return the sum of the weights over all integers."""
        return self.potential.total()

    def is_slow(self) -> bool:
        """Tell whether f falls so little over one step that the step may be a bucket."""
        found = self.potential
        return max(found.quadratic * _PER_QUADRATIC, found.linear * _PER_LINEAR) <= found.over

    def last(self) -> int | None:
        """Return the first step with f < 2^-64; None if nearly every value is 0."""
        return (
            None if self.potential.reaches(FARTHEST, 1) else self.potential.first_at_least(FARTHEST)
        )

    def draw_from(self, start: int, source: BitSource) -> int:
        """Return y >= start with probability proportional to f(y), by exact arithmetic."""
        law = Blocks.of(self.potential.beyond(start), both_sides=False)
        return start + draw_one(law.bits, law.weight, source, both_sides=False)
