"""`check`: the charge, the errors, the losses, the ledger, the hints."""

import shutil
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

from perrecord.cli.changes import raised_line
from perrecord.policy.loss import Loss
from perrecord.release.changes import Raised
from tests.cli.conftest import SOURCE, changed, outside, run


def test_a_process_of_its_own_says_the_same_and_no_more(folder):
    """Not a word of the libraries that it loaded, not even while it ends."""
    inside, alone = run("check", "release.yaml"), outside("check", "release.yaml", cwd=folder)
    assert (alone.code, alone.out, alone.err) == (inside.code, inside.out, inside.err)


def test_it_says_what_a_release_would_cost(folder):
    """In words, before there is a ledger."""
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "0.2 times the record's number of pieces squared" in shown.out
    assert "2.236" in shown.out
    assert "79.06" in shown.out
    assert "a plant        1.9" in shown.out
    assert (
        "If emp of 'a plant' were 165 instead of 150 (10 % more), that would cost 0.018; being "
        "in the data at all costs it 1.9." in shown.out
    )
    assert "est.ledger: is not there yet; make it: perrecord ledger create" in shown.out
    assert not (folder / "est.ledger").exists()


@pytest.mark.parametrize(
    ("value", "other", "said"),
    [
        (150, 165, "165 instead of 150 (10 % more), that"),
        (3, 4, "4 instead of 3 (10 % more, rounded up to the measure's resolution), that"),
        (-3, -4, "-4 instead of -3 (10 % more, rounded up to the measure's resolution), that"),
        (95, 100, "100 instead of 95 (10 % more, cut to the measure's largest value), that"),
    ],
)
def test_it_says_how_the_greater_value_was_rounded(value, other, said):
    """10 % more than 3 is 3.3, and nobody employs that many."""
    loss = Loss(Fraction(1, 2), True)
    sizes = Fraction(value), Fraction(other)
    records = tuple({"emp": size} for size in sizes)
    found = Raised("a shop", "emp", 10, *sizes, loss, Fraction(0), records)
    assert said in raised_line(found, Fraction(1))


def test_as_json(charged):
    """A program reads the same; losses are exact text."""
    found = run("check", "release.yaml", "--json").json()
    assert found["can_be_released"] is True
    assert found["examples"] == [
        {"name": "a corner shop", "loss": "0.3"},
        {"name": "a plant", "loss": "1.9"},
    ]
    assert found["change"] == {
        "example": "a plant",
        "measure": "emp",
        "percent": 10,
        "value": "150",
        "other": "165",
        "loss": "0.018",
        "exact": True,
        "delta": "0",
    }
    assert [each["answer"] for each in found["answers"]] == ["establishments", "employees"]
    assert found["answers"][0]["standard_errors"] == [pytest.approx(5**0.5)]
    assert found["ledger"]["exists"] is True
    assert found["charge"]["policy"]["format"] == "perrecord-policy"
    assert found["hints"] == []


def test_the_ledger_may_refuse(published):
    """Once the budget is used up; the report is printed all the same."""
    changed(published, "rho: 0.2", "rho: 0.65")
    shown = run("check", "release.yaml", "--json")
    assert shown.code == 1
    assert shown.json()["can_be_released"] is False
    assert "would lose" in shown.json()["ledger"]["refusal"]
    assert "perrecord: a record with emp = 0 would lose 1.05 rho in all" in shown.err


def test_other_data_than_was_charged_on(published):
    """It is said whether the ledger refuses or not; and by `release` and `ledger show` too."""
    other = SOURCE.slice(1)
    pq.write_table(other, published / "est.parquet")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "made on another snapshot of the data (hmac:" in shown.err
    assert "make a new ledger with a budget of its own" in shown.err
    (published / "est.ledger").rename(published / "full.ledger")
    (published / "est.ledger.releases").rename(published / "full.ledger.releases")
    changed(published, "{sum: emp, split: moderate, rho: 0.2}", "{count: emp, rho: 0.2}")
    assert run("ledger", "create", "release.yaml").code == 0
    assert run("release", "release.yaml", "--out", "first").code == 0
    assert "several snapshots" not in run("ledger", "show", "est.ledger").out
    pq.write_table(SOURCE, published / "est.parquet")
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "est.ledger: allows it; earlier charges of this ledger were made on another" in shown.out
    released = run("release", "release.yaml", "--out", "second")
    assert released.code == 0
    assert "made on another snapshot of the data (hmac:" in released.err
    listed = run("ledger", "show", "est.ledger").out
    assert "made on several snapshots of the data" in listed
    assert "charged of it so far: 0.6." in listed


def test_a_release_that_was_charged_may_be_run_again(charged):
    """Though its budget would not pay for a second one."""
    changed(charged, "rho: 0.2", "rho: 0.6")
    assert run("release", "release.yaml", "--out", "published").code == 0
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "running it again is free" in shown.out
    changed(charged, "title: By county", "title: By other counties")
    assert "running it again is free" in run("check", "release.yaml").out
    changed(charged, "rho: 0.6", "rho: 0.61")
    assert run("check", "release.yaml").code == 1


