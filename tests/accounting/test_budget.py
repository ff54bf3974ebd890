"""Budgets: total rho spread freely over declared schemes, and slots."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import CurrencyError, InputError, Policy
from perrecord.accounting.budget import Budget
from tests.policy import strategies as some


@given(
    st.fractions("1/10", 3, max_denominator=12),
    st.lists(some.splits, max_size=3),
    st.lists(st.integers(0, 5), min_size=4, max_size=4),
    some.records,
)
def test_amounts_that_add_up_to_the_total_fit(rho, schemes, shares, record):
    """T4: however the total is spread over the schemes and unsplit answers."""
    total = Budget(rho, schemes)
    largest = max((scheme.pieces(record) for scheme in schemes), default=1)
    assert total.loss(record) == rho * largest**2 >= rho
    whole = sum(shares) or 1
    parts = [Fraction(share, whole) * rho for share in shares]
    spent = Policy.constant(parts[0])
    for part, scheme in zip(parts[1:], schemes, strict=False):
        spent += Policy.split(part, scheme)
    assert spent.is_below(total)


def test_a_budget_in_epsilon_grows_with_the_pieces():
    """T16: epsilon times the largest number of pieces."""
    from perrecord import Split

    total = Budget(epsilon=2, splits=[Split(x=5), Split(x=2, y=10)])
    assert total.loss({"x": 10, "y": 40}) == 10
    assert Budget(epsilon=2) == Policy.constant(epsilon=2)


def test_slots_are_added_and_nothing_else_is():
    """A selection's loss is paid from the total, so only its slot is listed."""
    slot = Policy.slot("0.1", ["county"], threshold=13)
    assert Budget(1, slots=[slot, slot]) == Policy.constant(1) + slot + slot
    with pytest.raises(InputError, match=r"give Policy\.slot"):
        Budget(1, slots=[Policy.selection("0.1", ["county"], threshold=13)])
    with pytest.raises(InputError, match=r"give Policy\.slot"):
        Budget(1, slots=["county"])
    with pytest.raises(CurrencyError):
        Budget(epsilon=1, slots=slot)
    with pytest.raises(InputError):
        Budget()
