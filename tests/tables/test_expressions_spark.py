"""Expressions on Spark in ANSI mode: the same values as `evaluate`, bit for bit."""

import pytest
from hypothesis import Phase, given, settings

from perrecord.tables.dialects import SPARK
from perrecord.tables.expressions import describe, evaluate, to_sql
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


@pytest.mark.parametrize(("escaped", "count"), [("false", 80), ("true", 20)])
def test_spark_gives_what_evaluate_gives(spark, escaped, count):
    """Whatever the session's setting of escapes, and no row raises."""
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    edges = [dict.fromkeys(FIELDS), dict.fromkeys(FIELDS) | {"size": -EDGE, "emp": EDGE - 1}]
    check(spark, gathered(expressions, count), gathered(rows, 25) + edges)


def test_spark_counts_code_points(spark):
    """`_` and SUBSTRING count code points, % spans lines, and a backslash is itself."""
    check(spark, on_characters(), character_rows())
