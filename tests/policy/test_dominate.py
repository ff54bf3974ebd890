"""is_below: never wrong when it says yes, and complete where it promises to be."""

import random
from fractions import Fraction
from itertools import product
from operator import le

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Currency, Policy, Split
from perrecord.policy import corners, cover
from tests.policy import strategies as some


def random_records(count, seed):
    """Return records at, just above and far from the thresholds that the strategies use."""
    source = random.Random(seed)
    sizes = [Fraction(n, 6) for n in range(60)] + [Fraction(10**k) for k in range(2, 12)]
    epsilon = Fraction(1, 10**9)
    return [
        {
            "id": 0,
            "region": source.choice([*some.REGIONS, "west"]),
            "kind": source.choice([*some.KINDS, 0]),
            "x": source.choice(sizes) + source.choice([0, epsilon]),
            "y": source.choice(sizes) + source.choice([0, epsilon]),
        }
        for _ in range(count)
    ]


RECORDS = random_records(80, seed=1)


@settings(max_examples=60)
@given(some.policies, some.policies, some.amounts)
def test_yes_is_never_contradicted(first, second, factor):
    """60 random pairs, each in six forms, on 80 records: thousands of checks of a yes."""
    pairs = [
        (first, second),
        (first, first + second),
        (first, Policy.largest(first, second)),
        (first, first * (1 + factor)),
        (first + second * Fraction(1, 4), Policy.largest(first * 2, second * 2)),
        (first * factor, first),
    ]
    found = {}

    def losses(policy):
        """Return the loss of each record, once for a policy of several pairs."""
        if id(policy) not in found:
            found[id(policy)] = [policy.loss(record) for record in RECORDS]
        return found[id(policy)]

    for low, high in pairs:
        if low.is_below(high):
            assert all(map(le, losses(low), losses(high)))


@given(some.policies, some.policies, some.amounts)
def test_what_is_plainly_below_is_found(first, second, factor):
    """Reflexive, below any sum it is part of, below any maximum, below a larger multiple."""
    assert first.is_below(first)
    assert first.is_below(first + second)
    assert first.is_below(first * (1 + factor))
    if second.is_below(first):
        assert Policy.largest(first, second).is_below(first)


def both_currencies(*terms):
    """Return the sum of (kind, amount, argument) terms in each currency."""
    result = {}
    for currency in Currency:
        total = Policy.zero(currency)
        for kind, amount, argument in terms:
            paid = {currency.value: amount}
            if kind == "constant":
                total += Policy.constant(**paid)
            elif kind == "split":
                total += Policy.split(**paid, split=argument)
            else:
                name, threshold = argument
                total += Policy.exact(**paid, measure=name, threshold=threshold)
        result[currency] = total
    return result


def holds_on_a_lattice(low, high, scheme, steps):
    """Look for a counter-example at and just above multiples of the thresholds."""
    above = Fraction(1, 10**12)
    ticks = [Fraction(k) + extra for k in range(steps) for extra in (0, above)]
    names = scheme.measures
    for point in product(ticks, repeat=len(names)):
        record = {n: t * scheme.threshold(n) for n, t in zip(names, point, strict=True)}
        if low.loss(record) > high.loss(record):
            return False
    for k in (*range(steps, 40), 60, 100, 200, 399):
        for chosen in product((0, 1), repeat=len(names)):
            record = {n: k * c * scheme.threshold(n) for n, c in zip(names, chosen, strict=True)}
            if low.loss(record) > high.loss(record):
                return False
    return True


quarters = st.integers(0, 8).map(lambda n: Fraction(n, 4))
one_scheme = st.sampled_from(
    [Split(x=2), Split(x=2, y=3), Split(x=2).capped(3), Split(x=2, y=3).capped(4)]
)


@settings(max_examples=160)
@given(one_scheme, *[st.tuples(quarters, quarters, quarters, quarters)] * 2)
def test_complete_over_one_scheme(scheme, left, right):
    """Constants, pieces and exact terms of one scheme: the answer is the truth, both ways."""
    sides = [
        both_currencies(
            ("constant", weights[0], None),
            ("split", weights[1], scheme),
            *(
                ("exact", weight, (name, threshold))
                for weight, (name, threshold) in zip(weights[2:], scheme.thresholds, strict=False)
            ),
        )
        for weights in (left, right)
    ]
    for currency in Currency:
        low, high = sides[0][currency], sides[1][currency]
        assert low.is_below(high) == holds_on_a_lattice(low, high, scheme, 8), (low, high)


