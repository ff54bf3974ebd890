"""Charges on several snapshots of the data: a record may be another one in each (T4)."""

import itertools
import math
import random
import secrets
from fractions import Fraction

import pytest

from perrecord import BudgetExceededError, CurrencyError, LedgerError, Policy, Split
from perrecord.accounting import entries, rows, storage
from perrecord.accounting.budget import Budget, Spent, check_charge
from perrecord.accounting.entries import charge_fields, creation_fields, next_row
from perrecord.accounting.ledger import Ledger
from perrecord.policy.terms import Currency
from tests import first
from tests.accounting.conftest import SCHEME

FARM = Policy.by("sector", {"farm": Policy.constant(1)}, Policy.zero())
MINE = Policy.by("sector", {"mine": Policy.constant(1)}, Policy.zero())


def test_a_farm_that_became_a_mine_is_not_charged_in_two_disjoint_parts(path):
    """Budget 1, loss 2: parts of two snapshots may hold the same firm."""
    ledger = Ledger.create(path, Budget(1))
    ledger.charge(FARM, label="farms", snapshot="2026-11")
    for opened in (ledger, Ledger.open(path)):
        with pytest.raises(BudgetExceededError) as refused:
            opened.charge(MINE, label="mines", snapshot="2026-12")
        with pytest.raises(BudgetExceededError):
            opened.preview(MINE, snapshot="2026-12")
    assert str(refused.value) == (
        "earlier charges of this ledger were made on another snapshot of the data (2026-11; "
        "this one is 2026-12), and a record may have changed in any way in between, so each "
        "snapshot counts with the largest loss that any record can have in it. These add up to "
        "2 rho, and the least budget of any record is 1. Nothing was charged. Ask about the "
        "same data as before (a file must be the same byte for byte), or make a new ledger with "
        "a budget of its own: a record may then lose both budgets. If there is new data every "
        "year, make it with periods, each with a budget of its own: perrecord ledger create SPEC "
        '--periods 2026..2035, or Session(..., new=True, periods="2026..2035").'
    )
    ledger.charge(MINE, label="mines", snapshot="2026-11")
    assert ledger.spent() == FARM + MINE


def test_largest_losses_of_snapshots_add_up_to_the_budget_and_not_beyond(path):
    """Bounded charges fit on any snapshot, in any order, also back on the first."""
    ledger = Ledger.create(path, Budget(1, SCHEME))
    ledger.charge(FARM * "0.3", label="a", snapshot="1")
    ledger.charge(MINE * "0.2", label="b", snapshot="1")  # beside the farms: 0.3 is the largest
    ledger.charge(FARM * "0.3", label="c", snapshot="2")
    assert ledger.spent() == Policy.constant("0.6")
    ledger.charge(MINE * "0.1", label="d", snapshot="1")
    assert ledger.spent() == Policy.constant("0.6")
    assert ledger.spent_with(MINE * "0.5", snapshot="3") == Policy.constant("1.1")
    with pytest.raises(BudgetExceededError, match=r"add up to 1\.1 rho"):
        ledger.charge(MINE * "0.5", label="e", snapshot="3")
    ledger.charge(MINE * "0.4", label="e", snapshot="3")
    assert Ledger.open(path).spent() == Policy.constant(1)


def test_a_loss_without_a_limit_stays_on_one_snapshot(path):
    """A record that was large in one snapshot and is small in the other would lose too much."""
    ledger = Ledger.create(path, Budget(1, SCHEME))
    ledger.charge(Policy.split("0.1", SCHEME), label="a", snapshot="1")
    with pytest.raises(BudgetExceededError, match="none for the charges before: they cost more"):
        ledger.charge(Policy.constant("0.1"), label="b", snapshot="2")
    ledger.charge(Policy.split("0.1", SCHEME), label="c", snapshot="1")
    other = Ledger.create(path.with_name("other.db"), Budget(1, SCHEME))
    other.charge(Policy.constant("0.1"), label="a", snapshot="1")
    with pytest.raises(BudgetExceededError, match="none for the charges on this snapshot"):
        other.charge(Policy.split("0.1", SCHEME), label="b", snapshot="2")
    other.charge(Policy.split("0.1", SCHEME.capped(3)), label="b", snapshot="2")
    assert other.spent() == Policy.constant("1.0")


