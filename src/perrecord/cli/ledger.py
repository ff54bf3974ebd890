# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord ledger`: make one, look at it, check it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.command import examples
from perrecord.cli.opening import opened
from perrecord.cli.output import amount, columns, indented, say, show, show_json
from perrecord.errors import LedgerError, SpecError

if TYPE_CHECKING:
    from perrecord.accounting.entries import Charge, LedgerEntry
    from perrecord.accounting.ledger import Ledger

CREATE_EXAMPLES = examples("perrecord ledger create release.yaml")
SHOW_EXAMPLES = examples(
    "perrecord ledger show est.ledger",
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
) -> None:
    """Make the ledger that a spec names, with the spec's budget, which is fixed from then on.

    Keep one ledger for each confidential table. An existing file is refused: a new ledger would
    forget what was spent.
    """
    from perrecord.accounting.ledger import Ledger
    from perrecord.release.publish import releases_folder

    with opened(spec) as found:
        path, budget, title = found.loaded.ledger, found.workload.budget, found.workload.title
    if path is None:
        raise SpecError(
            f"{spec}: the spec names no ledger; add one, such as ledger: releases.ledger."
        )
    folder = releases_folder(path)
    if folder.exists() and any(folder.iterdir()) and not path.exists():
        raise LedgerError(
            f"there is no ledger {str(path)!r}, but {folder.name!r} beside it holds releases that "
            "were charged to one. Restore it from a backup: a new one would forget what was spent."
        )
    ledger = Ledger.create(path, budget, name=title)
    show(str(ledger.path))
    say("Back it up, and never make a second one for the same data.")


def show_ledger(ledger: LedgerPath, as_json: AsJson = False) -> None:
    """Show a ledger: its budget, what was charged, what became of it."""
    from perrecord.accounting.ledger import Ledger

    found = Ledger.open(ledger)
    if as_json:
        show_json(
            {
                "name": found.name,
                "path": str(found.path),
                "budget": found.budget.document(),
                "spent": found.spent().document(),
                "entries": found.lines(),
            }
        )
        return
    show(*_shown(found))


def _shown(ledger: "Ledger") -> list[str]:
    from perrecord.accounting.budget import snapshot_name
    from perrecord.accounting.entries import Charge

    entries, spent, unit = ledger.entries(), ledger.spent(), ledger.budget.currency.value
    charges = [entry for entry in entries if isinstance(entry, Charge)]
    rows = [
        [
            str(each.number),
            each.day,
            _state(each, entries),
            snapshot_name(each.snapshot),
            each.label,
            each.hash,
        ]
        for each in charges
    ]
    heads = ["entry", "day", "state", "snapshot", "label", "hash"]
    return [
        f"{ledger.name or 'Ledger'}: {ledger.path}",
        f"Made on {entries[0].day}; {_entries(len(entries))}, all hashes fit.",
        "",
        "Budget, the guarantee of everything charged here:",
        *indented(ledger.budget),
        "",
        "Charged so far, which is for your desk and no guarantee:",
        *indented(spent),
        "",
        f"The record that loses least may lose {amount(ledger.budget.minimum())} {unit}; charged "
        f"of it so far: {amount(spent.minimum())}.",
        "",
        *_snapshots(charges),
        *(columns(heads, rows, margin="") if rows else ["No charges yet."]),
    ]


def _snapshots(charges: Sequence["Charge"]) -> list[str]:
    """Say it when charges were made on several snapshots of the data."""
    found = {each.snapshot for each in charges}
    said = []
    if len(found - {None}) > 1:
        said.append(
            "The charges were made on several snapshots of the data. A record may have changed in "
            "between, so each snapshot counts with the largest loss that any record can have in it."
        )
    if None in found:
        said.append(
            "Charges whose snapshot is not said were written by an earlier perrecord. Each counts "
            "as one on a snapshot of its own, with its largest loss; without one, nothing more can "
            "be charged here: make a new ledger with a budget of its own."
        )
    return [*said, ""] if said else []


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


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

    That nobody rewrote the whole, or put an older copy in its place, only hashes that were kept
    elsewhere can show: give them with --noted.
    """
    from perrecord.accounting.ledger import Ledger

    given = noted or []
    count = Ledger.open(ledger).verify(given)
    if as_json:
        show_json({"entries": count, "noted": given, "sound": True})
        return
    kept = " What was noted is among them." if given else ""
    show(f"{_entries(count)}, all hashes fit.{kept}")


def export(ledger: LedgerPath) -> None:
    """Print every entry as a line of canonical JSON; each holds the SHA-256 of the line before.

    The ledger's secret is not among them.
    """
    from perrecord.accounting.ledger import Ledger

    typer.echo(Ledger.open(ledger).export(), nl=False)
