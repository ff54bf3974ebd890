"""SQL text -> Query: pairs of text and fluent query, and refusals with their place."""

import re
import string
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import AmountError, CurrencyError, PerrecordError, SQLTextError
from perrecord.policy.split import Split
from perrecord.queries.groupings import WITHOUT_KEYS, SelectCells, SelectKeys
from perrecord.queries.query import Query
from perrecord.queries.sql import from_sql
from perrecord.tables.domains import Domain
from perrecord.tables.expressions import Column
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.measures import Measure
from perrecord.tables.schema import Dimension, Schema

DIMENSIONS = {"state": Kind.TEXT, "county": Kind.TEXT, "naics2": Kind.TEXT, "year": Kind.INTEGER}
SCHEMA = Schema(
    "est",
    "record",
    "firm",
    tuple(Dimension(name, kind, Column(name)) for name, kind in DIMENSIONS.items()),
    (("emp", Measure(1)), ("payann", Measure("0.01")), ("Odd name", Measure(1))),
)
KEYS = Keys.from_dict({"state": ["NC"], "county": ["1", "2"], "naics2": ["11", "21"]})
COUNTIES = Keys.from_dict({"county": ["1", "2"]})
SPLIT = Split(emp=50, payann=5000)
EST = Query("est")

ASKED: list[tuple[str, dict[str, Any], Query]] = [
    # -- which answers ----------------------------------------------------------------------
    ("SELECT COUNT(*) FROM est", {"rho": 1}, EST.count(rho=1)),
    ("SELECT COUNT(*) AS n FROM est", {"rho": {"n": "0.5"}}, EST.count(rho="1/2", name="n")),
    ("SELECT COUNT(emp) FROM est", {"epsilon": 2}, EST.count("emp", epsilon=2)),
    ("SELECT COUNT(record) FROM est", {"rho": 1}, EST.count("record", rho=1)),
    ("SELECT COUNT(DISTINCT firm) FROM est", {"rho": 1}, EST.count_distinct("firm", rho=1)),
    ("SELECT COUNT(DISTINCT (county)) FROM est", {"rho": 1}, EST.count_distinct("county", rho=1)),
    # records are told apart by their id, so their number is the number of ids
    ("SELECT COUNT(DISTINCT record) FROM est", {"rho": 1}, EST.count(rho=1)),
    (
        "SELECT SUM(emp) FROM est",
        {"rho": 1, "split": SPLIT},
        EST.sum("emp", split=SPLIT, rho=1),
    ),
    (
        "SELECT SUM(emp), SUM(payann) AS pay FROM est",
        {"rho": {"pay": 2, "sum_emp": 1}, "split": {"emp": SPLIT}, "clamp": {"pay": (0, 100)}},
        EST.sum("emp", split=SPLIT, rho=1).sum("payann", clamp=(0, 100), rho=2, name="pay"),
    ),
    (  # one scheme for all goes to the measures that it names
        "SELECT SUM(emp), SUM(payann) FROM est",
        {"rho": 1, "split": Split(emp=50), "clamp": {"payann": (0, 100)}},
        EST.sum("emp", split=Split(emp=50), rho=1).sum("payann", clamp=(0, 100), rho=1),
    ),
    (  # an answer's own name goes before its measure's
        "SELECT SUM(emp) AS wide, SUM(emp) FROM est",
        {"rho": 1, "clamp": {"emp": (0, 10), "wide": (0, 99)}},
        EST.sum("emp", clamp=(0, 99), rho=1, name="wide").sum("emp", clamp=(0, 10), rho=1),
    ),
    (
        "SELECT AVG(emp), SUM(emp) FROM est",
        {"rho": {"avg_emp": ("0.1", "0.2"), "sum_emp": 1}, "split": SPLIT, "accounting": "exact"},
        EST.average("emp", split=SPLIT, rho=("0.1", "0.2"), accounting="exact").sum(
            "emp", split=SPLIT, rho=1, accounting="exact"
        ),
    ),
    (
        "SELECT MEDIAN(payann), QUANTILE(payann, 0.9) FROM est",
        {"rho": 1, "candidates": iter([0, 10, 20])},
        EST.median("payann", candidates=[0, 10, 20], rho=1).quantile(
            "payann", "0.9", candidates=[0, 10, 20], rho=1
        ),
    ),
    # -- the spellings of a quantile --------------------------------------------------------
    *(
        (
            f"SELECT {spelling} AS q FROM est",
            {"rho": 1, "candidates": {"emp": range(9)}},
            EST.quantile("emp", "1/4", candidates=range(9), rho=1, name="q"),
        )
        for spelling in (
            "QUANTILE_CONT(emp, 0.25)",
            "QUANTILE_DISC(emp, 0.25)",
            "QUANTILE(emp, 0.25)",
            "APPROX_QUANTILE(emp, 2.5e-1)",
            "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY emp)",
            "percentile_disc(0.25) within group (order by est.emp asc)",
        )
    ),
    # -- names, letters, comments -----------------------------------------------------------
    (
        'select sum("Odd name") total from est -- a comment\n;',
        {"rho": 1, "clamp": (0, 5)},
        EST.sum("Odd name", clamp=(0, 5), rho=1, name="total"),
    ),
    (
        "SELECT (SUM((e.emp))) FROM est AS e WHERE e.year = 2020;;",
        {"rho": 1, "split": SPLIT},
        EST.where("year = 2020").sum("emp", split=SPLIT, rho=1),
    ),
    (
        "/* first */ SELECT COUNT(*) FROM est WHERE state = 'NC' AND (emp > 12.5 OR est.emp < 3)",
        {"rho": 1},
        EST.where("state = 'NC' AND (emp > 12.5 OR emp < 3)").count(rho=1),
    ),
    ("FROM est SELECT COUNT(*)", {"rho": 1}, EST.count(rho=1)),
    # -- GROUP BY ---------------------------------------------------------------------------
    (
        "SELECT county, COUNT(*) FROM est GROUP BY county",
        {"rho": 1, "keys": COUNTIES},
        EST.group_by("county", keys=COUNTIES).count(rho=1),
    ),
    (  # a grouping column appears in the result, selected or not
        "SELECT COUNT(*), naics2 FROM est WHERE state = 'NC' GROUP BY est.county, (naics2)",
        {"rho": 1, "keys": KEYS},
        EST.where("state = 'NC'").group_by("county", "naics2", keys=KEYS).count(rho=1),
    ),
    (
        "SELECT county, naics2, COUNT(*) FROM est GROUP BY 2, 1",
        {"rho": 1, "keys": KEYS},
        EST.group_by("naics2", "county", keys=KEYS).count(rho=1),
    ),
    (
        "SELECT county, COUNT(*), naics2 FROM est GROUP BY ALL",
        {"rho": 1, "keys": KEYS},
        EST.group_by("county", "naics2", keys=KEYS).count(rho=1),
    ),
    ("SELECT COUNT(*) FROM est GROUP BY ()", {"rho": 1}, EST.count(rho=1)),
    ("SELECT COUNT(*) FROM est GROUP BY ALL", {"rho": 1}, EST.count(rho=1)),
    (
        "SELECT COUNT(*) FROM est GROUP BY ROLLUP(state, county)",
        {"rho": 1, "keys": KEYS},
        EST.rollup("state", "county", keys=KEYS).count(rho=1),
    ),
    (
        "SELECT COUNT(*) FROM est GROUP BY ROLLUP((state, county), naics2)",
        {"rho": 1, "keys": KEYS},
        EST.group_by_sets(
            [("state", "county", "naics2"), ("state", "county"), ()], keys=KEYS
        ).count(rho=1),
    ),
    (
        "SELECT COUNT(*) FROM est GROUP BY CUBE(state, naics2)",
        {"rho": 1, "keys": KEYS},
        EST.group_by_sets([("state", "naics2"), ("state",), ("naics2",), ()], keys=KEYS).count(
            rho=1
        ),
    ),
    (
        "SELECT state, COUNT(*) FROM est GROUP BY GROUPING SETS ((1, county), naics2, ())",
        {"rho": 1, "keys": KEYS},
        EST.group_by_sets([("state", "county"), ("naics2",), ()], keys=KEYS).count(rho=1),
    ),
    (  # several elements combine, as in SQL
        "SELECT COUNT(*) FROM est GROUP BY state, ROLLUP(county), GROUPING SETS (naics2, state)",
        {"rho": 1, "keys": KEYS},
        EST.group_by_sets(
            [("state", "county", "naics2"), ("state", "county"), ("state", "naics2"), ("state",)],
            keys=KEYS,
        ).count(rho=1),
    ),
    (
        "SELECT COUNT(*) FROM est GROUP BY GROUPING SETS (county, year)",
        {
            "rho": 1,
            "keys": {("county",): COUNTIES, ("year",): SelectKeys(rho=1, threshold=9)},
        },
        EST.group_by_sets(
            [("county",), ("year",)],
            keys={("county",): COUNTIES, ("year",): SelectKeys(rho=1, threshold=9)},
        ).count(rho=1),
    ),
    (
        "SELECT COUNT(*) AS n FROM est GROUP BY county",
        {
            "rho": 1,
            "keys": SelectCells(Domain.from_dict({"county": ["1"]}), answer="n", at_least=5),
        },
        EST.group_by(
            "county",
            keys=SelectCells(Domain.from_dict({"county": ["1"]}), answer="n", at_least=5),
        ).count(rho=1, name="n"),
    ),
]


