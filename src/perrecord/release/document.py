"""The published policy, `policy.json`: what anybody needs to recompute P(r) for any record.

It holds the policy documents of the release and of each answer (docs/policy-format.md), the fields
of a record with the rule that rounds its measures, the noise of each answer, and the delta curves
of key selections. The JSON Schema is `published.schema.json` beside this module.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from perrecord.errors import DocumentError, InputError, listing
from perrecord.exact import text
from perrecord.policy.cases import DimensionValue, Record
from perrecord.policy.policy import Policy
from perrecord.policy.reads import check_fields_of
from perrecord.policy.terms import slots_of
from perrecord.release.curves import Curve, curve_of, together
from perrecord.release.fields import TYPES, Field, read_field, write_field
from perrecord.release.noise import Noise, check_noise, read_noise, write_noise
from perrecord.release.reading import Json, each, exactly, located, one_of_each, plain_text

__all__ = ["ChargeShare", "Example", "Field", "PublishedCharge", "PublishedPolicy"]

FORMAT = "perrecord-published-policy"
VERSION = 2


Example = tuple[str, Mapping[str, DimensionValue]]
"""A name and a record; measures are exact text."""


@dataclass(frozen=True, slots=True)
class PublishedCharge:
    """What one answer, or one key selection, costs a record, and the noise that it carries.

    `noise` lists the noisy numbers that are published: none for a quantile or a choice of keys,
    which are no numbers with noise added. None means that it is not stated.
    """

    name: str
    title: str
    policy: Policy
    noise: tuple[Noise, ...] | None = None


@dataclass(frozen=True, slots=True)
class ChargeShare:
    """The part of a record's loss, and of its delta, that one charge makes."""

    charge: PublishedCharge
    loss: Fraction
    delta: Fraction


