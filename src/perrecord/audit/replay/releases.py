"""Whole releases with and without a record: the same files but for the numbers of its own cell."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.accounting.entries import Charge, Creation, Entry, Publication, Seal
from perrecord.accounting.ledger import Ledger
from perrecord.audit import random_specs, random_tables
from perrecord.audit.random_tables import Row
from perrecord.audit.replay.checks import Check
from perrecord.audit.replay.frozen import FrozenBits
from perrecord.release.contents import MANIFEST
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

RELEASE = "whole releases"
_RECORDS = 9
"""So few that most cells empty with one of them."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one release left behind, and what it said on the way."""

    files: Mapping[str, bytes]
    steps: tuple[str, ...]
    entries: tuple[Entry, ...]
    drawn: tuple[int, ...]
    records: tuple[Mapping[str, Any], ...]


def release_checks(random: Random, pairs: int, seed: int) -> Iterator[Check]:
    """Yield, for a random spec and table, whether releases without some records differ wrongly."""
    rows = random_tables.rows(random, _RECORDS, extreme=False, unique=False)
    written = random_specs.spec(random)
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
        whole = _side(Path(name) / "whole", written, rows, seed)
        for index in random.sample(range(_RECORDS), pairs):
            kept = [row for place, row in enumerate(rows) if place != index]
            other = _side(Path(name) / f"without{index}", written, kept, seed)
            yield Check(RELEASE, index, fault=difference(whole, other, whole.records[index]))


def _side(folder: Path, written: Mapping[str, Any], rows: Sequence[Row], seed: int) -> Side:
    """Make a release of these rows in a new folder, with a ledger of its own."""
    path = random_specs.write(folder, written, list(rows))
    loaded = load_spec(path)
    with open_table(loaded) as table:
        ledger = Ledger.create(folder / random_specs.LEDGER, build(loaded, table.schema).budget)
        records = tuple(table.schema.record(row) for row in rows)
    steps: list[str] = []
    bits = FrozenBits(seed)
    out = folder / "out"
    release(path, out, progress=steps.append, _bits=bits)
    files = {
        each.relative_to(out).as_posix(): each.read_bytes()
        for each in sorted(out.rglob("*"))
        if each.is_file()
    }
    entries = tuple(_without_digests(each, folder) for each in ledger.entries())
    return Side(files, tuple(steps), entries, tuple(bits.drawn), records)


def _without_digests(entry: Entry, folder: Path) -> Entry:
    """Return an entry without the day and what hangs on keyed digests or on noise."""
    match entry:
        case Creation():
            return replace(entry, hash="", day="", secret="")
        case Charge():
            return replace(entry, hash="", day="", identity=None)
        case Seal():
            return replace(entry, hash="", day="", digests=dict.fromkeys(entry.digests, ""))
        case Publication():
            return replace(entry, hash="", day="", place=str(Path(entry.place).relative_to(folder)))


def difference(whole: Side, other: Side, record: Mapping[str, Any]) -> str | None:
    """Return what differs between two releases and should not."""
    if whole.steps != other.steps:
        return "it said something else on the way"
    if whole.entries != other.entries:
        return "other entries were written into the ledger"
    if whole.drawn != other.drawn:
        return "random bits were drawn in another way"
    if list(whole.files) != list(other.files):
        return "there are other files"
    for name, content in whole.files.items():
        theirs = other.files[name]
        if name.endswith(".parquet"):
            fault = _tables_differ(_table(content), _table(theirs), record)
        elif name.endswith(".csv"):
            mine, yours = content.splitlines(), theirs.splitlines()
            is_same = mine[0] == yours[0] and len(mine) == len(yours)
            fault = None if is_same else "it has another head or length"
        elif name == MANIFEST:
            continue
        else:
            fault = None if content == theirs else "it is not the same, byte for byte"
        if fault is not None:
            return f"{name}: {fault}"
    return None


def _tables_differ(mine: pa.Table, theirs: pa.Table, record: Mapping[str, Any]) -> str | None:
    """Return how two tables differ elsewhere than in the record's own row."""
    if mine.schema != theirs.schema or mine.num_rows != theirs.num_rows:
        return "it has other columns, types or a different number of rows"
    keys = [name for name in mine.column_names if name in record]
    for row, other in zip(mine.to_pylist(), theirs.to_pylist(), strict=True):
        if any(row[name] != other[name] for name in keys):
            return "it has other keys, or in another order"
        if row != other and any(row[name] != record[name] for name in keys):
            return "a row changed that the record is not in"
    return None


def _table(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))
