"""Hostile keys on Spark: the same counts as on DuckDB."""

import pyarrow as pa
import pytest

from perrecord import Keys, Query, Session, Split, table
from perrecord.accounting.budget import Budget
from tests.engines.conftest import spark  # noqa: F401 - a fixture
from tests.hostile.keys import EVERY
from tests.hostile.keys_release import COUNTS, MISSING, RHO, literal, records

pytestmark = [pytest.mark.spark, pytest.mark.audit]


@pytest.fixture
def session(spark, tmp_path):  # noqa: F811
    """A session on a Spark DataFrame of every hostile key."""
    rows = [(row["key"], row["emp"]) for row in records().to_pylist()]
    frame = spark.createDataFrame(rows, "key string, emp long")
    with table(frame, name="est", dimensions=["key"], measures=["emp"]) as opened:
        yield Session(
            opened,
            ledger=tmp_path / "s.ledger",
            budget=Budget(10**12, splits()),
            new=True,
            snapshot="2026-11",
        )


def splits():
    """Return a threshold for each key."""
    return Split.by("key", {key: Split(emp=count) for key, count in COUNTS.items()}, Split(emp=5))


def counts(answers):
    """Return the first answer by key."""
    found = answers.table
    return dict(zip(found["key"].to_pylist(), found.column(1).to_pylist(), strict=True))


def test_every_key_comes_back_from_spark(session, record_property):
    """Declared keys, keys found in the data, cases of a split, and literals of a filter."""
    declared = Keys.from_columns(pa.table({"key": [*EVERY, None]}))
    asked = Query("est").group_by("key", keys=declared)
    assert counts(session.ask(asked.count(rho=RHO))) == {**COUNTS, None: MISSING}
    totals = {key: 10 * count for key, count in {**COUNTS, None: MISSING}.items()}
    assert counts(session.ask(asked.sum("emp", split=splits(), rho=10**9))) == totals
    chosen = "key IN (" + ", ".join(map(literal, EVERY)) + ")"
    total = session.ask(Query("est").where(chosen).count(rho=RHO)).table
    assert total.column(0).to_pylist() == [sum(COUNTS.values())]
    record_property("keys round-tripped on Spark", len(EVERY))


def test_filters_on_spark_meet_one_key_each(session):
    """A literal is the key and nothing else, for a sample of all kinds."""
    for key in EVERY[::8]:
        found = session.ask(Query("est").where(f"key = {literal(key)}").count(rho=RHO)).table
        assert found.column(0).to_pylist() == [COUNTS[key]], key


def test_a_literal_that_spark_would_read_otherwise_is_caught(session, monkeypatch):
    """Broken twin: text between quotes with DuckDB's rules."""
    from perrecord.tables.dialects import spark as dialect

    monkeypatch.setattr(dialect, "_SPECIAL", __import__("re").compile(r"(?!)"))
    wrong = 0
    for key in ("\\", "\\'", "${canary}", "a\\nb"):
        try:
            found = session.ask(Query("est").where(f"key = {literal(key)}").count(rho=RHO)).table
            wrong += found.column(0).to_pylist() != [COUNTS[key]]
        except Exception:
            wrong += 1
    assert wrong
