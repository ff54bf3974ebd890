"""Published folders, read back by whoever has nothing else: files checked as they are read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from perrecord.errors import InputError
from perrecord.release import staging
from perrecord.release.contents import MANIFEST
from perrecord.release.names import LISTS, is_table_name

FITTED = "_consistent"
"""The ending of columns that add up over all tables."""

_PACKAGE = "datapackage.json"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of a release: its rows, and what its columns are by their names."""

    name: str
    rows: pa.Table
    about: "TableFields"

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns, in order."""
        return tuple(self.about.keys)

    @property
    def answers(self) -> "Mapping[str, NumberField]":
        """The columns that can be compared: answers, derived numbers, and consistent ones."""
        fitted = {
            f"{name}{FITTED}": each
            for name, each in self.about.answers.items()
            if f"{name}{FITTED}_se" in self.rows.column_names
        }
        return {**fitted, **self.about.answers}


@dataclass(frozen=True, slots=True)
class NumberField:
    """What a number of a table is: its definition and its unit, as far as they are given."""

    definition: str | None
    unit: str | None
    change_of: str | None = None
    """Of a change between two periods that can be added to levels, the definition of the level."""


@dataclass(frozen=True, slots=True)
class TableFields:
    """The columns of a table as its release describes them, and which records it is of."""

    keys: Mapping[str, str | None]
    """Each with its definition, if it is no plain column."""
    answers: Mapping[str, NumberField]
    filter: str | None
    title: str = ""
    note: str = ""
    """What whoever reads the table has to know."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What each column holds, in words."""
    units: Mapping[str, str] = field(default_factory=dict)
    """What the numbers of a column are counted in, where that is given: of errors and ends too."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """The code lists of key columns: names of resources."""


@dataclass(frozen=True, slots=True)
class MeasureRule:
    """How a measure counts: its resolution, how many steps at most, and what lies outside."""

    resolution: str
    largest: int
    outside: str


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """A release as it was published, its files checked as they are read."""

    path: Path
    title: str
    charge: str
    digests: Mapping[str, str]
    tables: Mapping[str, TableFields]
    description: str = ""
    licence: str = ""
    made_with: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> "ReleaseFolder":
        """Return what a folder says of itself; refuse one that is not as it was published."""
        try:
            manifest = json.loads((path / MANIFEST).read_bytes())
            digests = {name: each["sha256"] for name, each in manifest["files"].items()}
            title, charge = str(manifest["title"]), str(manifest["charge"])
            package = json.loads(_checked(path, _PACKAGE, digests))
            tables = {
                each["name"]: _described(each)
                for each in package["resources"]
                if each["format"] == "parquet" and not each["name"].startswith(LISTS)
            }
            licences = package.get("licenses") or [{}]
            said = (
                str(package.get("description") or ""),
                str(licences[0].get("name") or ""),
                str(manifest.get("made_with") or ""),
                tuple(str(each) for each in manifest.get("warnings") or ()),
            )
        except InputError:  # a ValueError too
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{str(path)!r} is not the folder of a release; expected one that perrecord "
                f"release published, with {MANIFEST} and {_PACKAGE}."
            ) from None
        _check_whole(path, digests)
        return cls(path, title, charge, digests, tables, *said)

    @property
    def period(self) -> tuple[str, tuple[str, ...]] | None:
        """Its period, and all of its ledger in their order; None in a ledger without periods."""
        series = json.loads(self.file("policy.json")).get("series")
        return None if series is None else (series["period"], tuple(series["periods"]))

    @property
    def rules(self) -> "dict[str, MeasureRule]":
        """How each measure of a record counts, as the policy says."""
        return {
            each["name"]: MeasureRule(each["resolution"], int(each["largest"]), each["outside"])
            for each in json.loads(self.file("policy.json"))["fields"]
            if each["kind"] == "measure"
        }

    def file(self, name: str) -> bytes:
        """Return the bytes of a file, or refuse one that is not what the release published."""
        return _checked(self.path, name, self.digests)

    def table(self, name: str) -> PublishedTable:
        """Return a table with its rows."""
        about = self.tables[name]
        rows = self._rows(f"tables/{name}.parquet", {*about.keys, *about.answers})
        return PublishedTable(name, rows, about)

    def labels(self, table: PublishedTable) -> dict[str, dict[Any, str]]:
        """Return the names of the codes of a table's keys, where the release publishes them."""
        found = {}
        for key, resource in table.about.lists.items():
            file = f"labels/{resource.removeprefix(LISTS)}.parquet"
            rows = self._rows(file, {key})
            codes = rows.column(key).to_pylist()
            for names in rows.drop_columns([key]).columns[:1]:
                found[key] = dict(zip(codes, names.to_pylist(), strict=True))
        return found

    def _rows(self, file: str, columns: set[str]) -> pa.Table:
        content = self.file(file)
        try:
            rows = pq.read_table(BytesIO(content))
        except pa.ArrowException:
            rows = pa.table({})
        missing = sorted(columns - {*rows.column_names})
        if missing:
            raise InputError(
                f"{str(self.path / file)!r} is not a Parquet file with the columns that "
                f"{_PACKAGE} lists, such as {missing[0]!r}; expected a folder as it was "
                "published."
            )
        return rows


