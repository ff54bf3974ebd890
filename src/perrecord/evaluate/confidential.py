"""Where confidential results may be written: a folder for this user alone, marked as what it is."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.errors import InputError
from perrecord.mechanisms.write import write_csv
from perrecord.release.contents import MANIFEST
from perrecord.systems import CREATE_FLAGS, HAS_MODES

MARKER = "CONFIDENTIAL.txt"
HEADER = (
    "CONFIDENTIAL: computed from confidential records without any protection; "
    "do not publish or pass on."
)
FileFormat = Literal["csv", "parquet"]


@dataclass(frozen=True, slots=True)
class ConfidentialFolder:
    """A folder of results. What is public, because the input is, carries no marks."""

    path: Path
    is_public: bool

    def write(self, name: str, table: pa.Table, file_format: FileFormat = "csv") -> Path:
        """Write a table under a name, with the header on top; return its path.

        In CSV the header is the first line, after `# `; in Parquet it stands in the metadata of
        the file, under `confidential`.
        """
        if file_format not in ("csv", "parquet"):
            raise InputError(f"the format is {file_format!r}; expected 'csv' or 'parquet'.")
        path = self.place(name).with_name(f"{name}.{file_format}")
        with self._open(path) as file:
            if file_format == "parquet":
                with pq.ParquetWriter(
                    file, table.schema, compression="zstd", store_schema=False
                ) as writer:
                    writer.write_table(table)
                    if not self.is_public:
                        writer.add_key_value_metadata({"confidential": HEADER})
            else:
                if not self.is_public:
                    file.write(f"# {HEADER}\n".encode())
                write_csv(table, file)
        return path

    def write_bytes(self, name: str, content: bytes) -> Path:
        """Write a file under its whole name, as 'report.html'; return its path.

        It is there as a whole or not at all. Nothing is added: the content must carry the mark.
        """
        path = self.place(name)
        partial = path.with_name(f".{name}.partial")
        try:
            with self._open(partial) as file:
                file.write(content)
            return partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    def subfolder(self, name: str) -> "ConfidentialFolder":
        """Make or check a folder in this one, as private and marked as this is."""
        return confidential_folder(self.place(name), is_public=self.is_public)

    def place(self, name: str) -> Path:
        """Return the path of a name in this folder; a name with folders is refused."""
        if name in ("", "..") or Path(name).name != name:
            raise InputError(
                f"the name is {name!r}; expected one without folders, such as 'losses'."
            )
        return self.path / name

    def _open(self, path: Path) -> BinaryIO:
        return os.fdopen(os.open(path, _CREATE, 0o644 if self.is_public else 0o600), "wb")


_CREATE = os.O_WRONLY | os.O_TRUNC | CREATE_FLAGS


def confidential_folder(path: str | Path, *, is_public: bool = False) -> ConfidentialFolder:
    """Make or check a folder for confidential results: mode 0700, with a marker file in it.

    A folder that others may read, or that holds files without the marker, such as a release, is
    refused. Declare with `is_public=True` that the input is public or synthetic, and nothing is
    marked.
    """
    folder = Path(path)
    check_folder(folder, is_public=is_public)
    folder.mkdir(mode=0o755 if is_public else 0o700, parents=True, exist_ok=True)
    marker = folder / MARKER
    if not is_public and not marker.exists():
        with os.fdopen(os.open(marker, _CREATE, 0o600), "w") as file:
            file.write(f"{HEADER}\n")
    return ConfidentialFolder(folder, is_public=is_public)


def check_folder(path: str | Path, *, is_public: bool = False) -> None:
    """Refuse a folder that results cannot be written to; nothing is made, no file of it is read."""
    folder = Path(path)
    if not folder.exists():
        above = next(each for each in folder.absolute().parents if each.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"nothing can be written to {above}; give another folder.")
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; expected a folder, or a name for a new one.")
    if (folder / MANIFEST).exists():
        raise InputError(
            f"{folder} holds a release; results of other kinds go to a folder of their own. Give "
            "the name of a new one."
        )
    if is_public:
        if (folder / MARKER).exists():
            raise InputError(
                f"{folder} is marked as confidential; write public results to another folder."
            )
        return
    if not (folder / MARKER).exists() and any(folder.iterdir()):
        raise InputError(
            f"{folder} holds files and no {MARKER}; confidential results go to a folder of their "
            "own. Give the name of a new one."
        )
    mode = stat.S_IMODE(folder.stat().st_mode)
    if HAS_MODES and mode & 0o077:
        raise InputError(
            f"{folder} may be read by others (mode {mode:04o}); expected 0700. Type: chmod 700 "
            f"{folder}"
        )
