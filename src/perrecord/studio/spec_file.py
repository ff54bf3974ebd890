"""The spec file: read as it is, written as a whole, and never over what somebody else wrote."""

import os
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perrecord.errors import InputError

_BOM = b"\xef\xbb\xbf"


class ChangedMeanwhileError(InputError):
    """The file holds something else than what was expected; nothing was written."""


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A file that an editor may change at any time."""

    path: Path

    def read(self) -> str:
        """Return the text; a file that is not there, or is no text, is refused."""
        return _decoded(self._bytes())

    def version(self) -> str:
        """Return what tells one content from another; empty while there is no file."""
        try:
            return version_of(self.read())
        except InputError:
            return ""

    def write(self, text: str, *, before: str) -> None:
        """Put a text in the place of another, or refuse if the file holds something else by now.

        The new content appears as a whole. The file is compared once more right before it is
        replaced: an editor that saves in that instant, and no other, would be overwritten.
        """
        target = self.path.resolve()  # what a link points to is replaced, and not the link
        mark = _BOM if self._bytes().startswith(_BOM) else b""
        handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(mark + text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(partial).chmod(target.stat().st_mode & 0o7777)
            if self.read() != before:
                raise ChangedMeanwhileError(
                    f"{self.path.name} was changed by another program; nothing was written."
                )
            Path(partial).replace(target)
        finally:
            Path(partial).unlink(missing_ok=True)

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError:
            raise InputError(
                f"{self.path.name} could not be read. Restore it, and the page continues."
            ) from None


def version_of(text: str) -> str:
    """Return what tells a text from another."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            "the spec is not UTF-8; save it as UTF-8, and the page continues."
        ) from None
