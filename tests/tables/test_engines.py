"""The DuckDB engines: exact, bounded, locked, and silent about what they read."""

import os
import signal
import threading
import time
import traceback
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError, SourceError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.engines.database import Database
from perrecord.tables.sources import open_source

SECRET = "-".join(("very", "confidential", "name"))


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """A Parquet file of a million rows; the last one holds a secret."""
    count = 1_000_000
    path = tmp_path_factory.mktemp("million") / "records.parquet"
    notes = pa.array(["1"] * (count - 1) + [SECRET])
    pq.write_table(pa.table({"id": pa.array(range(count)), "note": notes}), path)
    return path


@pytest.fixture
def parquet(million, tmp_path):
    """The same file in a folder of the test's own."""
    path = tmp_path / "records.parquet"
    path.hardlink_to(million)
    return path


def rows(batches):
    """Return the rows of a stream of batches."""
    return pa.Table.from_batches(batches).to_pylist()


def test_sums_beyond_64_bits_are_exact():
    """Eight times 2^62 and more, with nulls and negatives, stays exact when kept and rolled up."""
    values = [2**62] * 8 + [2**63 - 1, -(2**63), None, 1]
    with open_source(pa.table({"value": values})) as engine:
        engine.keep("cells", f"SELECT {DUCKDB.total('value')} AS total FROM {engine.relation}")
        found = rows(engine.local("SELECT sum(total) AS total FROM cells"))
        assert int(found[0]["total"]) == sum(value or 0 for value in values)


def test_keys_are_compared_byte_by_byte():
    """Case, trailing blanks, combining marks and the empty string make different keys."""
    keys = ["", " ", "a", "a ", "A", "e\u0301", "é", "ß", "ss", "\U0001f404", None]
    with open_source(pa.table({"key": keys})) as engine:
        sql = f"SELECT key, count(*) AS n FROM {engine.relation} GROUP BY key"
        assert {row["key"]: row["n"] for row in rows(engine.batches(sql))} == dict.fromkeys(keys, 1)


@pytest.mark.parametrize(
    "text", ["", "O'Neill", "''", "' OR TRUE --", "\\'", "%_", "é\U0001f404\n"]
)
def test_a_literal_is_the_text_that_it_was_made_of(text):
    """No character of it ends it."""
    with open_source(pa.table({"key": [text, f"{text}x"]})) as engine:
        sql = f"SELECT key FROM {engine.relation} WHERE key = {DUCKDB.literal(text)}"
        assert rows(engine.batches(sql)) == [{"key": text}]


def test_results_are_streamed_in_batches(parquet):
    """A million rows come in many batches, in order, and two streams may be open at once."""
    with open_source(parquet) as engine:
        sql = f"SELECT id FROM {engine.relation}"
        left, right = engine.batches(sql), engine.local(sql)
        first = next(left).num_rows, next(right).num_rows
        assert max(first) < 200_000
        engine.keep("meanwhile", "SELECT 1 AS one")
        assert first[0] + sum(batch.num_rows for batch in left) == 1_000_000
        right.close()


def test_an_empty_result_still_has_a_schema(parquet):
    """A stream of nothing yields one empty batch."""
    with open_source(parquet) as engine:
        batches = list(engine.batches(f"SELECT id FROM {engine.relation} WHERE id < 0"))
        assert [batch.num_rows for batch in batches] == [0]
        assert batches[0].schema == pa.schema({"id": pa.int64()})


def test_side_tables_come_and_go(parquet):
    """An added table is joined to, a kept one read, and both are forgotten when dropped."""
    with open_source(parquet) as engine:
        engine.add("keys", pa.table({"id": [1, 2, 10**9]}))
        engine.add_local("labels", pa.table({"label": ["x"]}))
        engine.keep("found", f"SELECT count(*) AS n FROM {engine.relation} JOIN keys USING (id)")
        assert engine.frame("SELECT n, label FROM found, labels").to_pylist() == [
            {"n": 2, "label": "x"}
        ]
        for name in ("keys", "found"):
            engine.drop(name)
            with pytest.raises(SourceError):
                engine.batches(f"SELECT * FROM {name}")


