"""Counts, totals and averages: their noise, errors, intervals, columns and what they cost."""

import csv
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from perrecord import (
    DiscreteGaussian,
    DiscreteLaplace,
    InexactNumberError,
    Policy,
    ProbabilityError,
    QueryError,
    Split,
)
from perrecord.confidential.held import Confidential
from perrecord.laws.scales import GaussianScale
from perrecord.mechanisms.additive import estimate
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.run import answer
from perrecord.mechanisms.write import write_csv
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Rows
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import Clamping, Counting, Scales, Splitting
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.released.columns import Estimate, Ratio
from perrecord.released.numbers import added, common_step, to_arrow
from perrecord.tables.keys import Keys
from perrecord.tables.table import table
from tests.noise.checks import FALSE_ALARM, Replayed, p_value

EXACTLY = 10**9
"""A rho at which noise other than 0 has probability exp(-10^5) or less."""


def plan_of(law):
    """Return the noise plan of one Gaussian law on whole numbers."""
    return NoisePlan(Fraction(1), Scales(GaussianScale(law.sigma_squared), None), {})


def keys_of(count):
    """Return so many keys."""
    return pa.table({"k": np.arange(count)})


# -- standard errors and intervals -------------------------------------------------------------


def variance_of(law):
    """Return the variance of a discrete Gaussian by adding up its definition."""
    with mpmath.workdps(40):
        two = 2 * mpmath.mpf(law.sigma_squared.numerator) / law.sigma_squared.denominator
        weights = {z: mpmath.exp(-(z**2) / two) for z in range(-200, 201)}
        total = mpmath.fsum(weights.values())
        return float(mpmath.fsum(z**2 * w for z, w in weights.items()) / total)


@pytest.mark.parametrize("sigma_squared", ["0.05", "0.25", "2", "50"])
def test_standard_errors_are_those_of_the_discrete_law(sigma_squared):
    """Not the parameter sigma, which for small noise is another number."""
    law = DiscreteGaussian(sigma_squared)
    found = estimate("x", Confidential(np.arange(3)), keys_of(3), plan_of(law), None)
    wanted = variance_of(law) ** 0.5
    assert found.standard_errors() == pytest.approx([wanted] * 3, rel=1e-9)
    if sigma_squared == "0.05":
        assert wanted != pytest.approx(float(law.sigma_squared) ** 0.5, rel=0.5)  # the twin


def covered(law, confidence, interval=Estimate.interval, bits=None, count=100_000):
    """Return in how many of the cells the interval holds the true number."""
    exact = np.arange(count)
    found = estimate("x", Confidential(exact), keys_of(count), plan_of(law), bits)
    low, high = (np.asarray(end) for end in interval(found, confidence))
    return int(((low <= exact) & (exact <= high)).sum())


def normal_interval(found, confidence):
    """Take the normal law for the discrete one: broken for small noise."""
    reach = stats.norm.ppf((1 + float(confidence)) / 2) * float(found.laws[0].sigma_squared) ** 0.5
    return found.numbers - reach, found.numbers + reach


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
@pytest.mark.parametrize("sigma_squared", ["0.2", "1", "6"])
def test_intervals_cover_with_the_probability_of_the_exact_law(sigma_squared, confidence):
    """At least the confidence, and no step wider than it takes; false alarm 1e-7 each."""
    law = DiscreteGaussian(sigma_squared)
    (reach,) = {(int(each) - 5) for each in _upper(law, confidence)}
    inside = float(1 - 2 * law.tail(reach + 1).upper)
    assert inside >= float(confidence)
    assert reach == 0 or float(1 - 2 * law.tail(reach).lower) < float(confidence)
    hits = covered(law, confidence)
    assert stats.binomtest(hits, 100_000, inside).pvalue > FALSE_ALARM


def _upper(law, confidence):
    fixed = Estimate("x", np.array([5]), Fraction(1), (law,), np.zeros(1, dtype=np.intp))
    return fixed.interval(confidence)[1].to_pylist()


def test_intervals_from_the_normal_law_are_caught():
    """The broken twin covers less than it says where noise is small."""
    law = DiscreteGaussian("0.2")
    hits = covered(law, "0.9", normal_interval, Replayed(1))
    assert stats.binomtest(hits, 100_000, 0.9, alternative="less").pvalue < FALSE_ALARM


