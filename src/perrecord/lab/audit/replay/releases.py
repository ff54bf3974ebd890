"""Whole releases with and without a record: nothing in them but public text and what was run.

Tables are the run, written; all other files are the same without a record.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.accounting.entries import Charge, Creation, LedgerEntry, Publication, Seal
from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit import (
    random_blurs,
    random_series,
    random_specs,
    random_sums,
    random_tables,
    random_tapers,
)
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_tables import Row
from perrecord.lab.audit.replay.checks import NOBODY, RELEASE, SUMS, Check
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.redrawn import recomputed
from perrecord.lab.audit.replay.sums import sums_checked
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.run import run
from perrecord.mechanisms.write import write_csv, write_parquet
from perrecord.queries.answers.errors import ENDINGS
from perrecord.queries.groupings import Grouping
from perrecord.release.contents import MANIFEST, table_name
from perrecord.release.methodology import WARNINGS
from perrecord.release.processing import across, processed, summed
from perrecord.release.processing.deriving import computed
from perrecord.release.publish import release
from perrecord.release.spec import Workload, build, load_spec, open_table
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table

_PACKAGE = "datapackage.json"


_RECORDS = 9
"""So few that most cells empty with one of them."""
_WEIGHED, _LINKED = 0.35, 0.6
"""Below these a spec has a weight, or is about changes of two periods."""
_KEYED = re.compile("(?<=^hmac:)[0-9a-f]{64}$")
"""A hash of the data under the secret of a ledger, as a charge names its snapshot."""


@dataclass(frozen=True, slots=True)
class PublishedFolder:
    """What was published, what its tables must be, and the charge that its manifest names."""

    found: Mapping[str, bytes]
    tables: Mapping[str, bytes]
    """Every Parquet and CSV file, written from a run of the same plan with the same bits."""
    keys: Mapping[str, tuple[str, ...]]
    """The grouping columns of every table."""
    shown: frozenset[str]
    """Columns that follow from published numbers, of other rows too, and whole tables that do."""
    charge: str


def files_of(
    folder: Path, workload: Workload, answers: Sequence[Answers], charge: str
) -> PublishedFolder:
    """Read a published folder, and write beside it, in memory, what its tables must be."""
    tables: dict[str, bytes] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for name, grouping, rows in _tables(workload, answers):
        tables[f"tables/{name}.parquet"] = _written(write_parquet, rows, grouping.keys)
        keys[f"tables/{name}.parquet"] = grouping.columns
        if workload.outputs.csv:
            tables[f"tables/{name}.csv"] = _written(write_csv, rows)
    found = {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }
    shown = {each.name for each in workload.derived} | {each.name for each in workload.following}
    return PublishedFolder(found, tables, keys, frozenset(shown), charge)


def _tables(
    workload: Workload, answers: Sequence[Answers]
) -> Iterator[tuple[str, Grouping, pa.Table]]:
    """Yield the name, the grouping and the rows of every table, those that follow last."""
    names = [table_name(workload, each) for each in workload.plan.groupings]
    every, found = dict(zip(names, answers, strict=True)), across(workload, answers)
    for name, grouping, beside in zip(names, workload.plan.groupings, found.beside, strict=True):
        derived = tuple(computed(workload, name, every[name], every))
        rows = processed(every[name], workload, beside, derived)
        yield name, grouping.grouping, rows
    for table in workload.following:
        rows = summed(table.keys.table, found.following[table.name])
        yield table.name, table.grouping, rows


def fault_alone(files: PublishedFolder) -> str | None:
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
    mine: PublishedFolder, theirs: PublishedFolder, record: Mapping[str, Any], *, selects: bool
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
        if selects or Path(name).stem in mine.shown:
            continue
        mine_alone, theirs_alone = (_answered(each, mine.shown) for each in (first, second))
        fault = _rows_differ(mine_alone, theirs_alone, mine.keys[name], record)
        if fault is not None:
            return f"{name}: {fault}"
    for name, content in mine.found.items():
        if name in mine.tables or (name == _PACKAGE and not has_same_types):
            continue
        if _public(name, content) != _public(name, theirs.found[name]):
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


def _answered(table: pa.Table, shown: frozenset[str]) -> pa.Table:
    """Return the table without what follows from numbers of other rows, which is checked apart."""
    beside = {f"{name}{ending}" for name in shown for ending in ("", *ENDINGS)}
    names = [each for each in table.column_names if "_consistent" not in each]
    return table.select([each for each in names if each not in beside])


def _public(name: str, content: bytes) -> Any:
    """Return what a file says beside digests and sizes of noisy tables, charge and warnings."""
    if name == MANIFEST:
        stated = json.loads(content)
        return {**stated, "charge": "", "files": list(stated["files"]), "warnings": []}
    if name == "methodology.md":
        return re.sub(re.escape(WARNINGS.encode()) + rb"\n\n(- .*\n)+", b"", content).rstrip()
    if name == _PACKAGE:
        stated = json.loads(content)
        tables = [{**each, "bytes": 0, "hash": ""} for each in stated["resources"]]
        return {**stated, "resources": tables}
    return content


def _table(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))


def _written(write: Callable[..., None], rows: pa.Table, *keys: Keys | None) -> bytes:
    buffer = BytesIO()
    write(rows, buffer, *keys)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class Side:
    """What one release left behind, and what it said on the way."""

    files: PublishedFolder
    steps: tuple[str, ...]
    entries: tuple[LedgerEntry, ...]
    drawn: tuple[int, ...]
    members: Members
    run: Check
    """Whether running the same plan again, by itself, gives what it must."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """What is random in a release, each with a seed of its own, so that one moves no other."""

    random: Random
    tapers: Random
    blurs: Random
    sums: Random
    series: Random


def release_checks(seeds: Seeds, pairs: int, seed: int) -> Iterator[Check]:
    """Yield, for a random spec and table, whether releases without some records differ wrongly.

    Half of the specs are tapered, a quarter blurred, and half have tables that add up. Others are
    weighted or about changes of two periods, and half of these have a ledger over periods. How many
    bits a blurred total takes depends on its records, so that all noise after it is other noise, as
    it is after keys were selected.
    """
    random, tapers, blurs, sums = seeds.random, seeds.tapers, seeds.blurs, seeds.sums
    rows = random_tables.rows(random, _RECORDS, extreme=random.random() < 0.3, unique=False)
    selects = random.random() < 0.4
    written = random_specs.spec(random, selects=selects)
    if tapers.random() < 0.5:
        written = random_tapers.tapered_spec(tapers, written)
    is_blurred = blurs.random() < 0.25
    if is_blurred:
        written = random_blurs.blurred_spec(blurs, written)
    has_sums = sums.random() < 0.5
    if has_sums:
        written = random_sums.summed_spec(sums, written)
    last: list[Row] | None = None
    if not has_sums and not is_blurred:
        written, rows, last = add_series(seeds.series, written, rows)
    everyone = sorted({row["id"] for row in [*rows, *last]}) if last is not None else None
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
        whole = _side(Path(name) / "whole", written, rows, seed, last)
        yield whole.run
        if has_sums:
            numbers, fault = sums_checked(whole.files.found, written)
            yield Check(SUMS, NOBODY, numbers=numbers, fault=fault)
        for index in random.sample(range(_RECORDS), pairs):
            gone = None if everyone is None else everyone[index]
            kept = [row for place, row in enumerate(rows) if gone is None and place != index]
            before = None
            if last is not None:
                kept, before = ([r for r in each if r["id"] != gone] for each in (rows, last))
            other = _side(Path(name) / f"without{index}", written, kept, seed, before)
            yield replace(other.run, record=index)
            fault = difference(whole, other, index, selects=selects or is_blurred)
            yield Check(RELEASE, index, fault=fault)


def add_series(
    random: Random, written: dict[str, Any], rows: list[Row]
) -> tuple[dict[str, Any], list[Row], list[Row] | None]:
    """Return the spec with weights, or about changes of two periods, and perhaps with a period."""
    last: list[Row] | None = None
    luck = random.random()
    if luck < _WEIGHED:
        written = random_series.weighed_spec(random, written)
    elif luck < _LINKED:
        written = random_series.linked_spec(written)
        rows, last = random_series.pairs_of(random, rows)
    if random.random() < 0.5:
        written = {**written, "period": "2026"}
    return written, rows, last


def _side(
    folder: Path,
    written: Mapping[str, Any],
    rows: Sequence[Row],
    seed: int,
    last: list[Row] | None = None,
) -> Side:
    """Make a release of these rows in a new folder, with a ledger of its own."""
    path = random_specs.write(folder, written, list(rows), last)
    loaded = load_spec(path)
    again = FrozenBits(seed)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        periods = "2025..2027" if "period" in written else None
        ledger = Ledger.create(folder / random_specs.LEDGER, workload.budget, periods=periods)
        planned = workload.plan
        answers = run(planned, table, _bits=again)
        members = Members.of(table.schema, rows) if last is None else _linked(table, rows, last)
    every_record = range(len(members.records))
    check = recomputed(planned, members, every_record, seed, answers, again.drawn)
    steps: list[str] = []
    bits = FrozenBits(seed)
    out = folder / "out"
    release(path, out, progress=steps.append, _bits=bits)
    every = ledger.entries()
    charge = next(each.hash for each in every if isinstance(each, Charge))
    files = files_of(out, workload, answers, charge)
    entries = tuple(_without_digests(each, folder) for each in every)
    return Side(files, tuple(steps), entries, tuple(bits.drawn), members, check)


def _linked(opened: Table, rows: Sequence[Row], last: Sequence[Row]) -> Members:
    """Return the records of a table of changes, in the order of their ids."""
    this, before = ({row["id"]: row for row in each} for each in (rows, last))
    records = [
        record
        for each in sorted(this.keys() | before.keys())
        for record in opened.schema.linked_records(this.get(each), before.get(each))
    ]
    return Members(opened.schema, records, {})


def _without_digests(entry: LedgerEntry, folder: Path) -> LedgerEntry:
    """Return an entry without the day and what depends on keyed digests or on noise."""
    match entry:
        case Creation():
            return replace(entry, hash="", day="", secret="")
        case Charge():
            snapshot = entry.snapshot and _KEYED.sub("", entry.snapshot)
            return replace(entry, hash="", day="", identity=None, snapshot=snapshot)
        case Seal():
            return replace(entry, hash="", day="", digests=dict.fromkeys(entry.digests, ""))
        case Publication():
            return replace(entry, hash="", day="", place=str(Path(entry.place).relative_to(folder)))


def difference(whole: Side, other: Side, index: int, *, selects: bool) -> str | None:
    """Return what is wrong with two releases, each by itself or beside the other."""
    for side in (whole, other):
        fault = fault_alone(side.files)
        if fault is not None:
            return fault
    if whole.steps != other.steps:
        return "it said something else on the way"
    if whole.entries != other.entries:
        return "other entries were written into the ledger"
    if not selects and whole.drawn != other.drawn:
        return "random bits were drawn in another way"
    return files_differ(whole.files, other.files, whole.members.records[index], selects=selects)
