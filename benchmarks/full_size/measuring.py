"""Run a command and measure it with all the processes it starts. Linux.

`measured` starts this file as a small program that starts the command. It adopts processes that
the command leaves behind (a Java machine, say) and adds their time. Memory is the larger of the
kernel's own peak of one process and the sum over all of them at moments 0.1 s apart, so it is exact
for a command of one process.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_BECOME_SUBREAPER = 36
_EVERY_SECONDS = 0.1


class CommandError(Exception):
    """A measured command ended with an error; the message is its last line."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    wall: float
    """Seconds from start to end of the command."""
    cpu: float
    """Seconds of processors, user and system, over all its processes."""
    peak_mb: float
    """The most memory it held at once, in MB of 10^6 bytes."""
    watched_mb: float
    """The most bytes seen in the watched folder, likewise."""
    printed: str
    """What it wrote to standard output."""


def measured(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    watch: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Cost:
    """Run a command to its end and return what it took; `watch` names a folder to keep an eye on.

    Raises:
        CommandError: it ended with an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        report, out, errors = (Path(folder) / name for name in ("report", "out", "errors"))
        with out.open("w") as standard, errors.open("w") as other:
            subprocess.run(  # noqa: S603
                [sys.executable, __file__, str(report), str(watch or ""), *map(str, command)],
                cwd=cwd,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=standard,
                stderr=other,
                check=True,
            )
        found = json.loads(report.read_text())
        if found.pop("code"):
            said = errors.read_text(errors="replace").strip().splitlines()
            raise CommandError(said[-1] if said else "it said nothing")
        return Cost(**found, printed=out.read_text())


def main() -> None:
    """Run the command that the arguments name, and write what it took."""
    report, watch, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)
    sampler = _Sampler(Path(watch) if watch else None)
    sampler.start()
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    wall, cpu, kernel_peak, code = 0.0, 0.0, 0, 0
    while True:
        try:
            process, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        if process == child:
            wall, code = time.perf_counter() - began, os.waitstatus_to_exitcode(status)
        cpu += used.ru_utime + used.ru_stime
        kernel_peak = max(kernel_peak, used.ru_maxrss * 1024)
    sampler.stop()
    found = {
        "wall": wall,
        "cpu": cpu,
        "peak_mb": max(kernel_peak, sampler.most_memory) / 1e6,
        "watched_mb": sampler.most_watched / 1e6,
        "code": code,
    }
    Path(report).write_text(json.dumps(found))


class _Sampler(threading.Thread):
    """Looks at memory and at the watched folder every now and then."""

    def __init__(self, watch: Path | None) -> None:
        super().__init__(daemon=True)
        self.most_memory = 0
        self.most_watched = 0
        self._watch = watch
        self._stopped = threading.Event()

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._stopped.wait(_EVERY_SECONDS):
            pages = sum(_resident_pages(process) for process in _descendants(os.getpid()))
            self.most_memory = max(self.most_memory, pages * page)
            if self._watch:
                self.most_watched = max(self.most_watched, _bytes_in(self._watch))

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _descendants(process: int) -> list[int]:
    found: list[int] = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(each) for each in tasks.read_text().split()]
        except OSError:  # it has ended meanwhile
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found


def _resident_pages(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0


def _bytes_in(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                continue
    return total


if __name__ == "__main__":
    main()
