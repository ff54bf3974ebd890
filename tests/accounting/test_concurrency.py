"""Many threads at one ledger: never beyond the budget, and nothing lost."""

from concurrent.futures import ThreadPoolExecutor

from perrecord import BudgetExceededError, Policy
from perrecord.accounting import ledger as module
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger


def charge_until_refused(ledger):
    """Return how many charges were accepted."""
    accepted = 0
    while True:
        try:
            ledger.charge(Policy.constant("0.05"), label="one of several threads")
        except BudgetExceededError:
            return accepted
        accepted += 1


def test_threads_share_one_ledger(path):
    """One object, eight threads: exactly twenty charges of a twentieth."""
    ledger = Ledger.create(path, Budget(1))
    with ThreadPoolExecutor(8) as threads:
        accepted = sum(threads.map(charge_until_refused, [ledger] * 8))
    assert accepted == 20
    assert ledger.spent() == Policy.constant(1)
    assert Ledger.open(path).verify() == 21


def test_one_identity_is_charged_once_by_many_threads(path):
    """A retry that overlaps the first try gets the same charge."""
    ledger = Ledger.create(path, Budget(1))

    def work(_):
        return ledger.charge(Policy.constant("0.4"), label="release", identity="2026")

    with ThreadPoolExecutor(8) as threads:
        assert len({charge.hash for charge in threads.map(work, range(16))}) == 1
    assert ledger.spent() == Policy.constant("0.4")


def test_a_check_outside_the_transaction_is_caught(path, monkeypatch):
    """A broken twin that checks against what it last saw goes beyond the budget; ours does not."""
    ledger = Ledger.create(path, Budget(1))
    stale = Ledger.open(path)
    ledger.charge(Policy.constant("0.7"), label="first")
    remembered = stale._seen.spent
    original = module.check_budget
    monkeypatch.setattr(
        module, "check_budget", lambda spent, policy, total: original(remembered, policy, total)
    )
    stale.charge(Policy.constant("0.7"), label="beyond")
    assert not stale.spent().is_below(stale.budget)
    monkeypatch.undo()
    fresh = Ledger.create(path.with_name("fresh.db"), Budget(1))
    stale = Ledger.open(fresh.path)
    fresh.charge(Policy.constant("0.7"), label="first")
    try:
        stale.charge(Policy.constant("0.7"), label="beyond")
    except BudgetExceededError:
        return
    raise AssertionError("a charge went beyond the budget")
