"""Ledgers with periods: each has its own part, and no history loses more than its parts (T35)."""

import itertools
import random
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from perrecord import (
    Budget,
    BudgetExceededError,
    CurrencyError,
    InputError,
    Ledger,
    LedgerError,
    Policy,
    Split,
)
from perrecord.accounting import storage
from perrecord.accounting.entries import charge_fields
from perrecord.accounting.parts import period_names
from perrecord.accounting.planning import grown, history_losses, how_many_fit, usual_record
from perrecord.accounting.revisions import have_shares
from tests import first
from tests.accounting.conftest import SCHEME

OLD = Path(__file__).parent / "ledgers" / "without_periods.db"
HALF = Policy.split("0.5", SCHEME)
FARM = Policy.by("sector", {"farm": Policy.constant(1)}, Policy.zero())
MINE = Policy.by("sector", {"mine": Policy.constant(1)}, Policy.zero())


@pytest.fixture
def series(path):
    """Return a ledger of three years, a budget of 1 over one scheme in each."""
    return Ledger.create(path, Budget(1, SCHEME), name="establishments", periods="2026..2028")


# -- ledgers as they were -------------------------------------------------------------------


def test_a_ledger_from_before_periods_opens_and_works(path):
    """One that was written before there were periods: read, charged, verified as it always was."""
    shutil.copy(OLD, path)
    ledger = Ledger.open(path)
    assert (ledger.periods, ledger.budget) == ((), Budget(1, SCHEME))
    assert ledger.verify() == 5
    assert ledger.spent() == Policy.split("0.4", SCHEME) + Policy.constant("0.1")
    meanings = {"employees": "the column employees on the grid 1"}
    again = ledger.charge(
        Policy.split("0.4", SCHEME), label="again", snapshot="2026-11",
        identity="county tables, v1", meanings=meanings,
    )  # fmt: skip
    assert (again.number, again.period, again.revision) == (1, None, None)
    assert ledger.state_of("county tables, v1") == "published"
    with pytest.raises(BudgetExceededError, match=r"^a record with employees = 0 would lose"):
        ledger.charge(Policy.split("0.6", SCHEME), label="b", snapshot="2026-11", meanings=meanings)
    ledger.charge(Policy.constant("0.5"), label="c", snapshot="2026-11")
    last = ledger.lines()[-1]
    assert {"period", "revision"}.isdisjoint(last)
    assert ledger.lines()[0]["version"] == 2
    assert Ledger.open(path).verify() == 6


def test_a_new_ledger_without_periods_is_written_as_before(ledger):
    """What reads ledgers today reads it too; one with periods is of a later version."""
    first = ledger.lines()[0]
    assert first["version"] == 2
    assert "periods" not in first


def test_what_does_not_know_periods_refuses_a_ledger_that_has_them(series):
    """It would compare all charges with one budget: the version tells it not to."""
    first = series.lines()[0]
    assert first["version"] == 3
    assert "budget" not in first
    assert [name for name, _ in first["periods"]] == ["2026", "2027", "2028"]


# -- parts ----------------------------------------------------------------------------------


def test_each_period_is_compared_with_its_own_part(path):
    """What one has spent leaves the others as they are, also after opening it again."""
    parts = {"2026": Budget(2, SCHEME), "2027": Budget(1, SCHEME)}
    for ledger in (Ledger.create(path, parts), Ledger.open(path)):
        assert ledger.periods == ("2026", "2027")
    ledger.charge(Policy.split("1.5", SCHEME), label="a", snapshot="a", period="2026")
    with pytest.raises(BudgetExceededError, match=r"^period 2027: a record with employees = 0"):
        ledger.charge(Policy.split("1.5", SCHEME), label="b", snapshot="b", period="2027")
    ledger.charge(Policy.split(1, SCHEME), label="b", snapshot="b", period="2027")
    for opened in (ledger, Ledger.open(path)):
        with pytest.raises(BudgetExceededError, match="period 2027"):
            opened.preview(Policy.constant("0.1"), snapshot="b", period="2027")
        opened.preview(Policy.split("0.5", SCHEME), snapshot="a", period="2026")
        assert opened.part("2026").spent.total() == Policy.split("1.5", SCHEME)
        assert opened.spent() == Policy.split("2.5", SCHEME)
        assert opened.budget == Policy.split(3, SCHEME)


