"""Exact binomial counts, however many trials: how many empty cells pass a threshold (T9).

The binomial is log-concave. With mode m and weight q(z) = Pr[m + z] / Pr[m], the function
-log q is convex and 0 at 0 on either side, so the blocks of `draw_one` serve once their width w
has q(w) and q(-w) at most 1/e. Each comparison takes a few log-gammas in ball arithmetic.
"""

from collections.abc import Callable
from functools import partial
from math import isqrt

from flint import arb

from perrecord.errors import InputError, ProbabilityError
from perrecord.exact import Exact, rational, whole
from perrecord.laws import Law
from perrecord.laws.enclosure import ball, between_zero_and, precision
from perrecord.noise.bits import BitSource, system_bits
from perrecord.noise.blocks import draw_one
from perrecord.noise.samplers import count_of
from perrecord.noise.uniform import Real

_MOST_DOUBLINGS = 8


def binomial(trials: int, chance: Exact, *, _bits: BitSource | None = None) -> int:
    """Return how many of so many independent trials succeed, exactly in distribution.

    >>> binomial(10**9, "1/2") > 10**8
    True
    """
    count, exact = count_of(trials, "the number of trials"), rational(chance, "the chance")
    if not 0 <= exact <= 1:
        raise ProbabilityError(f"the chance is {chance}; expected a number from 0 to 1.")
    if exact in {0, 1} or count == 0:
        return count * int(exact)
    if 2 * exact > 1:  # a chance near 1 is enclosed better as one near 0
        return count - binomial(count, 1 - exact, _bits=_bits)
    return _draw(count, lambda: ball(exact), int((count + 1) * exact), _bits or system_bits())


def passing(trials: int, law: Law, at_least: int, *, _bits: BitSource | None = None) -> int:
    """Return how many of so many independent draws of a noise law are `at_least` this: T9.

    >>> from perrecord.laws import DiscreteGaussian
    >>> passing(10**12, DiscreteGaussian("5"), 40)
    0
    """
    if not isinstance(law, Law):
        raise InputError(
            f"the law is a {type(law).__name__}; expected one such as DiscreteGaussian(5)."
        )
    count, start = count_of(trials, "the number of trials"), whole(at_least, "the threshold")
    if start <= 0:  # Z < start is as likely as Z >= 1 - start
        return count - passing(count, law, 1 - start, _bits=_bits)
    if count == 0:
        return 0
    chance = partial(law._tail, start)
    return _draw(count, chance, _mode(count, chance), _bits or system_bits())


def _draw(trials: int, chance: Real, mode: int, source: BitSource) -> int:
    def weight(offset: int) -> Real | None:
        return _ratio(trials, chance, mode, offset) if 0 <= mode + offset <= trials else None

    return mode + draw_one(_width_bits(trials, mode, weight), weight, source, both_sides=True)


def _ratio(trials: int, chance: Real, mode: int, offset: int) -> Real:
    """Return Pr[mode + offset] / Pr[mode]."""

    def compute() -> arb:
        p = chance()
        log_ratio = (
            arb(mode + 1).lgamma()
            - arb(mode + offset + 1).lgamma()
            + arb(trials - mode + 1).lgamma()
            - arb(trials - mode - offset + 1).lgamma()
        )
        odds = p / (1 - p)
        if odds > 0:
            return (log_ratio + offset * odds.log()).exp()
        # A chance too small to be told from 0: then the mode is 0 and the offset is not negative.
        return log_ratio.exp() * between_zero_and(odds.abs_upper() ** offset)

    return compute


def _mode(trials: int, chance: Real) -> int:
    """Return floor((trials + 1) p), with as much precision as that takes."""
    bits = 128 + trials.bit_length()
    while True:
        with precision(bits):
            expected = (trials + 1) * chance()
            mode = expected.floor().unique_fmpz()
            if expected < 1:
                return 0
        if mode is not None:
            return int(mode)
        bits *= 2


def _width_bits(trials: int, mode: int, weight: Callable[[int], Real | None]) -> int:
    """Return b such that 2^b from the mode, on either side, the weight is at most 1/e."""
    variance = mode * (trials - mode) // trials
    bits = max(0, isqrt(variance).bit_length() - 1)
    while not all(_is_small(weight(offset), trials) for offset in (1 << bits, -(1 << bits))):
        bits += 1
    return bits


def _is_small(weight: Real | None, trials: int) -> bool:
    if weight is None:
        return True
    bits = 128 + trials.bit_length()
    for _ in range(_MOST_DOUBLINGS):
        with precision(bits):
            found, bound = weight(), arb(-1).exp()
            if found <= bound:
                return True
            if found > bound:
                return False
        bits *= 2
    return False
