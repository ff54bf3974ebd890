"""Every kind of query on DuckDB and on Spark: the same integers, bit for bit, before any noise."""

import math
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from perrecord import (
    InputError,
    Keys,
    Lookup,
    Measure,
    Query,
    SelectKeys,
    SourceError,
    Split,
    table,
)
from perrecord.confidential.revealing import revealed
from perrecord.lab.audit import random_derived, random_queries, random_tables
from perrecord.mechanisms.rows import plan_rows, run_rows
from perrecord.queries.aggregates import Pieces
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.tables.dialects import SPARK
from perrecord.tables.measures import grid_sql
from perrecord.tables.readable import check_readable
from tests import first
from tests.queries.reference import exact, reference
from tests.tables.random_numbers import MEASURES, a_float
from tests.tables.test_measures import held_in
from tests.tables.test_table import FAR, FAR_TEXT

pytestmark = pytest.mark.spark

RANDOM = Random(8)
SAMPLES = {
    pa.int64(): [2**63 - 1, -(2**63), 2**62, 499, 500, 501, -500, 1500, 2500, 0]
    + [RANDOM.randrange(-(2**63), 2**63) for _ in range(200)]
    + [RANDOM.randrange(-5000, 5000) for _ in range(200)],
    pa.int32(): [2**31 - 1, -(2**31)] + [RANDOM.randrange(-9000, 9000) for _ in range(200)],
    pa.float64(): [math.nan, math.inf, -math.inf, 0.49999999999999994, 4503599627370497.5]
    + [9.3e18, -9.3e18, 1e300, -1.7e308, 1.005, -0.5, 2.5, 5e-324]
    + [RANDOM.uniform(-1e6, 1e6) for _ in range(200)]
    + [RANDOM.randrange(-(10**6), 10**6) / 200 for _ in range(200)]
    + [a_float(RANDOM) for _ in range(2000)],
    pa.float32(): [math.nan, math.inf, -math.inf, 1.005, 0.35, 8000499.0, 3.4e38]
    + [RANDOM.uniform(-1e6, 1e6) for _ in range(200)]
    + [RANDOM.randrange(-(10**6), 10**6) / 200 for _ in range(1000)],
    pa.decimal128(18, 4): [Decimal("0.05"), Decimal("-0.15"), Decimal("99999999999999.9999")]
    + [Decimal(RANDOM.randrange(-(10**18), 10**18)).scaleb(-4) for _ in range(300)],
    pa.decimal128(20, 0): [Decimal(10**20 - 1), Decimal(1 - 10**20), Decimal(500)]
    + [Decimal(RANDOM.randrange(-(10**20) + 1, 10**20)) for _ in range(300)],
}


def on_both(spark, arrow, **roles):
    """Open the same rows on DuckDB and on Spark."""
    return table(arrow, **roles), table(spark.createDataFrame(arrow), **roles)


@pytest.mark.parametrize("seed", first(2, range(8)))
def test_random_workloads_give_the_same_integers(spark, seed):
    """Nulls, negatives, unicode keys, huge values, empty groups, roll-ups, splits, quantiles."""
    random = Random(seed)
    rows = random_tables.rows(random, 120)
    workload = [random_queries.query(random) for _ in range(4)]
    duckdb, sparkly = on_both(spark, random_tables.arrow(rows), **random_tables.DECLARED)
    with duckdb, sparkly:
        planned = plan(workload, duckdb.schema)
        on_spark = plan(workload, sparkly.schema)
        assert exact(planned, duckdb) == exact(on_spark, sparkly) == reference(planned, rows)


def test_dates_are_the_same_text(spark):
    """Spark writes +10000-01-01 and -0044-03-15 where DuckDB writes something else."""
    days = spark.createDataFrame([(each,) for each in FAR[:5]], "n int")
    frame = days.selectExpr("date_from_unix_date(n) AS day")
    with table(frame, dimensions=["day"]) as opened:
        found = opened.engine.frame(opened.select(["day"])).toArrow()
    assert found["day"].to_pylist() == FAR_TEXT[:5]


ODD = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.legacy.integerGroupingId": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.legacy.parseNullPartitionSpecAsStringLiteral": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.allowNegativeScaleOfDecimal": "true",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.mark.parametrize("seed", first(1, range(2)))
def test_no_setting_of_the_session_changes_a_number(spark, seed):
    """What could change a meaning is refused at opening; these do not."""
    random = Random(100 + seed)
    rows = random_tables.rows(random, 80)
    workload = [random_queries.query(random) for _ in range(4)]
    before = {name: spark.conf.get(name, None) for name in ODD}
    for name, value in ODD.items():
        spark.conf.set(name, value)
    try:
        frame = spark.createDataFrame(random_tables.arrow(rows))
        with table(frame, **random_tables.DECLARED) as opened:
            planned = plan(workload, opened.schema)
            assert exact(planned, opened) == reference(planned, rows)
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def test_a_setting_that_matters_is_seen_when_it_is_changed_later(spark):
    """Without ANSI mode a sum beyond its type would be NULL, and no error."""
    with table(spark.range(3), measures=["id"]) as opened:
        planned = plan(Query().sum("id", split=Split(id=1), rho=1), opened.schema)
        spark.conf.set("spark.sql.ansi.enabled", "false")
        try:
            with pytest.raises(SourceError, match="expected true"):
                exact(planned, opened)
        finally:
            spark.conf.set("spark.sql.ansi.enabled", "true")


