"""The replay audit: no violation in the library, and figures that say what was looked at."""

import json

import pytest

from perrecord import InputError
from perrecord.lab.audit.replay.audit import replay
from perrecord.queries.answers import Answer
from tests.cli.conftest import run as run_command


def figure(found, name):
    """Return a figure by the beginning of its name."""
    return next(value for known, value in found.figures if known.startswith(name))


def count(found, name):
    """Return a figure that is a number, before what stands in brackets."""
    return int(figure(found, name).split()[0].replace(",", ""))


# -- the library itself ------------------------------------------------------------------------


def test_no_record_loses_more_than_its_policy_says():
    """800 pairs, whatever is asked; most records lose something, and many all they may."""
    found = replay(800, seed=11)
    assert found.failures == ()
    assert count(found, "neighbouring pairs") >= 800
    assert count(found, "pairs in which the record lost something") > 400
    assert count(found, "pairs in which exact accounting demanded") > 50
    assert count(found, "thresholds compared with") >= 10
    assert count(found, "real runs, recomputed") >= 5
    assert count(found, "released numbers recomputed") > 250
    assert count(found, "pairs run both ways") >= 2
    assert count(found, "differences of released numbers") > 10
    assert count(found, "pairs released both ways") >= 1
    kinds = {row[0] for row in found.tables[0].rows}
    assert {"quantile", "key selection", "any mechanism on split rows"} <= kinds


def test_the_same_seed_asks_the_same():
    """Whoever repeats an audit finds what it found; one table can be repeated alone."""
    found = replay(80, seed=4, first=1)
    assert found == replay(80, seed=4, first=1)
    assert found != replay(80, seed=5, first=1)
    with pytest.raises(InputError, match="at least one"):
        replay(0, seed=4)


# -- the command -------------------------------------------------------------------------------


def test_the_command_prints_figures_and_ends_with_0():
    """As text for people, as JSON for programs."""
    shown = run_command("audit", "replay", "--pairs", "80", "--first", "1")
    assert shown.code == 0
    assert "violations" in shown.out
    printed = json.loads(
        run_command("audit", "replay", "--pairs", "80", "--first", "1", "--json").out
    )
    assert printed["name"] == "replay"
    assert ["violations", "0"] in printed["figures"]
    assert printed["failures"] == []
    assert printed["tables"][0]["rows"]


def test_the_command_names_the_offending_table_and_ends_with_1(monkeypatch):
    """A violation can be repeated by its seed and table."""
    honest = Answer.policy
    monkeypatch.setattr(Answer, "policy", lambda *given: honest(*given) * "0.9")
    shown = run_command("audit", "replay", "--pairs", "80", "--seed", "9", "--first", "2")
    assert shown.code == 1
    assert "seed 9, table 2 (repeat it with --seed 9 --first 2 --pairs 1)" in shown.err
