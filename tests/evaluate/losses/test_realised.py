"""Losses from the engine against slow Python in Fractions, and against the divergence itself."""

import math
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Domain, Keys, Policy, Query, SelectCells, SelectKeys, Split, Taper
from perrecord.errors import CurrencyError
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.evaluate.losses.realised import losses
from perrecord.lab.audit import random_queries, random_tables
from perrecord.policy.terms import Currency
from perrecord.queries.methods.parts import Parts, clamping, splitting, tapering
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests import first
from tests.evaluate.reference import (
    BOUNDS,
    agree,
    bound_of_units,
    policy_of_records,
    realised,
    realised_of_records,
    units_of,
)
from tests.queries.reference import exact, records_of


def opened(rows):
    """Return the random queries' table over these rows."""
    return table(random_tables.arrow(rows), **random_tables.DECLARED)


def workload(random, count=3):
    """Return random queries of one currency: the first so many of twenty."""
    first, drawn = random_queries.query(random), (random_queries.query(random) for _ in range(19))
    alike = (query for query in drawn if query.currency is first.currency)
    return [first, *islice(alike, count - 1)]


def check(planned, source, rows):
    """Hold every distribution of a plan's losses against the reference."""
    found = losses(planned, source)
    policy, own = policy_of_records(planned, rows), realised_of_records(planned, rows)
    assert agree(found.policy, policy)
    assert agree(found.realised, own)
    assert all(mine <= theirs for mine, theirs in zip(own, policy, strict=True))
    together = [realised(planned, unit) for unit in units_of(planned, rows)]
    tight = bound_of_units(planned, rows, "tight")
    assert agree(found.units.realised, together)
    assert all(mine <= theirs for mine, theirs in zip(together, tight, strict=True))
    for bound in BOUNDS:
        assert agree(getattr(found.units, bound), bound_of_units(planned, rows, bound)), bound
    least = planned.policy.minimum() * (1 + Fraction(1, 10**9))  # nearer ones are not told apart
    above = sum(loss > least for loss in policy) / max(1, len(policy))
    assert found.share_above_minimum == pytest.approx(above)


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_random_workloads_lose_what_the_reference_says(seed):
    """Filters, parts, clamps, averages, quantiles, both currencies; records and firms."""
    random = Random(seed)
    rows = random_tables.rows(random, random.randrange(40))
    with opened(rows) as source:
        check(plan(workload(random), source.schema), source, rows)


def select_keys(random, split):
    """Return a query whose keys come from the data."""
    cells = SelectKeys(rho="0.3", threshold=5, split=split)
    return (
        Query()
        .where("code > -5")
        .group_by("sector", "big", keys=cells)
        .count(rho="0.1")
        .sum("emp", split=random_queries.scheme(random, "emp"), rho="0.2")
        .count_distinct("firm", rho="0.1")
    )


def select_cells():
    """Return a query over a domain that is not written out."""
    domain = Domain(
        Keys.from_dict({"sector": ["farm", "é", None]}), Keys.from_dict({"code": [3, None, 0]})
    )
    cells = SelectCells(domain, answer="count", at_least=3)
    return (
        Query()
        .group_by("sector", "code", keys=cells)
        .count(rho="0.1")
        .sum("pay", clamp=(-2, 10), rho="0.2")
    )


@pytest.mark.parametrize("seed", first(2, range(4)))
def test_keys_that_noise_selects_count_at_their_policy_value(seed):
    """A unit's pieces add up within each key (T9); a record outside the domain loses nothing."""
    random = Random(seed)
    rows = random_tables.rows(random, 40, extreme=False)
    split = None if seed == 0 else random_queries.scheme(random, "emp")
    with opened(rows) as source:
        check(plan([select_keys(random, split), select_cells()], source.schema), source, rows)


def with_values(**columns):
    """Return forty random rows with some columns replaced."""
    rows = random_tables.rows(Random(3), 40, extreme=False)
    return [row | {name: make(row) for name, make in columns.items()} for row in rows]


