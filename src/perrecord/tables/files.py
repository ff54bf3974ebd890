"""Parquet and CSV files as a source: found, checked and opened before any query.

Nothing is inferred from the records. Parquet says its own types; every column of a CSV file is
text, and the whole file is parsed at opening, so that no later query can fail on a line of it.
"""

import csv
import glob
import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq

from perrecord.errors import SourceError, listing
from perrecord.tables import looks
from perrecord.tables.columns import checked_names
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database, spellings
from perrecord.tables.lines import lines_of

EXPECTED = 'give the path of a Parquet or CSV file, such as "farms.parquet" or "farms/*.csv"'
_LONGEST_LINE = 16_000_000  # bytes; DuckDB would set 16 times as much memory aside
_BUFFER = 2 * _LONGEST_LINE
_BEGINNING = 100_000  # bytes that are looked at for the encoding of a CSV file

Format = Literal["Parquet", "CSV", "TSV"]
_FORMATS: dict[str, Format] = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".csv.gz": "CSV",
    ".tsv": "TSV",
    ".tsv.gz": "TSV",
}


def find_files(pattern: str | Path) -> tuple[Path, ...]:
    """Return the files of a path or a glob as `matching_files` does; there is at least one."""
    if Path(pattern).expanduser().is_dir():
        raise SourceError(
            f"{str(pattern)!r} is a folder; name its files, such as "
            f"{str(Path(pattern) / '*.parquet')!r}."
        )
    files = matching_files(pattern)
    if not files:
        raise SourceError(f"there is no file {str(pattern)!r}; {EXPECTED}.")
    return files


def matching_files(pattern: str | Path) -> tuple[Path, ...]:
    """Return the files of a path or a glob: absolute, sorted, each once whatever its names.

    This alone decides which files a source is. A file that is met again by a link, or by another
    way to its folder, would hold every record twice, and a record's loss would be four times what
    its policy says.
    """
    return sealed(
        f"the files {str(pattern)!r} could not be listed; check the name, and that you may read "
        "the folder.",
        lambda: _matching(Path(pattern).expanduser()),
    )


def _matching(path: Path) -> tuple[Path, ...]:
    names = [str(path)] if path.is_file() else glob.glob(str(path), recursive=True)
    found: dict[tuple[int, int] | Path, Path] = {}
    for file in sorted(each.resolve() for each in map(Path, names) if each.is_file()):
        kept = file.stat()
        found.setdefault((kept.st_dev, kept.st_ino) if kept.st_ino else file, file)
    return tuple(found.values())


def open_files(database: Database, files: Sequence[Path], name: str) -> tuple[Path, ...]:
    """Make the files known to the database as one table; return those it will read again."""
    formats = sorted({_format_of(path) for path in files})
    if len(formats) > 1:
        raise SourceError(f"the files are of {listing(formats)}; expected one format for all.")
    if formats[0] == "Parquet":
        _open_parquet(database, files, name)
        return tuple(files)
    _load_csv(database, files, name, "\t" if formats[0] == "TSV" else ",")
    return ()


def _format_of(path: Path) -> Format:
    for suffix, kind in _FORMATS.items():
        if path.name.lower().endswith(suffix):
            return kind
    raise SourceError(
        f"the file {path.name!r} ends in none of {listing(_FORMATS)}; rename or convert it."
    )


def _open_parquet(database: Database, files: Sequence[Path], name: str) -> None:
    first: list[tuple[str, str, str]] | None = None
    for path in files:
        schema = sealed(
            f"the file {str(path)!r} could not be read as Parquet: it is empty, cut short, "
            "encrypted or of another format. Write it again.",
            lambda path=path: _parquet_schema(path),  # type: ignore[misc]
        )
        leaves = [
            (leaf.path, leaf.physical_type, str(leaf.logical_type))
            for leaf in (schema.column(place) for place in range(len(schema.names)))
        ]
        if first is None:
            first = leaves
            checked_names(schema.to_arrow_schema().names, f"the file {path.name!r}")
        elif leaves != first:
            differing = sorted({leaf[0] for leaf in set(leaves) ^ set(first)})
            raise SourceError(
                f"the files {files[0].name!r} and {path.name!r} differ in "
                f"{listing(differing) or 'the order of their columns'}; expected the same columns "
                "of the same types in every file."
            )
    paths = ", ".join(DUCKDB.literal(spellings(path)[-1]) for path in files)
    database.run(
        f"CREATE VIEW {DUCKDB.identifier(name)} AS FROM "
        f"read_parquet([{paths}], hive_partitioning = false, union_by_name = false)",
        f"the Parquet {_files(files)} could not be opened; write again what is damaged.",
    )


