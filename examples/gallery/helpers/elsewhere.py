"""Programs in an environment of their own, for libraries that cannot live in perrecord's.

`environments/NAME.lock` says what is installed, every file by its hash. The environment is made
the first time, in build/environments; what a program is given and what it answers go through
pipes, and no row is written to a file.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

GALLERY = Path(__file__).parent.parent
MADE = GALLERY.parent.parent / "build" / "environments"


def environment(name: str) -> Path:
    """Return the Python of an environment, which is made if it is not there."""
    lock = GALLERY / "environments" / f"{name}.lock"
    folder = MADE / f"{name}-{sha256(lock.read_bytes()).hexdigest()[:12]}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    whole = folder / "whole"
    if not whole.exists():
        shutil.rmtree(folder, ignore_errors=True)
        version = sys.executable if sys.version_info[:2] == (3, 11) else "3.11"
        uv = [sys.executable, "-m", "uv", "--quiet"]
        subprocess.run([*uv, "venv", "--python", version, folder], check=True)
        install = ["pip", "sync", "--python", python, "--require-hashes", lock]
        subprocess.run([*uv, *install], check=True)
        whole.touch()
    return python


def answer(name: str, given: bytes) -> bytes:
    """Return what environments/NAME.py, run in its environment, answers to what it is given."""
    program = GALLERY / "environments" / f"{name}.py"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [environment(name), program],
            input=given,
            cwd=folder,
            stdout=subprocess.PIPE,
            check=True,
        )
    return done.stdout
