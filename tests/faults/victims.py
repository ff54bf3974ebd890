"""Processes to be killed or made to fail: forked with everything loaded, waiting for their start.

A fork takes a millisecond. strace is attached while the process waits, so that it counts and
disturbs what the process itself does and nothing of its birth. It traces one thread, the one that
makes every call on the ledger and on the files of a release.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perrecord import PerrecordError
from tests.faults.scene import Scene

Say = Callable[[str], None]
Work = Callable[[Scene, Say], None]

CALLS = (
    "openat",
    "write",
    "pwrite64",
    "ftruncate",
    "fsync",
    "fdatasync",
    "mkdir",
    "rename",
    "link",
    "unlink",
    "unlinkat",
    "rmdir",
)
"""Every call by which a release or a ledger changes what is on the disk."""

VOICE = "writev"
"""The call by which a process speaks to us, and which nothing else makes."""

PATIENCE = 60.0
"""Seconds after which a process counts as hanging."""

_ALLOW_TRACING = (0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER, by anybody


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended, and what it said before: its acknowledgements, and why it gave up."""

    was_killed: bool
    said: tuple[str, ...]
    gave_up: str | None
    kind: str | None

    @property
    def finished(self) -> bool:
        """Whether the work was done to its end."""
        return not self.was_killed and self.gave_up is None


class Victim:
    """One forked process."""

    def __init__(self, work: Work, scene: Scene) -> None:
        start, self._start = os.pipe()
        self._heard, voice = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # libraries keep idle threads
            self.process = os.fork()
        if self.process == 0:
            os.close(self._start)
            _live(work, scene, start, voice)
        os.close(start)
        os.close(voice)
        self._tracer: subprocess.Popen[bytes] | None = None

    def trace(self, log: Path, *options: str) -> "Victim":
        """Attach strace, and wait until it says that it has stopped the process."""
        command = ["strace", "-o", str(log), *options, "-p", str(self.process)]
        self._tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
        said = b""
        while f"Process {self.process} attached".encode() not in said:
            assert self._tracer.stderr is not None
            line = self._tracer.stderr.readline()
            if not line:
                self.kill()
                self._tracer.wait()
                raise RuntimeError(f"strace ended: {said.decode()}")
            said += line
        return self

    def go(self) -> "Victim":
        """Let the process begin."""
        os.write(self._start, b".")
        return self

    def kill(self) -> None:
        """Kill it as the operating system would: nothing is cleaned up."""
        os.kill(self.process, signal.SIGKILL)

    def end(self, patience: float = PATIENCE) -> Ended:
        """Wait until it has ended, and return how; kill it if nothing is heard for too long."""
        heard = b""
        is_hanging = False
        while True:
            if not select.select([self._heard], [], [], patience)[0]:
                is_hanging = True
                self.kill()
            chunk = os.read(self._heard, 1 << 16)
            if not chunk:
                break
            heard += chunk
        status = os.waitpid(self.process, 0)[1]
        os.close(self._heard)
        os.close(self._start)
        if self._tracer is not None:
            self._tracer.communicate()
        lines = [json.loads(line) for line in heard.splitlines()]
        said = tuple(line["said"] for line in lines if "said" in line)
        gave_up = next((line for line in lines if "gave_up" in line), {})
        if is_hanging:
            gave_up = {"gave_up": f"nothing was heard for {patience} seconds", "kind": "hang"}
        elif os.WIFEXITED(status) and status != 0 and not gave_up:
            gave_up = {"gave_up": f"it ended with {status}", "kind": "silent"}
        was_killed = os.WIFSIGNALED(status) and not is_hanging
        return Ended(was_killed, said, gave_up.get("gave_up"), gave_up.get("kind"))


def run(work: Work, scene: Scene) -> Ended:
    """Let a process do its work undisturbed."""
    return Victim(work, scene).go().end()


def traced(work: Work, scene: Scene, log: Path, *options: str) -> Ended:
    """Let a process do its work under strace."""
    return Victim(work, scene).trace(log, *options).go().end()


def _live(work: Work, scene: Scene, start: int, voice: int) -> None:
    """Be the forked process: wait, work, say what happened, and end without cleaning up."""

    def tell(**line: Any) -> None:
        # Not by write: a disk on which no write works any more must not silence the process.
        os.writev(voice, [json.dumps(line).encode() + b"\n"])

    code = 1
    try:
        ctypes.CDLL(None).prctl(*_ALLOW_TRACING)
        tempfile.tempdir = str(scene.temporary)
        os.read(start, 1)
        work(scene, lambda said: tell(said=said))
        code = 0
    except PerrecordError as error:
        tell(gave_up=str(error), kind="perrecord")
    except OSError as error:
        tell(gave_up=f"{type(error).__name__}: {error}", kind="operating system")
    except BaseException:
        tell(gave_up=traceback.format_exc(), kind="crash")
    finally:
        os._exit(code)


def count(log: Path) -> list[tuple[str, int, str]]:
    """Return every call of a log that changes the disk: its name, its number, and its line."""
    seen: dict[str, int] = {}
    found = []
    for line in log.read_text().splitlines():
        name = line.partition("(")[0]
        if name not in CALLS:
            continue
        seen[name] = seen.get(name, 0) + 1
        if name != "openat" or "O_CREAT" in line:
            found.append((name, seen[name], line))
    return found
