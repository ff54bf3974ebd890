"""Folders that appear whole or not at all: written, flushed, then renamed."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from perrecord.errors import ReleaseError

_NAME = re.compile(r"(tables/)?[\w-][\w.-]*")


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
    for name in files:
        if not _NAME.fullmatch(name):
            raise ReleaseError(f"a file of the release would be named {name!r}; rename its table.")
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700, parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    flush(folder)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its relative path; links are refused."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise ReleaseError(f"{str(path)!r} is a link; a release holds plain files only.")
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = sha256(path.read_bytes()).hexdigest()
    return found


def publish(sealed: Path, wanted: Mapping[str, str], out: Path) -> None:
    """Copy sealed files to their public place: there is all of them as sealed, or nothing.

    The copy is made under a name that belongs to this release alone, compared with the seal, and
    then renamed, which fails if something has taken the place meanwhile.
    """
    partial = out.parent / f".{out.name}.{sealed.name[:12]}.partial"
    out.parent.mkdir(parents=True, exist_ok=True)
    if partial.exists():
        shutil.rmtree(partial)
    for name in wanted:
        path = partial / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.copyfile(sealed / name, path, follow_symlinks=False)
        path.chmod(0o644)
    if digests(partial) != wanted:
        raise ReleaseError("the copy of the sealed files is not what was sealed; run it again.")
    flush(partial)
    try:
        partial.rename(out)
    except OSError:
        shutil.rmtree(partial)
        raise ReleaseError(
            f"{str(out)!r} cannot be made, or something was put there meanwhile; give another "
            "folder with --out. The release is sealed: running again publishes it at no charge."
        ) from None
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
