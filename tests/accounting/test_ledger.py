"""What a ledger accepts, refuses, remembers and shows."""

import hashlib
import json
import stat
import time
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perrecord import (
    BudgetExceededError,
    CurrencyError,
    InputError,
    LedgerError,
    Policy,
    Split,
)
from perrecord.accounting import rows, storage
from perrecord.accounting.budget import Budget
from perrecord.accounting.entries import Charge, Creation, charge_fields, next_row
from perrecord.accounting.ledger import Ledger
from tests.accounting.conftest import SCHEME


def test_charges_add_up_and_are_there_again_after_opening(lived, path):
    """The sum, the budget, the name and every entry survive."""
    again = Ledger.open(path)
    assert again.name == "establishments"
    assert again.budget == Budget(1, SCHEME)
    assert again.spent() == Policy.split("0.25", SCHEME) + Policy.constant("0.375")
    assert again.entries() == lived.entries()
    assert [type(entry).__name__ for entry in again.entries()] == [
        *("Creation", "Charge", "Seal", "Publication", "Charge", "Charge")
    ]
    assert again.verify() == 6
    assert again.secret == lived.secret
    assert len(again.secret) == 32
    assert dict(again.entries()[4].details) == {"by": ["county"], "cells": 3}


def test_equal_charges_each_count_also_after_opening(path):
    """Three of 0.3 leave no room for a fourth, whoever opens the ledger."""
    ledger = Ledger.create(path, Budget(1))
    for _ in range(3):
        ledger.charge(Policy.constant("0.3"), snapshot="s", label="the same again")
    for opened in (ledger, Ledger.open(path)):
        assert opened.spent() == Policy.constant("0.9")
        with pytest.raises(BudgetExceededError):
            opened.charge(Policy.constant("0.3"), snapshot="s", label="the same again")


def test_a_charge_is_accepted_up_to_the_budget_and_not_beyond(ledger):
    """Exactly; a refusal names a record, both numbers and what is left, and charges nothing."""
    ledger.charge(Policy.split("0.7", SCHEME), snapshot="s", label="a")
    ledger.preview(Policy.split("0.3", SCHEME), snapshot="s")
    beyond = Policy.split("0.3", SCHEME) + Policy.exact("1e-9", measure="pay", threshold=1)
    with pytest.raises(BudgetExceededError, match=r"pay = \d+ would lose .* budget is 1\. .*left"):
        ledger.preview(beyond, snapshot="s")
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(
            Policy.by("sector", {"farm": Policy.constant("0.4")}, Policy.zero()),
            snapshot="s",
            label="b",
        )
    assert str(refused.value) == (
        "a record with sector = 'farm', employees = 0 would lose 1.1 rho in all, and its budget is "
        "1. This charge takes 0.4 of it, and 0.3 is left. Nothing was charged. Ask for less rho, "
        "for fewer answers, or with a scheme that the budget declares."
    )
    assert len(ledger.entries()) == 2
    ledger.charge(Policy.split("0.3", SCHEME), snapshot="s", label="c")
    ledger.charge(Policy.zero(), snapshot="s", label="reads no data")
    with pytest.raises(BudgetExceededError):
        ledger.charge(Policy.constant("1e-12"), snapshot="s", label="d")


def test_a_refusal_without_a_counter_example_says_so(path):
    """Against a sum over several schemes a no may have no record to show."""
    total = Policy.split(1, Split(x=2)) + Policy.split(1, Split(x=3))
    ledger = Ledger.create(path, total)
    low = Policy.exact(Fraction(26, 25), measure="x", threshold=2) + Policy.constant("0.95")
    with pytest.raises(BudgetExceededError, match="could not be proved"):
        ledger.charge(low, snapshot="s", label="the known gap")


def test_records_that_one_side_has_no_case_for_are_named(path):
    """A partial budget, and a partial charge."""
    ledger = Ledger.create(path, Policy.by("region", {"north": Policy.constant(1)}))
    with pytest.raises(BudgetExceededError, match=r"budget has no case for .* region = 'other'"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="everywhere")
    ledger.charge(Policy.by("region", {"north": Policy.constant(1)}), snapshot="s", label="north")
    whole = Ledger.create(path.with_name("whole.db"), Budget(1))
    with pytest.raises(BudgetExceededError, match=r"charge has no case for .* region = 'other'"):
        whole.charge(
            Policy.by("region", {"north": Policy.constant(1)}), snapshot="s", label="north"
        )


