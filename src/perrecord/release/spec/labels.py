"""`labels`: public code lists, which say what the codes of a dimension are called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from perrecord.errors import InputError, listing, visible
from perrecord.queries.plan import Plan
from perrecord.release.spec.declared import LabelsEntry
from perrecord.release.spec.load import LoadedSpec
from perrecord.release.spec.names import refer
from perrecord.release.spec.pieces import existing
from perrecord.release.spec.problems import Problems
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.public_files import PublicList, read_columns
from perrecord.tables.schema import Schema

LONGEST_LABEL = 300
"""Characters of a name."""

Code = str | int


@dataclass(frozen=True, slots=True)
class CodeList:
    """What the codes of one dimension are called, in the order of its file."""

    dimension: str
    names: Mapping[Code, str] = field(repr=False)

    @property
    def table(self) -> pa.Table:
        """The list as a public table: the code, under its dimension's name, and its label."""
        heading = "label" if self.dimension != "label" else "label_"
        return pa.table({self.dimension: list(self.names), heading: list(self.names.values())})


def code_lists_of(
    loaded: LoadedSpec, schema: Schema | None, problems: Problems
) -> tuple[CodeList, ...]:
    """Return the code lists of a spec; their files are public and are read here."""
    found = []
    kinds = {} if schema is None else {each.name: each.kind for each in schema.dimensions}
    for name, entry in loaded.spec.labels.items():
        with problems.at("labels", name):
            for where, message in refer(
                ("labels", name), "dimension", name, loaded.spec.dimensions
            ):
                problems.add(where, message)
            path = existing(loaded, entry.file)
            if any(each.samefile(path) for each in loaded.source_files):
                raise InputError(
                    "the names are read from the source itself, and would publish what is in it; "
                    "take them from a public list."
                )
            found.append(CodeList(name, _names(entry.read_by(path), entry, kinds.get(name))))
    return tuple(found)


def _names(source: PublicList, entry: LabelsEntry, kind: Kind | None) -> dict[Code, str]:
    table = read_columns(source, "labels")
    code, label = _columns(table.column_names, entry)
    labels = table.column(label)
    if not pa.types.is_string(labels.type) and not pa.types.is_large_string(labels.type):
        raise InputError(f"the column {label!r} of {entry.file!r} holds no text; expected names.")
    codes = [_code(each, kind, entry.file) for each in table.column(code).to_pylist()]
    found: dict[Code, str] = {}
    for place, (each, name) in enumerate(zip(codes, labels.to_pylist(), strict=True), start=1):
        if each in found:
            raise InputError(f"{entry.file!r} lists the code {each!r} twice; list each once.")
        found[each] = _label(name, f"row {place} of {entry.file!r}")
    return found


def _columns(names: list[str], entry: LabelsEntry) -> tuple[str, str]:
    """Return the columns of code and label: those that are named, or the only two."""
    if entry.code is None and entry.label is None and len(names) != 2:
        raise InputError(
            f"{entry.file!r} has the columns {listing(names)}; expected two, the code and its "
            "name, or say which: {file: ..., code: ..., label: ...}."
        )
    code, label = entry.code or names[0], entry.label or names[-1]
    for each in (code, label):
        if each not in names:
            raise InputError(
                f"{entry.file!r} has no column {each!r}; its columns are {listing(names)}."
            )
    if code == label:
        raise InputError(f"the code and its name are one column, {code!r}; expected two.")
    return code, label


def _code(value: object, kind: Kind | None, file: str) -> Code:
    """Return a code as the dimension holds it; a CSV file has whole numbers as text."""
    if kind is Kind.TRUTH:
        raise InputError("truth values have no codes; label text or whole numbers.")
    if isinstance(value, str) and kind is Kind.INTEGER:
        if value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            return int(value)
        raise InputError(
            f"{file!r} lists a code that is not a whole number, as its dimension holds."
        )
    is_fit = isinstance(value, str if kind is Kind.TEXT else str | int)
    if value is None or isinstance(value, bool) or not is_fit:
        raise InputError(
            f"{file!r} lists a code that is missing or of another kind than its dimension."
        )
    return value  # type: ignore[return-value]


def _label(name: str | None, where: str) -> str:
    if not name or not name.strip() or len(name) > LONGEST_LABEL:
        raise InputError(f"{where}: expected a name of 1 to {LONGEST_LABEL} characters.")
    if visible(name) != name or not name.isprintable():
        raise InputError(f"{where}: the name holds characters that cannot be printed.")
    return name


def check_covered(lists: Iterable[CodeList], plan: Plan, problems: Problems) -> None:
    """Note a code list that lacks the name of a published key; keys are public."""
    for each in lists:
        for grouping in plan.groupings:
            cells = grouping.grouping.cells
            if isinstance(cells, Keys) and each.dimension in cells.columns:
                lacking = _lacking(each, cells)
                if lacking:
                    problems.add(
                        ("labels", each.dimension),
                        f"the keys {listing(lacking)} have no name in the list; add them.",
                    )
                    break


def _lacking(codes: CodeList, keys: Keys) -> list[object]:
    values = keys.project((codes.dimension,)).table.column(codes.dimension).to_pylist()
    return [each for each in values if each is not None and each not in codes.names]
