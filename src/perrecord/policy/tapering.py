"""Losses of tapered answers: they grow like the logarithm of a record's size (T26).

With B = |x| / (2 sqrt A), where A is the spread of the Student noise that was added, a = asinh(B)
and u = 1 / (1 + B^2):

    under zCDP           (1 + 2^-26) 4 a tanh(a)                                 nu = 3
                         (1 + 2^-26) 4 a tanh(a) (2 - u)(1 + u + 4/5 u^2)        nu = 7
    under pure epsilon   (nu + 1) a

the formulas of `laws/tapering.py`, written so that no power of B overflows.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from perrecord.errors import InputError
from perrecord.exact import figure_up, sqrt_up, text
from perrecord.laws.scales import student_scale
from perrecord.laws.tapering import (
    ON_INTEGERS,
    least_spread_for_epsilon,
    least_spread_for_rho,
    power_of,
    tapered_epsilon,
    tapered_rho,
)
from perrecord.policy.growth import Floats, Growth
from perrecord.policy.loss import NOTHING, Loss

FLOAT_SLACK = 1 + 2.0**-45
"""Some forty roundings, each of one part in 2^52 at most, lose less than this."""

_LEAST, _GREATEST = Fraction(1, 10**200), Fraction(10**200)
"""The spreads of noise that floats can describe, and its squares too."""

_EXAMPLES = (1, 3, 80)
"""The sizes that words give losses of, as multiples of the size that was written or a round one."""


@dataclass(frozen=True, slots=True)
class _Tapered(Growth):
    """A loss of Student noise of spread A, in the measure's own units squared, and nu = 3 or 7.

    `at` is the size that a curator wrote, where that is known: words speak by its example.
    """

    wholes: ClassVar[tuple[str, ...]] = ("nu",)
    optional: ClassVar[tuple[str, ...]] = ("at",)

    spread: Fraction
    nu: int
    at: Fraction | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        power_of(self.nu)
        check_spread(self.spread)
        check_at(self.at)

    @abstractmethod
    def _amount(self, size: Fraction) -> Fraction:
        """Return the loss, rounded up."""

    @abstractmethod
    def _floats(self, ratios: Floats) -> Floats:
        """Return the losses at B = |x| / (2 sqrt A), about."""

    def loss(self, size: Fraction) -> Loss:
        """Return the loss of a record of this size, rounded up; nothing, exactly, for none."""
        return Loss(self._amount(size), is_exact=False) if size else NOTHING

    def floats(self, sizes: Floats) -> Floats | None:
        """Return the loss of each size, rounded up by more than all roundings can take off.

        What is below any float that keeps its digits is rounded up to the least one that does.
        """
        with np.errstate(over="ignore", under="ignore"):
            found = self._floats(sizes / (2 * math.sqrt(self.spread))) * FLOAT_SLACK
        least = np.where(sizes > 0, np.finfo(np.float64).smallest_normal, 0)
        return np.asarray(np.maximum(found, least), dtype=np.float64)

    def check_grid(self, step: Fraction) -> None:
        """Refuse a grid on which the noise is so narrow that its loss is not known."""
        student_scale(self.spread, self.nu).check_grid(step)

    def usual_sizes(self) -> tuple[Fraction, ...]:
        """Return the size that was written, or a round number of about a third of sqrt A."""
        return (self.at or round_size(self.spread),)

    def limit(self) -> Fraction | None:
        """Return None: slowly, but without limit."""
        return None

    def formula(self, size: str) -> str:
        """Return the loss on one line."""
        return f"taper({size}; A = {text(self.spread)}, nu = {self.nu})"

    def words(self, measure: str, amount: Fraction) -> str:
        """Return the loss in plain English, by the example of three records."""
        return (
            f"what grows slowly with the size of {measure}: {examples(self, amount)} (Student "
            f"noise of spread {text(self.spread)}, nu = {self.nu})"
        )

    def sql(self, size: str) -> str:
        """Return the loss of a DOUBLE as SQL, about right."""
        return student_sql(self.power, self.nu, f"({size} / {2 * math.sqrt(self.spread)!r})")

    def parameters(self) -> dict[str, Fraction]:
        """Return what the growth is written down by."""
        found = {"spread": self.spread, "nu": Fraction(self.nu)}
        return found if self.at is None else {**found, "at": self.at}

    @classmethod
    def of(cls, parameters: Mapping[str, Fraction]) -> "Growth":
        """Return the growth of these parameters, or say what is wrong with them."""
        return cls(parameters["spread"], int(parameters["nu"]), parameters.get("at"))


@dataclass(frozen=True, slots=True)
class TaperedRho(_Tapered):
    """What Student noise costs under zCDP (T26).

    >>> growth = TaperedRho(Fraction(34622), 7)
    >>> [round(float(growth.loss(Fraction(size)).amount), 2) for size in (0, 50, 150, 4000)]
    [0.0, 0.2, 1.64, 24.56]
    """

    kind: ClassVar[str] = "tapered"
    power: ClassVar[int] = 2

    def _amount(self, size: Fraction) -> Fraction:
        return tapered_rho(size, self.spread, self.nu)

    def _floats(self, ratios: Floats) -> Floats:
        return tapered_floats(ratios, self.nu)

    def steepest(self, power: int) -> Fraction | None:
        """Return c with P(x) <= c x^2 for every x: what P(x) / x^2 rises to as x falls to 0."""
        if power != self.power:
            return None
        return ON_INTEGERS * (1 if self.nu == 3 else Fraction(14, 5)) / self.spread

    def pays_for(self, other: Growth) -> Fraction | None:
        """Return 1 for wider noise; A'/A for narrower, since A P(x; A) never falls as A grows."""
        if not isinstance(other, TaperedRho) or other.nu != self.nu:
            return None
        return min(Fraction(1), other.spread / self.spread)

    def latex(self, size: str) -> str:
        """Return the loss as a LaTeX formula."""
        at = rf"a = \operatorname{{asinh}}({size} / (2 \sqrt{{{text(self.spread)}}}))"
        more = "" if self.nu == 3 else r"\,(2 - u)(1 + u + \tfrac{4}{5} u^2)"
        near = "" if self.nu == 3 else r",\; u = 1 / \cosh(a)^2"
        return rf"(1 + 2^{{-26}})\, 4 a \tanh(a){more}\Big|_{{{at}{near}}}"