def test_records_without_a_case_have_no_largest_loss(path):
    """Nothing bounds what they lose, and a firm may be one of them in the other snapshot."""
    north = Policy.by("region", {"north": Policy.constant("0.1")})
    assert north.supremum() == Fraction(1, 10)
    assert north.bound() is None
    ledger = Ledger.create(path, Policy.by("region", {"north": Policy.constant(1)}))
    ledger.charge(north, label="a", snapshot="1")
    with pytest.raises(BudgetExceededError, match="another snapshot"):
        ledger.charge(north, label="b", snapshot="2")
    ledger.charge(north, label="b", snapshot="1")


def test_key_selections_on_two_snapshots(path):
    """Only where every record has one delta, and each fills a slot of its own."""
    plain = Policy.selection("0.1", ["county"], threshold=13)
    split = Policy.selection("0.1", ["county"], split=SCHEME, threshold=13)
    part = Policy.by("sector", {"farm": plain}, Policy.zero())
    slots = [Policy.slot("0.1", ["county"], threshold=13)] * 2
    slots.append(Policy.slot("0.1", ["county"], split=SCHEME, threshold=13))
    budget = Budget(1, SCHEME, slots=slots) + Policy.by(
        "sector", {"farm": Policy.slot("0.1", ["county"], threshold=13)}, Policy.zero()
    )
    ledger = Ledger.create(path, budget)
    ledger.charge(plain, label="a", snapshot="1")
    for policy, why in ((split, "they cost more"), (part, "they select keys")):
        with pytest.raises(BudgetExceededError, match=why):
            ledger.charge(policy, label="b", snapshot="2")
    ledger.charge(plain, label="c", snapshot="2")
    assert Ledger.open(path).spent() == Policy.constant("0.2") + slots[0] + slots[1]
    with pytest.raises(BudgetExceededError, match="no free slot"):
        ledger.charge(plain, label="d", snapshot="3")


def test_currencies_stay_apart_also_on_another_snapshot(path):
    """An amount in rho is none in epsilon."""
    ledger = Ledger.create(path, Budget(epsilon=1))
    ledger.charge(Policy.constant(epsilon="0.5"), label="a", snapshot="1")
    with pytest.raises(CurrencyError):
        ledger.charge(Policy.constant("0.1"), label="b", snapshot="2")
    ledger.charge(Policy.constant(epsilon="0.5"), label="b", snapshot="2")
    with pytest.raises(BudgetExceededError, match=r"1\.01 epsilon"):
        ledger.charge(Policy.constant(epsilon="0.01"), label="c", snapshot="3")


def test_a_retry_on_other_data_is_refused(path):
    """One identity is one charge on one snapshot: other data is no retry."""
    ledger = Ledger.create(path, Budget(1))
    first = ledger.charge(FARM, label="a", snapshot="2026-11", identity="county tables")
    assert ledger.charge(FARM, label="b", snapshot="2026-11", identity="county tables") == first
    with pytest.raises(LedgerError, match=r"another snapshot .* entry 1: 2026-11, now 2026-12"):
        ledger.charge(FARM, label="b", snapshot="2026-12", identity="county tables")
    assert len(ledger.entries()) == 2


