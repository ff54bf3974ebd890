"""Whole releases with and without a record: nothing in them but public text and what was run."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from perrecord.accounting.entries import Charge, Creation, Entry, Publication, Seal
from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit import random_specs, random_tables
from perrecord.lab.audit.random_tables import Row
from perrecord.lab.audit.replay.checks import Check
from perrecord.lab.audit.replay.files import Files, fault_alone, files_differ, files_of
from perrecord.lab.audit.replay.frozen import FrozenBits
from perrecord.lab.audit.replay.members import Members
from perrecord.lab.audit.replay.recomputed import recomputed
from perrecord.mechanisms.run import run
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

RELEASE = "whole releases"
_RECORDS = 9
"""So few that most cells empty with one of them."""
_KEYED = re.compile("(?<=^hmac:)[0-9a-f]{64}$")
"""A hash of the data under the secret of a ledger, as a charge names its snapshot."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one release left behind, and what it said on the way."""

    files: Files
    steps: tuple[str, ...]
    entries: tuple[Entry, ...]
    drawn: tuple[int, ...]
    members: Members
    run: Check
    """Whether running the same plan again, by itself, gives what it must."""


def release_checks(random: Random, pairs: int, seed: int) -> Iterator[Check]:
    """Yield, for a random spec and table, whether releases without some records differ wrongly."""
    rows = random_tables.rows(random, _RECORDS, extreme=random.random() < 0.3, unique=False)
    selects = random.random() < 0.4
    written = random_specs.spec(random, selects=selects)
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
        whole = _side(Path(name) / "whole", written, rows, seed)
        yield whole.run
        for index in random.sample(range(_RECORDS), pairs):
            kept = [row for place, row in enumerate(rows) if place != index]
            other = _side(Path(name) / f"without{index}", written, kept, seed)
            yield replace(other.run, record=index)
            fault = difference(whole, other, index, selects=selects)
            yield Check(RELEASE, index, fault=fault)


def _side(folder: Path, written: Mapping[str, Any], rows: Sequence[Row], seed: int) -> Side:
    """Make a release of these rows in a new folder, with a ledger of its own."""
    path = random_specs.write(folder, written, list(rows))
    loaded = load_spec(path)
    again = FrozenBits(seed)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        ledger = Ledger.create(folder / random_specs.LEDGER, workload.budget)
        planned = workload.plan
        answers = run(planned, table, _bits=again)
        members = Members.of(table.schema, rows)
    check = recomputed(planned, members, range(len(rows)), seed, answers, again.drawn)
    steps: list[str] = []
    bits = FrozenBits(seed)
    out = folder / "out"
    release(path, out, progress=steps.append, _bits=bits)
    every = ledger.entries()
    charge = next(each.hash for each in every if isinstance(each, Charge))
    files = files_of(out, workload, planned, answers, charge)
    entries = tuple(_without_digests(each, folder) for each in every)
    return Side(files, tuple(steps), entries, tuple(bits.drawn), members, check)


def _without_digests(entry: Entry, folder: Path) -> Entry:
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
