# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""Hypothetical records as text: `emp=150`, or the rows of a public CSV file."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from perrecord.cli.opening import opened
from perrecord.errors import InputError, listing, number_of, suggestion

if TYPE_CHECKING:
    from perrecord.cli.opening import Opened
    from perrecord.release.document import PublishedPolicy
    from perrecord.tables.reading import File

Row = dict[str, Any]
NAME = "name"
"""The column of a CSV file that names a record, where no field is called so."""

_DECIMALS = ", and --decimal , if its numbers are written as 1,5"
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Subject:
    """A policy, and what a record may be described by."""

    published: "PublishedPolicy"
    kinds: Mapping[str, str]
    """Every field and, of a spec, every column that dimensions are derived from."""
    derived: Callable[[Row], Row]

    def record(self, written: Mapping[str, str]) -> Row:
        """Return a record as the policy sees it; messages name fields, never values."""
        unknown = next((name for name in written if name not in self.kinds), None)
        if unknown is not None:
            raise InputError(
                f"there is no field {unknown!r}. Fields are {listing(self.kinds, limit=30)}."
                f"{suggestion(unknown, self.kinds)}"
            )
        row = {name: _value(name, self.kinds[name], text) for name, text in written.items()}
        return self.derived(self.published.record(row))


def subject_of(path: Path) -> Subject:
    """Return the policy of a published policy.json, of a released folder or of a spec."""
    from perrecord.release.reading import read_published
    from perrecord.tables.completing import completed
    from perrecord.tables.linking import unless_read
    from perrecord.tables.parse import parse_expression

    file = path / "policy.json" if path.is_dir() else path
    if file.suffix != ".json":
        with opened(file) as found:
            return subject_of_spec(found)
    try:
        written = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"the policy {str(file)!r} could not be read; give a policy.json, the folder of a "
            "release, or a spec."
        ) from None
    published = read_published(written)
    kinds = {field.name: str(field.kind) for field in published.fields}
    definitions = unless_read(
        {
            field.name: parse_expression(field.expression)
            for field in published.fields
            if field.kind != "measure" and field.expression
        },
        {field.name for field in published.fields if field.is_change},
    )

    def checked(row: Row) -> Row:
        completed(definitions, row)  # refuses what contradicts itself
        return row

    return Subject(published, kinds, checked)


def subject_of_spec(found: "Opened") -> Subject:
    """Return the policy of an opened spec."""
    from perrecord.release.checking import planned_policy
    from perrecord.tables.completing import completed
    from perrecord.tables.kinds import kind_of_column

    published, schema = planned_policy(found.workload), found.workload.schema
    columns = {name: kind_of_column(kind) for name, kind in schema.columns}
    kinds = {name: kind.name.lower() for name, kind in columns.items() if kind is not None}
    kinds.update({field.name: field.kind for field in published.fields})
    return Subject(published, kinds, partial(completed, schema.definitions))


def typed_record(given: Iterable[str], option: str = "--record") -> dict[str, str]:
    """Return the fields of `--record name=value ...`, still as text."""
    written: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"write a field as name=value, such as {option} emp=150.")
        if name.strip() in written:
            raise typer.BadParameter(f"{option} gives {name.strip()!r} twice.")
        written[name.strip()] = value
    return written


def records_of(reading: "File", subject: Subject) -> list[tuple[str, Row]]:
    """Return the records of a public CSV file, each with its name or its line."""
    found, path = [], reading.path
    for line, written in _rows(Path(path), reading):
        for each in written:
            if subject.kinds.get(each) == "measure":
                written[each] = _with_point(written[each], f"{path}:{line}: {each}", reading)
        name = f"line {line}"
        if NAME in written and NAME not in subject.kinds:
            name = written.pop(NAME) or name
        try:
            found.append((name, subject.record(written)))
        except InputError as error:
            raise InputError(f"{path}:{line}: {error}") from None
    return found


def _with_point(written: str, what: str, reading: "File") -> str:
    """Return a number with a decimal point, whatever the file has; it is not quoted."""
    from perrecord.tables.reading import SWAPPED

    if reading.decimal == ",":
        if "." in written:
            raise InputError(
                f"{what} has a point, and with --decimal , the decimal sign is a comma; expected "
                "no points between thousands, such as 1234,50."
            )
        return written.translate(SWAPPED)
    if "," in written:
        raise InputError(
            f"{what} has a comma; expected a decimal point, such as 0.2, and no commas between "
            "thousands. If numbers of the file are written as 1,5, type --decimal ,"
        )
    return written


def _rows(path: Path, reading: "File") -> list[tuple[int, dict[str, str]]]:
    from perrecord.tables import looks
    from perrecord.tables.reading import UTF_8, spelled

    separator, say = reading.separates(path), looks.said_on_command_line
    try:
        raw = path.read_bytes()
        if reading.encoding == UTF_8 and (fault := looks.of_first_bytes(path, reading, raw, say)):
            raise InputError(fault)
        text = raw.decode(reading.encoding).removeprefix("\ufeff")
        reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
        heads = next(reader, [])
        rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeError, csv.Error):
        raise InputError(
            f"the file {str(path)!r} could not be read as CSV in "
            f"{spelled(reading.encoding).upper()}; the first line names the fields. For text in "
            "another encoding, type --encoding windows-1252, or whichever it has."
        ) from None
    if fault := looks.of_header(path, reading, heads, separator, say, _DECIMALS):
        raise InputError(fault)
    if not heads or len(set(heads)) < len(heads):
        raise InputError(f"{path}: expected the name of each field once in the first line.")
    for line, row in rows:
        if len(row) != len(heads):
            raise InputError(
                f"{path}:{line}: expected {number_of(len(heads), 'field')}, found {len(row)}."
            )
    return [(line, dict(zip(heads, row, strict=True))) for line, row in rows]


def _value(name: str, kind: str, written: str) -> Any:
    """Return a field's value; nothing written is a missing value."""
    plain = written.strip()
    if not plain:
        return None
    match kind:
        case "integer":
            try:
                return int(plain)
            except ValueError:
                raise InputError(f"the field {name!r} holds whole numbers, such as 7.") from None
        case "truth":
            if plain.lower() not in _TRUTHS:
                raise InputError(f"the field {name!r} is true or false.")
            return _TRUTHS[plain.lower()]
        case "measure":
            return plain
        case _:
            return written