@pytest.mark.parametrize(("text", "options", "query"), ASKED, ids=[case[0] for case in ASKED])
def test_sql_gives_the_same_value_as_the_fluent_query(text, options, query):
    """The text with its options equals the query built step by step."""
    assert from_sql(text, schema=SCHEMA, **options) == query


REFUSED: list[tuple[str, str, str]] = [
    # text, what the carets underline, a piece of the message
    # -- clauses ----------------------------------------------------------------------------
    ("SELECT COUNT(*) FROM est HAVING COUNT(*) > 5", "HAVING", "filter the result"),
    ("SELECT COUNT(*) FROM est ORDER  BY 1", "ORDER  BY", "costs nothing"),
    ("SELECT COUNT(*) FROM est LIMIT 3", "LIMIT", "costs nothing"),
    ("SELECT COUNT(*) FROM est FETCH FIRST 3 ROWS ONLY", "FETCH", "LIMIT is not supported"),
    ("SELECT COUNT(*) FROM est OFFSET 3", "OFFSET", "costs nothing"),
    ("SELECT DISTINCT COUNT(*) FROM est", "DISTINCT", "every key appears once"),
    ("SELECT DISTINCT ON (state) COUNT(*) FROM est", "DISTINCT", "every key appears once"),
    ("SELECT COUNT(*) FROM est JOIN other ON a = b", "JOIN", "lookups=[Lookup(...)]"),
    ("SELECT COUNT(*) FROM est LEFT JOIN other USING (a)", "JOIN", "lookups=[Lookup(...)]"),
    ("SELECT COUNT(*) FROM est, other", "other", "lookups=[Lookup(...)]"),
    ("SELECT COUNT(*) FROM (SELECT * FROM est)", "SELECT * FROM est", "subquery"),
    ("WITH x AS (SELECT 1) SELECT COUNT(*) FROM x", "WITH", "asks one table"),
    ("SELECT COUNT(*) FROM est UNION SELECT COUNT(*) FROM est", "UNION", "one by one"),
    ("FROM est |> AGGREGATE COUNT(*)", None, "WITH is not supported"),
    ("SELECT COUNT(*) FROM est EXCEPT SELECT 1", "EXCEPT", "one by one"),
    ("SELECT COUNT(*) FROM est INTERSECT SELECT 1", "INTERSECT", "one by one"),
    ("SELECT COUNT(*) FROM est QUALIFY row_number() OVER () = 1", "QUALIFY", "not supported"),
    ("SELECT COUNT(*) FROM est WINDOW w AS (PARTITION BY state)", "WINDOW", "not supported"),
    ("SELECT COUNT(*) FROM est TABLESAMPLE 10%", "TABLESAMPLE", "not worked out"),
    ("SELECT COUNT(*) FROM est USING SAMPLE 10%", "USING", "not worked out"),
    ("SELECT * FROM est PIVOT (SUM(emp) FOR state IN ('NC'))", "PIVOT", "turn the result"),
    ("SELECT COUNT(*) FROM est LATERAL VIEW explode(a) t AS b", "LATERAL", "asks one table"),
    ("SELECT COUNT(*) INTO copy FROM est", "INTO", "the result is returned"),
    ("SELECT COUNT(*) FROM est FOR UPDATE", "FOR", "only reads"),
    ("SELECT COUNT(*) FROM est CLUSTER BY state", "CLUSTER BY", "not supported"),
    ("SELECT AS STRUCT COUNT(*) FROM est", "SELECT", "SELECT AS is not supported"),
    # -- statements -------------------------------------------------------------------------
    ("SELECT COUNT(*) FROM est; SELECT AVG(emp) FROM est", "SELECT AVG(emp) FROM est", "second"),
    ("INSERT INTO est SELECT 1", "INSERT", "only reads"),
    ("CREATE TABLE a AS SELECT 1", "CREATE", "only reads"),
    ("-- why\nEXPLAIN SELECT 1", "EXPLAIN", "only reads"),
    ("PIVOT est ON state", "PIVOT", "only reads"),
    ("(SELECT COUNT(*) FROM est)", "(", "parentheses"),
    # -- the table --------------------------------------------------------------------------
    ("SELECT COUNT(*)", "SELECT", "write FROM est"),
    ("SELECT COUNT(*) FROM ets", "ets", "Did you mean 'est'?"),
    ("SELECT COUNT(*) FROM db.est", "db.est", "write FROM est"),
    ("SELECT COUNT(*) FROM est AS e(a, b)", "e(a, b)", "columns"),
    ("SELECT COUNT(*) FROM 'est.parquet'", "'est.parquet'", "no table 'est.parquet'"),
    ("SELECT COUNT(*) FROM read_csv('est.csv')", "read_csv('est.csv')", "not a table's name"),
    ("SELECT COUNT(*) FROM VALUES (1)", "VALUES (1)", "not a table's name"),
    # -- the SELECT list --------------------------------------------------------------------
    ("SELECT * FROM est", "*", "never shown"),
    ("FROM est", "FROM", "never shown"),
    ("SELECT est.* FROM est", "est.*", "never shown"),
    ("SELECT FROM est", "SELECT", "asks for nothing"),
    ("SELECT state FROM est GROUP BY state", "SELECT", "asks for nothing"),
    ("SELECT county, COUNT(*) FROM est", "county", "not grouped by"),
    ("SELECT county, COUNT(*) FROM est GROUP BY state", "county", "not grouped by"),
    ("SELECT conty, COUNT(*) FROM est", "conty", "Did you mean 'county'?"),
    ("SELECT COUNTY, COUNT(*) FROM est", "COUNTY", "Did you mean 'county'?"),
    ("SELECT state AS s, COUNT(*) FROM est GROUP BY state", "state AS s", "keeps its name"),
    ("SELECT state, state, COUNT(*) FROM est GROUP BY state", "state", "two columns"),
    ("SELECT state, COUNT(*) AS state FROM est GROUP BY state", "COUNT(*)", "a grouping column"),
    ("SELECT COUNT(*), COUNT(DISTINCT record) FROM est", "COUNT(DISTINCT record)", "two answers"),
    ("SELECT COUNT(emp), COUNT(emp) FROM est", "COUNT(emp)", "two answers"),
    ('SELECT COUNT(*) AS "" FROM est', 'COUNT(*) AS ""', "empty"),
    ("SELECT SUM(emp) AS (a, b) FROM est", "SUM(emp) AS (a, b)", "give one"),
    ("SELECT SUM(emp) / SUM(payann) FROM est", "SUM(emp) / SUM(payann)", "costs nothing"),
    ("SELECT ROUND(AVG(emp)) FROM est", "ROUND(AVG(emp))", "costs nothing"),
    ("SELECT SUM(emp)::INT FROM est", "SUM(emp)", "costs nothing"),
    ("SELECT COUNT(*) > 5 FROM est", "COUNT(*) > 5", "costs nothing"),
    ("SELECT SUM(emp) OVER (PARTITION BY state) FROM est", None, "window function"),
    ("SELECT SUM(emp) FILTER (WHERE state = 'NC') FROM est", None, "FILTER is not supported"),
    ("SELECT SUM(emp IGNORE NULLS) FROM est", "SUM(emp IGNORE NULLS)", "leave it out"),
    ("SELECT (SELECT 1), COUNT(*) FROM est", "SELECT 1", "subquery"),
    ("SELECT ?, COUNT(*) FROM est", "?", "parameter"),
    ("SELECT $1, COUNT(*) FROM est", "$", "parameter"),
    ("SELECT 1, COUNT(*) FROM est", "1", "not an answer"),
    ("SELECT LEFT(county, 2), COUNT(*) FROM est", "LEFT(county, 2)", "dimensions={...}"),
    ("SELECT MAX(emp) FROM est", "MAX(emp)", "QUANTILE(payann, 0.99)"),
    ("SELECT min(emp) FROM est", "min(emp)", "MIN is not supported"),
    ("SELECT STDDEV(emp) FROM est", "STDDEV(emp)", "QUANTILE(payann, 0.25)"),
    ("SELECT VAR_POP(emp) FROM est", "VAR_POP(emp)", "QUANTILE(payann, 0.25)"),
    ("SELECT STRING_AGG(state, ',') FROM est", None, "expected SUM, AVG"),
    ("SELECT GROUPING(state) FROM est", "GROUPING(state)", "expected SUM, AVG"),
    ("SELECT total(emp) FROM est", "total(emp)", "TOTAL is not known"),
    # -- inside aggregates ------------------------------------------------------------------
    ("SELECT SUM(emp * payann) FROM est", "emp * payann", "an expression in SUM"),
    ("SELECT AVG(CASE WHEN emp > 1 THEN 1 END) FROM est", None, "an expression in AVG"),
    ("SELECT SUM(DISTINCT emp) FROM est", "DISTINCT emp", "DISTINCT in SUM"),
    ("SELECT MEDIAN(DISTINCT emp) FROM est", "DISTINCT emp", "DISTINCT in MEDIAN"),
    ("SELECT SUM(emp ORDER BY state) FROM est", "emp ORDER BY state", "an order in SUM"),
    ("SELECT SUM(SUM(emp)) FROM est", "SUM(emp)", "an aggregate in SUM"),
    ("SELECT SUM(?) FROM est", "?", "parameter"),
    ("SELECT SUM(1) FROM est", "1", "an expression in SUM"),
    ("SELECT SUM(*) FROM est", "*", "* in SUM"),
    ("SELECT SUM(est.*) FROM est", "est.*", "* in SUM"),
    ("SELECT SUM((SELECT 1)) FROM est", "SELECT 1", "subquery in SUM"),
    ("SELECT SUM(empl) FROM est", "empl", "Did you mean 'emp'?"),
    ("SELECT SUM(county) FROM est", "county", "no measure 'county'"),
    ("SELECT SUM(other.emp) FROM est", "other.emp", "expected est"),
    ("SELECT SUM(est.emp) FROM est AS e", "est.emp", "expected e"),
    ("SELECT SUM(a.est.emp) FROM est", "a.est.emp", "write the column alone"),
    ("SELECT COUNT(1) FROM est", "COUNT(1)", "write COUNT(*)"),
    ("SELECT COUNT() FROM est", "COUNT()", "write COUNT(*)"),
    ("SELECT COUNT(state, county) FROM est", "COUNT(state, county)", "write COUNT(*)"),
    ("SELECT COUNT(DISTINCT state, county) FROM est", None, "write COUNT(*)"),
    ("SELECT COUNT(DISTINCT LEFT(state, 1)) FROM est", None, "write COUNT(*)"),
    ("SELECT COUNT(DISTINCT *) FROM est", "COUNT(DISTINCT *)", "write COUNT(*)"),
    ("SELECT COUNT(* EXCLUDE (state)) FROM est", "COUNT(* EXCLUDE (state))", "write COUNT(*)"),
    ("SELECT COUNT(DISTINCT frim) FROM est", "frim", "Did you mean 'firm'?"),
    ("SELECT COUNT(DISTINCT emp) FROM est", "emp", "no id, unit or dimension"),
    ("SELECT COUNT(empl) FROM est", "empl", "no id, unit or dimension 'empl'"),
    # -- quantiles --------------------------------------------------------------------------
    ("SELECT QUANTILE_CONT(emp) FROM est", None, "level of the quantile is miss"),
    ("SELECT QUANTILE(emp) FROM est", "QUANTILE(emp)", "level of the quantile is missing"),
    ("SELECT QUANTILE_CONT(, 0.5) FROM est", None, "the column is missing"),
    # sqlglot drops the third argument and does without the closing bracket
    ("SELECT QUANTILE(emp, 0.5, 7) FROM est", "7", "leave it out"),
    ("SELECT QUANTILE_CONT(emp, 0.5, county) FROM est", "county", "leave it out"),
    ("SELECT QUANTILE(emp, 0.5 AS q FROM est", "(", "never closed"),
    ("SELECT QUANTILE(emp, .5) FROM est", "5", "write a 0 before the point"),
    ("SELECT QUANTILE(emp, 2) FROM est", "2", "expected 0 to 1"),
    ("SELECT QUANTILE(emp, -0.5) FROM est", "-0.5", "from 0 to 1"),
    ("SELECT QUANTILE(emp, '0.5') FROM est", "'0.5'", "from 0 to 1"),
    ("SELECT QUANTILE_CONT(emp, [0.1, 0.9]) FROM est", "0.1, 0.9", "from 0 to 1"),
    ("SELECT QUANTILE(emp, 1e-9999) FROM est", "1e-9999", "longer than 1000 digits"),
    ("SELECT APPROX_QUANTILE(emp, 0.5, 9) FROM est", "APPROX_QUANTILE(emp, 0.5, 9)", "accuracy"),
    ("SELECT PERCENTILE_CONT(0.5) FROM est", "PERCENTILE_CONT(0.5)", "is missing"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY emp DESC) FROM est", None, "rising"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY emp, year) FROM est", None, "rising"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY 2 * emp) FROM est", "2 * emp", "source"),
    ("SELECT SUM(emp) WITHIN GROUP (ORDER BY emp) FROM est", None, "goes with PERCENTILE_CONT"),
    ("SELECT PERCENTILE_APPROX(emp, 0.5) FROM est", None, "PERCENTILE_APPROX is not known"),
    # -- WHERE ------------------------------------------------------------------------------
    ("SELECT COUNT(*) FROM est WHERE stat = 'NC'", "stat", "Did you mean 'state'?"),
    ("SELECT COUNT(*) FROM est WHERE other.state = 'NC'", "other.state", "no table 'other'"),
    ("SELECT COUNT(*) FROM est WHERE UPPER(state) = 'NC'", "UPPER(state)", "list the spellings"),
    ("SELECT COUNT(*) FROM est WHERE state", "state", "not a condition"),
    ("SELECT COUNT(*) FROM est WHERE state = 5", "state = 5", "cannot be compared"),
    ("SELECT COUNT(*) FROM est WHERE emp > (SELECT 1)", "SELECT 1", "subquery"),
    ("SELECT COUNT(*) FROM est WHERE", "WHERE", "missing"),
    # -- GROUP BY ---------------------------------------------------------------------------
    ("SELECT COUNT(*) FROM est GROUP BY", "GROUP BY", "names no column"),
    ("SELECT COUNT(*) FROM est GROUP BY county", "GROUP BY", "keys found in the data"),
    ("SELECT COUNT(*) FROM est GROUP BY conty", "conty", "Did you mean 'county'?"),
    ("SELECT COUNT(*) FROM est GROUP BY payann", "payann", "resolution other than 1"),
    ("SELECT COUNT(*) FROM est GROUP BY LEFT(county, 2)", "LEFT(county, 2)", "dimensions={...}"),
    ("SELECT COUNT(*) FROM est GROUP BY emp > 5", "emp > 5", "dimensions={...}"),
    ("SELECT COUNT(*) AS n FROM est GROUP BY n", "n", "'n' is an answer"),
    ("SELECT COUNT(*) FROM est GROUP BY SUM(emp)", "SUM(emp)", "SUM is an aggregate"),
    ("SELECT COUNT(*) FROM est GROUP BY ?", "?", "parameter"),
    ("SELECT COUNT(*) FROM est GROUP BY 'county'", "'county'", "dimensions={...}"),
    ("SELECT COUNT(*) FROM est GROUP BY 1", "1", "is the answer 'count'"),
    ("SELECT COUNT(*) FROM est GROUP BY 2", "2", "from 1 to 1"),
    ("SELECT COUNT(*) FROM est GROUP BY 0.5", "0.5", "from 1 to 1"),
    ("SELECT COUNT(*) FROM est GROUP BY DISTINCT state", "GROUP BY", "each grouping set once"),
    ("SELECT COUNT(*) FROM est GROUP BY ALL state", "GROUP BY", "ALL alone"),
    ("SELECT COUNT(*) FROM est GROUP BY state WITH ROLLUP", "GROUP BY", "write ROLLUP(...)"),
    ("SELECT COUNT(*) FROM est GROUP BY state WITH CUBE", "GROUP BY", "write CUBE(...)"),
    ("SELECT COUNT(*) FROM est GROUP BY state WITH TOTALS", "GROUP BY", "TOTALS"),
    ("SELECT COUNT(*) FROM est GROUP BY state GROUPING SETS ((state))", "GROUP BY", "this form"),
    ("SELECT COUNT(*) FROM est GROUP BY GROUPING SETS (state, state)", "GROUP BY", "comes twice"),
    ("SELECT COUNT(*) FROM est GROUP BY state, ROLLUP(state)", "GROUP BY", "comes twice"),
    ("SELECT COUNT(*) FROM est GROUP BY ROLLUP(CUBE(state))", None, "expected )"),
    (
        "SELECT COUNT(*) FROM est GROUP BY CUBE(state, county, naics2, year, emp, state, county)",
        "GROUP BY",
        "more than 64 grouping sets",
    ),
    # -- nonsense ---------------------------------------------------------------------------
    ("SELECT COUNT(* FROM est", None, "expected )"),
    ("SELECT 'open FROM est", "'open FROM est", "never closed"),
    ("SELECT COUNT(*) FROM est WHERE " + "(" * 100, "(", "levels of nesting"),
]


