"""Run as a process of its own: connects to a Spark master, asks an engine, prints JSON.

Only one Spark context fits into a process, and what a process writes to its file descriptors is
best seen from outside.
"""

import json
import sys
import traceback
import warnings

import pyarrow as pa


def main(master: str, data: str) -> None:
    """Print what the engine answers about the Parquet file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master(master)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "512m")
            .config("spark.executor.memory", "512m")
            .config("spark.executor.cores", "1")
            .config("spark.executor.syncLogLevel.enabled", "true")
            .config("spark.sql.shuffle.partitions", "4")
            .getOrCreate()
        )
    warnings.simplefilter("error")
    from perrecord.errors import SourceError
    from perrecord.tables.sources import open_source

    shown = {}
    with open_source(session.read.parquet(data)) as engine:
        executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
        shown["executors"] = executors
        engine.add("names", pa.table({"key": ["a", "b"], "label": ["first", "second"]}))
        total = engine.dialect.total("value")
        grouped = f"SELECT key, {total} AS total, count(*) AS n FROM {engine.relation} GROUP BY key"
        engine.keep("cells", grouped)
        batches = list(engine.local("SELECT * FROM cells ORDER BY key NULLS FIRST"))
        shown["cells"] = [
            [row["key"], str(row["total"]), row["n"]]
            for row in pa.Table.from_batches(batches).to_pylist()
        ]
        joined = engine.batches(
            f"SELECT label, {total} AS total FROM {engine.relation} JOIN names USING (key) "
            "GROUP BY label ORDER BY label"
        )
        shown["joined"] = [
            [row["label"], str(row["total"])] for batch in joined for row in batch.to_pylist()
        ]
        many = [batch.num_rows for batch in engine.batches("SELECT id FROM range(100000)")]
        shown["streamed"] = [len(many), sum(many)]
        failing = f"SELECT CAST(note AS INT) AS number FROM {engine.relation}"
        for label, action in (
            ("batches", lambda: list(engine.batches(failing))),
            ("keep", lambda: engine.keep("failed", failing)),
        ):
            try:
                action()
            except SourceError as error:
                shown[label] = [str(error), repr(error), traceback.format_exc()]
                shown[label].append(repr((error.__cause__, error.__context__)))
    session.stop()
    print(json.dumps(shown))


if __name__ == "__main__":
    main(*sys.argv[1:])
