"""Files as a source: found, checked and opened before any query.

Nothing is inferred from the records. Parquet and statistical packages say their own types; every
column of a CSV file or a sheet is text.
"""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.errors import SourceError, listing
from perrecord.tables.columns import checked_names
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database, spellings
from perrecord.tables.reading import PACKED, ColumnUse, File
from perrecord.tables.statistical import load_statistical
from perrecord.tables.text_files import check_header_names, load_text
from perrecord.tables.workbooks import check_sheet_names, load_sheet

EXPECTED = 'give the path of a Parquet or CSV file, such as "farms.parquet" or "farms/*.csv"'

Format = Literal["Parquet", "CSV", "TSV", "SAS", "SAS transport", "Stata", "SPSS", "Excel"]
_FORMATS: dict[str, Format] = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    **{f".csv{packed}": "CSV" for packed in ("", *PACKED)},
    **{f".tsv{packed}": "TSV" for packed in ("", *PACKED)},
    ".sas7bdat": "SAS",
    ".xpt": "SAS transport",
    ".dta": "Stata",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
}
_ADVICE = {
    ".xls": "save it as .xlsx",
    ".xlsb": "save it as .xlsx",
    ".ods": "save it as .xlsx",
    ".por": "save it as .sav",
    ".zip": "unpack it",
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


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """What is known of files once a database knows them by a name."""

    read_again: tuple[Path, ...] = ()
    """The files that queries will read."""
    is_text: bool = False
    """Whether every column is text because the format has no types."""
    columns: dict[str, pa.DataType] | None = None
    """Every column with its type, where not every one was loaded."""


def open_files(
    database: Database, files: Sequence[Path], name: str, reading: File, use: ColumnUse | None
) -> LoadedFiles:
    """Make the files known to the database as one table.

    `use` says which columns are read, and as what; where nobody knows yet, none of a sheet or of a
    statistical package's file.
    """
    formats = sorted({format_of(path) for path in files})
    if len(formats) > 1:
        raise SourceError(f"the files are of {listing(formats)}; expected one format for all.")
    match formats[0]:
        case "Parquet":
            reading.check_only((), "a Parquet file")
            _open_parquet(database, files, name)
            return LoadedFiles(tuple(files))
        case "CSV" | "TSV":
            load_text(database, files, name, reading, use or ColumnUse())
            return LoadedFiles(is_text=True)
        case "Excel":
            columns = load_sheet(database, files, name, reading, use)
            return LoadedFiles(is_text=True, columns=columns)
        case _:
            columns = load_statistical(database, files, name, reading, use)
            return LoadedFiles(columns=columns)


def check_names(reading: File) -> None:
    """Refuse text files and sheets whose first line looks like a record; it is not quoted."""
    path = find_files(reading.path)[0]
    match format_of(path):
        case "CSV" | "TSV":
            check_header_names(path, reading)
        case "Excel":
            check_sheet_names(path, reading)


def format_of(path: Path) -> Format:
    """Return the format of a file by its name."""
    name = path.name.lower()
    for suffix, kind in _FORMATS.items():
        if name.endswith(suffix):
            return kind
    advice = [each for ending, each in _ADVICE.items() if name.endswith(ending)]
    raise SourceError(
        f"the file {path.name!r} ends in none of {listing(_FORMATS, limit=30)}; "
        f"{advice[0] if advice else 'rename or convert it'}."
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
        f"the Parquet {_files(files)} could not be opened; replace what is damaged.",
    )


def _parquet_schema(path: Path) -> pq.ParquetSchema:
    with pq.ParquetFile(path) as file:
        file.schema_arrow  # noqa: B018 -- fails here, at opening, on a type that nobody knows
        return file.schema


def _files(files: Sequence[Path]) -> str:
    return f"file {str(files[0])!r}" if len(files) == 1 else f"files like {str(files[0])!r}"
