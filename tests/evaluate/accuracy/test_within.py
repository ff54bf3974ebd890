"""Within an error or not: strict, on whole numbers, and the same for every command."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Keys, Measure, Query, Split
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.accuracy.within import is_share, is_within, known_within, share_of
from perrecord.evaluate.evaluation import evaluate
from perrecord.evaluate.tuning.fitness import fitness
from perrecord.evaluate.tuning.tune import tune
from perrecord.queries.plan import plan
from perrecord.tables.table import table


def in_hundredths(totals):
    """Return a table of one record for each sector, with so many hundredths."""
    names = [f"s{place:03d}" for place in range(len(totals))]
    values = pa.array([Decimal(each).scaleb(-2) for each in totals], pa.decimal128(20, 2))
    source = table(
        pa.table({"sector": names, "pay": values}),
        dimensions=["sector"],
        measures={"pay": Measure(resolution="0.01")},
    )
    return source, Keys.from_dict({"sector": names})


def asked(keys, rho="1/2"):
    """Return a total whose noise has sigma 1 at rho = 1/2: |noise| <= 2 steps with 95 %."""
    by = Query().group_by("sector", keys=keys)
    return by.sum("pay", split=Split(pay="0.01"), rho=rho)


TIES = [40, 41, 39, -40, -41, 0]
"""5 % of 40 steps are 2 steps: not below; of 41 they are more than 2."""


def test_an_exact_tie_is_not_within():
    """2 of 40 hundredths is 5 %, not below it, though floats say 0.02 / 0.4 < 0.05."""
    source, keys = in_hundredths(TIES)
    with source:
        (errors,) = accuracy(plan(asked(keys), source.schema), source)
    twin = errors.relative(errors.reach) < 0.05
    assert is_within(errors, Fraction(1, 20)).tolist() == [False, True, False, False, True, False]
    assert twin.tolist() != is_within(errors, Fraction(1, 20)).tolist()
    assert len(known_within(errors, Fraction(1, 20))) == 5


def test_every_command_says_the_same_of_a_tie():
    """`evaluate` in its table and by size, `summary`, `tune` and `fitness`: two of five cells."""
    source, keys = in_hundredths(TIES)
    with source:
        workload = {"sectors": asked(keys)}
        found = evaluate(workload, source, schemes={}, repeats=1)
        (row,) = summary(accuracy(plan(asked(keys), source.schema), source)).to_pylist()
        tuned = tune(workload, source, "5% for 40% of cells")
        more = tune(workload, source, "5% for 41% of cells")
        needed = fitness(plan(asked(keys), source.schema), source, within="0.05")
    assert found.errors["within_5_percent"].to_pylist() == [0.4]
    assert found.by_size["within_5_percent"].to_pylist() == [0.4]
    assert row["within_5_percent"] == 0.4
    (answer,) = tuned.answers
    assert (answer.met_before, answer.is_met_before) == (0.4, True)
    assert not more.answers[0].is_met_before
    assert more.answers[0].is_met_after
    (required,) = needed.requirements
    met = [each is not None and each <= Fraction(1, 2) for each in required.rhos()]
    assert met == [False, True, False, False, True, False]


@settings(max_examples=30)
@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12),
    st.sampled_from(["1/50", "1/2", "3", "1/800"]),
    st.fractions("1/1000", "3"),
)
def test_the_decision_is_that_of_rationals(totals, rho, limit):
    """|noise| <= half width with 95 %: within if the half width is below limit * |true|."""
    source, keys = in_hundredths(totals)
    with source:
        (errors,) = accuracy(plan(asked(keys, rho), source.schema), source)
    (law,) = errors.truth.total.laws
    width = law.half_width("0.95")
    ties = [Fraction(width, abs(each)) for each in totals if each]
    for within in (limit, *ties):
        wanted = [width < within * abs(each) for each in totals]
        assert is_within(errors, within).tolist() == wanted


def test_shares_are_counted_exactly():
    """A third of three cells is one of them; of no cell there is no share."""
    one = np.array([True, False, False])
    assert is_share(one, Fraction(1, 3))
    assert not is_share(one, Fraction(1, 3) + Fraction(1, 10**30))
    assert share_of(one) == pytest.approx(1 / 3)
    assert share_of(one[:0]) is None
    assert not is_share(one[:0], Fraction(1, 2))