def underlined(error: SQLTextError) -> str:
    """Return what the carets of a message stand under."""
    *_, line, carets = str(error).split("\n")
    found = re.search(r"\^+", carets)
    assert found is not None, str(error)
    return line[found.start() : found.end()]


@pytest.mark.parametrize(("text", "place", "piece"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_is_not_understood_is_refused_at_its_place(text, place, piece):
    """The message says what to do; its carets stand under the culprit, or (None) close to it."""
    with pytest.raises(SQLTextError) as caught:
        from_sql(text, schema=SCHEMA, rho=1, candidates=None)
    message = str(caught.value).split("\n")[0]
    assert piece in message
    assert message.startswith("the SQL, line ")
    assert underlined(caught.value) == (place or underlined(caught.value))


SUMS = "SELECT COUNT(*) AS n, SUM(emp), AVG(payann) AS pay FROM est"
OPTIONS_REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (SUMS, {}, "the answer 'n': an answer needs one amount"),
    (SUMS, {"rho": {"n": 1}, "split": SPLIT}, "the answer 'sum_emp': an answer needs one amount"),
    (SUMS, {"rho": 1, "epsilon": {"n": 1}, "split": SPLIT}, "0.1; found both."),
    (SUMS, {"rho": {"n": 1, "emp": 1}}, "rho names 'emp', which no answer takes. Expected n,"),
    (SUMS, {"rho": {"sum_enp": 1}}, "Did you mean 'sum_emp'?"),
    (SUMS, {"rho": (1, 2), "split": SPLIT}, "'n': two amounts are for an average"),
    (
        SUMS,
        {"rho": {"n": 1, "sum_emp": 1, "pay": (1, 2, 3)}, "split": SPLIT},
        "'pay': an average was given a list of 3",
    ),
    (SUMS, {"rho": 1}, "'sum_emp': a total needs exactly one of split"),
    (SUMS, {"rho": 1, "split": SPLIT, "clamp": (0, 1)}, "found split and clamp."),
    (SUMS, {"rho": 1, "split": Split(emp=5)}, "the answer 'pay': a total needs"),
    (SUMS, {"rho": 1, "split": {"n": SPLIT}}, "split names 'n', which no answer takes"),
    (SUMS, {"rho": 1, "clamp": {"empl": (0, 1)}}, "Did you mean 'emp'?"),
    (SUMS, {"rho": 1, "clamp": 5}, "'sum_emp': clamp is a int"),
    (SUMS, {"rho": 1, "split": 50}, "the split is a int"),
    (SUMS, {"rho": 1, "split": SPLIT, "candidates": [1]}, "candidates is given, but no answer"),
    (SUMS, {"rho": 1, "split": SPLIT, "keys": COUNTIES}, "the query groups by no column"),
    ("SELECT COUNT(*) FROM est", {"rho": 1, "split": SPLIT}, "split is given, but no answer"),
    ("SELECT COUNT(*) FROM est", {"rho": 1, "clamp": (0, 1)}, "clamp is given, but no answer"),
    (
        "SELECT MEDIAN(emp) FROM est",
        {"rho": 1},
        "'median_emp': a quantile needs candidates",
    ),
    ("SELECT MEDIAN(emp) FROM est", {"rho": 1, "candidates": 5}, "the candidates are a int"),
    ("SELECT MEDIAN(emp) FROM est", {"rho": 1, "candidates": "05"}, "the candidates are a str"),
    (
        "SELECT COUNT(*) FROM est GROUP BY county",
        {"rho": 1, "keys": {("conty",): COUNTIES}},
        "no grouping set 'conty'. Grouping sets are county. Did you mean 'county'?",
    ),
    (
        "SELECT COUNT(*) FROM est GROUP BY GROUPING SETS (county, state)",
        {"rho": 1, "keys": {("county",): COUNTIES}},
        WITHOUT_KEYS.format("state"),
    ),
    (
        "SELECT COUNT(*) FROM est GROUP BY county, state",
        {"rho": 1, "keys": COUNTIES},
        "the keys have no column state",
    ),
]


@pytest.mark.parametrize(("text", "options", "piece"), OPTIONS_REFUSED)
def test_an_option_that_is_missing_or_taken_by_no_answer_is_refused(text, options, piece):
    """Options never get lost: each is used, and each answer has what it needs."""
    with pytest.raises(PerrecordError) as caught:
        from_sql(text, schema=SCHEMA, **options)
    assert piece in str(caught.value)


def test_amounts_are_checked_as_in_the_fluent_query():
    """Errors about the amounts themselves keep their own types."""
    with pytest.raises(AmountError):
        from_sql("SELECT COUNT(*) FROM est", schema=SCHEMA, rho=-1)
    with pytest.raises(CurrencyError):
        from_sql(
            "SELECT COUNT(*), COUNT(emp) FROM est",
            schema=SCHEMA,
            rho={"count": 1},
            epsilon={"count_emp": 1},
        )


def test_the_text_is_text():
    """Anything else than text, or no text at all, has a message of its own."""
    for text, piece in (
        (None, "is a NoneType"),
        ("", "is empty"),
        (" -- nothing\n", "is empty"),
        ("SELECT VAR_MAP(state) FROM est", "is not understood"),  # sqlglot raises an IndexError
    ):
        with pytest.raises(SQLTextError, match=piece):
            from_sql(text, schema=SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM est WHERE " + "NOT " * 20_000 + "closed",
        "SELECT " + "- " * 20_000 + "emp FROM est",
        "SELECT " + "1 + " * 20_000 + "COUNT(*) FROM est",
        "SELECT COUNT(*) FROM est WHERE year" + "::INT" * 15_000 + " = 1",
        "SELECT COUNT(*) FROM est WHERE " + "year = " * 10_000 + "1",
        "SELECT COUNT(*) FROM est" + " UNION SELECT 1" * 5_000,
        "SELECT COUNT(*) FROM est GROUP BY " + "(" * 10_000,
        "SELECT COUNT(*) FROM est " + "x" * 1_000_000,
    ],
    ids=lambda text: text[:60],
)
def test_deep_or_enormous_text_is_refused_cleanly(text):
    """However the text is nested, the error is ours."""
    with pytest.raises(SQLTextError):
        from_sql(text, schema=SCHEMA, rho=1)


