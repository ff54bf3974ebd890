"""`init`, `schema` and `synth`: what one starts from."""

import csv
import os
import re
import shlex
import sqlite3
from contextlib import closing

import duckdb
import openpyxl
import pyarrow.parquet as pq
import pytest

from perrecord.release.spec import load_spec
from tests.cli.conftest import SECRET, SECRET_NUMBER, run


def test_init_writes_a_spec_that_loads_and_holds_no_data(folder):
    """Columns and types only; the ledger is named after the table."""
    shown = run("init", "est.parquet", "--out", "mine.yaml")
    assert (shown.code, shown.out) == (0, "mine.yaml\n")
    text = (folder / "mine.yaml").read_text(encoding="utf-8")
    assert SECRET not in text
    assert str(SECRET_NUMBER) not in text
    loaded = load_spec(folder / "mine.yaml")
    assert loaded.ledger == folder / "est.ledger"
    assert {*loaded.spec.dimensions, *loaded.spec.measures} == {"county", "emp"}
    assert run("check", "mine.yaml").code == 0


def test_init_never_overwrites(folder):
    """The spec that is there stays as it is."""
    before = (folder / "release.yaml").read_bytes()
    shown = run("init", "est.parquet")
    assert shown.code == 1
    assert "'release.yaml' exists already; give another name with --out." in shown.err
    assert (folder / "release.yaml").read_bytes() == before


def test_init_finds_the_source_from_another_folder(folder):
    """Paths in a spec are relative to the spec, not to where the command was run."""
    (folder / "specs").mkdir()
    assert run("init", "est.parquet", "--out", "specs/mine.yaml").code == 0
    assert run("check", "specs/mine.yaml").code == 0


def test_init_says_what_it_cannot_open(folder):
    """A missing file, and one of another format."""
    (folder / "est.ods").write_text(SECRET, encoding="utf-8")
    for source, message in (("none.parquet", "there is no file"), ("est.ods", "ends in none of")):
        shown = run("init", source, "--out", "mine.yaml")
        assert shown.code == 1
        assert message in shown.err
        assert SECRET not in shown.err
    assert not (folder / "mine.yaml").exists()


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_init_and_check_read_no_row_of_a_database(folder, scheme):
    """The view fails on the first row that is read of it; relative addresses start at the spec."""
    path = folder / "data" / "est.db"
    path.parent.mkdir()
    driver = sqlite3 if scheme == "sqlite" else duckdb
    with closing(driver.connect(str(path))) as connection:
        connection.execute("CREATE TABLE base (id INTEGER, county VARCHAR(5), emp INTEGER)")
        connection.execute("INSERT INTO base VALUES (1, '37001', 3)")
        fails = "abs(-9223372036854775807 - id) > 0"
        connection.execute(f"CREATE VIEW est AS SELECT * FROM base WHERE {fails}")
        connection.commit()
        with pytest.raises(driver.Error):
            connection.execute("SELECT * FROM est").fetchall()
    asked = (f"{scheme}://est.db", "--relation", "est", "--out", "mine.yaml")
    assert run("init", *asked).code == 1  # there is none here
    os.chdir(folder / "data")
    assert run("init", *asked).code == 0
    os.chdir(folder)
    assert run("init", f"{scheme}://data/est.db", *asked[1:]).code == 0
    (folder / "specs").mkdir()
    shown = run("init", f"{scheme}://data/est.db", *asked[1:3], "--out", "specs/far.yaml")
    assert shown.code == 0
    for spec in ("data/mine.yaml", "mine.yaml", "specs/far.yaml"):
        assert run("check", spec).code == 0, spec
        assert list(load_spec(spec).spec.measures) == ["emp"]
    assert [each.name for each in path.parent.iterdir()] == ["est.db", "mine.yaml"]


