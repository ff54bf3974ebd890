"""Entries of a ledger as frozen values, and the chain of their canonical lines.

    Creation      the budget, or that of each period, once
    Charge        a policy, before anything is computed
    Seal          the digests of what was computed for a charge
    Publication   where the sealed bytes were published

    line             =  canonical JSON: sorted keys, no spaces, ASCII, with "previous": the hash
                        of the line before
    hash of a line   =  SHA-256 of its UTF-8 text

An exported ledger is these lines and nothing else, so anybody can check it with `sha256sum`.

Entries hold no time of day, only the day: what lies between a charge and its seal is how long the
data took, and that is nobody's business.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from perrecord.errors import InputError, LedgerError, PerrecordError
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read

FORMAT = "perrecord-ledger"
VERSION = 2
PERIODS_VERSION = 3
READABLE = (1, VERSION, PERIODS_VERSION)
"""Version 1, of perrecord 0.1, holds charges that name no snapshot; version 3 has periods."""

START = "0" * 64
"""What stands as the hash before the first line."""


@dataclass(frozen=True, slots=True)
class Creation:
    """The first entry: what the ledger is called and what its charges stay below."""

    number: int
    hash: str
    day: str
    name: str
    budget: Policy = field(hash=False)
    """With periods, the sum of their parts: what a record may lose that stays the same (T35)."""
    secret: str
    """A digest of the secret, so that a changed secret is noticed."""
    periods: Mapping[str, Policy] = field(hash=False)
    """The part of each period, in their order; empty in a ledger without periods."""


@dataclass(frozen=True, slots=True)
class Charge:
    """The policy of one answer or release, written down before it is computed (T4)."""

    number: int
    hash: str
    day: str
    label: str
    identity: str | None
    snapshot: str | None
    """Which state of the data it was made on; None if it does not say, as in perrecord 0.1."""
    period: str | None
    """Which period the data is about; None in a ledger without periods."""
    revision: str | None
    """Why the data of the period is another than before; None if it is not."""
    policy: Policy = field(hash=False)
    meanings: Mapping[str, str] = field(hash=False)
    """What each name that the policy reads stands for in the table."""
    details: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Seal:
    """The digests of the bytes that were computed for a charge: those and no others go out."""

    number: int
    hash: str
    day: str
    charge: int
    digests: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Publication:
    """A place that the sealed bytes of a charge were published at."""

    number: int
    hash: str
    day: str
    charge: int
    place: str


LedgerEntry = Creation | Charge | Seal | Publication


def today() -> str:
    """Return the day in UTC, such as 2026-05-09."""
    return datetime.now(UTC).date().isoformat()


def creation_fields(
    name: str, budget: Policy | Mapping[str, Policy], secret: str
) -> dict[str, Any]:
    """Return what the first line says; a budget by period is written in the order of periods."""
    version, own = VERSION, dict[str, Any]()
    if isinstance(budget, Mapping):
        version = PERIODS_VERSION
        own["periods"] = [[period, document(part)] for period, part in budget.items()]
    else:
        own["budget"] = document(budget)
    named = {"kind": "creation", "format": FORMAT, "version": version, "name": name}
    return {**named, **own, "secret": secret}


def charge_fields(
    policy: Policy,
    label: str,
    identity: str | None,
    snapshot: str,
    meanings: Mapping[str, str],
    details: Mapping[str, object],
    *,
    period: str | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """Return what the line of a charge says, its details checked.

    Only a charge to a ledger with periods names one: the lines of others are as they always were.
    """
    if not isinstance(label, str) or not label:
        raise InputError(f"the label is {label!r}; say in a few words what is charged for.")
    if identity is not None:
        check_identity(identity)
    check_snapshot(snapshot)
    if not isinstance(details, Mapping):
        raise InputError(f"the details are a {type(details).__name__}; expected a dictionary.")
    fields = {
        "kind": "charge",
        "label": label,
        "identity": identity,
        "snapshot": snapshot,
        "policy": document(policy),
        "meanings": _checked_meanings(policy, meanings),
        "details": dict(details),
    }
    if revision is not None:
        check_revision_reason(revision)
    said = {"period": period, "revision": revision}
    fields |= {name: each for name, each in said.items() if each is not None}
    line(fields)  # refuse what JSON cannot hold before anything is locked
    return fields


def _checked_meanings(policy: Policy, meanings: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(meanings, Mapping) or not all(
        isinstance(part, str) for pair in meanings.items() for part in pair
    ):
        raise InputError("the meanings are not a dictionary from names of fields to texts.")
    return {name: meanings[name] for name in sorted(names_read(policy)) if name in meanings}


def check_identity(identity: object) -> None:
    """Refuse what cannot name a charge: it is looked up as text in the database."""
    if not isinstance(identity, str) or not identity or not identity.isprintable():
        raise InputError(
            f"the identity is {identity!r}; expected printable text, such as the name and version "
            "of a release."
        )


def check_snapshot(snapshot: object) -> None:
    """Refuse what cannot name a state of the data: without a name it would count as any."""
    if not isinstance(snapshot, str) or not snapshot or not snapshot.isprintable():
        raise InputError(
            f"the snapshot is {snapshot!r}; name the state of the data that is charged for, such "
            'as "2026-11", and give another name when the data changes.'
        )


def check_revision_reason(revision: object) -> None:
    """Refuse what does not say why the data of a period is another than before."""
    if not isinstance(revision, str) or not revision.strip() or not revision.isprintable():
        raise InputError(
            f"the revision is {revision!r}; say in a few words why the data of the period has "
            'changed, such as "late returns".'
        )


def document(policy: Policy) -> dict[str, Any]:
    """Return a policy's document, having reread it: what cannot be reread cannot be charged.

    What becomes of it as text is for `line` to check.
    """
    if not isinstance(policy, Policy):
        raise InputError(
            f"a {type(policy).__name__} is given where a policy is expected; for a plain "
            'amount write Policy.constant("0.1").'
        )
    try:
        written = policy.document()
        same = Policy.from_document(written) == policy
    except (PerrecordError, ValueError, RecursionError) as error:
        raise InputError(f"the policy cannot be written down and read back: {error}") from None
    if not same:
        raise InputError("the policy cannot be written down and read back without a change.")
    return written


@dataclass(frozen=True, slots=True)
class _Document:
    """A policy's document from a line; documents of the same text are one policy."""

    key: str
    parsed: object = field(compare=False)