def test_a_charge_names_a_period_if_and_only_if_the_ledger_has_some(series, ledger_without):
    """And the message says what to type."""
    with pytest.raises(LedgerError, match=r"Say which .* period: 2026 in the spec, --period 2026"):
        series.charge(HALF, label="a", snapshot="s")
    with pytest.raises(LedgerError, match=r"no period 2036\. Periods are 2026, 2027, 2028"):
        series.charge(HALF, label="a", snapshot="s", period="2036")
    with pytest.raises(LedgerError, match=r"has no periods, .* --periods 2026\.\.2035"):
        ledger_without.charge(HALF, label="a", snapshot="s", period="2026")
    with pytest.raises(LedgerError, match="only a period can be revised"):
        ledger_without.charge(HALF, label="a", snapshot="s", revision="late returns")
    assert len(series.entries()) == len(ledger_without.entries()) == 1


@pytest.fixture
def ledger_without(path):
    """Return a ledger that has no periods."""
    return Ledger.create(path.with_name("without.db"), Budget(1, SCHEME))


def test_other_data_under_a_period_is_refused_unless_it_is_a_revision(series):
    """The file of another year would be charged to the wrong part, and published as this year's."""
    series.charge(HALF, label="a", snapshot="file of 2026", period="2026")
    for act in (series.preview, lambda policy, **more: series.charge(policy, label="b", **more)):
        with pytest.raises(LedgerError, match=r"charged on other data \(file of 2026; this is"):
            act(HALF, snapshot="file of 2027", period="2026")
        with pytest.raises(LedgerError, match="nothing to revise"):
            act(HALF, snapshot="file of 2027", period="2027", revision="late returns")
    revised = series.charge(
        HALF, label="b", snapshot="corrected", period="2026", revision="late returns"
    )
    assert (revised.period, revised.revision) == ("2026", "late returns")
    with pytest.raises(BudgetExceededError, match="period 2026: the data is a revision"):
        series.charge(Policy.split("0.1", SCHEME), label="c", snapshot="corrected", period="2026")
    series.charge(HALF, label="d", snapshot="file of 2027", period="2027")
    assert "the data is a revision" in series.remark("corrected", "2026")
    assert "was charged for period 2027" in series.remark("file of 2027", "2028")
    assert series.remark("file of 2028", "2028") is None
    with pytest.raises(InputError, match="say in a few words why"):
        series.charge(HALF, label="e", snapshot="x", period="2026", revision=" ")


def test_long_names_of_snapshots_are_compared_whole(series):
    """People are shown the beginning of a hash, which two of them may share."""
    one, other = "hmac:" + "ab" * 32, "hmac:" + "ab" * 31 + "cd"
    series.charge(HALF, label="a", snapshot=one, period="2026")
    with pytest.raises(LedgerError, match="charged on other data"):
        series.charge(HALF, label="b", snapshot=other, period="2026")


def test_a_retry_is_charged_once_and_never_for_another_period(series):
    """The same identity in the same period is the same charge; in another it is refused."""
    first = series.charge(HALF, label="a", snapshot="s", period="2026", identity="tables")
    assert first == series.charge(HALF, label="b", snapshot="s", period="2026", identity="tables")
    with pytest.raises(LedgerError, match=r"for another period, in entry 1: 2026, now 2027"):
        series.charge(HALF, label="b", snapshot="s", period="2027", identity="tables")
    assert len(series.entries()) == 2


def test_a_name_may_mean_something_else_in_another_period(series):
    """Losses of one period alone add up record by record; lookups change from year to year."""
    north = Policy.by("region", {"north": Policy.constant("0.1")}, Policy.zero())
    series.charge(north, label="a", snapshot="a", period="2026", meanings={"region": "map of 2026"})
    with pytest.raises(LedgerError, match="no longer means what it did"):
        series.charge(
            north, label="b", snapshot="a", period="2026", meanings={"region": "map of 2027"}
        )
    series.charge(north, label="b", snapshot="b", period="2027", meanings={"region": "map of 2027"})


def test_a_charge_to_a_period_that_is_none_is_no_entry_of_the_ledger(series, path):
    """Whoever writes the file by hand cannot hide a charge in a part that nobody looks at."""
    fields = charge_fields(HALF, "by hand", None, "s", {}, {}, period="2036")
    with storage.writing(path) as connection:
        series._append(connection, series._refreshed(connection), fields)
    for look in (series.spent, lambda: Ledger.open(path)):
        with pytest.raises(LedgerError, match="a period that the ledger does not have"):
            look()