ROWS = {
    "nobody": [],
    "all equal": with_values(emp=lambda _: 5, sector=lambda _: "farm", firm=lambda _: 1),
    "one giant": with_values(emp=lambda row: 2**63 - 1 if row["id"] == 7 else 1),
    "all negative": with_values(emp=lambda row: -row["id"], pay=lambda row: -1.5),
    "all null": with_values(emp=lambda _: None, pay=lambda _: None, sector=lambda _: None),
    "no unit": with_values(firm=lambda _: None),
    "cancelling": with_values(emp=lambda row: (-1) ** row["id"] * 50, firm=lambda _: 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_unusual_tables_lose_what_the_reference_says(name):
    """Nobody, equals, one giant, negative measures, NULLs, records of no unit, sums of 0."""
    rows = ROWS[name]
    keys = Keys.from_dict({"sector": ["farm", "mine", None]})
    asked = [
        Query().sum("emp", split=Split(emp=50, pay=2), rho="0.1").count("emp", rho="0.2"),
        Query()
        .where("big OR emp > 0")
        .group_by("sector", keys=keys)
        .sum("emp", split=Split(emp=5), rho="0.1", accounting="exact")
        .average("pay", clamp=(0, 3), rho="0.3")
        .median("emp", candidates=[0, 5], rho="0.05"),
    ]
    with opened(rows) as source:
        check(plan(asked, source.schema), source, rows)


def test_thousands_of_cases_join_one_table():
    """A part for each code costs one join and one expression, however many parts there are."""
    random = Random(5)
    rows = random_tables.rows(random, 40, extreme=False)
    methods = {code: splitting(Split(emp=code + 1), rho="0.1") for code in range(1000)}
    methods |= {None: clamping(0, 5, rho="0.3"), ...: clamping(-2, 40, rho="0.1")}
    asked = Query().sum("emp", parts=Parts("code", methods))
    with opened(rows) as source:
        check(plan(asked, source.schema), source, rows)


def test_a_largest_policy_and_nested_cases_are_written_too():
    """Policies that no plan makes, but a budget may."""
    rows = random_tables.rows(Random(6), 40)
    inner = Policy.by("code", {3: Policy.split("0.5", Split(emp=5))}, Policy.constant("0.1"))
    whole = Policy.largest(Policy.split("0.1", Split(emp=50).capped(7)), Policy.constant("0.4"))
    policy = Policy.by("big", {True: inner, None: whole}, whole + inner)
    with opened(rows) as source:
        found = policy_losses(policy, source)
        twice = policy_losses([policy, policy], source)
        wanted = [policy.loss(record) for record in records_of(source.schema, rows)]
        with pytest.raises(CurrencyError, match="rho and partly in epsilon"):
            policy_losses([policy, Policy.constant(epsilon=1)], source)
    assert agree(found, wanted)
    assert agree(twice, [2 * loss for loss in wanted])


def divergence(change, law):
    """Return D_2 between a discrete Gaussian and its shift, added up from the two laws."""
    reach = int(12 * math.sqrt(law.sigma_squared)) + 2 * abs(change)
    numbers = np.arange(-reach, reach + 1)
    two = 2 * float(law.sigma_squared)
    here, there = -(numbers**2) / two, -((numbers - change) ** 2) / two
    total = np.log(np.exp(here).sum())
    return float(np.log(np.exp(2 * there - here - total).sum()))


@pytest.mark.parametrize("seed", first(3, range(6)))
def test_the_realised_loss_is_the_divergence_of_the_released_numbers(seed):
    """D_2 is exactly 2 * loss for whole shifts: from the exact integers with and without a firm."""
    random = Random(seed)
    rows = [
        row | {"emp": random.choice([None, 0, 3, -7, 20]), "firm": random.choice([1, 2, 3])}
        for row in random_tables.rows(random, 12, extreme=False)
    ]
    keys = Keys.from_dict({"sector": ["farm", "mine", "", None]})
    asked = [
        Query()
        .rollup("sector", keys=keys)
        .count(rho="0.02")
        .sum("emp", split=Split(emp=20), rho="0.1"),
        Query()
        .where("big")
        .sum("emp", clamp=(-2, 10), rho="0.1")
        .average("emp", clamp=(0, 10), rho="0.1"),
    ]
    with opened(rows) as source:
        planned = plan(asked, source.schema)
        whole = exact(planned, source)
        found = losses(planned, source).units.realised
    wanted = []
    for firm in sorted({row["firm"] for row in rows}):
        with opened([row for row in rows if row["firm"] != firm]) as without:
            rest = exact(planned, without)
        wanted.append(_divergence(planned, whole, rest) / 2)
    assert agree(found, wanted, 1e-6)
    assert not agree(found, [loss * 1.001 for loss in wanted], 1e-6)


def _divergence(planned, whole, rest):
    total = 0.0
    for grouping, (with_all, _), (without, _) in zip(planned.groupings, whole, rest, strict=True):
        for charged in grouping.answers:
            columns = grouping.grouping.columns
            for step in charged.answer.measurements:
                noise = step.noise(planned.schema, columns, Currency.RHO)
                law = noise.law(noise.scales.at({}))
                pairs = zip(with_all[step.aggregate], without[step.aggregate], strict=True)
                total += sum(divergence(a - b, law) for a, b in pairs)
    return total


def test_the_check_tells_a_unit_from_its_records():
    """A twin that adds up the records' own losses is caught: two equal records cost 4, not 2."""
    rows = with_values(firm=lambda _: 1, sector=lambda _: "farm")[:2]
    with opened(rows) as source:
        planned = plan(Query().count(rho=1), source.schema)
        found = losses(planned, source)
    assert agree(found.units.realised, [4])
    assert not agree(found.units.realised, [sum(realised_of_records(planned, rows))])


def test_the_comparison_tells_small_differences():
    """One part in 10^8 is too much, one in 10^10 is not, and a missing record is."""
    assert agree(Distribution.of([1 + 1e-10, 2]), [1, 2])
    assert not agree(Distribution.of([1 + 1e-8, 2]), [1, 2])
    assert not agree(Distribution.of([1]), [1, 1])


def test_the_table_names_whom_and_which_loss():
    """One long table, ready to be drawn."""
    rows = with_values()
    with opened(rows) as source:
        found = losses(plan(Query().count(rho="0.5"), source.schema), source)
    shown = found.to_arrow()
    assert shown.column_names == ["of", "loss", "value", "share", "at_most"]
    assert set(zip(shown["of"].to_pylist(), shown["loss"].to_pylist(), strict=True)) == {
        ("records", "policy"),
        ("records", "realised"),
        ("records", "least possible"),
        ("units", "least possible"),
        *(("units", each) for each in ("realised", "simple", "advanced", "tight")),
    }
    assert found.minimum == Fraction(1, 2)
    assert found.share_above_minimum == 0


def test_a_table_without_units_has_no_unit_losses():
    """And nothing of ours stays behind in the engine."""
    with table(pa.table({"x": [1, 2]}), measures=["x"]) as source:
        planned = plan(Query().sum("x", split=Split(x=1), rho=1), source.schema)
        assert losses(planned, source).units is None
        left = source.engine.frame("SELECT table_name FROM duckdb_tables()")
    assert not [name for name in left["table_name"].to_pylist() if "kept" in name]


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_tapered_answers_cost_a_unit_its_net_change_in_each_cell(currency):
    """P of the total in a cell, whatever law the cells of other parts have; NULL adds nothing."""
    rows = pa.table(
        {
            "firm": [1, 1, 1, 2, 2, 3],
            "k": ["a", "a", "b", "b", "b", "a"],
            "emp": [40, 2_000, 30, -70, 70, None],
        }
    )
    price = {currency: "0.5"}
    parts = Parts("k", {"a": tapering(Taper(emp=50), **price), ...: clamping(-20, 20, **price)})
    asked = (
        Query()
        .group_by("k", keys=Keys.from_dict({"k": ["a", "b"]}))
        .sum("emp", parts=parts)
        .sum("emp", taper=Taper(emp=9, nu=3), **price, name="again")
    )
    with table(rows, unit="firm", dimensions=["k"], measures=["emp"]) as opened:
        found = losses(plan(asked, opened.schema), opened)
    wide, narrow = (
        Policy.tapered(measure="emp", at=at, nu=nu, **price) for at, nu in ((50, 7), (9, 3))
    )
    cut = 0.5
    firm = [wide.loss({"emp": 2_040}), cut, *(narrow.loss({"emp": x}) for x in (2_040, 30))]
    expected = sorted([float(sum(firm)), 0.0, 0.0])
    # to the agreement that distributions promise: what the integers add, 2^-26, is in it
    assert list(found.units.realised.values) == pytest.approx(sorted(set(expected)), rel=1e-9)
    largest = wide.loss({"emp": 2_000}) + narrow.loss({"emp": 2_000})
    assert found.realised.largest == pytest.approx(float(largest), rel=1e-9)
    assert found.policy.largest == pytest.approx(float(largest), rel=1e-9)
