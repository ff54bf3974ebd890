"""Expected errors: against their definitions, against drawn noise, and in summary."""

import math
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Domain, Keys, Query, SelectCells, SelectKeys, Split
from perrecord.errors import InputError, ProbabilityError
from perrecord.evaluate.accuracy.errors import accuracy, simulated_error
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.lab.audit import random_queries, random_tables
from perrecord.queries.answers import Average, Quantile, Sum
from perrecord.queries.plan import plan
from perrecord.tables.keys import Keys as KeySet
from perrecord.tables.table import table
from tests import first
from tests.queries.reference import records_of, reference

SCHEME = Split(emp=50)


def opened(rows):
    """Return the random queries' table over these rows."""
    return table(random_tables.arrow(rows), **random_tables.DECLARED)


def establishments(**columns):
    """Return a small table by sector, with some columns replaced."""
    known = {
        "sector": ["farm"] * 3 + ["mine"] * 2 + ["shop"],
        "emp": [10, 20, 970, 5, -5, None],
    }
    return table(pa.table(known | columns), dimensions=["sector"], measures=["emp"])


KEYS = Keys.from_dict({"sector": ["farm", "mine", "shop", "zoo"]})


@settings(max_examples=16)
@given(st.integers(0, 2**32))
def test_true_numbers_and_biases_are_those_of_the_records(seed):
    """The truth is the unclamped number, the bias what clamping adds to it."""
    random = Random(seed)
    rows = random_tables.rows(random, random.randrange(40), extreme=False)
    with opened(rows) as source:
        planned = plan([random_queries.query(random) for _ in range(2)], source.schema)
        found = iter(accuracy(planned, source))
    for grouping, (numbers, _) in zip(planned.groupings, reference(planned, rows), strict=True):
        plain = _plain(planned, grouping, rows)
        for answer in planned.queries[grouping.query].answers:
            if isinstance(answer, Quantile):
                continue
            errors = next(found)
            clamped = [int(each) for each in numbers[answer.measurements[0].aggregate]]
            step, centre = errors.truth.total.step, errors.truth.centre
            if isinstance(answer, Average):
                true, count = plain[answer.measure]
                means = [Fraction(t) / n if n else None for t, n in zip(true, count, strict=True)]
                # Exactly: in floats a large mean and its bias would cancel out.
                biases = [
                    None if mean is None else centre + c * step / n - mean
                    for c, n, mean in zip(clamped, count, means, strict=True)
                ]
                wanted, biased = (
                    [math.nan if each is None else float(each) for each in every]
                    for every in (means, biases)
                )
                np.testing.assert_allclose(errors.true, wanted, atol=1e-9)
                np.testing.assert_allclose(errors.bias, biased, atol=1e-9, rtol=1e-12)
            else:
                released = np.array([float(each * step) for each in clamped])
                if isinstance(answer, Sum):
                    wanted = [float(each) for each in plain[answer.measure][0]]
                    np.testing.assert_allclose(errors.true, wanted)
                np.testing.assert_allclose(
                    errors.true + errors.bias, released, atol=1e-9, rtol=1e-12
                )
    assert next(found, None) is None


def _plain(planned, grouping, rows):
    """Return the unclamped totals and counts of each cell, by measure."""
    from perrecord.tables.expressions import evaluate

    condition = planned.queries[grouping.query].filter
    records = [
        r for r in records_of(planned.schema, rows)
        if condition is None or evaluate(condition, r) is True
    ]  # fmt: skip
    columns, cells = grouping.grouping.columns, grouping.grouping.cells
    keys = cells.rows() if isinstance(cells, KeySet) else [()]

    def tagged(values):
        return [(type(value) is bool, value) for value in values]

    inside = [[r for r in records if tagged(r[c] for c in columns) == tagged(key)] for key in keys]
    found = {}
    for measure in random_tables.MEASURES:
        filled = [[r[measure] for r in cell if r[measure] is not None] for cell in inside]
        found[measure] = [sum(each) for each in filled], [len(each) for each in filled]
    return found


