"""What a change costs by policy.json alone: as its plan says, by hand, and never too little."""

import itertools
import json
from fractions import Fraction

import pytest

from perrecord import CurrencyError, DocumentError, InputError, Policy, Query, SelectKeys, Split
from perrecord.policy.changes import (
    ChosenCandidate,
    NoisyNumber,
    OnRows,
    Scope,
    Selection,
    change_delta,
    change_loss,
)
from perrecord.policy.terms import Currency
from perrecord.release.attack import estimates, told_apart, told_apart_at_most
from perrecord.release.changes import PERCENTS, raised, raised_value
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.outputs import outputs_of
from perrecord.release.reading import read_published
from perrecord.tables.measures import Measure
from tests import first
from tests.browser import policies
from tests.release.test_changes import RECORDS, SCHEME, by_county, everything, planned, pure

FIELDS = (
    *(Field(name, "text") for name in ("county", "sector", "firm")),
    Field("emp", "measure", resolution=Fraction(1)),
    Field("pay", "measure", resolution=Fraction(5)),
)
KENT = {"county": "a", "sector": "farm", "firm": "f", "emp": 4000, "pay": 60}


def published(*queries, examples=(), **more):
    """Return what a reader of policy.json has of some queries, and the plan behind it."""
    found = planned(*queries)
    charges = policies.charges_of(found)
    made = PublishedPolicy("T", "t", FIELDS, charges, found.policy, examples=examples, **more)
    again = read_published(made.to_json())
    assert again == made
    return again, found


@pytest.mark.parametrize("every", first(1, [3, 1]))
@pytest.mark.parametrize("workload", [everything, pure])
def test_the_file_says_of_every_change_what_its_plan_says(workload, every):
    """Pairs of records, of every kind of answer; and deltas as the curves have them."""
    found, plan = published(*workload())
    outputs = outputs_of(plan)
    for one, other in [*itertools.permutations(RECORDS, 2)][::every]:
        assert found.change(one, other) == change_loss(outputs, [one], [other])
        exact, said = change_delta(outputs, [one], [other]), found.change_delta(one, other)
        assert exact <= said <= exact + Fraction(1, 10**9)
        assert found.change(one, other).amount <= found.total.substitution_loss(one, other)


def test_each_kind_of_answer_by_hand():
    """4,000 employees become 4,400: the difference alone, in the noise of each answer."""
    other = {**KENT, "emp": 4400}
    asked = by_county()
    cases = {
        "Gaussian": (asked.sum("emp", split=SCHEME, rho="0.3"), Fraction("0.3") * 8**2),
        "clamped": (asked.sum("emp", clamp=(0, 4100), rho="0.3"), "0.3", Fraction(100, 4100)),
        "count": (asked.count(rho="0.1"), 0),
        "count of values": (asked.count("emp", rho="0.1"), 0),
        "firms": (asked.count_distinct("firm", rho="0.1"), 0),
        "another total": (asked.sum("pay", split=SCHEME, rho="0.3"), 0),
        "median, nothing between": (asked.median("emp", rho=1, candidates=[1, 9000]), 0),
    }
    for name, (query, *cost) in cases.items():
        rho, share = cost if len(cost) == 2 else (cost[0], Fraction(1))
        expected = Fraction(rho) * share**2
        assert published(query)[0].change(KENT, other).amount == expected, name
        assert published(query)[0].change(other, KENT).amount == expected, name
    keys = SelectKeys(rho="0.5", threshold=9, split=SCHEME)
    selected = published(Query("t").group_by("sector", keys=keys).count(rho="0.4"))[0]
    assert selected.change(KENT, other).amount == Fraction("0.5") * 8**2
    assert selected.change_delta(KENT, other) == 0
    moved = selected.change(KENT, {**KENT, "sector": "mine"}).amount
    assert moved == 2 * (Fraction("0.5") * 80**2 + Fraction("0.4"))
    tapered = published(asked.sum("emp", taper=50, rho="0.2"))[0]
    alike = Policy.tapered("0.2", measure="emp", at=50)
    assert tapered.change(KENT, other).amount == alike.loss({"emp": 400}) < 7
    assert tapered.loss(KENT) > 24


