"""Spark, local and on a real cluster: exact integers, exact text, errors that quote nothing."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError, SourceError
from perrecord.tables.dialects import SPARK
from perrecord.tables.engines import spark_classic
from perrecord.tables.sources import open_source
from tests.engines.cluster import Processes

pytestmark = pytest.mark.spark

SECRET = "-".join(("very", "confidential", "name"))
KEYS = ["", " ", "a", "a ", "A", "b", "e\u0301", "é", "ß", "ss", "\U0001f404", None]
VALUES = [2**62, 2**62, 2**62, 2**62 + 1, -(2**62), None, -(2**63), 2**63 - 1, 0, 1, 2, 3]


@pytest.fixture
def records(tmp_path):
    """A Parquet file with keys that are easily confused, sums past 64 bits, and one secret."""
    keys, values = KEYS * 3, VALUES * 3
    notes = ["1"] * (len(keys) - 1) + [SECRET]
    path = tmp_path / "records.parquet"
    types = [pa.string(), pa.int64(), pa.string()]
    columns = [
        pa.array(each, kind) for each, kind in zip((keys, values, notes), types, strict=True)
    ]
    pq.write_table(pa.table(columns, ["key", "value", "note"]), path, row_group_size=5)
    return path


def expected():
    """Return each key with its exact total and count, as Python adds."""
    order = sorted(KEYS, key=lambda key: (key is not None, (key or "").encode()))
    value_of = dict(zip(KEYS, VALUES, strict=True))
    return [[key, str(3 * (value_of[key] or 0)), 3] for key in order]


def run_program(started, address, records):
    """Return what the program shows of a session at this address, and all else that it wrote."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.engines.program", address, records],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=Path(__file__).parents[2],
        env=os.environ | started.environment,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1]), run.stdout + run.stderr


def check_engine(cluster, driver, records, executors):
    """Compare what a driver finds in the records, and look for the secret wherever it may be."""
    shown = driver.do("engine", records)
    assert shown["cells"] == expected()
    assert shown["joined"] == [["first", str(3 * 2**62)], ["second", "0"]]
    assert shown["streamed"][0] > 5
    assert shown["streamed"][1] == 100_000
    for door in ("batches", "keep"):
        assert "withheld" in shown[door][0]
        assert shown[door][3] == "(None, None)"
    assert SECRET not in driver.written()
    logs = [each for each in cluster.executor_logs() if shown["application"] in each.parts]
    assert len(logs) >= 2 * executors  # and more once a worker was killed
    assert not [each for each in cluster.every_log() if SECRET in each]


def test_a_cluster_of_two_workers_gives_exact_integers_and_quotes_no_record(
    cluster, classic, records
):
    """Sums past 64 bits, confusable keys, a join, a stream and two failures, on a real cluster.

    The settings of the cluster have Spark log everything, and by name.
    """
    check_engine(cluster, classic, records, executors=2)


def test_a_connect_server_gives_exact_integers_and_quotes_no_record(
    cluster, connect, connect_address, records, request
):
    """The same from a server on that cluster."""
    executors = int(request.node.callspec.params["connect_address"])
    check_engine(cluster, connect, records, executors)


def test_a_connect_server_that_would_log_records_is_refused(records, tmp_path):
    """It does log the record, as nothing stops it; our message says how to start it."""
    with Processes(tmp_path) as started:
        address = started.start_connect("careless", "local[1]")
        shown, _ = run_program(started, address, records)
        assert '"spark.driver.extraJavaOptions=-Dlog4j2' in shown["refused"]
        assert SECRET in started.log("careless")


