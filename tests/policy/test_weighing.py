"""Quantiles with weights: f(eps w / T) for a record, and sums of weights for units (T37)."""

import json
import math
from fractions import Fraction
from importlib.resources import files
from itertools import product
from random import Random

import duckdb
import jsonschema
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from perrecord import DocumentError, Policy, Split, ThresholdError, Weighting
from perrecord.mechanisms.quantiles import selection_rate
from perrecord.policy.changes import ChosenCandidate, Scope, change_loss, unit_loss
from perrecord.policy.terms import Currency
from perrecord.policy.weighing import WeighedChoice
from perrecord.queries.measurements import Choice
from tests.policy.divergences import worst

SCHEMA = json.loads(files("perrecord.policy").joinpath("policy.schema.json").read_text("utf-8"))
RHO, AT = Fraction(1, 5), Fraction(5)
AMOUNTS = st.fractions(Fraction(1, 100), 50, max_denominator=100)
SIZES = st.fractions(0, 10**5, max_denominator=100)
CANDIDATES = (0, 2, 3, 7)
LEVELS = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)]


def is_not_below(amount, eta):
    """Tell whether a rational is not below f(eta), to 400 bits, from its definition."""
    before, ctx.prec = ctx.prec, 400
    try:
        exact = arb(eta.numerator) / eta.denominator
        y = exact / (1 - (-exact).exp())
        return bool(arb(amount.numerator) / amount.denominator >= y - 1 - y.log())
    finally:
        ctx.prec = before


@given(AMOUNTS, AMOUNTS, SIZES)
def test_the_loss_is_f_of_the_range(rho, at, size):
    """Rounded up, within one part in 2^80 of y - 1 - ln y; without a weight nothing is lost."""
    growth = WeighedChoice(rho, at)
    loss = growth.loss(size)
    assert growth.rate**2 <= 8 * rho / at**2 <= growth.rate**2 * (1 + Fraction(1, 2**120))
    if not size:
        assert (loss.amount, loss.is_exact) == (0, True)
        return
    assert not loss.is_exact
    assert is_not_below(loss.amount, growth.rate * size)
    assert not is_not_below(loss.amount * (1 - Fraction(1, 2**80)), growth.rate * size)


@given(AMOUNTS, AMOUNTS, SIZES.filter(bool), st.integers(1, 50))
def test_what_comparisons_rest_on(rho, at, size, times):
    """It never falls, is below c x^2, and k times the weight costs at most k^2 times as much."""
    growth = WeighedChoice(rho, at)
    one, more = (growth.loss(each * size).amount for each in (1, times))
    assert 0 < one <= more <= times**2 * one * (1 + Fraction(1, 2**80))
    assert one <= growth.steepest(2) * size**2
    assert growth.at_corner(size) == one
    assert growth.limit() is None
    assert growth.steepest(1) is None


@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, SIZES)
def test_one_pays_for_another(rho, at, other_rho, other_at, size):
    """So many times the other is never above: 1 for a lesser rate, the square of the ratio else."""
    own, other = WeighedChoice(rho, at), WeighedChoice(other_rho, other_at)
    factor = own.pays_for(other)
    slack = 1 + Fraction(1, 2**80)
    assert 0 < factor <= 1
    assert factor * other.loss(size).amount <= own.loss(size).amount * slack


def test_floats_are_rounded_up_and_sql_is_about_right():
    """Over thirty orders of magnitude, above and below where the series takes over."""
    growth = WeighedChoice(RHO, AT)
    sizes = np.concatenate([10.0 ** np.arange(-15, 16), np.linspace(0.03, 9, 400), [0.0]])
    found = growth.floats(sizes)
    exact = [growth.loss(Fraction(size)).amount for size in sizes.tolist()]
    assert all(Fraction(one) >= other for one, other in zip(found.tolist(), exact, strict=True))
    assert np.allclose(found, [float(each) for each in exact], rtol=2.0**-43, atol=0)
    assert growth.floats(np.array([1e308]))[0] > 1e307
    sql = f"SELECT {growth.sql('x')} FROM (SELECT unnest(?::DOUBLE[]) AS x)"
    rows = duckdb.execute(sql, [[*sizes.tolist(), None]]).fetchall()
    assert np.allclose([row[0] for row in rows[:-1]], found, rtol=1e-9, atol=1e-300)
    assert rows[-1] == (None,)


def test_a_document_reads_back_and_fits_its_schema():
    """Version 2, exact text; epsilon is an exact term; wrong numbers are refused at their place."""
    policy = 2 * Policy.weighed("0.2", measure="w", at=20) + Policy.constant("0.1")
    written = json.loads(policy.to_json())
    jsonschema.validate(written, SCHEMA)
    term = {"type": "weighed", "amount": "2", "measure": "w", "rho": "0.2", "at": "20"}
    assert written["version"] == 2
    assert term in written["terms"]
    assert Policy.from_json(policy.to_json()) == policy
    assert "a record of 20 loses 0.392, one of 60 3.06, one of 1600 192" in policy.describe()
    pure = Policy.weighed(epsilon=2, measure="w", at=20)
    assert pure == Policy.exact(epsilon=2, measure="w", threshold=20)
    for name, wrong in (("at", "0"), ("rho", "0"), ("at", "-1"), ("more", "1")):
        changed = json.dumps({**written, "terms": [{**term, name: wrong}]})
        with pytest.raises(DocumentError, match=r"terms\[0\]"):
            Policy.from_json(changed)


