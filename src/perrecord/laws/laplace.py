"""The discrete Laplace law: Pr[Z = k] proportional to exp(-|k| / scale) (T16)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, float_up, rational, whole
from perrecord.laws.enclosure import ball
from perrecord.laws.law import Floats, Law, Stepless


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace(Law):
    """The law of the noise that makes an answer of sensitivity D eps-DP: scale = D / eps.

    >>> law = DiscreteLaplace("1")
    >>> law.tail(10)
    Enclosure(3.3190...e-05, 3.3190...e-05)
    >>> law.half_width("0.95")
    3
    """

    scale: Fraction

    def __init__(self, scale: Exact) -> None:
        exact = rational(scale, "the scale")
        if exact <= 0:
            raise InputError(f"the scale is {scale}; expected a number above 0.")
        object.__setattr__(self, "scale", exact)

    def epsilon(self, shift: int) -> Fraction:
        """Return what a shift costs under pure epsilon: |shift| / scale, exactly (T16)."""
        return abs(whole(shift, "the shift")) / self.scale

    @property
    def stepless(self) -> Stepless:
        """A Laplace law of half the hyperbolic cotangent of half the rate."""
        return Stepless("laplace", 0.5 / math.tanh(0.5 / float_up(self.scale)))

    def float_tails(self, starts: Floats) -> Floats:
        """Return Pr[Z >= start] for whole starts of 1 or more."""
        rate = -1 / float_up(self.scale)
        return np.asarray(np.exp(starts * rate) / (1 + math.exp(rate)))

    def float_sizes(self, sizes: Floats) -> Floats:
        """Return E max(|Z|, size) for whole sizes."""
        rate = -1 / float_up(self.scale)
        return np.asarray(sizes - 2 * np.exp((sizes + 1) * rate) / math.expm1(2 * rate))

    def _upper_tail(self, start: int) -> arb:
        # With q = exp(-1/scale): sum over k >= t of q^k (1-q)/(1+q) = q^t / (1+q).
        return ball(-start / self.scale).exp() / (1 + ball(-1 / self.scale).exp())

    def _mass(self, value: int) -> arb:
        one_less = -ball(-1 / self.scale).expm1()  # 1 - q without cancellation
        return one_less / (2 - one_less) * ball(-abs(value) / self.scale).exp()

    def _variance(self) -> arb:
        one_less = -ball(-1 / self.scale).expm1()
        return 2 * ball(-1 / self.scale).exp() / one_less**2
