"""Expressions: DuckDB computes what `evaluate` says, on every row; what does not fit is refused."""

from fractions import Fraction
from functools import cache

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InputError, MissingFieldError, QueryError, RecordError, SchemaError
from perrecord.tables.dialects import DUCKDB, SPARK
from perrecord.tables.expressions import (
    Case,
    Coalesce,
    Column,
    Comparison,
    Concat,
    In,
    Like,
    Literal,
    Operator,
    Quotient,
    Substring,
    as_cases,
    columns_of,
    describe,
    evaluate,
    kind_of,
    to_sql,
)
from perrecord.tables.fields import Kind, TypedColumn
from perrecord.tables.parse import parse_expression
from tests.tables.random_expressions import (
    EDGE,
    FIELDS,
    arrow_table,
    character_rows,
    expressions,
    on_characters,
    record_of,
    rows,
    texts,
    truths,
)

IDENTIFIERS = {name: DUCKDB.identifier(name) for name in FIELDS}


def on_duckdb(expression, given_rows):
    """Return the expression's value on every row, computed by DuckDB."""
    sql = to_sql(expression, FIELDS, IDENTIFIERS, DUCKDB)
    connection = opened()
    connection.register("given", arrow_table(given_rows))
    found = connection.execute(f"SELECT {sql} FROM given ORDER BY row").fetchall()
    return [value for (value,) in found]


@cache
def opened():
    """Return one connection for all examples: opening one takes longer than most queries."""
    return duckdb.connect()


def same(found, expected):
    """Return whether values agree, truth values not being numbers."""
    return found == expected and [type(value) for value in found] == [
        type(value) for value in expected
    ]


@settings(max_examples=160)
@given(expressions, st.lists(rows, min_size=1, max_size=6))
def test_duckdb_gives_what_evaluate_gives(expression, given_rows):
    """The engine and the reference agree bit for bit, and no row raises."""
    expected = [evaluate(expression, record_of(row)) for row in given_rows]
    assert same(on_duckdb(expression, given_rows), expected)


def test_duckdb_counts_code_points():
    """`_` and SUBSTRING count code points, % spans lines, and a backslash is itself."""
    given_rows = character_rows()
    for expression in on_characters():
        expected = [evaluate(expression, record_of(row)) for row in given_rows]
        assert same(on_duckdb(expression, given_rows), expected), describe(expression)


@settings(max_examples=120)
@given(expressions)
def test_the_description_parses_back(expression):
    """What is shown to people is the same expression."""
    assert parse_expression(describe(expression)) == expression


@given(st.text(min_size=1) | st.sampled_from(["end", "left", "E", "date", "IF", "row", "case"]))
def test_any_name_of_a_column_parses_back(name):
    """Keywords and odd characters are quoted."""
    if all(character.isprintable() or character in "\n\t" for character in name):
        condition = Comparison(Operator.EQUAL, Column(name), Literal("x"))
        assert parse_expression(describe(condition)) == condition


@settings(max_examples=120)
@given(truths, rows)
def test_listed_cases_say_exactly_which_rows_pass(expression, row):
    """Where a filter's values are listed, a row passes exactly when it has one of each."""
    cases = as_cases(expression)
    record = record_of(row)
    if cases is not None:
        passes = all(record[name] in values for name, values in cases.items())
        assert (evaluate(expression, record) is True) == passes


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("state = 'NC'", {"state": {"NC"}}),
        ("'NC' = state AND size IN (1, 2)", {"state": {"NC"}, "size": {1, 2}}),
        ("state IN ('NC', NULL) AND closed", {"state": {"NC"}, "closed": {True}}),
        ("state IS NULL OR state = 'NC'", {"state": {None, "NC"}}),
        (
            "state IN ('NC', 'VA') AND (state = 'VA' AND NOT closed)",
            {"state": {"VA"}, "closed": {False}},
        ),
        ("state IS NOT DISTINCT FROM NULL", {"state": {None}}),
        ("state = NULL", {"state": set()}),
        ("state = 'NC' OR size = 1", None),
        ("state = 'NC' AND size > 1", None),
        ("state <> 'NC'", None),
        ("NOT (state = 'NC')", None),
    ],
)
def test_cases_are_listed_where_they_can_be(text, cases):
    """Equalities, lists and IS NULL on single columns, joined by AND, can be listed."""
    found = as_cases(parse_expression(text))
    assert found == cases


