"""Policy.excess: a record that is returned really exceeds, and a no comes with one."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Currency, Policy, Split
from perrecord.policy import excess, tightest
from tests.policy import strategies as some
from tests.policy.test_dominate import both_currencies, one_scheme, quarters, schemes_on_x


def assert_exceeds(low, high):
    """The excess is a record whose two losses are as stated, the first the larger."""
    found = low.excess(high)
    assert found is not None, (low, high)
    assert found.loss == low.loss(found.record)
    assert found.limit == high.loss(found.record)
    assert found.loss > found.limit


@settings(max_examples=40)
@given(some.policies, some.policies, some.amounts)
def test_whatever_is_returned_exceeds(first, second, factor):
    """Any two policies: a record means that the first is larger there, so not below."""
    for low, high in [(first, second), (first * (1 + factor), first), (first + second, second)]:
        found = low.excess(high)
        if found is not None:
            assert not low.is_below(high)
            assert low.loss(found.record) == found.loss > found.limit == high.loss(found.record)


@settings(max_examples=60)
@given(st.data())
def test_floats_hide_no_record(data):
    """Where floats decide that a place need not be looked at, looking finds nothing either."""
    amounts = st.fractions(min_value="1/1000", max_value=5, max_denominator=1000)
    grows = st.builds(
        lambda kind, amount, size, name: (
            Policy.exact(amount, measure=name, threshold=size)
            if kind == "exact"
            else Policy.tapered(amount, measure=name, at=size)
            if kind == "tapered"
            else Policy.constant(amount)
        ),
        *(st.sampled_from(["exact", "tapered", "constant"]), amounts),
        *(st.sampled_from([1, 20, 5000]), st.sampled_from("xy")),
    )
    low, high = (Policy.total(data.draw(st.lists(grows, min_size=1, max_size=4))) for _ in "12")
    with pytest.MonkeyPatch.context() as patched:
        found = low.excess(high)
        patched.setattr(tightest, "_clearly_below", lambda *given: [False] * len(given[2]))
        assert low.excess(high) == found


def over_one_scheme(scheme, weights):
    """Return constants, pieces and exact terms of one scheme, in each currency."""
    exact = zip(weights[2:], scheme.thresholds, strict=False)
    return both_currencies(
        ("constant", weights[0], None),
        ("split", weights[1], scheme),
        *(("exact", weight, threshold) for weight, threshold in exact),
    )


four = st.tuples(quarters, quarters, quarters, quarters)


@settings(max_examples=160)
@given(one_scheme, four, four)
def test_a_no_over_one_scheme_comes_with_a_record(scheme, left, right):
    """Where is_below is complete, each no has its counter-example."""
    low, high = over_one_scheme(scheme, left), over_one_scheme(scheme, right)
    for currency in Currency:
        if not low[currency].is_below(high[currency]):
            assert_exceeds(low[currency], high[currency])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(quarters, schemes_on_x), max_size=3),
    quarters,
    st.tuples(quarters, quarters),
    schemes_on_x,
)
def test_a_no_of_any_schemes_below_one_comes_with_a_record(terms, exact, right, scheme):
    """Several schemes on the left, a constant and one scheme on the right."""
    left = both_currencies(
        *(("split", weight, split) for weight, split in terms), ("exact", exact, ("x", 3))
    )
    high = both_currencies(("constant", right[0], None), ("split", right[1], scheme))
    for currency in Currency:
        if not left[currency].is_below(high[currency]):
            assert_exceeds(left[currency], high[currency])


@settings(max_examples=60)
@given(one_scheme, st.lists(four, min_size=8, max_size=8))
def test_a_no_over_a_partition_comes_with_a_record(scheme, weights):
    """Each part over one scheme; dimensions of text, whole numbers and truth values."""
    parts = [over_one_scheme(scheme, four)[Currency.RHO] for four in weights]
    low = Policy.by("region", {"north": parts[0], "other": parts[1]}, parts[2])
    low += Policy.by("kind", {1: parts[3], None: parts[3]}, Policy.zero())
    high = Policy.by(("region", "open"), {("north", True): parts[4]}, parts[5])
    high += Policy.by("kind", {1: parts[6]}, parts[7])
    if not low.is_below(high):
        assert_exceeds(low, high)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        # a corner in the middle of the walk, where ceilings do not divide
        (Policy.split(1, Split(x=5)), Policy.split(1, Split(x=6)) + Policy.constant(3)),
        # far out: the growth differs by a billionth
        (
            Policy.exact("1.000000001", measure="x", threshold=5),
            Policy.split(1, Split(x=5)) + Policy.constant(10**6),
        ),
        # a measure that the budget does not see
        (Policy.exact("1e-9", measure="z", threshold=1), Policy.split(1, Split(x=5))),
        # the budget's cap
        (Policy.split(1, Split(x=5)), Policy.split(1, Split(x=5).capped(1000))),
        # a maximum on the left, only one option of which exceeds
        (
            Policy.largest(Policy.constant(1), Policy.split("0.9", Split(y=3))),
            Policy.split(1, Split(x=2)),
        ),
        # just above a multiple of the threshold
        (
            Policy.split(1, Split(x=5)),
            Policy.constant("1.5") + Policy.exact("2.4", measure="x", threshold=5),
        ),
    ],
)
def test_known_counter_examples_are_found(low, high):
    """One for each kind of place that is looked at."""
    assert not low.is_below(high)
    assert_exceeds(low, high)


def test_what_is_below_has_no_excess():
    """And the known gap, a no without a counter-example, has none to offer."""
    scheme = Split(x=2)
    assert Policy.constant(1).excess(Policy.split(1, scheme)) is None
    high = Policy.split(1, scheme) + Policy.split(1, Split(x=3))
    low = Policy.exact(Fraction(26, 25), measure="x", threshold=2) + Policy.constant("0.95")
    assert not low.is_below(high)
    assert low.excess(high) is None


def test_a_record_without_a_case_is_named():
    """A budget that has no case for some records limits them to nothing at all."""
    budget = Policy.by("region", {"north": Policy.constant(1)})
    found = Policy.constant("0.1").excess(budget)
    assert (found.record, found.loss, found.limit) == ({"region": "other"}, Fraction(1, 10), None)
    found = budget.excess(Policy.constant(1))
    assert (found.record, found.loss, found.limit) == ({"region": "other"}, None, 1)


def test_a_dimension_of_two_types_is_left_null():
    """No text and no number fits both tables; a missing value fits every table."""
    low = Policy.by("code", {"a": Policy.constant(1)}, Policy.constant(2))
    low += Policy.by("code", {1: Policy.constant(1)}, Policy.constant(2))
    assert low.excess(Policy.constant(3)).record == {"code": None}


def test_five_thousand_cases_of_which_one_exceeds():
    """The case is found and named."""
    cases = {f"{n:04}": Policy.split(1, Split(x=n + 1)) for n in range(5000)}
    budget = Policy.by("industry", cases, Policy.constant(1))
    low = Policy.by("industry", {**cases, "4321": cases["4321"] * 2}, Policy.constant(1))
    assert low.excess(budget).record == {"industry": "4321", "x": 0}


def test_a_broken_search_is_caught(monkeypatch):
    """A twin that returns the zero record unevaluated is no counter-example here."""
    low, high = Policy.split(1, Split(x=2)), Policy.split(1, Split(x=3))
    monkeypatch.setattr(
        excess,
        "_compare",
        lambda left, right, record, power: excess.Excess({"x": 0}, Fraction(2), Fraction(1)),
    )
    with pytest.raises(AssertionError):
        assert_exceeds(low, high)
