"""The bytes of text files: unpacked, but not without end, and as UTF-8 whatever they were."""

import codecs
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.reading import PACKED, UTF_8

_MOST_TIMES, _ALWAYS = 250, 100_000_000
"""A file may unpack to so many times its size, and to so many bytes in any case."""
_PIECE = 1 << 20


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Give the bytes of a file, unpacked if it is packed; a file that grows without end is refused.

    The limit is beyond what tables of numbers and codes reach.
    """
    if path.suffix not in PACKED:
        with path.open("rb") as plain:
            yield plain
        return
    opened: Any
    if path.suffix == ".gz":
        opened = gzip.open(path)  # noqa: SIM115 -- closed below
    else:
        opened = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    with opened:
        most = max(_ALWAYS, _MOST_TIMES * path.stat().st_size)
        yield cast("IO[bytes]", _Bounded(opened, path, most))


class _Bounded:
    """A stream that is refused once it has given more than it may."""

    def __init__(self, stream: Any, path: Path, most: int) -> None:
        self._stream, self._path, self._most = stream, path, most
        self._given, self._rest = 0, b""

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer at the end; all that are left if no size is given."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        found, self._rest = self._rest[:size], self._rest[size:]
        if len(found) < size:
            new = bytes(self._stream.read(size - len(found)))
            self._given += len(new)
            found += new
        if self._given > self._most:
            raise SourceError(
                f"the file {self._path.name!r} unpacks to more than {_MOST_TIMES} times its size, "
                "as archives do that are made to fill a disk. If it is sound, unpack it yourself, "
                "and give the file that comes out."
            )
        return found

    def give_back(self, begun: bytes) -> None:
        """Put bytes back that the next reader is to find."""
        self._rest = begun + self._rest

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while piece := self.read(_PIECE):
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line + b"\n" for line in lines)
        if rest:
            yield rest


@contextmanager
def after_mark(path: Path, mark: bytes) -> Iterator[IO[bytes]]:
    """Give the bytes of a file after its byte order mark, if it has one."""
    with unpacked(path) as file:
        begun = file.read(len(mark))
        if begun != mark:
            if isinstance(file, _Bounded):
                file.give_back(begun)
            else:
                file.seek(0)
        yield file


def as_utf_8(path: Path, encoding: str, folder: str, place: int) -> Path:
    """Return a file whose text is UTF-8 and that DuckDB can open: itself, or a copy in a folder.

    The copy is of the private folder that goes with its database.
    """
    if encoding == UTF_8 and path.suffix != ".zst":
        return path
    copy = Path(folder) / f"text{place}.csv"
    sealed(
        f"the file {str(path)!r} could not be read as {encoding}: it is cut short, or its text is "
        "in another encoding. Give the encoding that it was written in, such as encoding: "
        "windows-1252, or write it again.",
        lambda: _write(path, encoding, copy),
    )
    return copy


def _write(path: Path, encoding: str, copy: Path) -> None:
    with unpacked(path) as file, copy.open("wb") as out:
        if encoding == UTF_8:
            while piece := file.read(_PIECE):
                out.write(piece)
            return
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        while piece := file.read(_PIECE):
            out.write(decoder.decode(piece).encode())
        out.write(decoder.decode(b"", final=True).encode())
