"""Other ways to ask the same: schemes, top-codes, budgets, accounting."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import Keys, Query, Split
from perrecord.errors import AmountError, InputError
from perrecord.evaluate.variants import (
    accounted,
    covers,
    resplit,
    rounded_up,
    scaled,
    top_coded,
    variants,
)
from perrecord.queries.methods import Clamping, leaves, tree_of
from perrecord.queries.methods.parts import Parts, clamping, splitting

BY = Split.by("k", {"a": Split(x=5, y=1)}, Split(x=50, y=1))
NESTED = Split.by("k", {"a": Split.by("g", {1: Split(x=5)}, Split(x=6))}, Split(x=50))
ASKED = (
    Query()
    .group_by("k", keys=Keys.from_dict({"k": ["a", "b"]}))
    .count(rho="0.1")
    .sum("x", split=Split(x=10, y=2), rho="0.2")
    .sum("y", clamp=(0, 9), rho="0.3")
    .average("x", split=Split(x=10), rho=("0.1", "0.4"), accounting="exact")
    .median("x", candidates=[1, 2, 3], rho="0.5")
    .sum("x", parts=Parts("k", {"a": splitting(Split(x=3), rho=1), ...: clamping(0, 4, rho=2)}),
         name="mixed")
)  # fmt: skip


def test_each_scheme_and_its_top_code_stand_beside_what_is_written():
    """Schemes that cut nothing here, or have a cap, are left out; budgets come last."""
    schemes = {
        "fine": Split(x=1),
        "other": Split(y=1),
        "capped": Split(x=1).capped(3),
        "by k": BY,
        "nested": NESTED,
    }
    found = variants([ASKED], schemes, budgets=[Fraction(1, 2), Fraction(2)])
    assert [(each.name, each.kind) for each in found] == [
        ("as written", "as written"),
        ("fine", "splitting"),
        ("by k", "splitting"),
        ("nested", "splitting"),
        ("top-code fine", "top-coding"),
        ("top-code by k", "top-coding"),
        ("0.5 × budget", "budget"),
        ("2 × budget", "budget"),
    ]
    assert found[0].queries == (ASKED,)


def test_a_scheme_takes_the_place_of_schemes_and_of_nothing_else():
    """Counts, clamps, quantiles and parts stay; amounts and accounting, too."""
    (found,) = resplit([ASKED], lambda measure: Split(x=7) if measure == "x" else None)
    changed = [a.name for a, b in zip(ASKED.answers, found.answers, strict=True) if a != b]
    assert changed == ["sum_x", "avg_x"]
    assert found.answers[1].method.split == Split(x=7)
    assert found.answers[3].method.accounting == "exact"
    assert [each.amounts for each in found.answers] == [each.amounts for each in ASKED.answers]


def test_a_top_code_cuts_where_a_scheme_would_split():
    """[-T, T] for the same amount, case by case where the scheme has cases."""
    (plain,) = top_coded([ASKED], Split(x=7))
    assert plain.answers[1].method == Clamping(Fraction(1, 5), Fraction(-7), Fraction(7))
    (cases,) = top_coded([ASKED], BY)
    bounds = [leaf.method.high for leaf in leaves(tree_of(cases.answers[1].method))]
    assert bounds == [5, 50]


def test_budgets_multiply_every_amount():
    """Those of quantiles, parts and both parts of an average, too."""
    found = scaled(ASKED, Fraction(1, 4))
    for before, after in zip(ASKED.answers, found.answers, strict=True):
        assert after.amounts == tuple(rounded_up(each / 4) for each in before.amounts)


def test_accounting_changes_no_noise():
    """Only how split totals are charged."""
    (found,) = accounted([ASKED], "exact")
    assert found.answers[1].method.accounting == "exact"
    assert found.answers[2] == ASKED.answers[2]
    mixed = [leaf.method for leaf in leaves(tree_of(found.answers[5].method))]
    assert [getattr(each, "accounting", None) for each in mixed] == ["exact", None]


@pytest.mark.parametrize(
    ("scheme", "is_covered"),
    [
        (Split(x=1), True),
        (Split(y=1), False),
        (Split(x=1).capped(2), False),
        (BY, True),
        (Split.by("k", {"a": Split(y=5)}, Split(x=50)), False),
        (Split.by("k", {"a": Split(x=5)}), False),
    ],
)
def test_a_scheme_serves_a_total_if_every_case_has_its_threshold(scheme, is_covered):
    """And no cap, which totals refuse."""
    assert covers(scheme, "x") is is_covered


@given(st.fractions("1/1000000", "1000000"))
def test_amounts_are_rounded_up_to_four_digits(amount):
    """Never down, by less than one part in a thousand, and to a number that can be written."""
    found = rounded_up(amount)
    assert amount <= found < amount * Fraction(1001, 1000)
    assert 10**12 % found.denominator == 0


def test_splits_named_like_a_variant_are_told_apart():
    """No two variants have one name."""
    found = variants([ASKED], {"as written": Split(x=1), "top-code a": Split(x=2), "a": Split(x=3)})
    names = [each.name for each in found]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("factor", [0, -1])
def test_a_budget_of_nothing_is_refused(factor):
    """With what to give."""
    with pytest.raises(AmountError, match="more than 0"):
        variants([ASKED], {}, budgets=[Fraction(factor)])


def test_no_two_ways_have_one_name():
    """Equal budgets are one, close ones differ, and a split may not be called as a budget is."""
    names = [
        each.name
        for each in variants(
            [ASKED],
            {"2 × budget": Split(x=5)},
            budgets=map(Fraction, ("2", "2.0", "1.0000001", "1.0000002")),
        )
    ]
    assert names[-3:] == ["2 × budget", "1.0000001 × budget", "1.0000002 × budget"]
    assert len({*names}) == len(names)
    assert "split 2 × budget" in names
    with pytest.raises(InputError, match="rename the split"):
        variants([ASKED], {"as written": Split(x=5), "split as written": Split(x=6)})