def test_an_identity_is_charged_once(ledger):
    """A retry gets the earlier charge, whatever its label; another policy is refused."""
    first = ledger.charge(Policy.constant("0.6"), snapshot="s", label="a", identity="run 7")
    assert (
        ledger.charge(Policy.constant("3/5"), snapshot="s", label="again", identity="run 7")
        == first
    )
    assert ledger.charge_of("run 7") == first
    assert ledger.charge_of("run 8") is None
    assert ledger.spent() == Policy.constant("0.6")
    with pytest.raises(LedgerError, match="charged before with another policy"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="a", identity="run 7")
    assert len(ledger.entries()) == 2
    other = ledger.charge(Policy.constant("0.2"), snapshot="s", label="a")
    assert (
        ledger.charge(Policy.constant("0.2"), snapshot="s", label="a") != other
    )  # no identity: charged again


def test_the_life_of_a_release(ledger, path):
    """Charged, sealed once, published after the seal only."""
    assert ledger.state_of("r") == "unknown"
    charge = ledger.charge(Policy.constant("0.1"), snapshot="s", label="r", identity="r")
    assert ledger.state_of("r") == "charged"
    assert ledger.seal_of(charge) is None
    with pytest.raises(LedgerError, match="not sealed yet"):
        ledger.publish(charge)
    seal = ledger.seal(charge, {"a.csv": "11", "b.csv": "22"})
    assert ledger.seal(charge, {"b.csv": "22", "a.csv": "11"}) == seal == ledger.seal_of(charge)
    assert ledger.state_of("r") == "sealed"
    with pytest.raises(LedgerError, match="sealed with other digests"):
        ledger.seal(charge, {"a.csv": "11", "b.csv": "33"})
    publication = ledger.publish(charge, place="release/r")
    assert Ledger.open(path).publish(charge, place="release/r") == publication
    assert ledger.publish(charge, place="elsewhere") != publication
    assert ledger.state_of("r") == "published"


def test_what_is_no_charge_of_this_ledger_is_refused(ledger, path):
    """Another ledger's charge, or something else."""
    foreign = Ledger.create(path.with_name("other.db"), Budget(1))
    charge = foreign.charge(Policy.constant("0.1"), snapshot="s", label="a")
    for attempt in (lambda c: ledger.seal(c, {"a": "b"}), ledger.publish, ledger.seal_of):
        with pytest.raises(LedgerError, match="not one of this ledger"):
            attempt(charge)
        with pytest.raises(InputError, match=r"ledger\.charge"):
            attempt("charge")


def test_slots_are_filled_exactly_once(path):
    """T4: a delta budget lists selections, and each pays for one."""
    slot = Policy.slot("0.1", ["county"], split=SCHEME, threshold=13)
    ledger = Ledger.create(path, Budget(1, SCHEME, slots=[slot]))
    selection = Policy.selection("0.1", ["county"], split=SCHEME, threshold=13)
    other = Policy.selection("0.1", ["county"], split=SCHEME, threshold=14)
    with pytest.raises(BudgetExceededError, match=r"no free slot.*14.*Free slots: 1 × .*13"):
        ledger.charge(other, snapshot="s", label="another threshold")
    ledger.charge(selection, snapshot="s", label="keys")
    with pytest.raises(BudgetExceededError, match="Free slots: none"):
        Ledger.open(path).charge(selection, snapshot="s", label="keys again")
    ledger.charge(Policy.split("0.9", SCHEME), snapshot="s", label="the rest")


def test_a_ledger_in_epsilon(path):
    """T16: epsilons add; rho is refused."""
    ledger = Ledger.create(path, Budget(epsilon=1, splits=SCHEME))
    ledger.charge(Policy.split(epsilon="0.5", split=SCHEME), snapshot="s", label="a")
    ledger.charge(Policy.constant(epsilon="0.5"), snapshot="s", label="b")
    with pytest.raises(BudgetExceededError, match="epsilon"):
        ledger.charge(Policy.constant(epsilon="0.01"), snapshot="s", label="c")
    with pytest.raises(CurrencyError):
        ledger.charge(Policy.constant("0.01"), snapshot="s", label="d")
    expected = Policy.split(epsilon="0.5", split=SCHEME) + Policy.constant(epsilon="0.5")
    assert Ledger.open(path).spent() == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "0.1"},
        {"label": ""},
        {"label": None},
        {"identity": ""},
        {"identity": 7},
        {"identity": "a\ud800"},
        {"snapshot": ""},
        {"snapshot": None},
        {"snapshot": "a\ud800"},
        {"details": [1]},
        {"details": {"a": {1, 2}}},
        {"details": {"a": float("nan")}},
        {"details": {1: "a"}},
        {"details": {"a": 10**5000}},
        {"policy": Policy.constant("0.1") * Fraction(1, 7**1200) * Fraction(1, 7**1200)},
    ],
)
def test_what_cannot_be_written_down_is_refused(ledger, wrong):
    """Before anything is written: what could not be read back would spoil the ledger."""
    given = {"policy": Policy.constant("0.1"), "snapshot": "s", "label": "a", **wrong}
    with pytest.raises(InputError):
        ledger.charge(given.pop("policy"), **given)
    assert ledger.verify() == 1


