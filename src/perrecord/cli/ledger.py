# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord ledger`: make one, look at it, check it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.command import examples
from perrecord.cli.opening import opened
from perrecord.cli.output import amount, columns, indented, say, show, show_json
from perrecord.cli.periods import GROWTH
from perrecord.errors import LedgerError, SpecError, continued, listing, number_of

if TYPE_CHECKING:
    from perrecord.accounting.entries import Charge, LedgerEntry
    from perrecord.accounting.ledger import Ledger
    from perrecord.cli.periods import Periods
    from perrecord.release.spec import Workload

CREATE_EXAMPLES = examples(
    "perrecord ledger create release.yaml",
    "perrecord ledger create release.yaml --periods 2026..2035",
    "perrecord ledger create changes.yaml --periods 2026..2035 --part 2026=base.yaml",
)
SHOW_EXAMPLES = examples(
    "perrecord ledger show est.ledger",
    "perrecord ledger show est.ledger --record emp=200 --growth 10",
    "perrecord ledger show est.ledger --json | jq '.entries[].label'",
)
VERIFY_EXAMPLES = examples(
    "perrecord ledger verify est.ledger",
    "perrecord ledger verify est.ledger --noted $(jq -r .charge published/manifest.json)",
)
EXPORT_EXAMPLES = examples("perrecord ledger export est.ledger > est.ledger.jsonl")

