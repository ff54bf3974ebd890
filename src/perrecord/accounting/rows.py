"""What is in the file of a ledger: its tables and triggers, and rows that are checked when read.

Every entry is as it was written, follows the one before, and is there; or the ledger is refused.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from perrecord.accounting.entries import (
    START,
    Charge,
    Creation,
    EntryRow,
    LedgerEntry,
    Publication,
    Seal,
    digest,
    entry_of,
    secret_digest,
)
from perrecord.errors import InputError, InternalError, LedgerError

APPLICATION = 0x50524C47  # "PRLG"
VERSION = 1

RESTORE = (
    "restore the newest backup, charge again whatever was released since, and check it with "
    "`perrecord ledger verify`. Never start a new ledger for the same data."
)


SCHEMA = (
    """CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    written TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('creation', 'charge', 'seal', 'publication')),
    charge INTEGER REFERENCES entry (number),
    identity TEXT UNIQUE
) STRICT""",
    "CREATE UNIQUE INDEX one_seal_for_each_charge ON entry (charge) WHERE kind = 'seal'",
    "CREATE INDEX entries_about_a_charge ON entry (charge, kind)",
    """CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    count INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT""",
    """CREATE TABLE secret (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    value BLOB NOT NULL CHECK (length(value) = 32)
) STRICT""",
    """CREATE TRIGGER an_entry_is_the_next_one BEFORE INSERT ON entry
    WHEN NEW.number IS NOT (SELECT count FROM head)
    BEGIN SELECT RAISE(ABORT, 'entries are appended one after the other'); END""",
    """CREATE TRIGGER the_head_follows AFTER INSERT ON entry
    BEGIN UPDATE head SET count = NEW.number + 1, hash = NEW.hash; END""",
    """CREATE TRIGGER no_entry_changes BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'no entry of a ledger is ever changed'); END""",
    """CREATE TRIGGER no_entry_goes BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'no entry of a ledger is ever deleted'); END""",
    """CREATE TRIGGER the_head_never_goes_back BEFORE UPDATE ON head
    WHEN NEW.count IS NOT OLD.count + 1
    BEGIN SELECT RAISE(ABORT, 'the head of a ledger never goes back'); END""",
)


def check_schema(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a database whose tables, indices and triggers are not those of a ledger."""
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    if {sql for (sql,) in rows} != set(SCHEMA):
        raise LedgerError(f"{path}: its tables or triggers were changed: {RESTORE}")