@dataclass(frozen=True)
class PublishedPolicy:
    """Everything the public may know of a release's privacy, as a value.

    `total` is the promise. For a workload fixed beforehand it is the sum of the charges; for
    answers chosen one after the other it is the budget policy, never the running sum (T4), so it
    may lie above the charges but never below.

    >>> from perrecord import Policy, Split
    >>> policy = Policy.split("0.1", Split(employees=50))
    >>> employees = Field("employees", "measure", resolution=Fraction(1))
    >>> charge = PublishedCharge("employment", "Employment by county", policy)
    >>> published = PublishedPolicy("Employment", "firms", (employees,), (charge,), policy)
    >>> published.loss({"employees": "150.4"})
    Fraction(9, 10)
    >>> PublishedPolicy.from_json(published.to_json()) == published
    True
    """

    title: str
    table: str
    fields: tuple[Field, ...]
    charges: tuple[PublishedCharge, ...]
    total: Policy
    budget: Policy | None = None
    notes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    """Named records, invented ones, for the policy page to start with; measures as exact text."""

    def __post_init__(self) -> None:
        _no_twins("field", [field.name for field in self.fields])
        _no_twins("charge", [charge.name for charge in self.charges])
        kinds = {field.name: TYPES.get(field.kind) for field in self.fields}
        for policy in self.policies():
            check_fields_of(policy.form, kinds)
        for charge in self.charges:
            for noise in charge.noise or ():
                check_noise(noise, kinds)
        spent = [charge.policy for charge in self.charges]
        _check_below(Policy.total(spent) if spent else None, self.total, "charges", "total")
        _check_below(self.total, self.budget, "total", "budget")
        _no_twins("example", [name for name, _ in self.examples])
        for name, record in self.examples:
            self._check_example(name, record)

    def _check_example(self, name: str, record: Mapping[str, DimensionValue]) -> None:
        fields = {field.name: field for field in self.fields}
        for column, value in record.items():
            if column not in fields:
                raise InputError(f"the example {name!r} gives {column!r}, which is no field.")
            expected = TYPES.get(fields[column].kind, str)
            if value is not None and type(value) is not expected:
                raise InputError(
                    f"the example {name!r} gives {column!r} a {type(value).__name__}; expected "
                    f"{'a measure as exact text' if expected is str else expected.__name__}."
                )
        self.total.loss(self.record(record))

    def policies(self) -> Iterator[Policy]:
        """Yield every policy of the document: each charge's, the total, the budget."""
        yield from (charge.policy for charge in self.charges)
        yield self.total
        if self.budget is not None:
            yield self.budget

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The delta curves of all key selections, each once."""
        slots = (slot for policy in self.policies() for _, slot in policy.slots)
        found = {(slot.rho, slot.threshold): curve_of(slot) for slot in slots}
        return tuple(found[key] for key in sorted(found))

    # -- evaluating -------------------------------------------------------------------------

    def record(self, row: Record) -> dict[str, Any]:
        """Return a row as the policy sees it: its measures rounded; decimal text is exact."""
        rounded = {
            field.name: field.number(row[field.name])
            for field in self.fields
            if field.kind == "measure" and field.name in row
        }
        return {**row, **rounded}

    def loss(self, row: Record) -> Fraction:
        """Return P(r) of the whole release, exactly."""
        return self.total.loss(self.record(row))

    def delta(self, row: Record) -> Fraction:
        """Return delta(r) of the whole release as its curves give it, never below the true one."""
        return _published_delta(self.total, self.record(row))

    def breakdown(self, row: Record) -> tuple[ChargeShare, ...]:
        """Return each charge's part of the loss and of the delta."""
        record = self.record(row)
        return tuple(
            ChargeShare(charge, charge.policy.loss(record), _published_delta(charge.policy, record))
            for charge in self.charges
        )

    # -- writing and reading ----------------------------------------------------------------

    def to_json(self, indent: int | None = 2) -> str:
        """Return the document; the same policy always gives the same text."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            "table": self.table,
            "fields": [write_field(field) for field in self.fields],
            "charges": [_charge(charge) for charge in self.charges],
            "total": _policy(self.total),
            "budget": None if self.budget is None else _policy(self.budget),
            "curves": [_curve(curve) for curve in self.curves],
            "notes": list(self.notes),
            "examples": [{"name": name, "record": dict(record)} for name, record in self.examples],
        }
        return json.dumps(document, indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, written: str) -> "PublishedPolicy":
        """Read a published policy back; nothing is lost."""
        top = _parsed(written)
        with located("the document"):
            published = cls(
                title=plain_text(top["title"], "title"),
                table=plain_text(top["table"], "table"),
                fields=tuple(each(top["fields"], "fields", read_field)),
                charges=tuple(each(top["charges"], "charges", _read_charge)),
                total=_read_policy(top["total"], "total"),
                budget=None if top["budget"] is None else _read_policy(top["budget"], "budget"),
                notes=tuple(each(top["notes"], "notes", plain_text)),
                examples=tuple(each(top["examples"], "examples", _read_example)),
            )
        if top["curves"] != [_curve(curve) for curve in published.curves]:
            raise DocumentError(
                "the curves do not belong to the document's key selections; expected what "
                "PublishedPolicy.to_json() wrote."
            )
        return published


def _published_delta(policy: Policy, record: Record) -> Fraction:
    runs = slots_of(policy.form, record)
    return together(curve_of(slot).at(slot.pieces(record)) for _, slot in runs)


def _no_twins(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the {what} {listing(twice)} is given twice; give each once.")


def _check_below(lower: Policy | None, upper: Policy | None, what: str, limit: str) -> None:
    if lower is None or upper is None:
        return
    if lower.currency is upper.currency and lower.form == upper.form:  # no normal form needed
        return
    if lower.is_below(upper):
        return
    raise InputError(
        f"the {what} may cost some record more than the {limit} says; expected a {limit} that is "
        f"never below the {what}, such as Policy.total(charge.policy for charge in charges)."
    )


# -- writing ---------------------------------------------------------------------------------


def _policy(policy: Policy) -> Json:
    return dict(json.loads(policy.to_json(indent=None)))


def _charge(charge: PublishedCharge) -> Json:
    noise = None if charge.noise is None else [write_noise(noise) for noise in charge.noise]
    return {
        "name": charge.name,
        "title": charge.title,
        "policy": _policy(charge.policy),
        "noise": noise,
    }


def _curve(curve: Curve) -> Json:
    points = [[pieces, format(delta, "f")] for pieces, delta in curve.points]
    return {"rho": text(curve.rho), "threshold": curve.threshold, "points": points}


# -- reading ---------------------------------------------------------------------------------

_TOP = ["budget", "charges", "curves", "examples", "fields", "format", "notes", "table", "title",
        "total", "version"]  # fmt: skip


def _parsed(written: str) -> Json:
    try:
        top = json.loads(written, object_pairs_hook=one_of_each)
    except (TypeError, ValueError, RecursionError):
        raise DocumentError(
            "the published policy is not JSON, or gives a name twice; expected what "
            "PublishedPolicy.to_json() returned."
        ) from None
    if not isinstance(top, dict) or top.get("format") != FORMAT:
        raise DocumentError(f"the text is no published policy; expected the format {FORMAT!r}.")
    if type(top.get("version")) is not int or top["version"] not in (1, VERSION):
        raise DocumentError(
            f"the published policy is of version {top.get('version')!r}; this perrecord reads "
            f"1 and {VERSION}. A newer perrecord may read it: pip install --upgrade perrecord."
        )
    return exactly(top, "the document", _TOP)


def _read_charge(value: object, where: str) -> PublishedCharge:
    if isinstance(value, dict):
        value = {"noise": None} | value  # version 1, of perrecord 0.1, did not state it
    given = exactly(value, where, ["name", "title", "policy", "noise"])
    with located(where):
        name, title = plain_text(given["name"], "name"), plain_text(given["title"], "title")
        noise = None if given["noise"] is None else each(given["noise"], "noise", read_noise)
        policy = _read_policy(given["policy"], "policy")
        return PublishedCharge(name, title, policy, None if noise is None else tuple(noise))


def _read_example(value: object, where: str) -> Example:
    given = exactly(value, where, ["name", "record"])
    if not isinstance(given["record"], dict):
        raise DocumentError(f"{where}: expected a record as an object.")
    with located(where):
        return plain_text(given["name"], "name"), given["record"]


def _read_policy(value: object, where: str) -> Policy:
    try:
        written = json.dumps(value)
    except RecursionError:
        raise DocumentError(f"{where} is nested too deeply to be read.") from None
    with located(where):
        return Policy.from_json(written)
