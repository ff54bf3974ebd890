"""What blurred noise costs, from T28 of the theory, in lines of the audit's own.

Records move a total from one Student law to another: centres a shift apart, A1 before and A2 after.
The log ratio of both is m ln[(A2 + (x - shift)^2) / (A1 + x^2)] and a constant. The quotient varies
between e^-t and e^t times a2/a1, where t is the hyperbolic distance of the points (0, a1) and
(shift, a2) of the upper half plane: sinh(t/2)^2 = |difference|^2 / (4 a1 a2). What the integers add
to the constant is the quotient of both normalisers, known in closed form.
"""

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx, fmpq

from perrecord.lab.audit.tapered import student_loss

_BITS = 640
_STATED = Fraction(1, 2**26)


@lru_cache(maxsize=1 << 16)
def blurred_loss(
    first: Fraction, second: Fraction, nu: int, shift: Fraction, currency: str
) -> Fraction:
    """Return a rational just below what T28 proves of two laws on the integers.

    Both A and the shift are in steps of the grid; the currency is rho or epsilon. Of a record in an
    otherwise empty cell A is A0, and A0 + nu by^2 r^2.

    >>> both = Fraction(34622), Fraction(34622) + Fraction(7, 100) * 4000**2
    >>> round(float(blurred_loss(*both, 7, Fraction(4000), "rho")), 2)
    23.08
    """
    with ctx.workprec(_BITS):
        here, there = _excess(first, nu), _excess(second, nu)
        extra = arb(0) if first == second else abs(here.log1p() - there.log1p())
    shifted = student_loss(max(first, second), nu, shift, "rho")
    return _least(first, second, nu, shift, currency, extra, shifted)


@lru_cache(maxsize=1 << 16)
def stated_loss(
    first: Fraction, second: Fraction, nu: int, shift: Fraction, currency: str, shifted: Fraction
) -> Fraction:
    """Return the same by docs/policy-format.md, with 2^-26 L for what the integers add.

    `shifted` is what the shift alone costs at the larger A, in rho.
    """
    with ctx.workprec(_BITS):
        extra = _ball(_STATED) * _log_ratio(first, second)
    return _least(first, second, nu, shift, currency, extra, shifted)


def _least(
    first: Fraction,
    second: Fraction,
    nu: int,
    shift: Fraction,
    currency: str,
    extra: arb,
    shifted: Fraction,
) -> Fraction:
    if not shift and first == second:
        return Fraction(0)
    with ctx.workprec(_BITS):
        m, log = arb(nu + 1) / 2, _log_ratio(first, second)
        one, two = _ball(first).sqrt(), _ball(second).sqrt()
        wider = _ball(second - first) / (one + two)
        far = (_ball(shift**2) + wider * wider) / (4 * one * two)
        t = 2 * far.sqrt().asinh()
        epsilon = m * t + (m - 1) * log + extra
        if currency == "epsilon":
            return _below(epsilon)
        widened = min(_below(_pure(nu * log + extra)), _below(_within(2 * m * log)))
        legs = _ball(shifted).sqrt() + _ball(widened).sqrt()
        return min(_below(_pure(epsilon)), _below(_within(2 * m * t)), _below(legs**2))


def _log_ratio(first: Fraction, second: Fraction) -> arb:
    return abs(_ball(first / second).log()) / 2


def _pure(epsilon: arb) -> arb:
    return epsilon * (epsilon / 2).tanh()


def _within(eta: arb) -> arb:
    """Return f(eta) of T38 as h coth h - 1 + ln(sinh h / h), h = eta / 2."""
    if eta == 0:
        return arb(0)
    h = eta / 2
    return h * h.coth() - 1 + (h.sinh() / h).log()


def _excess(spread: Fraction, nu: int) -> arb:
    """Return by what share the weights sum to more on the integers than on the line."""
    turn = 2 * arb.pi() * _ball(spread).sqrt()
    found = arb(0)
    for number in range(1, 12):
        x = turn * number
        more = 1 + x if nu == 3 else 1 + x + 2 * x**2 / 5 + x**3 / 15
        found += 2 * (-x).exp() * more
    return found


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _below(value: arb) -> Fraction:
    lower = value.lower()
    if lower < 0:
        return Fraction(0)
    mantissa, exponent = lower.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)
