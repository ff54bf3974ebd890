"""`check`: the charge, the errors, the losses, the ledger, the hints."""

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import SOURCE, changed, run


def test_it_says_what_a_release_would_cost(folder):
    """In words, before there is a ledger."""
    shown = run("check", "release.yaml")
    assert shown.code == 0
    assert "0.2 times the record's number of pieces squared" in shown.out
    assert "2.236" in shown.out
    assert "79.06" in shown.out
    assert "a plant        1.9" in shown.out
    assert (
        "If emp of 'a plant' were 165 instead of 150 (10 % more), that would cost 0.018; to be in "
        "the data at all costs it 1.9." in shown.out
    )
    assert "est.ledger: is not there yet; make it: perrecord ledger create" in shown.out
    assert not (folder / "est.ledger").exists()


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
    assert "to run again is free" in shown.out
    changed(charged, "title: By county", "title: By other counties")
    assert "to run again is free" in run("check", "release.yaml").out
    changed(charged, "rho: 0.6", "rho: 0.61")
    assert run("check", "release.yaml").code == 1


def test_a_spec_beyond_its_own_budget(folder):
    """It is refused before there is a ledger."""
    changed(folder, "rho: 0.2", "rho: 2")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "its budget is 1" in shown.err
    assert "Hints" in shown.out


def test_another_budget_than_the_ledgers(charged):
    """The ledger's budget is fixed."""
    changed(charged, "{rho: 1,", "{rho: 2,")
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "the ledger has another" in shown.err


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
