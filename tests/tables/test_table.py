"""Tables: roles, derived dimensions, lookups, and errors that quote nothing."""

import datetime as dt
import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import (
    InputError,
    Keys,
    Lookup,
    PerrecordError,
    Query,
    QueryError,
    SchemaError,
    SourceError,
    Split,
    table,
)
from perrecord.mechanisms.run import answer
from perrecord.queries.plan import plan
from perrecord.tables.expressions import Column, Substring

SECRET = "Zanzibar Ltd"
SOURCE = {
    "id": [1, 2, 3],
    "county": ["37001", "37003", "48001"],
    "naics": ["111110", "111120", "212220"],
    "owner": [SECRET, SECRET, None],
    "emp": [12, 7, 30],
}
ROLES = {"dimensions": {"county": "county", "naics2": "substr(naics, 1, 2)"}, "measures": ["emp"]}
HUGE = 10**9


FAR = [-719163, -719162, 0, 2932896, 2932897, 2**31 - 1, -(2**31), None]
"""Days from 1970 around the years 1 and 9999, and at the ends of 32 bits."""

FAR_TEXT = [None, "0001-01-01", "1970-01-01", "9999-12-31", None, None, None, None]


def test_dates_outside_the_years_1_to_9999_are_null(tmp_path):
    """So that all engines write the same text, and its order is that of the dates."""
    days = pa.table({"day": pa.array(FAR, pa.int32()).cast(pa.date32())})
    pq.write_table(days, tmp_path / "days.parquet")
    for source in (days, tmp_path / "days.parquet"):
        with table(source, dimensions={"day": "day", "year": "substr(day, 1, 4)"}) as opened:
            found = opened.engine.frame(opened.select(["day", "year"])).to_pydict()
        assert found["day"] == FAR_TEXT
        assert found["year"] == [each and each[:4] for each in FAR_TEXT]
    known = Lookup(days.slice(0, 5).filter(pa.array([False, True, True, True, True])), on="day")
    assert known.table["day"].to_pylist() == FAR_TEXT[1:5]


MOMENTS = {
    "s": ([-62135596800, 1709195401, 253402300799, 253402300800, None], "000000"),
    "ms": ([-62135596800000, 1709195401999, 253402300799999, 253402300800000, None], "999"),
    "us": (
        [-62135596800000000, 1709195401999999, 253402300799999999, 253402300800000000],
        "999999",
    ),
    "ns": ([1709195401999999999, None], "999999"),
}
"""Moments around the years 1 and 9999 and one of 2024, and what its second's part is."""


@pytest.mark.parametrize("unit", MOMENTS)
def test_moments_without_a_zone_are_text(unit, tmp_path):
    """To the microsecond, cut and not rounded; their parts are whole numbers and text."""
    given, part = MOMENTS[unit]
    seen = pa.table({"seen": pa.array(given, pa.int64()).cast(pa.timestamp(unit))})
    pq.write_table(seen, tmp_path / "seen.parquet")
    roles = {"seen": "seen", "year": "year(seen)", "month": "date_trunc('month', seen)"}
    for source in (seen, tmp_path / "seen.parquet"):
        with table(source, dimensions=roles) as opened:
            found = opened.engine.frame(opened.select([*roles])).to_pylist()
            row = {"seen": dt.datetime(2024, 2, 29, 8, 30, 1, int(part.ljust(6, "0")))}
            assert opened.schema.record(row) in found
        shown = [each["seen"] for each in found]
        assert f"2024-02-29 08:30:01.{part.ljust(6, '0')}" in shown
        assert {"seen": None, "year": None, "month": None} in found
        kept = [each for each in found if each["seen"]]
        assert {(each["year"], each["month"]) for each in kept} <= {
            (2024, "2024-02-01"), (1, "0001-01-01"), (9999, "9999-12-01")
        }  # fmt: skip
        assert len(kept) == (1 if unit == "ns" else 3)


@pytest.mark.parametrize("kind", [pa.timestamp("ns", "UTC"), pa.time64("us")])
def test_moments_of_a_zone_are_refused_by_name(kind):
    """As a dimension, and inside an expression."""
    source = pa.table({"seen": pa.array([0], pa.int64()).cast(kind)})
    for dimensions in (["seen"], {"year": "substr(seen, 1, 4)"}):
        with pytest.raises(SchemaError, match=r"'seen' is ti.*CAST\(\.\.\. AS DATE\)"):
            table(source, dimensions=dimensions)


def total(opened, *columns, keys):
    """Return the exact total by these columns."""
    asked = Query().group_by(*columns, keys=keys).sum("emp", split=Split(emp=10), rho=HUGE)
    return answer(opened, asked)[0].table.to_pylist()


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_frames_of_every_kind_give_the_same_answers(make):
    """Arrow, pandas and Polars are all the same table."""
    with table(make(SOURCE), **ROLES) as opened:
        found = total(opened, "naics2", keys=Keys.from_dict({"naics2": ["11", "21", "99"]}))
    assert [row["sum_emp"] for row in found] == [19, 30, 0]