@pytest.mark.parametrize("rho", ["0.001", "0.1", "2"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
def test_the_query_relative_error_is_the_infimum_of_its_definition(rho, confidence):
    """Pr[|noise| >= v |true|] is at most 1 - gamma just above it, and more just below (T21)."""
    with establishments() as source:
        asked = (
            Query().group_by("sector", keys=KEYS).count(rho=rho).sum("emp", split=SCHEME, rho=rho)
        )
        found = accuracy(plan(asked, source.schema), source, confidence=confidence)
    outside = 1 - Fraction(confidence)
    checked = 0
    for errors in found:
        (law,) = errors.truth.total.laws
        for exact, v in zip(
            errors.truth.total.exact, errors.relative(errors.noise_reach), strict=True
        ):
            if exact == 0:
                assert math.isnan(v)
                continue

            above, under = (v * abs(int(exact)) * factor for factor in (1 + 1e-9, 1 - 1e-9))
            assert _at_least(law, above) <= outside
            assert v == 0 or _at_least(law, under) > outside
            checked += 1
    assert checked == 4


def _at_least(law, size):
    """Return Pr[|noise| >= size]; on integers, and above 0."""
    return 2 * law.tail(max(1, math.ceil(size))).lower


@pytest.mark.parametrize("repeats", first(1, [1000, 4000]))
def test_drawn_noise_has_the_expected_errors(repeats):
    """The mean of all draws within 6 standard errors: false alarm below 10^-7 for 9 cells.

    E Z^2 bounds the variance of |Z + b|. An average is by the delta method, so it is given 2 %.
    """
    with establishments(emp=[100, 200, 9700, 50, 20, None]) as source:
        asked = (
            Query()
            .group_by("sector", keys=KEYS)
            .count(rho="0.1")
            .sum("emp", split=SCHEME, rho="0.1")
            .sum("emp", clamp=(0, 90), rho="2", name="clamped")
            .average("emp", clamp=(0, 400), rho=(20, 20))
        )
        found = accuracy(plan(asked, source.schema), source)
    compared = 0
    for errors in found:
        drawn = simulated_error(errors, repeats)
        expected = errors.relative(errors.size)
        margin = 6 * errors.relative(errors.deviation) / math.sqrt(repeats)
        if errors.truth.count is not None:
            margin = margin + 0.02 * expected
        assert (np.isnan(drawn) == errors.is_zero).all()
        kept = ~errors.is_zero
        assert (np.abs(drawn - expected)[kept] <= margin[kept]).all(), errors.truth.answer.name
        # A twin that leaves the bias out is told apart where there is any.
        if errors.truth.answer.name == "clamped":
            twin = errors.relative(errors.noise_size)
            assert (np.abs(drawn - twin)[kept] > margin[kept]).any()
        compared += int(kept.sum())
    assert compared == 9


def test_a_known_case_by_hand():
    """Top-coding at 100: farm keeps 130 of 1,000; mine adds up to 0 and is set apart."""
    with establishments() as source:
        asked = Query().group_by("sector", keys=KEYS).sum("emp", clamp=(-100, 100), rho="0.5")
        (errors,) = accuracy(plan(asked, source.schema), source)
    assert errors.true.tolist() == [1000, 0, 0, 0]
    assert errors.bias.tolist() == [-870, 0, 0, 0]
    assert errors.is_zero.tolist() == [False, True, True, True]
    assert errors.deviation[0] == pytest.approx(100)
    assert errors.relative(errors.noise_size)[0] == pytest.approx(0.0798, abs=1e-4)
    assert errors.relative(errors.size)[0] == pytest.approx(0.87, abs=1e-3)
    shown = errors.to_arrow()
    assert shown["records"].to_pylist() == [3, 2, 1, 0]
    assert shown["relative_error"].null_count == 3
    (row,) = summary([errors]).to_pylist()
    assert (row["cells"], row["zeros"], row["within_20_percent"]) == (4, 3, 0.0)


def test_the_summary_tells_sizes_apart():
    """Cells by how many records they have; every cell is in one class."""
    with establishments() as source:
        asked = Query().rollup("sector", keys=KEYS).count(rho=50).sum("emp", split=SCHEME, rho=1)
        errors = accuracy(plan(asked, source.schema), source)
    rows = summary(errors, by=("answer", "size"), sizes=(1, 3), limits=("0.4",)).to_pylist()
    counted = {(row["answer"], row["size"]): row["cells"] for row in rows}
    assert counted == {
        (answer, size): number
        for answer in ("count", "sum_emp")
        for size, number in (("0", 1), ("1 to 2", 2), ("3 or more", 2))
    }
    certain = [row["within_40_percent"] for row in rows if row["answer"] == "count"]
    assert certain == [None, 1.0, 1.0]
    whole = summary(errors, by=("grouping",)).to_pylist()
    assert {row["grouping"]: row["cells"] for row in whole} == {"sector": 8, "total": 2}


def test_within_is_the_share_whose_reach_is_small_enough():
    """By hand: rho = 1/2 makes sigma 1; |noise| <= 2 with 95 %: below 10 % of 21, not of 20."""
    with establishments(sector=["farm"] * 3 + ["mine"] * 3, emp=[21, 0, 0, 20, 0, 0]) as source:
        asked = Query().group_by("sector", keys=KEYS).sum("emp", split=Split(emp=1), rho="1/2")
        errors = accuracy(plan(asked, source.schema), source)
    (row,) = summary(errors).to_pylist()
    assert (row["within_5_percent"], row["within_10_percent"], row["within_20_percent"]) == (
        0,
        0.5,
        1,
    )


def test_cells_that_noise_selects_are_those_of_the_data():
    """Every key that occurs, and every occupied cell of the domain."""
    domain = Domain(Keys.from_dict({"sector": ["farm", "shop", "zoo"]}))
    with establishments() as source:
        asked = [
            Query().group_by("sector", keys=SelectKeys(rho=1, threshold=3)).count(rho=1),
            Query()
            .group_by("sector", keys=SelectCells(domain, answer="count", at_least=3))
            .count(rho=1),
        ]
        first, second = accuracy(plan(asked, source.schema), source)
    assert first.to_arrow().select(["sector", "true"]).to_pydict() == {
        "sector": ["farm", "mine", "shop"],
        "true": [3, 2, 1],
    }
    assert second.to_arrow()["sector"].to_pylist() == ["farm", "shop"]


def test_an_empty_table_has_zeros_only():
    """No division, no figure, no error."""
    with establishments(sector=pa.array([], pa.string()), emp=pa.array([], pa.int64())) as source:
        asked = (
            Query().group_by("sector", keys=KEYS).count(rho=1).average("emp", split=SCHEME, rho=1)
        )
        planned = plan(asked, source.schema)
        errors = accuracy(planned, source)
        losses = policy_losses(planned.policy, source)
    rows = summary(errors).to_pylist()
    assert [row["zeros"] for row in rows] == [4, 4]
    assert all(row["mean_expected_error"] is None for row in rows)
    assert (losses.count, losses.largest) == (0, 0)
    assert np.isnan(simulated_error(errors[0], 2)).all()


def test_wrong_questions_are_refused():
    """With what to ask instead."""
    with establishments() as source:
        planned = plan(Query().count(rho=1), source.schema)
        errors = accuracy(planned, source)
        with pytest.raises(ProbabilityError, match="strictly between"):
            accuracy(planned, source, confidence=1)
        with pytest.raises(InputError, match="told apart by colour"):
            summary(errors, by=("colour",))
        with pytest.raises(InputError, match="whole number from 1"):
            simulated_error(errors[0], 0)


def test_numbers_beyond_64_bits_keep_their_bias():
    """Sums of giants are exact integers; their clamped ones too."""
    with establishments(emp=[2**62, 2**62, 2**62, 1, 1, -(2**62)]) as source:
        (errors,) = accuracy(plan(Query().sum("emp", clamp=(0, 10), rho=1), source.schema), source)
    total = errors.truth.total
    assert [int(each) for each in total.exact + total.bias] == [32]
