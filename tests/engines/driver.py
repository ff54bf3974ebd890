"""A process that is told step by step what to do on a Spark cluster."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.engines.cluster import Processes


class Driver:
    """The process: first it runs a program of the guide, then what it is told.

    `guided` is what came of that program: None, or what went wrong.
    """

    def __init__(self, started: Processes, address: str, guide: Path, spec: Path) -> None:
        self._errors = started.folder / f"driver-{address.partition(':')[0]}.log"
        self._output = self._errors.open("w")
        self._lines: list[str] = []
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.engines.release_program"),
                *(address, guide, spec, spec.parent / "est"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | started.environment,
        )
        self.guided = json.loads(self._line())["failed"]

    def do(self, *step: object, while_running: Callable[[], None] | None = None) -> Any:
        """Return what a step shows; act once it is running."""
        print(*step, file=self._process.stdin, flush=True)
        seen = self._line()
        if seen == "running":
            if while_running is not None:
                while_running()
            seen = self._line()
        return json.loads(seen)

    def written(self) -> str:
        """Return all that the process and the Java beside it have written so far."""
        return "\n".join([*self._lines, self._errors.read_text()])

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, self._errors.read_text()[-3000:]
        self._lines.append(line)
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._output.close()