def test_collations_of_spark_do_not_merge_keys(spark):
    """Text is compared byte by byte, also where a column says otherwise."""
    frame = spark.sql(
        "SELECT s COLLATE UTF8_LCASE AS s FROM VALUES ('nc'), ('NC'), ('Nc'), ('nc ') AS t(s)"
    )
    keys = Keys.from_dict({"s": ["nc", "NC", "Nc", "nc "]})
    asked = [
        Query().group_by("s", keys=keys).count(rho=1),
        Query().where("s = 'nc'").count(rho=1),
        Query().count_distinct("s", rho=1),
    ]
    with table(frame, unit="s", dimensions=["s"]) as opened:
        found = exact(plan(asked, opened.schema), opened)
    assert [[*map(int, each)] for values, _ in found for each in values.values()] == [
        [1, 1, 1, 1],
        [1],
        [4],
    ]


def test_an_empty_table_gives_zeros_on_both(spark):
    """Every declared key is there, with nothing in it."""
    random = Random(3)
    workload = [random_queries.query(random) for _ in range(3)]
    duckdb, sparkly = on_both(spark, random_tables.arrow([]), **random_tables.DECLARED)
    with duckdb, sparkly:
        found = exact(plan(workload, sparkly.schema), sparkly)
        assert found == exact(plan(workload, duckdb.schema), duckdb)
        assert all(not any(each) for values, _ in found for each in values.values())


def test_pieces_of_selected_keys_are_the_same(spark):
    """Key selection counts the same split rows under the same keys, in the same order."""
    random = Random(5)
    arrow = random_tables.arrow(random_tables.rows(random, 150))
    split = Split.by("sector", {"farm": Split(emp=3), None: Split(pay=2)}, Split(emp=7, rent=5))
    keys = SelectKeys(rho=1, delta="1e-6", split=split)
    asked = Query().group_by("sector", "big", keys=keys).count(rho=1)
    found = []
    for opened in on_both(spark, arrow, **random_tables.DECLARED):
        with opened, scanned(plan(asked, opened.schema), opened) as cells:
            occupied = cells[0].occupied(("sector", "big"), Pieces(split))
            numbers = [int(each) for each in revealed(occupied.numbers)]
            found.append((revealed(occupied.keys).to_pylist(), numbers))
    assert found[0] == found[1]
    assert len(found[0][1]) > 20


def _in_arrow(frame):
    """Return what the engine's own frame holds, as Arrow."""
    return frame if isinstance(frame, pa.Table) else frame.toArrow()


def test_split_rows_are_the_same(spark):
    """Written out in the engine, sorted, in Arrow or as a Spark DataFrame."""
    random = Random(9)
    arrow = random_tables.arrow(random_tables.rows(random, 60))
    split = random_queries.scheme(random, "emp").capped(9)
    asked = {"columns": ["id", "sector", "emp", "pay", "rent"], "rho": 1, "split": split}
    found = []
    for opened in on_both(spark, arrow, **random_tables.DECLARED):
        with opened:
            planned = plan_rows(opened, lambda rows: rows, **asked)
            found.append(run_rows(planned, opened).result)
            native = plan_rows(opened, _in_arrow, native=True, **asked)
            assert run_rows(native, opened).result == found[-1]
    assert found[0].to_pylist() == found[1].to_pylist()
    assert found[0].num_rows > 100


def test_a_lookup_is_joined_alike(spark):
    """A record finds one row of it, or none, on both."""
    random = Random(7)
    arrow = random_tables.arrow(random_tables.rows(random, 50))
    names = Lookup({"sector": ["farm", "é"], "group": ["A", "B"]}, on="sector")
    roles = {"dimensions": ["group"], "measures": ["emp"], "lookups": [names]}
    asked = Query().where("group = 'A'").sum("emp", split=Split(emp=1), rho=1)
    duckdb, sparkly = on_both(spark, arrow, **roles)
    with duckdb, sparkly:
        assert exact(plan(asked, duckdb.schema), duckdb) == exact(
            plan(asked, sparkly.schema), sparkly
        )


@pytest.mark.parametrize("kind", list(SAMPLES), ids=str)
def test_spark_rounds_to_the_grid_as_python_does(spark, kind):
    """Hundreds of values of each type and every measure, in one query."""
    values = [None, *SAMPLES[kind]]
    frame = spark.createDataFrame(pa.table({"v": pa.array(values, kind)}))
    frame.createOrReplaceTempView("grid_values")
    columns = ", ".join(
        f"{grid_sql(measure, 'v', kind, SPARK)} AS m{index}"
        for index, measure in enumerate(MEASURES)
    )
    rows = spark.sql(f"SELECT v, {columns} FROM grid_values").toArrow().to_pylist()
    assert len(rows) == len(values)
    for row in rows:
        for index, measure in enumerate(MEASURES):
            value = held_in(kind, row["v"])
            assert row[f"m{index}"] == measure.grid(value), (value, measure)