def test_names_of_periods():
    """Ranges, lists, numbers; what cannot name a period is refused."""
    assert period_names("2026..2028,pooled") == ("2026", "2027", "2028", "pooled")
    assert period_names([2026, "2026Q2"]) == ("2026", "2026Q2")
    for wrong in ("", "2026..", "2028..2026", "2026Q1..2026Q4", "2026,2026", "1..5000", "a\nb"):
        with pytest.raises(InputError):
            period_names(wrong)
    for wrong in ([], [True], [2026.5], [" 2026"], ["a,b"], ["x" * 41]):
        with pytest.raises(InputError):
            period_names(wrong)


def test_a_budget_by_period_names_the_periods(path):
    """Once, and in one currency."""
    parts = {"2026": Budget(1)}
    with pytest.raises(InputError, match="leave periods out"):
        Ledger.create(path, parts, periods="2026..2027")
    with pytest.raises(CurrencyError):
        Ledger.create(path, {**parts, "2027": Budget(epsilon=1)})
    assert not path.exists()


# -- histories ------------------------------------------------------------------------------

RECORDS = [
    {"employees": size, "sector": sector}
    for size, sector in itertools.product([0, 50, 51, 130, 4000], ["farm", "mine", "shop"])
]
PERIODS = ("2026", "2027", "2028")


def random_policy(dice):
    """Return something that an answer may cost."""
    amount = Fraction(dice.randint(1, 8), 8)
    return dice.choice([FARM, MINE, Policy.split(1, SCHEME), Policy.constant(1)]) * amount


def charged(path, seed):
    """Return a ledger with parts of different sizes, to which a crowd of charges was offered."""
    dice = random.Random(seed)
    sizes = dice.sample([1, 2, 3, 5], 3)
    parts = {
        period: Budget(size, dice.choice([SCHEME, Split(employees=130)]))
        for period, size in zip(PERIODS, sizes, strict=True)
    }
    ledger = Ledger.create(path, parts)
    for number in range(24):
        period = dice.choice(PERIODS)
        revised = number > 6 and dice.random() < 0.3
        try:
            ledger.charge(
                random_policy(dice),
                label=f"charge {number}",
                snapshot=f"{period} {'revised' if revised else 'first'}",
                period=period,
                revision="late returns" if revised else None,
            )
        except (BudgetExceededError, LedgerError):
            continue
    return ledger


@pytest.mark.parametrize("seed", first(6, range(12)))
def test_no_history_loses_more_than_the_parts_of_its_values(seed, path):
    """Exactly, for every value in every period and revision; the whole history is their sum.

    Where a period was revised, a record has a value in each of its snapshots, and its part is that
    of the larger.
    """
    ledger = charged(path, seed)
    charges = [entry for entry in ledger.entries() if entry.number]
    assert len({each.period for each in charges}) > 1
    dice, worst = random.Random(-seed), Fraction(0)
    for period in PERIODS:
        part = ledger.lines()[0]["periods"][PERIODS.index(period)][1]
        budget = Policy.from_document(part)
        limits = [budget.loss(record) for record in RECORDS]
        by_snapshot = {}
        for each in charges:
            if each.period == period:
                by_snapshot.setdefault(each.snapshot, []).append(each.policy)
        losses = [
            [sum(policy.loss(record) for policy in made) for record in RECORDS]
            for made in by_snapshot.values()
        ]
        for places in itertools.product(range(len(RECORDS)), repeat=len(losses)):
            lost = sum(each[at] for each, at in zip(losses, places, strict=True))
            assert lost <= max((limits[at] for at in places), default=Fraction(0))
        worst += max(map(max, losses), default=Fraction(0))
    assert worst > 0
    parts = [ledger.part(period) for period in PERIODS]
    for _ in range(100):  # and as the library adds it up, absences included
        history = {period: dice.choice([None, *RECORDS]) for period in PERIODS}
        lost, limit = history_losses(parts, history)
        expected = [
            each.policy.loss(history[each.period])
            for each in charges
            if history[each.period] is not None
        ]
        assert lost == sum(expected) <= limit


