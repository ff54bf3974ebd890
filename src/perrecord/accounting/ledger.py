"""The ledger: what was charged, durably, and never more than the budget allows (T4)."""

import html
import os
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from perrecord.accounting import rows
from perrecord.accounting.budget import (
    Spent,
    check_charge,
    check_same,
    is_quickly_within,
    remark,
)
from perrecord.accounting.entries import (
    START,
    Charge,
    Creation,
    LedgerEntry,
    Publication,
    Seal,
    charge_fields,
    check_identity,
    check_meanings,
    check_snapshot,
    creation_fields,
    meanings_of,
    next_row,
    secret_digest,
)
from perrecord.accounting.storage import create, reading, writing
from perrecord.errors import InputError, InternalError, LedgerError
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read

_MOST_ATTEMPTS = 4
"""Comparisons outside a transaction that others' charges may overtake, before one inside it."""

State = Literal["unknown", "charged", "sealed", "published"]


@dataclass(frozen=True, slots=True)
class _Seen:
    """How far this process has checked the ledger, and what was spent up to there."""

    count: int
    last: str
    spent: Spent
    meanings: Mapping[str, tuple[str | None, int]]


class _TakesLongError(Exception):
    """A charge is not quickly seen to fit the budget, at this state of the ledger."""

    def __init__(self, seen: _Seen) -> None:
        super().__init__("the comparison with the budget takes long")
        self.seen = seen


