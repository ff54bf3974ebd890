"""Derived measures: exact products and sums on grids, alike in Python and in the engine."""

from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Measure, SchemaError, SQLTextError, Weight, table
from perrecord.tables.arithmetic import arithmetic
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.measures import derived_sql, scaled_on
from perrecord.tables.weights import weighted

LARGE = 10**15
KNOWN = {
    "a": Measure("0.25", largest=LARGE),
    "b": Measure("0.01", largest=LARGE),
    "c": Measure(7, largest=7 * LARGE),
}
EXPRESSIONS = [
    "a * b",
    "a - b",
    "a * b / 3 + c",
    "-(a + 1) * (b - 0.5)",
    "a - a + 0 * b",
    "2.5e-3 * c * c",
    "a / 8 - 1",
]
STEPS = ["1", "0.01", "0.3", "1000", "0.000001"]
GRID = (
    st.none()
    | st.integers(-50, 50)
    | st.integers(-LARGE, LARGE)
    | st.sampled_from([LARGE, -LARGE, 2, 25, 50])
)
ROWS = st.fixed_dictionaries(dict.fromkeys(KNOWN, GRID))


def in_engine(measure, rows):
    """Return the grid numbers that DuckDB gives for rows of grid numbers."""
    found = scaled_on("d", measure, KNOWN)
    columns = {name: pa.array([row[name] for row in rows], pa.int64()) for name in KNOWN}
    with duckdb.connect() as connection:
        connection.register("t", pa.table(columns))
        sql = derived_sql(measure, found, {name: name for name in KNOWN}, DUCKDB)
        return [row[0] for row in connection.sql(f"SELECT {sql} FROM t").fetchall()]


def in_python(measure, row):
    """Return the grid number that the reference gives."""
    numbers = {
        name: None if value is None else value * KNOWN[name].resolution
        for name, value in row.items()
    }
    return measure.grid(measure.expression.value(numbers))


@pytest.mark.parametrize("expression", EXPRESSIONS)
@settings(max_examples=25)
@given(
    st.sampled_from(STEPS),
    st.sampled_from([1, 10**9]),
    st.sampled_from(["null", "cut"]),
    st.lists(ROWS, min_size=1, max_size=30),
)
def test_the_engine_computes_as_python_does(expression, step, largest, outside, rows):
    """Ties, signs, NULL, and values beyond the largest on either side."""
    measure = Measure(
        step, expression=expression, largest=largest * Fraction(step), outside=outside
    )
    assert in_engine(measure, rows) == [in_python(measure, row) for row in rows]


def test_the_value_is_exact_and_rounded_once():
    """A tie of the product goes away from zero; rounding the factors first would give another."""
    measure = Measure("0.01", expression="a * b")
    rows = [
        {"a": 1, "b": 2, "c": 0},
        {"a": -1, "b": 2, "c": 0},
        {"a": 1, "b": 1, "c": None},
        {"a": None, "b": 0, "c": 0},
    ]
    assert in_engine(measure, rows) == [1, -1, 0, None]


def test_what_cancels_out_still_makes_null():
    """0 * b is NULL where b is, as in SQL."""
    measure = Measure(1, expression="a - a + 0 * b")
    rows = [{"a": 4, "b": 1, "c": 0}, {"a": None, "b": 1, "c": 0}, {"a": 4, "b": None, "c": 0}]
    assert in_engine(measure, rows) == [in_python(measure, row) for row in rows] == [0, None, None]


def test_a_table_reads_columns_of_every_type():
    """Decimals, floats and whole numbers are on their grids before they are multiplied."""
    source = pa.table(
        {
            "hours": [40.25, None, 10.1],
            "wage": pa.array([Decimal("12.55"), Decimal("1.00"), None], pa.decimal128(9, 2)),
        }
    )
    measures = {
        "hours": Measure("0.25", largest=1000),
        "wage": Measure("0.01", largest=10**4),
        "pay": Measure("0.01", expression="hours * wage", largest=500, outside="cut"),
    }
    with table(source, measures=measures) as opened:
        (batch,) = opened.engine.batches(opened.select(["pay"]))
        rows = [opened.schema.record(row) for row in source.to_pylist()]
    assert batch["pay"].to_pylist() == [50_000, None, None]
    assert [row["pay"] for row in rows] == [500, None, None]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("hours * upper(wage)", "expected names of measures"),
        ("hours / wage", "divides by a measure"),
        ("hours / 0", "divides by 0"),
        ("12.5", "names no measure"),
        ("hours -- 3", "has a comment"),
        ("hours > 3", "expected names of measures"),
        ("+".join(["(hours"] * 30) + ")" * 30, "levels of nesting"),
        ("*".join(["(a + b + c + d + e)"] * 8), "more than 64 products"),
    ],
)
def test_what_is_no_arithmetic_is_shown(expression, reason):
    """Each with its place, before anything is read."""
    with pytest.raises(SQLTextError, match=reason):
        arithmetic(expression)


