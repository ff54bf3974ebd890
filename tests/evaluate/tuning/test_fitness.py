"""Fitness for use: the goal is met at the rho that is found, and just missed below it."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Keys, Query, Split
from perrecord.errors import CurrencyError, InputError, ProbabilityError
from perrecord.evaluate.tuning.fitness import fitness
from perrecord.laws import DiscreteGaussian
from perrecord.queries.methods.parts import Parts, clamping, splitting
from perrecord.queries.plan import plan
from perrecord.tables.measures import Measure
from perrecord.tables.table import table

SECTORS = ["farm", "mine", "shop", "zoo", "toll"]
KEYS = Keys.from_dict({"sector": SECTORS})
ROWS = {
    "sector": ["farm"] * 3 + ["mine"] * 2 + ["shop", "shop", "toll", "lost"],
    "emp": [10, 20, 970, 5, -5, None, -7, 3, 1000],
    "pay": [1.5, 2.5, 1e6, 3.0, 4.0, 0.5, None, 0.5, 7.0],
}


def establishments():
    """Return nine establishments in five sectors, one of them outside the keys."""
    return table(pa.table(ROWS), dimensions=["sector"], measures={"emp": 1, "pay": Measure("0.5")})


def by_sector():
    """Return the grouping of every question here."""
    return Query().group_by("sector", keys=KEYS)


def is_met(required, cell, rho):
    """Tell whether Pr[|noise| < within * |true|] >= confidence, from the law alone."""
    truth = required.truth.total
    law = DiscreteGaussian(required.sizes[cell] ** 2 / (2 * rho) / truth.step**2)
    limit = required.goal.within * abs(int(truth.exact[cell]))
    return law.half_width(required.goal.confidence) < limit


@pytest.mark.parametrize("within", ["0.01", "0.1", "2"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_every_cell_meets_the_goal_and_just_so(within, confidence):
    """Met at rho, missed with 1 % less, for counts and totals, small sigma and large."""
    asked = (
        by_sector()
        .count(rho=1)
        .sum("emp", split=Split(emp=50), rho=1)
        .sum("pay", split=Split.by("sector", {"mine": Split(pay=2)}, Split(pay=100)), rho=1)
    )
    with establishments() as source:
        found = fitness(plan(asked, source.schema), source, within=within, confidence=confidence)
    checked = 0
    for required in found.requirements:
        for cell, rho in enumerate(required.rhos()):
            if rho is None:
                assert required.truth.total.exact[cell] == 0
                continue
            assert is_met(required, cell, rho)
            assert not is_met(required, cell, rho * Fraction(99, 100))
            checked += 1
    assert checked == 4 + 3 + 4
    assert [required.zeros for required in found.requirements] == [1, 2, 1]


def test_large_totals_have_the_closed_form_of_the_theory():
    """That is rho = (z T / (d S))^2 / 2 (T22)."""
    with establishments() as source:
        asked = by_sector().sum("emp", split=Split(emp=50), rho=1)
        (required,) = fitness(plan(asked, source.schema), source, within="0.1").requirements
    z = NormalDist().inv_cdf(0.975)
    wanted = (z * 50 / (0.1 * 1000)) ** 2 / 2
    assert float(required.rhos()[0]) == pytest.approx(wanted, rel=0.02)


def test_thresholds_cancel():
    """The implied loss of a record does not hang on the scheme that it is written in."""
    losses = []
    with establishments() as source:
        for threshold in (1, 50, 10**6):
            asked = by_sector().sum("emp", split=Split(emp=threshold), rho=1)
            found = fitness(plan(asked, source.schema), source, within="0.1")
            record = {"sector": "farm", "emp": 970}
            losses.append((float(found.policy().loss(record)), float(found.policy(1).loss(record))))
    assert losses[0] == pytest.approx(losses[1])
    assert losses[0] == pytest.approx(losses[2])


@pytest.mark.parametrize("share", [None, "0.5", 1])
def test_the_distribution_is_that_of_the_implied_policy(share):
    """The engine's losses are those of the exact policy, record by record."""
    parts = Parts(
        "sector",
        {"farm": splitting(Split(emp=50), rho=1), ...: splitting(Split(emp=5), rho="0.2")},
    )
    asked = [
        by_sector().count(rho=1).sum("emp", parts=parts),
        Query().where("sector = 'farm'").sum("pay", split=Split(pay=100), rho=1),
    ]
    with establishments() as source:
        found = fitness(plan(asked, source.schema), source, within="0.2")
        losses = found.losses(source, share)
        policy = found.policy(share)
        rows = pa.table(ROWS).to_pylist()
        wanted = sorted(float(policy.loss(source.schema.record(row))) for row in rows)
    every = np.repeat(losses.values, np.diff([0, *losses.at_most]))
    np.testing.assert_allclose(every, wanted, rtol=1e-9)


def test_one_rho_at_a_percentile_serves_that_share_of_the_cells():
    """So many cells meet the goal with it, and fewer with 1 % less."""
    with establishments() as source:
        asked = by_sector().sum("pay", split=Split(pay=100), rho=1)
        (required,) = fitness(plan(asked, source.schema), source, within="0.3").requirements
    cells = [cell for cell, rho in enumerate(required.rhos()) if rho is not None]
    for share in ("0.25", "0.5", "0.6", 1):
        rho = required.rho(share)
        need = math.ceil(Fraction(share) * len(cells))
        assert sum(is_met(required, cell, rho) for cell in cells) >= need
        fewer = rho * Fraction(99, 100)
        assert sum(is_met(required, cell, fewer) for cell in cells) < need