def _described(resource: Mapping[str, Any]) -> TableFields:
    """Return what the columns of a table are; refuse what is no table's name."""
    if not is_table_name(resource["name"]):
        raise ValueError
    fields = resource["schema"]["fields"]
    return TableFields(
        {each["name"]: each.get("definition") for each in fields if each.get("role") == "key"},
        {
            each["name"]: NumberField(
                each.get("definition"), each.get("unit"), each.get("change_of")
            )
            for each in fields
            if each.get("role") in ("answer", "derived")
        },
        resource.get("filter"),
        str(resource.get("title") or resource["name"]),
        str(resource.get("description") or ""),
        {each["name"]: str(each.get("description") or "") for each in fields},
        {each["name"]: str(each["unit"]) for each in fields if each.get("unit")},
        {each["name"]: _list_name(each["labels"]) for each in fields if "labels" in each},
    )


def _list_name(resource: str) -> str:
    """Return the name of a code list; refuse what is none, or lies elsewhere."""
    if not resource.startswith(LISTS) or not is_table_name(resource.removeprefix(LISTS)):
        raise ValueError
    return resource


def _checked(folder: Path, name: str, digests: Mapping[str, str]) -> bytes:
    """Return the bytes of a file, or refuse one that is not what the release published."""
    try:
        content = (folder / name).read_bytes()
    except OSError:
        raise _unreadable(folder / name) from None
    if sha256(content).hexdigest() != digests.get(name):
        raise _altered(folder / name)
    return content


def _check_whole(folder: Path, digests: Mapping[str, str]) -> None:
    """Refuse a folder that does not hold the files of its manifest, or holds others."""
    unknown = staging.unknown_in(folder, [*digests, MANIFEST])
    if unknown:
        raise InputError(
            f"{str(folder / unknown[0])!r} is none of the files that the release's {MANIFEST} "
            "lists; expected the folder as it was published. Move it elsewhere, or take the folder "
            "from where it was published first."
        )
    found = staging.digests(folder)
    for name, digest in digests.items():
        if found.get(name) != digest:
            raise _altered(folder / name) if name in found else _unreadable(folder / name)


def _altered(path: Path) -> InputError:
    return InputError(
        f"{str(path)!r} is not what the release's {MANIFEST} says; expected the folder as it was "
        "published. Take it from where it was published first."
    )


def _unreadable(path: Path) -> InputError:
    return InputError(
        f"{str(path)!r} could not be read; expected the folder of a release as it was published."
    )


def check_confidence(confidence: float) -> None:
    """Refuse what is no probability."""
    if not 0 < confidence < 1:
        raise InputError(
            f"the confidence is {confidence}; expected a number between 0 and 1, such as 0.95."
        )


def floats_of(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """Return a column as floats, NaN where it is empty."""
    column = table.column(name).cast(pa.float64())
    return np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def errors_of(rows: pa.Table, answer: str) -> pa.ChunkedArray:
    """Return the standard errors; none of an average whose count is too close to 0 to divide by."""
    errors, few = rows.column(f"{answer}_se"), f"{answer}_few_records"
    return pc.if_else(rows.column(few), None, errors) if few in rows.column_names else errors
