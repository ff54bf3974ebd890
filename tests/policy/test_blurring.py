"""Losses of blurred totals as policies: records, changes, units, comparisons, documents.

That they bound the divergences of blurred noise is shown in tests/laws/test_blurring.py.
"""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Budget, DocumentError, InputError, Policy, Split
from perrecord.laws.blurring import (
    blurred_epsilon,
    blurred_epsilon_between,
    blurred_rho,
    blurred_rho_between,
)
from perrecord.laws.tapering import tapered_rho
from perrecord.policy.blurring import BlurredEpsilon, BlurredRho, blurred_growth
from perrecord.policy.changes import NoisyNumber, Scope, change_loss, unit_loss
from perrecord.policy.compose import group_loss
from perrecord.policy.terms import Currency
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.reading import read_published
from perrecord.release.spec.models import TaperedEntry

EMP = Policy.blurred("0.2", measure="emp", at=50, by="0.1")
BY = Fraction(1, 10)
GROWTHS = [
    blurred_growth(power, Fraction(2500), Fraction(by), nu)
    for power in (1, 2)
    for by in ("0.05", "0.1", "0.2", "1")
    for nu in (3, 7)
]


def short(growth):
    """Return a name for a loss."""
    return f"{growth.kind}-{float(growth.by)}-{growth.nu}"


SIZES = [Fraction(10) ** power * digit for power in range(-3, 9) for digit in (1, 2, 5)]
AMOUNTS = st.fractions(Fraction(1, 100), 10, max_denominator=100)
SLACK = 1 + Fraction(1, 2**80)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("by", ["0.05", "0.1", "0.2"])
def test_a_record_of_the_given_size_loses_the_amount(nu, by):
    """Never more, and less by no more than twelve digits leave; others as the law says."""
    for amount, price in (({"rho": "0.2"}, blurred_rho), ({"epsilon": "0.2"}, blurred_epsilon)):
        policy = Policy.blurred(measure="emp", at=50, by=by, nu=nu, **amount)
        (term,) = policy.form.terms
        assert (
            Fraction("0.2") * (1 - Fraction(1, 10**9)) < policy.loss({"emp": 50}) <= Fraction("0.2")
        )
        for size in (1, 50, 4_000, 10**9):
            found = policy.loss({"emp": -size})
            assert found == price(size, term.growth.spread, by, nu)
    assert EMP.bounded_loss({"emp": 0}).is_exact
    assert EMP.loss({"emp": None}) == 0


@pytest.mark.parametrize("growth", GROWTHS, ids=short)
def test_what_comparisons_rest_on(growth):
    """Losses never fall, are below the steepest rise, and at corners below what is said there."""
    losses = [growth.loss(size).amount for size in SIZES]
    assert all(one <= two * SLACK for one, two in pairwise(losses))
    steepest = growth.steepest(growth.power)
    assert all(
        loss <= steepest * size**growth.power for size, loss in zip(SIZES, losses, strict=True)
    )
    assert growth.steepest(3 - growth.power) is None
    assert growth.limit() is None
    for size in SIZES[::4]:
        most = growth.at_corner(size)
        for k in (1, 2, 3, 5, 8, 13, 40, 64, 65, 200, 10**4, 10**7):
            assert growth.loss(k * size).amount <= most * k**growth.power


def test_losses_rise_a_little_faster_than_squares_at_first():
    """So that g(size) alone would not do at a corner: the case that `at_corner` is for."""
    growth = BlurredRho(Fraction(2500), Fraction("0.2"), 7)
    assert growth.loss(Fraction(10)).amount > 4 * growth.loss(Fraction(5)).amount
    policy = Policy.blurred("0.05", measure="x", at=10, by="0.2")
    corner = policy.loss({"x": 10})
    assert policy.loss({"x": 20}) > 4 * corner
    assert not policy.is_below(Policy.split(corner, Split(x=10)))
    assert policy.is_below(Policy.split(corner * Fraction("1.2"), Split(x=10)))


@given(AMOUNTS, st.integers(1, 10**4), AMOUNTS, st.integers(1, 10**4), st.booleans())
@settings(max_examples=60)
def test_a_yes_is_right_at_every_size(rho, at, other, size, is_pure):
    """Against pieces, powers and other blurs."""
    currency = "epsilon" if is_pure else "rho"
    left = Policy.blurred(measure="x", at=at, by="0.2", **{currency: rho})
    rights = [
        Policy.split(split=Split(x=size), **{currency: other}),
        Policy.exact(measure="x", threshold=size, **{currency: other}),
        Policy.blurred(measure="x", at=size, by="0.2", **{currency: other}),
    ]
    for right in rights:
        if left.is_below(right):
            for record in ({"x": 2**power} for power in range(0, 60, 2)):
                assert left.loss(record) <= right.loss(record) * SLACK
    assert left.is_below(left)
    assert not (2 * left).is_below(left)


