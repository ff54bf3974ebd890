"""The ledger: what was charged, durably, and never more than the budget allows (T4)."""

import logging
import os
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from perrecord.accounting import rows
from perrecord.accounting.budget import check_charge, check_same, is_quickly_within
from perrecord.accounting.entries import (
    START,
    Charge,
    LedgerEntry,
    Publication,
    Seal,
    charge_fields,
    creation_fields,
    next_row,
    secret_digest,
)
from perrecord.accounting.opened import LedgerReader, Seen
from perrecord.accounting.parts import BudgetPart, parts_of
from perrecord.accounting.storage import create, reading, writing
from perrecord.errors import InputError, LedgerError
from perrecord.policy.policy import Policy

_MOST_ATTEMPTS = 4
"""Comparisons outside a transaction that others' charges may overtake, before one inside it."""

_LOG = logging.getLogger("perrecord.ledger")


class _TakesLongError(Exception):
    """A charge is not quickly seen to fit its part of the budget, after the entry of this hash."""

    def __init__(self, part: BudgetPart, last: str) -> None:
        super().__init__("the comparison with the budget takes long")
        self.part = part
        self.last = last


class Ledger(LedgerReader):
    """A budget and the charges against it, in one file that only ever grows.

    A charge is accepted only if all charges together stay below the budget for EVERY possible
    record. Queries may then be chosen one after the other, each knowing the answers before it,
    and the whole session is P_B-PRzCDP with P_B the budget (T4). That is the guarantee to state:
    the running sum is not one, because it depends on the answers.

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
    belongs in a label, an identity, the name of a snapshot or details: they are not confidential.
    """

    # -- opening ----------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        budget: Policy | Mapping[str, Policy],
        *,
        name: str = "",
        periods: str | Iterable[str | int] | None = None,
    ) -> "Ledger":
        """Make a new ledger with this budget, fixed from now on; an existing file is refused.

        With `periods`, such as "2026..2035", the budget is that of each of them; a dictionary has
        one for each (T35).
        """
        if not isinstance(name, str):
            raise InputError(f"the name is a {type(name).__name__}; expected text.")
        where, secret = Path(path).absolute(), secrets.token_bytes(32)
        fields = creation_fields(name, parts_of(budget, periods), secret_digest(secret))
        create(where, next_row(fields, 0, START), secret)
        return cls.open(where)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Open a ledger that exists, having checked all of it."""
        where = Path(path).absolute()
        with reading(where) as connection:
            return cls(where, *rows.whole(where, connection))

    def preview(
        self,
        policy: Policy,
        *,
        snapshot: str,
        meanings: Mapping[str, str] | None = None,
        period: str | None = None,
        revision: str | None = None,
    ) -> None:
        """Raise BudgetExceededError if the policy could not be charged now; charges nothing."""
        fields = charge_fields(
            policy, "preview", None, snapshot, meanings or {}, {}, period=period, revision=revision
        )
        part = self.part(period)
        part.check(self._path, policy, snapshot, revision, fields["meanings"])
        check_charge(part.spent, policy, snapshot, part.budget)

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
        period: str | None = None,
        revision: str | None = None,
    ) -> Charge:
        """Write a charge down, durably, or raise BudgetExceededError; call it before computing.

        With an identity that was charged before, the earlier charge is returned and nothing is
        charged again: what is computed twice under one charge must be published once (see
        `seal`). A charge is never refunded: an answer that was not looked at cannot be told from
        one that was.

        The snapshot names the state of the data that the charge is for. Charges on one snapshot
        add up record by record; those on another count with their largest loss of any record,
        because a record may have changed in any way in between (T4).

        In a ledger with periods the charge names its `period`, is compared with that period's part,
        and adds up with the charges of that period alone. Other data under the same period is
        refused unless a `revision` says why it is another (T35).

        On one snapshot, or in one period, a name must mean the same in every charge. Sessions
        and releases say with `meanings` what each name that the policy reads stands for in the
        table; a charge that says otherwise than an earlier one is refused.
        """
        fields = charge_fields(
            policy,
            label,
            identity,
            snapshot,
            meanings or {},
            details or {},
            period=period,
            revision=revision,
        )
        compared_at = None
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._write_charge(fields, policy, identity, compared_at)
            except _TakesLongError as found:
                # While others may charge. A refusal stands, since charges are never taken back;
                # a yes is for this state of the ledger, and the next attempt checks whether it is.
                check_charge(found.part.spent, policy, snapshot, found.part.budget)
                compared_at = found.last
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
        period, revision = fields.get("period"), fields.get("revision")
        with writing(self._path) as connection:
            seen = self._refreshed(connection)
            part = seen.parts.part(self._path, period)
            earlier = rows.charge_with(self._path, connection, identity)
            if earlier is not None:
                check_same(self._path, earlier, policy, snapshot, period)
                return earlier
            part.check(self._path, policy, snapshot, revision, fields["meanings"])
            if compared_at != seen.last:
                if is_last:  # whoever was overtaken so often makes the others wait
                    check_charge(part.spent, policy, snapshot, part.budget)
                elif not is_quickly_within(part.spent, policy, snapshot, part.budget):
                    raise _TakesLongError(part, seen.last)
            return rows.only(Charge, self._append(connection, seen, fields))

    def seal(self, charge: Charge, digests: Mapping[str, str]) -> Seal:
        """Write down the digests of what was computed for a charge: once, and no others after.

        The same digests again return the same seal, so that a retry can publish the sealed bytes.
        """
        rows.check_is_charge(charge)
        if not isinstance(digests, Mapping) or not digests or not _all_text(digests):
            raise InputError(
                "the digests are not a dictionary from names to digests; give something like "
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

    def _append(
        self, connection: sqlite3.Connection, seen: Seen, fields: dict[str, Any]
    ) -> LedgerEntry:
        row = next_row(fields, seen.count, seen.last)
        rows.append(connection, row)
        entry = rows.checked(self._path, row, seen.last)
        _LOG.info("writing a %s", type(entry).__name__.lower())
        return entry


def _all_text(digests: Mapping[str, str]) -> bool:
    return all(isinstance(part, str) and part for pair in digests.items() for part in pair)
