"""The files of a release: tables are the run, written; all else is the same without a record."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.write import write_csv, write_parquet
from perrecord.queries.plan import Plan
from perrecord.release.contents import MANIFEST, table_name
from perrecord.release.processing import processed
from perrecord.release.spec import Workload

_PACKAGE = "datapackage.json"


@dataclass(frozen=True, slots=True)
class Files:
    """What was published, what its tables must be, and the charge that its manifest names."""

    found: Mapping[str, bytes]
    tables: Mapping[str, bytes]
    """Every Parquet and CSV file, written from a run of the same plan with the same bits."""
    keys: Mapping[str, tuple[str, ...]]
    """The grouping columns of every table."""
    charge: str


def files_of(
    folder: Path, workload: Workload, planned: Plan, answers: Sequence[Answers], charge: str
) -> Files:
    """Read a published folder, and write beside it, in memory, what its tables must be."""
    tables: dict[str, bytes] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for grouping, each in zip(planned.groupings, answers, strict=True):
        name, rows = f"tables/{table_name(workload, grouping)}", processed(each, workload)
        tables[f"{name}.parquet"] = _written(write_parquet, rows)
        keys[f"{name}.parquet"] = grouping.grouping.columns
        if workload.outputs.csv:
            tables[f"{name}.csv"] = _written(write_csv, rows)
    found = {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }
    return Files(found, tables, keys, charge)


def fault_alone(files: Files) -> str | None:
    """Return what is wrong with a release by itself: its tables, and what its manifest says."""
    for name, content in files.tables.items():
        if files.found.get(name) != content:
            return f"{name}: it is not what the run gave, written"
    if any(name.startswith("tables/") and name not in files.tables for name in files.found):
        return "there are tables that nobody asked for"
    manifest = files.found[MANIFEST]
    stated = json.loads(manifest)
    if json.dumps(stated, ensure_ascii=False, indent=2).encode() + b"\n" != manifest:
        return f"{MANIFEST}: it holds more than its JSON says"
    listed = {
        name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in files.found.items()
        if name != MANIFEST
    }
    if stated["files"] != listed or stated["charge"] != files.charge:
        return f"{MANIFEST}: it states other files, or another charge"
    return None


def files_differ(
    mine: Files, theirs: Files, record: Mapping[str, Any], *, selects: bool
) -> str | None:
    """Return what differs between two releases, one without a record, and should not."""
    if list(mine.found) != list(theirs.found):
        return "there are other files"
    has_same_types = True
    for name in mine.keys:
        one, two = mine.found[name], theirs.found[name]
        if pq.read_metadata(pa.BufferReader(one)).metadata != (
            pq.read_metadata(pa.BufferReader(two)).metadata
        ):
            return f"{name}: it has other metadata"
        first, second = _table(one), _table(two)
        if first.column_names != second.column_names:
            return f"{name}: it has other columns"
        # Wide types follow from the noisy numbers alone; that they do is checked with the run.
        has_same_types &= first.schema == second.schema
        fault = None if selects else _rows_differ(first, second, mine.keys[name], record)
        if fault is not None:
            return f"{name}: {fault}"
    for name, content in mine.found.items():
        if name in mine.tables or (name == _PACKAGE and not has_same_types):
            continue
        other = theirs.found[name]
        is_same = _public(content) == _public(other) if name == MANIFEST else content == other
        if not is_same:
            return f"{name}: it is not the same"
    return None


def _rows_differ(
    mine: pa.Table, theirs: pa.Table, keys: Sequence[str], record: Mapping[str, Any]
) -> str | None:
    """Return how two tables differ elsewhere than in the record's own row."""
    if mine.num_rows != theirs.num_rows:
        return "it has another number of rows"
    for row, other in zip(mine.to_pylist(), theirs.to_pylist(), strict=True):
        if any(row[name] != other[name] for name in keys):
            return "it has other keys, or in another order"
        if row != other and any(row[name] != record[name] for name in keys):
            return "a row changed that the record is not in"
    return None


def _public(manifest: bytes) -> Any:
    """Return what a manifest says beside digests, sizes and the charge, which are checked alone."""
    stated = json.loads(manifest)
    return {**stated, "charge": "", "files": list(stated["files"])}


def _table(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))


def _written(write: Callable[[pa.Table, BytesIO], None], rows: pa.Table) -> bytes:
    buffer = BytesIO()
    write(rows, buffer)
    return buffer.getvalue()
