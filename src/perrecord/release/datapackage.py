"""`datapackage.json`: every column of every table described (Frictionless Data Package).

Beside what that standard knows, a column has a `role`: `key`, `derived`, or `answer`, whose
standard error is the column of the same name with `_se` at its end. An answer about a measure has
its `unit`; keys and answers that are no plain column say their `definition`, and a table of some
records alone its `filter`, so that two releases can be compared. In a table
that follows, the sums are its answers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa

from perrecord.exact import text
from perrecord.mechanisms.write import APOSTROPHE
from perrecord.queries.aggregates import Different, Filled
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import Grouping
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import leaves
from perrecord.release.processing import steps_of
from perrecord.release.processing.deriving import BESIDE
from perrecord.release.processing.sentences import ENDING
from perrecord.release.spec import Workload
from perrecord.tables.expressions import Expression, describe
from perrecord.tables.keys import Keys


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
    workload: Workload, tables: Sequence[Described], files: Mapping[str, bytes]
) -> dict[str, Any]:
    """Return the description of a release's tables, whose bytes are among the files."""
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
                "name": table.name if kind == "parquet" else f"{table.name}-csv",
                "title": table.title,
                "path": f"tables/{table.name}.{kind}",
                "format": kind,
                "mediatype": "text/csv" if kind == "csv" else "application/vnd.apache.parquet",
                "bytes": len(files[f"tables/{table.name}.{kind}"]),
                "hash": f"sha256:{sha256(files[f'tables/{table.name}.{kind}']).hexdigest()}",
                **_described(table, kind),
                **({"filter": describe(table.filter)} if table.filter is not None else {}),
                "schema": {
                    "fields": [_field(field, table, workload) for field in table.schema],
                    "missingValues": [""],
                    **_table_keys(table, tables),
                },
            }
            for table in tables
            for kind in formats
        ],
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
        return {"role": "key", **({"definition": own} if own else {})}
    ending = "" if table.source is None else ENDING
    for answer in table.answers:
        if name == f"{answer.name}{ending}":
            measure = answer.steps[0].measure or ""
            unit = fields[measure].unit if measure in fields else ""
            definition = _definition(answer, workload)
            return {"role": "answer", "definition": definition, **({"unit": unit} if unit else {})}
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


def _table_keys(table: Described, tables: Sequence[Described]) -> dict[str, Any]:
    """Return the primary key, and the tables that have a row for a part of every key."""
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
