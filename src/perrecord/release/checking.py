"""What can be said of a release before a row is read: its price, its noise, what the ledger says.

`perrecord check` and the studio show the same, so both ask here.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from perrecord.accounting.entries import Charge
from perrecord.accounting.ledger import Ledger
from perrecord.errors import BudgetExceededError, LedgerError, SpecError, listing
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read
from perrecord.preview import Expected, expected, losses_of, meanings_in
from perrecord.release.changes import Raised
from perrecord.release.contents import published_policy, table_name
from perrecord.release.document import PublishedPolicy
from perrecord.release.foretold import foretold_columns
from perrecord.release.identity import identity_of
from perrecord.release.ledgers import (
    beyond_budget,
    check_own_budget,
    create_command,
    lost_ledger,
    saying_what_to_do,
)
from perrecord.release.publish import is_kept, staging_folder
from perrecord.release.series import PublishedSeries, series_of
from perrecord.release.spec import LoadedSpec, Workload, warnings_of

SHOWN_PERCENT = 10
"""The percentage that a value of an example is said to be greater by."""


@dataclass(frozen=True, slots=True)
class CheckedRelease:
    """All that can be said of a release before a row is read, but for what the ledger says."""

    title: str
    policy: Policy
    answers: tuple[tuple[str, Expected], ...]
    """Each answer of each grouping, with the name of its table."""
    losses: tuple[tuple[str, Fraction], ...]
    hints: tuple[str, ...]
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    """The columns of each table, by its name."""


def checked_release(loaded: LoadedSpec, workload: Workload) -> CheckedRelease:
    """Return price, noise, losses of the examples, and hints at what looks wrong."""
    planned = workload.plan
    tables = [table_name(workload, each) for each in planned.groupings for _ in each.answers]
    return CheckedRelease(
        workload.title,
        workload.policy,
        tuple(zip(tables, expected(planned), strict=True)),
        losses_of(workload.policy, dict(workload.examples)),
        warnings_of(loaded, workload),
        foretold_columns(workload),
    )


def planned_policy(workload: Workload) -> PublishedPolicy:
    """Return the policy of a release that nothing was charged for.

    A release beyond its budget has one too, though none that could be published.
    """
    return published_policy(replace(workload, budget=workload.policy))


def largest_change(checked: CheckedRelease, published: PublishedPolicy) -> Raised | None:
    """Return what 10 % more would cost the example that loses most; None if nothing is known."""
    if not checked.losses:
        return None
    name = max(checked.losses, key=lambda each: each[1])[0]
    own = published.raised(name, (SHOWN_PERCENT,))
    return max(own, key=lambda each: each.loss.amount, default=None)


# -- the ledger -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """What the ledger says; `refusal` is why the release would be refused."""

    path: Path | None
    exists: bool
    remark: str
    refusal: str | None = None
    left: tuple[tuple[str, Fraction], ...] = ()
    """What each example record would have left of its budget, where the release is allowed."""
    series: PublishedSeries | None = None
    """What would be published of the periods of the ledger."""
    is_charged_anew: bool = False
    """Whether the ledger is there and would be charged."""


def ledger_check(loaded: LoadedSpec, workload: Workload) -> LedgerCheck:
    """Return whether the ledger would pay; a ledger that is there has every byte of files read."""
    path = loaded.ledger
    if path is None:
        refusal = f"{loaded.path}: the spec names no ledger; add ledger: releases.ledger."
        return LedgerCheck(None, False, "none named", refusal)
    if path.exists():
        return _existing_ledger(loaded, workload, Ledger.open(path))
    lost = lost_ledger(path)
    if lost is not None:
        return LedgerCheck(path, False, "is gone; restore it from a backup", lost)
    beyond = beyond_budget(workload.policy, workload.budget)
    if beyond is not None:
        return LedgerCheck(path, False, "is not there yet; the spec's budget is too small", beyond)
    remark = f"is not there yet; make it: {create_command(loaded)}"
    return LedgerCheck(path, False, remark, left=_left(workload, workload.policy))


def _left(workload: Workload, spent: Policy) -> tuple[tuple[str, Fraction], ...]:
    """Return what example records have left once so much was spent.

    An example that lacks a field which the budget or an earlier charge reads is left out.
    """
    needs = names_read(workload.budget) | names_read(spent)
    return tuple(
        (name, workload.budget.loss(record) - spent.loss(record))
        for name, record in workload.examples
        if needs <= record.keys()
    )


def _existing_ledger(loaded: LoadedSpec, workload: Workload, ledger: Ledger) -> LedgerCheck:
    period, revision = loaded.spec.period, loaded.spec.revision
    try:
        check_own_budget(ledger, workload, loaded)
    except LedgerError as error:
        return LedgerCheck(ledger.path, True, "refuses it", str(error))
    except SpecError as error:
        return LedgerCheck(ledger.path, True, "has another budget", str(error))
    identity = identity_of(loaded, ledger.secret)
    charge = ledger.charge_of(identity.key)
    if charge is not None and not is_kept(ledger, charge):
        folder = str(staging_folder(ledger, identity.key))
        refusal = (
            "the sealed numbers of this release are gone or changed, so it cannot be published or "
            f"corrected again; expected them in {folder!r}. Restore that folder from a backup. "
            "They cannot be drawn again under the same charge."
        )
        return LedgerCheck(ledger.path, True, "was charged for it already", refusal)
    if charge is not None:
        return LedgerCheck(
            ledger.path, True, "was charged for it already; running it again is free"
        )
    policy, data = workload.policy, identity.snapshot
    try:
        meanings = meanings_in(workload.schema, policy)
        with saying_what_to_do(ledger, loaded):
            ledger.preview(
                policy, snapshot=data, meanings=meanings, period=period, revision=revision
            )
    except (BudgetExceededError, LedgerError) as error:
        return LedgerCheck(ledger.path, True, "refuses it", str(error))
    remarks = [_another(ledger, data, period), ledger.remark(data, period)]
    return LedgerCheck(
        ledger.path,
        True,
        "; ".join(["allows it", *filter(None, remarks)]),
        left=_left(workload, ledger.spent_with(policy, snapshot=data, period=period)),
        series=series_of(ledger, period, revision, workload.fields, workload.schema),
        is_charged_anew=True,
    )


def _another(ledger: Ledger, snapshot: str, period: str | None) -> str | None:
    """Return that a charge would be a new one, where the same data was charged for before."""
    entries = [each for each in ledger.entries() if isinstance(each, Charge)]
    charges = [each for each in entries if each.period == period]
    before = dict.fromkeys(each.label for each in charges if each.snapshot == snapshot)
    if not before:
        return None
    return (
        "it is a different release of the same data from what was charged before "
        f"({listing(map(repr, before), limit=3)}), and would be charged anew: a correction that "
        "changes a number, an amount or a key is a new charge"
    )
