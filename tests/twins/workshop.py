"""A copy of the project in which faults are tried out, one after the other."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Literal

from tests.twins.report import PROFILE, REPORT
from tests.twins.twin import Twin

PROJECT = Path(__file__).parents[2]
COPIED = (
    "src",
    "tests",
    "docs",
    "examples",
    "tools",
    "pyproject.toml",
    "README.md",
)
LIMIT = 180.0
"""Seconds after which tests are given up."""

Verdict = Literal["caught", "survived", "not run", "timeout"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of tests ended: each test's outcome, or None if they could not be run."""

    outcomes: dict[str, str] | None
    is_late: bool
    seconds: float
    said: str

    def failing(self, test: str) -> list[str]:
        """Return the tests under a node id that failed."""
        return [name for name in self._under(test) if (self.outcomes or {})[name] == "failed"]

    def has_passed(self, test: str) -> bool:
        """Tell whether there are tests under a node id, and all of them passed."""
        found = self._under(test)
        return bool(found) and {(self.outcomes or {})[name] for name in found} == {"passed"}

    def _under(self, test: str) -> list[str]:
        whole = f"tests/{test}"
        return [
            name for name in self.outcomes or () if name == whole or name.startswith(f"{whole}[")
        ]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a twin."""

    twin: Twin
    verdict: Verdict
    caught_by: tuple[str, ...]
    seconds: float
    said: str


class Workshop:
    """A copy of the project, in a folder that is ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            there = PROJECT / name
            if there.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(there, folder / name, ignore=ignored)
            else:
                shutil.copyfile(there, folder / name)
        (folder / "tmp").mkdir()
        self._moments = count(1_000_000_000)

    def attempt(self, twin: Twin, limit: float = LIMIT) -> Trial:
        """Put the fault in, run its tests, and take the fault out again."""
        with self._with_fault(twin):
            ending = self.run(twin.tests, limit)
        caught_by = [ending.failing(test) for test in twin.tests]
        verdict: Verdict = "caught" if all(caught_by) else "survived"
        if ending.outcomes is None:
            verdict = "timeout" if ending.is_late else "not run"
        found = tuple(name.removeprefix("tests/") for names in caught_by for name in names)
        return Trial(twin, verdict, found, ending.seconds, ending.said)

    def run(self, tests: Iterable[str], limit: float = LIMIT) -> Ending:
        """Run tests on the copy as it is, in a process of their own."""
        noted = self.folder / "report.json"
        noted.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "no:xdist", "-p", "tests.twins.report"]
        command += [f"--hypothesis-profile={PROFILE}", *(f"tests/{test}" for test in tests)]
        start = monotonic()
        code, said = _ended(command, self.folder, self._environment(noted), limit)
        seconds = monotonic() - start
        # 0: all passed; 1: some failed. Whatever else it is, it tells nothing of the fault.
        if code not in (0, 1) or not noted.exists():
            return Ending(None, code is None, seconds, said)
        found = json.loads(noted.read_text())
        if not Path(found["loaded"]).is_relative_to(self.folder.resolve()):
            raise RuntimeError(f"the tests loaded {found['loaded']}, which is not the copy.")
        return Ending(found["outcomes"], False, seconds, said)

    @contextmanager
    def _with_fault(self, twin: Twin) -> Iterator[None]:
        path = self.folder / "src" / "perrecord" / twin.file
        whole = path.read_text()
        self._write(path, twin.broken(whole))
        try:
            yield
        finally:
            self._write(path, whole)

    def _write(self, path: Path, text: str) -> None:
        """Write a file with a time of its own: bytecode is kept by time, in whole seconds."""
        path.write_text(text)
        moment = next(self._moments)
        os.utime(path, (moment, moment))

    def _environment(self, noted: Path) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)  # or every run would compile everything anew
        return {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(self.folder)]),
            "TMPDIR": str(self.folder / "tmp"),
            REPORT: str(noted),
        }


def _ended(
    command: list[str], folder: Path, environment: dict[str, str], limit: float
) -> tuple[int | None, str]:
    """Return the exit code of a process, None if it took too long, and the end of what it said."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that its children end with it
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, f"took more than {limit:.0f} seconds"
        return process.returncode, said[-2000:]
