"""Comparisons of policies do a bounded amount of work, and running out of it is never a yes."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import BudgetExceededError, Policy, Split
from perrecord.accounting import budget as budgets
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from perrecord.policy import dominate
from perrecord.policy.corners import walk
from perrecord.policy.cover import covers
from perrecord.policy.normal import UNDEFINED, LargestOf, leading_dimension, named_values, restrict
from perrecord.policy.steps import Steps
from tests import first
from tests.policy import strategies as some
from tests.policy.test_dominate import RECORDS

PLENTY = 10**9


def used(low, high):
    """Return the answer, and the steps that it took."""
    steps = Steps(PLENTY)
    answer = dominate.is_below(low.normal, high.normal, 2, steps)
    return answer, PLENTY - steps.left


# -- many filters ------------------------------------------------------------------------------

CONSTANT, SCHEME = Policy.constant("0.01"), Policy.split("0.01", Split(x=5))


def filters(count, paid=CONSTANT, unpaid=None):
    """Return the sum of charges that are each filtered on a dimension of their own."""
    rest = Policy.zero() if unpaid is None else unpaid
    return Policy.total(
        Policy.by(f"d{index:03}", {"a": paid}, default=rest) for index in range(count)
    )


def pairs(count):
    """Return charges that are each filtered on two dimensions, one shared with the next charge."""
    return Policy.total(
        Policy.by((f"d{index:03}", f"d{index + 1:03}"), {("a", "a"): CONSTANT}, Policy.zero())
        for index in range(count)
    )


def growing(count):
    """Return filters with an amount of its own each, for records inside and outside."""
    return Policy.total(
        Policy.by(f"d{index:03}", {"a": CONSTANT * (index + 1)}, default=SCHEME * (index + 2))
        for index in range(count)
    )


def maxima(count):
    """Return a sum of maxima, no two of the same options."""
    return Policy.total(
        Policy.largest(CONSTANT * (index + 2), SCHEME * (index + 1)) for index in range(count)
    )


@pytest.mark.parametrize(
    ("made", "budget"),
    [
        (filters, lambda count: CONSTANT * count),
        (filters, lambda count: SCHEME * count),
        (filters, lambda count: Budget(Fraction(count, 100), [Split(x=5), Split(x=9).capped(3)])),
        (lambda count: filters(count, SCHEME, CONSTANT), lambda count: SCHEME * count),
        (pairs, lambda count: CONSTANT * count),
        (growing, lambda count: SCHEME * (count * (count + 3) // 2)),
    ],
)
def test_the_work_grows_slowly_with_the_number_of_filters(made, budget):
    """20, 60 and 120 filters on as many dimensions: yes, and a no just below, in few steps.

    Deciding every combination would take 2^20, 2^60, 2^120.
    """
    for count, most in ((20, 10_000), (60, 60_000), (120, 240_000)):
        answer, steps = used(made(count), budget(count))
        assert answer
        assert steps < most
        short, steps = used(made(count) + Policy.constant("0.001"), budget(count))
        assert not short
        assert steps < most


def test_a_counter_example_among_sixty_filters_is_found():
    """The record that passes every filter, by name."""
    found = filters(60).excess(CONSTANT * 59)
    assert found.loss == Fraction(60, 100)
    assert set(found.record.values()) == {"a"}
    assert pairs(30).excess(CONSTANT * 29).loss == Fraction(30, 100)


def test_the_least_and_the_greatest_loss_of_overlapping_filters_are_found():
    """Sixty filters, each on a dimension of its own and on the next one's."""
    assert pairs(60).minimum() == 0
    assert pairs(60).supremum() == Fraction(60, 100)


def test_many_maxima_are_bounded_before_they_are_tried():
    """Sixty of them on the left: 2^60 choices, and the most of each term is enough for a yes."""
    answer, steps = used(maxima(60), CONSTANT * 1890 + SCHEME * 1830)
    assert answer
    assert steps < 10_000
    assert not maxima(60).is_below(SCHEME * 1889)


