"""Published files: opened whatever they are packed in, their columns found by name."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from perrecord.errors import InputError, SourceError, listing, suggestion

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Give a file to read bytes from, unpacked if it is gzip, whatever its name ends with."""
    try:
        with Path(path).open("rb") as packed:
            start = packed.read(2)
            packed.seek(0)
            if start != _GZIP:
                yield packed
                return
            with gzip.open(packed) as unpacked:
                yield unpacked  # type: ignore[misc]  # a GzipFile reads bytes
    except (FileNotFoundError, IsADirectoryError) as error:
        raise SourceError(f"there is no file {str(path)!r}.") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(
            f"the file {str(path)!r} is cut off or damaged; download it again."
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"the file {str(path)!r} is not text in UTF-8; expected a CSV file, plain or gzip."
        ) from error


def read_columns(
    source: str | Path | pa.Table,
    named: Mapping[str, str | None],
    known: Mapping[str, Sequence[str]],
    *,
    optional: Sequence[str] = (),
    extra: Mapping[str, Sequence[str]] | None = None,
) -> tuple[pa.Table, dict[str, str]]:
    """Return the columns that are needed under the names of their roles, and what they are called.

    `named` gives the column of a role, or None; then the first of the names that are `known` is
    taken. Roles that are `optional` or `extra` may be missing. Columns of a CSV file are text.
    """
    name = "the table" if isinstance(source, pa.Table) else f"the file {str(source)!r}"
    heads = _heads(source, name)
    found = {}
    for role, names in {**known, **(extra or {})}.items():
        column = _found(name, heads, role, named.get(role), names)
        if column is not None:
            found[role] = column
        elif role not in optional and role in known:
            raise InputError(
                f"{name} has no column for the {role}; expected one called "
                f"{listing(names)}. Its columns are {listing(heads, limit=30)}: "
                f"say which it is with {role}= (--{role})."
            )
    table = _columns(source, name, list(dict.fromkeys(found.values())))
    return pa.table({role: table[column] for role, column in found.items()}), found


def _found(
    name: str, heads: Sequence[str], role: str, wanted: str | None, known: Sequence[str]
) -> str | None:
    plain = {head.casefold(): head for head in reversed(heads)}
    if wanted is None:
        return next((plain[each] for each in known if each in plain), None)
    if wanted in heads or wanted.casefold() in plain:
        return wanted if wanted in heads else plain[wanted.casefold()]
    raise InputError(
        f"{name} has no column {wanted!r} for the {role}. Its columns are "
        f"{listing(heads, limit=30)}.{suggestion(wanted, heads)}"
    )


def _is_parquet(path: str | Path) -> bool:
    with opened(path) as file:
        return file.read(len(_PARQUET)) == _PARQUET


def _heads(source: str | Path | pa.Table, name: str) -> list[str]:
    if isinstance(source, pa.Table):
        return list(source.column_names)
    if _is_parquet(source):
        try:
            return list(pq.read_schema(source).names)
        except pa.ArrowInvalid as error:
            raise SourceError(
                f"{name} is not a complete Parquet file; download it again."
            ) from error
    with opened(source) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        heads = next(csv.reader(text), [])
        text.detach()
    if not heads:
        raise SourceError(f"{name} is empty; expected a Parquet file, or a CSV file with a header.")
    return [head.strip() for head in heads]


def _columns(source: str | Path | pa.Table, name: str, columns: list[str]) -> pa.Table:
    if isinstance(source, pa.Table):
        return source.select(columns)
    try:
        if _is_parquet(source):
            return pq.read_table(source, columns=columns)
        heads = _heads(source, name)
        options = pacsv.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
        )
        with opened(source) as file:
            return pacsv.read_csv(
                file, pacsv.ReadOptions(column_names=heads, skip_rows=1), convert_options=options
            )
    except pa.ArrowInvalid as error:
        raise SourceError(
            f"{name} cannot be read to its end; expected as many fields in every row as in the "
            "header of a CSV file, or a complete Parquet file."
        ) from error
