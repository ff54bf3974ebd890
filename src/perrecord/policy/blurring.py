"""Losses of blurred totals: Student noise that grows with the cell's own records (T28).

With y = |x| / sqrt A0, c = nu by^2, w = sqrt(1 + c y^2), L = ln w and m = (nu + 1) / 2, a record
that is alone in its cell loses the most, by the formulas of `laws/blurring.py`:

    t         2 asinh((y / 2) sqrt((1 + c (w - 1) / (w + 1)) / w))
    epsilon   m t + (m - 1 + 2^-26) L
    rho       the least of epsilon tanh(epsilon / 2), f(2 m t) and (sqrt P26 + sqrt E)^2

where P26 is what the shift costs at the wider noise, B = y / (2 w) (T26), and E what it costs to
widen it. Both grow with |x| without limit, as a logarithm, but a little faster than x^2 or |x| at
first: `at_corner` says what comparisons may rest on.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from perrecord.exact import Exact, figure_up, rational, sqrt_up, text
from perrecord.laws.blurring import (
    NORMALISER,
    blurred_epsilon_between,
    blurred_rho_between,
    check_by,
    least_blurred_spread_for_epsilon,
    least_blurred_spread_for_rho,
)
from perrecord.laws.enclosure import ball, enclose
from perrecord.laws.scales import student_scale
from perrecord.laws.tapering import ON_INTEGERS, power_of
from perrecord.policy.growth import Floats, Growth
from perrecord.policy.loss import NOTHING, Loss
from perrecord.policy.tapering import (
    FLOAT_SLACK,
    check_at,
    check_spread,
    examples,
    round_size,
    student_sql,
    tapered_floats,
)

_MOST_CORNERS = 64
"""Corners that are looked at one by one; smaller sizes are left to the steepest rise."""


@dataclass(frozen=True, slots=True)
class _Blurred(Growth):
    """A loss of Student noise of spread A0 + nu by^2 Q, Q the sum of a cell's squared values.

    `at` is the size that a curator wrote, where that is known: words speak by its example.
    """

    wholes: ClassVar[tuple[str, ...]] = ("nu",)
    optional: ClassVar[tuple[str, ...]] = ("at",)

    spread: Fraction
    by: Fraction
    nu: int
    at: Fraction | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        power_of(self.nu)
        check_spread(self.spread)
        check_by(self.by)
        check_at(self.at)

    @abstractmethod
    def rise(self) -> Fraction:
        """Return a number c with g(x) <= c |x|^power for every x (docs/theory.md)."""

    def steepest(self, power: int) -> Fraction | None:
        """Return c with g(x) <= c |x|^power for every x; None for another power."""
        return self.rise() if power == self.power else None

    @abstractmethod
    def between(self, shift: Fraction, before: Fraction, after: Fraction) -> Fraction:
        """Return what a shift costs that moves Q, too, rounded up."""

    def loss(self, size: Fraction) -> Loss:
        """Return the loss of a record of this size, rounded up; nothing, exactly, for none."""
        if not size:
            return NOTHING
        return Loss(self.between(size, Fraction(0), size**2), is_exact=False)

    def change(self, before: Fraction, after: Fraction) -> Loss:
        """Return what it costs to replace a value by another: bounded for a change by a share."""
        cost = self.between(abs(after - before), before**2, after**2)
        return Loss(cost, is_exact=not cost)

    def at_corner(self, size: Fraction) -> Fraction:
        """Return a number c with g(k size) <= c k^power for every whole k: docs/theory.md."""
        return _at_corner(self, size)

    def check_grid(self, step: Fraction) -> None:
        """Refuse a grid on which the noise of an empty cell is so narrow that no loss is known."""
        student_scale(self.spread, self.nu).check_grid(step)

    def usual_sizes(self) -> tuple[Fraction, ...]:
        """Return the size that was written, or a round number of about a third of sqrt A0."""
        return (self.at or round_size(self.spread),)

    def limit(self) -> Fraction | None:
        """Return None: slowly, but without limit."""
        return None

    def pays_for(self, other: Growth) -> Fraction | None:
        """Return 1 for noise that is blurred alike and no narrower: losses fall as A0 grows."""
        if type(other) is not type(self) or (other.by, other.nu) != (self.by, self.nu):
            return None
        return Fraction(1) if other.spread >= self.spread else None

    def formula(self, size: str) -> str:
        """Return the loss on one line."""
        return f"blur({size}; A = {text(self.spread)}, by = {text(self.by)}, nu = {self.nu})"

    def words(self, measure: str, amount: Fraction) -> str:
        """Return the loss in plain English, by the example of three records."""
        share = figure_up(self.by * 100)
        return (
            f"what grows slowly with the size of {measure}: {examples(self, amount)} (Student "
            f"noise of spread {text(self.spread)}, nu = {self.nu}, to which each record of the "
            f"cell adds {share} % of its own size)"
        )

    def latex(self, size: str) -> str:
        """Return the loss as a LaTeX formula."""
        name = r"\rho" if self.power == BlurredRho.power else r"\varepsilon"
        parameters = rf"A_0 = {text(self.spread)},\; \kappa = {text(self.by)},\; \nu = {self.nu}"
        return rf"{name}_{{\mathrm{{blur}}}}\big({size};\; {parameters}\big)"

    def sql(self, size: str) -> str:
        """Return the loss of a DOUBLE as SQL, about right."""
        shift = f"({size} / {math.sqrt(self.spread)!r})"
        larger = f"(1 + {float(self.nu * self.by**2)!r} * {shift} * {shift})"
        return blurred_sql(self.power, self.nu, shift, "1", larger)

    @abstractmethod
    def _floats(self, logs: Floats, distances: Floats, ratios: Floats) -> Floats:
        """Return the losses, about, at L, t and B = |x| / (2 sqrt A) of the wider noise."""

    def floats(self, sizes: Floats) -> Floats | None:
        """Return the loss of each size, rounded up by more than all roundings can take off.

        What is below any float that keeps its digits is rounded up to the least one that does.
        """
        shifts, root = sizes / math.sqrt(self.spread), math.sqrt(self.nu) * float(self.by)
        with np.errstate(over="ignore", under="ignore"):
            wide = np.hypot(1, root * shifts)
            small = np.minimum(root * shifts, 1)
            logs = np.where(small < 1, np.log1p(small**2) / 2, np.log(wide))
            share = root * shifts / (wide + 1)  # its square is (w - 1) / (w + 1)
            ratios = shifts / 2 / np.sqrt(wide) * np.hypot(1, root * share)
            found = self._floats(logs, 2 * np.arcsinh(ratios), shifts / 2 / wide) * FLOAT_SLACK
        least = np.where(sizes > 0, np.finfo(np.float64).smallest_normal, 0)
        return np.asarray(np.maximum(found, least), dtype=np.float64)

    def parameters(self) -> dict[str, Fraction]:
        """Return what the growth is written down by."""
        found = {"spread": self.spread, "by": self.by, "nu": Fraction(self.nu)}
        return found if self.at is None else {**found, "at": self.at}

    @classmethod
    def of(cls, parameters: Mapping[str, Fraction]) -> "Growth":
        """Return the growth of these parameters, or say what is wrong with them."""
        spread, by, nu = (parameters[name] for name in ("spread", "by", "nu"))
        return cls(spread, by, int(nu), parameters.get("at"))


@dataclass(frozen=True, slots=True)
class BlurredRho(_Blurred):
    """What blurred noise costs under zCDP (T28).

    >>> growth = BlurredRho(Fraction(34622), Fraction(1, 10), 7)
    >>> [round(float(growth.loss(Fraction(size)).amount), 2) for size in (0, 50, 150, 4000)]
    [0.0, 0.21, 1.74, 23.08]
    >>> round(float(growth.change(Fraction(4000), Fraction(4400)).amount), 2)
    0.68
    """

    kind: ClassVar[str] = "blurred"
    power: ClassVar[int] = 2

    def between(self, shift: Fraction, before: Fraction, after: Fraction) -> Fraction:
        """Return what a shift costs that moves Q, too, rounded up."""
        return blurred_rho_between(shift, before, after, self.spread, self.by, self.nu)

    def _floats(self, logs: Floats, distances: Floats, ratios: Floats) -> Floats:
        m = power_of(self.nu)
        epsilon = m * distances + (m - 1 + float(NORMALISER)) * logs
        widening = (2 * m - 1 + float(NORMALISER)) * logs
        widened = np.minimum(_pure(widening), _range(2 * m * logs))
        apart = (np.sqrt(tapered_floats(ratios, self.nu)) + np.sqrt(widened)) ** 2
        return np.asarray(np.minimum(np.minimum(_pure(epsilon), _range(2 * m * distances)), apart))

    def rise(self) -> Fraction:
        """Return c with P(x) <= c x^2 for every x: the shift's own share, and that of widening."""
        shift = ON_INTEGERS * (1 if self.nu == 3 else Fraction(14, 5))
        return (shift + power_of(self.nu) ** 2 * self.nu * self.by**2 / 8) / self.spread


