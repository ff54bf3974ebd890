"""Draw labels with exact, irrational probabilities: inversion of the cumulative distribution.

The cumulative probabilities are kept as 64-bit integers, each the exact floor of 2^64 c. A word
unequal to all of them decides; an equal one asks for more bits of the same uniform number. A
guide indexed by the first 16 bits answers without a search where no boundary is near.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from perrecord.laws.enclosure import precision
from perrecord.noise.bits import BitSource, Words
from perrecord.noise.uniform import CERTAIN, Certainty, Uniform

Labels = NDArray[np.int16]

_GUIDE_BITS = 16
_CHUNK = 1 << 15
_FIRST_PRECISION = 192

_SEARCH = -(1 << 15)
"""What the guide says where a boundary is near."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """Labels and where the probability of each ends.

    Label j is drawn when boundary j-1 <= U < boundary j; the last one reaches up to 1, so there
    is one boundary fewer than there are labels. `boundaries` returns them as balls.
    """

    labels: Labels
    boundaries: Callable[[], Sequence[arb]]
    floors: Words
    guide: Labels
    guide_bits: int
    certainty: Certainty

    @classmethod
    def build(
        cls,
        labels: Sequence[int],
        boundaries: Callable[[], Sequence[arb]],
        certainty: Certainty = CERTAIN,
    ) -> "LabelTable":
        """Return the table for these labels, of which none may be -2^15."""
        names = np.array(labels, dtype=np.int16)
        floors = _floors(boundaries, certainty.word)
        guide_bits = min(_GUIDE_BITS, certainty.word)
        beyond_guide = np.uint64(certainty.word - guide_bits)
        starts = np.arange(1 << guide_bits, dtype=np.uint64) << beyond_guide
        guide = names[np.searchsorted(floors, starts, side="right")]
        guide[(floors >> beyond_guide).astype(np.intp)] = _SEARCH
        return cls(names, boundaries, floors, guide, guide_bits, certainty)

    def draw(self, source: BitSource, count: int) -> Labels:
        """Return independent labels, each with exactly its probability."""
        drawn = np.empty(count, dtype=np.int16)
        places, firsts = [], []
        for start in range(0, count, _CHUNK):
            chunk = drawn[start : start + _CHUNK]
            first = source.words16(len(chunk))
            if self.guide_bits < _GUIDE_BITS:
                first >>= np.uint16(_GUIDE_BITS - self.guide_bits)
            np.take(self.guide, first, out=chunk, mode="clip")
            near = np.flatnonzero(chunk == _SEARCH)
            places.append(near + start)
            firsts.append(first[near])
        if count:
            self._search(source, drawn, np.concatenate(places), np.concatenate(firsts))
        return drawn

    def decide(self, words: Words) -> NDArray[np.intp]:
        """Return for each word the index of its label, or -1 where the word leaves it open."""
        index = np.searchsorted(self.floors, words, side="right")
        is_boundary = self.floors.take(index - 1, mode="clip") == words
        return np.where(is_boundary & (index > 0), -1, index)

    def _search(
        self,
        source: BitSource,
        drawn: Labels,
        places: NDArray[np.intp],
        firsts: NDArray[np.uint16],
    ) -> None:
        """Draw the other bits of the words that the guide could not place."""
        more_bits = self.certainty.word - self.guide_bits
        words = firsts.astype(np.uint64) << np.uint64(more_bits)
        if more_bits:
            words |= source.words64(len(places)) >> np.uint64(64 - more_bits)
        index = self.decide(words)
        for position in np.flatnonzero(index < 0).tolist():
            index[position] = self._settle(source, int(words[position]))
        drawn[places] = self.labels[index]

    def _settle(self, source: BitSource, word: int) -> int:
        """Return the index for a word equal to some floors, by more bits of the same number."""
        uniform = Uniform(source, word, self.certainty.word)
        index = int(np.searchsorted(self.floors, np.uint64(word), side="left"))
        while index < len(self.floors) and int(self.floors[index]) == word:
            if uniform.below(lambda at=index: self.boundaries()[at]):  # type: ignore[misc]
                break
            index += 1
        return index


def _floors(boundaries: Callable[[], Sequence[arb]], word: int) -> Words:
    """Return floor(2^word c) for every boundary c, with as much precision as that takes."""
    bits = _FIRST_PRECISION
    while True:
        with precision(bits):
            scale = arb(2) ** word
            floors = [(boundary * scale).floor().unique_fmpz() for boundary in boundaries()]
        known = [int(floor) for floor in floors if floor is not None]
        if len(known) == len(floors):
            return np.array(known, dtype=np.uint64)
        bits *= 2