@dataclass(frozen=True, slots=True)
class TaperedEpsilon(_Tapered):
    """What Student noise costs under pure epsilon (T26).

    >>> round(float(TaperedEpsilon(Fraction(33775), 7).loss(Fraction(50)).amount), 3)
    1.085
    """

    kind: ClassVar[str] = "tapered_epsilon"
    power: ClassVar[int] = 1

    def _amount(self, size: Fraction) -> Fraction:
        return tapered_epsilon(size, self.spread, self.nu)

    def _floats(self, ratios: Floats) -> Floats:
        return np.asarray((self.nu + 1) * np.arcsinh(ratios))

    def steepest(self, power: int) -> Fraction | None:
        """Return c with P(x) <= c x for every x: asinh(B) is at most B."""
        if power != self.power:
            return None
        return Fraction(self.nu + 1, 2) * sqrt_up(1 / self.spread)

    def pays_for(self, other: Growth) -> Fraction | None:
        """Return 1 for wider noise; sqrt(A'/A) for narrower: asinh(c B) is at most c asinh(B)."""
        if not isinstance(other, TaperedEpsilon) or other.nu != self.nu:
            return None
        return min(Fraction(1), 1 / sqrt_up(self.spread / other.spread))

    def latex(self, size: str) -> str:
        """Return the loss as a LaTeX formula."""
        width = rf"2 \sqrt{{{text(self.spread)}}}"
        return rf"{self.nu + 1}\,\operatorname{{asinh}}({size} / ({width}))"


def tapered(power: int, amount: Fraction, at: Fraction, nu: int) -> TaperedRho | TaperedEpsilon:
    """Return the loss under which a record of size `at` loses an amount, or a hair less (T26).

    The power says what the amount is counted in: 2 for zCDP, 1 for pure epsilon.
    """
    least = least_spread_for_rho if power == TaperedRho.power else least_spread_for_epsilon
    return student_loss(power, least(amount, at, nu), nu, at)


def student_loss(
    power: int, spread: Fraction, nu: int, at: Fraction | None = None
) -> TaperedRho | TaperedEpsilon:
    """Return the loss of Student noise of this spread, counted as the power says."""
    made = TaperedRho if power == TaperedRho.power else TaperedEpsilon
    return made(spread, nu, at)


def tapered_floats(ratios: Floats, nu: int) -> Floats:
    """Return what shifts cost under zCDP at B = |x| / (2 sqrt A), about."""
    logs, near = np.arcsinh(ratios), 1 / (1 + ratios**2)
    found = 4 * float(ON_INTEGERS) * logs * np.tanh(logs)
    if nu == 3:
        return np.asarray(found)
    return np.asarray(found * (2 - near) * (1 + near + 0.8 * near**2))


def student_sql(power: int, nu: int, b: str) -> str:
    """Return the loss at B = |x| / (2 sqrt A), a DOUBLE, as SQL, but for its last digits."""
    if power == TaperedEpsilon.power:
        return f"{nu + 1} * asinh({b})"
    found = f"{4 * float(ON_INTEGERS)!r} * asinh({b}) * tanh(asinh({b}))"
    if nu == 3:
        return found
    near = f"(1 / (1 + power({b}, 2)))"
    # (2 - near) (1 + near + 0.8 near^2), where B stands as seldom as can be: statements grow long.
    return f"{found} * (2 + {near} * (1 + {near} * (0.6 - 0.8 * {near})))"


def check_spread(spread: Fraction) -> None:
    """Refuse a spread of Student noise that is none, or that floats cannot describe."""
    if spread <= 0:
        raise InputError(f"the spread is {text(spread)}; expected a number above 0.")
    if not _LEAST <= spread <= _GREATEST:
        raise InputError(
            "the noise is wider or narrower than any that a float can describe; expected a "
            "standard deviation between 1e-100 and 1e100."
        )


def check_at(at: Fraction | None) -> None:
    """Refuse what is no size of a record that words can speak by."""
    if at is not None and at <= 0:
        raise InputError(f"at is {text(at)}; expected the size of a record, above 0.")


def examples(growth: Growth, amount: Fraction) -> str:
    """Return what records of three sizes lose under so many times a loss of Student noise."""
    (usual,) = growth.usual_sizes()
    first, *rest = (
        (_plain(size), figure_up(growth.loss(size).amount * amount, 3))
        for size in (times * usual for times in _EXAMPLES)
    )
    more = ", ".join(f"one of {size} {loss}" for size, loss in rest)
    return f"a record of {first[0]} loses {first[1]}, {more}"


def round_size(spread: Fraction) -> Fraction:
    """Return a round number of about a third of sqrt A: 1, 2 or 5 times a power of ten."""
    target = 0.3 * math.sqrt(spread)
    power = Fraction(10) ** math.floor(math.log10(target))
    return min((power * each for each in (1, 2, 5, 10)), key=lambda one: abs(float(one) - target))


def _plain(size: Fraction) -> str:
    return f"{size.numerator:,}" if size.denominator == 1 else text(size)
