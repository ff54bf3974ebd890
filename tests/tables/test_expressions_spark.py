"""Expressions on Spark in ANSI mode: the same values as `evaluate`, bit for bit."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings

from perrecord import table
from perrecord.tables.dialects import SPARK
from perrecord.tables.expressions import describe, evaluate, to_sql
from tests import first
from tests.tables.random_expressions import (
    EDGE,
    FIELDS,
    TYPES,
    character_rows,
    expressions,
    on_characters,
    record_of,
    rows,
)

pytestmark = pytest.mark.spark

_SPARK_TYPES = {"string": "string", "int64": "bigint", "bool": "boolean"}


@pytest.fixture(scope="module")
def spark():
    """A local Spark session in ANSI mode that says nothing."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def gathered(strategy, count):
    """Return different draws of a strategy, to be tried together in one query."""
    found = []

    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(strategy)
    def gather(drawn):
        found.append(drawn)

    gather()
    return found


def check(spark, tried, given_rows):
    """Compare Spark's values with `evaluate`'s, many expressions to a query."""
    schema = ", ".join(
        f"{SPARK.identifier(name)} {_SPARK_TYPES[TYPES[field.kind]]}"
        for name, field in FIELDS.items()
    )
    identifiers = {name: SPARK.identifier(name) for name in FIELDS}
    numbered = [(n, *(row[name] for name in FIELDS)) for n, row in enumerate(given_rows)]
    spark.createDataFrame(numbered, f"row bigint, {schema}").createOrReplaceTempView("given")
    for start in range(0, len(tried), 30):
        batch = tried[start : start + 30]
        written = [to_sql(each, FIELDS, identifiers, SPARK) for each in batch]
        found = spark.sql(f"SELECT {', '.join(written)} FROM given ORDER BY row").collect()
        for place, expression in enumerate(batch):
            expected = [evaluate(expression, record_of(row)) for row in given_rows]
            values = [row[place] for row in found]
            assert values == expected, describe(expression)
            assert [type(value) for value in values] == [type(value) for value in expected]


@pytest.mark.parametrize(("escaped", "count"), [("false", 40), ("true", 10)])
@pytest.mark.parametrize("times", first(1, [1, 2]))
def test_spark_gives_what_evaluate_gives(spark, escaped, count, times):
    """Whatever the session's setting of escapes, and no row raises."""
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    edges = [dict.fromkeys(FIELDS), dict.fromkeys(FIELDS) | {"size": -EDGE, "emp": EDGE - 1}]
    try:
        check(spark, gathered(expressions, times * count), gathered(rows, 25) + edges)
    finally:
        spark.conf.set("spark.sql.parser.escapedStringLiterals", "false")


def test_spark_counts_code_points(spark):
    """`_` and SUBSTRING count code points, % spans lines, and a backslash is itself."""
    check(spark, on_characters(), character_rows())


def test_moments_are_the_same_text_on_spark(spark):
    """In any time zone of the session, also at an hour that its clocks leave out."""
    moments = [
        *(dt.datetime(2024, 3, 10, 2, 30), dt.datetime(2024, 2, 29, 8, 30, 1, 500000)),
        *(dt.datetime(1, 1, 1, 0, 0, 0, 1), dt.datetime.max, None),
    ]
    roles = {"seen": "seen", "quarter": "quarter(seen)", "month": "date_trunc('month', seen)"}
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    values = ", ".join(f"({'NULL' if each is None else repr(str(each))})" for each in moments)
    frame = spark.sql(f"SELECT CAST(t AS TIMESTAMP_NTZ) AS seen FROM VALUES {values} AS v(t)")
    with table(frame, dimensions=roles) as opened:
        found = opened.engine.frame(opened.select([*roles])).collect()
    source = pa.table({"seen": pa.array(moments, pa.timestamp("us"))})
    with table(source, dimensions=roles) as opened:
        expected = opened.engine.frame(opened.select([*roles])).to_pylist()
    assert [row.asDict() for row in found] == expected
