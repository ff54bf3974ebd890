"""Sums of (A + n^2)^-m over integers from a start on, enclosed.

Near the start of the law, up to four times sqrt A, by partial fractions; beyond, by the binomial
series, whose terms fall by a factor of sixteen. Both are Hurwitz zeta functions, and neither gets
longer for a start or a spread that is large.
"""

from fractions import Fraction
from math import comb

from flint import acb, arb, ctx

from perrecord.laws.enclosure import ball, between_zero_and

_FAR = 4
_SPARE_BITS = 64
"""Partial fractions cancel to about (a / start)^(2m - 1), no less than 2^-14 where they serve."""


def student_tail_sum(spread: Fraction, power: int, start: int) -> arb:
    """Return the sum over n >= start >= 1 of (spread + n^2)^-power, with small relative error."""
    if start * start >= _FAR**2 * spread:
        return _by_series(spread, power, start)
    with ctx.workprec(ctx.prec + _SPARE_BITS):
        return _by_fractions(spread, power, start)


def _by_series(spread: Fraction, power: int, start: int) -> arb:
    """Return the sum of n^-2m (1 + A/n^2)^-m, the power expanded in A/n^2 <= 1/16.

    All derivatives of (1 + x)^-m alternate in sign and are largest at 0, so what a Taylor
    polynomial leaves out lies between 0 and the first term that it leaves out.
    """
    total, scale, order = arb(0), arb(1), 0
    while True:
        term = comb(power - 1 + order, order) * scale * arb(2 * (power + order)).zeta(arb(start))
        if order and abs(term) < total.mid() * arb(2) ** -ctx.prec:
            return total + between_zero_and(term)
        total, scale, order = total + term, -scale * ball(spread), order + 1


def _by_fractions(spread: Fraction, power: int, start: int) -> arb:
    """Return the sum by the poles at n = ia and n = -ia, a = sqrt A.

        (A + n^2)^-m = 2 Re sum over j <= m of (-1)^(m-j) C(2m-1-j, m-j) (2ia)^(j-2m) (n - ia)^-j

    Summed over n >= t, (n - ia)^-j is zeta(j, t - ia); for j = 1, where the two conjugate sums
    converge only together, it is minus digamma(t - ia).
    """
    a = ball(spread).sqrt()
    shifted = acb(arb(start), -a)
    total = arb(0)
    for order in range(1, power + 1):
        sums = -shifted.digamma() if order == 1 else acb(order).zeta(shifted)
        weight = (-1) ** (power - order) * comb(2 * power - 1 - order, power - order)
        total += (weight * sums / acb(0, 2 * a) ** (2 * power - order)).real
    return 2 * total