def test_errors_are_in_units_of_the_measure():
    """At a resolution of 0.01 the standard error and the interval are of the measure's size."""
    source = pa.table({"x": [1.25, 2.5]})
    with table(source, measures={"x": "0.01"}) as opened:
        (found,) = answer(opened, Query().sum("x", clamp=(0, 10), rho="0.5"))
    (row,) = found.with_errors("0.9").to_pylist()
    assert row["sum_x_se"] == pytest.approx(10, rel=1e-6)  # sigma = D / sqrt(2 rho)
    reach = DiscreteGaussian(10**6).half_width("0.9") * Decimal("0.01")
    assert row["sum_x_high"] - row["sum_x"] == row["sum_x"] - row["sum_x_low"] == reach
    assert round(float(reach), 1) == 16.4


@pytest.mark.parametrize("wrong", ["0", "1", "1.5", "-0.1"])
def test_a_confidence_outside_zero_to_one_is_refused(wrong):
    """For totals as for averages; a float too."""
    with table(pa.table({"x": [1]}), measures=["x"]) as opened:
        query = Query().count(rho=1).average("x", split=Split(x=1), rho=1)
        (found,) = answer(opened, query)
    for name in ("count", "avg_x"):
        with pytest.raises(ProbabilityError, match="strictly between 0 and 1"):
            found.column(name).interval(wrong)
        with pytest.raises(InexactNumberError):
            found.column(name).interval(0.95)


# -- averages ----------------------------------------------------------------------------------

VALUES = [1.5, 2.0, None, 40.0, -3.0, 2.5]


def averages(**method):
    """Return the average of the values in a group, and of an empty group, without noise."""
    source = pa.table({"k": ["a"] * len(VALUES), "x": pa.array(VALUES)})
    query = Query().group_by("k", keys=Keys.from_dict({"k": ["a", "b"]}))
    with table(source, dimensions=["k"], measures={"x": "0.5"}) as opened:
        (found,) = answer(opened, query.average("x", rho=2 * EXACTLY, **method))
    return found


def test_a_split_average_is_the_mean_of_what_is_not_null():
    """NULL adds nothing to the total and nothing to the count; an empty group gives 0 over 1."""
    found = averages(split=Split(x=5))
    assert found.table["avg_x"].to_pylist() == pytest.approx([43 / 5, 0])
    assert found.policy == Policy.split(EXACTLY, Split(x=5)) + Policy.constant(EXACTLY)
    assert found.table["avg_x"].to_pylist() != pytest.approx([43 / 6, 0])  # the twin: NULL counted


def test_a_clamped_average_is_centred_on_its_bounds():
    """Values are cut to the bounds; an empty group gives the middle of them."""
    found = averages(clamp=(0, 10))
    assert found.table["avg_x"].to_pylist() == pytest.approx([(1.5 + 2 + 10 + 0 + 2.5) / 5, 5])
    column = found.column("avg_x")
    assert column.centre == 5
    assert column.total.numbers.tolist() == [2 * (32 - 5 * 10), 0]  # twice the grid's distances
    assert found.policy == Policy.constant(2 * EXACTLY)


def test_a_clamped_average_has_noise_from_half_the_width():
    """Sensitivity (U - L)/2: in steps of half the resolution, 2 * (U - L)/2 / 0.5 of them."""
    with table(pa.table({"x": [1.0]}), measures={"x": "0.5"}) as opened:
        (asked,) = Query().average("x", clamp=(90, 100), rho=("0.3", "0.1")).answers
        noise = asked.measurements[0].noise(opened.schema, (), Currency.RHO)
    (law,), _ = noise.laws(keys_of(1))
    assert noise.step == Fraction("0.25")
    assert law.sigma_squared == Fraction(5 / Fraction("0.25")) ** 2 / (2 * Fraction("0.3"))
    plain = Measurement(Rows(), asked.method, "x").noise(opened.schema, (), Currency.RHO)
    (wide,), _ = plain.laws(keys_of(1))  # the twin, not centred: from 100
    assert wide.sigma_squared * plain.step**2 == 400 * law.sigma_squared * noise.step**2


def ratio(total, count, centre=0, step=1):
    """Return an average of given noisy numbers."""
    size = len(total)
    which = np.zeros(size, dtype=np.intp)
    return Ratio(
        "x",
        Estimate("x", np.array(total), Fraction(step), (DiscreteGaussian(400),), which),
        Estimate("x_count", np.array(count), Fraction(1), (DiscreteGaussian(9),), which),
        Fraction(centre),
    )


