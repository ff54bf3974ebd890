"""Frozen noise: the same random bits again, and a record of how many were asked for when."""

import numpy as np
from numpy.typing import NDArray

from perrecord.noise.bits import BitSource


class FrozenBits(BitSource):
    """Bits from a seed, for audits alone: no noise that protects anybody may come from them."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self.drawn: list[int] = []
        """How many bytes were asked for, in order."""

    def fill(self, buffer: NDArray[np.uint8]) -> None:
        """Overwrite the buffer with the next bytes."""
        self.drawn.append(len(buffer))
        buffer[:] = np.frombuffer(self._generator.bytes(len(buffer)), dtype=np.uint8)
