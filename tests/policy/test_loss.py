"""Losses that are rational numbers rounded up, and say so."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import InputError
from perrecord.policy.loss import GOOD_BITS, NOTHING, Loss, largest, total

amounts = st.fractions(0, 50, max_denominator=1000)
losses = st.builds(Loss, amounts, st.booleans())


@given(st.lists(losses, max_size=6), amounts)
def test_sums_and_multiples_are_exact_only_if_all_is(several, factor):
    """One rounded loss in a sum makes the sum one that is at most so much."""
    whole = total(several)
    assert whole.amount == sum(loss.amount for loss in several)
    assert whole.is_exact == all(loss.is_exact for loss in several)
    assert whole.times(factor).amount == whole.amount * factor
    assert whole.times(Fraction(0)) == NOTHING


@given(losses, losses)
def test_comparisons_never_say_a_wrong_yes(one, other):
    """Whatever the losses are within what is said of them, a yes holds."""
    for loss in (one.least, one.amount):
        for limit in (other.least, other.amount):
            assert not one.is_at_most(other) or loss <= limit
            assert not one.is_above(other) or loss > limit
    assert not one.is_at_most(other.amount) or one.amount <= other.amount
    if one.is_exact and other.is_exact:
        assert one.is_at_most(other) != one.is_above(other)


def test_a_rounded_limit_is_no_proof():
    """The loss 1/3 may lie above what was rounded up to 1/3, and below it as well."""
    third = Fraction(1, 3)
    rounded = Loss(third, is_exact=False)
    assert not Loss(third).is_at_most(rounded)
    assert not Loss(third).is_above(rounded)
    assert rounded.is_at_most(Loss(third))
    assert third - rounded.least == third / 2**GOOD_BITS
    assert Loss(third / 2).is_at_most(rounded)


def test_the_largest_is_exact_where_nothing_can_exceed_it():
    """An exact loss that is as large as a rounded one is the largest itself."""
    one, rounded = Loss(Fraction(1)), Loss(Fraction(1), is_exact=False)
    assert largest([rounded, one]) == largest([one, rounded]) == one
    assert largest([one, Loss(Fraction(2), is_exact=False)]).is_exact is False
    assert largest([]) == NOTHING


def test_words_say_which_it_is():
    """Exact losses stand as they are; others are at most what is shown."""
    assert str(Loss(Fraction(3, 8))) == "0.375"
    assert str(Loss(Fraction(2, 3), is_exact=False)) == "at most 0.666667"


def test_a_negative_loss_is_refused():
    """No change and no record gains."""
    with pytest.raises(InputError, match="not negative"):
        Loss(Fraction(-1))
