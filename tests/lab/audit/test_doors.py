"""The replay audit through every door: nothing is read in another way than it was spelled."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from perrecord import InputError
from perrecord.lab.audit.doors.audit import doors_audit, every_door
from perrecord.lab.audit.doors.measurements import measurement_checks
from perrecord.lab.audit.doors.reading import number, steps
from tests.cli.conftest import run as run_command
from tests.lab.audit.test_replay import count

DOORS = {door.name: door for door in every_door()}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("name", [name for name in DOORS if name != "Spark"])
def test_records_are_read_as_they_were_spelled(name):
    """A table at each door: exact numbers, the policy's reading, and two real runs each."""
    door = replace(DOORS[name], is_linked=False)  # two periods: test_doors_linked.py
    pairs = 2  # perrecord audit doors has thousands
    found = doors_audit(pairs, seed=11, doors=[door], measures=False)
    assert found.failures == ()
    assert count(found, "neighbouring pairs") >= pairs
    assert count(found, "readings of a record") >= pairs
    assert count(found, "released numbers recomputed") > pairs


@pytest.mark.spark
def test_records_are_read_as_they_were_spelled_on_spark():
    """One table: the same reading on the other engine."""
    found = doors_audit(1, seed=11, doors=[DOORS["Spark"]], measures=False)
    assert found.failures == ()


def test_measurements_are_given_vectors_of_their_domain():
    """Of every domain that OpenDP has, or they are refused before they are charged."""
    checks = [each for seed in range(1) for each in measurement_checks(Random(seed))]
    assert [each.fault for each in checks if each.fault is not None] == []
    assert len({each.what for each in checks}) == 2


def test_what_cannot_be_asked_is_refused():
    """At least one pair; doors by name."""
    with pytest.raises(InputError, match="expected at least one"):
        doors_audit(0, seed=1)
    shown = run_command("audit", "doors", "--only", "no such door")
    assert shown.code == 1
    assert "text, .csv" in shown.err


def test_a_door_that_cannot_be_tried_is_named(monkeypatch):
    """Nobody should take a door that was left out for one that is sound."""
    monkeypatch.setattr("perrecord.lab.audit.doors.door.find_spec", lambda _: None)
    found = doors_audit(1, seed=1, doors=[DOORS["Polars"], DOORS["Arrow"]], measures=False)
    assert ("Polars", "not tried: needs polars", "0", "0") in found.tables[0].rows


# -- the audit's own reading -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("5", 5), (" -5.5e1\t", -55), ("+.5", "1/2"), ("5.", 5), ("0e999", 0), ("1e1000", None),
        ("1.8888888888888888e+16", 18888888888888888), ("1e", None), ("", None), (".", None),
        ("27835881828832004E-14", "278.35881828832004"), ("1_000", None), ("NaN", None),
        ("٣", None), ("5\u00a0", None), ("9" * 401, None), (2.675, "2.675"), (None, None),
        (np.float32(0.1), "0.1"), (float("nan"), None), (2.0**62, 2**62),
    ],
)  # fmt: skip
def test_a_spelled_number_is_what_a_person_reads(spelled, meant):
    """By hand, one for each clause of the rule."""
    assert number(spelled) == (None if meant is None else Fraction(meant))


@pytest.mark.parametrize(
    ("spelled", "outside", "meant"),
    [("0.5", "null", 1), ("-0.5", "null", -1), ("0.49999999999999999999", "null", 0),
     ("10.5", "null", None), ("10.5", "cut", 10), ("-1e300", "cut", -10), ("10.4", "cut", 10)],
)  # fmt: skip
def test_ties_go_away_from_zero_and_ends_are_kept(spelled, outside, meant):
    """On a grid of whole numbers up to ten."""
    assert steps(spelled, Fraction(1), 10, outside) == meant
