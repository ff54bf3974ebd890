"""`datapackage.json`: every column of every table described (Frictionless Data Package).

Beside what that standard knows, a column has a `role`: `key`, `derived`, or `answer`, whose
standard error is the column of the same name with `_se` at its end. An answer about a measure has
its `unit`; keys and answers that are no plain column say their `definition`, and a table of some
records alone its `filter`, so that two releases can be compared. In a table
that follows, the sums are its answers. Where records are changes between two periods, answers that
can be added to levels say of which: `change_of` is the definition of the level.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from perrecord.exact import text
from perrecord.mechanisms.write import APOSTROPHE
from perrecord.queries.aggregates import Different, Filled, Total
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import Grouping
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import leaves
from perrecord.release.names import COPIES, LISTS, is_table_name
from perrecord.release.processing import steps_of
from perrecord.release.processing.deriving import BESIDE
from perrecord.release.processing.sentences import ENDING
from perrecord.release.spec import CodeList, Workload
from perrecord.tables.expressions import Expression, columns_of, describe
from perrecord.tables.keys import Keys
from perrecord.tables.linking import RECORD_COUNT


@dataclass(frozen=True, slots=True)
class Described:
    """A table to describe: its own answers say what its columns hold."""

    name: str
    title: str
    grouping: Grouping
    answers: tuple[Answer, ...]
    schema: pa.Schema
    filter: Expression | None = None
    """Which records it is of; None: of all."""
    source: str | None = None
    """Of a table that follows, the table that it is added up from."""


def data_package(
    workload: Workload,
    tables: Sequence[Described],
    files: Mapping[str, bytes],
    digests: Mapping[str, str],
) -> dict[str, Any]:
    """Return the description of a release's tables, whose bytes and digests are given."""
    formats = ["parquet", "csv"] if workload.outputs.csv else ["parquet"]
    licence = workload.outputs.licence
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _slug(workload.title),
        "title": workload.title,
        "description": workload.description,
        **({"licenses": [{"name": licence}]} if licence else {}),
        "resources": [
            {
                "name": _resource(table.name, kind),
                "title": table.title,
                **_file(f"tables/{table.name}", kind, files, digests),
                **_described(table, kind),
                **({"filter": describe(table.filter)} if table.filter is not None else {}),
                "schema": {
                    "fields": [_field(field, table, workload) for field in table.schema],
                    "missingValues": [""],
                    **_table_keys(table, tables, workload),
                },
            }
            for table in tables
            for kind in formats
        ]
        + [
            _code_list(name, codes, kind, files, digests)
            for name, codes in list_names(workload).items()
            for kind in formats
        ],
    }


def list_names(workload: Workload) -> dict[str, CodeList]:
    """Return the code lists by the names of their files: the dimensions', if they can be files'."""
    are_fit = all(is_table_name(each.dimension) for each in workload.labels)
    return {
        each.dimension if are_fit else f"dimension-{place}": each
        for place, each in enumerate(workload.labels, start=1)
    }


def _code_list(
    name: str, codes: CodeList, kind: str, files: Mapping[str, bytes], digests: Mapping[str, str]
) -> dict[str, Any]:
    code, label = codes.table.schema
    return {
        "name": _resource(f"{LISTS}{name}", kind),
        "title": f"What the codes of {codes.dimension} are called",
        **_file(f"labels/{name}", kind, files, digests),
        **({"description": APOSTROPHE} if kind == "csv" else {}),
        "schema": {
            "fields": [
                {"name": code.name, "type": _type(code.type), "description": "the code"},
                {"name": label.name, "type": "string", "description": "what it is called"},
            ],
            "missingValues": [""],
            "primaryKey": [code.name],
        },
    }


def _resource(name: str, kind: str) -> str:
    """Return the name of a resource: no table has a dot in its own, so that none is another's."""
    return name if kind == "parquet" else f"{COPIES}{name}"


def _file(
    path: str, kind: str, files: Mapping[str, bytes], digests: Mapping[str, str]
) -> dict[str, Any]:
    """Return where a file is, what it is, and its size and hash."""
    content = files[f"{path}.{kind}"]
    return {
        "path": f"{path}.{kind}",
        "format": kind,
        "mediatype": "text/csv" if kind == "csv" else "application/vnd.apache.parquet",
        "bytes": len(content),
        "hash": f"sha256:{digests[f'{path}.{kind}']}",
    }


def _described(table: Described, kind: str) -> dict[str, str]:
    """Return what whoever reads a file has to know, if there is anything."""
    notes = [] if table.source is None else [f"Added up from {table.source}, at no cost."]
    notes += [APOSTROPHE] if kind == "csv" else []
    return {"description": " ".join(notes)} if notes else {}