def test_the_denominator_is_at_least_one():
    """A noisy count of 0 or below is taken as 1."""
    assert ratio([6, 6, 6, 6], [3, 1, 0, -5]).values().to_pylist() == [2, 6, 6, 6]
    assert ratio([6, 6], [3, -5], centre=10, step="1/2").values().to_pylist() == [11, 13]


def test_the_standard_error_of_an_average_is_that_of_the_delta_method():
    """sqrt(sigma_S^2 + mu^2 sigma_C^2) / n, mu being the distance from the centre (T13)."""
    found = ratio([5000, 5000], [100, 100], centre=7)
    wanted = (400 + 50**2 * 9) ** 0.5 / 100
    assert found.standard_errors() == pytest.approx([wanted] * 2, rel=1e-6)


def test_averages_vary_as_the_delta_method_says():
    """50,000 averages of replayed noise: their deviation within 3 percent, so without flicker."""
    count, bits = 50_000, Replayed(2)
    keys = keys_of(count)
    totals, counts = Confidential(np.full(count, 5000)), Confidential(np.full(count, 100))
    total = estimate("x", totals, keys, plan_of(DiscreteGaussian(400)), bits)
    records = estimate("n", counts, keys, plan_of(DiscreteGaussian(9)), bits)
    found = Ratio("x", total, records, Fraction(0))
    spread = np.asarray(found.values()).std()
    assert np.median(found.standard_errors()) == pytest.approx(spread, rel=0.03)
    without_count = np.median(total.standard_errors()) / 100  # the twin: the total's alone
    assert without_count != pytest.approx(spread, rel=0.5)


# -- noise by parts ----------------------------------------------------------------------------

INDUSTRIES = Split.by("industry", {"small": Split(x=5)}, default=Split(x=50))


def industries():
    """Open a table of two industries."""
    source = pa.table({"industry": ["small", "large"], "code": ["s1", "l1"], "x": [5, 50]})
    return table(source, dimensions=["industry", "code"], measures=["x"])


def sigmas(schema, columns, keys):
    """Return sigma^2 of each cell at rho = 0.1."""
    (asked,) = Query().sum("x", split=INDUSTRIES, rho="0.1").answers
    laws, which = asked.measurements[0].noise(schema, columns, Currency.RHO).laws(keys)
    return [laws[each].sigma_squared for each in which]


def test_a_total_over_parts_has_the_noise_of_the_largest_threshold():
    """T11: cells of one industry have their own sigma; a total over both has that of 50."""
    with industries() as opened:
        schema = opened.schema
    five, fifty = (Fraction(t**2) / (2 * Fraction("0.1")) for t in (5, 50))
    assert sigmas(schema, (), keys_of(1)) == [fifty]
    keys = Keys.from_dict({"industry": ["large", "other", "small", None]}).table
    assert sigmas(schema, ("industry",), keys) == [fifty, fifty, five, fifty]
    assert sigmas(schema, ("code",), keys_of(2).rename_columns(["code"])) == [fifty, fifty]
    # A record of 50 in the total: rho by the policy; with sigma from 5 a hundred times as much.
    assert Fraction(50**2) / (2 * fifty) == Fraction("0.1")
    assert Fraction(50**2) / (2 * five) == 100 * Fraction("0.1")


def test_exact_accounting_of_a_total_over_parts_uses_the_noise_of_the_cell():
    """A small industry's record loses less in a total whose noise is for a large one."""
    query = Query().sum("x", split=INDUSTRIES, rho="0.1", accounting="exact")
    by_industry = query.group_by("industry", keys=Keys.from_dict({"industry": ["small", "large"]}))
    record = {"industry": "small", "code": "s1", "x": 5}
    with industries() as opened:
        assert plan(query, opened.schema).policy.loss(record) == Fraction("0.001")
        assert plan(by_industry, opened.schema).policy.loss(record) == Fraction("0.1")


def test_a_dimension_derived_from_the_key_fixes_the_part():
    """Grouped by the full code, the sector that follows from it gives each cell its noise."""
    source = pa.table({"code": ["11a", "21b"], "x": [1, 2]})
    dimensions = {"code": "code", "sector": "substr(code, 1, 2)"}
    scheme = Split.by("sector", {"11": Split(x=5), None: Split(x=7)}, default=Split(x=50))
    keys = Keys.from_dict({"code": ["11a", "11b", "21b", None]})
    query = Query().group_by("code", keys=keys).sum("x", split=scheme, rho="0.5")
    with table(source, dimensions=dimensions, measures=["x"]) as opened:
        (found,) = answer(opened, query)
    column = found.column("sum_x")
    spread = [column.laws[each].sigma_squared for each in column.which]
    assert spread == [25, 25, 2500, 49]
    assert column.standard_errors() == pytest.approx([5, 5, 50, 7], rel=1e-9)