def _policy(parsed: object) -> Policy:
    return _known(_Document(json.dumps(parsed), parsed))


@lru_cache(maxsize=1024)
def _known(document: _Document) -> Policy:
    return Policy.from_document(document.parsed)


def entry_of(fields: dict[str, Any], own_hash: str) -> LedgerEntry:
    """Return the entry that a line holds; a line of another form raises KeyError or ValueError."""
    common = (fields["number"], own_hash, fields["day"])
    match fields["kind"]:
        case "creation" if fields["format"] == FORMAT and fields["version"] in READABLE:
            parts = _parts(fields) if fields["version"] == PERIODS_VERSION else {}
            policy = Policy.total(parts.values()) if parts else _policy(fields["budget"])
            periods = MappingProxyType(parts)
            return Creation(*common, fields["name"], policy, fields["secret"], periods)
        case "charge":
            policy = _policy(fields["policy"])
            meanings = MappingProxyType(fields["meanings"])
            details = MappingProxyType(fields["details"])
            said: list[Any] = [fields.get(name) for name in ("snapshot", "period", "revision")]
            if not all(each is None or isinstance(each, str) for each in said):
                raise ValueError("a charge whose snapshot or period is not text")
            names = (fields["label"], fields["identity"], said[0], said[1], said[2])
            return Charge(*common, *names, policy, meanings, details)
        case "seal":
            return Seal(*common, fields["charge"], MappingProxyType(fields["digests"]))
        case "publication":
            return Publication(*common, fields["charge"], fields["place"])
        case kind:
            raise ValueError(f"an entry of unknown kind {kind!r}")