schemes_on_x = st.sampled_from([Split(x=t) for t in (2, 3, 5, 6)] + [Split(x=3).capped(4)])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(quarters, schemes_on_x), max_size=3),
    quarters,
    st.tuples(quarters, quarters),
    schemes_on_x,
)
def test_complete_for_any_schemes_below_one(terms, exact, right, scheme):
    """Several schemes on the left, a constant and one scheme on the right: always decided."""
    left = both_currencies(
        *(("split", weight, split) for weight, split in terms), ("exact", exact, ("x", 3))
    )
    high = both_currencies(("constant", right[0], None), ("split", right[1], scheme))
    for currency in Currency:
        fine = Split(x=1)  # every threshold is a multiple of it
        truth = holds_on_a_lattice(left[currency], high[currency], fine, 400)
        assert left[currency].is_below(high[currency]) == truth


def test_budgets_spread_over_schemes_are_decided():
    """T4: total rho over declared schemes, constants and exact terms included."""
    fine, coarse = Split(x=2, y=9), Split(x=6, y=3)
    budget = Policy.largest(Policy.split(1, fine), Policy.split(1, coarse))
    half, third = Fraction(1, 2), Fraction(1, 3)
    spent = Policy.split(half, fine) + Policy.split(third, coarse)
    spent += Policy.constant(Fraction(1, 12)) + Policy.exact("1/12", measure="y", threshold=3)
    assert spent.is_below(budget)
    assert not (spent + Policy.constant("1e-9")).is_below(budget)
    assert not (spent + Policy.exact("1e-9", measure="z", threshold=1)).is_below(budget)


def test_a_maximum_is_below_only_if_every_option_is():
    """Whichever scheme a budget was spent on, the other must hold it."""
    one, other = Policy.split(1, Split(x=5)), Policy.split(2, Split(y=5))
    both = Policy.split(2, Split(x=5, y=5))
    largest = Policy.largest(one, other)
    assert not largest.is_below(one)
    assert not largest.is_below(other)
    assert largest.is_below(both)


def test_ceilings_that_do_not_divide_are_seen():
    """Pieces at 5 against pieces at 6: 4 <= 2 + 2, 9 <= 8 + 2, ... though 2 m^2 alone fails."""
    fine, coarse = Policy.split(1, Split(x=5)), Policy.split(2, Split(x=6))
    assert not fine.is_below(coarse)
    assert not fine.is_below(coarse + Policy.constant("1.99"))
    assert fine.is_below(coarse + Policy.constant(2))


def test_the_known_gap_errs_on_the_safe_side():
    """A true inequality against a sum over two schemes that gets a no (docs/theory.md)."""
    high = Policy.split(1, Split(x=2)) + Policy.split(1, Split(x=3))
    low = Policy.exact(Fraction(26, 25), measure="x", threshold=2) + Policy.constant("0.95")
    assert holds_on_a_lattice(low, high, Split(x=1), 400)
    assert not low.is_below(high)


def test_an_undefined_case_is_never_below():
    """Without a default there is no promise for other records, unless both sides have none."""
    partial = Policy.by("region", {"north": Policy.constant(1)})
    whole = Policy.by("region", {"north": Policy.constant(1)}, default=Policy.constant(1))
    assert partial.is_below(partial)
    assert not partial.is_below(whole)
    assert not whole.is_below(partial)


def test_a_selection_fills_a_slot_exactly():
    """T4: curves of delta are not ordered by delta_1, so slots must be equal."""
    budget = Policy.split(1, Split(x=5)) + Policy.slot("0.1", ["k"], split=Split(x=5), threshold=13)

    def selection(**changes):
        given = {"rho": "0.1", "keys": ["k"], "split": Split(x=5), "threshold": 13, **changes}
        return Policy.selection(given.pop("rho"), given.pop("keys"), **given)

    assert selection().is_below(budget)
    assert not (selection() + selection()).is_below(budget)
    assert not selection(threshold=14).is_below(budget)
    assert not selection(rho="0.05").is_below(budget)
    assert not selection(keys=["k", "j"]).is_below(budget)
    assert Policy.constant(1).is_below(budget)


@pytest.mark.parametrize(
    ("module", "name", "broken", "low", "high"),
    [
        (  # pieces of a coarse scheme said to cover those of a finer one at par
            cover,
            "_factor",
            lambda small, large: 1,
            Policy.split(1, Split(x=2)),
            Policy.split(1, Split(x=3)),
        ),
        (  # a cap on the right forgotten
            cover,
            "_factor",
            lambda small, large: 1,
            Policy.split(1, Split(x=2)),
            Policy.split(1, Split(x=2).capped(2)),
        ),
        (  # looking at the first corner only
            corners._Race,
            "horizon",
            lambda self: 1,
            Policy.split(1, Split(x=5)),
            Policy.split(1, Split(x=6)) + Policy.constant(3),
        ),
    ],
)
def test_broken_proofs_are_caught(monkeypatch, module, name, broken, low, high):
    """Broken twins: each makes is_below say yes where a record contradicts it."""
    assert not low.is_below(high)
    monkeypatch.setattr(module, name, broken)
    assert low.is_below(high)
    assert not holds_on_a_lattice(low, high, Split(x=1), 60)