@pytest.mark.parametrize("is_swapped", [False, True])
def test_cells_of_different_parts_are_drawn_from_their_own_laws(is_swapped):
    """100,000 cells of two interleaved parts; replayed bits. Laws swapped are caught."""
    source = pa.table({"k": pa.array([], pa.int64()), "x": pa.array([], pa.int64())})
    source = source.append_column("part", pa.array([], pa.string()))
    scheme = Split.by("part", {"low": Split(x=2)}, default=Split(x=9))
    keys = Keys.from_dict({"k": range(50_000), "part": ["high", "low"]})
    query = Query().group_by("k", "part", keys=keys).sum("x", split=scheme, rho="0.5")
    with table(source, dimensions=["k", "part"], measures=["x"]) as opened:
        (found,) = answer(opened, query, _bits=Replayed(3))
    numbers = found.column("sum_x").numbers
    thresholds = (2, 9) if is_swapped else (9, 2)
    for part, threshold in zip((numbers[::2], numbers[1::2]), thresholds, strict=True):
        assert (p_value(part, DiscreteGaussian(threshold**2)) > FALSE_ALARM) is not is_swapped


# -- epsilon -----------------------------------------------------------------------------------


def test_under_epsilon_the_noise_is_laplace():
    """Scale T/eps in 200,000 empty cells; false alarm 1e-7. Twice the scale is caught."""
    source = pa.table({"k": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
    query = Query().group_by("k", keys=Keys.from_dict({"k": range(200_000)}))
    query = query.sum("x", split=Split(x=3), epsilon="0.5").count(epsilon="0.25")
    with table(source, dimensions=["k"], measures={"x": "0.5"}) as opened:
        (found,) = answer(opened, query)
    total, count = found.columns
    assert total.laws == (DiscreteLaplace(12),)  # 3 / 0.5 units, 0.5 each
    assert count.laws == (DiscreteLaplace(4),)
    assert p_value(total.numbers, DiscreteLaplace(12)) > FALSE_ALARM
    assert p_value(count.numbers, DiscreteLaplace(4)) > FALSE_ALARM
    assert p_value(total.numbers, DiscreteLaplace(24)) < FALSE_ALARM
    assert found.policy == Policy.split(epsilon="0.5", split=Split(x=3)) + Policy.constant(
        epsilon="0.25"
    )
    assert found.policy.loss({"k": 1, "x": 10}) == Fraction("2.25")  # 0.5 * 4 + 0.25


# -- numbers -----------------------------------------------------------------------------------

STEPS = st.sampled_from(["1", "0.01", "0.5", "1000", "0.000001", "0.25", "0.125"]).map(Fraction)
WHOLE = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(-(2**65), 2**65),
    st.integers(-(10**45), 10**45),
    st.sampled_from([2**62, -(2**62), 2**63 - 1, -(2**63), 10**38 - 1, 10**38, -(10**38)]),
)


@given(st.lists(WHOLE, max_size=4), STEPS)
def test_numbers_become_columns_without_any_rounding(numbers, step):
    """Whole steps times the resolution, as rationals, whatever their size."""
    small = all(-(2**63) <= each < 2**63 for each in numbers)
    array = np.array(numbers, dtype=np.int64 if small else np.object_)
    found = to_arrow(array, step)
    assert [Fraction(each) for each in found.to_pylist()] == [each * step for each in numbers]
    assert found.type != pa.float64()


def test_floats_would_be_caught():
    """The broken twin of the exact columns."""
    number = 2**62 + 1
    assert Fraction(float(number)) != number
    assert to_arrow(np.array([number]), Fraction(1)).to_pylist() == [number]


@pytest.mark.parametrize(
    ("number", "step", "kind"),
    [
        (3, "1", pa.int64()),
        (3, "1000", pa.int64()),
        (3, "0.01", pa.decimal128(38, 2)),
        (2**70, "1", pa.decimal128(38, 0)),
        (10**38 - 1, "0.01", pa.decimal128(38, 2)),
        (10**38, "0.01", pa.decimal256(76, 2)),
        (10**76 - 1, "1", pa.decimal256(76, 0)),
        (10**76, "1", pa.float64()),
        (3, "1/3", pa.float64()),
    ],
)
def test_columns_are_of_the_least_type_that_holds_them(number, step, kind):
    """int64, then decimals of 38 and 76 digits; floats only where no decimal will do."""
    found = to_arrow(np.array([number], dtype=np.object_), Fraction(step))
    assert found.type == kind
    (value,) = found.to_pylist()
    assert float(value) == pytest.approx(float(number * Fraction(step)))


@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=4))
def test_noise_is_added_without_overflow(pairs):
    """Near the ends of 64 bits the sum goes on in Python's integers."""
    sides = []
    for numbers in zip(*pairs, strict=True):
        small = all(-(2**63) <= each < 2**63 for each in numbers)
        sides.append(np.array(numbers, dtype=np.int64 if small else np.object_))
    assert added(*sides).tolist() == [first + second for first, second in pairs]


