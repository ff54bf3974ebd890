"""Other libraries, each installed by name into an environment of its own under `.venv/peers`."""

import os
import subprocess
import sys
import venv
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / ".venv" / "peers"
ROOT = PEERS.parent.parent
INSTALLED_APART = {
    "tumult": ("tmlt.core",),
    "pydp": ("python-dp",),
    "opendp-polars": ("opendp[polars]",),
    "tumult-analytics": ("tmlt.analytics",),
}
"""What is installed, by the name of its environment."""


def interpreter(name: str) -> Path | str:
    """Return the Python that has this library, installing it if need be, or why there is none."""
    if name not in INSTALLED_APART:
        return Path(sys.executable)
    return _with_packages(PEERS / name, INSTALLED_APART[name])


def perrecord_alone(home: Path = PEERS / "perrecord-alone", code: Path = ROOT) -> Path | str:
    """Return the Python that has perrecord from a folder of code, or why there is none.

    It has what users have: no pandas, which Arrow would load.
    """
    locked = ("--require-hashes", "--requirement", str(code / "requirements.lock"))
    itself = ("--no-deps", "--no-build-isolation", "--editable", str(code))
    return _with_packages(home, locked, itself)


def _with_packages(home: Path, *wanted: tuple[str, ...]) -> Path | str:
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    for each in wanted:
        done = _run(python, "-m", "pip", "install", "--quiet", *each)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return errors[-1] if errors else "ERROR: pip failed"
    return python


def version(python: Path, package: str) -> str:
    """Return the version of a package in that environment."""
    text = f"from importlib.metadata import version; print(version({package!r}))"
    return _run(python, "-c", text).stdout.strip() or "unknown"


def _run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [str(python), *arguments], capture_output=True, text=True, check=False
    )
