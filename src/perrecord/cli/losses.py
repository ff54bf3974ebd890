# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What one hypothetical record loses: the sum, its parts, its pieces, and what that means."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Any

from perrecord.cli.output import amount, columns
from perrecord.errors import MissingFieldError, listing
from perrecord.exact import figure_up

if TYPE_CHECKING:
    from perrecord.cli.records import Row, Subject
    from perrecord.cli.together import JointLosses
    from perrecord.policy.meaning import Meaning
    from perrecord.policy.split import Split
    from perrecord.policy.terms import Form
    from perrecord.release.attack import Estimated
    from perrecord.release.document import ChargeShare, PublishedPolicy
    from perrecord.release.series import PublishedSeries, SeriesLosses

USEFUL_ODDS = 10
"""Beyond it the odds limit nothing that anybody could imagine, and are left out."""

_MARGIN = 1 + 1e-9  # what `meaning` adds for the errors of floats


@dataclass(frozen=True, slots=True)
class RecordLosses:
    """What a record loses under a policy, and what that means."""

    name: str
    record: "Row"
    currency: str
    loss: Fraction
    delta: Fraction
    shares: tuple["ChargeShare", ...]
    pieces: tuple[tuple["Split", int], ...]
    """Each scheme that applies to the record, and how many pieces it makes."""
    meaning: "Meaning[float] | None"
    """None in pure epsilon, which is its own meaning."""
    recognised: float | None
    """About how often a test with 5 % false alarms finds it, where that can be said."""
    estimates: tuple["Estimated", ...]
    is_stated: bool
    """Whether the policy states the noise of every answer."""
    needs: tuple[str, ...]
    """Fields that the record lacks, and the noise of its answers depends on."""
    series: "PublishedSeries | None" = None
    over_series: "SeriesLosses | None" = None
    """What a record of the same values loses over all periods; None if it lacks a field for it."""


def losses_of_record(subject: "Subject", name: str, record: "Row") -> RecordLosses:
    """Return what a record loses under a policy, exactly."""
    from perrecord.policy.meaning import meaning
    from perrecord.policy.reads import names_read
    from perrecord.policy.terms import Currency
    from perrecord.release.attack import estimates, fields_of_noise, is_stated, recognised

    published = subject.published
    missing = sorted(names_read(published.total) - record.keys())
    if missing:
        shown = " ".join(f"--record {quote(each)}=..." for each in missing)
        raise MissingFieldError(
            f"the loss depends on {listing(missing)}, which the record lacks. Add {shown}, or "
            "columns of these names to the file of --records; leave the value empty (--record "
            "name=) where a record has none."
        )
    policy, loss, delta = published.total, published.loss(record), published.delta(record)
    schemes = dict.fromkeys(schemes_at(policy.form, record))
    is_rho = policy.currency is Currency.RHO
    needs = tuple(sorted(fields_of_noise(published) - record.keys()))
    return RecordLosses(
        name,
        record,
        policy.currency.value,
        loss,
        delta,
        published.breakdown(record),
        tuple((scheme, scheme.pieces(record)) for scheme in schemes),
        meaning(loss, key_delta=delta) if is_rho else None,
        None if needs else recognised(published, record),
        () if needs else estimates(published, record),
        is_stated(published, record),
        needs,
        published.series,
        _over_series(published, record),
    )


def _over_series(published: "PublishedPolicy", record: "Row") -> "SeriesLosses | None":
    from perrecord.policy.reads import names_read

    series = published.series
    read = () if series is None else [names_read(each) for each in series.policies()]
    is_whole = all(names <= record.keys() for names in read)
    return published.series_losses(record) if is_whole else None


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


def one_record(found: RecordLosses) -> Iterator[str]:
    """Yield what one record loses, in lines."""
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in found.record.items())
    yield f"A record with {shown or 'nothing given'}"
    yield f"loses {amount(found.loss)} {found.currency}{_delta(found.delta)}."
    yield from _series(found)
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
            figure_up(share.delta, 3) if share.delta else "-",
            share.charge.title,
        ]
        for share in found.shares
    ]
    yield from columns(heads, rows)
    yield from ("", "What it means", *_meaning(found))


def _series(found: RecordLosses) -> Iterator[str]:
    """Yield what the record loses over the periods of the ledger, if there are some (T35)."""
    series, lost = found.series, found.over_series
    if series is None:
        return
    yield ""
    if lost is None:
        yield "What it loses over all periods depends on fields that were not given."
        return
    yield f"Over the periods of its ledger, {series.periods[0]} to {series.periods[-1]}, if it has"
    yield "the same values in each:"
    rows = [
        [f"period {series.period} so far", amount(lost.period)],
        ["all periods so far", amount(lost.so_far)],
    ]
    if lost.limit is not None:
        rows.append(["all periods, if everything is spent", amount(lost.limit)])
    yield from columns(["", "loss"], rows)
    yield "  A record that changed adds up what each of its values loses in its own period."
    for period, title in series.unread:
        yield (
            "  Not counted, as it depends on other fields, or on ones that meant something else: "
            f"{title} (period {period})."
        )