def test_a_filter_on_the_measure_that_changes_counts_the_whole_record():
    """Where more than 3 are asked for, 4 that become 3 take 4 away; 4,000 to 4,400 may too."""
    found = published(Query("t").where("emp > 3").sum("emp", split=SCHEME, rho="0.7"))[0]
    other = {**KENT, "emp": 4400}
    assert found.change(KENT, other).amount == Fraction("0.7") * 88**2
    assert (
        found.change({**KENT, "emp": 4}, {**KENT, "emp": 3}).amount
        == Fraction("0.7") * Fraction(4, 50) ** 2
    )
    assert told_apart(found, KENT, other, found.change(KENT, other)) is None


def test_what_is_kept_for_further_answers_is_priced_by_the_promise_alone():
    """A total above the charges, and charges that state nothing: T20, which holds for anything."""
    query = by_county().sum("emp", split=SCHEME, rho="0.3")
    stated, plan = published(query)
    other, promise = {**KENT, "emp": 4400}, 2 * plan.policy
    kept = PublishedPolicy("T", "t", FIELDS, stated.charges, promise)
    assert kept.change(KENT, other).amount == promise.substitution_loss(KENT, other)
    assert told_apart(kept, KENT, other, kept.change(KENT, other)) is None
    silent = PublishedCharge("a", "A", plan.policy)
    alone = PublishedPolicy("T", "t", FIELDS, (silent,), plan.policy)
    assert alone.change(KENT, other).amount == plan.policy.substitution_loss(KENT, other)
    assert alone.change(KENT, KENT).amount == 0
    both = PublishedPolicy("T", "t", FIELDS, (silent, *stated.charges), promise)
    assert both.change(KENT, other).amount == alone.change(KENT, other).amount + Fraction("19.2")
    keys = Policy.selection("0.1", ["county"], split=Split(emp=50), threshold=30)
    charge = PublishedCharge("k", "Keys", keys)
    named = PublishedPolicy("T", "t", FIELDS, (charge,), keys)
    assert named.change_delta(KENT, other) == named.delta(other)
    assert alone.changes == ()


def test_a_policy_of_an_earlier_version_prices_changes_by_its_promise():
    """Version 1 states neither noise nor outputs, and lists no changes."""
    document = published(by_county().sum("emp", split=SCHEME, rho="0.3"))[0].document()
    document["version"] = 1
    del document["changes"]
    for charge in document["charges"]:
        del charge["noise"], charge["outputs"]
    found = read_published(json.dumps(document))
    other = {**KENT, "emp": 4400}
    assert found.change(KENT, other).amount == found.total.substitution_loss(KENT, other)


# -- a policy alone -----------------------------------------------------------------------------


def test_a_policy_alone_prices_a_change_as_any_mechanism_may_need():
    """A total of x for even x and -x for odd keeps the promise, and 50 to 51 moves it by 101."""
    policy = Policy.exact(1, measure="emp", threshold=50)
    one, other = {"emp": 50}, {"emp": 51}
    variance = Fraction(50**2, 2)  # of Gaussian noise: x^2 / (2 variance) = (x / 50)^2
    assert policy.loss(other) == Fraction(51**2) / (2 * variance)
    assert policy.change(one, other) >= Fraction((50 + 51) ** 2) / (2 * variance)
    assert policy.change(one, other) == policy.substitution_loss(one, other)
    assert policy.change(one, other, of_totals=True) == Fraction(1, 2500)
    assert policy.change(one, dict(one)) == 0
    assert policy.change({"emp": 1, "big": True}, {"emp": 1, "big": 1}) > 0


