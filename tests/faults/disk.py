"""A disk that keeps what was flushed and may lose anything else when the power goes.

The promises are those of POSIX and no more: a flushed file keeps its content, a flushed folder
keeps its names, and nothing else is sure. What was not flushed is lost or kept piece by piece:
sectors of files in any choice, names of folders in any choice. A name may be kept although the file
is empty or all zeros, and a file although its name is lost. Renaming within a folder is one step,
as every file system that keeps a journal has it. A flush of a file that failed has thrown away what
it could not write, and no later flush brings it back. Of names a later flush that works does: a
file system that keeps a journal either still has them to write, or takes nothing more. One without
a journal (FAT, ext2) may forget them as it forgets contents, and that is not tried here.
"""

import itertools
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from tests.faults.operations import Operation

SECTOR = 512


@dataclass(slots=True)
class File:
    """What a file holds, what it held for sure, and every change since: safe, unsafe, doubtful."""

    now: bytearray = field(default_factory=bytearray)
    base: bytes = b""
    since: list[tuple[Operation, str]] = field(default_factory=list)

    def flushed(self, worked: bool) -> None:
        """Note that the changes are safe now, or that nobody knows what became of them."""
        state = "safe" if worked else "doubtful"
        self.since = [(each, state if was == "unsafe" else was) for each, was in self.since]
        if all(was == "safe" for _, was in self.since):
            self.base, self.since = bytes(self.now), []


@dataclass(slots=True)
class Folder:
    """The names in a folder, those that it had for sure, and every change since."""

    now: dict[str, int] = field(default_factory=dict)
    base: dict[str, int] = field(default_factory=dict)
    since: list[Mapping[str, int | None]] = field(default_factory=list)

    def flushed(self, worked: bool) -> None:
        """Note that the changes are safe now, or wait for another flush."""
        if worked:
            self.base, self.since = dict(self.now), []


@dataclass(frozen=True, slots=True)
class Loss:
    """What is kept of all that was not flushed: shares of names, contents and sectors."""

    names: float
    contents: float
    sectors: float = 1.0
    instead: str = ""  # of sectors that are lost at the end of a file: "garbage" or "zeros"


class Disk:
    """Files and folders by number, the root being 0; a path leads through the names as they are."""

    def __init__(self, folder: Path) -> None:
        self.nodes: dict[int, File | Folder] = {0: Folder()}
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                self._add(name, Folder())
            else:
                self._add(name, File(bytearray(path.read_bytes()), path.read_bytes()))
        for node in self.nodes.values():  # what was there in the beginning is safe
            if isinstance(node, Folder):
                node.base, node.since = dict(node.now), []

    # -- what happens -----------------------------------------------------------------------

    def do(self, operation: Operation) -> None:
        """Change what is there as one operation of a log did."""
        match operation.kind:
            case "create":
                if self._find(operation.path) is None:
                    self._add(operation.path, File())
            case "make folder":
                self._add(operation.path, Folder())
            case "write" | "truncate":
                file = self._file(operation.path)
                _change(file.now, operation)
                file.since.append((operation, "unsafe"))
            case "flush":
                self._flush(operation)
            case "remove":
                self._rename({operation.path: None})
            case "link":
                self._rename({operation.other: self._find(operation.path)})
            case "move":
                there = self._find(operation.path)
                self._rename({operation.path: None, operation.other: there})

    def content(self, path: str) -> bytes:
        """Return what a file holds now."""
        return bytes(self._file(path).now)

    def contents(self, folder: str) -> dict[str, bytes]:
        """Return every file below a folder as somebody sees it now; none if it is not there."""
        number = self._find(folder)
        found: dict[str, bytes] = {}
        if number is not None:
            self._collect(number, "", found)
        return found

    def _collect(self, number: int, path: str, found: dict[str, bytes]) -> None:
        node = self.nodes[number]
        if isinstance(node, File):
            found[path] = bytes(node.now)
            return
        for name, each in node.now.items():
            self._collect(each, f"{path}/{name}" if path else name, found)

    def _flush(self, operation: Operation) -> None:
        number = self._find(operation.path)
        if number is None:
            return  # it has been removed meanwhile
        self.nodes[number].flushed(operation.worked)

    def _add(self, path: str, node: File | Folder) -> None:
        number = len(self.nodes)
        self.nodes[number] = node
        self._rename({path: number})

    def _rename(self, names: Mapping[str, int | None]) -> None:
        """Change names; all that are in one folder change in one step."""
        steps: dict[int, dict[str, int | None]] = {}
        for path, number in names.items():
            place = PurePosixPath(path)
            steps.setdefault(self._folder(place.parent.as_posix()), {})[place.name] = number
        for folder, step in steps.items():
            node = self.nodes[folder]
            assert isinstance(node, Folder)
            _apply(node.now, step)
            node.since.append(step)

    def _find(self, path: str) -> int | None:
        number: int | None = 0
        for name in PurePosixPath(path).parts:
            node = self.nodes[number] if number is not None else None
            number = node.now.get(name) if isinstance(node, Folder) else None
        return number

    def _folder(self, path: str) -> int:
        number = self._find(path)
        assert number is not None, f"the log names a folder that is not there: {path}"
        return number

    def _file(self, path: str) -> File:
        node = self.nodes[self._folder(path)]
        assert isinstance(node, File)
        return node

    # -- when the power goes ----------------------------------------------------------------

    def survivors(self, loss: Loss, chance: random.Random) -> "Survivors":
        """Return what is left after a loss of power."""
        kept: dict[int, bytes | dict[str, int]] = {}
        for number, node in self.nodes.items():
            if isinstance(node, Folder):
                names = dict(node.base)
                for step in node.since:
                    if chance.random() < loss.names:
                        _apply(names, step)
                kept[number] = names
            else:
                kept[number] = _left_of(node, loss, chance)
        return Survivors(kept)


