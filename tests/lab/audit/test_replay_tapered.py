"""Tapered answers in the replay audit: a loss in lines of its own, never above what is charged."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from perrecord import Keys, Parts, Query, Split, Taper, splitting, tapering
from perrecord.lab.audit import random_tables, random_tapers
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.workloads import workload_checks
from perrecord.lab.audit.replay.worlds import open_worlds
from perrecord.lab.audit.tapered import student_loss
from perrecord.laws.tapering import tapered_rho
from perrecord.queries.methods import leaves
from perrecord.queries.plan import plan

SECTORS = Keys.from_dict({"sector": ["farm", "mine", "shop", "", None]})


def parts(**amount):
    """Return tapers that differ by sector."""
    return Parts(
        "sector",
        {
            "farm": tapering(Taper(rent=3), **amount),
            None: tapering(Taper(rent=40), **amount),
            ...: tapering(Taper(rent=30), **amount),
        },
    )


def asked(currency):
    """Return questions that reach every line that prices a taper."""
    amount, little = {currency: "0.3"}, {currency: "0.1"}
    by_sector = (
        Query()
        .where("emp IS NULL OR emp > -1000")
        .group_by("sector", keys=SECTORS)
        .average("pay", taper=25, **{currency: ("0.3", "0.2")})
        .sum("rent", parts=parts(**amount))
        .sum("load", taper=Taper(load=5000, nu=3), **little)
    )
    mixed = Parts(
        "sector",
        {"farm": splitting(Split(emp=5), **amount), ...: tapering(Taper(emp=5), **little)},
    )
    whole = Query().sum("rent", parts=parts(**amount)).sum("emp", taper=5, **little)
    if currency == "rho":  # sqrt A is 5.3 steps: what the integers add shows
        whole = whole.sum("emp", taper=1, rho="0.1", name="narrow")
    return [by_sector.sum("emp", parts=mixed), whole]


def problems(currency):
    """Return what is wrong with the prices of the questions, for the records of one table."""
    rows = random_tables.rows(Random(7), 60, unique=False)
    with open_worlds(rows) as opened:
        planned = plan(asked(currency), opened.schema)
        members = Members.of(opened.schema, rows)
        found = workload_checks(planned, opened, members, FrozenBits(1))
    checks = [*found.checks, *found.whole]
    tight = {check.what for check in checks if check.is_tight and check.lost}
    return {each for check in checks if (each := check.problem())}, tight


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_tapered_answers_cost_what_is_charged(currency):
    """No less is charged, and for totals and averages no more than one part in 2^25."""
    found, tight = problems(currency)
    assert found == set()
    assert tight >= {"total, tapered", "average, tapered"}


# -- the audit's own lines -----------------------------------------------------------------------


def log_masses(spread, nu, shift, reach=20_000):
    """Return the logarithms of the masses of two Student laws, one shifted, added up in floats."""
    numbers = np.arange(-reach, reach + 1, dtype=np.float64)
    one, two = (-(nu + 1) / 2 * np.log(float(spread) + (numbers - r) ** 2) for r in (0, shift))
    return one - np.logaddexp.reduce(one), two - np.logaddexp.reduce(one)


@pytest.mark.parametrize(
    ("spread", "nu", "shift"),
    [
        (Fraction(25), 7, 1),
        (Fraction(61, 2), 7, -12),
        (Fraction(25), 7, 90),
        (Fraction(25), 3, 1),
        (Fraction(100), 3, 40),
    ],
)
def test_no_divergence_on_the_integers_exceeds_it(spread, nu, shift):
    """Added up term by term, for orders from just above 1 to 200; it comes close to some."""
    one, two = log_masses(spread, nu, shift)
    most = float(student_loss(spread, nu, Fraction(shift), "rho"))
    divergences = [
        np.logaddexp.reduce(alpha * one + (1 - alpha) * two) / (alpha * (alpha - 1))
        for alpha in (1.01, 1.5, 3.0, 20.0, 200.0)
    ]
    assert 0.85 * most < max(divergences) <= most
    pure = float(student_loss(spread, nu, Fraction(shift), "epsilon"))
    assert 0.98 * pure < (one - two).max() <= pure


@pytest.mark.parametrize(("spread", "nu"), [(25, 7), (25, 3), (10**4, 7), (10**60, 7)])
def test_what_is_charged_is_more_by_less_than_2_to_the_minus_25(spread, nu):
    """The corrections of the integers are closed forms here, and one factor there."""
    for shift in (1, 2, 7, 50, 10**6, 10**40):
        own = student_loss(Fraction(spread), nu, Fraction(shift), "rho")
        assert own < tapered_rho(shift, spread, nu) < own * (1 + Fraction(1, 2**25))
    assert student_loss(Fraction(spread), nu, Fraction(0), "rho") == 0


def test_random_questions_taper_in_every_way():
    """Both nu, sizes and tapers, averages, parts, other methods beside them, both currencies."""
    rows = random_tables.rows(Random(1), 3)
    seen = set()
    with open_worlds(rows) as opened:
        for seed in range(25):
            for currency in ("rho", "epsilon"):
                made = random_tapers.query(Random(f"{seed} {currency}"), currency)
                plan(made, opened.schema)
                seen |= {
                    (currency, answer.kind, leaf.method.kind, getattr(taper, "nu", None))
                    for answer in made.answers
                    for step in answer.measurements
                    for leaf in leaves(step.tree)
                    for taper in [getattr(leaf.method, "taper", None)]
                }
            plan(random_tapers.sql_query(Random(seed), opened.schema), opened.schema)
    for currency in ("rho", "epsilon"):
        assert {("total", 3), ("total", 7), ("average", 3), ("average", 7)} <= {
            (kind, nu) for one, kind, _, nu in seen if one == currency
        }
    assert {"tapered", "clamped"} <= {method for _, _, method, _ in seen}