def test_totals_of_a_policy_cost_their_differences_and_the_rest_what_any_mechanism_may():
    """Term by term: exact, tapered, in the same case and in another; the rest by T20."""
    tapered = Policy.tapered("0.2", measure="emp", at=50)
    policy = Policy.constant("0.1") + Policy.exact("0.3", measure="pay", threshold=100) + tapered
    one, other = {"emp": 4000, "pay": 300, "k": "a"}, {"emp": 4400, "pay": 250, "k": "a"}
    parts = 4 * Fraction("0.1") + Fraction("0.3") / 4 + tapered.loss({"emp": 400})
    assert policy.change(one, other, of_totals=True) == parts
    assert parts < policy.change(one, other) == policy.substitution_loss(one, other)
    piecewise = Policy.by("k", {"a": policy}, Policy.constant(1))
    assert piecewise.change(one, other, of_totals=True) == parts
    elsewhere = {**other, "k": "b"}
    assert piecewise.change(one, elsewhere, of_totals=True) == piecewise.change(one, elsewhere)
    by_size = Policy.by("emp", {4000: policy}, Policy.constant(1))
    assert by_size.change(one, other, of_totals=True) == by_size.change(one, other)
    other = {**other, "pay": 300}
    pure = Policy.exact(epsilon=1, measure="emp", threshold=50) + Policy.constant(epsilon=1)
    assert pure.change(one, other, of_totals=True) == 8 + 2
    assert pure.change(one, other) == 80 + 88 + 2
    assert tapered.change({"emp": None}, {"emp": 50}, of_totals=True) == tapered.loss({"emp": 50})


@pytest.mark.parametrize(
    "other", [{"emp": 4400, "k": "b"}, {"emp": 4400}, {"emp": 4400, "k": "a", "pay": 1}]
)
def test_a_record_that_may_be_in_another_cell_pays_for_both(other):
    """A policy does not say what totals are grouped by: there the old and the new one count."""
    tapered = Policy.tapered("0.2", measure="emp", at=50)
    one = {"emp": 4000, "k": "a"}
    both = tapered.loss(one) + tapered.loss(other)
    assert tapered.change(one, other, of_totals=True) == tapered.change(one, other) >= both
    by_default = Policy.by("k", {"z": Policy.constant(1)}, tapered)
    moved = {"emp": 4400, "k": "b"}
    assert by_default.change(one, moved, of_totals=True) >= both


# -- curves -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "percent", "other"),
    [(4000, 10, 4400), (4000, 5, 4200), (5, 5, 6), (-12, 10, -14), (0, 20, 0), (999, 20, 1000),
     (1000, 5, 1000), (20, 5, 21)],
)  # fmt: skip
def test_a_greater_value_is_at_least_so_many_percent_of_the_value_greater(value, percent, other):
    """On the grid, away from 0, and no further than the table counts."""
    rule = Measure(Fraction(1), largest=1000 if abs(value) < 1001 else 10**6)
    assert raised_value(rule, Fraction(value), percent) == other


def test_the_curves_of_an_example_are_in_the_document():
    """Each measure that it has, p of 5, 10 and 20, in the document and back."""
    example = KENT | {"emp": Fraction(4000), "pay": Fraction(60)}
    query = by_county().sum("emp", split=SCHEME, rho="0.3")
    query = query.median("pay", rho="0.1", candidates=[61, 70])
    found = published(query, examples=(("a hospital", example),))[0]
    losses = {(each.measure, each.percent): each.loss for each in found.changes}
    assert list(losses) == [(name, percent) for name in ("emp", "pay") for percent in PERCENTS]
    for percent in PERCENTS:
        pieces = Fraction(4000 * percent, 100 * 50)
        assert losses["emp", percent].amount == Fraction("0.3") * pieces**2
    assert losses["pay", 5].amount < losses["pay", 20].amount <= Fraction("0.4")
    shown = found.document()["changes"]
    assert [each["exact"] for each in shown] == [True] * 3 + [False] * 3
    for each, figure in zip(shown, found.changes, strict=True):
        above = Fraction(each["loss"]) - figure.loss.amount
        assert 0 <= above <= figure.loss.amount / 10**11
    document = found.document()
    document["changes"][1]["loss"] = "1"
    with pytest.raises(DocumentError, match="changes are not those"):
        read_published(json.dumps(document))


def test_a_record_that_lacks_what_the_cost_depends_on_has_no_curves():
    """A median's measure that nobody gave: nothing is said rather than something wrong."""
    found = published(by_county().median("pay", rho="0.1", candidates=[1]))[0]
    assert list(raised(found, "x", {"county": "a", "emp": 5})) == []