def _slug(title: str) -> str:
    """Return the title as a name for programs.

    >>> _slug("Establishments, by county (2026)")
    'establishments-by-county-2026'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "release"


def _field(field: pa.Field, table: Described, workload: Workload) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": _type(field.type),
        "description": _description(field.name, table, workload),
        **_role(field.name, table, workload),
    }


def _role(name: str, table: Described, workload: Workload) -> dict[str, str]:
    fields = {each.name: each for each in workload.fields}
    if name in table.grouping.columns:
        own = fields[name].expression if name in fields else ""
        lists = {each.dimension: file for file, each in list_names(workload).items()}
        labels = {"labels": f"{LISTS}{lists[name]}"} if name in lists else {}
        return {"role": "key", **({"definition": own} if own else {}), **labels}
    ending = "" if table.source is None else ENDING
    for answer in table.answers:
        if name == f"{answer.name}{ending}":
            measure = answer.steps[0].measure or ""
            unit = fields[measure].unit if measure in fields else ""
            level = _level_of(answer, table, workload)
            return {
                "role": "answer",
                "definition": _definition(answer, workload),
                **({"unit": unit} if unit else {}),
                **({"change_of": level} if level else {}),
            }
    for number in workload.derived:
        if name == number.name and table.name in number.tables:
            return {"role": "derived", "definition": str(number.formula)}
    return {}


def _definition(answer: Answer, workload: Workload) -> str:
    """Return what an answer estimates; how it is made private does not matter, but for cuts."""
    step, cuts = answer.steps[0], list[str]()
    of = step.measure
    if isinstance(step, Measurement):
        if isinstance(step.aggregate, Filled | Different):
            of = step.aggregate.column
        bounds = [leaf.method.bounds for leaf in leaves(step.tree)]
        cuts = [f"[{text(each[0])}, {text(each[1])}]" for each in bounds if each is not None]
    own = next((each.expression for each in workload.fields if each.name == of), "")
    found = answer.kind if of is None else f"{answer.kind} of {of}"
    found += f" = {own}" if own else ""
    return f"{found}, cut to {' or '.join(dict.fromkeys(cuts))}" if cuts else found


def _level_of(answer: Answer, table: Described, workload: Workload) -> str | None:
    """Return the level that an answer is the change of; None where no level is the sum of such.

    Totals that are not cut are, of records that are told apart by dimensions of their own period:
    by these alone, a record leaves the cell of its old level and enters that of its new one.
    """
    schema, step = workload.schema, answer.steps[0]
    measures = {name: measure.column or name for name, measure in schema.measures}
    read = set() if table.filter is None else columns_of(table.filter)
    kept = {*schema.grouped_rows}
    if not schema.is_linked or not {*table.grouping.columns, *read} <= kept:
        return None
    if not isinstance(step, Measurement) or not isinstance(step.aggregate, Total):
        return None
    if len(answer.steps) > 1:
        return None
    column = measures[step.aggregate.measure]
    bounds = [leaf.method.bounds for leaf in leaves(step.tree) if leaf.method.bounds is not None]
    if column == RECORD_COUNT:
        return "count of records" if all(low <= -1 and high >= 1 for low, high in bounds) else None
    return None if bounds else f"{answer.kind} of {column}"


def _table_keys(
    table: Described, tables: Sequence[Described], workload: Workload
) -> dict[str, Any]:
    """Return the primary key, and the tables that have a row for a part of every key.

    Code lists name every key that was fixed beforehand, and need not name those that were selected.
    """
    if not table.grouping.columns:
        return {}
    foreign = [
        {
            "fields": list(other.grouping.columns),
            "reference": {"resource": other.name, "fields": list(other.grouping.columns)},
        }
        for other in tables
        if _is_above(other.grouping, table.grouping)
    ]
    if isinstance(table.grouping.cells, Keys):
        foreign += [
            {
                "fields": [codes.dimension],
                "reference": {"resource": f"{LISTS}{name}", "fields": [codes.dimension]},
            }
            for name, codes in list_names(workload).items()
            if codes.dimension in table.grouping.columns
        ]
    return {
        "primaryKey": list(table.grouping.columns),
        **({"foreignKeys": foreign} if foreign else {}),
    }


def _is_above(other: Grouping, own: Grouping) -> bool:
    """Tell whether every key, over fewer columns, is declared as a key of the other."""
    if not other.columns or not set(other.columns) < set(own.columns):
        return False
    if not isinstance(own.cells, Keys) or not isinstance(other.cells, Keys):
        return False
    parts = own.cells.project(other.columns)
    return len(parts - other.cells.project(other.columns)) == 0


def _type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_boolean(kind):
        return "boolean"
    return "string" if pa.types.is_string(kind) else "number"


def _description(name: str, table: Described, workload: Workload) -> str:
    for of, ending, words in _columns(table, workload):
        if name == f"{of}{ending}":
            return words.format(of) + _level(ending, workload)
    fields = {each.name: each for each in workload.fields}
    if name in fields:
        return fields[name].label or f"key: {name}"
    return "noisy number of split rows by which the key was selected"


def _columns(table: Described, workload: Workload) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of answers and derived numbers: of which, the ending, and the words."""
    names = []
    for answer in table.answers:
        names.append(answer.name)
        if table.source is not None:
            words = f"{{0}}, added up from {table.source} so that all tables add up; unbiased"
            yield answer.name, ENDING, words
            continue
        yield answer.name, "", "noisy answer; methodology.md says what it estimates"
        yield from ((answer.name, ending, words) for ending, words in answer.beside.items())
    for number in workload.derived:
        if table.name in number.tables:
            names.append(number.name)
            yield number.name, "", f"{{0}} = {number.formula}, from published numbers"
            yield from ((number.name, ending, words) for ending, words in BESIDE.items())
    for of in names:
        for step in steps_of(workload):
            yield from ((of, ending, words) for ending, words in step.described(of).items())


def _level(ending: str, workload: Workload) -> str:
    """Return the confidence of an interval, where a column is an end of one."""
    is_end = ending in ("_low", "_high")
    return f" ({text(workload.outputs.confidence * 100)} %)" if is_end else ""
