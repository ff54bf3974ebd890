"""Every kind of query on DuckDB and on PostgreSQL: the same integers, in one snapshot."""

import math
from datetime import date
from decimal import Decimal
from random import Random

import numpy as np
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
    SpecError,
    Split,
    table,
)
from perrecord.confidential.revealing import revealed
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.doctor import examine
from perrecord.evaluate.losses.realised import losses
from perrecord.lab.audit import random_derived, random_queries, random_tables
from perrecord.lab.audit.doors.server import fill
from perrecord.mechanisms.rows import plan_rows, run_rows
from perrecord.queries.aggregates import Pieces
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.release.publish import release
from perrecord.tables.databases.copied import CopiedEngine
from perrecord.tables.databases.pushed import PushedEngine
from perrecord.tables.dialects import POSTGRES
from perrecord.tables.expressions import describe, evaluate, to_sql
from perrecord.tables.measures import grid_sql
from perrecord.tables.readable import check_readable
from tests import first
from tests.engines.test_same_integers import SAMPLES
from tests.evaluate.losses.test_realised import check as check_losses
from tests.evaluate.losses.test_realised import workload
from tests.evaluate.reference import agree, expanded
from tests.queries.reference import exact, reference
from tests.release.test_release import ROWS, SPEC, contents, prepared
from tests.tables.random_expressions import (
    EDGE,
    FIELDS,
    TYPES,
    character_rows,
    expressions,
    on_characters,
    record_of,
)
from tests.tables.random_expressions import (
    rows as expression_rows,
)
from tests.tables.random_numbers import MEASURES
from tests.tables.test_expressions_spark import gathered
from tests.tables.test_measures import held_in

pytestmark = pytest.mark.postgres


