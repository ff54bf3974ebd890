"""The integer grid: the same rounding in Python and in the engine, and nothing that raises."""

import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perrecord import Measure, SchemaError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.measures import check_measure, grid_sql, parsed, round_half_away

MEASURES = [
    Measure(),
    Measure("0.01"),
    Measure(1000),
    Measure("2.5"),
    Measure(1, largest=100, outside="cut"),
    Measure("0.5", largest=100),
    Measure(7, outside="cut"),
    Measure("1e-12"),
    Measure(2**40),
]
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
    check_measure("v", measure, kind)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"v": pa.array(values, kind)}))
        sql = grid_sql(measure, "v", kind, DUCKDB)
        return [row[0] for row in connection.sql(f"SELECT {sql} FROM t").fetchall()]


@given(st.data(), st.sampled_from(MEASURES), st.sampled_from(KINDS))
def test_the_engine_rounds_as_python_does(data, measure, kind):
    """Whatever the type, the value and the rule for what is out of range."""
    arrow, values = kind
    found = data.draw(st.lists(values | st.none(), min_size=1, max_size=20))
    assert in_engine(measure, arrow, found) == [measure.grid(value) for value in found]


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
        ("1.005", Decimal("1.005")),
        ("-2.5", Decimal("-2.5")),
        ("1e3", Decimal(1000)),
        ("9999999999999999", Decimal(9999999999999999)),
        ("99999999999999999", None),
        ("", None),
        ("n/a", None),
        ("1,000", None),
        ("1_000", None),
        ("nan", None),
        ("inf", None),
        ("0.00000000005", Decimal("0.0000000001")),
    ],
)
def test_text_of_a_csv_file_is_read_as_a_decimal(written, number):
    """To ten decimals, exactly; what is no number, or too long, is NULL."""
    measure = Measure("1e-10")
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"v": [written]}))
        sql = grid_sql(measure, "v", pa.string(), DUCKDB)
        ((found,),) = connection.sql(f"SELECT {sql} FROM t").fetchall()
    assert parsed(written) == number
    expected = None if number is None or abs(number) > 9 * 10**8 else number
    assert found == measure.grid(expected)


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
