"""Canaries: a random value in every confidential cell, and the search for any of them in bytes.

Text is found by any eight of its letters in a row, in either case. A number is found by its first
digits, with or without separators: eight of them in what a command says, ten in a file, all in a
published one, because a total of one record shows its first digits by design. A false alarm would
take ten random digits that are one of about a hundred numbers, 10^-8 for each long number written.
"""

import io
import re
import struct
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

LETTERS = "bcdfghjklmnpqrstvwxz"  # no word of any message is made of these alone
WINDOW = 8  # letters in a row
SAID, WRITTEN, PUBLISHED = 8, 10, 15  # digits that are looked for

_LETTERS = re.compile(rb"(?i)[%s]{%d,}" % (LETTERS.encode(), WINDOW))
_DIGITS = re.compile(rb"(?<![0-9])[1-9](?:[,._' ]?[0-9]){7,}")
_SCIENTIFIC = re.compile(rb"[1-9]\.[0-9]+e\+?[0-9]+", re.IGNORECASE)


@dataclass(slots=True)
class Canaries:
    """The canaries of one case: each is given out once, and all are looked for afterwards."""

    random: Random
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    phrases: list[bytes] = field(default_factory=list)

    def text(self) -> str:
        """Return text of fourteen random letters."""
        self.texts.append("".join(self.random.choices(LETTERS, k=14)))
        return self.texts[-1]

    def number(self) -> int:
        """Return a whole number of fifteen random digits."""
        return self.holds(self.random.randrange(10**14, 10**15))

    def holds(self, number: int) -> int:
        """Note the number that a cell really holds, and return it."""
        self.numbers.append(number)
        return number

    def phrase(self, written: str | bytes) -> None:
        """Note a form of a cell that follows from its number in another way."""
        self.phrases.append(written.encode() if isinstance(written, str) else written)

    def __len__(self) -> int:
        return len(self.texts) + len(self.numbers)


@dataclass(frozen=True)
class Forms:
    """The forms in which canaries are looked for."""

    canaries: Canaries

    @cached_property
    def windows(self) -> frozenset[bytes]:
        """Any eight letters in a row of a text."""
        every = (each.encode() for each in self.canaries.texts)
        return frozenset(window for each in every for window in _windows(each))

    @cached_property
    def digits(self) -> dict[int, frozenset[bytes]]:
        """The first digits of every number."""
        written = [str(abs(each)).encode() for each in self.canaries.numbers]
        return {
            SAID: frozenset(each[:SAID] for each in written),
            WRITTEN: frozenset(each[:WRITTEN] for each in written),
            PUBLISHED: frozenset(written),
        }

    @cached_property
    def scientific(self) -> frozenset[bytes]:
        """Every number rounded to six to ten digits, as %g writes it."""
        return frozenset(
            f"{abs(each):.{digits}g}".encode()
            for each in self.canaries.numbers
            for digits in range(6, 11)
        )

    @cached_property
    def coded(self) -> tuple[bytes, ...]:
        """Every canary in binary, in hexadecimal digits, in base64, and the phrases."""
        found = list(self.canaries.phrases)
        for text in self.canaries.texts:
            found += [text.encode().hex().encode(), *_base64(text.encode())]
        for number in self.canaries.numbers:
            found += _binary(number)
        return tuple(found)

    @cached_property
    def ascii(self) -> tuple[bytes, ...]:
        """Those of them that can stand in plain text."""
        return tuple(each for each in self.coded if each.isascii())


def _windows(text: bytes) -> set[bytes]:
    return {text[n : n + WINDOW] for n in range(len(text) - WINDOW + 1)}


def _base64(text: bytes) -> Iterator[bytes]:
    """Yield the signs that text becomes wherever in the bytes it stands."""
    for before in range(3):
        inner = text[-before % 3 :]
        yield b64encode(inner[: len(inner) // 3 * 3])


def _binary(number: int) -> Iterator[bytes]:
    """Yield a number, and the money of so many cents, as eight bytes."""
    yield f"{abs(number):x}".encode()
    for order in "<>":
        yield struct.pack(f"{order}{'q' if number < 2**63 else 'Q'}", number)
        yield struct.pack(f"{order}d", number)
        yield struct.pack(f"{order}d", number / 100)


@dataclass(frozen=True, slots=True)
class Search:
    """Where canaries were found, and how many bytes were looked through."""

    found: tuple[str, ...]
    size: int


def search(canaries: Canaries, places: Iterable[tuple[str, bytes, int]]) -> Search:
    """Look for every canary in named pieces of bytes, each with how many digits are too many."""
    forms = Forms(canaries)
    found, size, clean = [], 0, set()
    for name, content, digits in places:
        size += len(content)
        seen = (sha256(content).digest(), digits)  # a release is kept twice
        if seen in clean:
            continue
        canary = _first(forms, content, digits)
        if canary is None and b"\0" in content:
            canary = _first(forms, content.replace(b"\0", b""), digits)  # UTF-16, of either order
        if canary is not None:
            found.append(f"{canary} in {name}")
        else:
            clean.add(seen)
    return Search(tuple(found), size)


def _first(forms: Forms, content: bytes, digits: int) -> str | None:
    """Return a canary that stands in bytes, as it stands there."""
    for match in _LETTERS.finditer(content):
        run = match[0].lower()
        if len(set(run)) > 1 and not forms.windows.isdisjoint(_windows(run)):
            return run.decode()
    for match in _DIGITS.finditer(content):
        run = re.sub(rb"[^0-9]", b"", match[0])
        if _holds(forms.digits[digits], run, digits):
            return run.decode()
    for match in _SCIENTIFIC.finditer(content):
        if match[0].lower() in forms.scientific:
            return match[0].decode()
    for each in forms.ascii if content.isascii() else forms.coded:
        if each in content:
            return each.decode("latin-1")
    return None


def _holds(numbers: frozenset[bytes], run: bytes, digits: int) -> bool:
    """Return whether a run of digits begins with those of a canary, or with all of one."""
    if digits != PUBLISHED:
        return run[:digits] in numbers
    return any(run[:length] in numbers for length in (PUBLISHED, 20))


def files_below(
    folder: Path, *, apart_from: Iterable[str] = (), published: tuple[str, ...] = ()
) -> Iterator[tuple[str, bytes, int]]:
    """Yield every file below a folder, its name too, apart from those that hold the data.

    Parquet is compressed, so its rows are yielded as text too.
    """
    left_out = set(apart_from)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(name == each or name.startswith(f"{each}/") for each in left_out):
            continue
        yield f"the name of {name!r}", name.encode("utf-8", "surrogateescape"), WRITTEN
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            digits = PUBLISHED if name.startswith(published) else WRITTEN
            yield name, content, digits
            if name.endswith(".parquet"):
                yield name, _rows(content), digits


def _rows(content: bytes) -> bytes:
    """Return the cells of a Parquet file as text, or nothing if it is none."""
    with suppress(pa.ArrowException, OSError):
        columns = pq.read_table(io.BytesIO(content)).to_pydict()
        return repr(columns).encode("utf-8", "surrogatepass")
    return b""