def test_a_long_flat_filter_is_read():
    """Length alone is no depth: two thousand conditions side by side are one level."""
    condition = " OR ".join(f"year = {year}" for year in range(2000))
    query = from_sql(f"SELECT COUNT(*) FROM est WHERE {condition}", schema=SCHEMA, rho=1)
    assert query == EST.where(condition).count(rho=1)


FILTERS = [
    "state IN ('NC', 'VA') AND emp BETWEEN 1 AND 20",
    "NOT (county LIKE '37%' OR year IS NULL) AND emp > -5",
    "SUBSTRING(county, 1, 2) = '37' AND LEFT(naics2, 1) || 'x' <> '1x'",
    "substring(county FROM 1 FOR 2) = '37'",
    "CAST(year AS VARCHAR) = '2020' OR year // 10 % 2 = 1",
    "CASE WHEN emp > 1e2 THEN state ELSE COALESCE(county, 'none') END IS DISTINCT FROM 'NC'",
    "CASE state WHEN 'NC' THEN TRUE ELSE FALSE END",
    "est.year::VARCHAR LIKE '20__'",
]


@pytest.mark.parametrize("condition", FILTERS)
def test_a_filter_means_the_same_in_where_as_in_the_fluent_query(condition):
    """The condition after WHERE is the one that `Query.where` reads."""
    query = from_sql(f"SELECT COUNT(*) FROM est WHERE {condition}", schema=SCHEMA, rho=1)
    assert query == EST.where(condition.replace("est.", "")).count(rho=1)