@pytest.mark.parametrize("digests", [{}, {"a": ""}, {"a": 5}, ["a"], None])
def test_digests_are_names_and_texts(ledger, digests):
    """Anything else is refused."""
    charge = ledger.charge(Policy.constant("0.1"), snapshot="s", label="a")
    with pytest.raises(InputError, match="digests"):
        ledger.seal(charge, digests)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(min_size=1),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    ),
)
def test_any_text_comes_back_as_it_was_written(tmp_path, label, inside):
    """Labels and details in any script."""
    folder = tmp_path / hashlib.sha256(repr((label, inside)).encode()).hexdigest()
    folder.mkdir(exist_ok=True)
    path = folder / "ledger.db"
    ledger = Ledger.open(path) if path.exists() else Ledger.create(path, Budget(1))
    charge = ledger.charge(Policy.zero(), snapshot="s", label=label, details={"inside": inside})
    (found,) = [entry for entry in Ledger.open(path).entries() if entry.number == charge.number]
    assert found == charge
    assert (found.label, found.details["inside"]) == (label, inside)


def test_the_export_is_a_chain_that_anybody_can_check(lived):
    """Each line holds the SHA-256 of the line before; the secret is not in it."""
    text = lived.export()
    previous = "0" * 64
    for line, entry in zip(text.splitlines(), lived.entries(), strict=True):
        assert json.loads(line)["previous"] == previous
        previous = hashlib.sha256(line.encode()).hexdigest()
        assert previous == entry.hash
    assert lived.secret.hex() not in text
    assert text.endswith("\n")


def test_the_file_is_for_its_owner_alone(ledger, path):
    """Mode 0600, and nothing else is left in the folder."""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["ledger.db"]


def test_the_settings_are_read_back(monkeypatch, ledger):
    """They make a commit survive a loss of power; a SQLite that does otherwise is refused."""
    with storage.reading(ledger.path) as connection:
        for name, durable in (("synchronous", 3), ("journal_mode", "delete"), ("fullfsync", 1)):
            assert connection.execute(f"PRAGMA {name}").fetchone() == (durable,)
        for name, _, expected in storage._SETTINGS:
            assert connection.execute(f"PRAGMA {name}").fetchone() == (expected,)
    settings = (*storage._SETTINGS, ("synchronous", "OFF", 3))
    monkeypatch.setattr(storage, "_SETTINGS", settings)
    with pytest.raises(LedgerError, match="synchronous is 0"):
        ledger.entries()


def test_a_ledger_that_appears_meanwhile_is_not_overwritten(path, monkeypatch):
    """Two who create it at once: one of them does, and the other is told."""
    before = Ledger.create(path, Budget(1)).secret
    monkeypatch.setattr(storage.os.path, "lexists", lambda _: False)  # it was not there yet
    with pytest.raises(LedgerError, match="never overwritten"):
        Ledger.create(path, Budget(2))
    assert Ledger.open(path).secret == before


def test_it_shows_itself(lived):
    """In a notebook and at the prompt; no secret."""
    assert "6 entries" in repr(Ledger.open(lived.path))
    assert "Spent" in lived._repr_html_()
    hostile = Ledger.create(lived.path.with_name("other.db"), Budget(1), name="<script>")
    assert "&lt;script&gt;" in hostile._repr_html_()
    assert "<script" not in hostile._repr_html_()
    assert isinstance(lived.entries()[0], Creation)


def test_ten_thousand_charges_stay_fast(path):
    """Opening, the sum and one more charge each take well under a second."""
    policies = [
        Policy.constant("0.00001"),
        Policy.split("0.00002", SCHEME),
        Policy.exact("0.00003", measure="employees", threshold=50),
    ]
    early = Ledger.create(path, Budget(1, SCHEME))
    fields = [charge_fields(policy, "one of many", None, "s", {}, {}) for policy in policies]
    with storage.writing(path) as connection:
        number, last = 1, early.entries()[0].hash
        for count in range(10_000):
            row = next_row({**fields[count % 3], "identity": str(count)}, number, last)
            rows.append(connection, row)
            number, last = number + 1, row.hash
    started = time.perf_counter()
    ledger = Ledger.open(path)
    opened = time.perf_counter()
    spent = ledger.spent()
    summed = time.perf_counter()
    ledger.charge(policies[1], snapshot="s", label="one more")
    charged = time.perf_counter()
    assert spent == (policies[0] * 3334 + policies[1] * 3333 + policies[2] * 3333)
    assert early.spent() == spent + policies[1]
    # Measured 0.4, 0.001 and 0.03 seconds on two busy cores; a slower machine may take ten times.
    assert opened - started < 4
    assert summed - opened < 1
    assert charged - summed < 3
    assert isinstance(ledger.entries()[-1], Charge)
