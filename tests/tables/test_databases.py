"""Databases as sources: declared columns, read once, misfits NULL, nothing read before a scan."""

import sqlite3
import time
import warnings
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from perrecord import Keys, Query, Split
from perrecord.confidential.revealing import revealed
from perrecord.errors import SourceError
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.tables.databases.others import IbisTable
from perrecord.tables.sources import open_source
from perrecord.tables.table import table as table_of
from tests.queries.reference import exact


def rows_of(opened, names):
    """Return the records that queries see, measures on their grid."""
    return [tuple(row.values()) for row in opened.engine.frame(opened.select(names)).to_pylist()]


@pytest.fixture
def lite(tmp_path):
    """Return a function that makes a SQLite database of statements and gives its address."""

    def make(*statements, name="est.db"):
        connection = sqlite3.connect(tmp_path / name)
        for each in statements:
            connection.execute(*each) if isinstance(each, tuple) else connection.execute(each)
        connection.commit()
        connection.close()
        return f"sqlite://{tmp_path / name}"

    return make


# -- SQLite -----------------------------------------------------------------------------------


def test_what_is_no_whole_number_in_a_sqlite_column_is_null(lite):
    """SQLite keeps any value in any column; one misfit must not end a release."""
    address = lite(
        "CREATE TABLE est (n INTEGER, note INTEGER)",
        ("INSERT INTO est VALUES (7, 'a'), ('x', x'00'), (x'ff', 1), (2.5, 1), (1e30, 1), (?, 1)",
         (2**63 - 1,)),
    )  # fmt: skip
    with table_of(address, relation="est", measures=["n"]) as opened:
        found = rows_of(opened, ["n"])
    assert found == [(7,), (None,), (None,), (None,), (None,), (2**63 - 1,)]


def test_sqlite_columns_are_what_they_declare(lite):
    """Floats, truth values, text and dates; the rest is NULL, also text that is not valid."""
    address = lite(
        "CREATE TABLE est (r REAL, d DECIMAL(10, 2), b BOOLEAN, t VARCHAR(9), day DATE, x BLOB)",
        "INSERT INTO est VALUES (1, 2.5, 1, 'é', '2024-02-29', x'00')",
        "INSERT INTO est VALUES ('x', 'x', 2, x'61', 20240229, 1)",
        "INSERT INTO est VALUES (1e999, 3, 0, CAST(x'ff41' AS TEXT), '12024-01-01', NULL)",
    )
    roles = {"dimensions": ["b", "t", "day"], "measures": {"r": 1, "d": "0.1"}}
    with table_of(address, relation="est", **roles) as opened:
        assert rows_of(opened, ["r", "d", "b", "t", "day"]) == [
            (1, 25, True, "é", "2024-02-29"),
            (None, None, None, None, None),
            (None, 30, False, None, "12024-01-01"),
        ]


def test_a_sqlite_database_of_another_encoding_is_read(lite):
    """Text is stored as the database was made."""
    address = lite(
        "PRAGMA encoding = 'UTF-16le'",
        "CREATE TABLE est (t TEXT)",
        "INSERT INTO est VALUES ('né😀'), (CAST(x'00d8' AS TEXT))",
    )
    with table_of(address, relation="est", dimensions=["t"]) as opened:
        assert rows_of(opened, ["t"]) == [("né😀",), (None,)]


def test_sqlite_columns_without_a_usable_type_are_refused_by_name(lite):
    """Bytes, and what a view computes; other columns of the same table can be used."""
    address = lite(
        "CREATE TABLE est (n INTEGER, b BLOB)", "CREATE VIEW v AS SELECT n, n + 1 AS more FROM est"
    )
    with pytest.raises(SourceError, match=r"column 'b' is BLOB.*CAST\(\.\.\. AS INTEGER\)"):
        table_of(address, relation="est", dimensions=["b"])
    with pytest.raises(SourceError, match="column 'more' is without a type in SQLite"):
        table_of(address, relation="v", dimensions=["more"])
    table_of(address, relation="v", dimensions=["n"]).close()


