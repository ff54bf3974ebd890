"""What every symmetric noise law on the integers can tell, given its upper tail."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from perrecord.errors import InputError, ProbabilityError
from perrecord.exact import Exact, rational, whole
from perrecord.laws.enclosure import Enclosure, at_most, enclose

Floats = npt.NDArray[np.float64]


class Stepless(NamedTuple):
    """A law without steps, a little wider than a law with a uniform step added to it."""

    family: Literal["normal", "laplace"]
    scale: float


class Law(ABC):
    """A distribution on the integers, symmetric about 0 and decreasing away from it."""

    __slots__ = ()

    @abstractmethod
    def _upper_tail(self, start: int) -> arb:
        """Return Pr[Z >= start] for start >= 1 as a ball of small relative width."""

    @abstractmethod
    def _mass(self, value: int) -> arb:
        """Return Pr[Z = value] as a ball of small relative width."""

    @abstractmethod
    def _variance(self) -> arb:
        """Return Var Z as a ball of small relative width."""

    @abstractmethod
    def float_tails(self, starts: Floats) -> Floats:
        """Return Pr[Z >= start] for whole starts of 1 or more, to 10^-9: no guarantee rests on it.

        `tail` gives one of them exactly enclosed.
        """

    @abstractmethod
    def float_sizes(self, sizes: Floats) -> Floats:
        """Return E max(|Z|, size) for whole sizes, to one part in 10^8: no guarantee rests on it.

        By symmetry it is E|Z + size|: noise below a bias cancels out.
        """

    @property
    def stepless(self) -> Stepless | None:
        """A law that Z plus a uniform number from -1/2 to 1/2 is closer to 0 than, if one is known.

        Sums of such noise then have the quantiles of sums of the other (docs/theory.md).
        """
        return None

    def rho(self, shift: int) -> Fraction:  # noqa: ARG002
        """Return what a shift by so many steps costs under zCDP, rounded up if irrational."""
        raise InputError(f"{self} has no known loss in rho; expected epsilon.")

    def epsilon(self, shift: int) -> Fraction:  # noqa: ARG002
        """Return what a shift by so many steps costs under pure epsilon, rounded up likewise."""
        raise InputError(f"{self} has no loss in epsilon; expected rho.")

    def _tail(self, start: int) -> arb:
        # Symmetry: Z < start is Z <= start - 1, as likely as Z >= 1 - start.
        return self._upper_tail(start) if start >= 1 else 1 - self._upper_tail(1 - start)

    def pmf(self, value: int) -> Enclosure:
        """Return Pr[Z = value]."""
        point = whole(value, "the value")
        return enclose(lambda: self._mass(point))

    def tail(self, start: int) -> Enclosure:
        """Return Pr[Z >= start], of small relative width down to 2^-131072."""
        point = whole(start, "the start of the tail")
        return enclose(lambda: self._tail(point))

    def variance(self) -> Enclosure:
        """Return the variance of Z itself, which is not the parameter of a discrete Gaussian."""
        return enclose(self._variance)

    def tail_point(self, probability: Exact) -> int:
        """Return the least integer t with Pr[Z >= t] <= probability."""
        chance = _between_zero_and_one(probability)
        step = 1
        if self._tail_at_most(0, chance):
            while self._tail_at_most(-step, chance):
                step *= 2
            low, high = -step, -step // 2 if step > 1 else 0
        else:
            while not self._tail_at_most(step, chance):
                step *= 2
            low, high = step // 2, step
        while high - low > 1:
            middle = (low + high) // 2
            if self._tail_at_most(middle, chance):
                high = middle
            else:
                low = middle
        return high

    def quantile(self, probability: Exact) -> int:
        """Return the least integer k with Pr[Z <= k] >= probability."""
        return self.tail_point(1 - _between_zero_and_one(probability)) - 1

    def half_width(self, confidence: Exact) -> int:
        """Return the least c >= 0 with Pr[|Z| <= c] >= confidence: the interval is ±c."""
        outside = 1 - _between_zero_and_one(confidence)
        return max(0, self.tail_point(outside / 2) - 1)

    def _tail_at_most(self, start: int, chance: Fraction) -> bool:
        if start >= 1:
            return at_most(lambda: self._upper_tail(start), chance)
        # By symmetry Pr[Z >= start] <= p if and only if Pr[Z >= 1 - start] >= 1 - p, which needs
        # no more bits than p has. (Equality would stay undecided; it has never been met.)
        return not at_most(lambda: self._upper_tail(1 - start), 1 - chance)


def from_the_end(numbers: Floats) -> Floats:
    """Return the sums of all numbers from each place on, and 0 beyond the last."""
    return np.append(np.cumsum(numbers[::-1])[::-1], 0.0)


def _between_zero_and_one(probability: Exact) -> Fraction:
    chance = rational(probability, "the probability")
    if not 0 < chance < 1:
        raise ProbabilityError(
            f"the probability is {probability}; expected a number strictly between 0 and 1, "
            'such as "0.95".'
        )
    return chance