def test_bytes_that_are_no_text_are_refused_before_the_charge(spark):
    """Spark takes any bytes for text, and would fail when they are handed on."""
    frame = spark.sql("SELECT CAST(X'636166e9' AS STRING) AS name, 'ok' AS other, 1 AS emp")
    for column, is_fine in (("name", False), ("other", True)):
        with table(frame, dimensions=[column], measures=["emp"]) as opened:
            if is_fine:
                check_readable(opened)
            else:
                with pytest.raises(SourceError, match="a column 'name' that cannot be read"):
                    check_readable(opened)


def test_a_name_that_spark_would_rewrite_is_refused(spark):
    """Spark puts variables in for ${...}, in quoted names too."""
    frame = spark.createDataFrame(pa.table({"a${b}": [1], "c": ["x"]}))
    with pytest.raises(InputError, match="which Spark replaces"):
        table(frame, dimensions=["c"])


def test_the_total_of_an_empty_table_is_zero_beside_other_sets(spark):
    """Spark has no row for it, where DuckDB has one; nobody may see which record was the last."""
    keys = random_queries.Keys.from_dict({"sector": ["farm"]})
    asked = Query().rollup("sector", keys=keys).count_distinct("firm", rho=1)
    for opened in on_both(spark, random_tables.arrow([]), **random_tables.DECLARED):
        with opened:
            found = exact(plan(asked, opened.schema), opened)
            assert [list(values.values()) for values, _ in found] == [[[0]], [[0]]]


def test_two_tables_with_lookups_share_a_session(spark):
    """Each has names of its own for them."""
    arrow = random_tables.arrow(random_tables.rows(Random(9), 20))
    names = Lookup({"sector": ["farm"], "group": ["A"]}, on="sector")
    roles = {"dimensions": ["group"], "lookups": [names]}
    with (
        table(spark.createDataFrame(arrow), **roles) as first,
        table(spark.createDataFrame(arrow), **roles) as second,
    ):
        asked = plan(Query().where("group = 'A'").count(rho=1), first.schema)
        assert exact(asked, first) == exact(plan(asked.queries, second.schema), second)


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_derived_and_weighted_measures_are_the_same_integers(spark, seed):
    """Products, ties, cancelled terms, NULL and values beyond the largest, from every type."""
    random = Random(f"derived {seed}")
    found = random_derived.derived_table(random)
    rows = random_tables.rows(random, 150)
    duckdb, sparkly = on_both(spark, random_tables.arrow(rows), **found.declared)
    with duckdb, sparkly:
        asked = [random_derived.query(random, found, "rho") for _ in range(3)]
        planned, on_spark = plan(asked, duckdb.schema), plan(asked, sparkly.schema)
        assert exact(planned, duckdb) == exact(on_spark, sparkly) == reference(planned, rows)
        names = [name for name, _ in duckdb.schema.measures]
        there = sparkly.engine.frame(sparkly.select(names)).toArrow().to_pylist()
        (here,) = duckdb.engine.batches(duckdb.select(names))
    key = str
    assert sorted(there, key=key) == sorted(here.to_pylist(), key=key)


def test_derived_measures_near_the_end_of_128_bits_are_the_same_on_spark(spark):
    """36 digits before they are rounded; a setting of decimals changes nothing."""
    ends = [10**18, -(10**18), 999_999_999_999_999_937, 3, None, 0]
    every = [{"x": x, "y": y} for x in ends for y in ends]
    arrow = pa.Table.from_pylist(every, pa.schema({"x": pa.int64(), "y": pa.int64()}))
    large = Measure(1, largest=10**18)
    measures = {
        "x": large,
        "y": large,
        "cut": Measure(1, expression="x * y / 3", largest=10**17, outside="cut"),
        "rounded": Measure(10**9, expression="0.0000003 * x * y - x", largest=2**62 * 10**9),
    }
    duckdb, sparkly = on_both(spark, arrow, measures=measures)
    with duckdb, sparkly:
        sql = sparkly.select(["x", "y", "cut", "rounded"])
        found = sparkly.engine.frame(sql).toArrow().to_pylist()
        (here,) = duckdb.engine.batches(duckdb.select(["x", "y", "cut", "rounded"]))
        wanted = [duckdb.schema.record(row) for row in every]
    steps = [
        {name: None if row[name] is None else row[name] / measures[name].resolution for name in row}
        for row in wanted
    ]
    assert sorted(found, key=str) == sorted(here.to_pylist(), key=str)
    assert sorted(map(str, here.to_pylist())) == sorted(
        str({name: None if each is None else int(each) for name, each in row.items()})
        for row in steps
    )
