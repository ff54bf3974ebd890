"""A ledger as it is read: what is in it, checked, and what that adds up to."""

import html
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from perrecord.accounting import rows
from perrecord.accounting.entries import (
    START,
    Charge,
    Creation,
    LedgerEntry,
    Seal,
    check_identity,
    check_snapshot,
)
from perrecord.accounting.parts import BudgetPart, BudgetParts
from perrecord.accounting.storage import reading
from perrecord.errors import InternalError, number_of
from perrecord.policy.policy import Policy

State = Literal["unknown", "charged", "sealed", "published"]


@dataclass(frozen=True, slots=True)
class Seen:
    """How far this process has checked the ledger, and what was charged up to there."""

    count: int
    last: str
    parts: BudgetParts


class LedgerReader:
    """The part of a ledger that writes nothing: its budget, its entries, what they add up to."""

    def __init__(self, path: Path, entries: list[LedgerEntry], secret: bytes) -> None:
        first = entries[0]
        if not isinstance(first, Creation):
            raise InternalError("A ledger was opened without its first entry.")
        self._path = path
        self._name = first.name
        self._budget = first.budget
        self._secret = secret
        # One frozen value, replaced as a whole: threads need no lock, and a fork copies it.
        self._seen = Seen(
            len(entries), entries[-1].hash, BudgetParts.of(first).after(path, entries)
        )

    @property
    def path(self) -> Path:
        """Where the ledger is."""
        return self._path

    @property
    def name(self) -> str:
        """What the ledger is called."""
        return self._name

    @property
    def budget(self) -> Policy:
        """The policy that all charges together stay below: the guarantee of all answers (T4).

        With periods it is the sum of their parts: what a record that stays the same in all of
        them may lose (T35).
        """
        return self._budget

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of the periods, in their order; none in a ledger without."""
        return self._seen.parts.periods

    def part(self, period: str | None = None) -> BudgetPart:
        """Return the part of a period: its budget, and what was charged to it so far.

        In a ledger without periods it is all there is.
        """
        with reading(self._path) as connection:
            return self._refreshed(connection).parts.part(self._path, period)

    @property
    def secret(self) -> bytes:
        """32 random bytes for keyed hashes of confidential files; never exported."""
        return self._secret

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return every entry, the creation first."""
        with reading(self._path) as connection:
            return tuple(self._every(connection))

    @property
    def has_charges(self) -> bool:
        """Whether anything was charged to it: one that paid for nothing may be made again."""
        return any(isinstance(each, Charge) for each in self.entries())

    def spent(self) -> Policy:
        """Return what all charges so far add up to; keep it to yourself, and publish the budget.

        With charges on several snapshots of the data it is the sum of their largest losses (T4);
        with periods it is what a record has lost that stayed the same in all of them.
        """
        with reading(self._path) as connection:
            return self._refreshed(connection).parts.spent()

    def spent_with(self, policy: Policy, *, snapshot: str, period: str | None = None) -> Policy:
        """Return what all charges, of its period, would add up to with one more, fit or not."""
        check_snapshot(snapshot)
        return self.part(period).spent.with_charge(policy, snapshot).total()

    def remark(self, snapshot: str, period: str | None = None) -> str | None:
        """Return what to know before charging on a snapshot; None if it is that of all charges."""
        check_snapshot(snapshot)
        with reading(self._path) as connection:
            return self._refreshed(connection).parts.remark(self._path, snapshot, period)

    def charge_of(self, identity: str) -> Charge | None:
        """Return the charge that was made under this identity; None if there is none."""
        check_identity(identity)
        with reading(self._path) as connection:
            self._refreshed(connection)
            return rows.charge_with(self._path, connection, identity)

    def seal_of(self, charge: Charge) -> Seal | None:
        """Return the seal of a charge; None if it has none yet."""
        rows.check_is_charge(charge)
        with reading(self._path) as connection:
            self._refreshed(connection)
            rows.check_own(self._path, connection, charge)
            return rows.seal_of(self._path, connection, charge)

    def state_of(self, identity: str) -> State:
        """Return how far a release has come: unknown, charged, sealed or published."""
        check_identity(identity)
        with reading(self._path) as connection:
            self._refreshed(connection)
            charge = rows.charge_with(self._path, connection, identity)
            if charge is None:
                return "unknown"
            if rows.publications_of(self._path, connection, charge):
                return "published"
            return "sealed" if rows.seal_of(self._path, connection, charge) else "charged"

    def verify(self, noted: Iterable[str] = ()) -> int:
        """Return the number of entries, having checked all of the file from the beginning.

        The chain shows that entries belong together. Only a hash kept elsewhere can show that
        the file was not rewritten, or replaced by an older copy: give such hashes, for example
        those of published charges, as `noted`.
        """
        with reading(self._path) as connection:
            entries, _ = rows.whole(self._path, connection)
            self._refreshed(connection)
        rows.known(self._path, entries, noted)
        return len(entries)

    def export(self) -> str:
        """Return every entry as a line of canonical JSON; the secret is not among them.

        Each line holds the SHA-256 of the line before it as `previous`.
        """
        with reading(self._path) as connection:
            self._every(connection)
            return "".join(f"{row.written}\n" for row in rows.rows_from(connection))

    def lines(self) -> list[dict[str, Any]]:
        """Return what each line of `export` holds, as plain values."""
        with reading(self._path) as connection:
            self._every(connection)
            return [rows.fields_of(row) for row in rows.rows_from(connection)]

    # -- inside a transaction ---------------------------------------------------------------

    def _refreshed(self, connection: sqlite3.Connection) -> Seen:
        """Check what was appended since the last time, and return where that leads to."""
        seen = self._seen
        rows.check_size(self._path, connection)
        rows.check_schema(self._path, connection)
        rows.still_there(self._path, connection, seen.count, seen.last)
        fresh = list(rows.following(self._path, connection, seen.count, seen.last))
        if fresh:
            parts = seen.parts.after(self._path, fresh)
            seen = Seen(seen.count + len(fresh), fresh[-1].hash, parts)
            self._seen = seen
        return seen

    def _every(self, connection: sqlite3.Connection) -> list[LedgerEntry]:
        self._refreshed(connection)
        return list(rows.following(self._path, connection, 0, START))

    # -- showing ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        entries = number_of(self._seen.count, "entry", "entries")
        return f"Ledger({str(self._path)!r}, {entries}, budget {self._budget})"

    def _repr_html_(self) -> str:
        lines = [
            f"Ledger {self._name}",
            f"{number_of(self._seen.count, 'entry', 'entries')} in {self._path}",
            f"Budget: {self._budget.describe()}",
            f"Spent: {self._seen.parts.spent().describe()}",
        ]
        return f"<pre>{html.escape(chr(10).join(lines))}</pre>"
