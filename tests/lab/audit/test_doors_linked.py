"""Two periods through every door: changes are those of what was spelled, and twins are noticed."""

from random import Random

import pytest

from perrecord.accounting import parts
from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit.doors.audit import every_door
from perrecord.lab.audit.doors.linked import PERIOD, READING, linked_checks
from perrecord.lab.audit.replay.checks import RECOMPUTED
from perrecord.tables import linking
from perrecord.tables.schema import Schema

DOORS = {door.name: door for door in every_door() if door.is_linked and not door.missing()}


def checks(name, seeds=range(1), count=12):
    """Yield what is found about two periods at one door."""
    for seed in seeds:
        yield from linked_checks(DOORS[name], Random(f"linked {seed} {name}"), count, seed)


def fault(name, what):
    """Return the first thing that is wrong with one kind of check, if anything is."""
    every = (each.problem() for each in checks(name, range(3)) if each.what == what)
    return next(filter(None, every), None)


@pytest.mark.parametrize("name", [name for name in DOORS if name != "Spark"])
def test_changes_are_those_of_the_rows_as_they_were_spelled(name):
    """Every door of files and frames: readings, runs with and without an id, charges."""
    found = list(checks(name, count=3))  # perrecord audit doors has more of them
    assert [each.problem() for each in found if each.problem()] == []
    assert {each.what for each in found} == {READING, RECOMPUTED, PERIOD}
    assert sum(each.numbers for each in found) > 3


@pytest.mark.spark
def test_changes_are_those_of_the_rows_as_they_were_spelled_on_spark():
    """The same on the other engine."""
    assert [each.problem() for each in checks("Spark", count=3) if each.problem()] == []


# -- broken twins -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["text, .csv", "Parquet", "Polars"])
def test_a_missing_side_that_makes_a_change_missing_is_caught(monkeypatch, name):
    """What is missing in one period counts as 0 there."""
    honest = linking._change

    def change(value, dialect):
        return f"CASE WHEN count({value}) > 1 THEN {honest(value, dialect)} END"

    monkeypatch.setattr(linking, "_change", change)
    assert fault(name, RECOMPUTED)


def test_periods_that_change_places_are_caught(monkeypatch):
    """What grew did not shrink."""
    monkeypatch.setattr(linking, "_SIDES", {"this": "<", "last": ">"})
    assert fault("Arrow", RECOMPUTED)


def test_a_move_that_is_told_as_an_entry_is_caught(monkeypatch):
    """An id that was elsewhere moved in, and out there."""
    honest = linking.kind_sql
    monkeypatch.setattr(
        "perrecord.tables.records.kind_sql",
        lambda dialect: honest(dialect).replace("moved in", "entry"),
    )
    assert fault("Arrow", RECOMPUTED)


def test_another_meaning_of_a_change_in_python_is_caught(monkeypatch):
    """Policies are asked about records by it."""
    honest = Schema.linked_records
    monkeypatch.setattr(Schema, "linked_records", lambda self, this, last: honest(self, this, None))
    assert fault("Arrow", READING)


@pytest.mark.parametrize("name", ["text, .csv", "pandas"])
def test_a_period_that_is_charged_on_other_data_is_caught(monkeypatch, name):
    """A period has one state of the data, unless a revision is named."""
    monkeypatch.setattr(parts.BudgetPart, "_check_data", lambda *_: None)
    assert "two states" in fault(name, PERIOD)


def test_a_charge_to_another_period_is_caught(monkeypatch):
    """Each period has a part of its own."""
    honest = Ledger.charge

    def charge(self, *given, **options):
        return honest(self, *given, **{**options, "period": "2027"})

    monkeypatch.setattr(Ledger, "charge", charge)
    first = (each for each in linked_checks(DOORS["Arrow"], Random(1), 3, 1) if each.what == PERIOD)
    assert "something else" in next(first).problem()
