"""One uniform real number, known to as many bits as a comparison needs.

Every random decision of this package is `U < p` with U uniform on [0, 1) and p an exact real
number that can be enclosed as tightly as wanted. The first bits of U decide almost always; here
is what happens when they do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws.enclosure import ball, precision
from perrecord.noise.bits import BitSource

Real = Callable[[], arb]
"""An exact real number: called inside `precision(bits)`, it returns a ball that holds it."""

_FIRST_BITS = 128
_SPARE_BITS = 64

MARGIN = 2.0**-42
"""Above every error of a float64 comparison in this package; docs/noise.md adds them up."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How many bits of U are drawn at first, and how near to p they may fall and still decide.

    The defaults serve all shipped code. Tests shrink the word and widen the margin, which sends
    most decisions through `Uniform.below` and must not change the distribution.
    """

    word: int = 64
    margin: float = MARGIN


CERTAIN = Certainty()


class Uniform:
    """A uniform number on [0, 1) whose first bits are known and whose others are yet to be drawn.

    >>> from perrecord.noise.bits import system_bits
    >>> Uniform(system_bits()).below(lambda: arb(1))
    True
    """

    def __init__(self, source: BitSource, known: int = 0, bits: int = 0) -> None:
        self._source = source
        self._known = known
        self._bits = bits

    def below(self, probability: Real) -> bool:
        """Tell whether U < p, drawing bits and enclosing p more tightly until that is certain.

        Ends with probability 1: the chance that a round leaves it open falls towards 0.
        """
        bits = _FIRST_BITS
        while True:
            self._draw_up_to(bits)
            with precision(bits + _SPARE_BITS):
                exact = probability()
                if exact >= ball(Fraction(self._known + 1, 1 << self._bits)):
                    return True
                if exact <= ball(Fraction(self._known, 1 << self._bits)):
                    return False
            bits *= 2

    def _draw_up_to(self, bits: int) -> None:
        missing = bits - self._bits
        if missing > 0:
            self._known = (self._known << missing) | self._source.integer(missing)
            self._bits = bits


def integers_below(bound: int, count: int, source: BitSource) -> NDArray[np.int64]:
    """Return `count` independent integers, each uniform on 0, ..., bound - 1; bound <= 2^62.

    >>> from perrecord.noise.bits import system_bits
    >>> sorted(set(integers_below(3, 1000, system_bits()).tolist()))
    [0, 1, 2]
    """
    # From 2^64 mod bound on, a whole number of rounds of remainders is left: each equally often.
    first_fair = np.uint64((1 << 64) % bound)
    drawn = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        words = source.words64(count - done)
        kept = words[words >= first_fair] % np.uint64(bound)
        drawn[done : done + len(kept)] = kept
        done += len(kept)
    return drawn
