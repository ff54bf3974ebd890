"""Sums of Gaussian terms over integers, enclosed.

`gaussian_tail_sum` adds term by term when few terms matter, and uses the Euler–Maclaurin formula
with a proved remainder when a plain sum would be long. Both bound what they leave out.
"""

import math
from fractions import Fraction

from flint import arb, ctx

from perrecord.laws.enclosure import ball, between_zero_and

_FEW_TERMS = 400


def square_powers(nome: arb) -> tuple[arb, arb]:
    """Return the sums over k >= 1 of q^(k^2) and of k^2 q^(k^2), for 0 < q < 1/8.

    From term k on, each term is at most half the one before (4 q^3 < 1/2), so what is left out
    is at most twice the first term left out.
    """
    plain, weighted = arb(0), arb(0)
    squared = nome * nome  # not **: a ball that touches 0 has no logarithm
    power, step, k = nome, nome * squared, 1
    while k == 1 or k * k * power > weighted * arb(2) ** -ctx.prec:
        plain, weighted = plain + power, weighted + k * k * power
        power, step, k = power * step, step * squared, k + 1
    return plain + between_zero_and(2 * power), weighted + between_zero_and(2 * k * k * power)


def gaussian_tail_sum(sigma_squared: Fraction, start: int) -> arb:
    """Return the sum over n >= start >= 0 of exp(-n^2 / (2 sigma^2)), with small relative error."""
    terms = _terms_that_matter(sigma_squared, start)
    relative = None
    if terms > _FEW_TERMS:
        relative = _euler_maclaurin(sigma_squared, start)
    if relative is None:
        relative = _term_by_term(sigma_squared, start, terms)
    return relative * ball(Fraction(-(start**2)) / (2 * sigma_squared)).exp()


def _terms_that_matter(sigma_squared: Fraction, start: int) -> int:
    """Return about how many terms exceed 2^-precision times the first."""
    # Solve (2 start j + j^2) / (2 sigma^2) = bits ln 2 for j; a Fraction never overflows.
    reach = int(2 * sigma_squared * Fraction(ctx.prec * 0.7)) + 1
    return reach // (start + math.isqrt(start * start + reach)) + 2


def _term_by_term(sigma_squared: Fraction, start: int, terms: int) -> arb:
    """Return the tail sum divided by its first term, plus a geometric bound on the rest."""
    total, term = arb(0), arb(1)
    ratio = ball(-(2 * start + 1) / (2 * sigma_squared)).exp()
    shrink = ball(-1 / sigma_squared).exp()
    for _ in range(terms):
        total, term = total + term, term * ratio
        ratio *= shrink
    return total + between_zero_and(term / (1 - ratio))  # ratios only fall from here on


def _euler_maclaurin(sigma_squared: Fraction, start: int) -> arb | None:
    """Return the tail sum divided by its first term, or None where the series does not serve.

    With f(x) = exp(-x^2 / (2 sigma^2)), c = start / sigma and n = 2K,

        sum = integral + f/2 + sum_{k<=K} B_2k/(2k)! sigma^(1-2k) He_(2k-1)(c) f + R,
        |R| <= |B_n|/n! * integral of |f^(n)|,

    every f taken at the start. Replacing each coefficient of He_n by its absolute value gives a
    polynomial H with |He_n| <= H on c >= 0, whose integral against exp(-y^2/2) is elementary.
    """
    sigma = ball(sigma_squared).sqrt()
    point = start / sigma
    mills = (arb.pi() / 2).sqrt() * (point**2 / 2).exp() * (point / arb(2).sqrt()).erfc()
    for order in (8, 16, 32, 64, 128, 256):
        remainder = _remainder_bound(sigma, point, mills, order)
        if remainder < mills * sigma * arb(2) ** (16 - ctx.prec):
            series = sigma * mills + arb(1) / 2 + _corrections(sigma, point, order)
            return series + between_zero_and(remainder) - between_zero_and(remainder)
    return None


def _corrections(sigma: arb, point: arb, order: int) -> arb:
    """Return the sum over k <= order/2 of B_2k/(2k)! sigma^(1-2k) He_(2k-1)(point)."""
    total, before, hermite = arb(0), arb(1), point  # He_0, He_1
    for degree in range(1, order, 2):
        weight = arb.bernoulli(degree + 1) / arb.fac_ui(degree + 1)
        total += weight * hermite / sigma**degree
        before = point * hermite - degree * before
        hermite = point * before - (degree + 1) * hermite
    return total


def _remainder_bound(sigma: arb, point: arb, mills: arb, order: int) -> arb:
    # J_j = exp(c^2/2) * (integral from c of y^j exp(-y^2/2)):
    # J_0 = mills, J_j = c^(j-1) + (j-1) J_(j-2)
    integral, absolute = mills, arb(0)
    for half in range(order // 2 + 1):
        # The term y^(2 half) of H has the coefficient order! / (pairs! (2 half)! 2^pairs).
        pairs = order // 2 - half
        weight = arb.fac_ui(order) / (arb.fac_ui(pairs) * arb.fac_ui(2 * half) * arb(2) ** pairs)
        absolute += weight * integral
        integral = point ** (2 * half + 1) + (2 * half + 1) * integral
    return abs(arb.bernoulli(order)) / arb.fac_ui(order) * absolute * sigma ** (1 - order)