@dataclass(frozen=True, slots=True)
class BlurredEpsilon(_Blurred):
    """What blurred noise costs under pure epsilon (T28).

    >>> growth = BlurredEpsilon(Fraction(33775), Fraction(1, 10), 7)
    >>> round(float(growth.loss(Fraction(50)).amount), 3)
    1.091
    """

    kind: ClassVar[str] = "blurred_epsilon"
    power: ClassVar[int] = 1

    def between(self, shift: Fraction, before: Fraction, after: Fraction) -> Fraction:
        """Return what a shift costs that moves Q, too, rounded up."""
        return blurred_epsilon_between(shift, before, after, self.spread, self.by, self.nu)

    def _floats(self, logs: Floats, distances: Floats, ratios: Floats) -> Floats:  # noqa: ARG002
        m = power_of(self.nu)
        return np.asarray(m * distances + (m - 1 + float(NORMALISER)) * logs)

    def rise(self) -> Fraction:
        """Return c with P(x) <= c |x| for every x."""
        m, c = power_of(self.nu), self.nu * self.by**2
        return sqrt_up((m**2 * max(Fraction(1), c) + (m - 1 + NORMALISER) ** 2 * c) / self.spread)


def is_blurred(growth: Growth) -> bool:
    """Tell whether a loss is that of blurred noise."""
    return isinstance(growth, _Blurred)


