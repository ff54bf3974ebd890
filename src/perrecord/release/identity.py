"""Which release this is: the same spec, the same data, the same code.

A retry of the same release is charged once. The data enters by a keyed hash whose key never leaves
the ledger, so that the identity, which is written down, says nothing of it.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from perrecord.errors import SourceError, SpecError
from perrecord.release.spec import LoadedSpec
from perrecord.version import VERSION
from perrecord.watch import Share, nobody, within

_CHUNK = 1 << 20


def identity_of(
    loaded: LoadedSpec,
    secret: bytes,
    snapshot: str | None = None,
    share: Share = nobody,
) -> str:
    """Return the identity of a release; it reads every byte of the source's files.

    A source that the caller gives has no files: the name of a snapshot stands for its state.
    `share` is told how much was read.
    """
    mixed = hmac.new(secret, digestmod=sha256)
    for part in (VERSION, loaded.canonical):
        mixed.update(_framed(part.encode()))
    files = [*loaded.public_files]
    if snapshot is None:
        files += _source_files(loaded)
    else:
        mixed.update(_framed(f"snapshot {snapshot}".encode()))
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    before, every = 0, sum(sizes) or 1
    for path, size in zip(files, sizes, strict=True):
        told = within(share, before / every, (before + size) / every)
        mixed.update(_framed(path.name.encode()))
        mixed.update(_framed(_keyed(path, secret, size or 1, told)))
        before += size
    return mixed.hexdigest()


def _source_files(loaded: LoadedSpec) -> Sequence[Path]:
    """Return the files that are read; a database has none and needs a snapshot's name."""
    if isinstance(loaded.source, str) and loaded.spec.source.snapshot is None:
        raise SpecError(
            f"{loaded.path}: source: a database has no bytes to tell one state of the data from "
            'another by; name it, such as {path: ..., relation: ..., snapshot: "2026-11-01"}, and '
            "give another name when the data changes."
        )
    return loaded.source_files


def _keyed(path: Path, secret: bytes, size: int, share: Share) -> bytes:
    mixed, done = hmac.new(secret, digestmod=sha256), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                mixed.update(chunk)
                done += len(chunk)
                share(done / size)
    except OSError:
        raise SourceError(
            f"the file {str(path)!r} could not be read; check that it is there, and a file."
        ) from None
    return mixed.digest()


def _framed(part: bytes) -> bytes:
    """Return a part with its length in front, so that no two lists of parts look alike."""
    return len(part).to_bytes(8, "big") + part
