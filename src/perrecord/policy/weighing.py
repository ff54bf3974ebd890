"""What a choice costs in which records have weights: linear for large ones (T37, T38).

A record of weight w moves log ratios within eta = eps w / T, where one of weight T stays within
eps = sqrt(8 rho), rounded down. Under zCDP it loses

    f(eta) = y - 1 - ln y   with   y = eta / (1 - exp(-eta)),

and eta itself under pure epsilon, which is the loss of an exact term.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import ClassVar

import numpy as np

from perrecord.errors import ThresholdError
from perrecord.exact import Exact, figure_up, parameter, sqrt_up, text
from perrecord.laws.bounded_range import bounded_range
from perrecord.policy.growth import Floats, Growth
from perrecord.policy.loss import Loss
from perrecord.policy.split import measure_name

_EXAMPLES = (1, 3, 80)
"""The weights that words give losses of, as multiples of the one that was written."""

_BERNOULLI = ("1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510",
              "43867/798", "-174611/330")  # fmt: skip
_SERIES = tuple(
    float(Fraction(number) * Fraction(2 * k + 1, 2 * k * factorial(2 * k)))
    for k, number in enumerate(_BERNOULLI, start=1)
)
"""f(eta) = sum of B_2k (1 + 1/(2k)) eta^2k / (2k)!, which converges up to 2 pi.

Floats take it below 1, where y - 1 and ln y cancel, and ten terms leave out less than 2^-53.
"""

_SLACK = 1 + 2.0**-45
"""More than all roundings can take off: y - 1 - ln y errs by less than 2^-47 of it from 1 on."""


@dataclass(frozen=True, slots=True, init=False)
class Weighting:
    """The measure that weighs the records of a quantile, and the weight that costs the amount.

    A record of weight `at` loses at most what the answer costs, larger ones more: four times as
    much at twice the weight while that is small, and eventually in proportion. Weights below 0
    count as 0, and a record without a weight is left out.

    >>> Weighting("w", at=20)
    Weighting('w', at=20)
    """

    measure: str
    at: Fraction

    def __init__(self, measure: str, at: Exact) -> None:
        exact = parameter(at, f"the weight of {measure_name(measure)!r} that pays the amount")
        if exact <= 0:
            raise ThresholdError(
                f"the weight of {measure!r} that pays the amount is {text(exact)}; expected a "
                "number above 0, such as the weight of an ordinary record."
            )
        object.__setattr__(self, "measure", measure)
        object.__setattr__(self, "at", exact)

    def __repr__(self) -> str:
        return f"Weighting({self.measure!r}, at={text(self.at)})"


@dataclass(frozen=True, slots=True)
class WeighedChoice(Growth):
    """f(eps w / at), eps = sqrt(8 rho) rounded down: what a weighted quantile costs (T37).

    It is what `Growth` asks for, because f(eta) / eta^2 never grows with eta (docs/theory.md).

    >>> growth = WeighedChoice(Fraction(1, 5), Fraction(20))
    >>> [round(float(growth.loss(Fraction(weight)).amount), 3) for weight in (0, 20, 60, 1600)]
    [0.0, 0.196, 1.526, 95.576]
    """

    kind: ClassVar[str] = "weighed"
    power: ClassVar[int] = 2

    rho: Fraction
    at: Fraction

    def __post_init__(self) -> None:
        for name in self.names():
            if getattr(self, name) <= 0:
                raise ThresholdError(
                    f"{name} is {text(getattr(self, name))}; expected a number above 0."
                )

    @property
    def rate(self) -> Fraction:
        """By how much the range of log ratios grows with each unit of weight."""
        return 8 * self.rho / sqrt_up(8 * self.rho) / self.at

    def loss(self, size: Fraction) -> Loss:
        """Return what a record of this weight loses, rounded up; nothing, exactly, for none."""
        return Loss(bounded_range(self.rate * size).upper, is_exact=not size)

    def limit(self) -> Fraction | None:
        """Return None: it grows without limit."""
        return None

    def steepest(self, power: int) -> Fraction | None:
        """Return c with f <= c x^2 for every x: eta^2/8 is above f(eta)."""
        return self.rate**2 / 8 if power == self.power else None

    def pays_for(self, other: Growth) -> Fraction | None:
        """Return 1 for a lesser rate; r^2 for one that is 1/r as great: f(r eta) >= r^2 f(eta)."""
        if not isinstance(other, WeighedChoice):
            return None
        return min(Fraction(1), (self.rate / other.rate) ** 2)

    def formula(self, size: str) -> str:
        """Return the loss on one line."""
        return f"weighed({size}; rho = {text(self.rho)} at {text(self.at)})"

    def words(self, measure: str, amount: Fraction) -> str:
        """Return the loss in plain English, by the example of three records."""
        first, *rest = (
            (text(times * self.at), figure_up(self.loss(times * self.at).amount * amount, 3))
            for times in _EXAMPLES
        )
        more = ", ".join(f"one of {size} {loss}" for size, loss in rest)
        return (
            f"what grows with {measure} as a weight, in the end in proportion: a record of "
            f"{first[0]} loses {first[1]}, {more}"
        )

    def latex(self, size: str) -> str:
        """Return the loss as a LaTeX formula."""
        eta = rf"\eta = \sqrt{{8 \cdot {text(self.rho)}}}\, {size} / {text(self.at)}"
        return rf"(y - 1 - \ln y)\Big|_{{y = \eta / (1 - e^{{-\eta}}),\; {eta}}}"

    def sql(self, size: str) -> str:
        """Return the loss of a DOUBLE as SQL, about right."""
        return range_sql(f"({float(self.rate)!r} * {size})")

    def floats(self, sizes: Floats) -> Floats | None:
        """Return the loss of each weight, rounded up by more than all roundings can take off."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            eta = sizes * float(self.rate)
            square, y = eta * eta, eta / -np.expm1(-eta)
            near = square * np.polynomial.polynomial.polyval(square, _SERIES)
            found = np.where(eta < 1, near, y - 1 - np.log(y)) * _SLACK
            found = np.where(np.isinf(eta), np.inf, found)
        least = np.where(sizes > 0, np.finfo(np.float64).smallest_normal, 0)
        return np.asarray(np.maximum(found, least), dtype=np.float64)

    def usual_sizes(self) -> tuple[Fraction, ...]:
        """Return the weight that was written."""
        return (self.at,)

    @classmethod
    def of(cls, parameters: Mapping[str, Fraction]) -> Growth:
        """Return the growth of these parameters, or say what is wrong with them."""
        return cls(parameters["rho"], parameters["at"])


def range_sql(eta: str) -> str:
    """Return f(eta) of a DOUBLE as SQL, but for its last digits (T38)."""
    far, square = f"greatest({eta}, 0.05e0)", f"({eta} * {eta})"
    y = f"({far} / (1 - exp(-{far})))"
    near = f"{square} / 8 * (1 - {square} / 72 * (1 - {square} / 45))"
    return f"CASE WHEN {eta} >= 0.05e0 THEN {y} - 1 - ln({y}) ELSE {near} END"