def _parquet_schema(path: Path) -> pq.ParquetSchema:
    with pq.ParquetFile(path) as file:
        file.schema_arrow  # noqa: B018 -- fails here, at opening, on a type that nobody knows
        return file.schema


def _load_csv(database: Database, files: Sequence[Path], name: str, delimiter: str) -> None:
    header = _header(files[0], delimiter)
    if "" not in header and (twice := _twice(header)):  # not quoted: it may be a record
        raise SourceError(
            f"the first line of {files[0].name!r} has names that differ at most in case, in "
            f"columns {listing(str(place) for place in twice)}. Rename all but one, as engines "
            "ignore case; if the line is a record, add a header line before it."
        )
    checked_names(header, f"the file {files[0].name!r}")
    columns = ", ".join(f"{DUCKDB.literal(column)}: 'VARCHAR'" for column in header)
    counted = 0
    for place, path in enumerate(files):
        if place and _header(path, delimiter) != header:
            raise SourceError(
                f"the first lines of {files[0].name!r} and {path.name!r} differ; expected the "
                "same column names in the same order in every file."
            )
        lines = lines_of(path, delimiter)
        read = (
            f"FROM read_csv({DUCKDB.literal(spellings(path)[-1])}, "
            f"columns = {{{columns}}}, auto_detect = false, header = true, "
            f"delim = {DUCKDB.literal(delimiter)}, quote = '\"', escape = '\"', comment = '', "
            "nullstr = '', allow_quoted_nulls = true, strict_mode = true, null_padding = false, "
            f"ignore_errors = false, hive_partitioning = false, max_line_size = {_LONGEST_LINE}, "
            # In parts, a line end that is in quotes may be taken for one that is not.
            f"buffer_size = {_BUFFER}, parallel = {not lines.has_breaks_in_quotes})"
        )
        table = DUCKDB.identifier(name)
        database.run(
            f"INSERT INTO {table} {read}" if place else f"CREATE TABLE {table} AS {read}",
            f"the file {str(path)!r} could not be read as CSV: a line has more or fewer fields "
            "than the first, a quote is not closed, line ends are mixed, a line is longer than "
            "16 MB, or the text is not UTF-8. Mend it or write it again.",
        )
        counted += lines.records(len(header))
        if database.table(f"SELECT count(*) FROM {table}").column(0)[0].as_py() != counted:
            raise SourceError(
                f"the file {str(path)!r} could not be read as CSV: its lines are not as many as "
                "the records that were found in it. Look for quotes that are not doubled inside "
                "quoted fields, or write it again."
            )


def check_names(pattern: str | Path) -> None:
    """Refuse CSV files whose first line looks like a record; the line is not quoted.

    A name that is empty, a number or given twice is a value, as likely as not. A table may have
    such names where somebody declares them; nobody is to be shown them unasked.
    """
    path = find_files(pattern)[0]
    kind = _format_of(path)
    if kind == "Parquet":
        return
    header = _header(path, "\t" if kind == "TSV" else ",")
    if any(_is_value(name) for name in header) or _twice(header):
        raise SourceError(
            f"the first line of {str(path)!r} has fields that are empty, numbers or given twice, "
            "and looks like a record; the first line of a CSV file must hold the names of its "
            "columns. Add a header line."
        )


def _is_value(name: str) -> bool:
    try:
        float(name.strip().replace(",", "") or 0)
    except ValueError:
        return False
    return True


def _twice(header: Sequence[str]) -> list[int]:
    """Return the places, from 1, of names that another one equals but for its case."""
    counted = Counter(name.casefold() for name in header)
    return [place for place, name in enumerate(header, 1) if counted[name.casefold()] > 1]


def _header(path: Path, delimiter: str) -> list[str]:
    unreadable = f"the first line of {str(path)!r} could not be read; expected column names."
    opened = gzip.open if path.suffix == ".gz" else open

    def begin() -> bytes:
        with opened(path, "rb") as file:
            return bytes(file.read(_BEGINNING))

    if fault := looks.of_first_bytes(path, sealed(unreadable, begin)):
        raise SourceError(fault)

    def read() -> list[str]:
        # Later lines may be no UTF-8; DuckDB will say so. Here only the first one matters.
        with opened(
            path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=""
        ) as lines:
            return next(csv.reader(lines, delimiter=delimiter, strict=True), [])

    header = sealed(unreadable, read)
    if not header:
        raise SourceError(
            f"the file {str(path)!r} is empty or begins with a blank line; expected column names "
            "in its first line."
        )
    if any("\udc80" <= character <= "\udcff" for name in header for character in name):
        raise SourceError(unreadable)
    if fault := looks.of_header(path, header, delimiter):
        raise SourceError(fault)
    return header


def _files(files: Sequence[Path]) -> str:
    return f"file {str(files[0])!r}" if len(files) == 1 else f"files like {str(files[0])!r}"