def test_zeros_and_biased_cells_are_set_apart():
    """No noise is below 0, and no rho makes up for what clamping took away."""
    with establishments() as source:
        asked = by_sector().sum("emp", clamp=(-100, 100), rho=1)
        found = fitness(plan(asked, source.schema), source, within="0.1")
        (required,) = found.requirements
        losses = found.losses(source)
        shown = found.to_arrow().to_pylist()
    assert (required.zeros, required.unreachable) == (2, 1)
    assert [rho is None for rho in required.rhos()] == [True, True, False, False, True]
    assert losses.share_above(0) == pytest.approx(3 / 9)
    assert [row["key"] for row in shown] == sorted(SECTORS)
    assert [row["rho"] is None for row in shown] == [True, True, False, False, True]


def test_a_bias_within_the_goal_leaves_less_room_for_noise():
    """Bias and noise together stay within the goal, and just so (T22, with T12's bias)."""
    with establishments() as source:
        asked = by_sector().sum("emp", clamp=(-950, 950), rho=1)
        (required,) = fitness(plan(asked, source.schema), source, within="0.1").requirements
    assert required.unreachable == 0
    farm, truth = 0, required.truth.total
    assert (int(truth.exact[farm]), int(truth.bias[farm])) == (1000, -20)
    for factor, is_met in ((1, True), (Fraction(99, 100), False)):
        law = DiscreteGaussian(Fraction(950) ** 2 / (2 * required.rhos()[farm] * factor))
        outside = law.tail(99 - 20 + 1).upper + law.tail(99 + 20 + 1).upper
        assert (outside <= Fraction(5, 100)) is is_met


def test_cells_that_clamping_spoils_count_as_missed():
    """A share that only unbiased cells could make up has no rho."""
    with establishments() as source:
        asked = by_sector().sum("emp", clamp=(-100, 100), rho=1)
        (required,) = fitness(plan(asked, source.schema), source, within="0.1").requirements
    assert required.rho("0.66") is not None
    assert required.rho("0.67") is None  # one in three is beyond repair


def test_nothing_but_zeros_needs_nothing():
    """An empty table: no rho, no loss, no error."""
    with table(
        pa.table({"sector": pa.array([], pa.string()), "emp": pa.array([], pa.int64())}),
        dimensions=["sector"],
        measures=["emp"],
    ) as source:
        found = fitness(plan(by_sector().count(rho=1), source.schema), source, within="0.1")
        assert found.requirements[0].rho() is None
        assert found.losses(source).count == 0
        assert found.policy(1).minimum() == 0


def test_a_clamped_total_without_bias_pays_its_rho_whatever_the_record():
    """Values are bounded by the method, so the implied policy is constant in each cell."""
    parts = Parts("sector", {...: clamping(-2000, 2000, rho=1)})
    with establishments() as source:
        asked = by_sector().sum("emp", parts=parts)
        found = fitness(plan(asked, source.schema), source, within="0.1")
        (required,) = found.requirements
    assert required.unreachable == 0
    for emp in (0, 970):
        assert found.policy().loss({"sector": "farm", "emp": emp}) == required.rhos()[0]


def test_each_part_of_a_mixed_total_pays_by_its_own_method():
    """In one cell: split records by their value, clamped ones by their bound, under one sigma."""
    parts = Parts(
        "sector",
        {
            "farm": splitting(Split(emp=50), rho=1),
            "mine": clamping(5, 10, rho=1),
            ...: clamping(-2000, 2000, rho=1),
        },
    )
    with establishments() as source:
        asked = Query().sum("emp", parts=parts)
        (required,) = fitness(plan(asked, source.schema), source, within="1/1000").requirements
        assert required.unreachable == 1  # mine's -5 becomes 5
        whole = Query().where("sector <> 'mine'").sum("emp", parts=parts)
        found = fitness(plan(whole, source.schema), source, within="0.1")
    rho, size = found.requirements[0].rhos()[0], found.requirements[0].sizes[0]
    assert size == 2000
    for share in (None, 1):
        policy = found.policy(share)
        assert policy.loss({"sector": "farm", "emp": 970}) == rho * Fraction(970, 2000) ** 2
        assert policy.loss({"sector": "mine", "emp": 0}) == rho * Fraction(10, 2000) ** 2
        assert policy.loss({"sector": "shop", "emp": 0}) == rho


def test_wrong_goals_are_refused():
    """With what to ask instead."""
    with establishments() as source:
        planned = plan(by_sector().count(rho=1), source.schema)
        with pytest.raises(InputError, match="above 0"):
            fitness(planned, source, within=0)
        with pytest.raises(ProbabilityError, match="strictly between"):
            fitness(planned, source, within="0.1", confidence=1)
        found = fitness(planned, source, within="0.1")
        with pytest.raises(ProbabilityError, match="above 0 and up to 1"):
            found.requirements[0].rho(0)
        averages = plan(by_sector().average("emp", split=Split(emp=1), rho=1), source.schema)
        with pytest.raises(InputError, match="no count, and no total"):
            fitness(averages, source, within="0.1")
        with pytest.raises(CurrencyError, match="zCDP"):
            fitness(plan(by_sector().count(epsilon=1), source.schema), source, within="0.1")
