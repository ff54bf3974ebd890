"""Randomness: never repeated by threads, forks or rekeying, and nowhere a seed."""

import inspect
import os
import threading
import warnings

import numpy as np
import pytest

import perrecord.noise
from perrecord.noise import bits, discrete_gaussian
from perrecord.noise.bits import SystemBits, system_bits
from tests.noise.checks import FALSE_ALARM, pearson

BLOCK = 16


def _blocks(data: bytes) -> list[bytes]:
    return [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]


def _drawn(source, count=4096) -> bytes:
    return source.words64(count // 8).tobytes()


def _from_a_child(work) -> bytes:
    """Return what a forked child computes."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pytest itself may run threads
        child = os.fork()
    if child == 0:
        try:
            with os.fdopen(write, "wb") as out:
                out.write(work())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as data:
        received = data.read()
    os.waitpid(child, 0)
    return received


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_64_forked_workers_never_repeat_a_block():
    """Neither through the thread's source nor through one that was taken before the fork.

    The first is renewed by the hook after fork, the second by its own look at the process number.
    """
    held, other = system_bits(), SystemBits()
    seen = _blocks(_drawn(held)) + _blocks(_drawn(other))
    for _ in range(64):
        received = _from_a_child(lambda: _drawn(system_bits()) + _drawn(held) + _drawn(other))
        assert len(received) == 3 * 4096
        seen += _blocks(received)
    seen += _blocks(_drawn(held)) + _blocks(_drawn(other))
    assert len(seen) == len(set(seen)) == (64 * 3 + 4) * 4096 // BLOCK


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_hook_alone_renews_the_source_of_a_forked_child(monkeypatch):
    """Even where process numbers tell nothing, the child starts with no state of its parent."""
    system_bits().words64(1)
    parent = os.getpid()
    monkeypatch.setattr(bits.os, "getpid", lambda: parent)
    received = _from_a_child(lambda: _drawn(system_bits()))
    assert len(received) == 4096
    assert received != _drawn(system_bits())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_source_blind_to_forks_would_be_caught(monkeypatch):
    """The check can fail: without the look at the process number parent and child agree."""
    held = SystemBits()
    _drawn(held)
    parent = os.getpid()
    monkeypatch.setattr(bits.os, "getpid", lambda: parent)
    assert _from_a_child(lambda: _drawn(held)) == _drawn(held)


def test_threads_never_share_a_stream():
    """Sixteen threads, each with its own key, and noise drawn in all of them at once."""
    found, lock = [], threading.Lock()

    def work() -> None:
        data = _drawn(system_bits(), 1 << 16)
        values = discrete_gaussian("1e20", 500)
        with lock:
            found.append((data, system_bits(), values))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(source) for _, source, _ in found}) == 16
    blocks = [block for data, _, _ in found for block in _blocks(data)]
    assert len(blocks) == len(set(blocks)) == 16 * (1 << 16) // BLOCK
    values = np.concatenate([values for _, _, values in found])
    assert len(set(values.tolist())) > 0.999 * len(values)


def test_the_key_is_replaced_regularly(monkeypatch):
    """Every 16 MiB a new key comes from the operating system."""
    asked = []
    real = os.urandom
    monkeypatch.setattr(bits.os, "urandom", lambda count: asked.append(count) or real(count))
    source = SystemBits()
    for _ in range(5):
        source.words64(1 << 20)  # 8 MiB
    assert asked == [48, 48, 48]


def test_bytes_are_even():
    """Chi-square on ten million bytes, and no long run of equal words."""
    data = system_bits().words64(1_250_000)
    counts = np.bincount(data.view(np.uint8), minlength=256)
    assert pearson(counts, np.full(256, 1 / 256)) > FALSE_ALARM
    assert not (data[1:] == data[:-1]).any()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64, 200])
def test_integers_have_as_many_bits_as_asked(count):
    """Every bit is set sometimes, none above the length ever."""
    drawn = [system_bits().integer(count) for _ in range(200)]
    together = 0
    for value in drawn:
        together |= value
    assert together == (1 << count) - 1


def test_no_function_takes_a_seed():
    """Noise that can be replayed can be subtracted; a law's own parameter, nu, is no seed."""
    for name in perrecord.noise.__all__:
        parameters = inspect.signature(getattr(perrecord.noise, name)).parameters
        assert not [parameter for parameter in parameters if "seed" in parameter.lower()]
        public = [p for p in parameters.values() if p.kind == p.KEYWORD_ONLY]
        assert all(each.name.startswith("_") or each.name == "nu" for each in public)
