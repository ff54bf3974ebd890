"""What a shift of Student noise costs, and the noise at which it costs no more than so much (T26).

With B = |shift| / (2 sqrt A), x = B^2 and m = (nu + 1) / 2:

    epsilon = 2 m asinh(B)
    rho     = (1 + 2^-26) 4 B asinh(B) (1 + x)^(-1/2)                                   nu = 3
    rho     = (1 + 2^-26) 4 B asinh(B) (1 + 2x) (14/5 + 3x + x^2) (1 + x)^(-7/2)        nu = 7

Without its first factor rho is what holds on the real line. The integers add less than the factor
as soon as sqrt A is 5 steps or more (docs/theory.md), so that a loss depends on no grid. Losses are
irrational; what is returned is above them by less than one part in 2^96.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from perrecord.errors import InputError
from perrecord.exact import Exact, figure_down, rational, text
from perrecord.laws.enclosure import at_most, ball, enclose

NARROWEST = 25
"""The least A, in squared steps of the grid, at which rho holds: sqrt A is 5 steps."""

ON_INTEGERS = 1 + Fraction(1, 1 << 26)
"""How much more than on the real line a shift may cost on the integers."""

_BITS = 96
_DIGITS = 12
"""A is found to so many decimal digits, rounded up."""

FARTHEST = Fraction(10**20)
"""The size that noise was asked for is at most so many times sqrt A."""

_DIGITS_OF_FARTHEST = 42
"""A is at least this many digits below the square of the size: those of 10^40, and of rounding."""

_POWERS = {3: 2, 7: 4}


def power_of(nu: int) -> int:
    """Return the exponent m of (A + k^2)^-m: 2 for nu = 3, 4 for nu = 7."""
    if type(nu) is not int:
        raise InputError(f"nu is a {type(nu).__name__}; expected the number 3 or 7.")
    if nu not in _POWERS:
        raise InputError(f"nu is {nu}; expected 3 or 7.")
    return _POWERS[nu]


def tapered_rho(shift: Exact, spread: Exact, nu: int = 7) -> Fraction:
    """Return what a shift costs under zCDP, rounded up; shift and sqrt A in the same units.

    It grows with the shift, like its square at first and like its logarithm in the end.

    >>> [round(float(tapered_rho(size, 34622)), 2) for size in (50, 150, 4000)]
    [0.2, 1.64, 24.56]
    """
    return _price(_rho, shift, spread, nu)


def tapered_epsilon(shift: Exact, spread: Exact, nu: int = 7) -> Fraction:
    """Return what a shift costs under pure epsilon, rounded up.

    >>> round(float(tapered_epsilon(50, 34622)), 3)
    1.072
    """
    return _price(_epsilon, shift, spread, nu)


def least_spread_for_rho(rho: Exact, at: Exact, nu: int = 7) -> Fraction:
    """Return the least A, to 12 digits and rounded up, at which a shift costs at most rho.

    >>> float(least_spread_for_rho("0.2", at=50))
    34621.6397709
    """
    return _least_spread(_rho, rational(rho, "rho"), rational(at, "the size"), power_of(nu))


def least_spread_for_epsilon(epsilon: Exact, at: Exact, nu: int = 7) -> Fraction:
    """Return the least A, to 12 digits and rounded up, at which a shift costs at most epsilon."""
    amount, size = rational(epsilon, "epsilon"), rational(at, "the size")
    return _least_spread(_epsilon, amount, size, power_of(nu))


_Price = Callable[[Fraction, int], arb]
"""The loss at x = B^2 > 0 and the power m, as a ball."""


def _epsilon(x: Fraction, power: int) -> arb:
    return 2 * power * ball(x).sqrt().asinh()


def _rho(x: Fraction, power: int) -> arb:
    more = ball(1 + x)
    growth = 4 * ball(ON_INTEGERS) * (ball(x) / more).sqrt() * ball(x).sqrt().asinh()
    if power == 2:
        return growth
    return growth * ball((1 + 2 * x) * (Fraction(14, 5) + 3 * x + x**2)) / more**3


def _price(price: _Price, shift: Exact, spread: Exact, nu: int) -> Fraction:
    exact, size = rational(spread, "the spread"), rational(shift, "the shift")
    if exact <= 0:
        raise InputError(f"the spread is {spread}; expected a number above 0.")
    return _rounded_up(price, size**2 / (4 * exact), power_of(nu))


@lru_cache(maxsize=65536)
def _rounded_up(price: _Price, x: Fraction, power: int) -> Fraction:
    return enclose(lambda: price(x, power), _BITS).upper if x else Fraction(0)


@lru_cache(maxsize=4096)
def _least_spread(price: _Price, amount: Fraction, size: Fraction, power: int) -> Fraction:
    """Return the least A of 12 digits with price(size^2 / (4A)) <= amount, by halving.

    Prices fall as A grows. They are transcendental at rational A, so none equals an amount.
    """
    if amount <= 0 or size <= 0:
        raise InputError("a size or its loss is 0 or below; expected numbers above 0.")

    def serves(spread: Fraction) -> bool:
        return at_most(lambda: price(size**2 / (4 * spread), power), amount)

    most = enclose(lambda: price(FARTHEST**2 / 4, power), _BITS).lower
    if amount > most:
        raise next_to_no_noise(amount, size, most)
    return narrowest(serves, size)


def narrowest(serves: Callable[[Fraction], bool], size: Fraction) -> Fraction:
    """Return the least A of 12 digits that serves, by halving; all above one that serves do, too.

    It is looked for from 10^-40 times the square of the size on.
    """
    exponent = len(str(int(size**2))) - len(str(int(1 / size**2))) - _DIGITS_OF_FARTHEST
    while not serves(_ten_to(exponent)):
        exponent += 1
    unit = _ten_to(exponent - _DIGITS)
    low, high = int(_ten_to(_DIGITS - 1)), int(_ten_to(_DIGITS))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle * unit) else (middle, high)
    return high * unit


def next_to_no_noise(amount: Fraction, size: Fraction, most: Fraction) -> InputError:
    """Return the refusal of an amount that only noise far below the size would come to."""
    return InputError(
        f"a record of size {text(size)} would lose {text(amount)}, and there would be next to "
        f"no noise; expected a rho or epsilon of at most {figure_down(most, 3)}."
    )


def _ten_to(exponent: int) -> Fraction:
    return Fraction(f"1e{exponent}")
