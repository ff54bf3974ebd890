"""`doctor`: the machine, the source, and the records, marked CONFIDENTIAL."""

import math
import os
import shlex
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger
from tests.cli.conftest import SECRET, changed, run


@pytest.fixture(autouse=True)
def no_java(monkeypatch):
    """Starting Java takes a while; one test does."""
    monkeypatch.setattr("perrecord.cli.environment._java", lambda: "not looked for")


def test_the_machine(tmp_path):
    """Versions, randomness, a place to write."""
    shown = run("doctor")
    assert shown.code == 0
    assert "FAILS" not in shown.out
    found = {each["name"]: each for each in run("doctor", "--json").json()["environment"]}
    assert found["duckdb"]["fine"]
    assert found["randomness"]["detail"] == "the operating system's works"
    assert "irrelevant" in found["clock"]["detail"]


def test_what_fails_is_named(monkeypatch):
    """A folder that cannot be written, an engine that does not start, no randomness."""

    def broken(*_, **__):
        raise OSError(13, "no")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", broken)
    monkeypatch.setattr("perrecord.noise.bits.system_bits", broken)
    shown = run("doctor")
    assert shown.code == 1
    assert shown.out.count("FAILS") == 2
    assert "not fine: temporary folder, randomness." in shown.err


def test_a_spec_that_fits_and_one_that_does_not(folder):
    """Columns and types are compared; no row is read."""
    shown = run("doctor", "release.yaml")
    assert shown.code == 0
    assert "fits: True" in shown.out
    assert "CONFIDENTIAL" not in shown.out
    changed(folder, "measures: {emp: 1}", "measures: {emp: 1, payroll: 1}")
    wrong = run("doctor", "release.yaml", "--json")
    assert wrong.code == 1
    assert wrong.json()["spec"] == {"fits": False}
    assert "release.yaml:6: measures.payroll" in wrong.err


def warned() -> list[str]:
    """Return the warnings, which are the same for people and for programs."""
    found = run("doctor", "release.yaml", "--json").json()["warnings"]
    shown = [line for line in run("doctor", "release.yaml").out.splitlines() if "warning" in line]
    assert shown == [f"warning: {each}" for each in found]
    return found


def test_a_ledger_that_anybody_may_open_or_replace_is_warned_of(charged):
    """Every danger, with what to type; its group may share it."""
    folder, ledger = charged / "a b", charged / "a b" / "est.ledger"
    folder.mkdir(mode=0o770)
    (charged / "est.ledger").rename(ledger)
    changed(charged, "ledger: est.ledger", "ledger: a b/est.ledger")
    ledger.chmod(0o660)
    assert warned() == []
    folder.chmod(0o777)
    ledger.chmod(0o604)
    opened, replaced = warned()
    assert opened == f"anybody may open the ledger (mode 0604); type: chmod o-rwx '{ledger}'"
    assert replaced.endswith(f"(its folder has mode 0777); type: chmod o-w '{folder}'")
    for warning in (opened, replaced):
        subprocess.run(shlex.split(warning.partition("type: ")[2]), check=True)
    assert warned() == []
    folder.chmod(0o1777)
    (beside,) = warned()
    assert "anybody may put files beside the ledger" in beside
    assert "move it" in beside


def test_without_a_ledger_there_is_nothing_to_warn_of(folder):
    """The list is there all the same, with a spec, without one, and with one that does not fit."""
    assert warned() == []
    assert run("doctor", "--json").json()["warnings"] == []
    changed(folder, "measures: {emp: 1}", "measures: {emp: 1, payroll: 1}")
    assert run("doctor", "release.yaml", "--json").json()["warnings"] == []


def test_confidential_findings_are_marked_and_not_charged(charged):
    """Exact numbers, on stdout alone, every group of lines under its mark."""
    before = (charged / "est.ledger").read_bytes()
    files = sorted(os.listdir(charged))
    shown = run("doctor", "release.yaml", "--confidential")
    assert shown.code == 0
    assert shown.err == ""
    groups = shown.out.split("\n\n")[2:]
    assert len(groups) == 5
    assert all(group.startswith("CONFIDENTIAL: ") for group in groups)
    assert "rows: 4" in groups[0]
    assert "counties  county  1        1" in groups[3]
    assert SECRET not in shown.out
    assert (charged / "est.ledger").read_bytes() == before
    assert sorted(os.listdir(charged)) == files
    assert len(Ledger.open(charged / "est.ledger").entries()) == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None] * 3, "No value of emp can be read as a number"),
        ([1.0, math.nan, math.nan], "At most half of the values of emp can be read as a number"),
        ([1.0, None, None], None),
    ],
)
def test_a_measure_without_numbers_is_pointed_out(folder, values, words):
    """Missing values alone are usual, unless all are."""
    table = pa.table({"id": [1, 2, 3], "county": ["37001"] * 3, "emp": pa.array(values, "float64")})
    pq.write_table(table, folder / "est.parquet")
    shown = run("doctor", "release.yaml", "--confidential")
    assert shown.code == 0
    if words is None:
        assert "can be read as a number" not in shown.out
    else:
        assert words in shown.out.split("CONFIDENTIAL: measures")[1].split("\n\n")[0]


def test_confidential_findings_as_json(folder):
    """Under a key that says what they are."""
    table = pa.table({"id": [1, 1, None], "county": ["37001"] * 3, "emp": [1, None, 70]})
    pq.write_table(table, folder / "est.parquet")
    found = run("doctor", "release.yaml", "--confidential", "--json").json()["CONFIDENTIAL"]
    assert found["rows"] == 3
    assert found["roles"][0] | {"column": "id"} == {
        "role": "id",
        "column": "id",
        "missing": 1,
        "repeated_names": 1,
        "repeated_records": 2,
    }
    assert found["measures"][0]["missing"] == 1
    assert found["pieces"][0]["counts"] == [[1, 1, 2], [2, 2, 1]]


def test_confidential_needs_a_spec():
    """A mistake on the command line."""
    assert run("doctor", "--confidential").code == 2