def test_a_sqlite_database_is_never_created_or_written(tmp_path, lite):
    """Neither by its relative name nor by an absolute one, and its bytes stay the same."""
    for address in (f"sqlite://{tmp_path}/none.db", f"duckdb://{tmp_path}/none.ddb"):
        with pytest.raises(SourceError, match=r"there is no file .* and none is created"):
            open_source(address, relation="est")
    assert list(tmp_path.iterdir()) == []
    address = lite("CREATE TABLE est (n INTEGER)", "INSERT INTO est VALUES (1)")
    path = tmp_path / "est.db"
    before = path.read_bytes()
    with open_source(address, relation="est") as engine:
        assert engine.frame(f"SELECT count(*) AS n FROM {engine.relation}").to_pydict() == {
            "n": [1]
        }
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            engine._remote._connection.execute("INSERT INTO est VALUES (2)")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# -- what is read, and when -------------------------------------------------------------------


def test_only_declared_columns_are_read(lite):
    """A lookup's key counts as declared, and so does what an expression names."""
    address = lite(
        "CREATE TABLE est (id TEXT, county TEXT, naics TEXT, emp INTEGER, secret TEXT, x BLOB)"
    )
    asked = {"id": "id", "dimensions": {"sector": "substr(naics, 1, 2)"}, "measures": ["emp"]}
    with table_of(address, relation="est", **asked) as opened:
        opened.engine.fetch()
        held = opened.engine._database.schema(f"FROM {opened.engine.relation}").names
    assert held == ["id", "naics", "emp"]


def test_no_column_need_be_declared(lite):
    """Then records are counted."""
    address = lite("CREATE TABLE est (x BLOB)", "INSERT INTO est VALUES (1), (2)")
    with table_of(address, relation="est") as opened:
        planned = plan(Query().count(rho=1), opened.schema)
        assert exact(planned, opened)[0][0] != exact(planned, opened)[0][1]
        with scanned(planned, opened) as cells:
            (numbers,) = cells[0].numbers((), list(cells[0].scan.aggregates), None).values()
        assert list(revealed(numbers)) == [2]


def test_nothing_is_read_until_a_query_runs(lite):
    """Opening, declaring and planning look at names and types alone."""
    address = lite("CREATE TABLE est (n INTEGER)", "INSERT INTO est VALUES (1)")
    with table_of(address, relation="est", measures=["n"]) as opened:
        statements = []
        opened.engine._remote._connection.set_trace_callback(statements.append)
        planned = plan(Query().sum("n", split=Split(n=1), rho=1), opened.schema)
        assert not opened.engine._is_copied
        assert statements == []
        exact(planned, opened)
        exact(planned, opened)
        assert sum("FROM" in each for each in statements) == 1


def test_a_view_that_draws_numbers_is_one_table(tmp_path, lite):
    """All scans see the rows of the first one: in SQLite, in DuckDB files and through Ibis."""
    path = tmp_path / "est.ddb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE VIEW v AS SELECT CAST(1000000 * random() AS INTEGER) AS n FROM range(1000)"
        )
        connection.execute("CREATE TABLE base AS SELECT range AS i FROM range(1000)")
        connection.execute(
            "CREATE TABLE g (i INTEGER, n DOUBLE GENERATED ALWAYS AS (1000 * random()) VIRTUAL)"
        )
        connection.execute("INSERT INTO g SELECT range FROM range(1000)")
    made = lite(
        "CREATE TABLE base (i INTEGER)",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000) "
        "INSERT INTO base SELECT i FROM c",
        "CREATE VIEW v AS SELECT i FROM base WHERE random() > 0",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and DuckDB
        import ibis

        theirs = ibis.duckdb.connect()
        theirs.con.execute("CREATE VIEW v AS SELECT CAST(9e9 * random() AS BIGINT) AS n")
        guest = theirs.table("v")
    sources = [
        (f"duckdb://{path}", "v", "n"),
        (f"duckdb://{path}", "g", "n"),
        (made, "v", "i"),
        (guest, None, "n"),
    ]
    for source, relation, name in sources:
        with table_of(source, relation=relation, measures=[name]) as opened:
            planned = plan(Query().sum(name, split=Split(**{name: 1}), rho=1), opened.schema)
            assert exact(planned, opened) == exact(planned, opened)
            assert rows_of(opened, [name]) == rows_of(opened, [name])
    with open_source(f"duckdb://{path}", relation="base") as engine:
        assert engine.relation != '"_perrecord_source"'  # a table is read where it is


