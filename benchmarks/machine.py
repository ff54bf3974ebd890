"""What figures were measured on."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """Return processor, cores, memory, system and Python, in one line."""
    parts = [_processor(), f"{os.cpu_count()} cores"]
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        parts.append(f"{memory / 2**30:.0f} GiB")
    parts += [platform.system(), f"Python {platform.python_version()}"]
    return ", ".join(parts)


def load() -> str:
    """Return the load of the last minute: above the run's own, others were at work."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def versions(*packages: str) -> str:
    """Return packages of this environment with their versions, in one line."""
    return ", ".join(f"{package} {version(package)}" for package in packages)


def revision() -> str:
    """Return the newest commit of what is measured and of what measures it."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments, "--", "src", "benchmarks/*.py"]  # its pages do not count
        here = Path(__file__).resolve().parent.parent
        return subprocess.check_output(command, cwd=here, text=True).strip()  # noqa: S603

    newest = git("log", "-1", "--format=%h")
    return f"{newest}, changed since" if git("status", "--short") else newest


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    if about.exists():
        for line in about.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