@settings(max_examples=200)
@given(st.sampled_from(["emp", "area", "size"]), st.sampled_from(Operator), rows, st.data())
def test_a_bound_next_to_the_value_decides_exactly(name, operator, row, data):
    """A measure or whole number meets a number that differs from it by less than its grid."""
    value = record_of(row)[name]
    near = st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(-1, 1000)])
    bound = (value or 0) + data.draw(near)
    expression = Comparison(operator, Column(name), Literal(bound))
    assert same(on_duckdb(expression, [row]), [evaluate(expression, record_of(row))])


BOUNDS = [
    ("emp > 12.5", "(emp > CAST(125 AS BIGINT))"),
    ("emp > 12.55", "(emp > CAST(125 AS BIGINT))"),
    ("emp >= 12.55", "(emp >= CAST(126 AS BIGINT))"),
    ("emp < 12.55", "(emp < CAST(126 AS BIGINT))"),
    ("emp <= -12.55", "(emp <= CAST(-126 AS BIGINT))"),
    ("12.55 < emp", "(emp > CAST(125 AS BIGINT))"),
    ("emp = 0.05", f"(emp > CAST({EDGE - 1} AS BIGINT))"),
    ("emp <> 0.05", f"(emp <= CAST({EDGE - 1} AS BIGINT))"),
    ("area = 5", "(area = CAST(2 AS BIGINT))"),
    ("size < 1e30", f"(size <= CAST({EDGE - 1} AS BIGINT))"),
    ("size < -1e30", f"(size > CAST({EDGE - 1} AS BIGINT))"),
    (f"size >= -{EDGE}", f"(size >= CAST('-{EDGE}' AS BIGINT))"),
    ("size IN (1, 1.5)", "(size IN (CAST(1 AS BIGINT)))"),
    ("size IS DISTINCT FROM 1.5", "TRUE"),
]


@pytest.mark.parametrize(("text", "sql"), BOUNDS)
def test_bounds_become_integers(text, sql):
    """A measure's bound is counted in its resolution; what no value can equal decides alone."""
    assert to_sql(parse_expression(text), FIELDS, {name: name for name in FIELDS}, DUCKDB) == sql


MISFITS = [
    ("stat = 'NC'", SchemaError, "no column 'stat'. Columns are state"),
    ("stat = 'NC'", SchemaError, "Did you mean 'state'?"),
    ("STATE = 'NC'", SchemaError, "Did you mean 'state'?"),
    ("state = 37", QueryError, "state is text and 37 is whole numbers: they cannot be compared;"),
    ("state = 37", QueryError, "write it in quotes: '37'."),
    ("size = 'x'", QueryError, "cannot be compared"),
    ("closed = 1", QueryError, "closed is truth values and 1 is whole numbers"),
    ("closed < TRUE", QueryError, "expected = or <>"),
    ("size", None, ""),
    ("size AND closed", QueryError, "size is whole numbers; expected a condition."),
    ("NOT state", QueryError, "expected a condition"),
    ("state IN ('NC', 5)", QueryError, "cannot be compared"),
    ("size LIKE '4%'", QueryError, "expected text before LIKE"),
    ("SUBSTR(size, 1, 2)", QueryError, "write CAST(... AS VARCHAR) around whole numbers"),
    ("state || size", QueryError, "write CAST(... AS VARCHAR) around whole numbers"),
    ("CAST(state AS VARCHAR)", QueryError, "expected whole numbers in CAST"),
    ("state % 2", QueryError, "expected whole numbers before // and %"),
    ("emp % 2", QueryError, "emp is a measure; expected whole numbers"),
    ("CAST(emp AS VARCHAR)", QueryError, "emp is a measure; expected whole numbers"),
    ("COALESCE(emp, 0) > 5", QueryError, "emp is a measure, and COALESCE cannot give one"),
    ("CASE WHEN closed THEN emp END", QueryError, "emp is a measure, and CASE cannot give one"),
    ("emp > size", QueryError, "Compare a measure with a number"),
    ("emp = 'x'", QueryError, "Compare a measure with a number"),
    ("emp > area", QueryError, "measures of different resolutions"),
    ("emp > pay", None, ""),
    ("emp IS NULL", None, ""),
    ("emp BETWEEN 0.5 AND 1e40", None, ""),
    ("CASE WHEN closed THEN 1.5 END", QueryError, "1.5 is not a whole number of 64 bits"),
    (f"COALESCE(size, {EDGE})", QueryError, "is not a whole number of 64 bits"),
    ("CASE WHEN closed THEN 1 ELSE 'a' END", QueryError, "cannot both be results of CASE"),
    ("CASE WHEN size THEN 1 END", QueryError, "expected a condition after WHEN"),
    ("COALESCE(NULL, NULL)", QueryError, "is always NULL"),
]


