"""What a shift of Student noise costs, from T24 to T26 of the theory, in lines of the audit's own.

With a = sqrt A, B = |shift| / (2a) and x = B^2 the log ratio of the two laws is at most
eps = (nu + 1) asinh(B). Under zCDP a shift costs eps coth(eps/4) (1 - BC), where BC is the sum over
all integers of the root of the product of both laws. On the real line BC is 1/(1+x), nu = 3, and
(1 + x/5)/(1+x)^3, nu = 7; what the integers change is known in closed form, too (`_affinity`).
"""

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx, fmpq

_BITS = 640
"""1 - BC loses twice as many bits as the shift is smaller than sqrt A, and prices 96 are kept."""


@lru_cache(maxsize=1 << 16)
def student_loss(spread: Fraction, nu: int, shift: Fraction, currency: str) -> Fraction:
    """Return a rational just below the loss of a shift, within one part in 2^200 of it.

    Shift and sqrt A are in steps of the grid; the currency is rho or epsilon.

    >>> [round(float(student_loss(Fraction(34622), 7, Fraction(n), "rho")), 2) for n in (50, 4000)]
    [0.2, 24.56]
    """
    if not shift:
        return Fraction(0)
    with ctx.workprec(_BITS):
        a = _ball(spread).sqrt()
        ratio = abs(_ball(shift)) / (2 * a)
        eps = (nu + 1) * ratio.asinh()
        if currency == "epsilon":
            return _below(eps)
        return _below(eps * (eps / 4).coth() * (1 - _affinity(_ball(spread), a, _ball(shift), nu)))


def _affinity(spread: arb, a: arb, shift: arb, nu: int) -> arb:
    """Return the sum over the integers of the root of both laws' product, for a whole shift.

    By partial fractions: the sum of 1/(A + k^2) over the integers is pi/a coth(pi a).
    """
    squared = shift**2
    x = squared / (4 * spread)
    turn = 2 * arb.pi() * a
    e1 = 2 / (turn.exp() - 1)  # coth(pi a) - 1
    beyond = arb.pi() * a * (e1 + e1**2 / 2) * 2  # pi a / sinh(pi a)^2
    if nu == 3:
        return 1 / (1 + x) / (1 + turn / turn.sinh())
    e3 = e1 + beyond
    sum_off = (
        4 * spread * (4 * spread + 5 * squared) * e1 - (16 * spread**2 - squared**2) * e3
    ) / (squared * (20 * spread + squared))
    return (1 + x / 5) / (1 + x) ** 3 * (1 + sum_off) / (1 + _whole_off(turn))


def _whole_off(turn: arb) -> arb:
    """Return by how much the weights of nu = 7 sum to more on the integers than on the line."""
    found = arb(0)
    for number in range(1, 12):  # the next would be e^(-12 * 31), of which nothing is kept
        x = turn * number
        found += 2 * (-x).exp() * (1 + x + 2 * x**2 / 5 + x**3 / 15)
    return found


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _below(value: arb) -> Fraction:
    mantissa, exponent = value.lower().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)