def test_narrower_blurs_pay_for_wider_ones_alone():
    """Those of the same share and nu; tapered losses are another law."""
    wide, narrow = (Policy.blurred(rho, measure="x", at=50, by="0.1") for rho in ("0.1", "0.2"))
    assert wide.is_below(narrow)
    assert not narrow.is_below(wide)
    for other in (
        Policy.blurred(10, measure="y", at=50, by="0.1"),
        Policy.blurred(10, measure="x", at=50, by="0.2"),
        Policy.blurred(10, measure="x", at=50, by="0.1", nu=3),
        Policy.tapered(10, measure="x", at=50),
    ):
        assert not narrow.is_below(other)
    spread = narrow.form.terms[0].growth.spread
    # neither law is below the other: small records lose more by blurring, giants less
    assert blurred_rho(50, spread, "0.1") > tapered_rho(50, spread)
    assert blurred_rho(10**6, spread, "0.1") < tapered_rho(10**6, spread)
    assert blurred_rho(10**12, spread, "0.1") < tapered_rho(10**12, spread)


def test_a_budget_lists_blurred_answers():
    """So many of them, and a free amount beside."""
    budget = Budget(1, Split(emp=50), tapers=6 * EMP)
    assert (6 * EMP + Policy.split(1, Split(emp=50))).is_below(budget)
    assert not (12 * EMP).is_below(budget)


def test_a_budget_of_a_spec_lists_them_by_their_share():
    """`blur` makes the listed answers blurred ones."""
    entry = TaperedEntry(measure="emp", at=50, rho="0.2", times=6, blur="0.1")
    assert entry.policy() == 6 * EMP
    assert TaperedEntry(measure="emp", at=50, rho="0.2").policy() == Policy.tapered(
        "0.2", measure="emp", at=50
    )


# -- changes and units ---------------------------------------------------------------------------


def totals(currency=Currency.RHO, *, certain=True):
    """Return one blurred total for each county."""
    cell = CellNoise("student7", Fraction(2500), Fraction(1), by=BY)
    return NoisyNumber(Noise("values", "emp", cell), Scope(("county",), certain), currency)


def of(*values, county="Kent"):
    """Return records of these values."""
    return [{"county": county, "emp": value} for value in values]


def test_changes_and_units_by_hand():
    """The difference moves the number, and the squares of both sides its noise."""
    found = change_loss([totals()], of(4000), of(4400)).amount
    assert found == blurred_rho_between(400, 4000**2, 4400**2, 2500, BY)
    assert change_loss([totals()], of(4000, 7), of(7, 4400)).amount == found
    assert unit_loss([totals()], of(30)).amount == blurred_rho(30, 2500, BY)
    firm = of(30, -50, 200)
    squares = 30**2 + 50**2 + 200**2
    assert unit_loss([totals()], firm).amount == blurred_rho_between(180, 0, squares, 2500, BY)
    pure = totals(Currency.EPSILON)
    assert unit_loss([pure], firm).amount == blurred_epsilon_between(180, 0, squares, 2500, BY)
    apart = [*of(30), *of(40, county="York")]
    assert unit_loss([totals()], apart).amount == sum(
        blurred_rho(size, 2500, BY) for size in (30, 40)
    )
    assert change_loss([totals()], of(5), of(-5)).amount == blurred_rho_between(
        10, 25, 25, 2500, BY
    )
    moved = change_loss([totals()], of(30), of(30, county="York")).amount
    assert moved == 2 * blurred_rho(30, 2500, BY)
    assert change_loss([totals()], of(3), of(3)).is_exact


def test_records_that_may_be_left_out_are_charged_one_by_one():
    """Any of them may count or not, and each on its own costs what it loses alone (T7)."""
    losses = [blurred_rho(size, 2500, BY) for size in (4400, 4000)]
    unsure = totals(certain=False)
    assert change_loss([unsure], of(4000), of(4400)).amount == group_loss(losses)
    assert change_loss([unsure], of(4000, 5), of(4000, 5)).amount == 0
    pure = totals(Currency.EPSILON, certain=False)
    assert change_loss([pure], of(30), of(40)).amount == sum(
        blurred_epsilon(size, 2500, BY) for size in (30, 40)
    )