def test_a_spec_beyond_its_own_budget(folder):
    """It is refused before there is a ledger."""
    changed(folder, "rho: 0.2", "rho: 2")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "its budget is 1" in shown.err
    assert "est.ledger: is not there yet; the spec's budget is too small" in shown.out
    assert "Hints" in shown.out


def test_a_ledger_that_is_gone_or_has_periods(folder):
    """What is said to be typed works."""
    changed(folder, "ledger: est.ledger\n", "ledger: est.ledger\nperiod: 2026\n")
    for shown in (
        run("check", "release.yaml").out,
        run("release", "release.yaml", "--out", "x").err,
    ):
        assert "ledger create release.yaml --periods 2026,... with every period" in shown
    (folder / "est.ledger.releases" / "one").mkdir(parents=True)
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "est.ledger: is gone; restore it from a backup" in shown.out
    assert "Restore it from a backup" in shown.err
    assert "ledger create" not in shown.out + run("release", "release.yaml", "--out", "x").err


def test_another_budget_than_the_ledgers(charged):
    """The ledger's budget is fixed."""
    changed(charged, "{rho: 1,", "{rho: 2,")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "was made with another budget, which cannot be changed" in shown.err
    assert "\n  budget: {rho: 1, splits: [moderate]}\n" in shown.err


def test_a_spec_without_a_ledger(folder):
    """A release is charged to one, so it must be named."""
    changed(folder, "ledger: est.ledger\n", "")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "names no ledger" in shown.err


def test_hints_are_shown_at_their_line(folder):
    """A threshold that looks computed from data."""
    changed(folder, "{emp: 50}", "{emp: 49317}")
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "release.yaml:8: splits.moderate" in shown.out


def test_mistakes_are_shown_at_their_line(folder):
    """Every one of them, without a traceback."""
    changed(folder, "sum: emp", "sum: emps")
    shown = run("check", "release.yaml")
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith("perrecord: release.yaml:")
    assert "Did you mean 'emp'?" in shown.err
    assert "Traceback" not in shown.err


def test_a_spec_that_is_not_there(folder):
    """The message names it."""
    shown = run("check", "none.yaml")
    assert shown.code == 1
    assert "none.yaml" in shown.err


def test_another_amount_is_another_release(published):
    """It says that a new charge would follow, and of what; a new title is no new charge."""
    shown = run("check", "release.yaml")
    assert "running it again is free" in shown.out
    changed(published, "rho: 0.1}", "rho: 0.05}")
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "it is a different release of the same data from what was charged before" in shown.out
    assert "('Establishments by county'), and would be charged anew" in shown.out


def test_a_charged_release_whose_numbers_are_gone_is_not_said_to_be_free(published):
    """What would happen is said: nothing can be published again until they are restored."""
    private = published / "est.ledger.releases"
    private.rename(published / "away")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "free" not in shown.out
    assert "sealed numbers of this release are gone or changed" in shown.err
    assert "Restore that folder from a backup" in shown.err
    assert run("release", "release.yaml", "--out", "again").code == 1
    shutil.rmtree(private)  # it made the folder for its lock
    (published / "away").rename(private)
    assert "running it again is free" in run("check", "release.yaml").out


def test_a_tapered_answer_that_no_budget_lists(folder):
    """The line to add is given, and with it the release is allowed."""
    changed(folder, "{sum: emp, split: moderate, rho: 0.2}", "{sum: emp, taper: 50, rho: 0.2}")
    changed(folder, "{rho: 1, splits: [moderate]}", "{rho: 1}")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    line = "tapers: [{measure: emp, at: 50, rho: 0.2, times: 1}]"
    assert line in shown.err
    changed(folder, "{rho: 1}", f"{{rho: 1, {line}}}")
    assert run("check", "release.yaml").code == 0
    assert run("ledger", "create", "release.yaml").code == 0
    changed(folder, "rho: 0.2, times: 1", "rho: 0.3, times: 2, nu: 3")
    for command in (("check", "release.yaml"), ("release", "release.yaml", "--out", "out")):
        refused = run(*command)
        assert refused.code == 1
        assert line in refused.err  # what the ledger was made with


@pytest.mark.parametrize("written", ["yes", "[nonnegative]", "all", "3"])
def test_what_consistent_may_be_is_listed(folder, written):
    """Other words than true and the names of further columns."""
    changed(folder, "examples:", f"post_processing: {{consistent: {written}}}\nexamples:")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "post_processing.consistent" in shown.err
    assert "expected true, or the further columns that are wanted: {nonnegative: true}" in shown.err


def test_the_columns_of_each_table_are_listed(folder):
    """As they will be written; of blurred totals with what those columns are for."""
    shown = run("check", "release.yaml")
    assert "  counties: county, establishments, establishments_se, establishments_low," in shown.out
    assert "_sd_at_most" not in shown.out
    columns = run("check", "release.yaml", "--json").json()["columns"]
    assert columns["counties"][:2] == ["county", "establishments"]
    changed(
        folder,
        "{sum: emp, split: moderate, rho: 0.2}",
        "{sum: emp, taper: 50, blur: 0.1, rho: 0.2}",
    )
    assert "_sd_at_most bounds" in run("check", "release.yaml").out
