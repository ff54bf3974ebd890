"""What each kind of answer is made of, pinned: audits share this list and nothing else."""

from dataclasses import replace
from fractions import Fraction

import pytest

from perrecord import Parts, Query, QueryError, Split, Taper, clamping, splitting
from perrecord.laws.scales import GaussianScale, LaplaceScale, Student7Scale, largest
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Different, Filled, Rows, Total
from perrecord.queries.answers import Answer
from perrecord.queries.measurements import Choice, Measurement
from perrecord.queries.methods import Clamping, Counting, Splitting, Tapering, tree_of

RHO = Fraction(1, 10)
SCHEME = Split(emp=50)
CUT = Clamping(RHO, Fraction(0), Fraction(500))
WHOLE = Splitting(RHO, SCHEME)
SLOW = Tapering(RHO, Taper(emp=50))
PARTS = Parts("k", {"a": splitting(SCHEME, rho=RHO), ...: clamping(0, 500, rho=RHO)})
HALF = RHO / 2

KINDS = {
    "count": (Query().count(rho=RHO), [Measurement(Rows(), Counting(RHO))]),
    "count of a column": (
        Query().count("emp", rho=RHO),
        [Measurement(Filled("emp"), Counting(RHO))],
    ),
    "count of different values": (
        Query().count_distinct("firm", rho=RHO),
        [Measurement(Different("firm"), Counting(RHO))],
    ),
    "split total": (
        Query().sum("emp", split=SCHEME, rho=RHO),
        [Measurement(Total("emp", None), WHOLE, "emp")],
    ),
    "clamped total": (
        Query().sum("emp", clamp=(0, 500), rho=RHO),
        [Measurement(Total("emp", tree_of(CUT)), CUT, "emp")],
    ),
    "tapered total": (
        Query().sum("emp", taper=50, rho=RHO),
        [Measurement(Total("emp", None), SLOW, "emp")],
    ),
    "tapered average": (
        Query().average("emp", taper=Taper(emp=50, pay=9), rho=RHO),
        [
            Measurement(Total("emp", None), Tapering(HALF, Taper(emp=50, pay=9)), "emp"),
            Measurement(Filled("emp"), Counting(HALF)),
        ],
    ),
    "total by parts": (
        Query().sum("emp", parts=PARTS),
        [Measurement(Total("emp", tree_of(PARTS.cases)), PARTS.cases, "emp")],
    ),
    "split average": (
        Query().average("emp", split=SCHEME, rho=RHO),
        [
            Measurement(Total("emp", None), replace(WHOLE, amount=HALF), "emp"),
            Measurement(Filled("emp"), Counting(HALF)),
        ],
    ),
    "clamped average": (
        Query().average("emp", clamp=(0, 500), rho=RHO),
        [
            Measurement(
                Total("emp", tree_of(replace(CUT, amount=HALF)), is_centred=True),
                replace(CUT, amount=HALF),
                "emp",
                is_centred=True,
            ),
            Measurement(Filled("emp"), Counting(HALF)),
        ],
    ),
    "quantile": (
        Query().quantile("emp", "0.9", candidates=[1, 2], rho=RHO),
        [Choice("emp", RHO, Fraction(9, 10), (Fraction(1), Fraction(2)))],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_steps_of_every_kind_are_these(kind):
    """One noisy integer per cell each, or one choice."""
    query, steps = KINDS[kind]
    (answer,) = query.answers
    assert list(answer.steps) == steps


def test_every_kind_of_answer_is_pinned():
    """A new one cannot be forgotten here."""
    seen = {type(query.answers[0]).__name__ for query, _ in KINDS.values()}
    assert seen == {kind.__name__ for kind in Answer.__subclasses__()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_costs_what_its_steps_cost(kind):
    """Nothing is free and nothing is paid for twice (T4)."""
    (answer,) = KINDS[kind][0].answers
    every = [step.policy(frozenset(), Currency.RHO) for step in answer.steps]
    assert answer.policy(frozenset(), Currency.RHO) == Policy.total(every)
    assert answer.policy(frozenset(), Currency.RHO) != Policy.total([*every, Policy.constant(RHO)])


@pytest.mark.parametrize("kind", KINDS)
def test_amounts_are_changed_in_every_step(kind):
    """Twice the amounts are twice the price, of counts under averages too."""
    (answer,) = KINDS[kind][0].answers
    twice = answer.mapped(lambda method: method.with_amount(2 * method.amount))
    assert twice.amounts == tuple(2 * amount for amount in answer.amounts)
    before, after = (each.policy(frozenset(), Currency.RHO) for each in (answer, twice))
    if kind.startswith("tapered"):  # twice as much for a record of the taper's size alone
        losses = [each.loss({"emp": 50}) for each in (before, after)]
        assert losses[1] == pytest.approx(2 * losses[0], rel=1e-9)
    else:
        assert after == before * 2


def test_only_one_noisy_number_decides_which_cells_are_kept():
    """Counts and totals; what is divided or chosen does not."""
    additive = {kind for kind, (query, _) in KINDS.items() if query.answers[0].is_additive}
    assert additive == set(KINDS) - {
        "split average",
        "clamped average",
        "tapered average",
        "quantile",
    }


def test_the_largest_of_several_scales_hides_what_each_would():
    """Noise of different laws has no order, and is never mixed in one cell."""
    small, large = GaussianScale(Fraction(1)), GaussianScale(Fraction(4))
    assert largest([small, large, small]) == large
    assert large.rho(Fraction(2)) < small.rho(Fraction(2))
    for other in (LaplaceScale(Fraction(9)), Student7Scale(Fraction(100))):
        with pytest.raises(QueryError, match="noise of different laws"):
            largest([small, other])