def test_a_copy_keeps_within_the_memory_limit(tmp_path, lite):
    """What does not fit is spilled, and goes with the table."""
    address = lite(
        "CREATE TABLE est (a INTEGER, b TEXT)",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000) "
        "INSERT INTO est SELECT i * 4611686018427, hex(randomblob(200)) FROM c",
    )
    spill = tmp_path / "spill"
    spill.mkdir()
    options = {"memory_limit": "24MB", "spill_folder": spill}
    with table_of(address, relation="est", measures=["a"], dimensions=["b"], **options) as opened:
        opened.engine.fetch()
        held = sum(each.stat().st_size for each in spill.rglob("*") if each.is_file())
        assert held > 4_000_000
        total = opened.engine.frame(f"SELECT count(*) AS n FROM {opened.engine.relation}")
        assert total.to_pydict() == {"n": [100_000]}
    assert list(spill.iterdir()) == []


# -- somebody's DuckDB ------------------------------------------------------------------------

ODD = (
    "SET default_collation = 'NOCASE'",
    "SET default_null_order = 'NULLS FIRST'",
    "SET default_order = 'DESC'",
    "SET integer_division = true",
    "SET ieee_floating_point_ops = false",
    "SET old_implicit_casting = true",
    "SET preserve_insertion_order = false",
    "SET TimeZone = 'Asia/Kolkata'",
    "SET threads = 1",
    "CREATE MACRO substring(a, b, c) AS 'macro'",
    "CREATE MACRO round(a) AS 0",
    "CREATE MACRO abs(a) AS 0",
)