# -- properties -----------------------------------------------------------------------------

PIECES = sorted({piece for text, *_ in (*ASKED, *REFUSED) for piece in re.findall(r"\w+|\S", text)})


@st.composite
def mutated(draw):
    """A text of the tables above with a few pieces left out, doubled, swapped or replaced."""
    text = draw(st.sampled_from([text for text, *_ in (*ASKED, *REFUSED)]))
    pieces = re.findall(r"\w+|\S|\s+", text)
    for _ in range(draw(st.integers(1, 4))):
        index = draw(st.integers(0, len(pieces) - 1))
        pieces[index : index + draw(st.integers(0, 2))] = draw(
            st.lists(st.sampled_from(PIECES).map(lambda piece: f" {piece} "), max_size=2)
        )
        pieces = pieces or [" "]
    return "".join(pieces)


@given(mutated() | st.text() | st.text(alphabet=string.printable))
def test_whatever_the_text_only_our_errors_are_raised(text):
    """Nonsense gives a query or a PerrecordError, never another exception."""
    try:
        query = from_sql(text, schema=SCHEMA, rho=1, keys=KEYS, clamp=(0, 5), candidates=[1])
    except PerrecordError:
        return
    assert isinstance(query, Query)


@given(mutated())
def test_every_refusal_shows_a_stretch_of_the_text(text):
    """The carets of a refusal stand under characters of the text itself."""
    error = None
    try:
        from_sql(text, schema=SCHEMA, rho=1)
    except PerrecordError as raised:
        error = raised
    if isinstance(error, SQLTextError) and "\n" in str(error):
        assert underlined(error).strip() in text


