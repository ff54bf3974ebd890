"""The published policy, `policy.json`: what anybody needs to recompute P(r) for any record.

It holds the policy documents of the release and of each answer (docs/policy-format.md), the fields
of a record with the rule that rounds its measures, the noise of each answer, what changes of the
examples cost, and the delta curves of key selections. The JSON Schema is `published.schema.json`
beside this module.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from perrecord.errors import InputError, MissingFieldError, listing
from perrecord.policy.cases import DimensionValue, Record
from perrecord.policy.changes import unit_loss
from perrecord.policy.document import FormWriter, Json, growths
from perrecord.policy.loss import Loss, total
from perrecord.policy.policy import Policy
from perrecord.policy.reads import check_fields_of, reads
from perrecord.release.changes import PERCENTS, Raised, raised, write_raised
from perrecord.release.charges import ChargeShare, Pair, PublishedCharge, published_delta
from perrecord.release.curves import Curve, curve_of, together
from perrecord.release.fields import TYPES, Field, check_computed
from perrecord.release.noise import check_noise, dimensions_read
from perrecord.release.origins import Origins
from perrecord.release.series import PublishedSeries, SeriesLosses
from perrecord.release.writing import (
    write_charge,
    write_curve,
    write_field,
    write_record,
    write_series,
)
from perrecord.tables.completing import with_derived

__all__ = ["ChargeShare", "Example", "Field", "PublishedCharge", "PublishedPolicy"]

FORMAT = "perrecord-published-policy"
VERSION = 2


Example = tuple[str, Mapping[str, DimensionValue | Fraction]]
"""A name and an invented record; measures are fractions."""


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
    >>> published.document()["total"]["splits"]
    [{'thresholds': {'employees': '50'}, 'cap': None}]
    """

    title: str
    table: str
    fields: tuple[Field, ...]
    charges: tuple[PublishedCharge, ...]
    total: Policy
    budget: Policy | None = None
    notes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    """Named records, invented ones, for the policy page to start with."""
    unit_column: str | None = None
    """The column that says which records belong together, such as those of one firm."""
    series: PublishedSeries | None = None
    """The periods of its ledger, and what was charged to them before; None if it has none."""

    def __post_init__(self) -> None:
        _no_twins("field", [field.name for field in self.fields])
        _no_twins("charge", [charge.name for charge in self.charges])
        kinds = {field.name: TYPES.get(field.kind) for field in self.fields}
        check_computed(self.fields)
        for policy in self.policies():
            check_fields_of(policy.form, kinds)
        steps = {field.name: field.resolution for field in self.fields}
        for charge in self.charges:
            for term in growths(charge.policy.form):
                term.growth.check_grid(steps[term.measure] or Fraction(0))
            for noise in charge.noise or ():
                check_noise(noise, kinds)
        spent = [charge.policy for charge in self.charges]
        _check_below(Policy.total(spent) if spent else None, self.total, "charges", "total")
        _check_below(self.total, self.budget, "total", "budget")
        _no_twins("example", [name for name, _ in self.examples])
        for name, record in self.examples:
            self._check_example(name, record)

    def _check_example(self, name: str, record: Mapping[str, DimensionValue | Fraction]) -> None:
        fields = {field.name: field for field in self.fields}
        for column, value in record.items():
            if column not in fields:
                raise InputError(f"the example {name!r} gives {column!r}, which is not a field.")
            expected = TYPES.get(fields[column].kind, Fraction)
            if value is not None and type(value) is not expected:
                raise InputError(
                    f"the example {name!r} gives {column!r} a {type(value).__name__}; expected a "
                    f"{expected.__name__}."
                )
            computed = fields[column].computed
            if computed is not None and not record.keys() >= {*computed.names}:
                raise InputError(
                    f"the example {name!r} gives {column!r}, which follows from "
                    f"{listing(computed.names)}; give these in its place."
                )
        self.total.loss(self.record(record))

    @cached_property
    def origins(self) -> Origins:
        """Which columns of the source each field follows from."""
        return Origins.of(self.fields)

    @cached_property
    def read(self) -> frozenset[str]:
        """The fields that a loss depends on, and the measures that something is published of."""
        found = {name for policy in self.policies() for name, _ in reads(policy.form)}
        return frozenset(found.union(*(charge.measures() for charge in self.charges)))

    @cached_property
    def operands(self) -> frozenset[str]:
        """The measures that something published is computed from."""
        found: set[str] = set()
        for field in reversed(self.fields):
            if field.computed is not None and field.name in self.read | found:
                found.update(field.computed.names)
        return frozenset(found)

    @cached_property
    def by_themselves(self) -> tuple[Field, ...]:
        """The measures that nothing published tells of but what is published of themselves.

        What is computed from a measure tells of it too, and so does what it is computed from.
        """
        return tuple(
            field
            for field in self.fields
            if field.kind == "measure"
            and field.name not in self.operands
            and (
                field.computed is None
                or (field.name in self.read and not self.read >= {*field.computed.names})
            )
        )

    def policies(self) -> Iterator[Policy]:
        """Yield every policy of the document: each charge's, total, budget, those of a series."""
        yield from (charge.policy for charge in self.charges)
        yield self.total
        if self.budget is not None:
            yield self.budget
        if self.series is not None:
            yield from self.series.policies()

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The delta curves of all key selections, each once."""
        slots = (slot for policy in self.policies() for _, slot in policy.slots)
        found = {(slot.rho, slot.threshold): curve_of(slot) for slot in slots}
        return tuple(found[key] for key in sorted(found))

    # -- evaluating -------------------------------------------------------------------------

    def record(self, row: Record) -> dict[str, Any]:
        """Return a row as the policy sees it: its measures rounded; decimal text is exact.

        A derived measure follows from the measures that it is computed from, where all are given.
        """
        measures = (each for each in self.fields if each.kind == "measure")
        rules = ((each.name, each.number, each.computed) for each in measures)
        return {**row, **with_derived(rules, row)}

    def follows(self, field: Field, row: Record) -> bool:
        """Tell whether a measure follows from others that a row gives."""
        return field.computed is not None and row.keys() >= {*field.computed.names}

    def replaced(self, row: Record, name: str, value: Fraction) -> dict[str, Any]:
        """Return a row with another value of one measure, and of what is computed from it."""
        follow = {field.name for field in self.fields if self.follows(field, row)}
        kept = {each: held for each, held in row.items() if each not in follow}
        return self.record({**kept, name: value})

    def loss(self, row: Record) -> Fraction:
        """Return P(r) of the whole release, exactly."""
        return self.total.loss(self.record(row))

    def series_losses(self, row: Record) -> SeriesLosses | None:
        """Return what a record of the same values loses over all periods; None without periods."""
        if self.series is None:
            return None
        return self.series.losses(self.record(row), self.loss(row))

    def delta(self, row: Record) -> Fraction:
        """Return delta(r) of the whole release as its curves give it, never below the true one."""
        return published_delta(self.total, self.record(row))

    def breakdown(self, row: Record) -> tuple[ChargeShare, ...]:
        """Return each charge's part of the loss and of the delta."""
        record = self.record(row)
        return tuple(
            ChargeShare(charge, charge.policy.loss(record), published_delta(charge.policy, record))
            for charge in self.charges
        )

    def change(self, row: Record, other: Record) -> Loss:
        """Return what it costs that one record is replaced by another, either way (T27).

        Exactly, or at most so much, from what the answers state; by T20 where they do not, or
        where something is kept for further answers. A column that neither record gives is taken to
        be the same where nothing that changes can decide it, and to be whichever costs more where
        it may.

        >>> from perrecord import Policy
        >>> from perrecord.policy.changes import NoisyNumber, Scope
        >>> from perrecord.release.noise import CellNoise, Noise
        >>> noise = Noise("values", "emp", CellNoise("gaussian", Fraction(1250), Fraction(1)))
        >>> total = Policy.exact(1, measure="emp", threshold=50)
        >>> outputs = (NoisyNumber(noise, Scope(("county",), is_certain=True)),)
        >>> answer = PublishedCharge("jobs.emp", "Jobs by county", total, (noise,), outputs)
        >>> emp = Field("emp", "measure", resolution=Fraction(1))
        >>> published = PublishedPolicy("Jobs", "firms", (emp,), (answer,), total)
        >>> print(published.loss({"emp": 50}), published.change({"emp": 50}, {"emp": 55}))
        1 0.01
        """
        pairs = self.pairs(row, other)
        if self.keeps_something(*pairs[0]):
            return Loss(self.total.change(*pairs[0]), is_exact=False)
        return total(charge.change(pairs) for charge in self.charges)

    def change_delta(self, row: Record, other: Record) -> Fraction:
        """Return the delta that goes with `change`, as the curves give it (T9)."""
        pairs = self.pairs(row, other)
        if self.keeps_something(*pairs[0]):
            return max(published_delta(self.total, each) for each in pairs[0])
        found = []
        for before, after in pairs:
            sides = [charge.lone_keys([before], [after]) for charge in self.charges]
            found += [together(each) for each in zip(*sides, strict=True)]
        return max(found, default=Fraction(0))

    def unit(self, rows: Iterable[Record]) -> Loss:
        """Return what several records of one unit lose together, all added or all taken away.

        Cell by cell (T34): every record must give the fields `asked_of_units`. From what each loses
        alone (T7), which is more, where that cannot be done.
        """
        records = self._unit(rows)
        if not self.is_by_cell(records):
            return Loss(self.total.group_loss(records), is_exact=False)
        return total(unit_loss(charge.outputs or (), records) for charge in self.charges)

    def unit_delta(self, rows: Iterable[Record]) -> Fraction:
        """Return the delta that goes with `unit`, rounded up (T9)."""
        records = self._unit(rows)
        if self.keeps_something(*records):
            return self.total.group_delta(records)
        return together(charge.lone_keys(records, [])[1] for charge in self.charges)

    def is_by_cell(self, rows: Iterable[Record]) -> bool:
        """Tell whether all that these records enter is stated, and nothing kept for more."""
        records = [self.record(row) for row in rows]
        is_stated = all(charge.outputs is not None for charge in self.charges)
        return is_stated and not self.keeps_something(*records)

    @cached_property
    def asked_of_units(self) -> tuple[str, ...]:
        """The fields that decide which records share a cell, what its noise is, and moves it."""
        fields = {field.name for field in self.fields}
        return tuple(name for name in self._read_by_units if name in fields)

    @cached_property
    def hidden_from_units(self) -> tuple[str, ...]:
        """What else decides it and is no field: the ids of units, and of records."""
        return tuple(name for name in self._read_by_units if name not in self.asked_of_units)

    @cached_property
    def _read_by_units(self) -> tuple[str, ...]:
        read = {name for _, slot in self.total.slots for name in slot.keys}
        for charge in self.charges:
            read.update(charge.columns(), charge.measures())
            read.update(*(dimensions_read(noise.cells) for noise in charge.noise or ()))
        return tuple(sorted(read))

    def _unit(self, rows: Iterable[Record]) -> list[Record]:
        """Return records of one unit as the policy sees them, with its id and their own."""
        records: list[Record] = [
            {
                name: "" if name == self.unit_column else f"{place}"
                for name in self.hidden_from_units
            }
            | self.record(row)
            for place, row in enumerate(rows)
        ]
        lacking = [name for name in self.asked_of_units if any(name not in row for row in records)]
        if lacking:
            raise MissingFieldError(
                f"what records lose together depends on {listing(lacking)}, which some lack; give "
                "it for each, or leave the value empty where a record has none."
            )
        return records

    @cached_property
    def changes(self) -> tuple[Raised, ...]:
        """What it costs that a measure of an example is 5, 10 or 20 % greater, where it is said."""
        return tuple(found for name, _ in self.examples for found in self.raised(name))

    def raised(self, example: str, percents: Iterable[int] = PERCENTS) -> Iterator[Raised]:
        """Yield what it costs that a measure of an example is so many percent greater."""
        if all(charge.outputs is not None for charge in self.charges):
            yield from raised(self, example, dict(self.examples)[example], percents)

    def pairs(self, row: Record, other: Record) -> tuple[Pair, ...]:
        """Return two records as the policy sees them, in each way that they may share cells.

        A column of cells that neither gives is the same in both, or another where it may follow
        from what differs: from another dimension by an expression or a lookup, or from a measure.
        Only columns of which nothing but that matters are filled in.
        """
        before, after = self.record(row), self.record(other)
        given = before.keys() | after.keys()
        changed = [name for name in given if before.get(name) != after.get(name)]
        fields = {field.name: field for field in self.fields}
        lacking = {
            each.name
            for name in changed
            if not self.origins.is_told(name)
            for each in self.origins.decided_by(name)
            if each.name not in given
        }
        if lacking:
            raise MissingFieldError(
                f"whether a change stays one record depends on {listing(sorted(lacking))}, which "
                "the records lack; give it for both."
            )
        is_loose = any(name not in fields or fields[name].kind != "measure" for name in changed)
        unsaid = {name for charge in self.charges for name in charge.columns()} - given - self._told
        same = dict.fromkeys(unsaid, "")
        open_ = {name for name in unsaid if is_loose or self.origins.is_shared(name, changed)}
        ways = [(before | same, after | same)]
        if open_:
            ways.append((before | same, after | same | dict.fromkeys(open_, "another")))
        return tuple(ways)

    @cached_property
    def _told(self) -> frozenset[str]:
        """The columns whose values matter to what a change costs, not only whether they differ."""
        found = set[str]() if self._is_all_charged else {name for name, _ in reads(self.total.form)}
        for charge in self.charges:
            found.update(charge.told_by())
            if not self._is_all_charged:
                found.update(name for name, _ in reads(charge.policy.form))
        return frozenset(found)

    def keeps_something(self, *records: Record) -> bool:
        """Tell whether some of the total is kept for further answers to one of the records."""
        return not self._is_all_charged and any(
            sum(charge.policy.loss(each) for charge in self.charges) != self.total.loss(each)
            for each in records
        )

    @cached_property
    def _is_all_charged(self) -> bool:
        """Whether the charges add up to the total, term by term: then nobody has anything kept."""
        nothing = Policy.zero(self.total.currency)
        return Policy.total([nothing, *(each.policy for each in self.charges)]) == self.total

    # -- writing ----------------------------------------------------------------------------

    def document(self) -> Json:
        """Return the document as plain values; the same policy always gives the same ones."""
        writer = FormWriter()
        series = {} if self.series is None else {"series": write_series(self.series)}
        return {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            "table": self.table,
            "unit": self.unit_column,
            "fields": [write_field(field) for field in self.fields],
            "charges": [write_charge(charge, writer) for charge in self.charges],
            "total": self.total.document(),
            "budget": None if self.budget is None else self.budget.document(),
            "curves": [write_curve(curve) for curve in self.curves],
            "changes": [write_raised(each) for each in self.changes],
            "notes": list(self.notes),
            "examples": [
                {"name": name, "record": write_record(record)} for name, record in self.examples
            ],
            **series,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the document as text, which `perrecord.release.reading` reads."""
        return json.dumps(self.document(), indent=indent, ensure_ascii=False)


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
