"""What records cost where Student noise grows with the squares of a cell's own records (T28).

A cell's noise has A = A0 + nu by^2 Q, where Q is the sum of its squared values. Records that move
the total by `shift`, and A from A1 to A2, with m = (nu + 1) / 2 and L = |ln(A2 / A1)| / 2:

    cosh(t)  = (shift^2 + A1 + A2) / (2 sqrt(A1 A2))
    epsilon  = m t + (m - 1 + 2^-26) L
    rho      = the least of     epsilon tanh(epsilon / 2)                                   (T24)
                                f(2 m t)                                                    (T38)
                                (sqrt of T26 for the shift at the larger A + sqrt E)^2      (T7)

where E, the cost of the wider noise alone, is the least of e tanh(e/2), e = (2m - 1 + 2^-26) L, and
f(2 m L). All of it is largest where the cell holds no other record: A1 and A2 start from A0. The
integers add less than 2^-26 L as soon as sqrt A0 is 5 steps or more (docs/theory.md), so that a
loss depends on no grid. What is returned is above the formula by less than one part in 2^90.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, rational, sqrt_up, text
from perrecord.laws.bounded_range import bounded_range, rho_of_pure
from perrecord.laws.enclosure import ball, enclose
from perrecord.laws.tapering import FARTHEST, narrowest, next_to_no_noise, power_of, tapered_rho

NORMALISER = Fraction(1, 1 << 26)
"""What the integers add to a log ratio, at most, for each unit of L."""

_BITS = 96


def blurred_rho(size: Exact, spread: Exact, by: Exact, nu: int = 7) -> Fraction:
    """Return what a record's presence costs under zCDP, rounded up; the spread is A0.

    >>> [round(float(blurred_rho(size, 34622, "0.1")), 2) for size in (50, 150, 4000, 10**9)]
    [0.21, 1.74, 23.08, 110.08]
    """
    value = rational(size, "the size")
    return blurred_rho_between(value, 0, value**2, spread, by, nu)


def blurred_epsilon(size: Exact, spread: Exact, by: Exact, nu: int = 7) -> Fraction:
    """Return what a record's presence costs under pure epsilon, rounded up."""
    value = rational(size, "the size")
    return blurred_epsilon_between(value, 0, value**2, spread, by, nu)


def blurred_rho_between(
    shift: Exact, before: Exact, after: Exact, spread: Exact, by: Exact, nu: int = 7
) -> Fraction:
    """Return what it costs under zCDP to move a total so far, and Q from `before` to `after`.

    Both are sums of squares of the records that change; what else is in the cell only makes it
    cost less. A value that rises by a tenth, however large, costs at most 0.71 with by = 0.1:

    >>> round(float(blurred_rho_between(10**8, 10**18, 11**2 * 10**16, 34622, "0.1")), 2)
    0.7
    """
    return _rho(_Move.of(shift, before, after, spread, by, nu))


def blurred_epsilon_between(
    shift: Exact, before: Exact, after: Exact, spread: Exact, by: Exact, nu: int = 7
) -> Fraction:
    """Return what it costs under pure epsilon to move a total so far, and Q too; rounded up."""
    return _epsilon(_Move.of(shift, before, after, spread, by, nu))


def least_blurred_spread_for_rho(rho: Exact, at: Exact, by: Exact, nu: int = 7) -> Fraction:
    """Return the least A0, to 12 digits and rounded up, at which a record of a size loses rho.

    >>> float(least_blurred_spread_for_rho("0.2", at=50, by="0.1"))
    35559.3816697
    """
    amount, size = rational(rho, "rho"), rational(at, "the size")
    return _least_spread(blurred_rho, amount, size, rational(by, "by"), nu)


def least_blurred_spread_for_epsilon(epsilon: Exact, at: Exact, by: Exact, nu: int = 7) -> Fraction:
    """Return the least A0, to 12 digits and rounded up, at which a record loses epsilon."""
    amount, size = rational(epsilon, "epsilon"), rational(at, "the size")
    return _least_spread(blurred_epsilon, amount, size, rational(by, "by"), nu)


