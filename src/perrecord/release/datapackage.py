"""`datapackage.json`: every column of every table described (Frictionless Data Package).

Beside what that standard knows, a column has a `role`: `key`, `derived`, or `answer`, whose
standard error is the column of the same name with `_se` at its end. An answer about a measure has
its `unit`, and so have the numbers beside it; keys and answers that are no plain column say their
`definition`, and a table of some records alone its `filter`, so that two releases can be compared.
In a table that follows, the sums are its answers. Where records are changes between two periods,
answers that can be added to levels say of which: `change_of` is the definition of the level.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from perrecord.mechanisms.write import APOSTROPHE
from perrecord.queries.groupings import Grouping
from perrecord.release.described import Described, facts_of, list_names
from perrecord.release.names import COPIES, LISTS
from perrecord.release.spec import CodeList, Workload
from perrecord.tables.expressions import describe
from perrecord.tables.keys import Keys


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
                    "fields": list(_fields(table, workload)),
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


def _fields(table: Described, workload: Workload) -> Iterator[dict[str, Any]]:
    facts = facts_of(table, workload)
    for each in table.schema:
        said = {key: words for key, words in asdict(facts[each.name]).items() if words}
        yield {"name": each.name, "type": _type(each.type), **said}


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
