# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What it costs that one hypothetical record is another: how well the two could be told apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Any

from perrecord.cli.losses import percent_at_most
from perrecord.cli.output import amount, columns
from perrecord.errors import MissingFieldError, listing
from perrecord.exact import figure_up, text

if TYPE_CHECKING:
    from perrecord.cli.records import Row, Subject
    from perrecord.policy.loss import Loss
    from perrecord.release.changes import Raised
    from perrecord.release.charges import PublishedCharge


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What it costs that a record is replaced by another, and what their presence costs."""

    before: "Row"
    after: "Row"
    currency: str
    loss: "Loss"
    delta: Fraction
    presence: tuple[Fraction, Fraction]
    shares: tuple[tuple["PublishedCharge", "Loss"], ...]
    """Each answer with what the change costs there; none where only the whole is known."""
    told_apart: float | None
    at_most: float


def change_of_records(subject: "Subject", before: "Row", after: "Row") -> RecordChange:
    """Return what it costs that one record is another under a policy."""
    from perrecord.policy.reads import names_read
    from perrecord.release.attack import fields_of_noise, told_apart, told_apart_at_most

    published = subject.published
    needs = names_read(published.total) | fields_of_noise(published)
    missing = sorted(needs - (before.keys() & after.keys()))
    if missing:
        shown = " ".join(f"--record {quote(each)}=..." for each in missing)
        raise MissingFieldError(
            f"what a change costs depends on {listing(missing)}, which a record lacks. Add "
            f"{shown}, or leave the value empty (--record name=) where a record has none."
        )
    pairs = published.pairs(before, after)
    shares = tuple((charge, charge.change(pairs)) for charge in published.charges)
    cost, delta = published.change(before, after), published.change_delta(before, after)
    currency = published.total.currency
    return RecordChange(
        before,
        after,
        currency.value,
        cost,
        delta,
        (published.loss(before), published.loss(after)),
        () if published.keeps_something(*pairs[0]) else shares,
        told_apart(published, before, after, cost),
        told_apart_at_most(cost, delta, currency),
    )


def one_change(found: RecordChange) -> Iterator[str]:
    """Yield what a change costs, in lines."""
    names = dict.fromkeys((*found.before, *found.after))
    rows = [[name, _shown(found.before, name), _shown(found.after, name)] for name in names]
    yield from columns(["field", "before", "after"], rows, margin="")
    yield ""
    yield f"The change costs {loss_shown(found.loss)} {found.currency}{_delta(found.delta)}."
    one, other = map(amount, found.presence)
    yield f"Being in the data at all costs the first record {one}, the second {other}."
    if found.shares:
        yield from ("", "By answer")
        shares = [[each.name, loss_shown(loss), each.title] for each, loss in found.shares]
        yield from columns(["answer", "change", "title"], shares)
    yield from ("", "What it means")
    yield "  Someone who knows everything but which of the two it is, and accepts 5 % false alarms,"
    yield f"  tells them apart in at most {percent_at_most(found.at_most)} of cases."
    if found.told_apart is not None:
        yield f"  The noise of the answers gives about {100 * found.told_apart:.3g} %."


def raised_line(found: "Raised", presence: Fraction) -> str:
    """Return what a greater value of an example costs, beside what the example itself loses."""
    return (
        f"If {found.measure} of {found.example!r} were {amount(found.other)} instead of "
        f"{amount(found.value)} ({found.percent} % more{_rounding(found)}), that would cost "
        f"{loss_shown(found.loss)}; being in the data at all costs it {amount(presence)}."
    )


def _rounding(found: "Raised") -> str:
    """Return why the greater value is not exactly so many percent greater, if it is not."""
    asked = abs(found.value) * Fraction(100 + found.percent, 100)
    if abs(found.other) > asked:
        return ", rounded up to the measure's resolution"
    return ", cut to the measure's largest value" if abs(found.other) < asked else ""


def loss_shown(loss: "Loss") -> str:
    """Return a loss for people: exact where that is short, else rounded up, and whether it is."""
    return amount(loss.amount) if loss.is_exact else f"at most {figure_up(loss.amount)}"


def as_json(found: RecordChange) -> dict[str, Any]:
    """Return what a change costs; exact numbers are text, as in policy.json."""
    return {
        "before": _record(found.before),
        "after": _record(found.after),
        "currency": found.currency,
        "loss": text(found.loss.amount),
        "exact": found.loss.is_exact,
        "delta": text(found.delta),
        "presence": [text(each) for each in found.presence],
        "answers": [
            {
                "name": charge.name,
                "title": charge.title,
                "loss": text(loss.amount),
                "exact": loss.is_exact,
            }
            for charge, loss in found.shares
        ],
        "told_apart": {"at_most": found.at_most, "about": found.told_apart},
    }


def _record(record: "Row") -> dict[str, Any]:
    return {
        name: text(value) if isinstance(value, Fraction) else value
        for name, value in record.items()
    }


def _shown(record: "Row", name: str) -> str:
    value = record.get(name)
    if value is None:
        return "missing"
    return amount(value) if isinstance(value, Fraction) else str(value)


def _delta(delta: Fraction) -> str:
    return f"; a key is revealed with probability at most {figure_up(delta, 3)}" if delta else ""
