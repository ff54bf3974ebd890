"""Many threads at one ledger: never beyond the budget, and nothing lost."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from perrecord import BudgetExceededError, Policy
from perrecord.accounting import ledger as module
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from tests.accounting.conftest import SCHEME


def charge_until_refused(ledger):
    """Return how many charges were accepted."""
    accepted = 0
    while True:
        try:
            ledger.charge(Policy.constant("0.05"), snapshot="s", label="one of several threads")
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
        return ledger.charge(Policy.constant("0.4"), snapshot="s", label="release", identity="2026")

    with ThreadPoolExecutor(8) as threads:
        assert len({charge.hash for charge in threads.map(work, range(16))}) == 1
    assert ledger.spent() == Policy.constant("0.4")


def test_a_check_outside_the_transaction_is_caught(path, monkeypatch):
    """A broken twin that checks against what it last saw goes beyond the budget; ours does not."""
    ledger = Ledger.create(path, Budget(1))
    stale = Ledger.open(path)
    ledger.charge(Policy.constant("0.7"), snapshot="s", label="first")
    remembered = stale._seen.parts.part(path, None).spent
    original = module.check_charge
    monkeypatch.setattr(
        module, "check_charge", lambda _, *of_the_charge: original(remembered, *of_the_charge)
    )
    stale.charge(Policy.constant("0.7"), snapshot="s", label="beyond")
    assert not stale.spent().is_below(stale.budget)
    monkeypatch.undo()
    fresh = Ledger.create(path.with_name("fresh.db"), Budget(1))
    stale = Ledger.open(fresh.path)
    fresh.charge(Policy.constant("0.7"), snapshot="s", label="first")
    try:
        stale.charge(Policy.constant("0.7"), snapshot="s", label="beyond")
    except BudgetExceededError:
        return
    raise AssertionError("a charge went beyond the budget")


# -- comparisons that take long -------------------------------------------------------------------


def slowly(monkeypatch, meanwhile):
    """Let every comparison take long, and something happen meanwhile; return what it compared."""
    original, spendings = module.check_charge, []
    monkeypatch.setattr(module, "is_quickly_within", lambda *_: False)

    def check(spent, *of_the_charge):
        spendings.append(spent.total())
        meanwhile(len(spendings))
        original(spent, *of_the_charge)

    monkeypatch.setattr(module, "check_charge", check)
    return spendings


def other_charge(path, amount, snapshot="s"):
    """Charge as another process would, that finds its comparison quick."""
    other = Ledger.open(path)
    fields = module.charge_fields(Policy.constant(amount), "another", None, snapshot, {}, {})
    with module.writing(path) as connection:
        other._append(connection, other._refreshed(connection), fields)


def test_others_charge_while_a_long_comparison_is_made(path, monkeypatch):
    """It is made outside the transaction, and again when something was charged meanwhile."""
    ledger = Ledger.create(path, Budget(1))

    def meanwhile(call):
        if call == 1:
            other_charge(path, "0.3")

    spendings = slowly(monkeypatch, meanwhile)
    ledger.charge(Policy.constant("0.7"), snapshot="s", label="long")
    assert spendings == [Policy.zero(), Policy.constant("0.3")]
    assert ledger.spent() == Policy.constant(1)


def test_what_was_compared_before_another_charge_is_not_trusted(path, monkeypatch):
    """Both would fit alone; together they go beyond the budget, so the second is refused."""
    ledger = Ledger.create(path, Budget(1))

    def meanwhile(call):
        if call == 1:
            other_charge(path, "0.6")

    slowly(monkeypatch, meanwhile)
    with pytest.raises(BudgetExceededError):
        ledger.charge(Policy.constant("0.6"), snapshot="s", label="long")
    assert ledger.spent() == Policy.constant("0.6")


def test_a_snapshot_that_appears_during_a_long_comparison_is_seen(path, monkeypatch):
    """What fits on one snapshot need not fit beside another, with its largest loss (T4)."""
    ledger = Ledger.create(path, Budget(1, SCHEME))

    def meanwhile(call):
        if call == 1:
            other_charge(path, "0.1", snapshot="other")

    slowly(monkeypatch, meanwhile)
    with pytest.raises(BudgetExceededError, match="another snapshot"):
        ledger.charge(Policy.split("0.1", SCHEME), snapshot="s", label="long")
    assert ledger.spent() == Policy.constant("0.1")


def test_whoever_is_overtaken_again_and_again_comes_first_in_the_end(path, monkeypatch):
    """Others charge during each of four comparisons; the fifth is inside the transaction."""
    ledger = Ledger.create(path, Budget(1))

    def meanwhile(call):
        if call <= module._MOST_ATTEMPTS:
            other_charge(path, "0.01")

    spendings = slowly(monkeypatch, meanwhile)
    ledger.charge(Policy.constant("0.5"), snapshot="s", label="long")
    assert spendings == [Policy.constant(Fraction(n, 100)) for n in range(5)]
    assert ledger.spent() == Policy.constant("0.54")


def test_thirty_two_writers_with_long_comparisons_keep_to_the_budget(path, monkeypatch):
    """Threads that all compare outside: exactly twenty charges of a twentieth."""
    ledger = Ledger.create(path, Budget(1))
    slowly(monkeypatch, lambda _: None)
    with ThreadPoolExecutor(32) as threads:
        accepted = sum(threads.map(charge_until_refused, [ledger] * 32))
    assert accepted == 20
    assert ledger.spent() == Policy.constant(1)
