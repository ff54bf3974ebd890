# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What one hypothetical record loses: the sum, its parts, its pieces, and what that means."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from perrecord.cli.output import amount, columns
from perrecord.errors import MissingFieldError, listing

if TYPE_CHECKING:
    from perrecord.cli.records import Row, Subject
    from perrecord.policy.meaning import Meaning
    from perrecord.policy.split import Split
    from perrecord.policy.terms import Form
    from perrecord.release.document import Share


@dataclass(frozen=True, slots=True)
class Losses:
    """A record held against a policy."""

    name: str
    record: "Row"
    currency: str
    loss: Fraction
    delta: Fraction
    shares: tuple["Share", ...]
    pieces: tuple[tuple["Split", int], ...]
    """Each scheme that applies to the record, and how many pieces it makes."""
    meaning: "Meaning | None"
    """None in pure epsilon, which is its own meaning."""


def losses_of_record(subject: "Subject", name: str, record: "Row") -> Losses:
    """Return what a record loses under a policy, exactly."""
    from perrecord.policy.meaning import meaning
    from perrecord.policy.reads import names_read
    from perrecord.policy.terms import Currency

    published = subject.published
    missing = sorted(names_read(published.total) - record.keys())
    if missing:
        shown = " ".join(f"--record {each}=..." for each in missing)
        raise MissingFieldError(
            f"the loss hangs on {listing(missing)}, which the record lacks. Add {shown}, or leave "
            "the value empty (--record name=) where a record has none."
        )
    policy, loss, delta = published.total, published.loss(record), published.delta(record)
    schemes = dict.fromkeys(schemes_at(policy.form, record))
    is_rho = policy.currency is Currency.RHO
    return Losses(
        name,
        record,
        policy.currency.value,
        loss,
        delta,
        published.breakdown(record),
        tuple((scheme, scheme.pieces(record)) for scheme in schemes),
        meaning(loss, key_delta=delta) if is_rho else None,
    )


def schemes_at(form: "Form", record: "Row") -> Iterator["Split"]:
    """Yield the plain schemes that apply to a record, some more than once."""
    from perrecord.policy.terms import Largest, Piecewise, SplitLoss, slots_of

    for term in form.terms:
        match term:
            case SplitLoss(_, split):
                yield split.at(record)
            case Largest(options):
                for option in options:
                    yield from schemes_at(option, record)
            case Piecewise(cases):
                yield from schemes_at(cases.at(record), record)
    for _, slot in slots_of(form, record):
        if slot.split is not None:
            yield slot.split.at(record)


# -- for people -------------------------------------------------------------------------------


def one_record(found: Losses) -> Iterator[str]:
    """Yield what one record loses, in lines."""
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in found.record.items())
    yield f"A record with {shown or 'nothing given'}"
    yield f"loses {amount(found.loss)} {found.currency}{_delta(found.delta)}."
    if found.pieces:
        yield from ("", "Pieces")
        rows = [[f"{count:,}", repr(scheme)] for scheme, count in found.pieces]
        yield from columns(["pieces", "scheme"], rows)
    yield from ("", "By answer")
    heads = ["answer", "loss", "share", "delta", "title"]
    rows = [
        [
            share.charge.name,
            amount(share.loss),
            _percent(share.loss / found.loss if found.loss else Fraction(0)),
            f"{float(share.delta):.3g}" if share.delta else "-",
            share.charge.title,
        ]
        for share in found.shares
    ]
    yield from columns(heads, rows)
    yield from ("", "What it means", *_meaning(found))


def several_records(every: list[Losses]) -> Iterator[str]:
    """Yield what several records lose, a line for each."""
    rows = [
        [
            found.name,
            amount(found.loss),
            f"{float(found.delta):.3g}" if found.delta else "-",
            "/".join(f"{count:,}" for _, count in found.pieces) or "1",
            f"{_epsilon(found):.4g}",
            "-" if found.meaning is None else _percent(_figure(found.meaning.power[0.05])),
        ]
        for found in every
    ]
    yield from columns(["record", "loss", "delta", "pieces", "epsilon", "power"], rows, margin="")
    yield ""
    yield "epsilon is at a delta of 1e-6; power is what an attacker attains at 5 % false alarms."
    yield "The parts of each loss, by answer: --json."


def _meaning(found: Losses) -> Iterator[str]:
    meant = found.meaning
    if meant is None:
        yield "  The loss is pure epsilon: with the record or without it, no answer becomes more"
        yield f"  likely by a factor above exp({amount(found.loss)})."
        return
    power = {level: _percent(_figure(value)) for level, value in meant.power.items()}
    epsilon, delta = _figure(meant.epsilon), _figure(meant.delta)
    yield f"  (epsilon, delta)-privacy: epsilon {epsilon:.4g} at a delta of {delta:.3g}."
    yield "  Whoever tests whether the record is in the data, with 5 % false alarms, finds it in"
    yield f"  at most {power[0.05]} of cases (1 %: {power[0.01]}, 10 %: {power[0.1]})."
    yield "  With probability 95 %, what is published multiplies the odds of a guess about whether"
    yield f"  the record is in the data by less than {_figure(meant.odds):.4g}."
    yield "  Whoever knows all other records can estimate its value with a standard error of about"
    yield f"  {_percent(_figure(meant.precision))}."


def _delta(delta: Fraction) -> str:
    chance = f"{float(delta):.3g}"
    return f"; its key is revealed with probability at most {chance}" if delta else ""


def _percent(share: Fraction | float) -> str:
    value = float(share)
    return f"{100 * value:.3g} %" if math.isfinite(value) else "any"


def _shown(value: object) -> str:
    return (
        "missing" if value is None else amount(value) if isinstance(value, Fraction) else str(value)
    )


def _figure(value: Any) -> float:
    return float(value)


def _epsilon(found: Losses) -> float:
    return float(found.loss) if found.meaning is None else _figure(found.meaning.epsilon)


# -- for programs -----------------------------------------------------------------------------


def as_json(found: Losses) -> dict[str, Any]:
    """Return what a record loses; exact numbers are text, as in policy.json."""
    from perrecord.exact import text

    meant = found.meaning
    return {
        "name": found.name,
        "record": {
            name: text(value) if isinstance(value, Fraction) else value
            for name, value in found.record.items()
        },
        "currency": found.currency,
        "loss": text(found.loss),
        "delta": text(found.delta),
        "pieces": [{"scheme": repr(scheme), "pieces": count} for scheme, count in found.pieces],
        "answers": [
            {
                "name": share.charge.name,
                "title": share.charge.title,
                "loss": text(share.loss),
                "delta": text(share.delta),
            }
            for share in found.shares
        ],
        "meaning": None
        if meant is None
        else {
            "epsilon": _finite(meant.epsilon),
            "delta": _finite(meant.delta),
            "power": {str(level): _finite(value) for level, value in meant.power.items()},
            "odds": _finite(meant.odds),
            "precision": _finite(meant.precision),
        },
    }


def _finite(value: Any) -> float | None:
    """Return a figure as JSON has it: what is not finite is null."""
    return float(value) if math.isfinite(value) else None
