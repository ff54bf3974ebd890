"""Run as a process of its own: connects to Spark, asks an engine, prints JSON.

Only one Spark context fits into a process, and what a process writes to its file descriptors is
best seen from outside.
"""

import json
import sys
import traceback
import warnings
from contextlib import suppress

import pyarrow as pa

from perrecord.errors import SourceError
from perrecord.tables.sources import open_source
from tests.engines.sessions import session_at


def main(address: str, data: str) -> None:
    """Print what the engine answers about the Parquet file, or how it refuses it."""
    session = session_at(address)
    warnings.simplefilter("error")
    frame = session.read.parquet(data)
    try:
        shown = asked(frame)
    except SourceError as error:
        shown = {"refused": str(error)}
        with suppress(Exception):
            frame.selectExpr("CAST(note AS INT)").collect()
    session.stop()
    print(json.dumps(shown))


def asked(frame) -> dict:
    """Return what the engine answers."""
    shown = {}
    with open_source(frame) as engine:
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
    return shown


if __name__ == "__main__":
    main(*sys.argv[1:])
