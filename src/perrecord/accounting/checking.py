"""Checking a ledger: every entry is as it was written, follows the one before, and is there."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from perrecord.accounting import chain, schema
from perrecord.accounting.entries import Creation, Entry, entry_of
from perrecord.accounting.schema import RESTORE, Row
from perrecord.errors import LedgerError


def whole(path: Path, connection: sqlite3.Connection) -> tuple[list[Entry], bytes]:
    """Return every entry and the secret, having checked all that is in the file."""
    schema.check_size(path, connection)
    schema.check_schema(path, connection)
    schema.check_pages(path, connection)
    entries = list(following(path, connection, 0, chain.START))
    secret = schema.secret(path, connection)
    if not entries or not isinstance(entries[0], Creation):
        raise LedgerError(f"{path}: entry 0 is missing or names no budget: {RESTORE}")
    if chain.secret_digest(secret) != entries[0].secret:
        raise LedgerError(f"{path}: its secret was changed: {RESTORE}")
    return entries, secret


def following(path: Path, connection: sqlite3.Connection, count: int, last: str) -> Iterator[Entry]:
    """Yield the entries after the first `count`, whose last hash is known, up to the head.

    Refuses at the first entry that is not what was written, and if entries are gone.
    """
    for row in schema.rows(connection, count):
        if row.number != count:
            raise LedgerError(f"{path}: entry {count} is missing: {RESTORE}")
        yield checked(path, row, last)
        count, last = count + 1, row.hash
    if schema.head(path, connection) != (count, last):
        raise LedgerError(
            f"{path}: entry {count} is missing, or was written by hand: the ledger ends elsewhere "
            f"than it says: {RESTORE}"
        )


def still_there(path: Path, connection: sqlite3.Connection, count: int, last: str) -> None:
    """Refuse if the ledger has lost or changed the last entry that was checked before."""
    row = next(iter(schema.rows(connection, count - 1)), None)
    if row is None or (row.number, row.hash) != (count - 1, last):
        raise LedgerError(
            f"{path}: entry {count - 1} is not the one that was there before: the ledger was "
            f"changed or replaced by an older one: {RESTORE}"
        )
    checked(path, row)


def checked(path: Path, row: Row, previous: str | None = None) -> Entry:
    """Return the entry of a row, or refuse it if it is not what was written."""
    if chain.digest(row.written) != row.hash:
        raise LedgerError(f"{path}: entry {row.number} was changed: {RESTORE}")
    try:
        fields = json.loads(row.written)
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


_BESIDE = ("charge", "identity")


def known(path: Path, entries: Iterable[Entry], noted: Iterable[str]) -> None:
    """Refuse if a hash that somebody noted down is not that of an entry."""
    missing = {*noted} - {entry.hash for entry in entries}
    if missing:
        raise LedgerError(
            f"{path}: holds no entry with the hash {min(missing)}, which was noted down earlier: "
            f"the ledger was rewritten or replaced: {RESTORE}"
        )
