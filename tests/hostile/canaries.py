"""Canaries: a random value in every confidential cell, and the search for any of them in bytes."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LETTERS = "bcdfghjklmnpqrstvwxz"  # no word of any message is made of these alone


@dataclass(slots=True)
class Canaries:
    """The canaries of one case: each is given out once, and all are looked for afterwards."""

    random: Random
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def text(self) -> str:
        """Return text of fourteen random letters."""
        self.texts.append("".join(self.random.choices(LETTERS, k=14)))
        return self.texts[-1]

    def number(self) -> int:
        """Return a whole number of fifteen random digits."""
        self.numbers.append(self.random.randrange(10**14, 10**15))
        return self.numbers[-1]

    def __len__(self) -> int:
        return len(self.texts) + len(self.numbers)

    def forms(self) -> Iterator[tuple[str, bytes]]:
        """Yield every canary in every form in which it is looked for."""
        for text in self.texts:
            for form in _text_forms(text):
                yield text, form
        for number in self.numbers:
            for form in _number_forms(number):
                yield str(number), form


def _text_forms(text: str) -> tuple[bytes, ...]:
    return (
        text.encode(),
        text.upper().encode(),
        text.encode("utf-16-le"),
        text.encode("utf-16-be"),
        text.encode().hex().encode(),
    )


def _number_forms(number: int) -> tuple[bytes, ...]:
    """Return a number as digits and in binary; the cents of money are the same digits."""
    digits = str(number)
    money = f"{digits[:-2]}.{digits[-2:]}"
    written = (
        digits,
        f"{number:,}",
        f"{digits[0]}.{digits[1:]}",  # 1.23456789012345e+14
        money,
        f"{int(digits[:-2]):,}.{digits[-2:]}",
        f"{number:x}",
    )
    return (
        *(each.encode() for each in written),
        digits.encode("utf-16-le"),
        digits.encode("utf-16-be"),
        struct.pack("<q", number),
        struct.pack(">q", number),
        struct.pack("<d", number),
        struct.pack(">d", number),
        struct.pack("<d", float(money)),
        struct.pack(">d", float(money)),
    )


@dataclass(frozen=True, slots=True)
class Search:
    """Where canaries were found, and how many bytes were looked through."""

    found: tuple[str, ...]
    size: int


def search(canaries: Canaries, places: Iterable[tuple[str, bytes]]) -> Search:
    """Look for every canary in every form in named pieces of bytes."""
    forms = list(canaries.forms())
    found, size = [], 0
    for name, content in places:
        size += len(content)
        for canary, form in forms:
            if form in content:
                found.append(f"{canary} in {name}")
                break
    return Search(tuple(found), size)


def files_below(folder: Path, *, apart_from: Iterable[str] = ()) -> Iterator[tuple[str, bytes]]:
    """Yield every file below a folder, its name too, apart from those that hold the data."""
    left_out = set(apart_from)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(name == each or name.startswith(f"{each}/") for each in left_out):
            continue
        yield f"the name of {name!r}", name.encode("utf-8", "surrogateescape")
        if path.is_file() and not path.is_symlink():
            yield name, path.read_bytes()