def test_budgets_compare_them():
    """A split of the weight pays for it, and so does a list; a plain amount never does."""
    asked = Policy.weighed("0.2", measure="w", at=20)
    assert asked.is_below(Policy.split("0.2", Split(w=20)))
    assert asked.is_below(Policy.weighed("0.2", measure="w", at=10))
    assert asked.is_below(Policy.weighed("0.3", measure="w", at=20))
    assert not asked.is_below(Policy.weighed("0.1", measure="w", at=20))
    assert not asked.is_below(Policy.weighed("0.2", measure="w", at=21))
    assert not asked.is_below(Policy.constant(10**6))


@pytest.mark.parametrize("at", [0, -1])
def test_a_weight_that_pays_the_amount_is_above_0(at):
    """Nothing is divided by it otherwise."""
    with pytest.raises(ThresholdError, match="expected a number above 0"):
        Weighting("w", at)


# -- what the exponential mechanism really does ---------------------------------------------------


def scores(level, records):
    """Return how far each candidate is from the quantile, from its definition."""
    held = [(Fraction(x), max(Fraction(w), 0)) for x, w in records if None not in (x, w)]
    whole = sum((w for _, w in held), Fraction(0))
    return [
        max(
            0,
            sum(w for x, w in held if x < c) - level * whole,
            sum(w for x, w in held if x > c) - (1 - level) * whole,
        )
        for c in CANDIDATES
    ]


def law(level, records, rho=RHO, at=AT):
    """Return the logarithms of the chance of every candidate."""
    rate = math.sqrt(8 * rho) / (2 * max(level, 1 - level) * at)
    weights = -float(rate) * np.array([float(each) for each in scores(level, records)])
    return weights - np.logaddexp.reduce(weights)


def a_choice(level, currency=Currency.RHO, *, certain=True):
    """Return the output of a quantile of x by the weight w."""
    candidates = tuple(map(Fraction, CANDIDATES))
    scope = Scope((), certain)
    return ChosenCandidate(RHO, "x", level, candidates, scope, currency, Weighting("w", AT))


def tables(random, count):
    """Return random tables: ties, missing values, weights that are 0, below it, missing, huge."""
    values = [None, -1, 0, 0, 2, 2, "5/2", 3, 7, 9]
    weights = [None, -3, 0, "1/10", 1, 1, 2, 5, 40]
    pair = lambda: (random.choice(values), random.choice(weights))  # noqa: E731
    return [[pair() for _ in range(random.randrange(6))] for _ in range(count)]


@pytest.mark.parametrize("level", LEVELS)
def test_no_record_moves_log_ratios_by_more_than_its_weight(level):
    """Range at most eps w / T, and it is reached; D_alpha / alpha at most f of that."""
    random, policy = Random(f"{level}"), Policy.weighed(RHO, measure="w", at=AT)
    tight = 0.0
    for rows in tables(random, 80):
        for x, w in product([None, 0, "5/2", 9], [-3, 0, 1, 40]):
            ratios = law(level, [*rows, (x, w)]) - law(level, rows)
            reach = float(ratios.max() - ratios.min())
            eta = math.sqrt(8 * RHO) * max(w, 0) / AT
            assert reach <= eta * (1 + 1e-9) + 1e-10
            tight = max(tight, reach / eta) if eta else tight
            cost = worst(law(level, rows), law(level, [*rows, (x, w)]))
            assert cost <= float(policy.loss({"w": w})) * (1 + 1e-9) + 1e-10
    assert tight == pytest.approx(1 if 0 < level < 1 else tight)


def record(x, w):
    """Return a record as outputs take it."""
    return {name: None if each is None else Fraction(each) for name, each in (("x", x), ("w", w))}


@pytest.mark.parametrize("level", LEVELS)
def test_no_change_costs_more_than_is_said_whatever_the_others_are(level):
    """Values and weights that change, appear and go, and units whose weights add up."""
    random, output = Random(f"changes {level}"), a_choice(level)
    sides = tables(random, 40)
    others = tables(random, 25)
    for before, after in zip(sides[::2], sides[1::2], strict=True):
        said = change_loss([output], *([record(*each) for each in one] for one in (before, after)))
        most = max(worst(law(level, [*o, *before]), law(level, [*o, *after])) for o in others)
        assert most <= float(said.amount) * (1 + 1e-9) + 1e-10


def test_what_costs_are():
    """One record its policy; two of a unit the sum of their weights; a change what it moves."""
    output = a_choice(Fraction(1, 2))
    policy = Policy.weighed(RHO, measure="w", at=AT)
    assert unit_loss([output], [record(1, 3)]).amount == policy.loss({"w": 3})
    assert unit_loss([output], [record(1, 3), record(5, 4)]).amount == policy.loss({"w": 7})
    assert unit_loss([output], [record(1, None), record(None, 4), record(1, -2)]).amount == 0
    assert change_loss([output], [record(1, 3)], [record(1, 3)]).amount == 0
    assert change_loss([output], [record("1/2", 3)], [record(1, 3)]).amount == 0
    grown = change_loss([output], [record(1, 30)], [record(1, 33)]).amount
    assert grown == policy.loss({"w": 3})
    uncertain = a_choice(Fraction(1, 2), certain=False)
    assert change_loss([uncertain], [record(1, 3)], [record(5, 4)]).amount == policy.loss({"w": 7})
    pure = a_choice(Fraction(1, 2), Currency.EPSILON)
    assert unit_loss([pure], [record(1, 3)]).amount == RHO * 3 / AT


def test_the_range_of_a_weight_is_that_of_the_mechanism():
    """Whole-numbered scores are in steps of the weight, and so is the rate."""
    level, step = Fraction(1, 3), Fraction(1, 100)
    asked = Choice("x", RHO, level, tuple(map(Fraction, CANDIDATES)), Weighting("w", AT))
    rate = selection_rate(asked, Currency.RHO, step) * level.denominator / step
    assert a_choice(level).epsilon / (2 * max(level, 1 - level)) == rate
    assert WeighedChoice(RHO, AT).rate == a_choice(level).epsilon