@pytest.fixture
def server(postgres):
    """Give a connection to the server whose schema public is empty."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection


@pytest.fixture
def on_both(postgres, server):
    """Return a function that opens the same rows on DuckDB and on PostgreSQL."""

    def open_both(arrow, **roles):
        server.execute("DROP TABLE IF EXISTS est")
        fill(server, "est", arrow, {})
        there = table(postgres, relation="est", **roles)
        assert isinstance(there.engine, PushedEngine)
        return table(arrow, **roles), there

    return open_both


@pytest.mark.parametrize("seed", first(4, range(8)))
def test_random_workloads_give_the_same_integers(on_both, seed):
    """Nulls, negatives, unicode keys, huge values, empty groups, roll-ups, splits, quantiles."""
    random = Random(seed)
    rows = random_tables.rows(random, 120)
    workload = [random_queries.query(random) for _ in range(4)]
    here, there = on_both(random_tables.arrow(rows), **random_tables.DECLARED)
    with here, there:
        planned, pushed = plan(workload, here.schema), plan(workload, there.schema)
        check_readable(there)
        assert exact(planned, here) == exact(pushed, there) == reference(planned, rows)


@pytest.mark.parametrize("kind", list(SAMPLES), ids=str)
def test_postgres_rounds_to_the_grid_as_python_does(server, kind):
    """Hundreds of values of each type and every measure, in one query, and none raises."""
    extremes = [math.nextafter(math.inf, 0), -5e-324, 2.0**-1022] if kind == pa.float64() else []
    values = [None, *SAMPLES[kind], *extremes]
    fill(server, "given", pa.table({"v": pa.array(values, kind)}), {})
    columns = ", ".join(grid_sql(measure, "v", kind, POSTGRES) for measure in MEASURES)
    rows = server.execute(f"SELECT v, {columns} FROM given", binary=True).fetchall()
    assert len(rows) == len(values)
    for value, *found in rows:
        held = held_in(kind, value)
        assert found == [measure.grid(held) for measure in MEASURES], value


def test_postgres_gives_what_evaluate_gives(server):
    """Random expressions, code points, patterns and backslashes; no row raises."""
    edges = [dict.fromkeys(FIELDS), dict.fromkeys(FIELDS) | {"size": -EDGE, "emp": EDGE - 1}]
    cases = [
        (_without_zero(gathered(expressions, 80)), gathered(expression_rows, 25) + edges),
        (on_characters(), character_rows()),
    ]
    kinds = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}
    schema = pa.schema({name: kinds[TYPES[field.kind]] for name, field in FIELDS.items()})
    text = {
        name: POSTGRES.as_text(POSTGRES.identifier(name))
        for name in FIELDS
        if schema.field(name).type == pa.string()
    }
    columns = {name: text.get(name, POSTGRES.identifier(name)) for name in FIELDS}
    for settings in ("on", "off"):
        server.execute(f"SET standard_conforming_strings = {settings}")
        for number, (tried, rows) in enumerate(cases):
            held = [row for row in rows if not any("\0" in str(each) for each in row.values())]
            fill(server, f"given{number}{settings}", pa.Table.from_pylist(held, schema), {})
            written = ", ".join(to_sql(each, FIELDS, columns, POSTGRES) for each in tried)
            found = server.execute(f"SELECT {written} FROM given{number}{settings}").fetchall()
            for place, expression in enumerate(tried):
                wanted = [evaluate(expression, record_of(row)) for row in held]
                values = [row[place] for row in found]
                assert values == wanted, describe(expression)
                assert [*map(type, values)] == [*map(type, wanted)]


def _without_zero(tried):
    """Leave out expressions with a text that PostgreSQL cannot hold; it refuses them."""
    kept = []
    for each in tried:
        try:
            to_sql(each, FIELDS, {name: name for name in FIELDS}, POSTGRES)
        except InputError:
            continue
        kept.append(each)
    assert len(kept) > len(tried) / 2
    return kept


@pytest.mark.parametrize("seed", range(3))
def test_derived_and_weighted_measures_are_the_same_integers(on_both, seed):
    """Products, ties, cancelled terms, NULL and values beyond the largest, from every type."""
    random = Random(f"derived {seed}")
    found = random_derived.derived_table(random)
    rows = random_tables.rows(random, 150)
    here, there = on_both(random_tables.arrow(rows), **found.declared)
    with here, there:
        asked = [random_derived.query(random, found, "rho") for _ in range(3)]
        planned, pushed = plan(asked, here.schema), plan(asked, there.schema)
        assert exact(planned, here) == exact(pushed, there) == reference(planned, rows)


def test_derived_measures_near_the_end_of_128_bits(on_both):
    """36 digits before they are rounded."""
    ends = [10**18, -(10**18), 999_999_999_999_999_937, 3, None, 0]
    arrow = pa.Table.from_pylist(
        [{"x": x, "y": y} for x in ends for y in ends],
        pa.schema({"x": pa.int64(), "y": pa.int64()}),
    )
    large = Measure(1, largest=10**18)
    measures = {
        "x": large,
        "y": large,
        "cut": Measure(1, expression="x * y / 3", largest=10**17, outside="cut"),
        "rounded": Measure(10**9, expression="0.0000003 * x * y - x", largest=2**62 * 10**9),
    }
    here, there = on_both(arrow, measures=measures)
    with here, there:
        found = [each.engine.arrow(each.select([*measures])).to_pylist() for each in (here, there)]
    assert found[0] == found[1]


def test_split_rows_and_selected_keys_are_the_same(on_both):
    """Written out by the server, sorted byte by byte; keys with their pieces, in the same order."""
    random = Random(9)
    arrow = random_tables.arrow(random_tables.rows(random, 60))
    split = random_queries.scheme(random, "emp").capped(9)
    asked = {"columns": ["id", "sector", "emp", "pay", "rent"], "rho": 1, "split": split}
    by_sector = Split.by("sector", {"farm": Split(emp=3), None: Split(pay=2)}, Split(emp=7, rent=5))
    keys = SelectKeys(rho=1, delta="1e-6", split=by_sector)
    query = Query().group_by("sector", "big", keys=keys).count(rho=1)
    rows, selected = [], []
    for opened in on_both(arrow, **random_tables.DECLARED):
        with opened:
            rows.append(run_rows(plan_rows(opened, lambda given: given, **asked), opened).result)
            with scanned(plan(query, opened.schema), opened) as cells:
                occupied = cells[0].occupied(("sector", "big"), Pieces(by_sector))
                numbers = [int(each) for each in revealed(occupied.numbers)]
                selected.append((revealed(occupied.keys).to_pylist(), numbers))
    assert rows[0].to_pylist() == rows[1].to_pylist()
    assert rows[0].num_rows > 100
    assert selected[0] == selected[1]


def test_an_empty_table_gives_zeros(on_both):
    """Every declared key is there, with nothing in it."""
    random = Random(3)
    workload = [random_queries.query(random) for _ in range(3)]
    here, there = on_both(random_tables.arrow([]), **random_tables.DECLARED)
    with here, there:
        found = exact(plan(workload, there.schema), there)
        assert found == exact(plan(workload, here.schema), here)
        assert all(not any(each) for values, _ in found for each in values.values())


EVERYTHING = """
CREATE TYPE size AS ENUM ('small', 'large', 'Large');
CREATE DOMAIN headcount AS integer CHECK (VALUE >= 0);
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE est (
    s smallint, h headcount, f real, d double precision, money numeric(12, 2), any_number numeric,
    folded text COLLATE folded, english text COLLATE "en-x-icu", c char(3), e size, u uuid,
    b boolean, day date, seen timestamp DEFAULT '2024-02-29 12:34:56.7'
);
INSERT INTO est VALUES
(1, 3, 0.1, 1e308, 10.25, 1.005, 'nc', 'b', 'ab', 'small', gen_random_uuid(), true, '2024-02-29'),
(-5, NULL, 'NaN', 'Infinity', 'NaN', 'NaN', 'NC', 'B', NULL, 'large', NULL, false, 'infinity'),
(7, 0, '-Infinity', 5e-324, NULL, 'Infinity', 'Nc', 'a', '', 'Large', NULL, NULL, '10000-01-01'),
(9, 1, 1e38, '-0', 5, 1e15, '', 'ä', 'c', NULL, NULL, NULL, '0044-03-15 BC'),
(9, 1, 1, 1, 5, -999999999999999, NULL, NULL, 'c', NULL, NULL, NULL, '0001-01-01');
UPDATE est SET seen = CASE s WHEN 1 THEN 'infinity' WHEN 7 THEN '10000-01-01' ELSE seen END;
CREATE VIEW same AS SELECT * FROM est;
"""


def test_pushed_down_and_copied_a_table_is_the_same(postgres, server):
    """NaN, infinities, NULL, empty text, far dates, collations that fold or sort otherwise."""
    server.execute(EVERYTHING)
    dimensions = ["folded", "english", "c", "e", "u", "b", "day", "seen"]
    more = {"big": "english < 'b'", "is_nc": "folded = 'nc'", "starts": "english LIKE 'B%'"}
    roles = {
        "unit": "folded",
        "dimensions": {**{name: name for name in dimensions}, **more},
        "measures": {"s": 1, "h": 1, "f": "0.1", "d": "0.01", "money": "0.1", "any_number": "0.01"},
    }
    with (
        table(postgres, relation="est", **roles) as pushed,
        table(postgres, relation="same", **roles) as copied,
    ):
        assert isinstance(pushed.engine, PushedEngine)
        assert isinstance(copied.engine, CopiedEngine)
        names = [*roles["dimensions"], *roles["measures"]]
        key = str
        both = [each.engine.arrow(each.select(names)).to_pylist() for each in (pushed, copied)]
        assert sorted(both[0], key=key) == sorted(both[1], key=key)
        assert {row["seen"] for row in both[0]} == {None, "2024-02-29 12:34:56.700000"}
        keys = Keys.from_dict({"folded": ["nc", "NC", "Nc", "", None]})
        asked = [
            Query().group_by("folded", keys=keys).count(rho=1),
            Query().where("folded = 'nc'").count(rho=1),
            Query().count_distinct("folded", rho=1),
            Query().where("english < 'b'").count(rho=1),
        ]
        found = exact(plan(asked, pushed.schema), pushed)
        assert found == exact(plan(asked, copied.schema), copied)
    assert [[*map(int, each)] for values, _ in found for each in values.values()] == [
        [1, 1, 1, 1, 1], [1], [4], [2]
    ]  # fmt: skip


def test_numbers_of_any_digits_are_rounded_once(postgres, server):
    """To the grid, as Python does it, also those just below the middle of two steps."""
    middles = [Decimal(n) / 2 for n in range(-9, 10)] + [Decimal(n) / 200 for n in range(-9, 10)]
    numbers = [
        middle + sign * Decimal(10) ** -place
        for middle in middles
        for sign in (-1, 0, 1)
        for place in (9, 10, 11, 12, 30)
    ]
    server.execute("CREATE TABLE any_digits (n numeric)")
    server.execute("CREATE VIEW the_same AS SELECT * FROM any_digits")
    with server.cursor() as cursor:
        cursor.executemany("INSERT INTO any_digits VALUES (%s)", [(each,) for each in numbers])
    for resolution in ("1", "0.01", "0.5"):
        measure = Measure(resolution)
        wanted = sorted(measure.number(each) / measure.resolution for each in numbers)
        for relation in ("any_digits", "the_same"):
            with table(postgres, relation=relation, measures={"n": resolution}) as opened:
                found = opened.engine.frame(opened.select(["n"]))["n"].to_pylist()
            assert sorted(found) == wanted


def test_every_scan_sees_one_state_of_the_table(postgres, server):
    """Rows that are added, changed and removed between two scans are in neither."""
    server.execute("CREATE TABLE est (n bigint)")
    server.execute("INSERT INTO est SELECT i FROM generate_series(1, 100) AS i")
    asked = Query().count(rho=1).sum("n", split=Split(n=1), rho=1)
    with table(postgres, relation="est", measures=["n"]) as opened:
        planned = plan(asked, opened.schema)
        server.execute("INSERT INTO est VALUES (1000)")  # before the first query: seen
        before = exact(planned, opened)
        server.execute("UPDATE est SET n = n + 1")
        server.execute("INSERT INTO est VALUES (7)")
        server.execute("DELETE FROM est WHERE n < 50")
        assert exact(planned, opened) == before
        server.execute("SET lock_timeout = '100ms'")
        with pytest.raises(Exception, match="lock timeout"):
            server.execute("TRUNCATE est")  # no snapshot outlasts it
        with pytest.raises(Exception, match="read-only"):
            opened.engine._remote.connection.execute("INSERT INTO public.est VALUES (1)")
    assert next([*map(int, each)] for values, _ in before for each in values.values()) == [101]
    with table(postgres, relation="est", measures=["n"]) as opened:
        assert exact(plan(asked, opened.schema), opened) != before


def test_what_is_computed_anew_is_copied(postgres, server):
    """Views, materialised and foreign tables, row security, types with a cast of their own."""
    server.execute(
        """
        CREATE TABLE est (n integer);
        CREATE VIEW v AS SELECT (random() * 1e9)::integer AS n FROM generate_series(1, 100);
        CREATE MATERIALIZED VIEW m AS SELECT 1 AS n;
        CREATE TABLE secured (n integer);
        ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
        CREATE TYPE own AS ENUM ('a');
        CREATE FUNCTION shown(own) RETURNS text LANGUAGE SQL AS 'SELECT random()::text';
        CREATE CAST (own AS text) WITH FUNCTION shown(own);
        CREATE TABLE cast_anew (n integer, e own);
        CREATE TABLE parts (n integer) PARTITION BY RANGE (n);
        CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (10);
        CREATE TABLE child () INHERITS (est);
        CREATE EXTENSION IF NOT EXISTS file_fdw SCHEMA public;
        CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
        CREATE TABLE whole (n integer);
        CREATE FOREIGN TABLE part () INHERITS (whole) SERVER files OPTIONS (filename '/dev/null');
        """
    )
    kinds = {
        name: type(opened.engine)
        for name in ("est", "parts", "v", "m", "secured", "cast_anew", "whole", "part")
        for opened in [table(postgres, relation=name, measures=["n"])]
        if opened.close() is None
    }
    pushed = {name for name, kind in kinds.items() if kind is PushedEngine}
    assert pushed == {"est", "parts"}
    assert {kinds[name] for name in kinds if name not in pushed} == {CopiedEngine}


def test_no_setting_of_a_role_or_a_database_changes_a_number(postgres, server):
    """Functions of somebody's own before PostgreSQL's, escapes, comparisons with NULL, dates."""
    random = Random(42)
    rows = random_tables.rows(random, 80)
    workload = [random_queries.query(random) for _ in range(4)]
    fill(server, "est", random_tables.arrow(rows), {})
    server.execute(
        """
        CREATE FUNCTION public.abs(bigint) RETURNS bigint LANGUAGE SQL AS 'SELECT 0::bigint';
        CREATE FUNCTION public.trunc(float8) RETURNS float8 LANGUAGE SQL AS 'SELECT 0::float8';
        CREATE FUNCTION public.odd(bigint, bigint) RETURNS boolean LANGUAGE SQL AS 'SELECT true';
        CREATE OPERATOR public.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.odd);
        ALTER ROLE tester SET search_path = public, pg_catalog;
        ALTER ROLE tester SET standard_conforming_strings = off;
        ALTER ROLE tester SET transform_null_equals = on;
        ALTER ROLE tester SET datestyle = 'SQL, DMY';
        ALTER ROLE tester SET extra_float_digits = -15;
        """
    )
    try:
        with table(postgres, relation="est", **random_tables.DECLARED) as opened:
            assert isinstance(opened.engine, PushedEngine)
            planned = plan(workload, opened.schema)
            assert exact(planned, opened) == reference(planned, rows)
    finally:
        server.execute("ALTER ROLE tester RESET ALL")


def test_a_lost_transaction_is_not_begun_again(postgres, server):
    """Another one might see other records; nothing that the server said is quoted."""
    server.execute("CREATE TABLE est (n integer, t text)")
    server.execute("INSERT INTO est VALUES (123456789, 'Zquince')")
    with table(postgres, relation="est", dimensions=["t"], measures=["n"]) as opened:
        planned = plan(Query().sum("n", split=Split(n=1), rho=1), opened.schema)
        exact(planned, opened)
        (own,) = opened.engine._remote.connection.execute("SELECT pg_backend_pid()").fetchone()
        server.execute("SELECT pg_terminate_backend(%s, 5000)", (own,))
        for _ in range(2):
            with pytest.raises(SourceError, match="ended before its time") as caught:
                exact(planned, opened)
        told = str(caught.value) + str(caught.value.__context__) + str(caught.value.__cause__)
        assert not any(each in told for each in ("123456789", "Zquince", str(own)))


def test_a_table_that_changes_its_columns_is_refused(postgres, server):
    """A number is read by the rule of its type, which was known when it was opened."""
    server.execute("CREATE TABLE est (n integer)")
    with table(postgres, relation="est", measures=["n"]) as opened:
        server.execute("ALTER TABLE est ALTER n TYPE numeric")
        with pytest.raises(SourceError, match="other types, than when it was opened"):
            check_readable(opened)


def test_names_and_texts_that_postgres_cannot_hold_are_refused(on_both):
    """It cuts names after 63 bytes, and no text has a character of code 0."""
    arrow = pa.table({"t": ["a"], "n": [1]})
    here, there = on_both(arrow, dimensions={"é" * 32: "t"}, measures=["n"])
    with here, there:
        asked = Query().group_by("é" * 32, keys=Keys.from_dict({"é" * 32: ["a"]})).count(rho=1)
        with pytest.raises(InputError, match="64 bytes; names in PostgreSQL"):
            exact(plan(asked, there.schema), there)
    with pytest.raises(InputError, match="character of code 0"):
        POSTGRES.text("a\0b")
    lookup = Lookup(pa.table({"t": ["a"], "when": pa.array([0], pa.duration("s"))}), on="t")
    with pytest.raises(InputError, match="'when' of a public table is duration"):
        on_both(arrow, dimensions=["t"], lookups=[lookup])


def test_a_lookup_of_every_type_is_given_to_the_server(on_both):
    """Text with quotes and backslashes, dates, decimals and floats, large whole numbers."""
    texts = ["a", 'b"c', "d\\e", "f'g", "{h,i}", "NULL", "", "ü%"]
    arrow = pa.table({"t": [*texts, None], "n": [*range(9)]})
    lookup = Lookup(
        pa.table(
            {
                "t": texts,
                "name": [each + "\\" for each in texts],
                "day": [date(2020, 2, 29)] * 8,
                "x": [0.1, -0.0, 1e300, math.nan, math.inf, None, 1.005, 2.5],
                "m": [Decimal("1.25")] * 8,
                "k": pa.array([2**63 + 5, *range(7)], pa.uint64()),
                "code": pa.array(texts).dictionary_encode(),
            }
        ),
        on="t",
    )
    roles = {
        "dimensions": ["t", "name", "day", "code"],
        "measures": {"n": 1, "x": "0.01", "m": "0.1", "k": 10},
        "lookups": [lookup],
    }
    here, there = on_both(arrow, **roles)
    with here, there:
        names = [*roles["dimensions"], *roles["measures"]]
        found = [each.engine.arrow(each.select(names)).to_pylist() for each in (here, there)]
    assert sorted(map(str, found[0])) == sorted(map(str, found[1]))


def test_evaluation_is_the_same(on_both):
    """Losses of records and units, errors, amounts that reach a goal, coverage and the doctor."""
    random = Random(0)
    rows = random_tables.rows(random, 40)
    asked = workload(random, 2)
    here, there = on_both(random_tables.arrow(rows), **random_tables.DECLARED)
    with here, there:
        planned = plan(asked, here.schema)
        check_losses(planned, there, rows)
        splits = {"by": random_queries.scheme(random, "emp")}
        found = [examine(each, {"first": asked[0]}, splits) for each in (here, there)]
        assert found[0] == found[1]
    rows = random_tables.rows(Random(4), 60, extreme=False)
    keys = Keys.from_dict({"sector": ["farm", "mine", "é", None]})
    query = (
        Query()
        .rollup("sector", keys=keys)
        .sum("emp", taper=5, rho="0.1")
        .sum("pay", split=Split(pay=2), rho="0.1")
        .quantile("emp", "1/2", candidates=[1, 5, 50], rho="0.1")
    )
    here, there = on_both(random_tables.arrow(rows), **random_tables.DECLARED)
    with here, there:
        planned = plan(query, here.schema)
        found = losses(planned, there)
        assert agree(found.realised, expanded(losses(planned, here).realised))
        for mine, theirs in zip(accuracy(planned, here), accuracy(planned, there), strict=True):
            np.testing.assert_array_equal(mine.reach, theirs.reach)


def test_a_release_from_postgres_tells_nothing_of_its_address(postgres, server, tmp_path, caplog):
    """Made and charged once; neither a file, a log nor a refusal holds the password."""
    rows = pa.table(ROWS)
    fill(server, "farms", rows, {})
    address = postgres.replace("postgres:///", "postgres://tester:Zquincunx@/").replace(
        "&user=tester", ""
    )
    place = f"source: {{path: '{address}', relation: farms, snapshot: first}}"
    caplog.set_level("DEBUG")
    spec = prepared(tmp_path, spec=SPEC.replace("source: farms.parquet", place))
    found = release(spec, tmp_path / "out")
    assert found.did == "made"
    assert release(spec, tmp_path / "out").did != "made"
    said = b"".join(contents(tmp_path / "out").values()) + caplog.text.encode()
    assert b"Zquincunx" not in said
    spec.write_text(spec.read_text().replace("/postgres?", "/none?").replace("first", "second"))
    with pytest.raises(SpecError, match="no connection to the postgres database") as caught:
        release(spec, tmp_path / "other")
    assert "Zquincunx" not in f"{caught.value} {caught.value.__context__} {caplog.text}"