def test_it_is_said_before_a_charge(path):
    """What to know about a snapshot, whether the budget allows it or not."""
    ledger = Ledger.create(path, Budget(1))
    assert ledger.remark("1") is None
    ledger.charge(Policy.constant("0.1"), label="a", snapshot="1")
    assert ledger.remark("1") is None
    assert "another snapshot of the data (1; this one is 2)" in ledger.remark("2")
    ledger.charge(Policy.constant("0.1"), label="a", snapshot="hmac:" + "ab" * 32)
    assert "(hmac:abababababab; this one is 1)" in ledger.remark("1")


def old_ledger(path, budget, *policies):
    """Return a ledger as perrecord 0.1 wrote it: version 1, and charges that name no snapshot."""
    secret = secrets.token_bytes(32)
    first = {**creation_fields("old", budget, entries.secret_digest(secret)), "version": 1}
    row = next_row(first, 0, entries.START)
    storage.create(path, row, secret)
    with storage.writing(path) as connection:
        for number, policy in enumerate(policies, 1):
            fields = charge_fields(policy, "old", f"run {number}", "s", {}, {})
            del fields["snapshot"]
            row = next_row(fields, number, row.hash)
            rows.append(connection, row)
    return Ledger.open(path)


def test_charges_that_name_no_snapshot_may_have_been_made_on_any(path):
    """A ledger of perrecord 0.1 opens and verifies; each of its charges counts as one apart."""
    ledger = old_ledger(path, Budget(1), FARM * "0.3", MINE * "0.3")
    assert ledger.verify() == 3
    assert [entry.snapshot for entry in ledger.entries()[1:]] == [None, None]
    assert ledger.spent() == Policy.constant("0.6")
    assert "2 of the ledger's charges, written by an earlier perrecord" in ledger.remark("1")
    with pytest.raises(BudgetExceededError, match=r"each counts as one of its own.* 1\.1 rho"):
        ledger.charge(FARM * "0.5", label="new", snapshot="1")
    with pytest.raises(LedgerError, match=r"another snapshot .* not said"):
        ledger.charge(FARM * "0.3", label="old", snapshot="1", identity="run 1")
    ledger.charge(FARM * "0.4", label="new", snapshot="1")
    ledger.charge(MINE * "0.4", label="new", snapshot="1")
    assert Ledger.open(path).spent() == Policy.constant(1)


def test_an_old_ledger_without_a_largest_loss_takes_no_charge_any_more(path):
    """Nobody knows whether its data is that of the new charge; the message says how to go on."""
    ledger = old_ledger(path, Budget(1, SCHEME), Policy.split("0.1", SCHEME))
    assert ledger.spent() == Policy.split("0.1", SCHEME)
    with pytest.raises(BudgetExceededError, match="make a new ledger with a budget of its own"):
        ledger.charge(Policy.constant("0.1"), label="new", snapshot="1")
    twice = old_ledger(
        path.with_name("2.db"), Budget(1, SCHEME), *[Policy.split("0.1", SCHEME)] * 2
    )
    assert twice.spent() == Policy.split("0.2", SCHEME)  # of a record that never changed


RECORDS = [
    {"sector": sector, "emp": emp} for sector in ("farm", "mine", "shop") for emp in (0, 60, 900)
]
SCHEMES = (Split(emp=50), Split(emp=50).capped(2), Split(emp=400).capped(1))
SNAPSHOTS = ("a", "b", "c")


def random_policy(dice, currency, depth=0):
    """Return a policy with or without a limit, of every form there is."""
    amount = {currency.value: Fraction(dice.randint(0, 8), 16)}
    match dice.randrange(6 if depth < 2 else 3):
        case 0 | 1:
            return Policy.constant(**amount)
        case 2:
            if dice.random() < 0.3:
                return Policy.exact(**amount, measure="emp", threshold=100)
            return Policy.split(**amount, split=dice.choice(SCHEMES))
        case 3:
            farm, mine, others = (random_policy(dice, currency, depth + 1) for _ in range(3))
            return Policy.by("sector", {"farm": farm, "mine": mine}, others)
        case 4:
            return Policy.largest(*(random_policy(dice, currency, 2) for _ in range(2)))
        case _:
            return random_policy(dice, currency, 2) + random_policy(dice, currency, 1)


