"""A process without a network, and what it tried to reach all the same."""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REQUIRED

ROOT = Path(__file__).parent.parent.parent
CALLS = "connect,sendto,sendmsg,sendmmsg"

HOOK = """
import sys
def _seen(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        with open({log!r}, "a") as file:
            file.write("python " + event + " " + repr(arguments[1:])[:100] + "\\n")
sys.addaudithook(_seen)
"""
"""What Python itself is asked for; the system calls of other languages are traced outside."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a process ended, what it printed and what it tried to reach."""

    code: int
    out: str
    err: str
    reached: tuple[str, ...]
    is_traced: bool


@cache
def can_cut_off() -> bool:
    """Return whether this user may start a process in a network of its own."""
    return _works(["unshare", "-rn", "true"])


def require_cutting_off() -> None:
    """Skip a test where the network cannot be taken away; fail it where it must be possible."""
    reason = "no network of its own for a process here (unshare -rn)"
    if not can_cut_off() and os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set and there is {reason}")
    if not can_cut_off():
        pytest.skip(reason)


@cache
def can_trace() -> bool:
    """Return whether system calls can be traced here."""
    return _works(["strace", "-f", "-o", "/dev/null", "-e", f"trace={CALLS}", "true"])


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def offline(program: str, folder: Path, timeout: float = 1800) -> Ran:
    """Run a Python program in a folder, without a network where that can be had."""
    calls, asked = folder / "calls.log", folder / "asked.log"
    command = [sys.executable, "-c", HOOK.format(log=str(asked)) + program]
    if can_trace():
        options = ["-f", "--seccomp-bpf", "-e", f"trace={CALLS}", "-o", str(calls)]
        command = ["strace", *options, *command]
    if can_cut_off():
        command = ["unshare", "-rn", *command]
    temporary = folder / "temporary"
    temporary.mkdir()
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "TMPDIR": str(temporary),
    }
    code, out, err = _ended(command, folder, environment, timeout)
    reached = (*_foreign(calls), *(asked.read_text().splitlines() if asked.exists() else ()))
    return Ran(code, out, err, reached, can_trace())


def _ended(
    command: list[str], folder: Path, environment: dict[str, str], timeout: float
) -> tuple[int, str, str]:
    """Return how a process ended and what it printed; its children end with it."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, out, err


def _foreign(log: Path) -> list[str]:
    """Return the traced calls that go to the internet, this machine's loopback included."""
    if not log.exists():
        return []
    return [line for line in log.read_text().splitlines() if re.search(r"AF_INET|sin6?_addr", line)]
