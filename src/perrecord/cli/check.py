# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord check`: what a release would cost and how noisy it would be."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.changes import raised_line
from perrecord.cli.command import REFUSED, examples
from perrecord.cli.opening import Opened, opened
from perrecord.cli.output import amount, columns, complain, indented, show, show_json

if TYPE_CHECKING:
    from perrecord.accounting.ledger import Ledger
    from perrecord.policy.policy import Policy
    from perrecord.preview import Expected
    from perrecord.release.changes import Raised

EXAMPLES = examples(
    "perrecord check release.yaml",
    "perrecord check release.yaml --json | jq .can_be_released",
)

_SHOWN = 10
"""The percentage that a value of an example is said to be greater by."""


@dataclass(frozen=True, slots=True)
class _LedgerCheck:
    """What the ledger says; `refusal` is why the release would be refused."""

    path: Path | None
    exists: bool
    remark: str
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Report:
    """All that can be said of a release before a row is read."""

    title: str
    policy: "Policy"
    answers: tuple[tuple[str, "Expected"], ...]
    losses: tuple[tuple[str, Fraction], ...]
    change: "Raised | None"
    """Of the example that loses most: the measure whose 10 % more would cost most."""
    ledger: _LedgerCheck
    hints: tuple[str, ...]


def check(
    spec: Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check a release spec, and say what the release would cost and how noisy it would be.

    Everything is checked that can be without reading a row. Printed are the charge in words, the
    expected standard error of each answer, what the example records would lose and what a change of
    one would cost, whether the ledger allows it, and hints at what looks wrong. The exit code is 0
    when it could be released.
    """
    with opened(spec) as found:
        report = _report(found)
    if as_json:
        show_json(_as_json(report))
    else:
        show(*_lines(report))
    if report.ledger.refusal is not None:
        complain(report.ledger.refusal)
        raise typer.Exit(REFUSED)


def _report(found: Opened) -> _Report:
    from perrecord.preview import expected, losses_of
    from perrecord.release.contents import public_files, table_name
    from perrecord.release.spec import warnings_of

    workload, planned = found.workload, found.workload.plan
    checked = _ledger(found)
    if checked.refusal is None:
        public_files(workload)  # whatever is wrong with them shows here
    losses = losses_of(workload.policy, dict(workload.examples))
    tables = [table_name(workload, each) for each in planned.groupings for _ in each.answers]
    return _Report(
        workload.title,
        workload.policy,
        tuple(zip(tables, expected(planned), strict=True)),
        losses,
        _largest_change(found, losses),
        checked,
        warnings_of(found.loaded, workload),
    )


def _largest_change(found: Opened, losses: tuple[tuple[str, Fraction], ...]) -> "Raised | None":
    """Return what 10 % more would cost the example that loses most; None if nothing is known."""
    from perrecord.cli.records import subject_of_spec

    if not losses:
        return None
    name = max(losses, key=lambda each: each[1])[0]
    every = subject_of_spec(found).published.changes
    own = [each for each in every if (each.example, each.percent) == (name, _SHOWN)]
    return max(own, key=lambda each: each.loss.amount, default=None)


def _ledger(found: Opened) -> _LedgerCheck:
    from perrecord.accounting.ledger import Ledger
    from perrecord.accounting.refusals import check_budget
    from perrecord.errors import BudgetExceededError
    from perrecord.policy.policy import Policy

    path, workload = found.loaded.ledger, found.workload
    if path is None:
        refusal = f"{found.loaded.path}: the spec names no ledger; add ledger: releases.ledger."
        return _LedgerCheck(None, False, "none named", refusal)
    if path.exists():
        return _existing_ledger(found, Ledger.open(path))
    try:
        check_budget(Policy.zero(workload.budget.currency), workload.policy, workload.budget)
    except BudgetExceededError as error:
        return _LedgerCheck(path, False, "its budget is too small", str(error))
    remark = f"is not there yet; make it: perrecord ledger create {found.loaded.path}"
    return _LedgerCheck(path, False, remark)


def _existing_ledger(found: Opened, ledger: "Ledger") -> _LedgerCheck:
    from perrecord.accounting.refusals import budget_words
    from perrecord.errors import BudgetExceededError, LedgerError
    from perrecord.preview import meanings_in
    from perrecord.release.identity import identity_of
    from perrecord.release.publish import is_kept, staging_folder

    if ledger.budget != found.workload.budget:
        words = budget_words(ledger.budget)
        refusal = (
            f"{found.loaded.path}: budget: the ledger has another, which cannot be changed: "
            f"{words}. Write that one, or name another ledger."
        )
        return _LedgerCheck(ledger.path, True, "has another budget", refusal)
    identity = identity_of(found.loaded, ledger.secret)
    charge = ledger.charge_of(identity.key)
    if charge is not None and not is_kept(ledger, charge):
        folder = str(staging_folder(ledger, identity.key))
        refusal = (
            "the sealed numbers of this release are gone or changed, so it cannot be published or "
            f"corrected again; expected them in {folder!r}. Restore that folder from a backup. "
            "They cannot be drawn again under the same charge."
        )
        return _LedgerCheck(ledger.path, True, "was charged for it already", refusal)
    if charge is not None:
        return _LedgerCheck(ledger.path, True, "was charged for it already; to run again is free")
    policy = found.workload.policy
    try:
        meanings = meanings_in(found.workload.schema, policy)
        ledger.preview(policy, snapshot=identity.snapshot, meanings=meanings)
    except (BudgetExceededError, LedgerError) as error:
        return _LedgerCheck(ledger.path, True, "refuses it", str(error))
    remarks = [_another(ledger, identity.snapshot), ledger.remark(identity.snapshot)]
    return _LedgerCheck(ledger.path, True, "; ".join(["allows it", *filter(None, remarks)]))


def _another(ledger: "Ledger", snapshot: str) -> str | None:
    """Return that a charge would be a new one, where the same data was charged for before."""
    from perrecord.accounting.entries import Charge
    from perrecord.errors import listing

    charges = [each for each in ledger.entries() if isinstance(each, Charge)]
    before = dict.fromkeys(each.label for each in charges if each.snapshot == snapshot)
    if not before:
        return None
    return (
        "it is another release of the same data than what was charged before "
        f"({listing(map(repr, before), limit=3)}), and would be charged anew: a correction that "
        "changes a number, an amount or a key is a new charge"
    )


def _lines(report: _Report) -> Iterator[str]:
    yield report.title
    yield from ("", "Charge", *indented(report.policy))
    yield from ("", "Expected standard errors")
    rows = [
        [
            table,
            each.name,
            ", ".join(each.grouping) or "total",
            each.shown(),
            each.policy.formula(),
        ]
        for table, each in report.answers
    ]
    yield from columns(["table", "answer", "by", "error", "loss of a record"], rows)
    if report.losses:
        yield from ("", "Example records")
        yield from columns(["record", "loss"], [[n, amount(loss)] for n, loss in report.losses])
    if report.change is not None:
        presence = dict(report.losses)[report.change.example]
        yield from ("", "A change of a record", f"  {raised_line(report.change, presence)}")
    yield from ("", "Ledger", f"  {report.ledger.path or 'none'}: {report.ledger.remark}")
    if report.hints:
        yield from ("", "Hints", *(f"  {hint}" for hint in report.hints))


def _as_json(report: _Report) -> dict[str, Any]:
    from perrecord.exact import text
    from perrecord.release.changes import write_raised

    ledger = report.ledger
    return {
        "title": report.title,
        "can_be_released": ledger.refusal is None,
        "charge": {
            "words": report.policy.describe(),
            "policy": report.policy.document(),
        },
        "answers": [
            {
                "table": table,
                "answer": each.name,
                "by": list(each.grouping),
                "standard_errors": list(each.deviations),
                "loss": each.policy.formula(),
            }
            for table, each in report.answers
        ],
        "examples": [{"name": name, "loss": text(loss)} for name, loss in report.losses],
        "change": None if report.change is None else write_raised(report.change),
        "ledger": {
            "path": None if ledger.path is None else str(ledger.path),
            "exists": ledger.exists,
            "remark": ledger.remark,
            "refusal": ledger.refusal,
        },
        "hints": list(report.hints),
    }