def test_a_failure_quotes_no_record(parquet, capfd):
    """A secret that cannot be cast is in no message, traceback or file descriptor."""
    with open_source(parquet) as engine:
        failing = f"SELECT CAST(note AS INTEGER) AS n FROM {engine.relation}"
        for action in (
            lambda: list(engine.batches(failing)),
            lambda: list(engine.local(failing)),
            lambda: engine.keep("failed", failing),
            lambda: engine.frame(failing),
        ):
            with pytest.raises(SourceError, match="withheld") as caught:
                action()
            error = caught.value
            shown = "".join(traceback.format_exception(error)) + str(error) + repr(error)
            written = capfd.readouterr()
            assert SECRET not in shown + written.out + written.err
            assert error.__cause__ is None
            assert error.__context__ is None


def test_the_secret_would_be_seen_without_the_boundary(parquet):
    """The check above can fail: DuckDB's own message quotes the record."""
    import duckdb

    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match=SECRET):
        connection.sql(f"SELECT CAST(note AS INTEGER) FROM '{parquet}'").fetchall()


def test_a_panic_is_sealed_and_our_own_errors_pass():
    """What is no Exception is sealed too; Ctrl-C and our own errors are not."""

    class PanicError(BaseException):
        pass

    def fail(error):
        raise error

    with pytest.raises(SourceError, match="fixed"):
        sealed("fixed", lambda: fail(PanicError(SECRET)))
    with pytest.raises(InputError, match="ours"):
        sealed("fixed", lambda: fail(InputError("ours")))
    with pytest.raises(KeyboardInterrupt):
        sealed("fixed", lambda: fail(KeyboardInterrupt()))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '{other}'",
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "ATTACH '{folder}/out.ddb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM 'http://127.0.0.1:9/x.parquet'",
        "SET enable_external_access = true",
        "SET memory_limit = '1TB'",
    ],
)
def test_external_access_is_off_and_locked(parquet, tmp_path, sql):
    """No other file is read or written, no extension loaded, no setting changed."""
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1]}), other)
    with open_source(parquet) as engine:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(SourceError):
            engine._database.run(sql.format(other=other, folder=tmp_path))
        assert sorted(tmp_path.iterdir()) == before
        assert rows(engine.batches(f"SELECT count(*) AS n FROM {engine.relation}"))[0]["n"] == 10**6


def test_variables_of_python_are_no_tables(parquet):
    """DuckDB would look a name up among the caller's variables."""
    hidden = pa.table({"a": [1]})
    with open_source(parquet) as engine, pytest.raises(SourceError):
        engine.frame("SELECT * FROM hidden")
    assert hidden.num_rows == 1


