# ruff: noqa: D102 - each method is one line of the formula that its class states
"""Growths for tests alone: what a later kind of noise would bring, each in a few lines."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.exact import sqrt_up, text
from perrecord.laws.enclosure import ball, enclose
from perrecord.policy.growth import Growth
from perrecord.policy.loss import Loss
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency, Form, SizeLoss


@dataclass(frozen=True)
class Root(Growth):
    """sqrt(size / scale): rational at squares and irrational elsewhere."""

    scale: Fraction
    kind = "root"
    power = 2

    def loss(self, size):
        ratio = size / self.scale
        root = sqrt_up(ratio)
        return Loss(root, is_exact=root**2 == ratio)

    def limit(self):
        return None

    def steepest(self, power):
        return None  # steeper than any power where sizes are small

    def pays_for(self, other):
        # sqrt(x/t) <= sqrt(s/t) sqrt(x/s)
        return 1 / sqrt_up(self.scale / other.scale) if isinstance(other, Root) else None

    def formula(self, size):
        return f"√({size}/{text(self.scale)})"

    def words(self, measure, amount):
        ratio = f"the size of {measure} divided by {text(self.scale)}"
        return f"{text(amount)} times the square root of ({ratio})"

    def latex(self, size):
        return rf"\sqrt{{{size}/{text(self.scale)}}}"

    def sql(self, size):
        return f"sqrt({size} / {float(self.scale)!r})"


@dataclass(frozen=True)
class Secretive(Root):
    """The same as a root, that knows of no other growth that it pays for."""

    kind = "secretive"

    def pays_for(self, other):
        return None


@dataclass(frozen=True)
class Slow(Growth):
    """4 B asinh(B)/sqrt(1 + B^2) with B = size/(2 scale): a loss of Student noise, nu = 3 (T26)."""

    scale: Fraction
    kind = "slow"
    power = 2

    def loss(self, size):
        if not size:
            return Loss(Fraction(0))
        b = size / (2 * self.scale)

        def compute():
            ratio = ball(b)
            return 4 * ratio * ratio.asinh() / (1 + ratio**2).sqrt()

        return Loss(enclose(compute, bits=100).upper, is_exact=False)

    def limit(self):
        return None

    def steepest(self, power):
        return 1 / self.scale**2 if power == 2 else None

    def pays_for(self, other):
        if not isinstance(other, Slow):
            return None
        return 1 / max(Fraction(1), (self.scale / other.scale) ** 2)

    def formula(self, size):
        return f"slow({size}/{text(self.scale)})"

    def words(self, measure, amount):
        size = f"the size of {measure} in units of {text(self.scale)}"
        return f"{text(amount)} times a slow function of {size}"

    def latex(self, size):
        return rf"s({size}/{text(self.scale)})"

    def sql(self, size):
        b = f"({size} / {2 * float(self.scale)!r})"
        return f"4 * {b} * asinh({b}) / sqrt(1 + {b} * {b})"


@dataclass(frozen=True)
class Saturating(Growth):
    """2 size/(size + scale): rational, and never above 2."""

    scale: Fraction
    kind = "saturating"
    power = 2

    def loss(self, size):
        return Loss(2 * size / (size + self.scale))

    def limit(self):
        return Fraction(2)

    def steepest(self, power):
        return 2 / self.scale if power == 1 else None

    def pays_for(self, other):
        return Fraction(1) if self == other else None

    def formula(self, size):
        return f"2·{size}/({size} + {text(self.scale)})"

    def words(self, measure, amount):
        return f"{text(amount)} times twice the share of {measure} in itself and {text(self.scale)}"

    def latex(self, size):
        return rf"\frac{{2 {size}}}{{{size} + {text(self.scale)}}}"

    def sql(self, size):
        return f"2 * {size} / ({size} + {float(self.scale)!r})"


GROWTHS_OF_TESTS = (Root, Secretive, Slow, Saturating)


def growing(amount, measure, growth, currency=Currency.RHO):
    """Return the policy of one growing loss."""
    return Policy(currency, Form((SizeLoss(Fraction(amount), measure, growth),)))