def test_adding_in_64_bits_would_be_caught():
    """The broken twin: numpy wraps around without a word."""
    ends = np.array([2**63 - 1])
    assert (ends + ends).tolist() != added(ends, ends).tolist() == [2**64 - 2]


def test_the_common_step_divides_every_number():
    """And it is the largest 1/n that does."""
    assert common_step((Fraction(1, 4), Fraction(2), Fraction(5, 6))) == Fraction(1, 12)


def test_huge_noise_is_shown_for_what_it_is():
    """A rho of 10^-120 at 10^30 gives noise of order 10^90, not its last 76 digits."""
    with table(pa.table({"x": [1]}), measures=["x"]) as opened:
        query = Query().sum("x", split=Split(x=10**30), rho="1e-120")
        (found,) = answer(opened, query, _bits=Replayed(4))
    (value,) = found.table["sum_x"].to_pylist()
    assert 1e87 < abs(value) < 1e92


def test_a_threshold_beyond_every_number_is_refused():
    """It could only add noise."""
    with (
        table(pa.table({"x": [1]}), measures=["x"]) as opened,
        pytest.raises(QueryError, match="beyond any number"),
    ):
        answer(opened, Query().sum("x", split=Split(x=10**100), rho=1))


# -- the answers of a query --------------------------------------------------------------------


@pytest.fixture
def found():
    """Answer a count, a total, a total beyond 64 bits, an average and a median, without noise."""
    source = pa.table(
        {
            "k": ["a", "b", "b"],
            "x": pa.array([Decimal("1.25"), Decimal("2.50"), None], pa.decimal128(12, 2)),
            "y": [2**62, 2**62, 2**62],
        }
    )
    query = (
        Query()
        .group_by("k", keys=Keys.from_dict({"k": ["c", "b", "a"]}))
        .count(rho=EXACTLY)
        .sum("x", split=Split(x=5), rho=10**12)
        .sum("y", split=Split(y=5), rho=EXACTLY)
        .average("x", split=Split(x=5), rho=10**12)
        .median("x", candidates=[0, "2.5"], rho=EXACTLY)
    )
    with table(source, dimensions=["k"], measures={"x": "0.01", "y": 1}) as opened:
        (answers,) = answer(opened, query)
    return answers


def test_columns_have_the_values_and_types_of_their_answers(found):
    """A row per public key, empty ones too; each number in its measure's own units."""
    assert found.table.to_pylist()[:2] == [
        {"k": "a", "count": 1, "sum_x": Decimal("1.25"), "sum_y": Decimal(2**62),
         "avg_x": 1.25, "median_x": found.table["median_x"][0].as_py()},
        {"k": "b", "count": 2, "sum_x": Decimal("2.50"), "sum_y": Decimal(2**63),
         "avg_x": 2.5, "median_x": Decimal("2.5")},
    ]  # fmt: skip
    assert [found.table[name][2].as_py() for name in ("k", "count", "sum_x")] == ["c", 0, 0]
    kinds = {field.name: field.type for field in found.table.schema}
    assert kinds["count"] == pa.int64()
    assert kinds["sum_x"] == pa.decimal128(38, 2)
    assert kinds["sum_y"] == pa.decimal128(38, 0)
    assert kinds["avg_x"] == pa.float64()
    assert repr(found) == "Answers(3 rows: k, count, sum_x, sum_y, avg_x, median_x)"
    assert "<th>sum_x</th>" in found._repr_html_()


