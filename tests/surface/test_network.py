"""Nothing is fetched: whole runs without a network, locked engines, refused addresses."""

import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.main import get_command

from perrecord import SourceError, table
from perrecord.cli import app
from perrecord.report import drawing
from perrecord.tables.engines.database import Database
from perrecord.tables.sources import open_source
from tests.engines.conftest import spark  # noqa: F401 - a fixture
from tests.surface.everything import COMMANDS, LONG
from tests.surface.offline import offline, require_cutting_off
from tests.surface.test_source import commands

PROGRAM = """
import os
from pathlib import Path
from tests.surface.everything import everything
os.chdir({folder!r})
for code, name in everything(Path.cwd(), is_long={is_long}):
    print(code, name)
"""


@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.audit)])
def test_every_command_works_without_a_network(is_long, tmp_path, record_property):
    """From data to a release and its evaluation; nothing even tries to reach anything."""
    require_cutting_off()
    ran = offline(PROGRAM.format(folder=str(tmp_path), is_long=is_long), tmp_path)
    wanted = [*COMMANDS, *(LONG if is_long else ()), "session"]
    assert ran.out.splitlines() == [f"0 {name}" for name in wanted], ran.err
    assert ran.reached == ()
    if is_long:  # which runs what the short form runs, and more
        record_property("commands run without a network", len(wanted))
        record_property("of them with system calls traced", len(wanted) if ran.is_traced else 0)


def not_run(lines):
    """Return the commands of the command line that no line calls."""
    words = [line.split() for line in lines]
    names = [name for name, _ in commands(get_command(app))]
    return [
        name
        for name in names
        if name.split() not in [each[: name.count(" ") + 1] for each in words]
    ]


def test_every_command_is_among_them():
    """Whatever the command line offers is run without a network, none excepted."""
    assert not_run((*COMMANDS, *LONG)) == []
    assert not_run(line for line in (*COMMANDS, *LONG) if "nass" not in line) == ["synth nass"]


ATTEMPTS = {
    "Python": "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
    "a name": "import socket; socket.getaddrinfo('example.invalid', 80)",
    "DuckDB": (
        "import duckdb; c = duckdb.connect(); "
        "c.execute(\"SET custom_extension_repository = 'http://127.0.0.1:9'\"); "
        "c.execute('INSTALL httpfs')"
    ),
    "vl-convert": (
        "import vl_convert as v; v.vegalite_to_svg({'data': {'url': 'http://127.0.0.1:9/x.csv'}, "
        "'mark': 'point', 'encoding': {'x': {'field': 'a'}}}, vl_version='6.4')"
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_to_connect_is_seen(name, tmp_path):
    """Positive controls: Python's own, and those of libraries, which only a trace shows."""
    ran = offline(f"try:\n    {ATTEMPTS[name]}\nexcept BaseException as e: print(e)", tmp_path)
    if name in ("DuckDB", "vl-convert") and not ran.is_traced:
        pytest.skip("no strace here")
    assert ran.reached


# -- engines -----------------------------------------------------------------------------------

LOCKED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
ROWS = pa.table({"county": ["a", "b"], "emp": [1, 2]})


def settings(engine):
    """Return the settings of the local DuckDB beside an engine."""
    wanted = ", ".join(f"'{name}'" for name in (*LOCKED, "allowed_paths", "allowed_directories"))
    found = engine._database.table(
        f"SELECT name, value FROM duckdb_settings() WHERE name IN ({wanted})"
    )
    return dict(zip(found["name"].to_pylist(), found["value"].to_pylist(), strict=True))


def parquet(folder):
    """Return a Parquet file."""
    pq.write_table(ROWS, folder / "est.parquet")
    return folder / "est.parquet", {}


def text(folder):
    """Return a CSV file."""
    pa_csv.write_csv(ROWS, folder / "est.csv")
    return folder / "est.csv", {}


def attached(folder):
    """Return the address of a DuckDB file."""
    with duckdb.connect(str(folder / "est.ddb")) as connection:
        connection.register("rows", ROWS)
        connection.execute("CREATE TABLE est AS FROM rows")
    return f"duckdb://{folder / 'est.ddb'}", {"relation": "est"}


def sqlite(folder):
    """Return the address of a SQLite file."""
    connection = sqlite3.connect(folder / "est.db")
    connection.execute("CREATE TABLE est (county TEXT, emp INTEGER)")
    connection.commit()
    connection.close()
    return f"sqlite://{folder / 'est.db'}", {"relation": "est"}


def guest(folder):
    """Return an Ibis table in a DuckDB of somebody else."""
    import ibis

    address, _ = attached(folder)
    return ibis.duckdb.connect(address.removeprefix("duckdb://")).table("est"), {}


SOURCES = {
    "Parquet": parquet,
    "CSV": text,
    "Arrow": lambda folder: (ROWS, {}),
    "DuckDB": attached,
    "SQLite": sqlite,
    "Ibis": guest,
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_every_engine_is_locked(kind, tmp_path, record_property):
    """No extension, no other file, no way to change that, whatever the source is."""
    source, options = SOURCES[kind](tmp_path)
    with open_source(source, **options) as engine:
        found = settings(engine)
        paths = found.pop("allowed_paths").strip("[]").split(", ")
        found.pop("allowed_directories")
        assert found == LOCKED
        own = f"{source}".removeprefix("duckdb://")
        assert all(path.startswith(own) for path in paths if path)
        assert any(paths) == (kind in ("Parquet", "DuckDB"))
        for sql in ("LOAD httpfs", "INSTALL httpfs", "SET enable_external_access = true"):
            with pytest.raises(SourceError):
                engine._database.run(sql)
    record_property("kinds of sources whose engine is locked", 1)


@pytest.mark.spark
@pytest.mark.audit
def test_the_engine_beside_spark_is_locked(spark):  # noqa: F811
    """It takes what Spark has grouped, and reads no file."""
    frame = spark.createDataFrame([("a", 1)], "county string, emp long")
    with open_source(frame) as engine:
        assert LOCKED.items() <= settings(engine).items()


def test_an_engine_that_is_not_locked_is_seen():
    """Broken twin: the same database before it is locked."""
    database = Database()
    try:
        found = settings(type("Engine", (), {"_database": database}))
        assert not LOCKED.items() <= found.items()
    finally:
        database.close()


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/est.parquet",
        "http://h/x.csv",
        "s3://b/x.parquet",
        "gs://b/x",
        "HF://x",
        "file:///est.csv",
    ],
)
@pytest.mark.parametrize("relation", [None, "est"])
def test_addresses_of_files_elsewhere_are_refused(address, relation):
    """With the advice to copy them here; nothing is looked up."""
    scheme = address.partition(":")[0].lower()
    options = {} if relation is None else {"relation": relation}
    with pytest.raises(SourceError, match=rf"{scheme} address.*Nothing is fetched"):
        table(address, **options)


def test_pictures_fetch_nothing():
    """A picture that names an address is refused in drawing; a trace above shows the contrary."""
    spec = {
        "data": {"url": "http://127.0.0.1:9/x.csv"},
        "mark": "point",
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    }
    with pytest.raises(ValueError, match=r"not allowed|denied|External data"):
        drawing.drawn(spec, title="x", is_public=True)