def test_files_of_several_parts_are_one_table(tmp_path):
    """A glob of Parquet files, and one CSV file with codes that keep their zeros."""
    for index in range(3):
        pq.write_table(pa.table(SOURCE).slice(index, 1), tmp_path / f"part{index}.parquet")
    pd.DataFrame(SOURCE).to_csv(tmp_path / "whole.csv", index=False)
    keys = Keys.from_dict({"county": ["37001", "48001"]})
    for source in (tmp_path / "part*.parquet", tmp_path / "whole.csv"):
        with table(str(source), **ROLES) as opened:
            assert [row["sum_emp"] for row in total(opened, "county", keys=keys)] == [12, 30]


def test_a_lookup_adds_columns_of_a_public_table():
    """Counties find their state; a county without one is NULL."""
    states = Lookup({"fips": ["37001", "37003"], "state": ["NC", "NC"]}, on={"county": "fips"})
    roles = {**ROLES, "dimensions": ["state"]}
    with table(pa.table(SOURCE), **roles, lookups=[states]) as opened:
        found = total(opened, "state", keys=Keys.from_dict({"state": ["NC", None]}))
    assert [(row["state"], row["sum_emp"]) for row in found] == [("NC", 19), (None, 30)]


def test_a_lookup_whose_key_is_not_unique_is_refused():
    """Otherwise one record would become several. The duplicate itself is not quoted."""
    with pytest.raises(SchemaError, match="is not unique: 2 rows, 1 different") as caught:
        Lookup({"fips": ["37001", "37001"], "state": ["NC", SECRET]}, on={"county": "fips"})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("lookup", "message"),
    [
        (({"fips": ["1"], "state": ["NC"]}, {"on": {"country": "fips"}}), "no column 'country'"),
        (({"fips": [1], "state": ["NC"]}, {"on": {"county": "fips"}}), "make them both text"),
        (({"fips": ["1"], "emp": [3]}, {"on": {"county": "fips"}}), "has a column 'emp' already"),
    ],
)
def test_a_lookup_that_does_not_fit_is_refused(lookup, message):
    """Its key, its types and its names are held against the table's."""
    source, options = lookup
    with pytest.raises(SchemaError, match=message):
        table(pa.table(SOURCE), lookups=[Lookup(source, **options)])


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"measures": ["employees"]}, "has no column 'employees' for the measure 'employees'"),
        ({"measures": ["emp2"]}, "Did you mean 'emp'"),
        ({"measures": ["owner"]}, "the measure 'owner' is string"),
        ({"dimensions": ["couny"]}, "Did you mean 'county'"),
        ({"dimensions": ["emp"], "measures": ["emp"]}, "as a dimension and as a measure"),
        ({"id": "ident"}, "has no column 'ident' for the id"),
        ({"dimensions": {"up": "upper(owner)"}}, "UPPER is not supported"),
        ({"dimensions": {"x": "emp"}, "measures": ["emp"]}, "under their own name"),
        ({"dimensions": "county"}, "expected a list or a dictionary"),
    ],
)
def test_a_role_that_does_not_fit_is_refused(roles, message):
    """Before any row is read, and without quoting one."""
    with pytest.raises(InputError, match=message) as caught:
        table(pa.table(SOURCE), **roles)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_float_column_is_no_dimension():
    """It is a measure; the message says so."""
    with pytest.raises(SchemaError, match="A number with decimals is a measure"):
        table(pa.table({"rate": [0.5]}), dimensions=["rate"])


def test_a_missing_file_is_said_so(tmp_path):
    """With what to give instead."""
    with pytest.raises(SourceError, match="there is no file"):
        table(str(tmp_path / "none.parquet"))


def test_a_truncated_parquet_file_is_said_so(tmp_path):
    """At opening when its end is gone, at the scan when its middle is; nothing is quoted."""
    whole = pa.table({"owner": [SECRET] * 50_000, "emp": range(50_000)})
    path = tmp_path / "est.parquet"
    pq.write_table(whole, path, compression="none", use_dictionary=False)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(SourceError) as caught:
        table(str(path), measures=["emp"])
    middle = bytearray(content)
    middle[4:1_190_000] = b"\xff" * 1_189_996
    path.write_bytes(bytes(middle))
    with (
        pytest.raises(SourceError) as later,
        table(str(path), dimensions=["owner"], measures=["emp"]) as opened,
    ):
        answer(opened, Query().sum("emp", clamp=(0, 9), rho=1))
    for error in (caught.value, later.value):
        assert SECRET not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Query(), "asks for nothing"),
        (Query("other").count(rho=1), "asks the table 'other'"),
        (Query().sum("empp", split=Split(empp=1), rho=1), "Did you mean 'emp'"),
        (Query().sum("emp", split=Split(pay=1), rho=1), "no measure 'pay'"),
        (Query().sum("emp", split=Split(emp="0.5"), rho=1), "not a multiple of its resolution"),
        (Query().sum("emp", clamp=("0.5", 3), rho=1), "not a multiple of its resolution"),
        (Query().where("couty = '1'").count(rho=1), "Did you mean 'county'"),
        (Query().where("county = 37001").count(rho=1), "county"),
        (Query().count_distinct("owner", rho=1), "no id, unit or dimension 'owner'"),
        (
            Query().group_by("county", keys=Keys.from_dict({"county": [37001]})).count(rho=1),
            "write the keys as values of that kind",
        ),
        (
            Query().sum("emp", split=Split.by("county", {"37001": Split(emp=1)}), rho=1),
            "have no default",
        ),
        (
            Query().sum(
                "emp", split=Split.by("county", {37001: Split(emp=1)}, Split(emp=2)), rho=1
            ),
            "are different values",
        ),
        (
            Query().count(by="countty", rho={"37001": 1, ...: 2}),
            "Did you mean 'county'",
        ),
    ],
)
def test_a_query_that_the_table_cannot_answer_is_refused(asked, message):
    """By the planner, from the schema alone."""
    with table(pa.table(SOURCE), **ROLES) as opened, pytest.raises(PerrecordError, match=message):
        plan(asked, opened.schema)