def test_a_tenth_more_costs_as_much_however_large():
    """Where tapering knows a giant to a hair; and `of_totals` says the same of the policy."""
    costs = [change_loss([totals()], of(10 * size), of(11 * size)) for size in (10**3, 10**8)]
    assert costs[0].amount < costs[1].amount < Fraction("0.71")
    (growth,) = (term.growth for term in EMP.form.terms)
    before, after = {"emp": 4000}, {"emp": 4400}
    found = EMP.change(before, after, of_totals=True)
    assert found == blurred_rho_between(400, 4000**2, 4400**2, growth.spread, BY)
    assert found != growth.loss(Fraction(400)).amount
    assert (3 * EMP).change(before, after, of_totals=True) == 3 * found


def test_policy_json_states_the_share():
    """Read back, with what a change costs by the file alone."""
    cell = CellNoise("student7", Fraction(2500), Fraction(1), by=BY)
    noise = (Noise("values", "emp", cell),)
    growth = BlurredRho(Fraction(2500), BY, 7)
    policy = Policy.from_document(document_of(growth))
    outputs = (NoisyNumber(noise[0], Scope((), is_certain=True)),)
    charge = PublishedCharge("t.emp", "Jobs", policy, noise, outputs=outputs)
    fields = (Field("emp", "measure", resolution=Fraction(1)),)
    made = PublishedPolicy("Jobs", "t", fields, (charge,), policy)
    written = json.loads(made.to_json())
    assert json.dumps(written).count('"blurred_by": "0.1"') == 1
    again = read_published(made.to_json())
    assert again == made
    found = again.change({"emp": 4000}, {"emp": 4400}).amount
    assert found == blurred_rho_between(400, 4000**2, 4400**2, 2500, BY)
    for wrong in ("0", "1.5"):
        with pytest.raises(DocumentError, match="by is"):
            read_published(
                made.to_json().replace('"blurred_by": "0.1"', f'"blurred_by": "{wrong}"')
            )


def document_of(growth):
    """Return the document of one blurred loss."""
    document = json.loads(EMP.to_json())
    document["terms"][0] |= {"spread": str(growth.spread), "by": str(float(growth.by))}
    return document


def test_only_student_noise_of_whole_values_is_blurred():
    """Other laws have no such loss."""
    for law, bounds, why in (
        ("gaussian", None, "expected student3 or student7"),
        ("student7", (Fraction(0), Fraction(9)), "has bounds"),
    ):
        with pytest.raises(InputError, match=why):
            CellNoise(law, Fraction(2500), Fraction(1), bounds, BY)


def test_the_noise_beside_a_record_grows_with_it():
    """Its own tenth adds to the variance of the cell: nu / (nu - 2) by^2 x^2."""
    cell = CellNoise("student7", Fraction(2500), Fraction(1), by=BY)
    assert float(cell.variance_with(Fraction(10**6))) == pytest.approx(1.4 * 10**10, rel=1e-6)
    assert cell.variance_with(Fraction(0)) == cell.variance
    assert replace(cell, by=None).variance_with(Fraction(10**6)) == cell.variance


# -- one formula in several languages -----------------------------------------------------------


@pytest.mark.parametrize("growth", GROWTHS, ids=short)
def test_sql_says_what_the_loss_is(growth):
    """But for the last digits of floats."""
    sizes = (0.01, 1, 50, 4_000, 10**9)
    rows = ", ".join(f"({size}::DOUBLE)" for size in sizes)
    found = duckdb.sql(f"SELECT {growth.sql('x')} FROM (VALUES {rows}) AS t(x)").fetchall()
    for size, (sql,) in zip(sizes, found, strict=True):
        exact = float(growth.loss(Fraction(str(size))).amount)
        assert sql == pytest.approx(exact, rel=1e-8)


@given(
    st.lists(st.integers(0, 70), min_size=1, max_size=5),
    st.integers(-90, 90),
    st.sampled_from([3, 7]),
    st.sampled_from(["0.05", "0.1", "0.2", "0.9"]),
    st.booleans(),
)
@settings(max_examples=50)
def test_columns_are_never_below_the_loss(powers, at, nu, by, is_pure):
    """And above it by less than one part in 2^40, however large beside the noise or small."""
    amount = {"epsilon" if is_pure else "rho": "0.3"}
    policy = 3 * Policy.blurred(measure="x", at=f"12.5e{at}", by=by, nu=nu, **amount)
    sizes = [0, *(7 * 10**power for power in powers), *(2**62 - power for power in powers)]
    column = pa.array([Decimal(size) for size in sizes], pa.decimal256(76, 0))
    for size, found in zip(sizes, policy.losses(pa.table({"x": column})), strict=True):
        exact = policy.loss({"x": size})
        assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**40))


