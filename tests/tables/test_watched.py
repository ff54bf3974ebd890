"""How far a scan is: told to whoever listens, and no more than told."""

import threading

import pyarrow as pa
import pytest

from perrecord import Query
from perrecord.confidential.revealing import revealed
from perrecord.queries.aggregates import Rows
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.tables.engines.database import Database
from perrecord.tables.table import table

ROWS = 3_000_000
SLOW = f"SELECT i % 500000 AS k, count(DISTINCT i) AS n FROM range({ROWS}) AS t(i) GROUP BY k"


@pytest.fixture
def database():
    """A database of our own."""
    opened = Database()
    yield opened
    opened.close()


def test_a_listener_is_told_rising_shares(database):
    """From 0 to 1; without a listener nothing is counted."""
    told = []
    with database.watched(told.append):
        database.keep("cells", SLOW)
    assert told == sorted(told)
    assert all(0 <= each <= 1 for each in told)
    assert told
    database.keep("others", "SELECT 1 AS one")
    assert next(database.batches("SELECT count(*) FROM cells")).column(0)[0].as_py() == 500_000


def test_a_listener_that_fails_harms_nothing(database):
    """Its own error is raised, not one about the source, and the database goes on."""

    def failing(_):
        raise RuntimeError("no terminal")

    with pytest.raises(RuntimeError, match="no terminal"), database.watched(failing):
        database.keep("cells", SLOW)
    with database.watched(lambda _: None):
        database.keep("others", "SELECT 1 AS one")
    assert next(database.batches("SELECT one FROM others")).num_rows == 1


def test_ctrl_c_from_a_listener_breaks_the_scan_off(database):
    """As it would from the keyboard."""

    def pressed(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), database.watched(pressed):
        database.keep("cells", SLOW)
    database.keep("cells", "SELECT 1 AS one")


def test_listeners_of_other_threads_hear_nothing(database):
    """Two sessions on one table each have their own."""
    heard, done = [], threading.Event()

    def other():
        with database.watched(heard.append):
            done.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    database.keep("cells", SLOW)
    done.set()
    thread.join()
    assert heard == []


def test_views_that_were_dropped_are_forgotten(database):
    """The cursor that counts holds no table longer than a statement."""
    database.view("public", pa.table({"k": [1]}))
    with database.watched(lambda _: None):
        database.keep("cells", "SELECT k FROM public")
    database.drop("public")
    shown = database._keeper.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    assert shown.fetchall() == []


def test_queries_in_other_threads_can_be_interrupted(database):
    """They fail, and the database goes on."""
    failures = []

    def work():
        try:
            database.table(f"SELECT count(DISTINCT i * j) FROM range({ROWS}) t(i), range(900) u(j)")
        except Exception as error:
            failures.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        database.interrupt()
        thread.join(0.1)
    assert "could not be read" in failures[0]
    assert database.table("SELECT 1 AS one").num_rows == 1


def test_a_scan_that_nobody_watches_waits_for_no_other(monkeypatch):
    """Two sessions may scan one table side by side: the cursor that counts is left alone."""

    def counted(*_):
        raise AssertionError("it was counted")

    monkeypatch.setattr(Database, "_keep_and_tell", counted)
    with table(pa.table({"k": [1, 2]}), dimensions=["k"]) as opened:
        planned = plan(Query().count(rho=1), opened.schema)
        with scanned(planned, opened) as cells:
            assert revealed(cells[0].reading([], None).numbers(Rows())).tolist() == [2]
        with pytest.raises(AssertionError, match="it was counted"):
            scanned(planned, opened, [].append).__enter__()