def blurred(
    power: int, amount: Fraction, at: Fraction, by: Exact, nu: int
) -> BlurredRho | BlurredEpsilon:
    """Return the loss under which a record of size `at` loses an amount, or a hair less (T28).

    The power says what the amount is counted in: 2 for zCDP, 1 for pure epsilon.
    """
    is_rho = power == BlurredRho.power
    least = least_blurred_spread_for_rho if is_rho else least_blurred_spread_for_epsilon
    return blurred_growth(power, least(amount, at, by, nu), rational(by, "by"), nu, at)


def blurred_growth(
    power: int, spread: Fraction, by: Fraction, nu: int, at: Fraction | None = None
) -> BlurredRho | BlurredEpsilon:
    """Return the loss of blurred noise of these parameters, counted as the power says."""
    return (BlurredRho if power == BlurredRho.power else BlurredEpsilon)(spread, by, nu, at)


def blurred_sql(power: int, nu: int, shift: str, lesser: str, larger: str) -> str:
    """Return what it costs to move a number and its noise, as SQL, but for its last digits.

    The shift is in units of sqrt A0; the lesser A and the larger are in units of A0. All are
    DOUBLEs.
    """
    m = power_of(nu)
    log = f"(ln({larger} / {lesser}) / 2)"
    apart = f"(({larger} - {lesser}) / (sqrt({larger}) + sqrt({lesser})))"
    root = f"sqrt(({shift} * {shift} + {apart} * {apart}) / (4 * sqrt({larger} * {lesser})))"
    more = float(NORMALISER)
    epsilon = f"({2 * m} * asinh({root}) + {m - 1 + more!r} * {log})"
    if power == BlurredEpsilon.power:
        return epsilon
    shifted = student_sql(power, nu, f"({shift} / (2 * sqrt({larger})))")
    pure = _pure_sql(f"({nu + more!r} * {log})")
    widened = f"least({pure}, {_range_sql(f'({2 * m} * {log})')})"
    return (
        f"least({_pure_sql(epsilon)}, {_range_sql(f'({4 * m} * asinh({root}))')}, "
        f"pow(sqrt({shifted}) + sqrt({widened}), 2))"
    )


def _pure_sql(epsilon: str) -> str:
    return f"{epsilon} * tanh({epsilon} / 2)"


def _range_sql(eta: str) -> str:
    """Return f(eta) of T38; by its first terms where y - 1 and ln y nearly cancel."""
    y = f"({eta} / (1 - exp(-{eta})))"
    near = f"{eta} * {eta} / 8 * (1 - {eta} * {eta} / 72)"
    return f"CASE WHEN {eta} < 0.03 THEN {near} ELSE {y} - 1 - ln({y}) END"


def _pure(epsilon: Floats) -> Floats:
    return np.asarray(epsilon * np.tanh(epsilon / 2))


_SERIES = (
    1 / 2, -1 / 36, 1 / 405, -1 / 4200, 1 / 42525, -2.3447713042069302e-06, 2.3492086984150475e-07,
    -2.360302183935341e-08, 2.3758282434409494e-09, -2.3945408764821794e-10,
)  # fmt: skip
"""f(2h) by powers of h^2; from h = 1/2 on it is found as it stands."""


def _range(eta: Floats) -> Floats:
    """Return f(eta) of T38, about: h coth h - 1 + ln(sinh h / h), h = eta / 2."""
    near, far = np.minimum(eta, 1) / 2, np.maximum(eta, 1) / 2
    series = np.zeros_like(near)
    for coefficient in reversed(_SERIES):
        series = (series + coefficient) * near**2
    direct = far / np.tanh(far) - 1 + far + np.log1p(-np.exp(-2 * far)) - np.log(2 * far)
    return np.where(eta < 1, series, direct)


@lru_cache(maxsize=4096)
def _at_corner(growth: BlurredRho | BlurredEpsilon, size: Fraction) -> Fraction:
    """Return the most that g(k size) / k^power comes to: the first k one by one, the rest at once.

    From y on, g(y) / y^power is at most ln(2 + (1 + c) y^2) m / y^power, which falls.
    """
    c, m = growth.nu * growth.by**2, power_of(growth.nu)

    def most_from(k: int) -> Fraction:
        square = (k * size) ** 2 / growth.spread
        return m * enclose(lambda: ball(2 + (1 + c) * square).log()).upper

    at_most: Fraction = growth.rise() * size**growth.power
    most = Fraction(0)
    for k in range(1, _MOST_CORNERS + 1):
        most = max(most, growth.loss(k * size).amount / Fraction(k**growth.power))
        if most_from(k + 1) <= most * (k + 1) ** growth.power:
            return min(most, at_most)
    return at_most
