"""The loss of changes and units from what a plan states of its noise, for every kind of answer."""

import itertools
from fractions import Fraction

import pyarrow as pa
import pytest

from perrecord import Keys, Query, SelectKeys, Split, table
from perrecord.policy.changes import (
    NoisyNumber,
    OnRows,
    Scope,
    Selection,
    change_delta,
    change_loss,
    unit_delta,
    unit_loss,
)
from perrecord.policy.terms import Currency
from perrecord.queries.plan import plan
from perrecord.release.outputs import outputs_of

COUNTIES = Keys.from_dict({"county": ["a", "b"]})
SCHEME = Split(emp=50, pay=250)
PLACES, SECTORS = ("a", "b", "elsewhere"), ("farm", "mine", None)
RECORDS = [
    {"county": county, "sector": sector, "firm": "f", "emp": emp, "pay": pay}
    for (county, sector), (emp, pay) in itertools.product(
        itertools.product(PLACES, SECTORS), [(12, 60), (400, 900), (None, 5)]
    )
]


def planned(*queries):
    """Return the plan of queries on a table of establishments."""
    columns = {
        name: [row[name] for row in RECORDS] for name in ("county", "sector", "firm", "emp", "pay")
    }
    with table(
        pa.table(columns),
        name="t",
        dimensions=["county", "sector", "firm"],
        measures={"emp": 1, "pay": 5},
    ) as source:
        return plan(list(queries), source.schema)


def by_county():
    """Return a query by county."""
    return Query("t").group_by("county", keys=COUNTIES)


def everything():
    """Return a workload with every kind of answer in rho."""
    selected = SelectKeys(rho="0.5", threshold=9, split=SCHEME, rows_as="rows")
    return [
        by_county()
        .count(rho="0.1")
        .count_distinct("firm", rho="0.2")
        .sum("emp", split=SCHEME, rho="0.3", accounting="exact")
        .sum("pay", clamp=(0, 500), rho="0.1")
        .average("emp", clamp=(0, 100), rho="0.2")
        .median("pay", rho="0.1", candidates=range(0, 1000, 100)),
        Query("t").where("sector = 'mine'").sum("emp", split=SCHEME, rho="0.7"),
        Query("t").where("emp > 3").sum("pay", split=SCHEME, rho="0.7").count(rho="0.1"),
        Query("t")
        .where("sector IN ('mine', 'farm')")
        .group_by("county", keys=selected)
        .count(rho="0.3"),
        Query("t").group_by("sector", keys=selected).count(rho="0.4"),
    ]


def pure():
    """Return a workload in epsilon."""
    return [
        by_county()
        .count(epsilon="0.1")
        .sum("emp", split=SCHEME, epsilon="0.3", accounting="exact")
        .sum("pay", clamp=(0, 500), epsilon="0.1")
        .median("pay", epsilon="0.1", candidates=range(0, 1000, 100)),
    ]


@pytest.mark.parametrize("workload", [everything, pure])
def test_one_record_loses_no_more_than_its_policy_and_a_unit_no_more_than_the_fallback(workload):
    """P(r) for one record, T7 for several, T20 for a change; and deltas likewise."""
    found = planned(*workload())
    outputs, policy = outputs_of(found), found.policy
    for record in RECORDS:
        assert unit_loss(outputs, [record]).amount <= policy.loss(record)
        assert unit_delta(outputs, [record]) <= policy.delta(record)
    for pair in itertools.combinations(RECORDS, 2):
        assert unit_loss(outputs, pair).amount <= policy.group_loss(pair)
        assert unit_delta(outputs, pair) <= policy.group_delta(pair)
        assert change_loss(outputs, pair[:1], pair[1:]).amount <= policy.substitution_loss(*pair)
        assert change_delta(outputs, pair[:1], pair[1:]) <= policy.substitution_delta(*pair)
    share = 2 if policy.currency is Currency.RHO else 1  # two counties, and squares of what meets
    assert unit_loss(outputs, RECORDS).amount <= policy.group_loss(RECORDS) / share


def test_changes_by_hand_from_a_plan():
    """12 to 22 employees in county a: each answer's own difference, and nothing for counts."""
    one = {"county": "a", "sector": "farm", "firm": "f", "emp": 12, "pay": 60}
    other = {**one, "emp": 22}
    query = by_county().count(rho="0.1").sum("emp", split=SCHEME, rho="0.3")
    outputs = outputs_of(planned(query.average("emp", clamp=(0, 100), rho="0.2")))
    # 0.3 (10/50)^2 + 0.1 (10/50)^2: the average's total has half of its rho, D = 50
    assert change_loss(outputs, [one], [other]).amount == Fraction(16, 1000)
    without = {**one, "emp": None}
    # 0.3 (12/50)^2 + 0.1 (38/50)^2 + 0.1: a centred total, and a count of values
    expected = Fraction("0.3") * Fraction(12, 50) ** 2
    expected += Fraction("0.1") * Fraction(38, 50) ** 2 + Fraction("0.1")
    assert change_loss(outputs, [one], [without]).amount == expected
    moved = {**one, "county": "b"}
    assert change_loss(outputs, [one], [moved]) == unit_loss(outputs, [one, moved])


def test_a_filter_that_dimensions_do_not_show_may_take_a_record_away():
    """4 employees become 3 where more than 3 are asked for: each output loses a whole record."""
    one = {"county": "a", "sector": "farm", "firm": "f", "emp": 4, "pay": 60}
    other = {**one, "emp": 3}
    large = Query("t").where("emp > 3")
    asked = {
        "count": large.count(rho="0.1"),
        "distinct": large.count_distinct("firm", rho="0.1"),
        "median": large.median("pay", rho="0.1", candidates=range(0, 1000, 100)),
    }
    for name, query in asked.items():
        found = outputs_of(planned(query))
        alone = unit_loss(found, [one]).amount
        assert change_loss(found, [one], [other]).amount >= alone > Fraction("0.09"), name
    keyed = large.group_by("county", keys=SelectKeys(rho="0.1", threshold=3)).count(rho="0.2")
    found = [each for each in outputs_of(planned(keyed)) if isinstance(each, Selection)]
    assert change_loss(found, [one], [other]).amount == Fraction("0.1")
    assert change_delta(found, [one], [other]) == unit_delta(found, [one]) > 0


def test_a_count_of_pieces_that_is_published_with_its_key_costs_nothing_more():
    """Its noise is stated, and belongs to the selection."""
    found = planned(everything()[-1])
    outputs = outputs_of(found)
    assert [type(each) for each in outputs] == [Selection, NoisyNumber]
    record = RECORDS[1]
    assert unit_loss(outputs, [record]).amount == Fraction("0.5") * 8**2 + Fraction("0.4")


def test_mechanisms_on_rows_have_their_policy():
    """What is known of them is P alone."""
    query = by_county().count(rho="0.1")
    policy = planned(query).policy
    on_rows = OnRows(policy, Scope(("county",), is_certain=True))
    same, elsewhere = RECORDS[0], {**RECORDS[0], "county": "b"}
    assert unit_loss([on_rows], [same, {**same, "firm": "g"}]).amount == 4 * policy.loss(same)
    assert unit_loss([on_rows], [same, elsewhere]).amount == 2 * policy.loss(same)
