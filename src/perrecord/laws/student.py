"""The discrete Student law: Pr[Z = k] proportional to (A + k^2)^-m (T26)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from perrecord.errors import InputError
from perrecord.exact import Exact, rational, whole
from perrecord.laws.enclosure import ball
from perrecord.laws.law import Floats, Law, from_the_end
from perrecord.laws.student_sums import student_tail_sum
from perrecord.laws.tapering import (
    NARROWEST,
    least_spread_for_epsilon,
    least_spread_for_rho,
    power_of,
    tapered_epsilon,
    tapered_rho,
)

_NEAR = 200


@dataclass(frozen=True, slots=True, init=False)
class DiscreteStudent(Law):
    """The law of noise under which a loss grows like the logarithm of a record's size.

    Its parameters are the spread A, any positive rational, and nu = 2m - 1, which is 3 or 7.
    The variance is very nearly A / (nu - 2).

    >>> noise = DiscreteStudent.for_rho("0.2", at=50)
    >>> float(noise.spread), noise.nu
    (34621.6397709, 7)
    >>> [round(float(noise.rho(size)), 2) for size in (50, 150, 4000)]
    [0.2, 1.64, 24.56]
    >>> noise.half_width("0.95")
    166
    """

    spread: Fraction
    nu: int

    def __init__(self, spread: Exact, nu: int = 7) -> None:
        exact = rational(spread, "the spread")
        if exact <= 0:
            raise InputError(f"the spread is {spread}; expected a number above 0.")
        power_of(nu)
        object.__setattr__(self, "spread", exact)
        object.__setattr__(self, "nu", nu)

    @classmethod
    def for_rho(cls, rho: Exact, *, at: Exact, nu: int = 7) -> "DiscreteStudent":
        """Return the narrowest noise under which a shift of so many steps costs at most rho."""
        return cls(least_spread_for_rho(rho, at, nu), nu)

    @classmethod
    def for_epsilon(cls, epsilon: Exact, *, at: Exact, nu: int = 7) -> "DiscreteStudent":
        """Return the narrowest noise under which a shift of so many steps costs at most epsilon."""
        return cls(least_spread_for_epsilon(epsilon, at, nu), nu)

    @property
    def power(self) -> int:
        """The exponent m = (nu + 1) / 2."""
        return power_of(self.nu)

    def rho(self, shift: int) -> Fraction:
        """Return what a shift costs under zCDP, rounded up (T26); the spread is 25 or more."""
        if self.spread < NARROWEST:
            raise InputError(
                "the noise is narrower than 5 steps of its grid, where its loss is not known; "
                "expected a finer resolution or a smaller rho."
            )
        return tapered_rho(whole(shift, "the shift"), self.spread, self.nu)

    def epsilon(self, shift: int) -> Fraction:
        """Return what a shift costs under pure epsilon, rounded up (T26)."""
        return tapered_epsilon(whole(shift, "the shift"), self.spread, self.nu)

    def _upper_tail(self, start: int) -> arb:
        return student_tail_sum(self.spread, self.power, start) / self._total()

    def _mass(self, value: int) -> arb:
        return ball(self.spread + value**2) ** -self.power / self._total()

    def _total(self) -> arb:
        """Return the sum of (A + k^2)^-m over all integers."""
        return _total(self.spread, self.power, ctx.prec)

    def _variance(self) -> arb:
        # k^2 (A + k^2)^-m = (A + k^2)^-(m-1) - A (A + k^2)^-m
        less = student_tail_sum(self.spread, self.power - 1, 1)
        same = student_tail_sum(self.spread, self.power, 1)
        return 2 * (less - ball(self.spread) * same) / self._total()

    # -- floats: no guarantee rests on them ------------------------------------------------------

    def float_tails(self, starts: Floats) -> Floats:
        """Return Pr[Z >= start] for starts of 1 or more."""
        return self._sums_from(starts)[0]

    def float_sizes(self, sizes: Floats) -> Floats:
        """Return E max(|Z|, size)."""
        chances, moments = self._sums_from(sizes + 1)
        return np.asarray(sizes * (1 - 2 * chances) + 2 * moments)

    def _sums_from(self, starts: Floats) -> tuple[Floats, Floats]:
        """Return the sums of Pr[Z = k] and of k Pr[Z = k] over k >= start >= 1.

        From 200 steps away from the poles at +-i sqrt A on, by the midpoint rule with its first
        correction, which errs by less than one part in 10^8; nearer terms are added up.
        """
        near = 0 if self.spread >= _NEAR**2 else _NEAR
        numbers = np.arange(1, near + 1, dtype=np.float64)
        chances, moments = self._integrals(np.maximum(starts, near + 1))
        if near:
            masses = self._floats(numbers)[0]
            place = np.minimum(starts, near + 1).astype(np.int64) - 1
            chances = chances + from_the_end(masses)[place]
            moments = moments + from_the_end(numbers * masses)[place]
        return chances, moments

    def _integrals(self, starts: Floats) -> tuple[Floats, Floats]:
        a, power = math.sqrt(self.spread), self.power
        points = starts - 0.5
        masses, slopes = self._floats(points)
        height = _height(self)
        # The integral of (1 + u^2)^-m from u on, by parts from that of (1 + u^2)^-1.
        u = points / a
        more = 1 + u**2
        integral = np.arctan2(1.0, u)
        for order in range(1, power):
            integral = ((2 * order - 1) * integral - u / more**order) / (2 * order)
        moment = float(self.spread) / (2 * (power - 1)) * more ** (1.0 - power)
        chances = height * a * np.maximum(integral, 0.0) + slopes / 24
        moments = height * moment + (masses + points * slopes) / 24
        return np.asarray(chances), np.asarray(moments)

    def _floats(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the masses of points, and their derivatives."""
        more = 1 + points**2 / float(self.spread)
        masses = _height(self) * more ** (-1.0 * self.power)
        return masses, -2 * self.power * points / float(self.spread) / more * masses


@lru_cache(maxsize=1024)
def _height(law: DiscreteStudent) -> float:
    """Return Pr[Z = 0], asked for with every array of numbers."""
    return float(law.pmf(0))


@lru_cache(maxsize=1024)
def _total(spread: Fraction, power: int, _bits: int) -> arb:
    """Return the sum of (A + k^2)^-m over all integers, as it is at the present precision."""
    return ball(spread) ** -power + 2 * student_tail_sum(spread, power, 1)
