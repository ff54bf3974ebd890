"""Student noise by hand: losses by docs/policy-format.md, and tails, sizes and reaches (T26).

Weights are added up term by term where sqrt A is 2,000 steps or less, with what is beyond as an
integral; wider laws are integrals by the midpoint rule with its first correction, which differ by
less than one part in 10^12.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from perrecord.lab.audit.blurred import stated_loss

_BITS = 256
_ON_INTEGERS = 1 + Fraction(1, 2**26)
ROUNDED = Fraction(1, 2**80)
"""By no larger a share than this may a loss that is irrational be rounded up."""

_WIDE = 2000
_FAR, _LEAST_TERMS = 20, 3000

Floats = npt.NDArray[np.float64]


def nu_of(law: str) -> int:
    """Return the degrees of freedom that documents name a Student law by; 0 for other laws."""
    return int(law.removeprefix("student")) if law.startswith("student") else 0


# -- losses -----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def loss(kind: str, spread: Fraction, nu: int, size: Fraction) -> Fraction:
    """Return a number just below the loss of a record of this size, by the kind of its term."""
    if not size:
        return Fraction(0)
    with ctx.workprec(_BITS):
        ratio = abs(_ball(size)) / (2 * _ball(spread).sqrt())
        found = (nu + 1) * ratio.asinh()
        if kind == "tapered":
            found = _in_rho(ratio, nu)
        mantissa, exponent = found.lower().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def blurred(
    spread: Fraction, by: Fraction, nu: int, currency: str,
    shift: Fraction, before: Fraction, after: Fraction,
) -> Fraction:  # fmt: skip
    """Return a number just below what it costs to move a blurred number, and its sum of squares."""
    first, second = (spread + nu * by**2 * squares for squares in (before, after))
    shifted = loss("tapered", max(first, second), nu, abs(shift))
    return stated_loss(first, second, nu, shift, currency, shifted)


def _in_rho(ratio: arb, nu: int) -> arb:
    squared = ratio**2
    found = _ball(_ON_INTEGERS) * 4 * ratio * ratio.asinh() / (1 + squared).sqrt()
    if nu == 3:
        return found
    more = (1 + 2 * squared) * (_ball(Fraction(14, 5)) + 3 * squared + squared**2)
    return found * more / (1 + squared) ** 3


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@lru_cache(maxsize=4096)
def spread_for(amount: Fraction, currency: str, size: Fraction, nu: int) -> Fraction:
    """Return A, to twelve digits, at which a record of this size loses the amount."""
    kind = "tapered" if currency == "rho" else "tapered_epsilon"
    return _narrowest(lambda spread: loss(kind, spread, nu, size) > amount, size)


@lru_cache(maxsize=4096)
def blurred_spread_for(
    amount: Fraction, currency: str, size: Fraction, nu: int, by: Fraction
) -> Fraction:
    """Return A0, to twelve digits, at which a record of this size, alone, loses the amount."""

    def is_more(spread: Fraction) -> bool:
        return blurred(spread, by, nu, currency, size, Fraction(0), size**2) > amount

    return _narrowest(is_more, size)


def _narrowest(is_more: Callable[[Fraction], bool], size: Fraction) -> Fraction:
    low, high = -60.0, 60.0  # the logarithm of sqrt A beside the size
    for _ in range(70):
        middle = (low + high) / 2
        spread = Fraction(math.exp(2 * middle)) * size**2
        low, high = (middle, high) if is_more(spread) else (low, middle)
    return Fraction(f"{float(Fraction(math.exp(2 * high)) * size**2):.12g}")


def round_size(spread: Fraction) -> Fraction:
    """Return the size whose loss words give: 1, 2 or 5 times a power of ten, near 0.3 sqrt A."""
    wanted = 0.3 * math.sqrt(spread)
    power = math.floor(math.log10(wanted))
    every = [Fraction(first) * Fraction(10) ** power for first in (1, 2, 5, 10)]
    return min(every, key=lambda each: abs(float(each) - wanted))


# -- the noise --------------------------------------------------------------------------------


def variance(law: str, spread: Fraction) -> float:
    """Return the variance in units: A / (nu - 2), within 10^-9 from sqrt A of 5 steps on."""
    return float(spread / (nu_of(law) - 2))


def width(spread: Fraction, step: Fraction) -> float:
    """Return sqrt A in steps."""
    return math.sqrt(spread) / float(step)


@lru_cache(maxsize=64)
def quantile(nu: int, confidence: float) -> float:
    """Return what a Student variable stays within with this probability, on the line."""
    power, low, high = (nu + 1) // 2, 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        outside = _beyond(middle / math.sqrt(nu), power) / _beyond(0.0, power)
        low, high = (middle, high) if outside > 1 - confidence else (low, middle)
    return high


def tail(law: str, spread: Fraction, step: Fraction, start: int) -> float:
    """Return Pr[Z >= start], in steps."""
    if start < 1:
        return 1 - tail(law, spread, step, 1 - start)
    a, power = width(spread, step), (nu_of(law) + 1) // 2
    chances, _ = (None, None) if a > _WIDE else _summed(a, power)
    if chances is not None and start < len(chances):
        return float(chances[start])
    whole = 2 * _beyond(0.0, power) if a > _WIDE else _total(a, power)
    point = (start - 0.5) / a
    slope = -2 * power * point * (1 + point**2) ** (-1 - power)
    return (_beyond(point, power) + slope / (24 * a**2)) / whole


def moment(law: str, spread: Fraction, step: Fraction, start: int) -> float:
    """Return the sum of j Pr[Z = j] over j >= start >= 1, in steps."""
    a, power = width(spread, step), (nu_of(law) + 1) // 2
    _, moments = (None, None) if a > _WIDE else _summed(a, power)
    if moments is not None and start < len(moments):
        return float(moments[start])
    whole = 2 * _beyond(0.0, power) if a > _WIDE else _total(a, power)
    return a * _moment_beyond((start - 0.5) / a, power) / whole


def half_width(law: str, spread: Fraction, step: Fraction, confidence: float) -> int:
    """Return the least c, in steps, with Pr[|Z| <= c] >= confidence."""
    low, high = -1, int(10**6 * width(spread, step)) + 10
    while high - low > 1:
        middle = (low + high) // 2
        is_reached = 1 - 2 * tail(law, spread, step, middle + 1) >= confidence
        low, high = (low, middle) if is_reached else (middle, high)
    return high


@lru_cache(maxsize=64)
def _summed(a: float, power: int) -> tuple[Floats, Floats]:
    """Return Pr[Z >= k] and the sum of j Pr[Z = j] over j >= k, for k = 0, 1, ..."""
    steps, weights = _weights(a, power)
    whole, last = _total(a, power), (len(steps) - 0.5) / a
    beyond, more = _beyond(last, power), a * _moment_beyond(last, power)
    chances = np.cumsum(weights[::-1])[::-1] / a + beyond
    moments = np.cumsum((steps * weights)[::-1])[::-1] / a + more
    return chances / whole, moments / whole


@lru_cache(maxsize=64)
def _total(a: float, power: int) -> float:
    """Return the sum of (1 + (k/a)^2)^-m over all integers, over a."""
    steps, weights = _weights(a, power)
    return (2 * math.fsum(weights) - 1) / a + 2 * _beyond((len(steps) - 0.5) / a, power)


def _weights(a: float, power: int) -> tuple[Floats, Floats]:
    steps = np.arange(max(int(_FAR * a), _LEAST_TERMS), dtype=np.float64)
    return steps, (1 + (steps / a) ** 2) ** -float(power)


def _beyond(point: float, power: int) -> float:
    """Return the integral of (1 + u^2)^-m from a point on."""
    if point > _FAR / 2:  # its series in 1/u^2
        terms = (
            (-1) ** j * math.comb(power - 1 + j, j) * point ** (1 - 2 * power - 2 * j)
            / (2 * power + 2 * j - 1)
            for j in range(12)
        )  # fmt: skip
        return math.fsum(terms)
    angle = math.atan(point)
    rest = math.pi / 2 - angle
    if power == 2:
        return (rest - math.sin(2 * angle) / 2) / 2
    waves = 7.5 * math.sin(2 * angle) + 1.5 * math.sin(4 * angle) + math.sin(6 * angle) / 6
    return (10 * rest - waves) / 32


def _moment_beyond(point: float, power: int) -> float:
    """Return the integral of u (1 + u^2)^-m from a point on."""
    return (1 + point**2) ** (1 - power) / (2 * (power - 1))
