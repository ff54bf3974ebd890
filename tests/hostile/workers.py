"""Cases spread over processes, each watched: what hangs or dies is caught and named."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.hostile.running import Outcome

PATIENCE = 180.0  # seconds for one case, however busy the machine
ENDING = 10.0  # seconds for a process to end after it has closed its output
ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Pool:
    """Worker processes that answer numbers with outcomes, one at a time each."""

    command: Sequence[str]
    size: int = 2
    patience: float = PATIENCE
    on_outcome: Callable[[Outcome], None] = lambda _: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, numbers: Sequence[int]) -> list[Outcome]:
        """Return the outcome of every case, in order."""
        waiting, found = iter(numbers), {}

        def take() -> int | None:
            with self._lock:
                return next(waiting, None)

        def serve() -> None:
            for outcome in self._served(take):
                with self._lock:
                    found[outcome.number] = outcome
                    self.on_outcome(outcome)

        threads = [threading.Thread(target=serve) for _ in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[number] for number in numbers]

    def _served(self, take: Callable[[], int | None]) -> Iterator[Outcome]:
        worker = None
        try:
            while (number := take()) is not None:
                worker = worker or Worker(self.command)
                try:
                    yield worker.asked(number, self.patience)
                except LostError as lost:
                    worker.end()
                    worker = None
                    yield Outcome(number, "lost", "", faults=[str(lost)])
        finally:
            if worker is not None:
                worker.end()


class LostError(Exception):
    """A worker gave no answer; the text says why."""


class Worker:
    """One process with a temporary folder of its own; both are gone after `end`."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start the process."""
        self._folder = TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True)
        self._process: Any = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"TMPDIR": self._folder.name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that what it started can be ended with it
        )

    def asked(self, number: int, patience: float) -> Outcome:
        """Return the outcome of a case; raise `LostError` if the worker dies or takes too long."""
        with suppress(BrokenPipeError):  # then its output is closed too
            self._process.stdin.write(f"{number}\n".encode())
            self._process.stdin.flush()
        line, stream = b"", self._process.stdout
        until = time.monotonic() + patience
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([stream], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise LostError(f"no end after {patience:.0f} s")
            piece = os.read(stream.fileno(), 2**16)
            if not piece:
                raise LostError(self._death())
            line += piece
        return Outcome(**json.loads(line))

    def _death(self) -> str:
        try:
            return f"the process died with {self._process.wait(timeout=ENDING)}"
        except subprocess.TimeoutExpired:
            return "the process closed its output"

    def end(self) -> None:
        """End the process and whatever it started, and remove what they left."""
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()


def worker_command(seed: int, count: int) -> list[str]:
    """Return the command that starts a worker."""
    return [sys.executable, "-m", "tests.hostile.worker", str(seed), str(count)]
