"""What is in the file of a ledger: its tables and triggers, and the statements on them."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perrecord.errors import LedgerError

APPLICATION = 0x50524C47  # "PRLG"
VERSION = 1

RESTORE = (
    "restore the newest backup, charge again whatever was released since, and look at it with "
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


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of entries."""

    number: int
    written: str
    hash: str
    kind: str
    charge: int | None
    identity: str | None


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


def rows(connection: sqlite3.Connection, start: int = 0) -> Iterator[Row]:
    """Yield the entries from a number on, in their order."""
    return (Row(*row) for row in connection.execute(_FROM_ON, (start,)))


def with_identity(connection: sqlite3.Connection, identity: str) -> Row | None:
    """Return the charge that was made under this identity."""
    row = connection.execute(_WITH_IDENTITY, (identity,)).fetchone()
    return None if row is None else Row(*row)


def about(connection: sqlite3.Connection, charge: int, kind: str) -> list[Row]:
    """Return the seals or publications of a charge, in their order."""
    return [Row(*row) for row in connection.execute(_ABOUT, (charge, kind))]


def head(path: Path, connection: sqlite3.Connection) -> tuple[int, str]:
    """Return how many entries there are, and the hash of the last."""
    found = connection.execute("SELECT count, hash FROM head").fetchall()
    if len(found) != 1:
        raise LedgerError(f"{path}: has lost its head: {RESTORE}")
    count, last = found[0]
    return count, last


def secret(path: Path, connection: sqlite3.Connection) -> bytes:
    """Return the ledger's secret."""
    found = connection.execute("SELECT value FROM secret").fetchall()
    if len(found) != 1:
        raise LedgerError(f"{path}: has lost its secret: {RESTORE}")
    return bytes(found[0][0])


def append(connection: sqlite3.Connection, row: Row) -> None:
    """Add one entry inside the current transaction."""
    connection.execute(
        "INSERT INTO entry (number, written, hash, kind, charge, identity)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (row.number, row.written, row.hash, row.kind, row.charge, row.identity),
    )