def check_by(by: Fraction) -> None:
    """Refuse a share of its size, added to the noise by each record, that is none."""
    if not 0 < by <= 1:
        raise InputError(f"by is {text(by)}; expected a number above 0 and at most 1, such as 0.1.")


@dataclass(frozen=True, slots=True)
class _Move:
    """From one Student law to another: the square of the shift, the lesser A and the larger."""

    square: Fraction
    lesser: Fraction
    larger: Fraction
    power: int

    @classmethod
    def of(
        cls, shift: Exact, before: Exact, after: Exact, spread: Exact, by: Exact, nu: int
    ) -> "_Move":
        power = power_of(nu)
        exact, times = rational(spread, "the spread"), rational(by, "by")
        squares = [rational(each, "a sum of squares") for each in (before, after)]
        if exact <= 0:
            raise InputError(f"the spread is {spread}; expected a number above 0.")
        check_by(times)
        if min(squares) < 0:
            raise InputError("a sum of squares is below 0; expected 0 or more.")
        lesser, larger = (exact + nu * times**2 * each for each in sorted(squares))
        return cls(rational(shift, "the shift") ** 2, lesser, larger, power)


@lru_cache(maxsize=65536)
def _epsilon(move: _Move) -> Fraction:
    return _pure(move.power, _distance(move), _log_ratio(move))


def _pure(power: int, distance: Fraction, log_ratio: Fraction) -> Fraction:
    return power * distance + (power - 1 + NORMALISER) * log_ratio


@lru_cache(maxsize=65536)
def _rho(move: _Move) -> Fraction:
    distance, log_ratio = _distance(move), _log_ratio(move)
    in_range = bounded_range(2 * move.power * distance).upper
    shifted = tapered_rho(sqrt_up(move.square), move.larger, 2 * move.power - 1)
    widened = _widening(move.power, log_ratio)
    apart = shifted + widened + 2 * sqrt_up(shifted * widened)
    return min(rho_of_pure(_pure(move.power, distance, log_ratio)), in_range, apart)


def _widening(power: int, log_ratio: Fraction) -> Fraction:
    """Return what it costs to pass from the lesser A to the larger without a shift."""
    pure = rho_of_pure((2 * power - 1 + NORMALISER) * log_ratio)
    return min(pure, bounded_range(2 * power * log_ratio).upper)


def _distance(move: _Move) -> Fraction:
    """Return t, rounded up: 2 asinh of the root of (shift^2 + (a1 - a2)^2) / (4 a1 a2)."""
    if not move.square and move.lesser == move.larger:
        return Fraction(0)

    def compute() -> arb:
        lesser, larger = ball(move.lesser).sqrt(), ball(move.larger).sqrt()
        apart = ball(move.larger - move.lesser) / (lesser + larger)
        return 2 * ((ball(move.square) + apart**2) / (4 * lesser * larger)).sqrt().asinh()

    return enclose(compute, _BITS).upper


def _log_ratio(move: _Move) -> Fraction:
    """Return L, rounded up."""
    if move.lesser == move.larger:
        return Fraction(0)
    more = (move.larger - move.lesser) / move.lesser
    return enclose(lambda: ball(more).log1p() / 2, _BITS).upper


_Price = Callable[[Fraction, Fraction, Fraction, int], Fraction]
"""What a record's presence costs: its size, A0, by and nu."""


@lru_cache(maxsize=4096)
def _least_spread(
    price: _Price, amount: Fraction, size: Fraction, by: Fraction, nu: int
) -> Fraction:
    """Return the least A0 of 12 digits with price(size) <= amount: prices fall as A0 grows."""
    if amount <= 0 or size <= 0:
        raise InputError("a size or its loss is 0 or below; expected numbers above 0.")
    most = price(size, (size / FARTHEST) ** 2, by, nu)
    if amount > most:
        raise next_to_no_noise(amount, size, most)
    return narrowest(lambda spread: price(size, spread, by, nu) <= amount, size)
