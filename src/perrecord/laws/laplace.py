"""The discrete Laplace law: Pr[Z = k] proportional to exp(-|k| / scale) (T16)."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, rational
from perrecord.laws.enclosure import ball
from perrecord.laws.law import Law


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

    def _upper_tail(self, start: int) -> arb:
        # With q = exp(-1/scale): sum over k >= t of q^k (1-q)/(1+q) = q^t / (1+q).
        return ball(-start / self.scale).exp() / (1 + ball(-1 / self.scale).exp())

    def _mass(self, value: int) -> arb:
        one_less = -ball(-1 / self.scale).expm1()  # 1 - q without cancellation
        return one_less / (2 - one_less) * ball(-abs(value) / self.scale).exp()

    def _variance(self) -> arb:
        one_less = -ball(-1 / self.scale).expm1()
        return 2 * ball(-1 / self.scale).exp() / one_less**2
