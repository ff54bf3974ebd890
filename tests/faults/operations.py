"""What a process did to the disk, read from strace's log with all of its data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.faults.victims import CALLS, VOICE

OPTIONS = ("-y", "-xx", "-s", "10000000", f"-etrace={','.join((*CALLS, VOICE))}")
"""How strace must run: paths beside descriptors, all text in hexadecimal, nothing cut short."""

_LINE = re.compile(r"(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?.*")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_DESCRIPTOR = re.compile(r"(\d+)<([^>]*)>")


@dataclass(frozen=True, slots=True)
class Operation:
    """One change: its kind, its path below the scene, and what it needs beside them."""

    kind: str
    path: str
    other: str = ""
    position: int = 0
    data: bytes = b""
    worked: bool = True


def operations(log: str, root: str) -> list[Operation]:
    """Return what a log did below a folder, and what it said through its pipe, in order."""
    return list(_Reading(PurePosixPath(root)).read(log))


class _Reading:
    """A walk through a log that follows the position of every open file."""

    def __init__(self, root: PurePosixPath) -> None:
        self.root = root
        self.positions: dict[int, int] = {}

    def read(self, log: str) -> Iterator[Operation]:
        """Yield the operations of a log."""
        for line in log.splitlines():
            matched = _LINE.fullmatch(line)
            if matched is None:  # killed in the middle of it, or the end of the process
                continue
            name, given, result, path = matched.groups()
            for each in self.operation(name, given, int(result), path):
                if each.kind == "say" or each.path:
                    yield each

    def operation(
        self, name: str, given: str, result: int, opened: str | None
    ) -> Iterator[Operation]:
        """Yield what one call did."""
        if result < 0 and name not in ("fsync", "fdatasync"):
            return
        texts = [_bytes(found) for found in _TEXT.findall(given)]
        descriptors = [(int(number), _bytes(path)) for number, path in _DESCRIPTOR.findall(given)]
        match name:
            case "openat":
                self.positions[result] = 0
                path = self.below(_bytes(opened or ""))
                if "O_CREAT" in given:
                    yield Operation("create", path)
                if "O_TRUNC" in given:
                    yield Operation("truncate", path)
            case "writev" if descriptors[0][1].startswith(b"pipe:"):
                yield Operation("say", "", data=texts[0][:result])
            case "write":
                number, path = descriptors[0]
                position = self.positions.get(number, 0)
                self.positions[number] = position + result
                yield Operation(
                    "write", self.below(path), position=position, data=texts[0][:result]
                )
            case "pwrite64":
                position = int(given.rpartition(",")[2])
                path = self.below(descriptors[0][1])
                yield Operation("write", path, position=position, data=texts[0][:result])
            case "ftruncate":
                size = int(given.rpartition(",")[2])
                yield Operation("truncate", self.below(descriptors[0][1]), position=size)
            case "fsync" | "fdatasync":
                yield Operation("flush", self.below(descriptors[0][1]), worked=result == 0)
            case "mkdir":
                yield Operation("make folder", self.below(texts[0]))
            case "rename":
                yield Operation("move", self.below(texts[0]), self.below(texts[1]))
            case "link":
                yield Operation("link", self.below(texts[0]), self.below(texts[1]))
            case "unlink" | "rmdir":
                yield Operation("remove", self.below(texts[0]))
            case "unlinkat":
                folder = descriptors[0][1] if descriptors else b"/"
                yield Operation("remove", self.below(folder + b"/" + texts[0]))
            case _:
                raise ValueError(f"a call that the model of a disk does not know: {name}")

    def below(self, path: bytes) -> str:
        """Return a path relative to the scene; nothing if it lies elsewhere."""
        whole = PurePosixPath(path.decode().removesuffix("(deleted)"))
        if self.root not in (whole, *whole.parents):
            return ""
        return whole.relative_to(self.root).as_posix()


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))
