"""Weights exp(-phi(y)) with phi(y) = (a y^2 + b y) / c: every law that this package draws from.

y^2 / (2 sigma^2) is the discrete Gaussian, y / scale the discrete Laplace, and a Gaussian's tail
beyond t, seen from t, has both terms: phi(t + y) - phi(t) = (y^2 + 2 t y) / (2 sigma^2).
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from perrecord.errors import InternalError
from perrecord.laws import DiscreteGaussian, DiscreteLaplace
from perrecord.laws.enclosure import ball

_LARGEST_BITS = 40


@dataclass(frozen=True, slots=True)
class Potential:
    """The function phi(y) = (quadratic y^2 + linear y) / over on y >= 0: convex, rising, 0 at 0."""

    quadratic: int
    linear: int
    over: int

    @classmethod
    def gaussian(cls, sigma_squared: Fraction) -> "Potential":
        """Return phi(y) = y^2 / (2 sigma^2)."""
        return cls(sigma_squared.denominator, 0, 2 * sigma_squared.numerator)

    @classmethod
    def laplace(cls, scale: Fraction) -> "Potential":
        """Return phi(y) = y / scale."""
        return cls(0, scale.denominator, scale.numerator)

    def at(self, point: int) -> Fraction:
        """Return phi(point), exactly."""
        return Fraction((self.quadratic * point + self.linear) * point, self.over)

    def reaches(self, bound: int, point: int) -> bool:
        """Tell whether phi(point) >= bound, without making a Fraction."""
        return (self.quadratic * point + self.linear) * point >= bound * self.over

    def weight(self, point: int) -> arb:
        """Return exp(-phi(point)) as a ball of the working precision."""
        return ball(-self.at(point)).exp()

    def beyond(self, start: int) -> "Potential":
        """Return y -> phi(start + y) - phi(start): what is left of the law from `start` on."""
        return Potential(self.quadratic, self.linear + 2 * self.quadratic * start, self.over)

    def coarse(self, bits: int) -> "Potential":
        """Return y -> phi(2^bits y): the law seen in steps of 2^bits."""
        return Potential(self.quadratic << 2 * bits, self.linear << bits, self.over)

    def first_at_least(self, bound: int) -> int:
        """Return the least point >= 1 with phi(point) >= bound."""
        high = 1
        while not self.reaches(bound, high):
            high *= 2
        low = high // 2  # phi(low) < bound, or low is 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.reaches(bound, middle) else (middle, high)
        return high

    def total(self) -> arb:
        """Return the sum of exp(-phi(|z|)) over all integers z, for a law of one term."""
        if not self.linear:
            return 1 / DiscreteGaussian(Fraction(self.over, 2 * self.quadratic))._mass(0)
        if not self.quadratic:
            return 1 / DiscreteLaplace(Fraction(self.over, self.linear))._mass(0)
        raise InternalError("A total was asked for a law that has one side only.")

    def floats(self) -> tuple[float, float]:
        """Return the coefficients of y^2 and y rounded to nearest; above 2^40 that number serves.

        A coefficient that large belongs to steps of width 1 (docs/noise.md), where it makes
        exp(-phi(y)) invisible to a float for every y >= 1 either way.
        """
        most = self.over << _LARGEST_BITS
        return min(self.quadratic, most) / self.over, min(self.linear, most) / self.over