def test_floats_of_the_widening_are_found_near_and_far():
    """Across the place where a series takes over from the formula."""
    growth = BlurredRho(Fraction(1), Fraction(1), 7)
    sizes = np.array([0.001, 0.05, 0.1, 0.126, 0.127, 0.2, 0.3, 1.0, 30.0])
    for size, found in zip(sizes, growth.floats(sizes), strict=True):
        exact = growth.loss(Fraction(float(size))).amount
        assert exact <= Fraction(float(found)) <= exact * (1 + Fraction(1, 2**43))


def test_documents_keep_everything():
    """Of version 2, as all growths; in both currencies, in cases and sums."""
    pure = Policy.blurred(measure="x", at=50, by="0.2", nu=3, epsilon=1)
    by = Policy.by("k", {"a": EMP}, Policy.zero())
    for policy in (EMP, pure, 2 * EMP + Policy.constant(1), by):
        written = json.loads(policy.to_json())
        assert written["version"] == 2
        assert Policy.from_json(json.dumps(written)) == policy
    assert isinstance(pure.form.terms[0].growth, BlurredEpsilon)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nu": "5"}, "expected 3 or 7"),
        ({"nu": "7.0"}, 'expected digits such as "7"'),
        ({"by": "0"}, "by is 0; expected a number above 0"),
        ({"by": "3/2"}, "by is 1.5; expected a number above 0"),
        ({"spread": "0"}, "expected a number above 0"),
        ({"spread": "1" + 201 * "0"}, "a standard deviation between"),
        ({"type": "blurred_epsilon"}, "does not go with the currency 'rho'"),
        ({"type": "tapered"}, "holds by"),
    ],
)
def test_documents_that_say_something_else_are_refused(changes, message):
    """In words that name the place."""
    document = json.loads(EMP.to_json())
    document["terms"][0] |= changes
    with pytest.raises(DocumentError, match=message):
        Policy.from_json(json.dumps(document))


def test_words_tell_by_example():
    """A small record, one three times as large, and a giant; and what is added to the noise."""
    said = EMP.describe()
    assert "a record of 50 loses 0.2, one of 150 1.7, one of 4,000 23 " in said
    assert "to which each record of the cell adds 10 % of its own size" in said
    assert repr(EMP) == "Policy(1·blur(|emp|; A = 35559.3816697, by = 0.1, nu = 7))"
    assert r"\kappa = 0.1" in EMP.latex()


def test_words_speak_of_the_size_that_was_written():
    """Also read back; no loss depends on it, so that policies which differ by it are the same."""
    policy = Policy.blurred("0.2", measure="emp", at=70, by="0.1")
    assert "a record of 70 loses 0.2, " in policy.describe()
    read = Policy.from_json(policy.to_json())
    assert read.describe() == policy.describe()
    document = json.loads(policy.to_json())
    assert document["terms"][0].pop("at") == "70"
    unnamed = Policy.from_json(json.dumps(document))
    assert unnamed == policy
    assert "a record of 100 loses" in unnamed.describe()
    document["terms"][0]["at"] = "-70"
    with pytest.raises(DocumentError, match="at is '-70'"):
        Policy.from_json(json.dumps(document))
    document["terms"][0]["at"] = "0"
    with pytest.raises(DocumentError, match="expected the size of a record, above 0"):
        Policy.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rho": 1, "at": 0, "by": "0.1"}, "expected a number above 0"),
        ({"rho": 1, "at": 50, "by": 0}, "by is 0"),
        ({"rho": 1, "at": 50, "by": 2}, "by is 2"),
        ({"rho": 1, "at": 50, "by": "0.1", "nu": 5}, "expected 3 or 7"),
        ({"rho": "1e9", "at": 50, "by": "0.1"}, "50 would lose 1000000000, .* at most"),
    ],
)
def test_what_is_no_blur_is_refused(given, message):
    """Before anything is built."""
    with pytest.raises(InputError, match=message):
        Policy.blurred(measure="x", **given)
