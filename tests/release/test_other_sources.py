"""Specs whose source is a file of another program: as YAML, by the commands and from Python."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import perrecord
from perrecord import File, Keys, Policy, Query, Session, SpecError
from perrecord.release.identity import identity_of
from perrecord.release.spec import load_spec, open_table, parse_spec
from perrecord.tables.snapshots import snapshot_of
from tests.cli.conftest import run

ROWS = {
    "id": list(range(40)),
    "state": ["TX", "NM"] * 20,
    "emp": [5, 7] * 20,
    "rent": [1.5, 2.25] * 20,
}
SPEC = """\
title: Farms
source: SOURCE
id: id
dimensions: {state:, year: year(ruling)}
measures: {emp: 1, rent: 0.01}
keys: {states: {values: {state: [NM, TX]}}}
budget: {rho: 1e9}
ledger: farms.ledger
queries:
  - name: states
    group_by: [state]
    keys: states
    answers:
      farms: {count: records, rho: 1e8}
      emp: {sum: emp, clamp: [0, 10], rho: 1e8}
      rent: {sum: rent, clamp: [0, 10], rho: 1e8}
"""
SOURCES = {
    "farms.csv": '{path: farms.csv, separator: ";", encoding: latin-1, decimal: ","}',
    "farms.xlsx": "{path: farms.xlsx, sheet: Farms}",
    "farms.sav": "farms.sav",
    "farms.dta": "farms.dta",
    "farms.xpt": "farms.xpt",
    "farms.parquet": "farms.parquet",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same farms in every format."""
    here = tmp_path_factory.mktemp("farms")
    days = pd.to_datetime(["2024-02-29", "2025-01-01"] * 20).date
    frame = pd.DataFrame({**ROWS, "ruling": days})
    frame.to_csv(
        here / "farms.csv", sep=";", decimal=",", encoding="latin-1", index=False, date_format=None
    )
    with pd.ExcelWriter(here / "farms.xlsx") as book:
        pd.DataFrame({"about": ["farms"]}).to_excel(book, sheet_name="Notes", index=False)
        frame.to_excel(book, sheet_name="Farms", index=False)
    pyreadstat.write_sav(frame, here / "farms.sav")
    pyreadstat.write_dta(frame, here / "farms.dta")
    pyreadstat.write_xport(frame, here / "farms.xpt")
    pq.write_table(pa.Table.from_pandas(frame), here / "farms.parquet")
    return here


def written(folder, name):
    """Write the spec of a source; return its path."""
    path = folder / f"{name}.yaml"
    text = SPEC.replace("SOURCE", SOURCES[name]).replace("farms.ledger", f"{name}.ledger")
    path.write_text(text, "utf-8")
    return path


def released(folder, name):
    """Return what a release publishes, with hardly any noise."""
    spec, out = written(folder, name), folder / f"out-{name}"
    assert run("ledger", "create", str(spec)).code == 0
    shown = run("release", str(spec), "--out", str(out))
    assert shown.code == 0, shown.err
    rows = pq.read_table(out / "tables" / "states.parquet").to_pylist()
    return [{each: row[each] for each in ("state", "farms", "emp", "rent")} for row in rows]


def test_every_source_is_released_alike(folder):
    """To the last digit, as the noise is far below a step."""
    expected = [
        {"state": "NM", "farms": 20, "emp": 140, "rent": 45},
        {"state": "TX", "farms": 20, "emp": 100, "rent": 30},
    ]
    for name in ("farms.csv", "farms.xlsx", "farms.sav", "farms.parquet"):
        found = released(folder, name)
        assert [{**row, "rent": float(row["rent"])} for row in found] == expected, name


@pytest.mark.parametrize("name", SOURCES)
def test_specs_are_checked_and_evaluated_on_every_source(folder, name):
    """By the commands; a record is described as the policy sees it."""
    spec = written(folder, name)
    for command in (["check"], ["policy", "--record", "emp=5", "--record", "state=TX"]):
        shown = run(command[0], str(spec), *command[1:])
        assert shown.code == 0, shown.err
    with open_table(load_spec(spec)) as table:
        found = table.engine.frame(table.select(["year", "emp", "rent"])).to_pydict()
    assert found == {"year": [2024, 2025] * 20, "emp": [5, 7] * 20, "rent": [150, 225] * 20}


def test_evaluate_reads_them(folder):
    """The one command that reads every record of them exactly."""
    shown = run(
        "evaluate", str(written(folder, "farms.csv")), "--out", str(folder / "evaluated"), "--json"
    )
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("farms.csv", ["--separator", ";", "--encoding", "latin-1", "--decimal", ","]),
        ("farms.xlsx", ["--sheet", "Farms"]),
        ("farms.sav", []),
    ],
)
def test_init_writes_what_was_said(folder, name, options):
    """The spec loads as it is, and opens the source."""
    out = folder / f"new-{name}.yaml"
    shown = run("init", str(folder / name), "--out", str(out), *options)
    assert shown.code == 0, shown.err
    with open_table(load_spec(out)) as table:
        assert "emp" in table.engine.columns


def test_a_session_reads_what_a_spec_reads(folder, tmp_path):
    """From Python by `File`; both are charged on one snapshot."""
    source = File(folder / "farms.csv", separator=";", encoding="latin-1", decimal=",")
    keys = Keys.from_dict({"state": ["NM", "TX"]})
    with perrecord.table(source, dimensions=["state"], measures={"rent": "0.01"}) as table:
        budget = Policy.constant("1e9")
        session = Session(table, ledger=tmp_path / "x.ledger", budget=budget, new=True)
        asked = Query().group_by("state", keys=keys).sum("rent", clamp=(0, 10), rho="1e8")
        found = session.ask(asked)
        assert [float(row["sum_rent"]) for row in found.table.to_pylist()] == [45, 30]
        own = snapshot_of(table.engine.origin, None, b"key")
    assert own == identity_of(load_spec(written(folder, "farms.csv")), b"key").snapshot


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{path: x.csv, separator: ";;"}', "source.separator: .*expected one character"),
        ("{path: x.csv, encoding: rot13}", "source.encoding: .*windows-1252"),
        ("{path: x.csv, decimal: x}", "source.decimal: .*a point or a comma"),
        ("{path: duckdb://x.db, relation: a, sheet: b}", "source.sheet: .*leave it out"),
    ],
)
def test_settings_that_cannot_be_are_shown_at_their_line(source, words):
    """Before any file is opened."""
    with pytest.raises(SpecError, match=words):
        parse_spec(SPEC.replace("SOURCE", source))


def test_another_file_of_the_same_format_is_read_alike(folder):
    """`--source` takes a file of the same columns: as CSV with the spec's settings."""
    loaded = load_spec(written(folder, "farms.csv"))
    for other in ("farms.csv", "farms.parquet"):
        with open_table(loaded, str(folder / other)) as table:
            found = table.engine.frame(table.select(["rent"]))["rent"].to_pylist()
        assert found == [150, 225] * 20
