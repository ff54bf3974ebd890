"""Groups, substitution, one-sided: what the paper says, what holds, and the counter-examples."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import (
    AmountError,
    InputError,
    Policy,
    Split,
    group_loss,
    one_sided,
    realised_loss,
    substitution_loss,
)

losses = st.lists(st.fractions(0, 50, max_denominator=1000), max_size=8)


def test_the_three_bounds_on_the_theory_pages_example():
    """T7: P = (9, 4, 1) gives 36, 42 and 41.5..."""
    assert group_loss([9, 4, 1]) == 36
    assert group_loss([9, 4, 1], "simple") == 42
    advanced = group_loss([9, 4, 1], "advanced")
    assert 41.5037 < advanced < 41.5038


def test_the_papers_advanced_bound_can_exceed_the_simple_one():
    """T7: for P = (1, 1) it gives 3 + 2 sqrt 2 = 5.83 where 4 holds."""
    assert group_loss([1, 1]) == group_loss([1, 1], "simple") == 4
    assert float(group_loss([1, 1], "advanced")) == pytest.approx(3 + 2 * math.sqrt(2))


@given(losses)
def test_tight_is_order_free_and_never_above_the_others(amounts):
    """Cauchy–Schwarz; and the advanced bound is itself a chain of the same lemma."""
    tight = group_loss(amounts)
    assert tight == group_loss(amounts[::-1])
    assert sum(amounts) <= tight <= group_loss(amounts, "simple")
    assert tight <= group_loss(amounts, "advanced") * (1 + Fraction(1, 2**100))


@given(losses)
def test_tight_is_rounded_up_by_almost_nothing(amounts):
    """Irrational results are never below the truth and within 1e-12 of it in floats."""
    truth = math.fsum(math.sqrt(float(amount)) for amount in amounts) ** 2
    assert float(group_loss(amounts)) == pytest.approx(truth, rel=1e-12, abs=1e-300)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.fractions("0.01", 3))
def test_groups_of_split_records_are_exact(pieces, rho):
    """T8: rho (sum of m)^2, with no rounding."""
    assert group_loss([rho * m**2 for m in pieces]) == rho * sum(pieces) ** 2


def test_tight_is_attained_by_collinear_gaussian_shifts():
    """Records that shift one N(., 1) answer by a_j cost a_j^2/2 each and (sum a_j)^2/2 together."""
    shifts = [Fraction(3), Fraction(1, 2), Fraction(7, 5)]
    assert group_loss([a**2 / 2 for a in shifts]) == sum(shifts) ** 2 / 2


ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 40), np.geomspace(2.05, 400, 80)])


def divergence(p, q, orders=ORDERS):
    """Return D_alpha(p || q) for every order."""
    exponents = orders[:, None] * np.log(p) + (1 - orders[:, None]) * np.log(q)
    top = exponents.max(axis=1)
    return (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))) / (orders - 1)


def loss_between(p, q):
    """Return the least P with D_alpha <= alpha P both ways, on the orders looked at."""
    return max((divergence(p, q) / ORDERS).max(), (divergence(q, p) / ORDERS).max())


def random_chains(count, seed=7):
    """Yield three distributions each: wild ones, and discretised Gaussians that shift evenly."""
    source = np.random.default_rng(seed)
    grid = np.arange(-60, 61)
    for index in range(count):
        if index % 2:
            yield [source.dirichlet(np.full(5, 0.7)) + 1e-6 for _ in range(3)]
        else:
            centres = np.cumsum(source.uniform(0, 3, 3))
            yield [np.exp(-((grid - c) ** 2) / 18) for c in centres]


def worst_excess(combine):
    """Return by how much D_alpha/alpha across two steps exceeds a claimed bound, at most."""
    worst = -math.inf
    for chain in random_chains(300):
        first, middle, last = (p / p.sum() for p in chain)
        claimed = combine(loss_between(first, middle), loss_between(middle, last))
        worst = max(worst, loss_between(first, last) / claimed - 1)
    return worst


def test_renyi_divergence_never_exceeds_the_tight_bound():
    """T7 numerically, on random discrete distributions, and attained by the Gaussian ones."""
    excess = worst_excess(lambda a, b: (math.sqrt(a) + math.sqrt(b)) ** 2)
    assert -1e-3 < excess < 1e-6


def test_adding_losses_of_a_group_is_caught():
    """Broken twin: P_1 + P_2 does not bound a group of two."""
    assert worst_excess(lambda a, b: a + b) > 0.5


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=6), st.integers(1, 60))
def test_the_realised_loss_of_a_firm_is_never_above_its_policies(values, threshold):
    """T17: one total, sigma^2 = T^2/(2 rho): equal to the exact policy of one, below for many."""
    rho = Fraction(1, 10)
    sigma_squared = Fraction(threshold**2) / (2 * rho)
    records = [{"x": value} for value in values]
    split = Policy.split(rho, Split(x=threshold))
    exact = Policy.exact(rho, measure="x", threshold=threshold)
    whole = realised_loss([(sum(values), sigma_squared)])
    assert whole <= exact.group_loss(records) <= split.group_loss(records)
    assert realised_loss([(values[0], sigma_squared)]) == exact.loss(records[0])


def test_substitution_is_a_group_of_two():
    """T20: (sqrt P + sqrt P')^2."""
    assert substitution_loss(Fraction(1, 2), Fraction(1, 2)) == 2
    assert substitution_loss(0, 50) == 50


def test_the_papers_one_sided_lemma_fails_on_a_gaussian_sum():
    """T20: N(sum, 1), R = [-1, 1]: claimed 2 rho = 1, but 1 -> -1 costs 2 and 0 -> 10 costs 50."""

    def cost(value, other):
        return Fraction((value - other) ** 2, 2)

    rho = max(cost(0, value) for value in (-1, 0, 1))
    assert rho == Fraction(1, 2)
    assert cost(1, -1) == 2 > 2 * rho
    assert cost(0, 10) == 50 > 2 * rho
    statement = one_sided(rho)
    assert statement.join_or_leave == rho
    assert statement.replace_within == 2 >= cost(1, -1)
    assert statement.replace_by_any is None


def test_one_sided_holds_with_a_bounded_policy():
    """T20: (sqrt rho + sqrt rho_max)^2."""
    assert one_sided("1/2", rho_max=8).replace_by_any == Fraction(25, 2)


def test_bad_groups_are_refused():
    """Negative losses, unknown bounds, suprema in the wrong order."""
    with pytest.raises(AmountError, match="a loss is -1"):
        group_loss([1, -1])
    with pytest.raises(InputError, match="'tight', 'simple' or 'advanced'"):
        group_loss([1, 1], "best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'tight', 'simple' or 'advanced'"):
        group_loss([1], "best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the group bound is a list; expected") as caught:
        group_loss([1], [{"employees": 150}])  # type: ignore[arg-type]
    assert "150" not in str(caught.value)
    with pytest.raises(InputError, match="the losses are a str"):
        group_loss("94")
    with pytest.raises(InputError, match="the losses are a int"):
        group_loss(5)  # type: ignore[arg-type]
    with pytest.raises(AmountError, match="below rho"):
        one_sided(2, rho_max=1)