@pytest.mark.parametrize(("text", "error", "fragment"), MISFITS)
def test_what_does_not_fit_is_named(text, error, fragment):
    """The message names the column, says what was expected and what to type."""
    expression = parse_expression(text)
    if error is None:
        assert kind_of(expression, FIELDS) in Kind
        return
    with pytest.raises(error) as caught:
        kind_of(expression, FIELDS)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Literal(0.5),
        lambda: Literal(Fraction(1, 3)),
        lambda: Literal("\ud800"),
        lambda: Literal(10**5000),
        lambda: In(Column("state"), ()),
        lambda: Case(()),
        lambda: Coalesce((Column("state"),)),
        lambda: Concat((Column("state"),) * 101),
        lambda: Like(Column("state"), "%a" * 9),
        lambda: Substring(Column("state"), 0, 1),
        lambda: Substring(Column("state"), 1, -1),
        lambda: Quotient(Column("size"), 0),
    ],
)
def test_values_that_mean_nothing_cannot_be_built(build):
    """Each node checks itself."""
    with pytest.raises(InputError):
        build()


def test_a_record_that_does_not_fit_is_refused_without_its_values():
    """Messages about records name fields, never values."""
    condition = parse_expression("state = 'NC'")
    with pytest.raises(MissingFieldError, match="no field 'state'"):
        evaluate(condition, {})
    for value in (37.25, 37):
        with pytest.raises(RecordError) as caught:
            evaluate(condition, {"state": value})
        assert "37" not in str(caught.value)
    with pytest.raises(RecordError, match="truth value"):
        evaluate(parse_expression("NOT closed"), {"closed": "secret"})


def test_literals_of_different_types_are_different():
    """TRUE is not 1, and 2.0 is 2."""
    assert len({Literal(True), Literal(1), Literal("1"), Literal(Fraction(2, 2))}) == 3


def test_the_columns_are_all_found():
    """Whatever the place that a column stands in."""
    text = "CASE WHEN a = 1 THEN b || c ELSE COALESCE(SUBSTR(d, 1, 2), e) END IN ('x') OR f IS NULL"
    assert columns_of(parse_expression(text)) == set("abcdef")


@given(texts)
def test_spark_reads_no_escapes_or_variables(text):
    """What Spark could read in another way is written as bytes."""
    literal = SPARK.literal(text)
    assert not set("\\$\n\0") & set(literal)
    if literal.startswith("CAST(X'"):
        assert bytes.fromhex(literal[len("CAST(X'") : -len("' AS STRING)")]).decode() == text
    else:
        assert literal == f"'{text}'"


def test_long_filters_work():
    """Thousands of values in a list, and of parts joined by OR, reach the engine."""
    row = dict.fromkeys(FIELDS) | {"size": 1234}
    listed = parse_expression(f"size IN ({', '.join(map(str, range(4_000)))})")
    joined = parse_expression(" OR ".join(f"size = {number}" for number in range(2_000)))
    for expression in (listed, joined):
        assert evaluate(expression, record_of(row)) is True
        assert on_duckdb(expression, [row]) == [True]
        assert parse_expression(describe(expression)) == expression


def test_a_field_without_resolution_is_whole():
    """A measure without a declared resolution counts units."""
    fields = {"emp": TypedColumn("emp", Kind.MEASURE, Fraction(1))}
    assert to_sql(parse_expression("emp > 2.5"), fields, {"emp": "g"}, DUCKDB) == (
        "(g > CAST(2 AS BIGINT))"
    )