@pytest.mark.parametrize("address", ["sqlite:///eo.db", "sqlite://eo.db", "duckdb://eo.db"])
def test_init_never_creates_a_database(folder, address):
    """A name that is not there is said, and how a relative one is written."""
    before = sorted(folder.iterdir())
    shown = run("init", address, "--relation", "est", "--out", "mine.yaml")
    assert shown.code == 1
    assert "and none is created" in " ".join(shown.err.split())
    if ":///" in address:
        assert "write sqlite://eo.db" in " ".join(shown.err.split())
    assert sorted(folder.iterdir()) == before


def test_init_does_not_take_a_record_for_column_names(folder):
    """A CSV file without a header line: no spec is written, and the line is not shown."""
    (folder / "est.csv").write_text(f"{SECRET},37001,5\n{SECRET},37003,6\n", encoding="utf-8")
    shown = run("init", "est.csv", "--out", "mine.yaml")
    assert shown.code == 1
    assert "the first line of a CSV file must hold the names of its columns" in shown.err
    assert SECRET not in shown.out + shown.err
    assert "37001" not in shown.out + shown.err
    assert not (folder / "mine.yaml").exists()


def test_init_says_its_own_options_and_keeps_those_that_were_given(folder):
    """Whoever types what each refusal says gets a spec that says all of it."""
    written = "größe;emp\n" + "klein;1,5\n" * 30
    (folder / "est.csv").write_text(written, encoding="windows-1252")
    typed: list[str] = []
    for said in ("encoding", "separator"):
        shown = run("init", "est.csv", "--out", "mine.yaml", *typed)
        assert shown.code == 1
        words = " ".join(shown.err.split())
        typed = shlex.split(re.search(r"in Python, (--.*?) with perrecord init", words)[1])
        assert f"--{said}" in typed
    assert run("init", "est.csv", "--out", "mine.yaml", *typed).code == 0
    assert load_spec("mine.yaml").spec.source.separator == ";"
    assert load_spec("mine.yaml").spec.source.encoding == "cp1252"


def test_the_schema_is_json():
    """For editors."""
    assert run("schema").json()["required"] == ["title", "source", "budget", "queries"]


def test_synthetic_establishments(tmp_path):
    """The same seed gives the same rows; a file that is there is not overwritten."""
    files = [tmp_path / f"{name}.parquet" for name in "abc"]
    for path, seed in zip(files, (0, 0, 1), strict=True):
        shown = run("synth", "business", "--rows", 500, "--out", path, "--seed", seed)
        assert (shown.code, shown.out) == (0, f"{path}\n")
    first, second, third = (pq.read_table(path) for path in files)
    assert first.equals(second)
    assert not first.equals(third)
    assert first.num_rows == 500
    again = run("synth", "business", "--rows", 1, "--out", files[0])
    assert (again.code, "exists already" in again.err) == (1, True)


def test_synthetic_keys(tmp_path):
    """Counties, and industries of two to six digits."""
    shown = run("synth", "keys", "--out", tmp_path / "keys")
    assert len(shown.out.splitlines()) == 6
    rows = {}
    for path in (tmp_path / "keys").iterdir():
        with path.open(encoding="utf-8") as file:
            rows[path.name] = list(csv.reader(file))
    assert {name: len(found) - 1 for name, found in rows.items()} == {
        "counties.csv": 3143,
        "industries2.csv": 24,
        "industries3.csv": 96,
        "industries4.csv": 308,
        "industries5.csv": 690,
        "industries6.csv": 1012,
    }
    assert rows["counties.csv"][:2] == [["county"], ["01001"]]
    assert rows["industries2.csv"][:2] == [["naics2"], ["11"]]
    assert run("synth", "keys", "--out", tmp_path / "keys").code == 1


@pytest.mark.parametrize("rows", ["-1", "many"])
def test_a_number_of_rows_that_is_none(tmp_path, rows):
    """A mistake on the command line."""
    assert run("synth", "business", "--rows", rows, "--out", tmp_path / "a.parquet").code == 2


def test_init_says_how_a_sheet_is_chosen(tmp_path, monkeypatch):
    """By its own option."""
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    book.create_sheet("Records").append(["emp"])
    book.save("est.xlsx")
    assert "a sheet is chosen by --sheet NAME" in run("init", "est.xlsx").err