LedgerPath = Annotated[Path, typer.Argument(help="The ledger, a file.", metavar="LEDGER")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def create(
    spec: Annotated[Path, typer.Argument(help="The release spec that names it.", metavar="SPEC")],
    periods: Annotated[
        str | None,
        typer.Option(
            help="The periods of a series, each with the spec's budget: 2026..2035, or a list such "
            "as 2026Q1,2026Q2. They are fixed from then on.",
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="A period whose budget is that of another spec; may be repeated.",
            metavar="PERIOD=SPEC",
        ),
    ] = None,
) -> None:
    """Create the ledger that a spec names, with the spec's budget, which is fixed from then on.

    Keep one ledger for each confidential table. An existing file is refused: a new ledger would
    forget what was spent. With --periods there is a budget for each period, and over time a record
    may lose all of them.
    """
    from perrecord.release.publish import create_ledger

    with opened(spec) as found:
        path, workload, period = found.loaded.ledger, found.workload, found.loaded.spec.period
    parts = _parts(workload, periods, part or [])
    if period is not None and period not in parts:
        raise SpecError(
            f"{spec}: the spec is about period {period}, which is not one of the new ledger's "
            f"({listing(parts) or 'it would have none'}). Name it among all that the ledger is to "
            f"have, such as --periods {period},..., or take period out of the spec."
        )
    if path is None:
        raise SpecError(
            f"{spec}: the spec names no ledger; add one, such as ledger: releases.ledger."
        )
    budgets = {name: each.budget for name, each in parts.items()}
    ledger = create_ledger(path, budgets or workload.budget, workload.title)
    show(str(ledger.path))
    if parts:
        count = number_of(len(parts), "period")
        say(f"It has {count}, each with a budget of its own: {listing(parts)}.")
    for each in {id(each): each for each in parts.values() or [workload]}.values():
        _warn(each)
    say("Back it up, and never make a second one for the same data.")


def _warn(workload: "Workload") -> None:
    """Say it when the new ledger's budget does not pay for the spec that it was made from."""
    from perrecord.release.ledgers import beyond_budget

    refusal = beyond_budget(workload.policy, workload.budget)
    if refusal is not None:
        small = f"This budget is too small for the spec's own queries ({workload.title}): {refusal}"
        say(
            continued(
                small,
                "As nothing has been charged yet, you may delete the ledger, change the spec, and "
                "create it again.",
            )
        )


def _parts(
    workload: "Workload", periods: str | None, given: Sequence[str]
) -> dict[str, "Workload"]:
    """Return the workload whose budget is that of each period; nothing if there are none."""
    from perrecord.accounting.parts import period_names

    if periods is None:
        if given:
            raise typer.BadParameter("--part is one of --periods 2026..2035, which is missing.")
        return {}
    parts = dict.fromkeys(period_names(periods), workload)
    for each in given:
        name, sign, spec = each.partition("=")
        if not sign or name not in parts:
            raise typer.BadParameter(
                "write --part as one of the periods and a spec, such as --part 2026=base.yaml."
            )
        with opened(Path(spec)) as found:
            parts[name] = found.workload
    return parts


def show_ledger(
    ledger: LedgerPath,
    record: Annotated[
        list[str] | None,
        typer.Option(
            help="A field of a hypothetical record, to see what it loses over all periods; repeat "
            "it for each.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    growth: Annotated[
        str, typer.Option(help="By how many per cent a record grows from period to period.")
    ] = GROWTH,
    as_json: AsJson = False,
) -> None:
    """Show a ledger: its budget, what was charged, and what became of each charge.

    For a ledger with periods it shows what is charged to each, how many releases like the last one
    still fit, and what a record loses over all of them: one that stays the same, and one that
    grows.
    """
    from perrecord.accounting.ledger import Ledger
    from perrecord.cli.periods import latest, periods_of, typed_for, usual_records
    from perrecord.cli.records import typed_record

    written = typed_record(record or [])
    found = Ledger.open(ledger)
    records = typed_for(found, written) if written else usual_records(found)
    periods = periods_of(found, latest(found), records, growth)
    if periods is None and written:
        raise LedgerError(f"{ledger}: the ledger has no periods; leave --record out.")
    if as_json:
        show_json(
            {
                "name": found.name,
                "path": str(found.path),
                "budget": found.budget.document(),
                "spent": found.spent().document(),
                "entries": found.lines(),
                **({} if periods is None else {"periods": periods.as_json()}),
            }
        )
        return
    show(*_shown(found, periods))


def _shown(ledger: "Ledger", periods: "Periods | None") -> list[str]:
    from perrecord.accounting.budget import snapshot_name
    from perrecord.accounting.entries import Charge

    entries, spent, unit = ledger.entries(), ledger.spent(), ledger.budget.currency.value
    charges = [entry for entry in entries if isinstance(entry, Charge)]
    rows = [
        [
            str(each.number),
            each.day,
            _state(each, entries),
            *([each.period or ""] if ledger.periods else []),
            snapshot_name(each.snapshot),
            each.label,
            each.hash,
        ]
        for each in charges
    ]
    period = ["period"] if ledger.periods else []
    heads = ["entry", "day", "state", *period, "snapshot", "label", "hash"]
    return [
        f"{ledger.name or 'Ledger'}: {ledger.path}",
        f"Made on {entries[0].day}; {number_of(len(entries), 'entry', 'entries')}, all hashes fit.",
        "",
        *_guarantee(ledger),
        *indented(ledger.budget),
        "",
        "Charged so far, for your information; this is not a guarantee:",
        *indented(spent),
        "",
        *([] if periods is None else [*periods.lines("the latest"), ""]),
        f"The record that loses least may lose {amount(ledger.budget.minimum())} {unit}; charged "
        f"of it so far: {amount(spent.minimum())}.",
        "",
        *_snapshots(charges),
        *(columns(heads, rows, margin="") if rows else ["No charges yet."]),
    ]


def _guarantee(ledger: "Ledger") -> list[str]:
    if not ledger.periods:
        return ["Budget, the guarantee of everything charged here:"]
    return [
        "Budget, the guarantee of everything charged here, for a record that stays the same in all",
        f"{number_of(len(ledger.periods), 'period')}. One that changes may lose each period's part "
        "at the value it has there:",
    ]


def _snapshots(charges: Sequence["Charge"]) -> list[str]:
    """Say it when charges were made on several snapshots of the data."""
    revised = [each for each in charges if each.revision is not None]
    if any(each.period is not None for each in charges):
        lines = [
            f"Entry {each.number} is a revision of period {each.period}: {each.revision}"
            for each in revised
        ]
        return [*lines, ""] if lines else []
    found = {each.snapshot for each in charges}
    said = []
    if len(found - {None}) > 1:
        said.append(
            "The charges were made on several snapshots of the data. A record may have changed "
            "in between, so each snapshot counts with the largest loss that any record can have "
            "in it."
        )
    if None in found:
        said.append(
            "Charges that name no snapshot were written by an earlier version of perrecord. "
            "Each counts as a charge on a snapshot of its own, with its largest loss; if that "
            "has no bound, nothing more can be charged here: make a new ledger with a budget of "
            "its own."
        )
    return [*said, ""] if said else []


def _state(charge: "Charge", entries: Sequence["LedgerEntry"]) -> str:
    from perrecord.accounting.entries import Publication, Seal

    about = [
        type(each)
        for each in entries
        if isinstance(each, Seal | Publication) and each.charge == charge.number
    ]
    return "published" if Publication in about else "sealed" if Seal in about else "charged"


def verify(
    ledger: LedgerPath,
    noted: Annotated[
        list[str] | None,
        typer.Option(
            help="The hash of an entry, kept elsewhere, that must be in it; may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check all of a ledger: every page, every hash, every number.

    Only hashes kept elsewhere can show that nobody rewrote all of it, or replaced it with an older
    copy: give them with --noted.
    """
    from perrecord.accounting.ledger import Ledger

    given = noted or []
    count = Ledger.open(ledger).verify(given)
    if as_json:
        show_json({"entries": count, "noted": given, "sound": True})
        return
    kept = " What was noted is among them." if given else ""
    show(f"{number_of(count, 'entry', 'entries')}, all hashes fit.{kept}")


def export(ledger: LedgerPath) -> None:
    """Print every entry as a line of canonical JSON; each holds the SHA-256 of the line before.

    The ledger's secret is not among them.
    """
    from perrecord.accounting.ledger import Ledger

    typer.echo(Ledger.open(ledger).export(), nl=False)