def test_grouping_without_keys_explains_the_three_ways():
    """A public list, a declared domain, or selection with noise."""
    with pytest.raises(QueryError) as caught:
        Query().group_by("county")
    for way in ("Keys.read", "SelectCells", "SelectKeys"):
        assert way in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Query().group_by("county", keys={"county": ["37001"]}), "Keys.from_dict"),
        (lambda: Query().group_by(37001), "expected names"),
        (lambda: Query().sum("emp", clamp=10, rho=1), "the lowest and the highest"),
        (lambda: Query().sum("emp", rho=1), "exactly one of"),
        (lambda: Query().count(rho=1).count(epsilon=1, name="m"), "in rho and in epsilon"),
        (lambda: Query().count(), "needs one amount"),
        (
            lambda: Query().average("emp", clamp=(0, 9), rho=(1, 2, 3)),
            "one for its total and one for",
        ),
    ],
)
def test_a_natural_mistake_is_explained(wrong, message):
    """With what to type instead."""
    with pytest.raises(PerrecordError, match=message):
        wrong()


def test_columns_may_be_given_as_a_list():
    """One by one or together."""
    keys = Keys.from_dict({"county": ["37001"]})
    assert Query().group_by(["county"], keys=keys) == Query().group_by("county", keys=keys)


def test_a_key_fixes_what_is_derived_from_it():
    """The sector of an industry that is grouped by, in full or by more of its digits."""
    roles = {"naics": "naics", "naics2": "substr(naics, 1, 2)", "naics3": "substr(naics, 1, 3)"}
    with table(pa.table(SOURCE), dimensions=roles) as opened:
        schema = opened.schema
    assert set(schema.fixed_by(["naics"])) == {"naics", "naics2", "naics3"}
    assert schema.fixed_by(["naics3"])["naics2"] == Substring(Column("naics3"), 1, 2)
    assert set(schema.fixed_by(["naics2"])) == {"naics2"}


def test_a_key_does_not_fix_what_follows_from_more_than_it():
    """A cell's noise is read off its key, so half of what decides must not pass for all of it."""
    roles = {"naics": "naics", "county": "county", "both": "naics = '1' AND county = '2'"}
    with table(pa.table(SOURCE), dimensions=roles) as opened:
        schema = opened.schema
    assert set(schema.fixed_by(["naics"])) == {"naics"}
    assert set(schema.fixed_by(["naics", "county"])) == {"naics", "county", "both"}


def test_sectors_roll_up_from_industries_and_states_from_counties():
    """One grouping set is scanned; the coarser ones are read from it."""
    roles = {
        "county": "county",
        "state": "substr(county, 1, 2)",
        "naics": "naics",
        "naics2": "substr(naics, 1, 2)",
    }
    fine = Keys.from_dict({"county": SOURCE["county"], "naics": SOURCE["naics"]})
    coarse = Keys.from_dict({"state": ["37", "48"], "naics2": ["11", "21"]})
    with table(pa.table(SOURCE), dimensions=roles, measures=["emp"]) as opened:
        asked = [
            Query().group_by("county", "naics", keys=fine).count(rho=HUGE),
            Query().group_by("state", "naics2", keys=coarse).count(rho=HUGE),
            Query().group_by("state", keys=coarse).count(rho=HUGE),
        ]
        planned = plan(asked, opened.schema)
        found = answer(opened, asked)
    assert [len(scan.sets) for scan in planned.scans] == [1]
    assert [row["count"] for row in found[1].table.to_pylist()] == [2, 0, 0, 1]
    assert [row["count"] for row in found[2].table.to_pylist()] == [2, 1]


def test_the_sql_of_a_query_is_shown_for_either_engine():
    """As it runs, but for the layout."""
    with table(pa.table(SOURCE), **ROLES) as opened:
        asked = Query().where("county = '37001'").sum("emp", split=Split(emp=5), rho=1)
        assert "records.\"county\" = '37001'" in asked.sql(opened.schema)
        assert "AS `_perrecord_part2_" in asked.sql(opened.schema, "spark")
        with pytest.raises(InputError, match="there is no dialect 'oracle'"):
            asked.sql(opened.schema, "oracle")