def test_a_local_session_gives_exact_integers(spark, records):
    """The local session keeps the same cells as the cluster, as HUGEINT."""
    with open_source(spark.read.parquet(str(records))) as engine:
        assert engine.columns == {"key": pa.string(), "value": pa.int64(), "note": pa.string()}
        total = SPARK.total("value")
        engine.keep("cells", f"SELECT key, {total} AS total FROM {engine.relation} GROUP BY key")
        found = next(engine.local("SELECT typeof(total) AS kind, total FROM cells WHERE key = ''"))
        assert found.to_pylist()[0]["kind"] == "HUGEINT"
        assert int(found.to_pylist()[0]["total"]) == 3 * 2**62
        everything = f"SELECT {total} AS total FROM {engine.relation}"
        assert int(engine.frame(everything).toArrow()["total"][0].as_py()) == 3 * sum(
            value or 0 for value in VALUES
        )


def test_parts_of_totals_are_put_together(spark):
    """At the ends of each part and of 64 bits; 0 where there is nothing; other columns stay."""
    edges = [2**bits + more for bits in (0, 20, 21, 41, 42, 62) for more in (-1, 0, 1)]
    values = [*edges, *(-each for each in edges), 2**63 - 1, 2**63 - 1, -(2**63)]
    rows = [(str(index), value) for index, value in enumerate(values)]
    rows += [("all", value) for value in values] + [("none", None)]
    with open_source(spark.createDataFrame(rows, "key string, value bigint")) as engine:
        totals = SPARK.totals("value", "total")
        shown = ", ".join(f"{sql} AS {SPARK.identifier(part)}" for part, sql in totals.items())
        engine.keep("cells", f"SELECT key, {shown} FROM {engine.relation} GROUP BY key")
        (found,) = engine.local("SELECT key, total, typeof(total) AS kind FROM cells")
    assert set(found["kind"].to_pylist()) == {"HUGEINT"}
    sums = dict(zip(found["key"].to_pylist(), map(int, found["total"].to_pylist()), strict=True))
    wanted = {str(index): value for index, value in enumerate(values)}
    assert sums == {**wanted, "all": sum(values), "none": 0}


def test_partitions_arrive_in_order_however_many(spark, monkeypatch):
    """More than there are cores; one at a time where they are large."""
    for most in (1, 1 << 28):
        monkeypatch.setattr(spark_classic, "_MOST_BYTES", most)
        with open_source(spark.range(0, 50_000, 1, 23)) as engine:
            batches = list(engine.batches(f"SELECT id FROM {engine.relation}"))
        assert pa.Table.from_batches(batches)["id"].to_pylist() == list(range(50_000))


def test_a_stream_that_is_cut_off_is_no_result(monkeypatch):
    """In the middle of a piece, or between two, when Spark says that it failed."""

    class Server:
        def getResult(self):  # noqa: N802 -- Spark's name
            raise OSError

    for sent in (b"\0\0\0\5abcde\0\0\0\5ab", b"\0\0\0\5abcde\0", b"\0\0\0\5abcde"):
        ours, theirs = socket.socketpair()
        theirs.sendall(sent)
        theirs.close()
        opened = (ours.makefile("rb"), ours)
        monkeypatch.setattr("pyspark.util.local_connect_and_auth", lambda *_, it=opened: it)
        found = spark_classic._fetched((1, "", Server()))
        assert next(found) == b"abcde"
        with pytest.raises((EOFError, OSError, struct.error)):
            next(found)


def test_an_empty_result_still_has_a_schema(spark):
    """A stream of nothing yields one empty batch."""
    with open_source(spark.range(3)) as engine:
        batches = list(engine.batches(f"SELECT * FROM {engine.relation} WHERE id < 0"))
        assert [batch.num_rows for batch in batches] == [0]
        assert batches[0].schema.names == ["id"]
        engine.keep("none", f"SELECT * FROM {engine.relation} WHERE id < 0")
        assert next(engine.local("SELECT count(*) AS n FROM none")).to_pylist() == [{"n": 0}]


def test_streams_may_be_open_side_by_side(spark):
    """Two streams read in turn, and a query in between."""
    with open_source(spark.range(50_000)) as engine:
        sql = f"SELECT id FROM {engine.relation}"
        left, right = engine.batches(sql), engine.batches(sql)
        rows = next(left).num_rows + next(right).num_rows
        engine.keep("kept", sql)
        rows += sum(batch.num_rows for stream in (left, right) for batch in stream)
        assert rows == 100_000


