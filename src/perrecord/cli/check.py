# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord check`: what a release would cost and how noisy it would be."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.changes import raised_line
from perrecord.cli.command import REFUSED, examples
from perrecord.cli.opening import Opened, Period, Revision, opened
from perrecord.cli.output import amount, columns, complain, indented, show, show_json
from perrecord.cli.periods import periods_of

if TYPE_CHECKING:
    from perrecord.cli.periods import Periods
    from perrecord.release.changes import Raised
    from perrecord.release.checking import CheckedRelease, LedgerCheck

EXAMPLES = examples(
    "perrecord check release.yaml",
    "perrecord check release.yaml --json | jq .can_be_released",
)

_WIDTH = 100
_BLURRED = (
    "  The size of the noise of a blurred total is confidential, so it has no column _se. Unless",
    "  values may be negative, _low and _high are the ends of its interval and _sd_at_most bounds",
    "  its standard deviation (empty where there is none); its _status goes by the bound.",
)


@dataclass(frozen=True, slots=True)
class _Report:
    """All that can be said of a release without computing anything from its records."""

    checked: "CheckedRelease"
    change: "Raised | None"
    """Of the example that loses most: the measure whose 10 % more would cost most."""
    ledger: "LedgerCheck"
    periods: "Periods | None"


def check(
    spec: Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")],
    period: Period = None,
    revision: Revision = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check a release spec, and say what the release would cost and how noisy it would be.

    It prints the charge in words, the expected standard error of each answer, the columns of the
    tables, what the example records would lose and what a change of one would cost, whether the
    ledger allows it, and hints about what looks wrong. None of that is computed from the records:
    the source is only opened, which parses CSV files in full, and files are hashed if there is a
    ledger. The exit code is 0 if it could be released.
    """
    with opened(spec, None, period, revision) as found:
        report = _report(found)
    if as_json:
        show_json(_as_json(report))
    else:
        show(*_lines(report))
    if report.ledger.refusal is not None:
        complain(report.ledger.refusal)
        raise typer.Exit(REFUSED)


def _report(found: Opened) -> _Report:
    from perrecord.release.checking import (
        checked_release,
        largest_change,
        ledger_check,
        planned_policy,
    )
    from perrecord.release.contents import public_files

    workload = found.workload
    ledger = ledger_check(found.loaded, workload)
    if ledger.refusal is None:
        public_files(workload, ledger.series)  # whatever is wrong with them shows here
    checked = checked_release(found.loaded, workload)
    change = largest_change(checked, planned_policy(workload))
    return _Report(checked, change, ledger, _periods(found, ledger))


def _periods(found: Opened, ledger: "LedgerCheck") -> "Periods | None":
    """Return what is said of the periods of a ledger that would be charged."""
    from perrecord.accounting.ledger import Ledger

    if ledger.path is None or not ledger.is_charged_anew:
        return None
    workload = found.workload
    return periods_of(Ledger.open(ledger.path), workload.policy, dict(workload.examples))


def _lines(report: _Report) -> Iterator[str]:
    yield report.checked.title
    yield from ("", "Charge", *indented(report.checked.policy))
    yield from ("", "Expected standard errors")
    rows = [
        [
            table,
            each.name,
            ", ".join(each.grouping) or "total",
            each.shown(),
            each.policy.formula(),
        ]
        for table, each in report.checked.answers
    ]
    yield from columns(["table", "answer", "by", "error", "loss of a record"], rows)
    yield from ("", "Columns of the tables")
    for table, names in report.checked.columns:
        yield from textwrap.wrap(
            f"{table}: {', '.join(names)}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    if any(each.is_blurred for _, each in report.checked.answers):
        yield from _BLURRED
    if report.checked.losses:
        yield from ("", "Example records")
        yield from columns(
            ["record", "loss"], [[n, amount(loss)] for n, loss in report.checked.losses]
        )
    if report.change is not None:
        presence = dict(report.checked.losses)[report.change.example]
        yield from ("", "A change of a record", f"  {raised_line(report.change, presence)}")
    yield from ("", "Ledger", f"  {report.ledger.path or 'none'}: {report.ledger.remark}")
    if report.periods is not None:
        yield from ("", *report.periods.lines("this one, before it is charged"))
    if report.checked.hints:
        yield from ("", "Hints", *(f"  {hint}" for hint in report.checked.hints))


def _as_json(report: _Report) -> dict[str, Any]:
    from perrecord.exact import text
    from perrecord.release.changes import write_raised

    ledger = report.ledger
    return {
        "title": report.checked.title,
        "can_be_released": ledger.refusal is None,
        "charge": {
            "words": report.checked.policy.describe(),
            "policy": report.checked.policy.document(),
        },
        "answers": [
            {
                "table": table,
                "answer": each.name,
                "by": list(each.grouping),
                "standard_errors": list(each.deviations),
                "loss": each.policy.formula(),
            }
            for table, each in report.checked.answers
        ],
        "columns": {table: list(names) for table, names in report.checked.columns},
        "examples": [{"name": name, "loss": text(loss)} for name, loss in report.checked.losses],
        "change": None if report.change is None else write_raised(report.change),
        "ledger": {
            "path": None if ledger.path is None else str(ledger.path),
            "exists": ledger.exists,
            "remark": ledger.remark,
            "refusal": ledger.refusal,
            **({} if report.periods is None else {"periods": report.periods.as_json()}),
        },
        "hints": list(report.checked.hints),
    }
