"""A process without a network, and what it tried to reach all the same."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
    is_cut_off: bool
    is_traced: bool


@cache
def can_cut_off() -> bool:
    """Return whether this user may start a process in a network of its own."""
    return _works(["unshare", "-rn", "true"])


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
    ran = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder)},
    )
    return Ran(
        ran.returncode,
        ran.stdout,
        ran.stderr,
        (*_foreign(calls), *(asked.read_text().splitlines() if asked.exists() else ())),
        can_cut_off(),
        can_trace(),
    )


def _foreign(log: Path) -> list[str]:
    """Return the traced calls that go to the internet, this machine's loopback included."""
    if not log.exists():
        return []
    return [line for line in log.read_text().splitlines() if re.search(r"AF_INET|sin6?_addr", line)]