ANSWERS = {
    "COUNT(*)": lambda query, **price: query.count(**price),
    "COUNT(emp)": lambda query, **price: query.count("emp", **price),
    "COUNT(DISTINCT firm)": lambda query, **price: query.count_distinct("firm", **price),
    "SUM(emp)": lambda query, **price: query.sum("emp", split=SPLIT, **price),
    "AVG(payann)": lambda query, **price: query.average("payann", clamp=(-5, 50), **price),
    "MEDIAN(emp)": lambda query, **price: query.median("emp", candidates=[1, 5], **price),
    "QUANTILE(emp, 0.99)": lambda query, **price: query.quantile(
        "emp", "0.99", candidates=[1, 5], **price
    ),
}
METHODS = {
    "split": ({"SUM(emp)"}, {"emp": SPLIT}),
    "clamp": ({"AVG(payann)"}, {"payann": (-5, 50)}),
    "candidates": ({"MEDIAN(emp)", "QUANTILE(emp, 0.99)"}, [1, 5]),
}


@st.composite
def simple_queries(draw):
    """SQL, its options, and the fluent query that it was written from."""
    where = draw(st.sampled_from(["", "state = 'NC'", "emp >= 1.5 OR county IN ('1', '2')"]))
    columns = draw(st.lists(st.sampled_from(["state", "county", "naics2"]), unique=True))
    forms = draw(st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=4))
    rho = {f"answer{i}": draw(st.fractions(Fraction(1, 100), 10)) for i in range(len(forms))}
    query = EST.where(where) if where else EST
    query = query.group_by(*columns, keys=KEYS) if columns else query
    for name, form in zip(rho, forms, strict=True):
        query = ANSWERS[form](query, rho=rho[name], name=name)
    items = [f"{form} AS {name}" for name, form in zip(rho, forms, strict=True)]
    clauses = [
        f"SELECT {', '.join([*columns, *items])}",
        "FROM est",
        f"WHERE {where}" if where else "",
        f"GROUP BY {', '.join(columns)}" if columns else "",
    ]
    options = {name: value for name, (takers, value) in METHODS.items() if takers & {*forms}}
    options |= {"rho": rho, "keys": KEYS if columns else None}
    return draw(st.sampled_from([" ", "\n"])).join(clauses), options, query


@given(simple_queries())
def test_a_rendered_query_is_read_back(case):
    """SQL written from a fluent query gives that query."""
    text, options, query = case
    assert from_sql(text, schema=SCHEMA, **options) == query