def test_how_often_values_are_told_apart():
    """One Gaussian total: at 1.645 standard errors every second time, and at most what T19 says."""
    found = published(by_county().sum("emp", split=SCHEME, rho="0.005"))[0]
    (estimated,) = [each for each in estimates(found, KENT) if each.measure == "emp"]
    assert estimated.error == pytest.approx(500)
    assert estimated.told_apart == pytest.approx(1.6448536 * 500 / 4000)
    other = {**KENT, "emp": 4000 + round(1.6448536 * 500)}
    cost, delta = found.change(KENT, other), found.change_delta(KENT, other)
    assert told_apart(found, KENT, other, cost) == pytest.approx(0.5, abs=1e-3)
    limit = told_apart_at_most(cost, delta, found.total.currency)
    assert limit == pytest.approx(0.724, abs=1e-3)
    assert told_apart(found, KENT, KENT, found.change(KENT, KENT)) == pytest.approx(0.05)


# -- what is refused ----------------------------------------------------------------------------

NOISE = Noise("values", "emp", CellNoise("gaussian", Fraction(1250), Fraction(1)))
NUMBER = NoisyNumber(NOISE, Scope((), is_certain=True))
TOTAL = Policy.exact(1, measure="emp", threshold=50)


def test_outputs_that_a_charge_does_not_pay_for_are_refused():
    """Noise that is not stated, another selection, mechanisms on rows, another currency."""
    keys = Policy.selection("0.1", ["county"], threshold=30)
    (slot,) = {slot for _, slot in keys.slots}
    other = Policy.selection("0.2", ["county"], threshold=30)
    PublishedCharge("a", "A", keys, (), (Selection(slot, is_certain=True),))
    choice = ChosenCandidate(
        Fraction(1), "emp", Fraction(1, 2), (Fraction(1),), Scope((), True), Currency.EPSILON
    )
    for policy, noise, output, kind in (
        (TOTAL, (), NUMBER, InputError),
        (other, (), Selection(slot, is_certain=True), InputError),
        (TOTAL, (), OnRows(TOTAL, Scope((), is_certain=True)), InputError),
        (TOTAL, (), choice, CurrencyError),
    ):
        with pytest.raises(kind, match="an output of 'a'"):
            PublishedCharge("a", "A", policy, noise, (output,))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda each: each.update(type="else"),
        lambda each: each.update(noise=1),
        lambda each: each.update(noise=True),
        lambda each: each.update(certain=1),
        lambda each: each.update(by="county"),
        lambda each: each.update(distinct=3),
        lambda each: each.pop("by"),
    ],
)
def test_a_document_whose_outputs_are_spoilt_is_refused(spoil):
    """The place is named."""
    charge = PublishedCharge("a", "A", TOTAL, (NOISE,), (NUMBER,))
    document = PublishedPolicy("T", "t", FIELDS, (charge,), TOTAL).document()
    spoil(document["charges"][0]["outputs"][0])
    with pytest.raises(DocumentError, match=r"outputs"):
        read_published(json.dumps(document))


def test_filters_of_choices_are_read_as_they_were_written():
    """Which sectors pass, and that nothing else does."""
    query = Query("t").where("sector IN ('farm', 'mine')")
    found = published(query.median("emp", rho="0.1", candidates=[4100]))[0]
    other = {**KENT, "emp": 4400}
    assert found.change(KENT, other).amount == 0  # one candidate is always chosen
    found = published(query.median("emp", rho="0.1", candidates=[1, 4100]))[0]
    assert found.change(KENT, other).amount > 0
    assert found.change({**KENT, "sector": None}, {**other, "sector": None}).amount == 0
    document = found.document()
    for change in ({"default": True}, {"cases": [{"when": ["farm"], "passes": False}]}):
        spoilt = json.loads(json.dumps(document))
        spoilt["charges"][0]["outputs"][0]["among"].update(change)
        with pytest.raises(DocumentError, match="among"):
            read_published(json.dumps(spoilt))