def _parts(fields: dict[str, Any]) -> dict[str, Policy]:
    """Return the parts of a ledger with periods; what names none, or one twice, is no ledger."""
    written = fields["periods"]
    parts = {period: _policy(each) for period, each in written}
    if not parts or len(parts) != len(written) or not all(isinstance(each, str) for each in parts):
        raise ValueError("periods that are missing, are not names, or are named twice")
    return parts


# -- the chain ------------------------------------------------------------------------------


def line(fields: Mapping[str, Any]) -> str:
    """Return the canonical JSON of an entry.

    >>> line({"number": 1, "kind": "charge"})
    '{"kind":"charge","number":1}'
    """
    try:
        written = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the entry cannot be written as JSON ({error}); give text, whole numbers, truth "
            "values, None, and lists and dictionaries of them."
        ) from None
    if json.loads(written) != _plain(fields):
        raise InputError(
            "the entry is changed by writing it as JSON; name its fields with text, and give "
            "text, whole numbers, truth values, None, and lists and dictionaries of them."
        )
    return written


def digest(written: str) -> str:
    """Return the hash of a line: everything in the entry, and through `previous` all before it."""
    return hashlib.sha256(written.encode()).hexdigest()


def secret_digest(secret: bytes) -> str:
    """Return what the first entry says about the ledger's secret, which it does not reveal."""
    return hashlib.sha256(b"perrecord ledger secret\0" + secret).hexdigest()


def _plain(value: Any) -> Any:
    """Return the value with tuples as the lists that JSON makes of them."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One row of the table of entries."""

    number: int
    written: str
    hash: str
    kind: str
    charge: int | None
    identity: str | None


def next_row(fields: Mapping[str, Any], number: int, previous: str) -> EntryRow:
    """Return the next row of the chain.

    Random bits make its hash its own: in a ledger that was rolled back, the same charge made once
    more would otherwise have the hash that somebody noted down for the first.
    """
    place = {"number": number, "previous": previous, "day": today()}
    written = line({**fields, **place, "nonce": secrets.token_hex(16)})
    return EntryRow(
        number,
        written,
        digest(written),
        fields["kind"],
        fields.get("charge"),
        fields.get("identity"),
    )


# -- what names mean ------------------------------------------------------------------------


def meanings_of(entries: Iterable[LedgerEntry]) -> dict[str, tuple[str | None, int]]:
    """Return what each name was first said to mean, None if nothing, and in which entry."""
    found: dict[str, tuple[str | None, int]] = {}
    names: dict[int, frozenset[str]] = {}
    for entry in entries:
        if isinstance(entry, Charge):
            # Policies read from one document are one object, so its id finds its like.
            if id(entry.policy) not in names:
                names[id(entry.policy)] = names_read(entry.policy)
            for name in names[id(entry.policy)]:
                found.setdefault(name, (entry.meanings.get(name), entry.number))
    return found


def check_meanings(
    path: Path,
    earlier: Mapping[str, tuple[str | None, int]],
    names: Iterable[str],
    given: Mapping[str, str],
) -> None:
    """Refuse a name that stands for something else than in an earlier charge.

    Charges are added as functions of one record. Were a name to change its meaning, two charges
    could fall on the same record while their sum says that they fall on two.
    """
    for name in sorted(names):
        then, number = earlier.get(name, (given.get(name), 0))
        if then != given.get(name):
            raise LedgerError(
                f"{path}: {name!r} no longer means what it did when it was first charged, in "
                f"entry {number}: then {then or 'nothing was said'}, now "
                f"{given.get(name) or 'nothing is said'}. Losses add up record by record, so a "
                "name keeps its meaning for as long as the ledger lasts; give the new one "
                "another name. Nothing was charged."
            )
