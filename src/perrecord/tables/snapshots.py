"""Snapshots: which state of the data a table shows, by a keyed hash of its bytes or by a name.

A ledger adds up charges record by record on one snapshot alone (T4). Files and frames in memory are
known by an HMAC-SHA256 whose key never leaves the ledger, so that what is written down tells nobody
anything, not even whether a guess at the data is right. What lies in a database or in Spark has no
bytes here and may change between two queries: its owner names its state.
"""

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, SourceError
from perrecord.watch import Progress, nobody

KEYED = "hmac:"
"""How snapshots that are hashes begin, and no name may."""

_CHUNK = 1 << 20  # bytes, and rows

Mark = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Files:
    """Files, as they were when the table was opened."""

    paths: tuple[Path, ...]
    marks: tuple[Mark, ...]
    settings: str = ""
    """How they are read, where that was said: the same bytes are another table otherwise."""

    @classmethod
    def of(cls, paths: Iterable[Path], settings: str = "") -> "Files":
        """Note how files are now; their bytes are hashed when a charge needs it."""
        every = tuple(paths)
        return cls(every, tuple(map(_mark, every)), settings)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table in memory, which nobody changes."""

    table: pa.Table


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A database, Spark or a dataset: read anew by each query, wherever it is."""

    relation: str | None = None


OneOrigin = Files | Frame | Elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class BothPeriods:
    """Two periods that are linked: what each was opened from."""

    this: OneOrigin
    last: OneOrigin

    @property
    def sides(self) -> tuple[OneOrigin, OneOrigin]:
        """This period, and the last."""
        return self.this, self.last


Origin = OneOrigin | BothPeriods
"""What a table was opened from."""


def check_name(origin: Origin, name: str | None) -> None:
    """Refuse a name where the bytes tell, and none where they do not."""
    match origin:
        case BothPeriods(this, last):
            unnamed = [each for each in (this, last) if isinstance(each, Elsewhere)]
            for each in unnamed or (this, last):
                check_name(each, name)
        case Files() if name is not None:
            raise InputError(
                "a snapshot is named, and the table is read from files, which are known by their "
                "bytes; leave snapshot= out."
            )
        case Elsewhere() if name is None:
            raise InputError(
                "the table is in a database, in Spark or in a dataset, where nothing tells one "
                'state of the data from another; name it, such as snapshot="2026-11-01", and give '
                "another name when the data changes."
            )


def snapshot_of(origin: Origin, name: str | None, secret: bytes) -> str:
    """Return which state of the data this is; files and frames are read as a whole.

    >>> one, other = pa.table({"emp": [12, 7]}), pa.table({"emp": [12, 8]})
    >>> found = snapshot_of(Frame(one), None, b"key")
    >>> found[:9], found == snapshot_of(Frame(other), None, b"key")
    ('hmac:bef1', False)
    >>> snapshot_of(Elsewhere("farms"), "2026-11", b"key")
    '2026-11 of farms'
    """
    check_name(origin, name)
    match origin:
        case Files(paths):
            check_unchanged(origin)
            digests = [(path, keyed(path, secret)) for path in paths]
            found = of_files(digests, secret, origin.settings)
            check_unchanged(origin)
            return found
        case Frame(table) if name is None:
            return _of_frame(table, secret)
        case BothPeriods() if name is None or any(isinstance(each, Files) for each in origin.sides):
            # A name stands for what has no bytes, and never for a file beside it.
            names = [name if isinstance(each, Elsewhere) else None for each in origin.sides]
            this, last = map(snapshot_of, origin.sides, names, (secret, secret))
            return of_both(this, last, secret)
        case BothPeriods():
            return named(name)
        case Frame() | Elsewhere():
            return named(name, origin.relation if isinstance(origin, Elsewhere) else None)


def check_unchanged(origin: Origin) -> None:
    """Refuse files that were written to since the table was opened; nothing else is looked at."""
    if isinstance(origin, BothPeriods):
        for each in origin.sides:
            check_unchanged(each)
        return
    if isinstance(origin, Files) and tuple(map(_mark, origin.paths)) != origin.marks:
        raise SourceError(
            f"the file {str(origin.paths[0])!r}, or another of the source, was changed since the "
            "table was opened. Open the table again; charges on changed data count as those of "
            "another snapshot."
        )


def named(name: object, relation: str | None = None) -> str:
    """Return the snapshot that its owner names; two tables of one database are never one."""
    if not isinstance(name, str) or not name or not name.isprintable() or name.startswith(KEYED):
        raise InputError(
            f"the snapshot is {name!r}; expected printable text that does not begin with "
            f'{KEYED!r}, such as "2026-11-01".'
        )
    return name if relation is None else f"{name} of {relation}"