def test_errors_stand_beside_every_answer_that_has_some(found):
    """A standard error and an interval for each; a quantile has none."""
    table_of_errors = found.with_errors("0.9")
    names = ["count", "sum_x", "sum_y", "avg_x"]
    wanted = [f"{name}{end}" for name in names for end in ("", "_se", "_low", "_high")]
    assert table_of_errors.column_names == ["k", *wanted, "avg_x_few_records", "median_x"]
    for row in table_of_errors.to_pylist():
        for name in names:
            if row[f"{name}_low"] is None:  # an average over hardly anybody
                assert row[f"{name}_few_records"]
                continue
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
            assert row[f"{name}_se"] >= 0


def test_batches_make_up_the_table(found):
    """In batches of at most so many rows."""
    batches = list(found.batches(2))
    assert [batch.num_rows for batch in batches] == [2, 1]
    assert pa.Table.from_batches(batches).equals(found.table)
    assert len(found) == 3


def test_answers_and_charges_are_found_by_name(found):
    """An unknown name is answered with those that there are."""
    assert found.column("sum_x").name == "sum_x"
    assert found.policy_of("count") == Policy.constant(EXACTLY)
    assert found.policy == Policy.total(policy for _, policy in found.charges)
    with pytest.raises(QueryError, match=r"no answer 'sum_z'\. There are count, sum_x"):
        found.column("sum_z")
    with pytest.raises(QueryError, match=r"no charge 'keys'\. There are count, sum_x"):
        found.policy_of("keys")


def test_an_empty_key_set_gives_columns_without_rows():
    """With one law for all cells or one for each part; errors as well."""
    keys = Keys.from_columns(pa.table({"industry": pa.array([], pa.string())}))
    query = Query().group_by("industry", keys=keys).count(rho=1)
    query = query.sum("x", split=INDUSTRIES, rho=1).average("x", clamp=(0, 5), rho=1)
    with industries() as opened:
        (found,) = answer(opened, query)
    assert found.table.to_pylist() == []
    assert found.table.column_names == ["industry", "count", "sum_x", "avg_x"]
    assert found.with_errors().num_rows == 0
    assert list(found.column("sum_x").standard_errors()) == []


def test_methods_ask_for_the_noise_of_the_theory():
    """sigma^2 = D^2/(2 rho) with D = 1, T and max(|L|, |U|); U - L would be another D."""
    with industries() as opened:
        schema = opened.schema
    rho = Fraction("0.1")
    for method, measure, most in (
        (Counting(rho), None, 1),
        (Splitting(rho, Split(x=50)), "x", 50),
        (Clamping(rho, Fraction(-7), Fraction(5)), "x", 7),
        (Clamping(rho, Fraction(3), Fraction(5)), "x", 5),
    ):
        noise = Measurement(Rows(), method, measure).noise(schema, (), Currency.RHO)
        (law,), _ = noise.laws(keys_of(1))
        assert law.sigma_squared == Fraction(most) ** 2 / (2 * rho)
        assert law != DiscreteGaussian(Fraction(12) ** 2 / (2 * rho))  # the twin


def test_answers_go_to_frames_and_files(found, tmp_path):
    """Everything beside its errors; the same bytes every time."""
    wanted = found.with_errors().to_pylist()
    assert found.to_polars(exact=True).to_dicts() == wanted
    assert list(found.to_pandas()["count"]) == [row["count"] for row in wanted]
    for name in ("one", "two"):
        found.write_parquet(tmp_path / f"{name}.parquet")
    assert pq.read_table(tmp_path / "one.parquet").to_pylist() == wanted
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    found.write_csv(tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_text().startswith('"k","count","count_se"')


def test_a_notebook_shows_keys_and_names_as_text():
    """Neither becomes markup."""
    keys = Keys.from_dict({"<i>k": ["<script>alert(1)</script>"]})
    shown = Answers(keys.table, (), Policy.zero(), ())._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "&lt;i&gt;k" in shown
    assert "<script" not in shown
    assert "<i>" not in shown


def test_text_that_looks_like_a_formula_is_made_inert(tmp_path):
    """In keys and in names; numbers stay numbers."""
    hostile = ["=1+1", "+1", "-1", "@x", "\tx", "plain", None]
    write_csv(pa.table({"k": hostile, "=n": range(-3, 4)}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        read = list(csv.reader(file))
    assert read[0] == ["k", "'=n"]
    assert [row[0] for row in read[1:]] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "plain", ""]
    assert read[1][1] == "-3"
