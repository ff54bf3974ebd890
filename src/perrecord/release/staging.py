"""Folders that appear whole or not at all: written, flushed, then renamed."""

import errno
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import BinaryIO

from perrecord.errors import ReleaseError
from perrecord.mechanisms.parallel import in_threads
from perrecord.systems import CREATE_FLAGS, HAS_MODES, flush_one, held, user

_NAME = re.compile(r"((labels|tables|numbers)/)?[\w-][\w.-]*")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for as long as the block lasts; a killed process lets go of it."""
    _private(path.parent)
    with held(path) as is_held:
        if not is_held:
            raise ReleaseError(
                "this release is being made by another process at the moment; wait for it to end."
            )
        yield


def _private(folder: Path) -> None:
    """Make a folder for this user alone, or refuse one that others may enter or have planted."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise ReleaseError(
            f"{str(folder)!r} is a link; expected a folder of its own for sealed files."
        )
    if not HAS_MODES:
        return
    if found.st_uid != user() and user() != 0:
        raise ReleaseError(
            f"{str(folder)!r} belongs to another user; releases of one ledger are made by one user."
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        raise ReleaseError(
            f"{str(folder)!r} may be entered by others (mode {mode:04o}); expected 0700. Type "
            f"chmod 700 {shlex.quote(str(folder))}, or keep the ledger on a disk that supports "
            "modes."
        )


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
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with _new_file(path, 0o600) as file:
            file.write(content)
    flush(folder)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its relative path; links are refused."""
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise ReleaseError(f"{str(path)!r} is a link; a release holds plain files only.")
        if path.is_file():
            files.append(path)
    found = in_threads(_digest, files, lambda path: path.stat().st_size)
    names = [path.relative_to(folder).as_posix() for path in files]
    return dict(zip(names, found, strict=True))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, sha256).hexdigest()


def is_exactly(folder: Path, wanted: Mapping[str, str]) -> bool:
    """Tell whether a folder holds these files and no others; nothing else in it is opened."""
    return folder.is_dir() and not unknown_in(folder, wanted) and digests(folder) == wanted


def unknown_in(folder: Path, wanted: Iterable[str]) -> list[str]:
    """Return what lies in a folder that is none of these files, nor a folder of one."""
    names = set(wanted)
    named = {*names, *(parent.as_posix() for name in names for parent in Path(name).parents)}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(name for name in found if name not in named)


def publish(sealed: Path, wanted: Mapping[str, str], out: Path) -> None:
    """Copy sealed files to their public place: there is all of them as sealed, or nothing.

    The copy is made under a name that belongs to this release alone, compared with the seal, and
    then renamed, which fails if something has taken the place meanwhile. Others may read what is
    published as far as the umask lets them, and never write it.
    """
    partial = out.parent / f".{out.name}.{sealed.name[:12]}.partial"
    out.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(partial) and not stat.S_ISDIR(partial.lstat().st_mode):
        raise ReleaseError(f"{str(partial)!r} is not a folder; somebody put it there. Remove it.")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir(mode=0o755)
    for name in wanted:
        path = partial / name
        path.parent.mkdir(mode=0o755, exist_ok=True)
        with (sealed / name).open("rb") as source, _new_file(path, 0o644) as copy:
            shutil.copyfileobj(source, copy)
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
    flush_names(out)


def _new_file(path: Path, mode: int) -> BinaryIO:
    """Open a file that is not there yet; a link in its place is refused, not followed."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_EXCL | CREATE_FLAGS, mode), "wb")


def flush(folder: Path) -> None:
    """Flush every file and folder below, and the name of the folder itself."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        flush_one(path)


def flush_names(path: Path) -> None:
    """Flush every name that leads to a published folder, as far up as this user may have made it.

    Further up there may be file systems that cannot flush a folder; nothing of ours is there.
    """
    for folder in path.parents:
        if not os.access(folder, os.R_OK | os.W_OK):
            return
        try:
            flush_one(folder)
        except OSError as error:
            if folder != path.parent and error.errno == errno.EINVAL:
                return
            raise ReleaseError(
                f"{str(path)!r} is there, but the folder {str(folder)!r} could not be flushed "
                f"to the disk ({error.strerror}). Check the disk and run the same command "
                "again: it is sealed, and costs nothing more."
            ) from None
