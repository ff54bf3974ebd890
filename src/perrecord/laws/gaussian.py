"""The discrete Gaussian law: Pr[Z = k] proportional to exp(-k^2 / (2 sigma^2)) (T9, T11, T18)."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, rational, whole
from perrecord.laws.enclosure import Enclosure, at_most, ball, enclose
from perrecord.laws.law import Law
from perrecord.laws.sums import gaussian_tail_sum, square_powers


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

    def _nome(self) -> tuple[arb, bool]:
        if self.sigma_squared * 2 * 355 <= 113:  # sigma^2 <= 1 / (2 pi), near enough
            return ball(-1 / (2 * self.sigma_squared)).exp(), False
        return (-2 * arb.pi() ** 2 * ball(self.sigma_squared)).exp(), True