def of_files(digests: Iterable[tuple[Path, bytes]], secret: bytes, settings: str = "") -> str:
    """Return the snapshot of files from the keyed hash of each: what they hold, not their names.

    The ending counts, because the same bytes are another table as CSV and as TSV; so do the
    settings that they are read by.
    """
    mixed = hmac.new(secret, framed(b"perrecord snapshot of files"), sha256)
    if settings:
        mixed.update(framed(b"read by settings") + framed(settings.encode()))
    for ending, each in sorted((_ending(path), each) for path, each in digests):
        mixed.update(framed(ending.encode()) + framed(each))
    return KEYED + mixed.hexdigest()


def of_both(this: str, last: str, secret: bytes) -> str:
    """Return the snapshot of two linked periods: another one if they change places."""
    mixed = hmac.new(secret, framed(b"perrecord snapshot of two periods"), sha256)
    for each in (this, last):
        mixed.update(framed(each.encode()))
    return KEYED + mixed.hexdigest()


def keyed(path: Path, secret: bytes, share: Progress = nobody) -> bytes:
    """Return the keyed hash of a file; `share` is told how much of it was read."""
    mixed, done = hmac.new(secret, digestmod=sha256), 0
    try:
        with path.open("rb") as file:
            size = path.stat().st_size or 1
            while chunk := file.read(_CHUNK):
                mixed.update(chunk)
                done += len(chunk)
                share(done / size)
    except OSError:
        raise SourceError(
            f"the file {str(path)!r} could not be read; check that it is there, and a file."
        ) from None
    return mixed.digest()


def framed(part: bytes) -> bytes:
    """Return a part with its length in front, so that no two lists of parts look alike."""
    return len(part).to_bytes(8, "big") + part


def _mark(path: Path) -> Mark:
    """Return what changes whenever somebody writes to a file or puts another in its place."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _ending(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]


def _of_frame(table: pa.Table, secret: bytes) -> str:
    """Return the snapshot of a table in memory, however it is cut into chunks."""
    mixed = hmac.new(secret, framed(b"perrecord snapshot of a frame"), sha256)
    mixed.update(table.num_rows.to_bytes(8, "big"))
    for field, column in zip(table.schema, table.columns, strict=True):
        mixed.update(framed(field.name.encode()) + framed(str(field.type).encode()))
        for start in range(0, table.num_rows, _CHUNK):
            for part in _parts(column.slice(start, _CHUNK)):
                mixed.update(framed(part))
    return KEYED + mixed.hexdigest()


def _parts(column: pa.ChunkedArray) -> Iterator[bytes]:
    """Yield the bytes of a column: which rows are null, and the values with zeros for nulls."""
    if pa.types.is_dictionary(column.type):
        column = _decoded(column)
    valid = pc.is_valid(column).to_numpy()
    yield np.packbits(valid).tobytes()
    kind = column.type
    if pa.types.is_boolean(kind):
        yield np.packbits(pc.fill_null(column, False).to_numpy()).tobytes()
    elif _is_text(kind):
        texts = column if pa.types.is_large_binary(kind) else column.cast(pa.large_string())
        yield from _texts(pa.concat_arrays(pc.fill_null(texts.cast(pa.large_binary()), b"").chunks))
    elif pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        yield _fixed(pa.concat_arrays(column.chunks), valid, kind.bit_width // 8)
    else:  # what no query can read: lists, structures, bytes
        yield repr(column.to_pylist()).encode()


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with its values in place; Arrow cannot do that for views of text."""
    kind = column.type.value_type
    if kind != pa.string_view():
        return column.cast(kind)
    values = [each.dictionary.cast(pa.large_string()).take(each.indices) for each in column.chunks]
    return pa.chunked_array(values, pa.large_string())


def _is_text(kind: pa.DataType) -> bool:
    return any(kind == each for each in (pa.string(), pa.large_string(), pa.string_view()))


def _texts(array: pa.Array) -> Iterator[bytes]:
    """Yield the lengths of texts, and the texts one after the other; there are no nulls."""
    _, offsets, texts = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    yield np.diff(ends).tobytes()
    yield texts.slice(ends[0], ends[-1] - ends[0]).to_pybytes() if texts else b""


def _fixed(array: pa.Array, valid: Any, width: int) -> bytes:
    """Return the values of a column of one width, with zeros where there are none."""
    buffer, start = array.buffers()[1], array.offset * width
    rows = np.frombuffer(buffer, np.uint8)[start : start + len(array) * width].reshape(-1, width)
    if array.null_count:
        rows = np.where(valid[:, None], rows, np.uint8(0))
    return rows.tobytes()