def test_alternatives_alike_are_looked_at_once():
    """Constant inside, scheme outside, 40 times: 41 different sums and not 2^40."""
    low = filters(40, CONSTANT * 4, SCHEME)
    high = SCHEME * 40 + Policy.constant("1.2")
    assert not filters(40, CONSTANT * 4, SCHEME).is_below(SCHEME * 40 + Policy.constant("1.19"))
    answer, steps = used(low, high)
    assert answer
    assert steps < 300_000


def test_independent_dimensions_are_tried_apart():
    """Thirty dimensions, on each a constant below one of two schemes: neither branch is larger."""
    one, other = Policy.split(1, Split(x=5)), Policy.split(1, Split(y=5))
    names = [f"d{index:03}" for index in range(30)]
    low = Policy.total(Policy.by(n, {"a": CONSTANT, "b": CONSTANT}, Policy.zero()) for n in names)
    high = Policy.total(Policy.by(n, {"a": one, "b": other}, Policy.zero()) for n in names)
    answer, steps = used(low, high)
    assert answer
    assert steps < 50_000
    assert not used(low * 101, high)[0]


# -- exactly what brute force says ----------------------------------------------------------------


def slow_is_below(left, right, power=2):
    """Decide every dimension and every maximum on the left, one combination after the other."""
    if left == right:
        return True
    if UNDEFINED in (left, right):
        return False
    dimension = leading_dimension([left, right])
    if dimension is not None:
        return all(
            slow_is_below(restrict(left, dimension, each), restrict(right, dimension, each), power)
            for each in named_values(dimension, [left, right])
        )
    difference = dict(left.weights)
    for basis, weight in right.weights:
        difference[basis] = difference.get(basis, Fraction(0)) - weight
    return _slow_sums(difference, power)


def _slow_sums(difference, power):
    above = {basis: weight for basis, weight in difference.items() if weight > 0}
    below = {basis: -weight for basis, weight in difference.items() if weight < 0}
    largest = next((basis for basis in above if isinstance(basis, LargestOf)), None)
    if largest is None:
        steps = Steps(PLENTY)
        return (
            not above
            or covers(above, below, power, steps)
            or bool(walk(above, below, power, steps))
        )
    rest = {basis: weight for basis, weight in difference.items() if basis != largest}
    options = []
    for option in largest.options:
        chosen = dict(rest)
        for basis, weight in option.weights:
            chosen[basis] = chosen.get(basis, Fraction(0)) + above[largest] * weight
        options.append(chosen)
    return all(_slow_sums(option, power) for option in options)


amounts = st.integers(0, 4).map(lambda n: Fraction(n, 4))
simple = st.one_of(
    st.builds(Policy.constant, amounts),
    st.builds(Policy.split, amounts, st.sampled_from([Split(x=2), Split(x=3), Split(y=2)])),
)
either = simple | st.builds(lambda a, b: a + b, simple, simple)
DIMENSIONS = ("a", "b", "c")
one_filter = st.one_of(
    st.builds(
        lambda name, inside, outside: Policy.by(name, {"k": inside}, outside),
        st.sampled_from(DIMENSIONS),
        either,
        either,
    ),
    st.builds(
        lambda names, inside, outside: Policy.by(tuple(names), {("k", "k"): inside}, outside),
        st.lists(st.sampled_from(DIMENSIONS), min_size=2, max_size=2, unique=True),
        either,
        either,
    ),
    st.builds(Policy.largest, either, either),
)
one_scheme = st.builds(
    lambda constant, amount: Policy.constant(constant) + Policy.split(amount, Split(x=2, y=2)),
    st.integers(0, 8).map(lambda n: Fraction(n, 4)),
    st.integers(0, 8).map(lambda n: Fraction(n, 4)),
)


@settings(max_examples=150)
@given(st.lists(one_filter, min_size=1, max_size=4), one_scheme)
def test_the_answer_is_that_of_brute_force(charges, budget):
    """Filters on one and two of three dimensions, against one scheme: yes and no alike."""
    low = Policy.total(charges)
    assert low.is_below(budget) == slow_is_below(low.normal, budget.normal)


