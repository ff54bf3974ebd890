"""The ledger of a spec: whether it has the spec's budget, and what to do where it does not pay."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perrecord.accounting.ledger import Ledger
from perrecord.accounting.listed import budget_in_a_spec
from perrecord.accounting.refusals import check_budget
from perrecord.errors import BudgetExceededError, LedgerError, SpecError, continued
from perrecord.policy.policy import Policy
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.release.spec.schemes import splits_of


def check_own_budget(ledger: Ledger, workload: Workload, loaded: LoadedSpec) -> None:
    """Refuse a spec with another budget than its ledger has, or its period's part of it."""
    with _made_again_if_unused(ledger, loaded):
        own = ledger.part(loaded.spec.period).budget
    if own == workload.budget:
        return
    names = splits_of(loaded.spec, workload.schema, loaded.problems())
    typed = budget_in_a_spec(own, {scheme: name for name, scheme in names.items()})
    said = (
        f"{loaded.path}: budget: the ledger {ledger.path.name!r} was made with another budget, "
        f"which cannot be changed: {own}. Write that one, or name another ledger."
    )
    if typed is not None:
        said = f"{said[:-1]}. In this spec it is\n  {typed}"
    raise SpecError(continued(said, _made_again(ledger, loaded)))


@contextmanager
def saying_what_to_do(ledger: Ledger, loaded: LoadedSpec) -> Iterator[None]:
    """Add to a refusal for the budget that a ledger which paid for nothing may be made again."""
    try:
        yield
    except BudgetExceededError as error:
        more = _made_again(ledger, loaded)
        raise BudgetExceededError(continued(str(error), more)) from None


@contextmanager
def _made_again_if_unused(ledger: Ledger, loaded: LoadedSpec) -> Iterator[None]:
    """Add the same to a refusal for the period that the spec names."""
    try:
        yield
    except LedgerError as error:
        if loaded.spec.period is None:
            raise
        raise LedgerError(continued(str(error), _made_again(ledger, loaded))) from None


def beyond_budget(policy: Policy, budget: Policy) -> str | None:
    """Return why a new ledger with this budget would not pay for a policy; None if it would."""
    try:
        check_budget(Policy.zero(budget.currency), policy, budget)
    except BudgetExceededError as error:
        return str(error)
    return None


def _made_again(ledger: Ledger, loaded: LoadedSpec) -> str:
    if ledger.has_charges:
        return ""
    return (
        "Nothing has been charged to this ledger yet, so it may also be deleted and made again "
        f"with the spec's budget: delete {str(ledger.path)!r}, then type "
        f"{create_command(loaded, has_periods=bool(ledger.periods))}"
    )


def create_command(loaded: LoadedSpec, *, has_periods: bool = False) -> str:
    """Return what makes the ledger of a spec, with its period among the periods if it has one."""
    period = loaded.spec.period
    if period is None:
        return f"perrecord ledger create {loaded.path}{' --periods ...' if has_periods else ''}"
    return (
        f"perrecord ledger create {loaded.path} --periods {shlex.quote(period)},... with every "
        "period that it is to have, which are fixed from then on"
    )


def lost_ledger(path: Path) -> str | None:
    """Return what is said where releases were charged to a ledger that is gone; None if not."""
    folder = releases_folder(path)
    if path.exists() or not folder.exists() or not any(map(Path.is_dir, folder.iterdir())):
        return None
    return (
        f"there is no ledger {str(path)!r}, but {folder.name!r} beside it holds releases that "
        "were charged to one. Restore it from a backup: a new one would forget what was spent."
    )


def releases_folder(ledger: Path) -> Path:
    """Return the private folder beside a ledger that holds the files of its releases."""
    return ledger.with_name(f"{ledger.name}.releases")