def test_a_revision_of_growing_losses_needs_a_share_for_each_snapshot(series):
    """A record that was small and is large now has paid a share of each of its two budgets."""
    series.charge(HALF, label="a", snapshot="first", period="2026")
    more = {"label": "b", "snapshot": "revised", "period": "2026", "revision": "late returns"}
    with pytest.raises(BudgetExceededError, match="share of the part"):
        series.charge(Policy.split("0.51", SCHEME), **more)
    series.charge(Policy.split("0.25", SCHEME) + Policy.constant("0.25"), **more)


@pytest.mark.parametrize("seed", first(10, range(20)))
def test_shares_hold_for_every_pair_of_values(seed):
    """Where shares are found, a revised record loses at most what its larger value may."""
    dice = random.Random(seed)
    budget = Budget(1, SCHEME) if seed % 2 else Budget(1, SCHEME) + FARM
    sums = [
        random_policy(dice) * Fraction(1, 2) + random_policy(dice) * Fraction(1, 4)
        for _ in range(2)
    ]
    if have_shares(sums, budget):
        for one, other in itertools.product(RECORDS, repeat=2):
            lost = sums[0].loss(one) + sums[1].loss(other)
            assert lost <= max(budget.loss(one), budget.loss(other))


def test_farms_and_mines_have_no_shares():
    """A farm that is a mine in the revision pays both: each needs all of the part."""
    assert not have_shares([FARM, MINE], Budget(1))
    assert have_shares([FARM * "0.5", MINE * "0.5"], Budget(1))
    slot = Policy.slot("0.1", ["county"], threshold=13)
    assert not have_shares([Policy.constant("0.1")], Budget(1, slots=slot))


# -- planning -------------------------------------------------------------------------------


def test_how_many_releases_still_fit(series):
    """Of each period, as many as it takes no more of."""
    policy = Policy.split("0.3", SCHEME)
    assert how_many_fit(series.part("2026"), policy, "s") == 3
    series.charge(policy, label="a", snapshot="s", period="2026")
    assert how_many_fit(series.part("2026"), policy, "s") == 2
    assert how_many_fit(series.part("2027"), policy, "s") == 3
    assert how_many_fit(series.part("2026"), Policy.split("0.71", SCHEME), "s") == 0
    for _ in range(2):
        series.charge(policy, label="a", snapshot="s", period="2026")
    assert how_many_fit(series.part("2026"), policy, "s") == 0


def test_records_that_stay_and_records_that_grow(series):
    """A growing record pays for the pieces that it has in each year."""
    series.charge(HALF, label="a", snapshot="a", period="2026")
    series.charge(HALF, label="b", snapshot="b", period="2027")
    parts = [series.part(period) for period in series.periods]
    record = usual_record(parts)
    assert record == {"employees": 50}
    same = dict.fromkeys(series.periods, record)
    assert history_losses(parts, same) == (Fraction(1), Fraction(3))
    growing = {
        period: grown({**record, "sector": "farm"}, Fraction(1), at, parts)
        for at, period in enumerate(series.periods)
    }
    assert [each["employees"] for each in growing.values()] == [50, 100, 200]
    assert history_losses(parts, growing) == (Fraction(1 + 4, 2), Fraction(1 + 4 + 16))
    absent = {"2026": record}
    assert history_losses(parts, absent) == (Fraction(1, 2), Fraction(1))


def test_ten_years_of_establishments_that_grow_enter_and_exit(path):
    """Each has lost, exactly, what its own years cost, and never more than its parts."""
    dice = random.Random(35)
    ledger = Ledger.create(path, Budget(1, SCHEME), periods="2026..2035")
    yearly = Policy.split("0.4", SCHEME) + Policy.constant("0.2")
    for period in ledger.periods:
        ledger.charge(yearly, label=period, snapshot=period, period=period)
    parts = [ledger.part(period) for period in ledger.periods]
    for _ in range(200):
        size, growth = dice.choice([1, 40, 700, 9000]), Fraction(dice.randint(90, 120), 100)
        first, last = sorted(dice.sample(range(11), 2))
        years = ledger.periods[first:last]
        history = {
            period: {"employees": round(size * growth**year)} for year, period in enumerate(years)
        }
        pieces = [max(1, -(-record["employees"] // 50)) for record in history.values()]
        lost, limit = history_losses(parts, history)
        assert lost == sum(Fraction(2, 5) * count**2 + Fraction(1, 5) for count in pieces)
        assert lost <= limit == sum(count**2 for count in pieces)
