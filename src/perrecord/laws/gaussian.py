"""The discrete Gaussian law: Pr[Z = k] proportional to exp(-k^2 / (2 sigma^2)) (T9, T11, T18)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, float_up, rational, sqrt_up, whole
from perrecord.laws.enclosure import Enclosure, at_most, ball, enclose
from perrecord.laws.law import Floats, Law, Stepless, from_the_end
from perrecord.laws.normal import normal_below, normal_density, normal_size
from perrecord.laws.sums import gaussian_tail_sum, square_powers

_SMALL = 900
"""Up to this sigma^2 floats add the law up; beyond, Euler-Maclaurin errs by less than 10^-8."""

_AT_ONCE = 4096

_WIDER = Fraction(1, 5)
"""A discrete Gaussian with a uniform step is closer to 0 than a normal of so much more variance."""


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian(Law):
    """The law of the noise that makes an answer of sensitivity D rho-zCDP.

    Its parameter is sigma^2 = D^2 / (2 rho), any positive rational; `variance()` is the variance
    of the integers themselves, which is a little smaller.

    >>> noise = DiscreteGaussian.for_zcdp(rho="0.1")
    >>> noise.sigma_squared
    Fraction(5, 1)
    >>> noise.tail(12)
    Enclosure(1.0818...e-07, 1.0818...e-07)
    >>> noise.selection_threshold("1e-6")
    13
    """

    sigma_squared: Fraction

    def __init__(self, sigma_squared: Exact) -> None:
        exact = rational(sigma_squared, "sigma squared")
        if exact <= 0:
            raise InputError(f"sigma squared is {sigma_squared}; expected a number above 0.")
        object.__setattr__(self, "sigma_squared", exact)

    @classmethod
    def for_zcdp(cls, rho: Exact, sensitivity: Exact = 1) -> "DiscreteGaussian":
        """Return the noise of variance parameter sensitivity^2 / (2 rho) (T11)."""
        loss = rational(rho, "rho")
        if loss <= 0:
            raise InputError(f"rho is {rho}; expected a number above 0.")
        return cls(rational(sensitivity, "the sensitivity") ** 2 / (2 * loss))

    def selection_threshold(self, delta: Exact) -> int:
        """Return tau, the least integer with Pr[Z >= tau - 1] <= delta (T9).

        A key that one unsplit record alone holds is then published with probability <= delta.
        """
        return self.tail_point(delta) + 1

    def delta(self, shift: int, epsilon: Exact) -> Enclosure:
        """Return the least delta for which Z + shift and Z are (epsilon, delta)-close (T18).

        The likelihood ratio grows with the outcome, so the worst event is {outcome >= t} with t
        the first integer at which it reaches exp(epsilon); t is found on rationals.
        """
        distance, gap = abs(whole(shift, "the shift")), rational(epsilon, "epsilon")
        return enclose(lambda: self._delta(distance, gap))

    def delta_at_most(self, shift: int, epsilon: Exact, bound: Exact) -> bool:
        """Tell whether Z + shift and Z are (epsilon, bound)-close."""
        distance, gap = abs(whole(shift, "the shift")), rational(epsilon, "epsilon")
        return at_most(lambda: self._delta(distance, gap), rational(bound, "delta"))

    def rho(self, shift: int) -> Fraction:
        """Return what a shift costs under zCDP: shift^2 / (2 sigma^2), exactly (T11)."""
        return whole(shift, "the shift") ** 2 / (2 * self.sigma_squared)

    def _delta(self, distance: int, epsilon: Fraction) -> arb:
        if distance == 0:
            return arb(0)
        # log ratio at t: (2 t k - k^2) / (2 sigma^2) >= epsilon
        first = -((-2 * self.sigma_squared * epsilon - distance**2) // (2 * distance))
        return self._tail(int(first) - distance) - ball(epsilon).exp() * self._tail(int(first))

    def _upper_tail(self, start: int) -> arb:
        return gaussian_tail_sum(self.sigma_squared, start) / self._total()

    def _mass(self, value: int) -> arb:
        return ball(-(value**2) / (2 * self.sigma_squared)).exp() / self._total()

    def _total(self) -> arb:
        """Return the sum of exp(-k^2 / (2 sigma^2)) over all integers.

        Summed as it stands for small sigma, through its Poisson dual
        sigma sqrt(2 pi) (1 + 2 sum exp(-2 pi^2 sigma^2 k^2)) for large; both converge in a few
        terms on their side of sigma^2 = 1 / (2 pi).
        """
        nome, is_dual = self._nome()
        whole: arb = 1 + 2 * square_powers(nome)[0]
        return whole * (2 * arb.pi() * ball(self.sigma_squared)).sqrt() if is_dual else whole

    def _variance(self) -> arb:
        nome, is_dual = self._nome()
        plain, weighted = square_powers(nome)
        if not is_dual:
            return 2 * weighted / (1 + 2 * plain)
        sigma_squared = ball(self.sigma_squared)
        curvature = 8 * arb.pi() ** 2 * sigma_squared * weighted
        return sigma_squared * (1 + 2 * plain - curvature) / (1 + 2 * plain)

    @property
    def stepless(self) -> Stepless:
        """A normal law of a fifth of a squared step more variance."""
        return Stepless("normal", float_up(sqrt_up(self.sigma_squared + _WIDER)))

    def float_tails(self, starts: Floats) -> Floats:
        """Return Pr[Z >= start] for whole starts of 1 or more."""
        sigma = math.sqrt(self.sigma_squared)
        if sigma**2 <= _SMALL:
            chances, _ = _added_up(self)
            return np.asarray(chances[np.minimum(starts - 1, len(chances) - 1).astype(np.int64)])
        scores = (starts - 0.5) / sigma
        return np.asarray(normal_below(-scores) - scores * normal_density(scores) / (24 * sigma**2))

    def float_sizes(self, sizes: Floats) -> Floats:
        """Return E max(|Z|, size) for whole sizes."""
        sigma = math.sqrt(self.sigma_squared)
        if sigma**2 <= _SMALL:
            chances, moments = _added_up(self)
            place = np.minimum(sizes, len(chances) - 1).astype(np.int64)
            return np.asarray(sizes * (1 - 2 * chances[place]) + 2 * moments[place])
        # |x + b| has a kink at an integer, where Euler-Maclaurin takes off a sixth of the density.
        return np.asarray(normal_size(sigma, sizes) - normal_density(sizes / sigma) / (6 * sigma))

    def _nome(self) -> tuple[arb, bool]:
        if self.sigma_squared * 2 * 355 <= 113:  # sigma^2 <= 1 / (2 pi), near enough
            return ball(-1 / (2 * self.sigma_squared)).exp(), False
        return (-2 * arb.pi() ** 2 * ball(self.sigma_squared)).exp(), True


def gaussian_tails(variances: Floats, starts: Floats) -> Floats:
    """Return Pr[Z >= start] under each sigma^2, for whole starts of 1 or more.

    It errs by less than 10^-8, as `float_tails` does.
    """
    sigma, found, is_wide = np.sqrt(variances), np.empty(len(variances)), variances > _SMALL
    scores = (starts[is_wide] - 0.5) / sigma[is_wide]
    correction = scores * normal_density(scores) / (24 * variances[is_wide])
    found[is_wide] = normal_below(-scores) - correction
    small = np.flatnonzero(~is_wide)
    for cells in np.array_split(small, len(small) // _AT_ONCE + 1):
        if len(cells):
            # What is beyond 10 sigma is below 10^-22.
            numbers = np.arange(1, 10 * math.ceil(sigma[cells].max()) + 2, dtype=np.float64)
            weights = np.exp(-np.square(numbers / sigma[cells, None]) / 2)
            beyond = np.where(numbers >= starts[cells, None], weights, 0.0).sum(axis=1)
            found[cells] = beyond / (1 + 2 * weights.sum(axis=1))
    return found


@lru_cache(maxsize=1024)
def _added_up(law: DiscreteGaussian) -> tuple[Floats, Floats]:
    """Return Pr[Z > x] and the sum of k Pr[Z = k] over k > x, for x = 0, 1, ... until all is 0."""
    sigma = math.sqrt(law.sigma_squared)
    numbers = np.arange(1, math.ceil(40 * sigma) + 3, dtype=np.float64)
    weights = np.exp(-((numbers / sigma) ** 2) / 2)
    masses = weights / (1 + 2 * weights.sum())
    return from_the_end(masses), from_the_end(numbers * masses)
