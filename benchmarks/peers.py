"""Other libraries, each installed by name into an environment of its own under `.venv/peers`."""

import os
import subprocess
import sys
import venv
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / ".venv" / "peers"
ROOT = PEERS.parent.parent
INSTALLED_APART = {
    "perrecord-alone": ("--require-hashes", "--requirement", str(ROOT / "requirements.lock")),
    "tumult": ("tmlt.core",),
    "pydp": ("python-dp",),
    "opendp-polars": ("opendp[polars]",),
    "tumult-analytics": ("tmlt.analytics",),
}
"""What is installed. perrecord alone is what its users have: without pandas, which Arrow loads."""


def interpreter(name: str) -> Path | str:
    """Return the Python that has this library, installing it if need be, or why there is none."""
    if name not in INSTALLED_APART:
        return Path(sys.executable)
    home = PEERS / name
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    wanted = [INSTALLED_APART[name]]
    if name == "perrecord-alone":
        wanted.append(("--no-deps", "--no-build-isolation", "--editable", str(ROOT)))
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