@dataclass(frozen=True, slots=True)
class Survivors:
    """What a disk holds after a loss of power."""

    nodes: Mapping[int, bytes | Mapping[str, int]]

    def paths(self) -> dict[str, int]:
        """Return every path that can be reached, with the number of its file or folder."""
        found: dict[str, int] = {}
        self._reach(0, "", found)
        return found

    def digest(self) -> str:
        """Return a hash of all that can be reached."""
        mixed = sha256()
        for path, number in self.paths().items():
            node = self.nodes[number]
            mixed.update(repr((path, number, node if isinstance(node, bytes) else "")).encode())
        return mixed.hexdigest()

    def write_out(self, folder: Path) -> None:
        """Write what survived into a new folder; a file with two names has them."""
        folder.mkdir()
        written: dict[int, Path] = {}
        for name, number in self.paths().items():
            path, node = folder / name, self.nodes[number]
            if not isinstance(node, bytes):
                path.mkdir(mode=0o700)
            elif number in written:
                os.link(written[number], path)
            else:
                path.write_bytes(node)
                path.chmod(0o600)
                written[number] = path

    def _reach(self, number: int, path: str, found: dict[str, int]) -> None:
        node = self.nodes[number]
        if path:
            found[path] = number
        if not isinstance(node, bytes):
            for name, each in node.items():
                self._reach(each, f"{path}/{name}" if path else name, found)


def _left_of(file: File, loss: Loss, chance: random.Random) -> bytes:
    left = bytearray(file.base)
    share = loss.sectors if chance.random() < loss.contents else 0.0
    shares = {"safe": 1.0, "unsafe": share, "doubtful": share / 2}
    for each, state in file.since:
        for part in (each,) if each.kind == "truncate" else _sectors(each):
            if chance.random() < shares[state]:
                _change(left, part)
            elif loss.instead and part.kind == "write" and part.position >= len(left):
                size = len(part.data)
                data = chance.randbytes(size) if loss.instead == "garbage" else bytes(size)
                _change(left, replace(part, data=data))
    return bytes(left)


def _sectors(write: Operation) -> list[Operation]:
    """Return a write as writes of one sector each."""
    end = write.position + len(write.data)
    edges = [write.position, *range((write.position // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return [
        replace(
            write, position=start, data=write.data[start - write.position : stop - write.position]
        )
        for start, stop in itertools.pairwise(edges)
    ]


def _change(content: bytearray, operation: Operation) -> None:
    end = operation.position + len(operation.data)
    if operation.kind == "truncate":
        del content[operation.position :]
        content.extend(bytes(operation.position - len(content)))
        return
    content.extend(bytes(max(0, end - len(content))))
    content[operation.position : end] = operation.data


def _apply(names: dict[str, int], step: Mapping[str, int | None]) -> None:
    for name, number in step.items():
        if number is None:
            names.pop(name, None)
        else:
            names[name] = number