def test_a_failure_in_mid_stream_quotes_nothing(spark, records, capfd):
    """The secret that Spark cannot cast is in no message and on no file descriptor."""
    with open_source(spark.read.parquet(str(records))) as engine:
        with pytest.raises(SourceError) as caught:
            list(engine.batches(f"SELECT CAST(note AS INT) AS n FROM {engine.relation}"))
        shown = capfd.readouterr()
        assert SECRET not in str(caught.value) + repr(caught.value) + shown.out + shown.err
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_side_tables_replace_only_our_own_views(spark):
    """A public table is dropped with the engine and never hides a view of the session."""
    spark.range(1).createOrReplaceTempView("theirs")
    with open_source(spark.range(1)) as engine:
        with pytest.raises(InputError, match="already"):
            engine.add("theirs", pa.table({"k": [1]}))
        engine.add("ours", pa.table({"k": [1, None], "t": ["x", None], "b": [True, None]}))
        found = next(engine.batches("SELECT count(*) AS n FROM ours")).to_pylist()
        assert found == [{"n": 2}]
        assert next(engine.local("SELECT count(*) AS n FROM ours")).to_pylist() == [{"n": 2}]
        source = engine.relation
    assert not spark.catalog.tableExists("ours")
    assert not spark.catalog.tableExists(source)
    assert spark.catalog.tableExists("theirs")
    spark.catalog.dropTempView("theirs")


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("spark.sql.ansi.enabled", "false", "true"),
        ("spark.sql.parser.escapedStringLiterals", "true", "false"),
    ],
)
def test_a_session_with_other_settings_is_refused(spark, setting, value, wanted):
    """Silent overflow or other escapes would change answers; the message says how to switch."""
    spark.conf.set(setting, value)
    try:
        with pytest.raises(SourceError, match=rf'spark\.conf\.set\("{setting}", "{wanted}"\)'):
            open_source(spark.range(1))
    finally:
        spark.conf.set(setting, wanted)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"spark.master": "spark://127.0.0.1:1"}, "spark.executor.extraJavaOptions"),
        ({"spark.master": "local-cluster[2,1,512]"}, "spark.executor.extraJavaOptions"),
        (
            {"spark.master": "yarn", "spark.executor.extraJavaOptions": "-Dlog4j2.level=OFF"},
            "spark.executor.extraJavaOptions",
        ),
        ({"spark.master": "local", "spark.eventLog.enabled": "true"}, "spark.eventLog.enabled"),
    ],
)
def test_a_session_that_would_log_records_is_refused(spark, monkeypatch, settings, wanted):
    """Executors and the event log write files of their own, decided when Spark is started."""
    from pyspark import SparkConf

    given = SparkConf(loadDefaults=False).setAll(settings.items())
    monkeypatch.setattr(spark.sparkContext, "getConf", lambda: given)
    with pytest.raises(SourceError, match=re.escape(f'.config("{wanted}", ')):
        open_source(spark.range(1))


def test_columns_that_differ_in_case_are_refused(spark):
    """Spark itself would call them ambiguous, in mid-query."""
    with pytest.raises(SourceError, match="differ at most in case: id, ID"):
        open_source(spark.range(1).selectExpr("id", "id AS ID"))


def test_an_ibis_table_on_spark_runs_on_spark(spark):
    """Its SQL runs in the session that it belongs to."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and PySpark
        import ibis

        spark.range(5).createOrReplaceTempView("numbers")
        table = ibis.pyspark.connect(spark).table("numbers").filter(ibis._.id > 1)
    with open_source(table) as engine:
        assert engine.dialect is SPARK
        counted = engine.batches(f"SELECT count(*) AS n FROM {engine.relation}")
        assert next(counted).to_pylist() == [{"n": 3}]
    spark.catalog.dropTempView("numbers")
