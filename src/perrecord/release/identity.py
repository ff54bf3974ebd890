"""Which release this is: the same questions of the same data; and which data.

A release is charged once for its numbers. What decides them is its identity: the data, tables,
filters, keys, answers, amounts, budget. Titles, labels, units, examples, outputs, post-processing
and the version of perrecord decide how they are shown, its rendering: a change of these alone
shows the same numbers anew. The data enters by a keyed hash whose key never leaves the ledger, so
that the identity, which is written down, says nothing of it.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perrecord.errors import SpecError
from perrecord.release.spec import LoadedSpec
from perrecord.tables.snapshots import framed, keyed, named, of_both, of_files
from perrecord.version import VERSION
from perrecord.watch import Progress, nobody, within


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a release from another, and the snapshot of the data that it is charged on."""

    key: str
    snapshot: str
    rendering: str


def identity_of(
    loaded: LoadedSpec,
    secret: bytes,
    snapshot: str | None = None,
    share: Progress = nobody,
) -> Identity:
    """Return the identity of a release; it reads every byte of the source's files, once.

    A source that the caller gives has no files: the name of a snapshot stands for its state.
    `share` is told how much was read.
    """
    mixed = hmac.new(secret, digestmod=sha256)
    mixed.update(framed(loaded.deciding.encode()))
    files = [*loaded.public_files]
    if snapshot is None:
        files += _source_files(loaded)
    else:
        mixed.update(framed(f"snapshot {snapshot}".encode()))
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    before, every = 0, sum(sizes) or 1
    digests = []
    for path, size in zip(files, sizes, strict=True):
        told = within(share, before / every, (before + size) / every)
        digests.append((path, keyed(path, secret, told)))
        mixed.update(framed(path.name.encode()))
        mixed.update(framed(digests[-1][1]))
        before += size
    source = loaded.spec.source
    if snapshot is not None:
        state = named(snapshot)
    elif isinstance(loaded.source, Path):
        state = _state(loaded, digests[len(loaded.public_files) :], secret)
    else:
        state = named(source.snapshot, source.relation)
    key = mixed.hexdigest()
    for part in (VERSION, loaded.canonical):
        mixed.update(framed(part.encode()))
    for path in loaded.shown_files:
        mixed.update(framed(keyed(path, secret)))
    return Identity(key, state, mixed.hexdigest())


def _state(loaded: LoadedSpec, digests: Sequence[tuple[Path, bytes]], secret: bytes) -> str:
    """Return the snapshot of the source's files; of two periods that are linked, of both."""
    settings = loaded.settings
    if loaded.last is None:
        return of_files(digests, secret, settings)
    own = len(loaded.own_files)
    this, last = (of_files(each, secret, settings) for each in (digests[:own], digests[own:]))
    return of_both(this, last, secret)


def _source_files(loaded: LoadedSpec) -> Sequence[Path]:
    """Return the files that are read; a database has none and needs a snapshot's name."""
    if isinstance(loaded.source, str) and loaded.spec.source.snapshot is None:
        raise SpecError(
            f"{loaded.path}: source: a database has no bytes to tell one state of the data from "
            'another by; name it, such as {path: ..., relation: ..., snapshot: "2026-11-01"}, and '
            "give another name when the data changes."
        )
    return loaded.source_files
