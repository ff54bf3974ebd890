"""What an adversarial reader broke once: each stays refused, or counted right."""

import datetime

import duckdb
import pyarrow as pa
import pytest

from perrecord import (
    Domain,
    InputError,
    Keys,
    Lookup,
    Measure,
    Parts,
    Query,
    QueryError,
    SourceError,
    Split,
    clamping,
    splitting,
    table,
)
from perrecord.mechanisms.run import answer
from perrecord.queries.plan import plan
from tests.queries.reference import exact

CAPPED = Split(emp=50).capped(3)


def counted(opened, asked):
    """Return the exact integers of a query's only answer."""
    ((values, _),) = exact(plan(asked, opened.schema), opened)
    return next(iter(values.values()))


@pytest.mark.parametrize(
    "asked",
    [
        Query().sum("emp", split=CAPPED, rho=1),
        Query().average("emp", split=CAPPED, rho=1),
        Query().sum("emp", split=Split.by("s", {"a": Split(emp=5)}, Split(emp=9)).capped(2), rho=1),
        Query().sum(
            "emp", parts=Parts("s", {"a": splitting(CAPPED, rho=1), ...: clamping(0, 9, rho=1)})
        ),
    ],
)
def test_a_capped_scheme_is_no_way_to_add_up(asked):
    """Its policy would promise what the total, which cuts nothing, does not keep."""
    source = pa.table({"s": ["a"], "emp": [1_000_000]})
    with (
        table(source, dimensions=["s"], measures=["emp"]) as opened,
        pytest.raises(QueryError, match="has a cap"),
    ):
        plan(asked, opened.schema)


@pytest.mark.parametrize(
    "roles",
    [
        {"measures": {"emp": Measure(column="a"), "Emp": Measure(column="pay")}},
        {"dimensions": {"s": "s", "S": "substr(s, 1, 1)"}},
        {"dimensions": {"_perrecord_value0": "s"}},
        {"lookups": [Lookup({"k": ["a"], "S2": ["x"], "s2": ["y"]}, on={"s": "k"})]},
        {"lookups": [Lookup({"k": ["a"], "PAY": [1]}, on={"s": "k"})]},
    ],
)
def test_names_that_an_engine_confuses_are_refused(roles):
    """Engines ignore case, so two names that differ in it alone are one column."""
    with pytest.raises(
        InputError, match=r"differ at most in case|are kept for perrecord|has a column"
    ):
        table(pa.table({"s": ["a"], "a": [5], "pay": [1000]}), **roles)


def test_a_date_finds_one_row_of_a_lookup():
    """Dates are compared as the text that the key was proved unique in."""
    days = Lookup(
        {"k": ["2020-01-01", "2020-1-1", "2020-01-01 ", "junk"], "region": list("abcd")},
        on={"day": "k"},
    )
    source = pa.table({"day": [datetime.date(2020, 1, 1)] * 3, "emp": [1, 2, 3]})
    roles = {"dimensions": ["day", "region"], "measures": ["emp"], "lookups": [days]}
    with table(source, **roles) as opened:
        assert counted(opened, Query().count(rho=1)) == [3]
        keys = Keys.from_dict({"region": ["a", "b", None]})
        assert counted(opened, Query().group_by("region", keys=keys).count(rho=1)) == [3, 0, 0]
        record = opened.schema.record({"day": datetime.date(2020, 1, 1), "region": "a", "emp": 1})
        assert record["day"] == "2020-01-01"


def test_a_lookup_by_an_identifier_is_joined_once(tmp_path):
    """A UUID reaches Arrow as text; of a key written in two ways it finds one."""
    path = tmp_path / "x.ddb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::UUID AS u"
        )
    lower = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    names = Lookup({"u": [lower, lower.upper()], "n": ["x", "y"]}, on="u")
    with table(f"duckdb://{path}", relation="t", dimensions=["n"], lookups=[names]) as opened:
        assert counted(opened, Query().count(rho=1)) == [1]