def test_what_does_not_fit_is_spilled_to_a_private_folder(parquet, tmp_path):
    """A large grouping under a small limit spills, is exact, and leaves nothing behind."""
    spill = tmp_path / "spill"
    spill.mkdir()
    with open_source(parquet, memory_limit="60MB", spill_folder=spill) as engine:
        (private,) = spill.iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
        wide = "repeat(CAST(id AS VARCHAR), 10)"
        engine.keep("cells", f"SELECT {wide} AS k, sum(id) AS s FROM {engine.relation} GROUP BY k")
        spilled = sum(file.stat().st_size for file in private.iterdir())
        total = rows(engine.local("SELECT count(*) AS n, sum(s) AS s FROM cells"))[0]
    assert spilled > 1_000_000
    assert (total["n"], int(total["s"])) == (10**6, 10**6 * (10**6 - 1) // 2)
    assert not list(spill.iterdir())


def test_a_limit_too_small_is_an_error_of_ours(parquet, tmp_path):
    """Memory that cannot be spilled ends in a SourceError."""
    opened = open_source(parquet, memory_limit="20MB", spill_folder=tmp_path)
    with opened as engine, pytest.raises(SourceError, match="withheld"):
        engine.frame(f"SELECT list(repeat(note, 1000)) AS all_of_it FROM {engine.relation}")


@pytest.mark.parametrize("limit", ["4", "-1GB", "much", 4, "4GB; DROP"])
def test_a_memory_limit_is_a_size(limit, tmp_path):
    """The message shows a size that would do, and no folder is left behind."""
    with pytest.raises(InputError, match='such as "4GB"'):
        open_source(pa.table({"a": [1]}), memory_limit=limit, spill_folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("threads", [0, -1, True, 1.5])
def test_threads_are_a_positive_number(threads, tmp_path):
    """The message says from where it counts, and no folder is left behind."""
    with pytest.raises(InputError, match="whole number from 1"):
        Database(threads=threads, spill_folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_source_that_fails_to_open_leaves_no_folder(tmp_path):
    """What was made for it goes at once."""
    spill = tmp_path / "spill"
    spill.mkdir()
    (tmp_path / "ragged.csv").write_text("a,b\n1\n")
    with pytest.raises(SourceError):
        open_source(tmp_path / "ragged.csv", spill_folder=spill)
    assert not list(spill.iterdir())


def test_a_spill_folder_must_exist(tmp_path):
    """A missing folder is named."""
    with pytest.raises(SourceError, match="nowhere"):
        open_source(pa.table({"a": [1]}), spill_folder=tmp_path / "nowhere")


def test_control_c_stops_a_query(parquet):
    """DuckDB looks for no signals itself; the engine stops it and stays usable."""
    with open_source(parquet) as engine:
        relation = engine.relation
        endless = f"SELECT sum(a.id * b.id) AS s FROM {relation} AS a, {relation} AS b"
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        began = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.keep("never", endless)
        assert time.monotonic() - began < 30
        assert rows(engine.batches(f"SELECT count(*) AS n FROM {relation}"))[0]["n"] == 10**6


def test_several_threads_may_ask_at_once(parquet):
    """Each query has a cursor of its own."""
    found = []
    with open_source(parquet) as engine:
        sql = f"SELECT sum(id) AS s FROM {engine.relation}"
        asking = [
            threading.Thread(target=lambda: found.append(rows(engine.batches(sql))[0]["s"]))
            for _ in range(4)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
    assert [int(each) for each in found] == [10**6 * (10**6 - 1) // 2] * 4


def test_somebodys_duckdb_is_left_as_it_was(tmp_path):
    """Through Ibis: nothing is created there, no setting is changed, and it stays open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and DuckDB
        import ibis

        connection = ibis.duckdb.connect(tmp_path / "theirs.ddb")
        connection.con.execute("CREATE TABLE farms AS SELECT range AS cattle FROM range(10)")
        table = connection.table("farms").filter(ibis._.cattle > 4)
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
    before = connection.con.sql(settings).fetchall()
    with open_source(table) as engine:
        assert engine.columns == {"cattle": pa.int64()}
        engine.add("keys", pa.table({"cattle": [5, 6]}))
        joined = (
            f"SELECT {DUCKDB.total('cattle')} AS s FROM {engine.relation} JOIN keys USING (cattle)"
        )
        engine.keep("cells", joined)
        assert rows(engine.local("SELECT s, typeof(s) AS kind FROM cells")) == [
            {"s": 11, "kind": "HUGEINT"}
        ]
        assert engine.frame(f"SELECT count(*) AS n FROM {engine.relation}").to_pylist() == [
            {"n": 5}
        ]
        engine.drop("keys")
        with pytest.raises(SourceError):
            engine.batches("SELECT * FROM keys")
    assert connection.con.sql("SHOW TABLES").fetchall() == [("farms",)]
    assert connection.con.sql(settings).fetchall() == before
    connection.disconnect()