@settings(max_examples=30)
@given(some.policies, some.policies, some.amounts)
def test_nothing_that_brute_force_proves_is_lost(first, second, factor):
    """Any policies: its yes is a yes, and a yes that it does not find contradicts no record."""
    for low, high in [(first, second), (first, second * (1 + factor)), (first, first + second)]:
        quick, slow = low.is_below(high), slow_is_below(low.normal, high.normal)
        assert quick or not slow
        if quick and not slow:
            assert all(low.loss(record) <= high.loss(record) for record in RECORDS)


@pytest.mark.parametrize("larger", [Fraction(3, 4), Fraction(5, 4)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_branch_is_looked_at_where_none_is_above_the_others(count, larger):
    """Inside a constant, outside pieces, the sum of whose terms is smaller or larger.

    Only those outside exceed a constant budget; only those inside exceed pieces alone.
    """
    low = Policy.total(
        Policy.by(name, {"k": Policy.constant(1)}, Policy.split(larger, Split(x=2)))
        for name in DIMENSIONS[:count]
    )
    assert not low.is_below(Policy.constant(larger * count + 1))
    assert low.excess(Policy.constant(larger * count + 1)) is not None
    if larger < 1:
        assert not low.is_below(Policy.split(larger * count, Split(x=2)))
    assert low.is_below(Policy.split(max(larger, 1) * count, Split(x=2)))


def test_brute_force_is_brute():
    """It decides 2^3 combinations, and agrees where each side is one case."""
    low = Policy.total(Policy.by(name, {"k": CONSTANT}, Policy.zero()) for name in DIMENSIONS)
    assert slow_is_below(low.normal, (CONSTANT * 3).normal)
    assert not slow_is_below(low.normal, (CONSTANT * 2).normal)
    worst = max(
        low.loss(dict(zip(DIMENSIONS, values, strict=True))) for values in product("kz", repeat=3)
    )
    assert worst == Fraction(3, 100)


# -- running out -----------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 1, 2, 5, 10, 50, 100, 500, 1_000, 10_000])
def test_running_out_of_steps_is_never_a_yes(most):
    """However few steps there are, no false inequality is proved, of any kind."""
    false = [
        (filters(12), CONSTANT * 11),
        (pairs(12), CONSTANT * 11),
        (maxima(6), SCHEME * 26),
        (growing(6), SCHEME * 26),
        (Policy.split(1, Split(x=5)), Policy.split(1, Split(x=6)) + Policy.constant(3)),
        (Policy.constant("0.1"), Policy.by("region", {"north": Policy.constant(1)})),
    ]
    for low, high in false:
        assert not dominate.is_below(low.normal, high.normal, 2, Steps(most))


def test_with_too_few_steps_the_answer_is_no():
    """Also where it is a yes with more of them; the way is the same, only longer."""
    low, high = filters(20), SCHEME * 20
    answer, steps = used(low, high)
    assert answer
    assert dominate.is_below(low.normal, high.normal, 2, Steps(steps))
    assert not dominate.is_below(low.normal, high.normal, 2, Steps(steps - 1))


@pytest.mark.parametrize("count", first(1, [1500, 5000]))
def test_large_tables_have_steps_enough(count):
    """Thousands of cases, no two alike and none below another, on both sides."""
    cases = {
        f"{n:04}": Policy.constant(n + 1) + Policy.split(count + 1 - n, Split(x=5))
        for n in range(count)
    }
    low = Policy.by("industry", cases, Policy.zero())
    high = Policy.by("industry", {k: v * 2 for k, v in cases.items()}, Policy.zero())
    assert low.is_below(high)
    assert not high.is_below(low)


def test_a_charge_that_cannot_be_decided_is_refused_with_what_to_do(tmp_path, monkeypatch):
    """Nothing is charged, and the message names the filters."""
    ledger = Ledger.create(tmp_path / "l.db", SCHEME * 20)
    monkeypatch.setattr(dominate.Steps, "for_size", classmethod(lambda cls, size: cls(50)))
    monkeypatch.setattr(budgets, "_QUICK_STEPS", 50)
    with pytest.raises(BudgetExceededError, match=r"could not be proved.*fewer dimensions"):
        ledger.charge(filters(20), snapshot="s", label="too much to compare")
    monkeypatch.undo()
    assert ledger.spent() == Policy.zero()
    ledger.charge(filters(20), snapshot="s", label="the same")