def test_collations_do_not_merge_keys(tmp_path):
    """Text is compared byte by byte, also where the source says otherwise."""
    path = tmp_path / "x.ddb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (s VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('nc'), ('NC'), ('Nc')")
    keys = Keys.from_dict({"s": ["nc", "NC", "Nc"]})
    with table(f"duckdb://{path}", relation="t", unit="s", dimensions=["s"]) as opened:
        assert counted(opened, Query().where("s = 'nc'").count(rho=1)) == [1]
        assert counted(opened, Query().group_by("s", keys=keys).count(rho=1)) == [1, 1, 1]
        assert counted(opened, Query().count_distinct("s", rho=1)) == [3]
        by = Query().count(by="s", rho={"nc": 1, "NC": 2, ...: 3})
        assert counted(opened, by) == [3]


def test_keys_that_only_look_alike_are_different_keys():
    """Blanks, case and combining marks count; NULL and the empty text are two keys of their own."""
    states = ["", " ", "NC", "NC ", " NC", "nc", "é", "e\u0301", None]
    keys = Keys.from_dict({"s": states})
    with table(pa.table({"s": [*states, "NC "]}), dimensions=["s"]) as opened:
        found = counted(opened, Query().group_by("s", keys=keys).count(rho=1))
    assert dict(zip(keys.rows(), found, strict=True)) == {
        (state,): 2 if state == "NC " else 1 for state in states
    }


def test_keys_given_twice_are_one_key():
    """Otherwise a cell would be published twice, with fresh noise, for one price."""
    doubled = pa.table({"s": ["b", "a", "a"]})
    assert Keys(doubled).rows() == Keys.from_columns(doubled).rows() == [("a",), ("b",)]
    assert Domain(Keys(doubled)).size == 2
    with pytest.raises(InputError, match="beyond 64 bits"):
        Keys({"n": [2**64]})


def test_a_python_object_column_does_not_take_its_type_from_the_data():
    """One record must not decide what a column is; typed columns and text are fine."""
    pandas = pytest.importorskip("pandas")
    from decimal import Decimal

    for values in ([Decimal(1), Decimal("2e-30")], [Decimal(1)], [1, 2**63], [1, 2]):
        frame = pandas.DataFrame({"x": pandas.Series(values, dtype=object)})
        with pytest.raises(SourceError, match="give it one type first"):
            table(frame, measures=["x"])
    text = pandas.DataFrame({"s": pandas.Series(["a", None], dtype=object)})
    with table(text, dimensions=["s"]) as opened:
        assert counted(opened, Query().count("s", rho=1)) == [1]


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(60, 2), pa.decimal128(5, -2)])
def test_a_type_that_the_engine_does_not_read_is_named(kind):
    """With the column."""
    with pytest.raises(SourceError, match="the column 'x' is"):
        table(pa.table({"x": pa.array([], kind)}))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            lambda: Query().quantile("emp", "0.333333333333333333", candidates=[1], rho=1),
            "denominator",
        ),
        (lambda: Query().count(by="n", rho={2**63: 1, ...: 2}), "beyond 64 bits"),
        (lambda: Query().count(rho=1, name="x").count(rho=1, name="x_se"), "stands beside"),
        (
            lambda: (
                Query()
                .group_by("x_low", keys=Keys.from_dict({"x_low": ["a"]}))
                .count(rho=1, name="x")
            ),
            "stands beside",
        ),
    ],
)
def test_what_would_fail_later_is_refused_now(asked, message):
    """Levels that overflow, cases that no column holds, names that clash."""
    source = pa.table({"n": [1], "x_low": ["a"], "emp": [1]})
    with (
        table(source, dimensions=["n", "x_low"], measures=["emp"]) as opened,
        pytest.raises(QueryError, match=message),
    ):
        plan(asked(), opened.schema)


def test_five_thousand_cases_are_looked_up_once_each():
    """Reading the dimensions of the cases for every key made this quadratic, and half a minute."""
    names = [f"n{index}" for index in range(5000)]
    cases = {name: Split(emp=index % 50 + 1) for index, name in enumerate(names)}
    asked = (
        Query()
        .group_by("s", keys=Keys.from_dict({"s": names}))
        .sum("emp", split=Split.by("s", cases, Split(emp=1)), rho=10**9)
    )
    with table(
        pa.table({"s": names, "emp": range(5000)}), dimensions=["s"], measures=["emp"]
    ) as est:
        (found,) = answer(est, asked)
    assert len(found.column("sum_emp").laws) == 50
