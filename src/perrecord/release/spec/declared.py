"""What a spec says of the table: its source, columns, weights, and public tables beside it."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from perrecord.errors import InputError
from perrecord.release.spec.entry import SHOWN, Entry
from perrecord.release.spec.problems import found
from perrecord.release.spec.scalars import (
    Names,
    Positive,
    Text,
    TruthValue,
    Value,
    is_name,
    short,
)
from perrecord.tables.reading import File
from perrecord.tables.weights import Weight

READING = ("separator", "encoding", "decimal", "quote", "sheet")
"""What a source may say of how its files are read."""

Sign = Annotated[str, Field(min_length=1, max_length=4)]
"""One sign, which may be a tab."""


class TextFileEntry(Entry):
    """How a text file is read, where that must be said."""

    separator: Sign | None = None
    """What separates the fields of a text file, if it is not a comma, or a tab in .tsv."""
    encoding: Text | None = None
    """How text is encoded, if it is not UTF-8: windows-1252, latin-1, utf-16."""
    quote: Sign | None = None
    """What fields of a text file are quoted by, if not by ": a single quote, or none."""

    def read_by(self, path: str | Path) -> str | Path | File:
        """Return what is opened for a path: it, with what is said of its reading."""
        said = {name: getattr(self, name, None) for name in READING}
        given = {name: each for name, each in said.items() if each is not None}
        return File(path, **given) if given else path


class SourceEntry(TextFileEntry):
    """Where the confidential records are."""

    path: Text
    """The path or glob of files, or a database's address; relative to the spec."""
    last: Text | None = None
    """The files of the period before, linked by the id; records are then changes since then."""
    relation: Text | None = None
    """The table of the database at the address."""
    memory_limit: Annotated[Text | None, SHOWN] = None
    """The most memory that DuckDB takes, such as 4GB; the rest spills to disk."""
    spill_folder: Annotated[Text | None, SHOWN] = None
    """Where DuckDB spills to."""
    snapshot: Text | None = None
    """Which state of the data this is, in your words; it is published with the answers."""
    decimal: Sign | None = None
    """What stands before the decimals of measures in a text file, if it is not a point."""
    sheet: Text | None = None
    """The sheet of a workbook that has several."""


class DimensionEntry(Entry):
    """A column to filter and group by."""

    expression: Text | None = None
    """An expression over columns of a record; left out, the column of that name."""
    label: Annotated[Text | None, SHOWN] = None
    """What the published policy calls it."""
    values: Annotated[tuple[Value, ...] | None, SHOWN] = None
    """Its public values, offered on the policy page."""


class MeasureEntry(Entry):
    """A number of a record that is summed."""

    resolution: Positive = Fraction(1)
    """Each number is rounded to a multiple of it."""
    column: Text | None = None
    """The column, if it has another name than the measure."""
    expression: Text | None = None
    """Instead of a column: measures declared before it, such as hours * wage."""
    largest: Positive | None = None
    """The largest number that is read as it is."""
    outside: Literal["null", "cut"] = "null"
    """What becomes of larger numbers: none, or cut to the largest."""
    label: Annotated[Text | None, SHOWN] = None
    """What the published policy calls it."""
    unit: Annotated[Text | None, SHOWN] = None
    """What it is counted in, such as "$1,000"."""


class WeightEntry(Entry):
    """A survey's weight: a measure of its own, and one more, weighted_x, for each measure x."""

    column: Text
    """The column, and the name of the measure."""
    resolution: Positive = Fraction(1)
    """Each weight is rounded to a multiple of it."""
    largest: Positive
    """The largest weight that is read as it is; larger ones are cut to it."""
    calibrated: TruthValue = False
    """Whether weights were adjusted by means of other records; such weights are refused."""

    def weight(self) -> Weight:
        """Return the weight; one that depends on other records is refused (T36)."""
        return Weight(
            self.column, self.resolution, largest=self.largest, calibrated=self.calibrated
        )


def _on(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    is_list = isinstance(names, list) and all(isinstance(each, str) for each in names)
    return dict(zip(names, names, strict=True)) if is_list else names


class LookupEntry(TextFileEntry):
    """A public table that adds columns to records."""

    source: Text
    """The path of a Parquet or CSV file; relative to the spec."""
    on: Annotated[Mapping[str, Text], short(_on, str | list[str] | dict[str, str])] = Field(
        min_length=1
    )
    """The key: the record's column, and the lookup's."""
    columns: Names | None = None
    """The columns to add; left out, all but the key."""


class LabelsEntry(TextFileEntry):
    """A public code list: what the codes of a dimension are called."""

    file: Text
    """A Parquet or CSV file of codes and their names; relative to the spec."""
    code: Text | None = None
    """The column of codes; left out, the first of two."""
    label: Text | None = None
    """The column of names; left out, the second of two."""


def _file(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


LabelsForm = Annotated[LabelsEntry, short(_file, str | LabelsEntry)]


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _expression(value: Any) -> Any:
    if value is None:
        return {}
    return {"expression": value} if isinstance(value, str) else value


def _resolution(value: Any) -> Any:
    if isinstance(value, str) and is_name(value):
        raise InputError(
            f"expected the resolution, a number such as 1 or 0.01, found {found(value)}. If that "
            f"is the name of the column, write {{column: {value}}}."
        )
    return value if isinstance(value, Mapping) else {"resolution": value}


SourceForm = Annotated[SourceEntry, short(_path, str | SourceEntry)]
DimensionForm = Annotated[DimensionEntry, short(_expression, str | DimensionEntry | None)]
MeasureForm = Annotated[MeasureEntry, short(_resolution, float | int | str | MeasureEntry)]
