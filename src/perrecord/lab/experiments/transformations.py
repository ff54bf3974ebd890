"""Noise on a transformed total, for comparison alone: the logarithm and the square root (T29).

What is published is y = f(S) + sigma Z, Z standard normal, of a total S of numbers that are not
negative. f is concave, so a record of r moves f(S) by at most f(r) - f(0) wherever S lies, and

    P(r) = (f(r) - f(0))^2 / (2 sigma^2).

A plain inverse of y is biased; those below are not. All of it is on the real line and for figures:
no release is made this way.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb
from scipy.special import ndtr

from perrecord.errors import InputError
from perrecord.exact import Exact, rational
from perrecord.laws.enclosure import ball, enclose

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Transformation(ABC):
    """f(S) with Gaussian noise; `offset` c is public and above 0, where f stops to be steep."""

    offset: Fraction
    sigma: Fraction

    def __post_init__(self) -> None:
        if self.offset <= 0 or self.sigma <= 0:
            raise InputError("the offset and sigma of a transformation must be above 0.")

    def loss(self, size: Exact) -> Fraction:
        """Return P(r) of a record of this size, never below it and within one part in 2^60.

        >>> float(Logarithm(Fraction(20), Fraction(1, 2)).loss(20))           # 2 ln(2)^2
        0.9609...
        >>> SquareRoot(Fraction(9), Fraction(1)).loss(16)                     # (5 - 3)^2 / 2
        Fraction(2, 1)
        """
        held = rational(size, "the size")
        if held < 0:
            raise InputError("the size of a record is below 0; expected a number from 0.")
        if not held:
            return Fraction(0)
        moved = enclose(lambda: self._moved(ball(held)) ** 2)
        return moved.upper / (2 * self.sigma**2)

    def chance_within(self, limits: Floats, true: Floats) -> Floats:
        """Return Pr[|estimate - S| <= limit], for each limit and total."""
        low, high = self._reached(true, -limits), self._reached(true, limits)
        return self._chance_between(low, high, true)

    def _chance_between(self, low: Floats, high: Floats, true: Floats) -> Floats:
        """Return Pr[low <= y <= high]."""
        centre, spread = self.of(true), float(self.sigma)
        return np.asarray(ndtr((high - centre) / spread) - ndtr((low - centre) / spread))

    @abstractmethod
    def of(self, total: Floats) -> Floats:
        """Return f(S)."""

    @abstractmethod
    def estimate(self, noisy: Floats) -> Floats:
        """Return the unbiased estimate of S from y."""

    @abstractmethod
    def variance(self, total: Floats) -> Floats:
        """Return the variance of the estimate."""

    @abstractmethod
    def _moved(self, size: arb) -> arb:
        """Return f(r) - f(0)."""

    @abstractmethod
    def _reached(self, true: Floats, errors: Floats) -> Floats:
        """Return the y whose estimate errs by this much; minus infinity where none errs so far."""


class Logarithm(Transformation):
    """f(S) = ln(1 + S/c): the noise is a share of the total, whoever it consists of."""

    __slots__ = ()

    def of(self, total: Floats) -> Floats:
        """Return f(S)."""
        return np.log1p(total / float(self.offset))

    def estimate(self, noisy: Floats) -> Floats:
        """Return c (exp(y - sigma^2/2) - 1)."""
        return np.asarray(float(self.offset) * np.expm1(noisy - float(self.sigma) ** 2 / 2))

    def variance(self, total: Floats) -> Floats:
        """Return (S + c)^2 (exp(sigma^2) - 1)."""
        return np.asarray((total + float(self.offset)) ** 2 * math.expm1(float(self.sigma) ** 2))

    def _moved(self, size: arb) -> arb:
        return (1 + size / ball(self.offset)).log()

    def _reached(self, true: Floats, errors: Floats) -> Floats:
        inside = 1 + (true + errors) / float(self.offset)
        found = np.full(inside.shape, -np.inf)
        np.log(inside, out=found, where=inside > 0)
        return found + float(self.sigma) ** 2 / 2


class SquareRoot(Transformation):
    """f(S) = sqrt(S + c): the noise grows with the square root of the total.

    A y below 0, which happens next to never for c of a few sigma^2, is taken as it is: of -y the
    estimate is the same.
    """

    __slots__ = ()

    def of(self, total: Floats) -> Floats:
        """Return f(S)."""
        return np.sqrt(total + float(self.offset))

    def estimate(self, noisy: Floats) -> Floats:
        """Return y^2 - sigma^2 - c."""
        return noisy**2 - float(self.sigma) ** 2 - float(self.offset)

    def variance(self, total: Floats) -> Floats:
        """Return 4 sigma^2 (S + c) + 2 sigma^4."""
        spread = float(self.sigma) ** 2
        return 4 * spread * (total + float(self.offset)) + 2 * spread**2

    def chance_within(self, limits: Floats, true: Floats) -> Floats:
        """Return Pr[|estimate - S| <= limit]: y lies in an interval, or in its mirror image."""
        low, high = self._reached(true, -limits), self._reached(true, limits)
        mirrored = self._chance_between(-high, -low, true)
        return self._chance_between(low, high, true) + mirrored

    def _moved(self, size: arb) -> arb:
        offset = ball(self.offset)
        return size / ((size + offset).sqrt() + offset.sqrt())

    def _reached(self, true: Floats, errors: Floats) -> Floats:
        square = true + errors + float(self.sigma) ** 2 + float(self.offset)
        return np.sqrt(np.maximum(square, 0.0))