def test_overflow_is_refused_before_a_row_is_read():
    """Three measures without a largest value could leave 128 bits; with one they cannot."""
    source = pa.table({"x": [1], "y": [1], "z": [1]})
    cubed = Measure(1, expression="x * y * z")
    with pytest.raises(SchemaError, match="more than 10\\^37 steps"):
        table(source, measures={"x": 1, "y": 1, "z": 1, "d": cubed})
    small = Measure(1, largest=10**9)
    with table(source, measures={"x": small, "y": small, "z": 1, "d": cubed}) as opened:
        assert opened.schema.record({"x": 10**9, "y": 10**9, "z": 10**9})["d"] is None


@pytest.mark.parametrize("names", [["pay", "hours", "wage"], ["pay"]])
def test_measures_are_declared_before_what_is_computed_from_them(names):
    """So that nothing is computed from itself."""
    every = {
        "hours": Measure(1),
        "wage": Measure(1, largest=100),
        "pay": Measure(1, expression="hours * wage"),
    }
    with pytest.raises(SchemaError, match="'hours' is not a measure that is declared before it"):
        table(pa.table({"hours": [1], "wage": [1]}), measures={name: every[name] for name in names})


def test_one_name_means_one_thing():
    """The text that a ledger holds changes with whatever a derived measure is computed from."""
    source = pa.table({"hours": [1], "wage": [1]})

    def meaning(step):
        measures = {
            "hours": Measure(step),
            "wage": Measure(1, largest=100),
            "pay": Measure(1, expression="hours * wage"),
        }
        with table(source, measures=measures) as opened:
            return opened.schema.meaning("pay")

    assert meaning(1) != meaning("0.5")
    assert "hours * wage in steps of 1" in meaning(1)


def test_the_text_reads_back():
    """What people are shown is the same arithmetic, whatever was typed."""
    for written in [*EXPRESSIONS, '"my pay" * a', "a * a * 1e-3 - b / 7"]:
        found = arithmetic(written)
        assert arithmetic(str(found)) == found


def test_a_weight_is_cut_and_multiplies_exactly():
    """The weight is held to its largest value first; a product of both grids loses nothing."""
    measures = weighted({"emp": Measure(1, largest=1000)}, Weight("w", "0.001", largest=2))
    source = pa.table({"w": [1.2345, 5.0, -9.0, None], "emp": [3, 3, 3, 3]})
    with table(
        source, measures={"emp": Measure(1, largest=1000)}, weight=Weight("w", "0.001", largest=2)
    ) as opened:
        assert dict(opened.schema.measures) == measures
        (batch,) = opened.engine.batches(opened.select(["w", "weighted_emp"]))
        records = [opened.schema.record(row) for row in source.to_pylist()]
    assert batch["w"].to_pylist() == [1235, 2000, -2000, None]
    assert batch["weighted_emp"].to_pylist() == [3705, 6000, -6000, None]
    assert [each["weighted_emp"] for each in records] == [Fraction("3.705"), 6, -6, None]


def test_calibrated_weights_are_refused():
    """With the reason and with the ways out."""
    with pytest.raises(
        SchemaError, match=r"depend on other records.*Freeze.*calibrate the published"
    ):
        Weight("w", largest=100, calibrated=True)


@pytest.mark.parametrize(
    ("measures", "reason"),
    [
        ({"w": Measure(1)}, "as the weight and as a measure"),
        ({"emp": Measure(1), "weighted_emp": Measure(1)}, "give the measure of that name another"),
        ({"emp": Measure("0.000000000001")}, "too fine to be counted"),
    ],
)
def test_a_weight_that_does_not_fit_is_refused(measures, reason):
    """No name means two things, and no grid is finer than is counted."""
    with pytest.raises(SchemaError, match=reason):
        weighted(measures, Weight("w", "0.001", largest=2))