def random_selection(dice):
    """Return a key selection, split or not, of all records or of some."""
    split = dice.choice((None, None, SCHEMES[1]))
    chosen = Policy.selection(Fraction(1, 32), ["k"], split=split, threshold=3)
    if dice.random() < 0.3:
        return Policy.by("sector", {"farm": chosen}, Policy.zero())
    return chosen


def accepted(dice, budget, policies):
    """Return which charges on random snapshots are accepted, one after the other."""
    spent, made = Spent(Policy.zero(budget.currency), {}), {each: [] for each in SNAPSHOTS}
    for policy in policies:
        snapshot = dice.choice(SNAPSHOTS)
        try:
            check_charge(spent, policy, snapshot, budget)
        except BudgetExceededError:
            continue
        spent = spent.with_charge(policy, snapshot)
        made[snapshot].append(policy)
    return {each: charges for each, charges in made.items() if charges}


def histories(made):
    """Yield every history of a record over these snapshots: its values, its loss, its delta."""
    losses = {
        each: [sum(policy.loss(record) for policy in charges) for record in RECORDS]
        for each, charges in made.items()
    }
    hidden = {
        each: [math.prod(1 - policy.delta(record) for policy in charges) for record in RECORDS]
        for each, charges in made.items()
    }
    for places in itertools.product([None, *range(len(RECORDS))], repeat=len(made)):
        there = [(each, at) for each, at in zip(made, places, strict=True) if at is not None]
        loss = sum(losses[each][at] for each, at in there)
        delta = 1 - math.prod(hidden[each][at] for each, at in there)
        yield [at for _, at in there], loss, delta


@pytest.mark.parametrize("seed", first(15, range(40)))
def test_no_history_of_a_record_loses_more_than_the_budget_of_any_of_its_values(seed):
    """Every history over three snapshots, absences included, in both currencies, with deltas."""
    dice = random.Random(seed)
    currency = Currency.EPSILON if seed % 3 == 2 else Currency.RHO
    policies = [random_policy(dice, currency) for _ in range(20)]
    budget = random_policy(dice, currency) + Policy.constant(**{currency.value: 1})
    if currency is Currency.RHO:
        selections = [random_selection(dice) for _ in range(4)]
        budget = Policy.total([budget, *selections])
        policies = [dice.choice(selections) if dice.random() < 0.4 else each for each in policies]
    made = accepted(dice, budget, policies)
    limits = [(budget.loss(record), budget.delta(record)) for record in RECORDS]
    for places, loss, delta in histories(made):
        for at in places:
            assert loss <= limits[at][0]
            assert delta <= limits[at][1]


def test_charges_are_refused_only_where_a_history_would_lose_too_much():
    """With a budget that is the same for all, no charge that is bounded is refused in vain."""
    several = 0
    for seed in range(16):
        dice = random.Random(seed)
        policies = [random_policy(dice, Currency.RHO) * "0.5" for _ in range(12)]
        bounded = [policy for policy in policies if policy.bound() is not None]
        budget = Budget(Fraction(dice.randint(2, 12), 4))
        spent, made = Spent(Policy.zero(), {}), {each: [] for each in SNAPSHOTS}
        for policy in bounded:
            snapshot = dice.choice(SNAPSHOTS)
            after = {**made, snapshot: [*made[snapshot], policy]}
            most = max(loss for _, loss, _ in histories({s: c for s, c in after.items() if c}))
            if most > budget.minimum():
                with pytest.raises(BudgetExceededError):
                    check_charge(spent, policy, snapshot, budget)
                continue
            check_charge(spent, policy, snapshot, budget)
            spent, made = spent.with_charge(policy, snapshot), after
        several += sum(map(bool, made.values())) > 1
    assert several > 8
