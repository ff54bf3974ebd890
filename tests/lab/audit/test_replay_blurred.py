"""Blurred totals in the replay audit: recomputed from records and bits, and priced by its lines."""

from dataclasses import replace
from random import Random

import pytest

from perrecord import Keys, Query, Taper
from perrecord.lab.audit import random_blurs, random_tables
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_tables import DECLARED, arrow
from perrecord.lab.audit.replay import worlds
from perrecord.lab.audit.replay.checks import DIFFERENCE, RECOMPUTED, RELEASE
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.releases import Seeds, release_checks
from perrecord.lab.audit.replay.traces import trace_checks
from perrecord.lab.audit.replay.workloads import workload_checks
from perrecord.lab.audit.replay.worlds import open_worlds
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests import first

SECTORS = Keys.from_dict({"sector": ["farm", "mine", "shop", "", None]})


def asked(currency):
    """Return blurred totals by sector, filtered, and of nobody's group."""
    amount = {currency: "0.3"}
    return [
        Query()
        .where("emp IS NULL OR emp > -1000")
        .group_by("sector", keys=SECTORS)
        .sum("rent", taper=30, blur="0.1", **amount)
        .sum("load", taper=Taper(load=5000, nu=3), blur="0.5", **amount),
        Query().sum("rent", taper=30, blur="0.2", **amount).count(**amount),
    ]


def checks(currency):
    """Return what the audit asks of their runs, with and without some records."""
    rows = random_tables.rows(Random(7), 25, unique=False)
    with table(arrow(rows), **DECLARED) as opened:
        members = Members.of(opened.schema, rows)
    return list(trace_checks(rows, members, asked(currency), 3, range(0, 25, 6)))


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_blurred_totals_follow_from_records_prices_and_bits(currency):
    """Every number, on each side; what a record costs beside others is never above its charge."""
    found = checks(currency)
    assert [each.problem() for each in found if each.problem()] == []
    assert sum(each.what == RECOMPUTED for each in found) == 6
    costs = [each for each in found if each.what == DIFFERENCE and each.lost]
    assert len(costs) > 6
    # Beside others a record costs less than alone, by which it is charged.
    assert any(each.lost < each.allowed for each in costs)


def workload(currency):
    """Return what the audit finds of a workload of blurred totals, each record left out."""
    rows = random_tables.rows(Random(7), 40, unique=False)
    with open_worlds(rows) as opened:
        members = Members.of(opened.schema, rows)
        planned = plan(asked(currency), opened.schema)
        found = workload_checks(planned, opened, members, FrozenBits(1))
    return [*found.checks, *found.whole]


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_blurred_totals_cost_each_record_at_most_what_is_charged(currency):
    """With and without each record: its own cell alone changes, and so does that cell's noise."""
    found = workload(currency)
    assert [each.problem() for each in found if each.problem()] == []
    blurred = [each for each in found if each.what == "total, blurred"]
    assert len(blurred) > 40
    # Alone in its cell a record loses all that is charged, but for what rounding adds.
    shares = [float(each.lost / each.allowed) for each in blurred if each.allowed]
    assert 0.999999 < max(shares) <= 1
    assert min(share for share in shares if share) < 0.9


def test_noise_of_the_wrong_squares_is_noticed(monkeypatch):
    """A broken twin: squares of all records of the table in place of the cell's."""
    whole = worlds._blurred

    def shared(*given):
        made = whole(*given)
        squares = made.grown.squares.sum(axis=0, keepdims=True) + 0 * made.grown.squares
        return replace(made, grown=replace(made.grown, squares=squares))

    monkeypatch.setattr(worlds, "_blurred", shared)
    problems = {each.problem() for each in workload("rho")}
    assert any(each and "noise grew with something else" in each for each in problems)


@pytest.mark.parametrize("seeds", first(1, [15, 40]))
@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_random_blurred_questions_can_be_planned(currency, seeds):
    """By their own records and by public sizes, from any seed."""
    with table(arrow(random_tables.rows(Random(1), 5, unique=False)), **DECLARED) as opened:
        for seed in range(seeds):
            random = Random(seed)
            made = [random_blurs.query(random, currency)]
            made.append(random_blurs.scaled_query(random, currency))
            planned = plan(made, opened.schema)
            assert planned.policy.currency.value == currency


@pytest.mark.parametrize("seed", first(1, [3, 1]))
def test_releases_with_blurred_totals_are_what_was_run(seed):
    """Tables as computed anew from records and bits; all else is the same without a record."""
    blurs = Random(1)
    assert Random(1).random() < 0.25
    seeds = Seeds(Random(seed), Random(seed), blurs, Random(seed), Random(seed))
    checks = list(release_checks(seeds, 1, seed))
    assert RELEASE in {each.what for each in checks}
    assert [each.problem() for each in checks] == [None] * len(checks)
