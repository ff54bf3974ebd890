"""Finding the entries of a release inside a transaction; each is checked as it is read."""

import sqlite3
from pathlib import Path
from typing import TypeVar

from perrecord.accounting import checking, schema
from perrecord.accounting.entries import Charge, Entry, Publication, Seal
from perrecord.errors import InputError, InternalError, LedgerError

E = TypeVar("E", Charge, Seal, Publication)


def charge_with(path: Path, connection: sqlite3.Connection, identity: str | None) -> Charge | None:
    """Return the charge that was made under an identity; nothing was made under None."""
    row = None if identity is None else schema.with_identity(connection, identity)
    return None if row is None else only(Charge, checking.checked(path, row))


def seal_of(path: Path, connection: sqlite3.Connection, charge: Charge) -> Seal | None:
    """Return the seal of a charge."""
    rows = schema.about(connection, charge.number, "seal")
    return only(Seal, checking.checked(path, rows[0])) if rows else None


def publications_of(
    path: Path, connection: sqlite3.Connection, charge: Charge
) -> list[Publication]:
    """Return every publication of a charge."""
    rows = schema.about(connection, charge.number, "publication")
    return [only(Publication, checking.checked(path, row)) for row in rows]


def check_own(path: Path, connection: sqlite3.Connection, charge: Charge) -> None:
    """Refuse a charge that is not one of this ledger."""
    row = next(iter(schema.rows(connection, charge.number)), None)
    if row is None or row.hash != charge.hash:
        raise LedgerError(
            f"{path}: the charge is not one of this ledger; give what ledger.charge(...) of this "
            "ledger returned."
        )


def check_charge(charge: object) -> None:
    """Refuse what is no charge at all."""
    if not isinstance(charge, Charge):
        raise InputError(
            f"the charge is a {type(charge).__name__}; give what ledger.charge(...) returned."
        )


def only(kind: type[E], entry: Entry) -> E:
    """Return an entry of the kind that the ledger's own indices promise."""
    if not isinstance(entry, kind):
        raise InternalError(f"Entry {entry.number} of a ledger is no {kind.__name__}.")
    return entry