def check_size(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that ends before it should; SQLite reads a page cut short as zeros."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    if path.stat().st_size < pages * size:
        raise LedgerError(f"{path}: its end is missing: {RESTORE}")


def check_pages(path: Path, connection: sqlite3.Connection) -> None:
    """Let SQLite look at every page, index and reference of the file."""
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok" or connection.execute("PRAGMA foreign_key_check").fetchone():
        raise LedgerError(f"{path}: is damaged: {RESTORE}")


_SELECT = "SELECT number, written, hash, kind, charge, identity FROM entry"
_FROM_ON = f"{_SELECT} WHERE number >= ? ORDER BY number"
_WITH_IDENTITY = f"{_SELECT} WHERE identity = ?"
_ABOUT = f"{_SELECT} WHERE charge = ? AND kind = ? ORDER BY number"


def rows_from(connection: sqlite3.Connection, start: int = 0) -> Iterator[EntryRow]:
    """Yield the entries from a number on, in their order."""
    return (EntryRow(*row) for row in connection.execute(_FROM_ON, (start,)))


def with_identity(connection: sqlite3.Connection, identity: str) -> EntryRow | None:
    """Return the charge that was made under this identity."""
    row = connection.execute(_WITH_IDENTITY, (identity,)).fetchone()
    return None if row is None else EntryRow(*row)


def about(connection: sqlite3.Connection, charge: int, kind: str) -> list[EntryRow]:
    """Return the seals or publications of a charge, in their order."""
    return [EntryRow(*row) for row in connection.execute(_ABOUT, (charge, kind))]


def head(path: Path, connection: sqlite3.Connection) -> tuple[int, str]:
    """Return how many entries there are, and the hash of the last."""
    found = connection.execute("SELECT count, hash FROM head").fetchall()
    if len(found) != 1:
        raise LedgerError(f"{path}: has lost its head: {RESTORE}")
    count, last = found[0]
    return count, last


def secret_of(path: Path, connection: sqlite3.Connection) -> bytes:
    """Return the ledger's secret."""
    found = connection.execute("SELECT value FROM secret").fetchall()
    if len(found) != 1:
        raise LedgerError(f"{path}: has lost its secret: {RESTORE}")
    return bytes(found[0][0])


def append(connection: sqlite3.Connection, row: EntryRow) -> None:
    """Add one entry inside the current transaction."""
    connection.execute(
        "INSERT INTO entry (number, written, hash, kind, charge, identity)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (row.number, row.written, row.hash, row.kind, row.charge, row.identity),
    )


# -- every entry, checked -------------------------------------------------------------------

_BESIDE = ("charge", "identity")
"""What a row holds beside its text."""


def whole(path: Path, connection: sqlite3.Connection) -> tuple[list[LedgerEntry], bytes]:
    """Return every entry and the secret, having checked all that is in the file."""
    check_size(path, connection)
    check_schema(path, connection)
    check_pages(path, connection)
    entries = list(following(path, connection, 0, START))
    secret = secret_of(path, connection)
    if not entries or not isinstance(entries[0], Creation):
        raise LedgerError(f"{path}: entry 0 is missing or names no budget: {RESTORE}")
    if secret_digest(secret) != entries[0].secret:
        raise LedgerError(f"{path}: its secret was changed: {RESTORE}")
    return entries, secret


def following(
    path: Path, connection: sqlite3.Connection, count: int, last: str
) -> Iterator[LedgerEntry]:
    """Yield the entries after the first `count`, whose last hash is known, up to the head.

    Refuses at the first entry that is not what was written, and if entries are gone.
    """
    for row in rows_from(connection, count):
        if row.number != count:
            raise LedgerError(f"{path}: entry {count} is missing: {RESTORE}")
        yield checked(path, row, last)
        count, last = count + 1, row.hash
    if head(path, connection) != (count, last):
        raise LedgerError(
            f"{path}: entry {count} is missing, or was written by hand: the ledger does not end "
            f"where it says: {RESTORE}"
        )


def still_there(path: Path, connection: sqlite3.Connection, count: int, last: str) -> None:
    """Refuse if the ledger has lost or changed the last entry that was checked before."""
    row = next(iter(rows_from(connection, count - 1)), None)
    if row is None or (row.number, row.hash) != (count - 1, last):
        raise LedgerError(
            f"{path}: entry {count - 1} is not the one that was there before: the ledger was "
            f"changed or replaced by an older one: {RESTORE}"
        )
    checked(path, row)


def checked(path: Path, row: EntryRow, previous: str | None = None) -> LedgerEntry:
    """Return the entry of a row, or refuse it if it is not what was written."""
    if digest(row.written) != row.hash:
        raise LedgerError(f"{path}: entry {row.number} was changed: {RESTORE}")
    try:
        fields = fields_of(row)
        if previous is not None and fields["previous"] != previous:
            raise LedgerError(f"{path}: entry {row.number} does not follow the last: {RESTORE}")
        beside = (row.number, row.kind, row.charge, row.identity)
        written = (*(fields[name] for name in ("number", "kind")), *map(fields.get, _BESIDE))
        if beside != written:
            raise LedgerError(f"{path}: entry {row.number} was changed beside its text: {RESTORE}")
        return entry_of(fields, row.hash)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise LedgerError(
            f"{path}: entry {row.number} is in a form that this perrecord does not know. A newer "
            "perrecord may: pip install --upgrade perrecord. If it does not, "
            f"{RESTORE}"
        ) from None


def fields_of(row: EntryRow) -> dict[str, Any]:
    """Return what the line of a row holds: the disk is where its text comes from."""
    fields: dict[str, Any] = json.loads(row.written)
    return fields


def known(path: Path, entries: Iterable[LedgerEntry], noted: Iterable[str]) -> None:
    """Refuse if a hash that somebody noted down is not that of an entry."""
    missing = {*noted} - {entry.hash for entry in entries}
    if missing:
        raise LedgerError(
            f"{path}: holds no entry with the hash {min(missing)}, which was noted down earlier: "
            f"the ledger was rewritten or replaced: {RESTORE}"
        )


# -- the entries of one release -------------------------------------------------------------

E = TypeVar("E", Charge, Seal, Publication)


def charge_with(path: Path, connection: sqlite3.Connection, identity: str | None) -> Charge | None:
    """Return the charge that was made under an identity; nothing was made under None."""
    row = None if identity is None else with_identity(connection, identity)
    return None if row is None else only(Charge, checked(path, row))


def seal_of(path: Path, connection: sqlite3.Connection, charge: Charge) -> Seal | None:
    """Return the seal of a charge."""
    rows = about(connection, charge.number, "seal")
    return only(Seal, checked(path, rows[0])) if rows else None


def publications_of(
    path: Path, connection: sqlite3.Connection, charge: Charge
) -> list[Publication]:
    """Return every publication of a charge."""
    rows = about(connection, charge.number, "publication")
    return [only(Publication, checked(path, row)) for row in rows]


def check_own(path: Path, connection: sqlite3.Connection, charge: Charge) -> None:
    """Refuse a charge that is not one of this ledger."""
    row = next(iter(rows_from(connection, charge.number)), None)
    if row is None or row.hash != charge.hash:
        raise LedgerError(
            f"{path}: the charge is not one of this ledger; give what ledger.charge(...) of this "
            "ledger returned."
        )


def check_is_charge(charge: object) -> None:
    """Refuse what is no charge at all."""
    if not isinstance(charge, Charge):
        raise InputError(
            f"the charge is a {type(charge).__name__}; give what ledger.charge(...) returned."
        )


def only(kind: type[E], entry: LedgerEntry) -> E:
    """Return an entry of the kind that the ledger's own indices promise."""
    if not isinstance(entry, kind):
        raise InternalError(f"Entry {entry.number} of a ledger is no {kind.__name__}.")
    return entry