class Ledger:
    """A budget and the charges against it, in one file that only ever grows.

    A charge is accepted only if all charges together stay below the budget for EVERY possible
    record. Queries may then be chosen one after the other, each knowing the answers before it,
    and the whole session is P_B-PRzCDP with P_B the budget (T4). That is the guarantee to state:
    the running sum is none, because it depends on the answers.

    >>> import tempfile
    >>> from perrecord import Policy, Split
    >>> from perrecord.accounting.budget import Budget
    >>> scheme = Split(employees=50)
    >>> path = tempfile.mkdtemp() + "/ledger.db"
    >>> ledger = Ledger.create(path, Budget(1, scheme), name="establishments")
    >>> data = "2026-11"
    >>> split = Policy.split("0.9", scheme)
    >>> charge = ledger.charge(split, label="employees by county", snapshot=data)
    >>> ledger.spent()
    Policy(0.9·pieces² of Split(employees=50))
    >>> ledger.charge(Policy.constant("0.2"), label="establishments", snapshot=data)
    Traceback (most recent call last):
    perrecord.errors.BudgetExceededError: a record with employees = 0 would lose 1.1 rho in all, \
and its budget is 1. This charge takes 0.2 of it, and 0.1 is left. Nothing was charged. Ask for \
less rho, for fewer answers, or with a scheme that the budget declares.

    Any number of threads and processes may use one ledger at once. Nothing that depends on the data
    belongs into a label, an identity, the name of a snapshot or details: they are not confidential.
    """

    def __init__(self, path: Path, entries: list[LedgerEntry], secret: bytes) -> None:
        first = entries[0]
        if not isinstance(first, Creation):
            raise InternalError("A ledger was opened without its first entry.")
        self._path = path
        self._name = first.name
        self._budget = first.budget
        self._secret = secret
        spent = Spent(Policy.zero(first.budget.currency), {}).after(entries)
        # One frozen value, replaced as a whole: threads need no lock, and a fork copies it.
        self._seen = _Seen(len(entries), entries[-1].hash, spent, meanings_of(entries))

    # -- opening ----------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | os.PathLike[str], budget: Policy, *, name: str = "") -> "Ledger":
        """Make a new ledger with this budget, fixed from now on; an existing file is refused."""
        if not isinstance(name, str):
            raise InputError(f"the name is a {type(name).__name__}; expected text.")
        where, secret = Path(path).absolute(), secrets.token_bytes(32)
        fields = creation_fields(name, budget, secret_digest(secret))
        create(where, next_row(fields, 0, START), secret)
        return cls.open(where)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Open a ledger that exists, having checked all of it."""
        where = Path(path).absolute()
        with reading(where) as connection:
            return cls(where, *rows.whole(where, connection))

    # -- looking ----------------------------------------------------------------------------

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
        """The policy that all charges together stay below: the guarantee of all answers (T4)."""
        return self._budget

    @property
    def secret(self) -> bytes:
        """32 random bytes for keyed hashes of confidential files; never exported."""
        return self._secret

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return every entry, the creation first."""
        with reading(self._path) as connection:
            return tuple(self._every(connection))

    def spent(self) -> Policy:
        """Return what all charges so far add up to; keep it on your desk, and publish the budget.

        With charges on several snapshots of the data it is the sum of their largest losses (T4).
        """
        with reading(self._path) as connection:
            return self._refreshed(connection).spent.total()

    def spent_with(self, policy: Policy, *, snapshot: str) -> Policy:
        """Return what all charges would add up to with one more, whether it fits or not."""
        check_snapshot(snapshot)
        with reading(self._path) as connection:
            return self._refreshed(connection).spent.with_charge(policy, snapshot).total()

    def remark(self, snapshot: str) -> str | None:
        """Return what to know before charging on a snapshot; None if it is that of all charges."""
        check_snapshot(snapshot)
        with reading(self._path) as connection:
            return remark(self._refreshed(connection).spent, snapshot)

    def preview(
        self, policy: Policy, *, snapshot: str, meanings: Mapping[str, str] | None = None
    ) -> None:
        """Raise BudgetExceededError if the policy could not be charged now; charges nothing."""
        fields = charge_fields(policy, "preview", None, snapshot, meanings or {}, {})
        with reading(self._path) as connection:
            seen = self._refreshed(connection)
            check_meanings(self._path, seen.meanings, names_read(policy), fields["meanings"])
            check_charge(seen.spent, policy, snapshot, self._budget)

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

        The chain shows that entries belong together. That the whole was not rewritten, or
        replaced by an older copy, only a hash that was kept elsewhere can show: give such hashes,
        for example those of published charges, as `noted`.
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

    # -- writing ----------------------------------------------------------------------------

    def charge(
        self,
        policy: Policy,
        *,
        label: str,
        snapshot: str,
        identity: str | None = None,
        meanings: Mapping[str, str] | None = None,
        details: Mapping[str, object] | None = None,
    ) -> Charge:
        """Write a charge down, durably, or raise BudgetExceededError; call it before computing.

        With an identity that was charged before, the earlier charge is returned and nothing is
        charged again: what is computed twice under one charge must be published once (see
        `seal`). A charge is never refunded: an answer that was not looked at cannot be told from
        one that was.

        The snapshot names the state of the data that the charge is for. Charges on one snapshot
        add up record by record; those on another count with their largest loss of any record,
        because a record may have changed in any way in between (T4).

        On one snapshot a name must mean the same in every charge. Sessions
        and releases say with `meanings` what each name that the policy reads stands for in the
        table; a charge that says otherwise than an earlier one is refused.
        """
        fields = charge_fields(policy, label, identity, snapshot, meanings or {}, details or {})
        compared_at = None
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._write_charge(fields, policy, identity, compared_at)
            except _TakesLongError as found:
                # While others may charge. A refusal stands, since charges are never taken back;
                # a yes is for this state of the ledger, and the next attempt checks whether it is.
                check_charge(found.seen.spent, policy, snapshot, self._budget)
                compared_at = found.seen.last
        return self._write_charge(fields, policy, identity, None, is_last=True)

    def _write_charge(
        self,
        fields: dict[str, Any],
        policy: Policy,
        identity: str | None,
        compared_at: str | None,
        *,
        is_last: bool = False,
    ) -> Charge:
        """Write a charge down if it fits the budget; raise if that would keep others waiting.

        With `compared_at` it was found to fit after the entry of that hash.
        """
        snapshot: str = fields["snapshot"]
        with writing(self._path) as connection:
            seen = self._refreshed(connection)
            earlier = rows.charge_with(self._path, connection, identity)
            if earlier is not None:
                check_same(self._path, earlier, policy, snapshot)
                return earlier
            check_meanings(self._path, seen.meanings, names_read(policy), fields["meanings"])
            if compared_at != seen.last:
                if is_last:  # whoever was overtaken so often makes the others wait
                    check_charge(seen.spent, policy, snapshot, self._budget)
                elif not is_quickly_within(seen.spent, policy, snapshot, self._budget):
                    raise _TakesLongError(seen)
            return rows.only(Charge, self._append(connection, seen, fields))

    def seal(self, charge: Charge, digests: Mapping[str, str]) -> Seal:
        """Write down the digests of what was computed for a charge: once, and no others after.

        The same digests again return the same seal, so that a retry can publish the sealed bytes.
        """
        rows.check_is_charge(charge)
        if not isinstance(digests, Mapping) or not digests or not _all_text(digests):
            raise InputError(
                "the digests are not a dictionary from names to digests; give such as "
                '{"answers.csv": "9f86d0..."}.'
            )
        fields = {"kind": "seal", "charge": charge.number, "digests": dict(digests)}
        with writing(self._path) as connection:
            seen = self._refreshed(connection)
            rows.check_own(self._path, connection, charge)
            earlier = rows.seal_of(self._path, connection, charge)
            if earlier is None:
                return rows.only(Seal, self._append(connection, seen, fields))
            if dict(earlier.digests) != fields["digests"]:
                raise LedgerError(
                    f"{self._path}: the charge of entry {charge.number} was sealed with other "
                    f"digests, in entry {earlier.number}. One charge pays for one result: publish "
                    "the bytes that were sealed, or charge anew for a new computation."
                )
            return earlier

    def publish(self, charge: Charge, *, place: str = "") -> Publication:
        """Write down that the sealed bytes of a charge were published; refused without a seal.

        Call it after the files are in place. The same place again returns the same entry.
        """
        rows.check_is_charge(charge)
        if not isinstance(place, str):
            raise InputError(f"the place is a {type(place).__name__}; expected text.")
        fields = {"kind": "publication", "charge": charge.number, "place": place}
        with writing(self._path) as connection:
            seen = self._refreshed(connection)
            rows.check_own(self._path, connection, charge)
            if rows.seal_of(self._path, connection, charge) is None:
                raise LedgerError(
                    f"{self._path}: the charge of entry {charge.number} is not sealed yet; call "
                    "ledger.seal(charge, digests) before anything is published."
                )
            for earlier in rows.publications_of(self._path, connection, charge):
                if earlier.place == place:
                    return earlier
            return rows.only(Publication, self._append(connection, seen, fields))

    # -- inside a transaction ---------------------------------------------------------------

    def _refreshed(self, connection: sqlite3.Connection) -> _Seen:
        """Check what was appended since the last time, and return where that leads to."""
        seen = self._seen
        rows.check_size(self._path, connection)
        rows.check_schema(self._path, connection)
        rows.still_there(self._path, connection, seen.count, seen.last)
        fresh = list(rows.following(self._path, connection, seen.count, seen.last))
        if fresh:
            spent = seen.spent.after(fresh)
            meanings = {**meanings_of(fresh), **seen.meanings}
            seen = _Seen(seen.count + len(fresh), fresh[-1].hash, spent, meanings)
            self._seen = seen
        return seen

    def _every(self, connection: sqlite3.Connection) -> list[LedgerEntry]:
        self._refreshed(connection)
        return list(rows.following(self._path, connection, 0, START))

    def _append(
        self, connection: sqlite3.Connection, seen: _Seen, fields: dict[str, Any]
    ) -> LedgerEntry:
        row = next_row(fields, seen.count, seen.last)
        rows.append(connection, row)
        return rows.checked(self._path, row, seen.last)

    # -- showing ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Ledger({str(self._path)!r}, {self._seen.count} entries, budget {self._budget})"

    def _repr_html_(self) -> str:
        lines = [
            f"Ledger {self._name}",
            f"{self._seen.count} entries in {self._path}",
            f"Budget: {self._budget.describe()}",
            f"Spent: {self._seen.spent.total().describe()}",
        ]
        return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def _all_text(digests: Mapping[str, str]) -> bool:
    return all(isinstance(part, str) and part for pair in digests.items() for part in pair)
