"""Cases spread over processes, each watched: what hangs or dies is caught and named."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hostile.running import Outcome

PATIENCE = 180.0  # seconds for one case, however busy the machine
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
        process = None
        while (number := take()) is not None:
            process = process or self._started()
            answer = _asked(process, number, self.patience)
            if answer is not None:
                yield answer
                continue
            yield _lost(process, number, self.patience)
            process = None
        if process is not None:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    def _started(self) -> Any:
        return subprocess.Popen(
            self.command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that what it started can be ended with it
        )


def worker_command(seed: int, count: int) -> list[str]:
    """Return the command that starts a worker."""
    return [sys.executable, "-m", "tests.hostile.worker", str(seed), str(count)]


def _asked(process: Any, number: int, patience: float) -> Outcome | None:
    """Return the outcome of a case, or None if the worker died or took too long."""
    try:
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
    except BrokenPipeError:
        return None
    ready, _, _ = select.select([process.stdout], [], [], patience)
    line = process.stdout.readline() if ready else ""
    return Outcome(**json.loads(line)) if line else None


def _lost(process: Any, number: int, patience: float) -> Outcome:
    """End a worker that does not answer, and say which case it was lost on."""
    try:
        code = process.wait(timeout=1)
        fault = f"the process died with {code}"
    except subprocess.TimeoutExpired:
        fault = f"no end after {patience:.0f} s"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()
    process.stdin.close()
    return Outcome(number, "lost", "", faults=[fault])
