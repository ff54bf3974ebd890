"""`datapackage.json`: every column of every table described (Frictionless Data Package)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from perrecord.exact import text
from perrecord.mechanisms.write import APOSTROPHE
from perrecord.queries.answers import Answer
from perrecord.release.processing import steps_of
from perrecord.release.spec import Workload


@dataclass(frozen=True, slots=True)
class Described:
    """A table to describe: its own answers say what its columns hold."""

    name: str
    title: str
    answers: tuple[Answer, ...]
    schema: pa.Schema


def data_package(workload: Workload, tables: Sequence[Described]) -> dict[str, Any]:
    """Return the description of a release's tables."""
    formats = ["parquet", "csv"] if workload.outputs.csv else ["parquet"]
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "release",
        "title": workload.title,
        "description": workload.description,
        "resources": [
            {
                "name": table.name if kind == "parquet" else f"{table.name}-csv",
                "title": table.title,
                "path": f"tables/{table.name}.{kind}",
                "format": kind,
                "mediatype": "text/csv" if kind == "csv" else "application/vnd.apache.parquet",
                **({"description": APOSTROPHE} if kind == "csv" else {}),
                "schema": {
                    "fields": [_field(field, table.answers, workload) for field in table.schema],
                    "missingValues": [""],
                },
            }
            for table in tables
            for kind in formats
        ],
    }


def _field(field: pa.Field, answers: Sequence[Answer], workload: Workload) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": _type(field.type),
        "description": _description(field.name, answers, workload),
    }


def _type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_boolean(kind):
        return "boolean"
    return "string" if pa.types.is_string(kind) else "number"


def _description(name: str, answers: Sequence[Answer], workload: Workload) -> str:
    fields = {each.name: each for each in workload.fields}
    if name in [answer.name for answer in answers]:
        return "noisy answer; methodology.md says what it estimates"
    for answer in answers:
        of = answer.name
        for ending, words in answer.beside.items():
            if name == f"{of}{ending}":
                level = text(workload.outputs.confidence * 100)
                extra = f" ({level} %)" if ending in ("_low", "_high") else ""
                return words.format(of) + extra
        for step in steps_of(workload):
            for ending, words in step.described(of).items():
                if name == f"{of}{ending}":
                    return words
    if name in fields:
        return fields[name].label or f"key: {name}"
    return "noisy number of split rows by which the key was selected"
