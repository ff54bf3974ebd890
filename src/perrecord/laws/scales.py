"""How large noise is in a measure's own units: the parameter of a law, before its grid is known."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from perrecord.errors import InternalError
from perrecord.laws.gaussian import DiscreteGaussian
from perrecord.laws.laplace import DiscreteLaplace
from perrecord.laws.law import Law

LawName = Literal["gaussian", "laplace"]


@dataclass(frozen=True, slots=True)
class Scale(ABC):
    """The size of a cell's noise; what a larger one adds to is at least as well hidden."""

    size: Fraction

    name: ClassVar[LawName]
    """What documents call the law."""

    @abstractmethod
    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""

    @abstractmethod
    def cost(self, shift: Fraction) -> Fraction:
        """Return the loss of a record that moves the number by so much."""


@dataclass(frozen=True, slots=True)
class GaussianScale(Scale):
    """sigma^2 of Gaussian noise: a shift D costs D^2 / (2 sigma^2) under zCDP (T11)."""

    name: ClassVar[LawName] = "gaussian"

    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""
        return DiscreteGaussian(self.size / step**2)

    def cost(self, shift: Fraction) -> Fraction:
        """Return the loss of a record that moves the number by so much."""
        return shift**2 / (2 * self.size)


@dataclass(frozen=True, slots=True)
class LaplaceScale(Scale):
    """The scale of Laplace noise: a shift D costs |D| / scale of pure epsilon (T16)."""

    name: ClassVar[LawName] = "laplace"

    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""
        return DiscreteLaplace(self.size / step)

    def cost(self, shift: Fraction) -> Fraction:
        """Return the loss of a record that moves the number by so much."""
        return abs(shift) / self.size


def largest(scales: Iterable[Scale]) -> Scale:
    """Return the largest of several scales, which hides what any of them would (T11)."""
    every = list(scales)
    if len({each.name for each in every}) > 1:
        raise InternalError("noise of different laws has no largest.")
    return max(every, key=lambda each: each.size)