def test_no_setting_of_somebodys_duckdb_changes_a_number():
    """Collations reach literals there, and settings change division, order and casts."""
    data = pa.table(
        {
            "state": ["TX", "tx", "Tx", None],
            "emp": [5, 7, 11, 13],
            "rent": [1.5, -0.5, float("nan"), 2.4],
        }
    )
    roles = {
        "dimensions": {
            "state": "state",
            "is_tx": "state = 'tx'",
            "large": "'TX' = 'tx'",
            "first": "substr(state, 1, 1)",
            "half": "emp_raw // 2",
            "likes": "state LIKE 'T%'",
        },
        "measures": {"emp": 2, "rent": 1},
    }
    data = data.append_column("emp_raw", data["emp"])
    asked = [
        Query()
        .group_by(name, keys=Keys.from_dict(keys))
        .count(rho=1)
        .sum("emp", split=Split(emp=2), rho=1)
        for name, keys in {
            "state": {"state": ["TX", "tx", "Tx", None]},
            "is_tx": {"is_tx": [True, False, None]},
            "large": {"large": [True, False]},
            "first": {"first": ["T", "t", "macro", None]},
            "half": {"half": [2, 3, 5, 6]},
            "likes": {"likes": [True, False, None]},
        }.items()
    ]
    asked.append(Query().where("state IN ('tx')").sum("rent", split=Split(rent=1), rho=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and DuckDB
        import ibis

        theirs = ibis.duckdb.connect()
        theirs.con.register("rows", data)
        theirs.con.execute("CREATE TABLE est AS FROM rows")
        for statement in ODD:
            theirs.con.execute(statement)
        guest = theirs.table("est")
    with table_of(guest, **roles) as there, table_of(data, **roles) as here:
        assert exact(plan(asked, there.schema), there) == exact(plan(asked, here.schema), here)


def test_a_database_that_only_ibis_reads():
    """Declared columns, once; a type that Arrow lacks does no harm unless it is declared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and Polars
        import ibis
        import ibis.expr.datatypes as dt

        data = pa.table({"state": ["TX", None], "emp": [2**62 + 1, None], "x": ["a", "b"]})
        theirs = ibis.polars.connect({"est": pl.from_arrow(data)}).table("est")
    with table_of(theirs, dimensions=["state"], measures=["emp"]) as opened:
        assert rows_of(opened, ["state", "emp"]) == [("TX", 2**62 + 1), (None, None)]
        assert opened.engine._database.schema(f"FROM {opened.engine.relation}").names == [
            "state",
            "emp",
        ]
    with table_of(theirs) as opened:
        count = opened.engine.frame(f"SELECT count(*) AS n FROM ({opened.select([])})")
        assert count.to_pydict() == {"n": [2]}
    for kind in (dt.Point(), dt.Decimal(50, 2)):
        odd = IbisTable(theirs.mutate(y=ibis.literal(None, kind)))
        odd.check(["state", "emp"])
        with pytest.raises(SourceError, match=r"column 'y' is (point|decimal)"):
            odd.check(["y"])


# -- PostgreSQL -------------------------------------------------------------------------------


@pytest.fixture
def server(postgres):
    """Give a connection to the server whose schema public is empty."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection


EVERYTHING = """
CREATE TYPE size AS ENUM ('small', 'large');
CREATE DOMAIN headcount AS integer;
CREATE TABLE est (
    s smallint, i integer, n bigint, f real, d double precision, money numeric(12, 2),
    any_number numeric, t text, c char(3), e size, u uuid, b boolean, day date, h headcount,
    seen timestamptz, place point, "na%me x" text
);
INSERT INTO est VALUES
(1, 2, 9223372036854775807, 0.1, 0.1, 10.25, 1.00000000005, 'é', 'ab', 'small',
 '00000000-0000-0000-0000-000000000001', true, '2024-02-29', 3, now(), '(1,2)', 'y'),
(-32768, NULL, -1, 'NaN', 'Infinity', 'NaN', 'NaN', '', NULL, NULL, NULL, false, 'infinity', 1,
 now(), NULL, NULL),
(1, 2, 3, '-Infinity', 1e300, 5, 'Infinity', 'b', 'c', 'large', NULL, NULL, '10000-01-01', 1,
 '-infinity', NULL, NULL),
(1, 2, 3, 1, 1, 5, 1e15, 'b', 'c', 'large', NULL, NULL, '0044-03-15 BC', 1, now(), NULL, NULL),
(1, 2, 3, 1, 1, 5, -999999999999999, 'b', 'c', 'large', NULL, NULL, '0001-01-01', 1, now(), NULL,
 NULL);
"""


@pytest.mark.postgres
def test_postgres_types_and_misfits(postgres, server):
    """NaN, infinities and dates outside the years 1 to 9999 are NULL; nothing fails."""
    server.execute(EVERYTHING)
    server.execute("CREATE VIEW same AS SELECT * FROM est")
    names = ["s", "i", "n", "f", "d", "money", "any_number", "t", "c", "e", "u", "b", "day", "h"]
    with open_source(postgres, relation="same") as engine:
        assert list(engine.columns) == [*names, "seen", "place", "na%me x"]
        engine.use([*names, "na%me x"])
        found = engine.frame(f"SELECT * FROM {engine.relation}")
        for name in names:
            assert found.schema.field(name).type == engine.columns[name]
    nan = float("nan")
    rows = found.to_pydict()
    assert rows["n"] == [2**63 - 1, -1, 3, 3, 3]
    assert rows["f"][2:] == [float("-inf"), 1.0, 1.0]
    assert rows["f"][0] == pa.scalar(0.1, pa.float32()).as_py()
    assert str(rows["f"][1]) == str(nan)
    assert rows["d"] == [0.1, float("inf"), 1e300, 1.0, 1.0]
    assert rows["money"] == [Decimal("10.25"), None, Decimal(5), Decimal(5), Decimal(5)]
    assert rows["any_number"] == [
        Decimal(1), None, None, None, Decimal(-999999999999999)
    ]  # fmt: skip
    assert rows["t"] == ["é", "", "b", "b", "b"]
    assert rows["c"] == ["ab", None, "c", "c", "c"]
    assert rows["e"] == ["small", None, "large", "large", "large"]
    assert rows["u"][0] == "00000000-0000-0000-0000-000000000001"
    assert rows["b"] == [True, False, None, None, None]
    assert rows["day"] == ["2024-02-29", None, None, None, "0001-01-01"]
    assert rows["h"] == [3, 1, 1, 1, 1]
    assert rows["na%me x"] == ["y", None, None, None, None]


@pytest.mark.postgres
def test_postgres_columns_that_cannot_be_had_are_refused_by_name(postgres, server):
    """A point, a moment, a number of too many digits; they do no harm unless they are declared."""
    server.execute(EVERYTHING)
    server.execute("CREATE TABLE wide (n numeric(50, 2), t text, ok integer)")
    with pytest.raises(SourceError, match=r"column 'place' is point.*CAST\(place AS text\)"):
        table_of(postgres, relation="est", dimensions=["place"])
    with pytest.raises(SourceError, match=r"'seen' is timestamp with.*CAST\(seen AS date\)"):
        table_of(postgres, relation="est", dimensions=["seen"])
    with pytest.raises(SourceError, match=r"column 'n' is numeric\(50, 2\)"):
        table_of(postgres, relation="wide", measures=["n"])
    with table_of(postgres, relation="wide", dimensions=["t"], measures=["ok"]) as opened:
        assert rows_of(opened, ["t", "ok"]) == []
    server.execute("DROP DATABASE IF EXISTS bytes")
    server.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
    import psycopg

    other = postgres.replace("/postgres?", "/bytes?")
    with psycopg.connect(other, autocommit=True) as connection:
        connection.execute("CREATE TABLE est (t text, n integer)")
    with pytest.raises(SourceError, match="column 't' is text in a database of encoding SQL_ASCII"):
        table_of(other, relation="est", dimensions=["t"])
    table_of(other, relation="est", measures=["n"]).close()
    server.execute("DROP DATABASE bytes")


@pytest.mark.postgres
def test_a_postgres_table_is_found_by_its_name(postgres, server):
    """Tables, views and materialised views, in a schema or not; what there is is said."""
    server.execute("CREATE SCHEMA other")
    try:
        server.execute("CREATE TABLE est (n integer)")
        server.execute("CREATE MATERIALIZED VIEW other.m AS SELECT 1 AS n")
        table_of(postgres, relation="other.m", measures=["n"]).close()
        with pytest.raises(SourceError, match="It has est"):
            table_of(postgres, relation="ests")
    finally:
        server.execute("DROP SCHEMA other CASCADE")


@pytest.mark.postgres
def test_postgres_rows_are_read_once_and_nothing_is_written(postgres, server):
    """Not before a query runs; a view that draws numbers is one table for all of them."""
    server.execute("CREATE TABLE est AS SELECT i FROM generate_series(1, 120000) AS i")
    server.execute("CREATE VIEW v AS SELECT i, (random() * 1e9)::integer AS n FROM est")
    server.execute("CREATE VIEW bad AS SELECT 1 / (i - i) AS n FROM est")
    with table_of(postgres, relation="bad", measures=["n"]) as opened:
        with pytest.raises(SourceError, match="withheld") as caught:
            rows_of(opened, ["n"])
        assert "zero" not in str(caught.value)
    alone(server)
    server.execute("SELECT pg_stat_reset()")
    with table_of(postgres, relation="v", measures=["n"]) as opened:
        planned = plan(Query().sum("n", split=Split(n=1), rho=1), opened.schema)
        assert not opened.engine._is_copied
        assert exact(planned, opened) == exact(planned, opened)
        assert len(rows_of(opened, ["n"])) == 120_000
        with pytest.raises(Exception, match="read-only"):
            opened.engine._remote.connection.execute("DROP VIEW v")
    alone(server)
    scans = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'est'"
    server.execute("SELECT pg_stat_clear_snapshot()")
    assert server.execute(scans).fetchone()[0] == 1


def alone(server):
    """Wait until no other connection is there: a server counts scans when a connection ends."""
    others = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    for _ in range(600):
        if not server.execute(others).fetchone()[0]:
            return
        time.sleep(0.1)
    raise AssertionError("a connection of the library's own stays open")


@pytest.mark.postgres
@pytest.mark.parametrize("autocommit", [True, False])
def test_an_ibis_table_of_postgres_is_copied_alike(postgres, server, autocommit):
    """With odd settings of the connection, which stay as they are."""
    server.execute("CREATE TABLE est (state text, d double precision, day date, m numeric)")
    server.execute("INSERT INTO est VALUES ('tx', 0.1::float8 + 0.2, '2024-03-01', 'NaN')")
    server.execute("INSERT INTO est VALUES ('TX', 'NaN', 'infinity', 2)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas
        import ibis
        import psycopg

        connection = psycopg.connect(postgres, autocommit=autocommit)
        connection.execute("SET extra_float_digits = -15")
        connection.execute("SET datestyle = 'SQL, DMY'")
        theirs = ibis.postgres.from_connection(connection)
        table = theirs.table("est").filter(ibis._.state.notnull()).order_by("state")
    with open_source(table) as engine:
        assert engine.frame(f"SELECT * FROM {engine.relation}").to_pydict() == {
            "state": ["TX", "tx"],
            "d": [pytest.approx(float("nan"), nan_ok=True), 0.1 + 0.2],
            "day": [None, "2024-03-01"],
            "m": [Decimal(2), None],
        }
    assert connection.execute("SHOW datestyle").fetchone() == ("SQL, DMY",)
    connection.close()
