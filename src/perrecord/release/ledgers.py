"""The ledger of a spec: whether it has the spec's budget, and what to do where it does not pay."""

from collections.abc import Iterator
from contextlib import contextmanager

from perrecord.accounting.entries import Charge
from perrecord.accounting.ledger import Ledger
from perrecord.accounting.listed import budget_words
from perrecord.accounting.refusals import check_budget
from perrecord.errors import BudgetExceededError, SpecError
from perrecord.policy.policy import Policy
from perrecord.release.spec import LoadedSpec, Workload


def check_own_budget(ledger: Ledger, workload: Workload, loaded: LoadedSpec) -> None:
    """Refuse a spec with another budget than its ledger has, or its period's part of it."""
    own = ledger.part(loaded.spec.period).budget
    if own != workload.budget:
        raise SpecError(
            f"{loaded.path}: budget: the ledger {ledger.path.name!r} was made with another budget, "
            f"which cannot be changed: {budget_words(own)}. Write that one, or name another ledger."
            f"{_made_again(ledger, loaded)}"
        )


@contextmanager
def saying_what_to_do(ledger: Ledger, loaded: LoadedSpec) -> Iterator[None]:
    """Add to a refusal for the budget that a ledger which paid for nothing may be made again."""
    try:
        yield
    except BudgetExceededError as error:
        raise BudgetExceededError(f"{error}{_made_again(ledger, loaded)}") from None


def beyond_budget(policy: Policy, budget: Policy) -> str | None:
    """Return why a new ledger with this budget would not pay for a policy; None if it would."""
    try:
        check_budget(Policy.zero(budget.currency), policy, budget)
    except BudgetExceededError as error:
        return str(error)
    return None


def _made_again(ledger: Ledger, loaded: LoadedSpec) -> str:
    if any(isinstance(each, Charge) for each in ledger.entries()):
        return ""
    periods = " --periods ..." if ledger.periods else ""
    return (
        " Nothing has been charged to this ledger yet, so it may also be deleted and made again "
        f"with the spec's budget: delete {str(ledger.path)!r}, then type perrecord ledger create "
        f"{loaded.path}{periods}"
    )
