"""The integer grid: the same rounding in Python and in the engine, and nothing that raises."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perrecord import Measure, SchemaError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.measures import check_measure, grid_sql, round_half_away
from perrecord.tables.written import parsed
from tests.tables.random_numbers import KNOWN, MEASURES, a_decimal, a_float, a_text

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(
    [2**63 - 1, -(2**63), 2**62, 499, 500, 501, -500, 1500, 2500, 0]
)
FLOATS = (
    st.floats()
    | st.integers(-(10**6), 10**6).map(lambda n: n / 200)
    | st.sampled_from(
        [0.49999999999999994, 4503599627370497.5, 9.3e18, -9.3e18, 1e300, 1.005, -0.5, 2.5]
    )
)
DECIMALS = st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n).scaleb(-4))
KINDS = [
    (pa.int64(), WHOLE),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float64(), FLOATS),
    (pa.float32(), st.floats(width=32)),
    (pa.decimal128(18, 4), DECIMALS),
    (pa.decimal128(20, 0), st.integers(-(10**20) + 1, 10**20 - 1).map(Decimal)),
]


def in_engine(measure, kind, values):
    """Return the grid numbers that DuckDB gives."""
    check_measure("v", measure, kind, may_be_text=True)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"v": pa.array(values, kind)}))
        sql = grid_sql(measure, "v", kind, DUCKDB)
        return [row[0] for row in connection.sql(f"SELECT {sql} FROM t").fetchall()]


@given(st.data(), st.sampled_from(MEASURES), st.sampled_from(KINDS))
def test_the_engine_rounds_as_python_does(data, measure, kind):
    """Whatever the type, the value and the rule for what is out of range."""
    arrow, values = kind
    found = data.draw(st.lists(values | st.none(), min_size=1, max_size=20))
    held = [held_in(arrow, value) for value in found]
    assert in_engine(measure, arrow, found) == [measure.grid(value) for value in held]


def held_in(kind, value):
    """Return a value as Python has it: only a 32-bit float says that it is one."""
    return np.float32(value) if kind == pa.float32() and value is not None else value


def test_rounding_half_to_even_would_be_noticed():
    """A twin with banker's rounding differs from the engine at every tie."""
    ties = [500, 1500, -2500]
    assert in_engine(Measure(1000), pa.int64(), ties) == [1, 2, -3]
    assert [round(Fraction(tie, 1000)) for tie in ties] == [0, 2, -2]


@given(st.fractions())
@example(Fraction(1, 2))
@example(Fraction(-1, 2))
@example(Fraction(5, 2))
def test_ties_go_away_from_zero(value):
    """The nearest whole number; at a tie the larger in size."""
    nearest = round_half_away(value)
    assert abs(nearest - value) <= Fraction(1, 2)
    if abs(nearest - value) == Fraction(1, 2):
        assert abs(nearest) > abs(value)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1.005", "1.005"),
        (" -2.5\t", "-2.5"),
        ("1e3", 1000),
        ("1.8888888888888888e+16", 18888888888888888),
        ("1.8888888888888888e+18", 1888888888888888800),
        ("27835881828832004E-14", "278.35881828832004"),
        ("99999999999999999", 99999999999999999),
        ("0.00000000005", "5e-11"),
        ("-0", 0),
        ("1e400", 10**400),
        ("9" * 400, 10**400 - 1),
        ("9" * 401, None),
        ("", None),
        ("n/a", None),
        ("1,000", None),
        ("1_000", None),
        ("1e1000", None),
        ("nan", None),
        ("inf", None),
        ("\u0661", None),
        ("1\u00a0", None),
    ],
)
def test_text_is_the_number_that_is_written(written, number):
    """Exactly; what is no number is None."""
    assert parsed(written) == (None if number is None else Fraction(number))


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("count", [1_000, pytest.param(300_000, marks=pytest.mark.audit)])
def test_the_engine_reads_text_as_python_does(measure, count):
    """Every spelling of a number, near ties and ends of the range, and what is none: none fails."""
    rng = random.Random(count)
    texts = KNOWN + [a_text(rng) for _ in range(count)]
    assert in_engine(measure, pa.string(), texts) == [measure.grid(each) for each in texts]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("count", [1_000, pytest.param(300_000, marks=pytest.mark.audit)])
def test_the_engine_reads_floats_as_python_does(measure, kind, count):
    """Any bits, ties and their neighbours, whole numbers up to 2^63."""
    rng = random.Random(count)
    with np.errstate(over="ignore"):
        floats = [held_in(kind, a_float(rng)) for _ in range(count)]
    assert in_engine(measure, kind, floats) == [measure.grid(each) for each in floats]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize(
    ("digits", "kind"), [(14, pa.float64()), (6, pa.float32())], ids=["float64", "float32"]
)
@pytest.mark.parametrize("count", [1_000, pytest.param(300_000, marks=pytest.mark.audit)])
def test_a_number_is_read_alike_from_text_and_from_floats(measure, digits, kind, count):
    """Ties included: what is published need not say which type the data was stored in."""
    rng = random.Random(count)
    texts = [a_decimal(rng, digits, measure) for _ in range(count)]
    floats = [held_in(kind, float(each)) for each in texts]
    assert [measure.grid(each) for each in floats] == [measure.grid(each) for each in texts]


@pytest.mark.parametrize(
    ("value", "resolution", "steps"),
    [
        (1.005, "0.01", 101),
        (np.float32(1.005), "0.01", 101),
        (np.float32(0.35), "0.1", 4),
        (89.91499999999, "0.01", 8991),
        (float(2**53), 1, 2**53),
        (float(2**62 + 2**10), 3, round_half_away(Fraction(2**62 + 2**10, 3))),
        (999999999999999.0, "0.01", 99999999999999900),
        (8000499.0, 1000, 8000),
        (np.float32(8000499), 1000, 8000),
        (0.49999999999999994, 1, 1),
    ],
)
def test_a_float_is_the_decimal_that_was_written_into_it(value, resolution, steps):
    """Whole numbers are exact; the others are a tie when within a hair of one."""
    assert Measure(resolution).grid(value) == steps


def test_what_a_policy_sees_is_the_rounded_number():
    """P and the page see the value on the grid."""
    assert Measure("0.01").number(1.239) == Fraction("1.24")
    assert Measure(10).number(15) == 20
    assert Measure(largest=5, outside="cut").number(-7) == -5
    assert Measure().number(math.nan) is None


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (0, {}, "expected a number above 0"),
        ("-1", {}, "expected a number above 0"),
        ("1/3", {}, "expected a decimal"),
        ("1e-13", {}, "expected a decimal"),
        (1, {"outside": "drop"}, "expected 'null' or 'cut'"),
        (2, {"largest": 3}, "expected a multiple of the resolution"),
        (1, {"largest": 2**64}, "expected a multiple of the resolution"),
        (0.1, {}, "is a float"),
    ],
)
def test_a_measure_that_is_none_is_refused(given, options, message):
    """Resolution, range and rule are checked when they are declared."""
    with pytest.raises(ValueError, match=message):
        Measure(given, **options)


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.decimal128(38, 2), pa.binary()],
)
def test_a_column_that_is_no_number_is_refused(kind):
    """Text, truth values, dates, and decimals whose products would not fit."""
    with pytest.raises(SchemaError, match="the measure 'pay' is"):
        check_measure("pay", Measure(), kind)