def several_records(every: list[RecordLosses], joint: "JointLosses") -> Iterator[str]:
    """Yield what several records lose, a line for each, and one for all of them together."""
    rows = [
        [
            found.name,
            amount(found.loss),
            figure_up(found.delta, 3) if found.delta else "-",
            "/".join(f"{count:,}" for _, count in found.pieces) or "1",
            figure_up(_epsilon(found), 4),
            "-" if found.meaning is None else percent_at_most(_figure(found.meaning.power[0.05])),
        ]
        for found in every
    ]
    if joint.loss is not None:
        rows.append(
            [
                "together",
                amount(joint.loss),
                figure_up(joint.delta, 3) if joint.delta else "-",
                "",
                figure_up(joint.epsilon, 4),
                "-" if joint.power is None else percent_at_most(joint.power),
            ]
        )
    yield from columns(["record", "loss", "delta", "pieces", "epsilon", "power"], rows, margin="")
    yield ""
    yield from joint.words()
    yield ""
    yield "epsilon is at a delta of 1e-6; power is the most that an attacker attains at 5 % false"
    yield "alarms. The parts of each loss, and how closely values could be estimated: --json."


def _meaning(found: RecordLosses) -> Iterator[str]:
    meant = found.meaning
    if meant is None:
        yield "  The loss is pure epsilon: with the record or without it, no answer becomes more"
        yield f"  likely by a factor above exp({amount(found.loss)})."
    else:
        power = {level: percent_at_most(_figure(value)) for level, value in meant.power.items()}
        epsilon = figure_up(_figure(meant.epsilon), 4)
        delta = figure_up(_figure(meant.delta) / _MARGIN, 3)
        yield f"  (epsilon, delta)-privacy: epsilon at most {epsilon} at a delta of {delta}."
        yield "  Someone who knows every other record and tests, with 5 % false alarms, whether"
        yield f"  this one is in the data finds it in at most {power[0.05]} of cases"
        yield f"  (at 1 %: {power[0.01]}, at 10 %: {power[0.1]})."
        if found.recognised is not None:
            yield f"  What it really adds to the answers gives about {_percent(found.recognised)}."
        if _figure(meant.odds) <= USEFUL_ODDS:
            odds = figure_up(_figure(meant.odds) / _MARGIN, 3)
            yield "  With probability 95 %, what is published multiplies the odds of the right"
            yield f"  answer, that it is in the data or that it is not, by at most {odds}."
    yield from _estimates(found)


def _estimates(found: RecordLosses) -> Iterator[str]:
    yield ""
    yield "How closely its values could be estimated by someone who knows every other record"
    if not found.is_stated:
        yield "  The policy does not state the noise of every answer, so this cannot be said."
    elif found.needs:
        shown = " ".join(f"--record {quote(each)}=..." for each in found.needs)
        yield f"  This depends on {listing(found.needs)} too. Add {shown}."
    elif not found.estimates:
        yield "  The record has no values, or only values that are computed from each other."
    else:
        rows = [
            [each.measure, amount(each.value), _error(each), _relative(each)]
            for each in found.estimates
        ]
        yield from columns(["measure", "value", "standard error", "of the value"], rows)


def _error(estimated: "Estimated") -> str:
    if estimated.error is not None:
        return f"{'at least ' if estimated.is_least else ''}about {estimated.error:.3g}"
    return "only cut values are added up" if estimated.is_cut else "no total reveals it"


def _relative(estimated: "Estimated") -> str:
    return "-" if estimated.relative is None else _percent(estimated.relative)


def _delta(delta: Fraction) -> str:
    chance = figure_up(delta, 3)
    return f"; its key is revealed with probability at most {chance}" if delta else ""


def _percent(share: Fraction | float) -> str:
    value = float(share)
    return f"{100 * value:.3g} %" if math.isfinite(value) else "any"


def percent_at_most(share: float) -> str:
    """Return a limit for people; what is added for the errors of floats is taken off again."""
    return f"{figure_up(100 * share / _MARGIN, 3)} %"


def _shown(value: object) -> str:
    return (
        "missing" if value is None else amount(value) if isinstance(value, Fraction) else str(value)
    )


def _figure(value: Any) -> float:
    return float(value)


def _epsilon(found: RecordLosses) -> float:
    return float(found.loss) if found.meaning is None else _figure(found.meaning.epsilon)


# -- for programs -----------------------------------------------------------------------------


def as_json(found: RecordLosses) -> dict[str, Any]:
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
            "recognised": found.recognised,
        },
        "estimates": [
            {
                "measure": each.measure,
                "standard_error": each.error,
                "relative": each.relative,
                "at_least": each.is_least,
            }
            for each in found.estimates
        ],
        **_series_as_json(found),
    }


def _series_as_json(found: RecordLosses) -> dict[str, Any]:
    from perrecord.exact import text

    lost = found.over_series
    if found.series is None:
        return {}
    if lost is None:
        return {"series": None}
    limit = None if lost.limit is None else text(lost.limit)
    left_out = [{"period": period, "title": title} for period, title in found.series.unread]
    return {
        "series": {
            "period": found.series.period,
            "loss_of_period": text(lost.period),
            "loss_so_far": text(lost.so_far),
            "loss_if_all_is_spent": limit,
            **({"not_counted": left_out} if left_out else {}),
        }
    }


def _finite(value: Any) -> float | None:
    """Return a figure as JSON has it: what is not finite is null."""
    return float(value) if math.isfinite(value) else None
