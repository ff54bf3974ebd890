"""The series that a release belongs to: its period, and what was charged before it (T35)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.accounting.entries import Charge, LedgerEntry
from perrecord.accounting.ledger import Ledger
from perrecord.errors import CurrencyError, InputError, PerrecordError
from perrecord.policy.cases import Record
from perrecord.policy.document import growths
from perrecord.policy.policy import Policy
from perrecord.policy.reads import check_fields_of, names_read
from perrecord.release.fields import TYPES, Field
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class EarlierCharges:
    """What was charged to one period before a release: for what, and the sum of the policies."""

    period: str
    titles: tuple[str, ...]
    policy: Policy


@dataclass(frozen=True, slots=True)
class SeriesLosses:
    """What a record loses that has the same values in every period."""

    period: Fraction
    """By all that was charged to the release's own period so far, the release included."""
    so_far: Fraction
    """By all that was charged to any period so far."""
    limit: Fraction | None
    """By all periods, if everything is spent; None if that is not said."""


@dataclass(frozen=True, slots=True)
class PublishedSeries:
    """The periods of a release's ledger, and what was charged to them before.

    A record that changes from period to period loses the sum of what each of its values loses in
    its own period (T35): these policies are to be evaluated there.
    """

    period: str
    periods: tuple[str, ...]
    earlier: tuple[EarlierCharges, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    """Period and title of charges that depend on fields which this release does not have, or which
    meant something else then."""
    limit: Policy | None = None
    """The sum of the parts of all periods; None if it depends on such fields."""
    revision: str | None = None

    def __post_init__(self) -> None:
        named = [self.period, *(each.period for each in self.earlier), *(p for p, _ in self.unread)]
        if not set(named) <= set(self.periods):
            raise InputError("the period of the series is not one of its periods.")
        if len({each.currency for each in self.policies()}) > 1:
            raise CurrencyError("the policies of a series are partly in rho and partly in epsilon.")

    def policies(self) -> Iterator[Policy]:
        """Yield the policy of each period's earlier charges, and the limit."""
        yield from (each.policy for each in self.earlier)
        if self.limit is not None:
            yield self.limit

    def losses(self, record: Record, own: Fraction) -> SeriesLosses:
        """Return what a record loses over the series; `own` is what it loses by the release."""
        before = [(each.period, each.policy.loss(record)) for each in self.earlier]
        return SeriesLosses(
            own + sum(loss for period, loss in before if period == self.period),
            own + sum(loss for _, loss in before),
            None if self.limit is None else self.limit.loss(record),
        )


def series_of(
    ledger: Ledger,
    period: str | None,
    revision: str | None,
    fields: Sequence[Field],
    schema: Schema,
    until: Charge | None = None,
) -> PublishedSeries | None:
    """Return the series of a release, as the ledger has it; None if the ledger has no periods.

    What was charged before `until` is earlier, or everything if the release is not charged yet.
    The schema says what each field stands for: from one period to the next a name may change its
    meaning, and a policy is not to be evaluated at values that mean something else.
    """
    if not ledger.periods or period is None:
        return None
    if until is not None:  # the ledger knows whether it is one; its words may be corrected
        revision = until.revision and (revision or until.revision)
    charges = list(_before(ledger.entries(), until))
    others = {each.number: _other_names(each, schema) for each in charges}
    read = [each for each in charges if not others[each.number]]
    read = [each for each in read if _can_be_read(each.policy, fields)]
    earlier = []
    for name in ledger.periods:
        own = [each for each in read if each.period == name]
        if own:
            titles = tuple(dict.fromkeys(each.label for each in own))
            earlier.append(
                EarlierCharges(name, titles, Policy.total([each.policy for each in own]))
            )
    unread = dict.fromkeys(
        (each.period, each.label)
        for each in charges
        if each not in read and each.period is not None
    )
    is_same = names_read(ledger.budget).isdisjoint(set().union(*others.values()))
    limit = ledger.budget if is_same and _can_be_read(ledger.budget, fields) else None
    return PublishedSeries(period, ledger.periods, tuple(earlier), tuple(unread), limit, revision)


def _before(entries: Iterable[LedgerEntry], until: Charge | None) -> Iterator[Charge]:
    for each in entries:
        if until is not None and each.number >= until.number:
            return
        if isinstance(each, Charge):
            yield each


def _other_names(charge: Charge, schema: Schema) -> set[str]:
    """Return the names that stood for something else, or for nothing that was said, in a charge."""
    return {
        each
        for each in names_read(charge.policy)
        if each not in schema.fields or charge.meanings.get(each) != schema.meaning(each)
    }


def _can_be_read(policy: Policy, fields: Sequence[Field]) -> bool:
    """Tell whether the fields of this release are enough to evaluate a policy of another."""
    kinds = {field.name: TYPES.get(field.kind) for field in fields}
    steps = {field.name: field.resolution for field in fields}
    try:
        check_fields_of(policy.form, kinds)
        for term in growths(policy.form):
            term.growth.check_grid(steps[term.measure] or Fraction(0))
    except PerrecordError:
        return False
    return True
