"""Two rationals with a real number proved to lie between them.

The proof is FLINT's ball arithmetic (Arb): every operation returns a midpoint and a radius that
contains the true result. `enclose` repeats a computation with more bits until the ball is as
narrow as asked, so a caller never sees rounding error, only bounds.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

from perrecord.errors import InternalError
from perrecord.exact import float_down, float_up, text

_GOOD_BITS = 64
_MOST_BITS = 1 << 14
_SMALLEST_EXPONENT = -(1 << 17)
"""Numbers below 2^-131072 are enclosed by [0, 2^-131072]: nobody can tell, and nobody can store."""

_working = threading.RLock()
_USUAL_BITS = ctx.prec


def _start_afresh() -> None:
    """In a forked child nobody holds the lock, and no computation is under way."""
    global _working  # noqa: PLW0603 - a lock that another thread held would never be released
    _working = threading.RLock()
    ctx.prec = _USUAL_BITS


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number known to lie in [lower, upper], both exact.

    >>> third = Enclosure(Fraction(33, 100), Fraction(34, 100))
    >>> Fraction(1, 3) in third
    True
    """

    lower: Fraction
    upper: Fraction

    def __contains__(self, value: Fraction) -> bool:
        return self.lower <= value <= self.upper

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __repr__(self) -> str:
        return f"Enclosure({float_down(self.lower)!r}, {float_up(self.upper)!r})"

    def __str__(self) -> str:
        if self.lower == self.upper:
            return text(self.lower)
        return f"{float(self):.6g}"


def ball(value: Fraction | int) -> arb:
    """Return the narrowest ball around a rational at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def between_zero_and(bound: arb) -> arb:
    """Return a ball that holds every number from 0 to the bound: an error term of known sign."""
    return arb(0).union(bound)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with this many bits. FLINT's precision is global, so one thread works at a time."""
    with _working, ctx.workprec(bits):
        yield


def precisions() -> Iterator[int]:
    """Yield working precisions, each twice the last, up to a limit that no question has met."""
    bits = 2 * _GOOD_BITS
    while bits <= _MOST_BITS:
        yield bits
        bits *= 2


def enclose(compute: Callable[[], arb], bits: int = _GOOD_BITS) -> Enclosure:
    """Return an enclosure of what `compute` gives, of relative width at most 2^-bits.

    Below 2^-131072 it is [0, 2^-131072].

    >>> enclose(lambda: ball(2).sqrt())
    Enclosure(1.414213562373095, 1.4142135623730951)
    """
    for working in precisions():
        with precision(working):
            result = compute()
            if result.rel_accuracy_bits() >= bits or result == 0:
                return Enclosure(_dyadic(result.lower()), _dyadic(result.upper(), up=True))
    raise InternalError(f"A number could not be enclosed with {_MOST_BITS} bits.")


def nearest_float(compute: Callable[[], arb]) -> float:
    """Return the float64 nearest to what `compute` gives: both ends of its ball round to it."""
    for bits in precisions():
        with precision(bits):
            result = compute()
            low, high = float(_dyadic(result.lower())), float(_dyadic(result.upper(), up=True))
            if low == high:
                return low
    raise InternalError(f"A number could not be rounded with {_MOST_BITS} bits.")


def at_most(compute: Callable[[], arb], bound: Fraction) -> bool:
    """Tell whether what `compute` gives is <= the bound, with as many bits as that takes."""
    for bits in precisions():
        with precision(bits):
            result, limit = compute(), ball(bound)
            if result <= limit:
                return True
            if result > limit:
                return False
    raise InternalError(f"A comparison was not decided with {_MOST_BITS} bits.")


def _dyadic(point: arb, *, up: bool = False) -> Fraction:
    mantissa, exponent = (int(part) for part in point.man_exp())
    if mantissa and exponent + mantissa.bit_length() < _SMALLEST_EXPONENT:
        return Fraction(1, 1 << -_SMALLEST_EXPONENT) if up else Fraction(0)
    return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
