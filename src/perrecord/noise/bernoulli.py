"""Accept with probability exp(-t), for whole arrays at a time, and exactly.

exp is computed here from additions, subtractions, multiplications and two small tables, because
IEEE 754 bounds the error of those and of nothing else. docs/noise.md proves that the result is
within 8 * 2^-53 of exp(-t); a random word that falls within the margin of it decides nothing,
and the exact comparison is made instead.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws.enclosure import nearest_float
from perrecord.noise.bits import BitSource, Words
from perrecord.noise.uniform import CERTAIN, Certainty, Real, Uniform

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FARTHEST = 45
"""exp(-45) < 2^-64: beyond it a float comparison sees 0."""

_STEPS = 64
_UNIT = 2.0**-53
_LAST_FLOAT_BEFORE = float(np.nextafter(FARTHEST, 0))


class _Tables(NamedTuple):
    whole: Floats
    """exp(-n) for n = 0..44, each rounded to the nearest float."""
    part: Floats
    """exp(-j/64) for j = 0..63, likewise."""


@cache
def _tables() -> _Tables:
    whole = [nearest_float(partial(_exp_minus_exact, n, 1)) for n in range(FARTHEST)]
    part = [nearest_float(partial(_exp_minus_exact, j, _STEPS)) for j in range(_STEPS)]
    return _Tables(np.array(whole), np.array(part))


def _exp_minus_exact(numerator: int, denominator: int) -> arb:
    return (-arb(numerator) / denominator).exp()


def exp_minus(exponent: Floats) -> Floats:
    """Return exp(-t) for every t >= 0, with an error of at most 8 * 2^-53.

    t is cut at 45. With t = n + j/64 + r the result is exp(-n) * exp(-j/64) * p(r), p being the
    Taylor polynomial of degree 6.

    >>> exp_minus(np.array([0.0, 1.0, 1000.0])).round(6).tolist()
    [1.0, 0.367879, 0.0]
    """
    cut = np.minimum(exponent, _LAST_FLOAT_BEFORE)
    steps = (cut * _STEPS).astype(np.int64)  # exact: 64 is a power of two
    rest = cut - steps / _STEPS  # exact: both are multiples of the last place of t
    tables = _tables()
    result = rest * (1 / 720)
    np.subtract(1 / 120, result, out=result)
    for coefficient in (1 / 24, 1 / 6, 1 / 2, 1.0, 1.0):
        result *= rest
        np.subtract(coefficient, result, out=result)
    result *= tables.part.take(steps & (_STEPS - 1))
    result *= tables.whole.take(steps >> 6)
    return result


def leading(words: Words, certainty: Certainty = CERTAIN) -> Floats:
    """Return the numbers 0.b1b2b3... spelt by the first (at most 53) bits of each word."""
    bits = min(certainty.word, 53)
    return (words >> np.uint64(64 - bits)).astype(np.float64) * 2.0**-bits


def accept(
    exponent: Floats,
    exact: Callable[[int], Real],
    source: BitSource,
    certainty: Certainty = CERTAIN,
) -> Bools:
    """Return for each position True with probability exp(-t), exactly.

    `exponent` holds t with an error e such that e * exp(-t) <= 2^-43 (docs/noise.md);
    `exact(position)` is exp(-t) itself, for the few words that leave the comparison open.
    """
    return below_exp(source.words64(len(exponent)), exponent, exact, source, certainty)


def below_exp(
    words: Words,
    exponent: Floats,
    exact: Callable[[int], Real],
    source: BitSource,
    certainty: Certainty = CERTAIN,
) -> Bools:
    """Return for each position whether the number that its word begins is below exp(-t)."""
    return below(words, exp_minus(exponent), exact, source, certainty)


def below(
    words: Words,
    near: Floats,
    exact: Callable[[int], Real],
    source: BitSource,
    certainty: Certainty = CERTAIN,
) -> Bools:
    """Return for each position whether the number that its word begins is below a probability.

    `near` holds the probabilities with errors of at most 2^-43, `exact(position)` is one of them
    itself. The array `near` is overwritten.
    """
    gap = near
    gap -= leading(words, certainty)
    result = gap > certainty.margin
    for position in np.flatnonzero(np.abs(gap) <= certainty.margin).tolist():
        result[position] = begun(words, position, source, certainty).below(exact(position))
    return result


def begun(words: Words, position: int, source: BitSource, certainty: Certainty) -> Uniform:
    """Return the uniform number whose first bits are the word at this position."""
    return Uniform(source, int(words[position]) >> (64 - certainty.word), certainty.word)
