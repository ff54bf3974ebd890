"""How large noise is in a measure's own units: the parameter of a law, before its grid is known."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from perrecord.errors import InputError, QueryError, listing
from perrecord.exact import figure_up, sqrt_up, text
from perrecord.laws.gaussian import DiscreteGaussian
from perrecord.laws.laplace import DiscreteLaplace
from perrecord.laws.law import Law
from perrecord.laws.student import DiscreteStudent
from perrecord.laws.tapering import NARROWEST, power_of, tapered_epsilon, tapered_rho

LawName = Literal["gaussian", "laplace", "student3", "student7"]


@dataclass(frozen=True, slots=True)
class Scale(ABC):
    """The size of a cell's noise; what a larger one adds to is at least as well hidden."""

    size: Fraction

    name: ClassVar[LawName]
    """What documents call the law."""
    is_exact: ClassVar[bool] = True
    """Whether losses are rational; if not, they are rounded up by less than one part in 2^96."""

    @abstractmethod
    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""

    def check_grid(self, step: Fraction) -> None:  # noqa: B027 - most losses hold on any grid
        """Refuse a grid on which the noise is so narrow that its loss is not known."""

    def rho(self, shift: Fraction) -> Fraction:  # noqa: ARG002
        """Return what it costs under zCDP to move the number so far, rounded up if irrational."""
        raise InputError(f"{self.name} noise has no known loss in rho; expected epsilon.")

    def epsilon(self, shift: Fraction) -> Fraction:  # noqa: ARG002
        """Return what it costs under pure epsilon to move the number so far, rounded up too."""
        raise InputError(f"{self.name} noise has no loss in epsilon; expected rho.")


@dataclass(frozen=True, slots=True)
class GaussianScale(Scale):
    """sigma^2 of Gaussian noise: a shift D costs D^2 / (2 sigma^2) under zCDP (T11)."""

    name: ClassVar[LawName] = "gaussian"

    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""
        return DiscreteGaussian(self.size / step**2)

    def rho(self, shift: Fraction) -> Fraction:
        """Return what it costs under zCDP to move the number so far, exactly."""
        return shift**2 / (2 * self.size)


@dataclass(frozen=True, slots=True)
class LaplaceScale(Scale):
    """The scale of Laplace noise: a shift D costs |D| / scale of pure epsilon (T16)."""

    name: ClassVar[LawName] = "laplace"

    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""
        return DiscreteLaplace(self.size / step)

    def epsilon(self, shift: Fraction) -> Fraction:
        """Return what it costs under pure epsilon to move the number so far, exactly."""
        return abs(shift) / self.size


@dataclass(frozen=True, slots=True)
class StudentScale(Scale):
    """The spread A of Student noise: a shift costs about the logarithm of its size (T26).

    A loss in rho holds on grids on which sqrt A is 5 steps or more: `check_grid`.
    """

    is_exact: ClassVar[bool] = False
    nu: ClassVar[int]

    def law(self, step: Fraction) -> Law:
        """Return the law of the noise, counted in steps of a grid."""
        return DiscreteStudent(self.size / step**2, self.nu)

    def check_grid(self, step: Fraction) -> None:
        """Refuse a grid on which the noise is so narrow that its loss is not known."""
        if self.size < NARROWEST * step**2:
            least = sqrt_up(Fraction(NARROWEST, self.nu - 2))
            raise QueryError(
                f"the tapered noise has a standard deviation of less than {figure_up(least, 3)} "
                f"steps of {text(step)}, the measure's resolution, where its loss is not known; "
                "give the measure a finer resolution, or the answer a smaller amount."
            )

    def rho(self, shift: Fraction) -> Fraction:
        """Return what it costs under zCDP to move the number so far, rounded up."""
        return tapered_rho(shift, self.size, self.nu)

    def epsilon(self, shift: Fraction) -> Fraction:
        """Return what it costs under pure epsilon to move the number so far, rounded up."""
        return tapered_epsilon(shift, self.size, self.nu)


@dataclass(frozen=True, slots=True)
class Student3Scale(StudentScale):
    """The spread A of Student noise with three degrees of freedom."""

    name: ClassVar[LawName] = "student3"
    nu: ClassVar[int] = 3


@dataclass(frozen=True, slots=True)
class Student7Scale(StudentScale):
    """The spread A of Student noise with seven degrees of freedom."""

    name: ClassVar[LawName] = "student7"
    nu: ClassVar[int] = 7


SCALES: dict[str, type[Scale]] = {
    each.name: each for each in (GaussianScale, LaplaceScale, Student3Scale, Student7Scale)
}
"""Every scale by the name of its law."""


def scale_of(name: str, size: Fraction, step: Fraction) -> Scale:
    """Return the scale of noise that a document states, drawn in steps of this size.

    Noise whose loss is not known on its grid is refused here, so that nothing can price it.
    """
    if name not in SCALES:
        raise InputError(f"the law is {name!r}; expected {listing(SCALES)}.")
    if size <= 0 or step <= 0:
        raise InputError("the noise has a spread or a step that is not above 0.")
    scale = SCALES[name](size)
    scale.check_grid(step)
    return scale


def student_scale_of(name: str, size: Fraction, step: Fraction) -> StudentScale:
    """Return the scale of noise that a document states to be Student noise."""
    scale = scale_of(name, size, step)
    if not isinstance(scale, StudentScale):
        raise InputError(f"the law of a blurred number is {name!r}; expected student3 or student7.")
    return scale


def student_scale(spread: Fraction, nu: int) -> StudentScale:
    """Return the scale of Student noise."""
    power_of(nu)
    return Student3Scale(spread) if nu == Student3Scale.nu else Student7Scale(spread)


def largest(scales: Iterable[Scale]) -> Scale:
    """Return the largest of several scales, which hides what any of them would (T11)."""
    every = list(scales)
    if len({each.name for each in every}) > 1:
        raise QueryError(
            "parts that can share a cell have noise of different laws: a taper beside a split or "
            "a clamp, or tapers of different nu. Give these parts methods of one law, or group by "
            "what tells them apart."
        )
    return max(every, key=lambda each: each.size)
