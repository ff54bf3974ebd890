"""Random bits that nobody can predict or replay: the only randomness of the library.

A key of the operating system is expanded by AES-256 in counter mode and replaced after every
16 MiB. Each thread has its own key; a forked process throws away what it inherited. There is no
seed. Tests hand in another `BitSource` through a private argument.
"""

import os
import threading
from abc import ABC, abstractmethod

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

_KEY_BYTES = 32
_NONCE_BYTES = 16
_REKEY_AFTER = 1 << 24
_PIECE = 1 << 16
_ZEROS = memoryview(bytes(_PIECE))

Words = NDArray[np.uint64]


class BitSource(ABC):
    """Independent fair bits, as arrays of words or as one integer of any length."""

    @abstractmethod
    def fill(self, buffer: NDArray[np.uint8]) -> None:
        """Overwrite the buffer with fresh random bytes."""

    def words16(self, count: int) -> NDArray[np.uint16]:
        """Return uniform integers below 2^16."""
        words = np.empty(count, dtype=np.uint16)
        self.fill(words.view(np.uint8))
        return words

    def words32(self, count: int) -> NDArray[np.uint32]:
        """Return uniform integers below 2^32."""
        words = np.empty(count, dtype=np.uint32)
        self.fill(words.view(np.uint8))
        return words

    def words64(self, count: int) -> Words:
        """Return uniform integers below 2^64."""
        words = np.empty(count, dtype=np.uint64)
        self.fill(words.view(np.uint8))
        return words

    def integer(self, bits: int) -> int:
        """Return one uniform integer below 2^bits."""
        buffer = np.empty((bits + 7) // 8, dtype=np.uint8)
        self.fill(buffer)
        return int.from_bytes(buffer.tobytes(), "little") >> (-bits % 8)


class SystemBits(BitSource):
    """Bits of the operating system's generator, expanded by AES-256 in counter mode.

    The process number is compared on every draw, besides the hook below that runs after
    `os.fork`: a child made in any other way must not repeat its parent's noise either.
    """

    def __init__(self) -> None:
        self._process = -1
        self._left = 0
        self._stream: CipherContext

    def fill(self, buffer: NDArray[np.uint8]) -> None:
        """Overwrite the buffer with the next bytes of the stream."""
        for start in range(0, len(buffer), _PIECE):
            piece = buffer[start : start + _PIECE]
            if self._left < len(piece) or self._process != os.getpid():
                self._take_new_key()
            self._left -= len(piece)
            self._stream.update_into(_ZEROS[: len(piece)], piece.data)

    def _take_new_key(self) -> None:
        secret = os.urandom(_KEY_BYTES + _NONCE_BYTES)
        cipher = Cipher(algorithms.AES(secret[:_KEY_BYTES]), modes.CTR(secret[_KEY_BYTES:]))
        self._stream = cipher.encryptor()
        self._left = _REKEY_AFTER
        self._process = os.getpid()


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.source = SystemBits()


_here = _PerThread()


def system_bits() -> BitSource:
    """Return the calling thread's own source of bits."""
    return _here.source


def _forget() -> None:
    global _here  # noqa: PLW0603 - the child must not see one byte of its parent's state
    _here = _PerThread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
