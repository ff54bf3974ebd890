"""The figures audit of every kind of source and answer: nothing differs, and twins are noticed."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from perrecord.cli.audit import command_output
from perrecord.lab.audit import random_tables
from perrecord.lab.audit.shown.audit import Blind, Kinds, published
from perrecord.lab.audit.shown.checks import check
from perrecord.lab.audit.shown.declared import measures_of, records_of
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.tables import linking, weights
from tests import first

pytestmark = pytest.mark.usefixtures("expected_once")


def found_in(release, names=None):
    """Return what comparing all figures of a release finds."""
    findings = Comparisons()
    check(findings, release, names)
    return findings


def drawn(folder, seed, *, is_evaluated=False, command=command_output, **kinds):
    """Return a random release with answers of some kinds."""
    own = Kinds(**{name: Random(f"{name} {each}") for name, each in kinds.items()})
    return published(Random(seed), folder, 1, command, own, is_evaluated=is_evaluated)


def only(*names):
    """Return a command that makes a release and does what is named, and nothing else."""

    def command(name, *given):
        is_asked = name in names or (name in ("ledger", "release") and "--json" not in given)
        return command_output(name, *given) if is_asked else ""

    return command


@pytest.mark.parametrize("seed", first(1, ["9 1", "9 9"]))
def test_blurred_totals_are_evaluated_and_tuned(seed, tmp_path):
    """Blurred totals beside others in every table; the last has an example whose key is NULL."""
    found = drawn(tmp_path, seed, is_evaluated=True, tapers=seed, blurs=seed, weights=seed)
    assert {"report.html", "tuning.html"} <= found.shown.keys()
    assert found_in(found).failures == []


@pytest.mark.parametrize("kind", ["surveys", "changes"])
def test_surveys_and_changes_are_recomputed(tmp_path, kind):
    """Weights, products and derived measures; totals of changes, net entries, moves."""
    found = drawn(tmp_path, 3, **{kind: 3})
    comparisons, blind = found_in(found), Blind()
    assert comparisons.failures == []
    assert {"doctor: measures", "tables: interval"} <= comparisons.made.keys()
    blind.look(found, Random(1), 3, "")
    assert blind.missed == []
    if kind == "changes":  # a largest value in one period is no largest change
        words = found.shown["methodology.md"].replace(
            "| Change in pay |  | 0.5 | 1000000 |", "| Change in pay |  | 0.5 | 2000000 |"
        )
        changed = replace(found, shown={"methodology.md": words})
        assert found_in(changed).wrong["methodology: measures"]


def test_changes_that_lose_what_entered_are_noticed(tmp_path, monkeypatch):
    """A broken twin: a side that is missing makes the change missing."""
    honest = linking._change
    monkeypatch.setattr(
        linking,
        "_change",
        lambda value, dialect: f"CASE WHEN count({value}) > 1 THEN {honest(value, dialect)} END",
    )
    found = drawn(tmp_path, 3, command=only("doctor"), changes=3)
    assert found_in(found, ["doctor", "doctor --json"]).wrong["doctor: pieces"]


def test_weights_that_are_not_cut_are_noticed(tmp_path, monkeypatch):
    """A broken twin: the largest weight of a survey is forgotten."""
    honest = weights.Measure
    monkeypatch.setattr(
        weights,
        "Measure",
        lambda resolution, **given: honest(resolution, **{**given, "largest": 10**6}),
    )
    found = drawn(tmp_path, 4, command=only("doctor", "policy"), surveys=4)
    assert found_in(found, ["doctor", "methodology.md", "policy 0"]).failures


def test_records_of_a_survey_are_as_documents_say():
    """By hand: weights are cut, products exact, derived measures rounded once, nulls stay."""
    spec = {
        "measures": {
            "emp": 1,
            "cost": {"expression": "emp * emp / 4 + 0.25", "resolution": 1, "largest": 10},
        },
        "weight": {"column": "rent", "resolution": 0.1, "largest": 2},
    }
    (row, *_) = random_tables.rows(Random(1), 1)
    for emp, rent, expected in (
        (5, "1.26", ("1.3", 5, 7, "6.5", "9.1")),
        (-5, "30", (2, -5, 7, -10, 14)),
        (7, "1", (1, 7, None, 7, None)),
        (None, "1", (1, None, None, None, None)),
    ):
        (found,) = records_of(spec, [{**row, "emp": emp, "rent": Fraction(rent)}])
        wanted = [None if each is None else Fraction(each) for each in expected]
        assert [found[name] for name in measures_of(spec)] == wanted


def test_changes_are_as_documents_say():
    """By hand: what stays is a difference, what moves is two records, what is missing is 0."""
    spec = {"measures": {"emp": 1, "net": {"column": "record_count"}}}
    (row, *_) = random_tables.rows(Random(1), 1)
    sides = {"sector": "farm", "firm": 1}
    this = [{**row, **sides, "id": each, "emp": emp} for each, emp in ((1, 7), (2, None), (3, 4))]
    last = [{**row, **sides, "id": each, "emp": emp} for each, emp in ((1, 9), (3, 4), (4, 2))]
    last[1] |= {"firm": 2}
    found = records_of(spec, this, last)
    assert [(each["id"], each["change_kind"], each["emp"], each["net"]) for each in found] == [
        (1, "continuing", -2, 0),
        (2, "entry", None, 1),
        (3, "moved in", 4, 1),
        (3, "moved out", -4, -1),
        (4, "exit", -2, -1),
    ]
