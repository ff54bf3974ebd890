"""Folders that appear whole or not at all: written, flushed, then renamed."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from perrecord.errors import ReleaseError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for as long as the block lasts; a killed process lets go of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ReleaseError(
                "this release is being made by another process at the moment; wait for it to end."
            ) from None
        yield
    finally:
        os.close(descriptor)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder that only this user may read, and flush them to the disk."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700, parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    flush(folder)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its relative path."""
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def publish(sealed: Path, out: Path) -> None:
    """Copy a sealed folder to its public place: there is all of it, or nothing."""
    partial = out.parent / f".{out.name}.partial"
    out.parent.mkdir(parents=True, exist_ok=True)
    if partial.exists():
        shutil.rmtree(partial)
    shutil.copytree(sealed, partial)
    for path in (partial, *partial.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    flush(partial)
    partial.rename(out)
    _flush_one(out.parent)


def flush(folder: Path) -> None:
    """Flush every file and folder below, and the name of the folder itself."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        _flush_one(path)


def _flush_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
