"""`perrecord series`: levels that a base and releases of changes add up to (T35)."""

import json
import math
import shutil
from statistics import NormalDist

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import run

Z = NormalDist().inv_cdf(0.975)
YEARS = {
    "2026": {"id": [1, 2, 3, 4], "county": ["A", "A", "B", "B"], "emp": [90, 40, 200, 7]},
    "2027": {"id": [1, 2, 3, 5], "county": ["A", "B", "B", "B"], "emp": [95, 41, 180, 9]},
    "2028": {"id": [1, 2, 3, 5], "county": ["A", "B", "B", "A"], "emp": [99, 45, 150, 9]},
}
LEVELS = """\
title: Levels
source: 2026.parquet
id: id
dimensions: [county]
measures: {emp: {unit: jobs}, secret: {column: emp}}
keys: {counties: {values: {county: [A, B]}}}
budget: {rho: 3, tapers: [{measure: emp, at: 50, rho: 1, times: 2}]}
ledger: levels.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers:
      jobs: {sum: emp, taper: 50, rho: 1}
      cut: {sum: secret, clamp: [0, 50], rho: 0.1}
      n: {count: records, rho: 0.1}
  - name: nation
    answers: {jobs: {sum: emp, taper: 50, rho: 1}}
"""
CHANGES = (
    LEVELS.replace("title: Levels", "title: Changes")
    .replace("source: 2026.parquet", "source: {path: 2027.parquet, last: 2026.parquet}")
    .replace("{emp: {unit: jobs}, secret: {column: emp}}", "{MEASURES}")
    .replace(
        "{MEASURES}",
        "{d: {column: emp, unit: jobs}, secret: {column: emp}, net: {column: record_count}}",
    )
    .replace("sum: emp, taper: 50, rho: 1", "sum: d, taper: 20, rho: 1")
    .replace("measure: emp, at: 50", "measure: d, at: 20")
    .replace("clamp: [0, 50]", "clamp: [-50, 50]")
    .replace("{count: records, rho: 0.1}", "{sum: net, clamp: [-1, 1], rho: 0.1}")
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A base and two years of changes, released."""
    folder = tmp_path_factory.mktemp("series")
    for year, rows in YEARS.items():
        pq.write_table(pa.table(rows), folder / f"{year}.parquet")
    later = CHANGES.replace("2026", "2026x").replace("2027", "2028").replace("2026x", "2027")
    for name, spec in (("levels", LEVELS), ("c2027", CHANGES), ("c2028", later)):
        path = folder / f"{name}.yaml"
        path.write_text(spec.replace("levels.ledger", f"{name}.ledger"), encoding="utf-8")
        assert run("ledger", "create", path).code == 0
        shown = run("release", path, "--out", folder / name)
        assert shown.code == 0, shown.err
    return folder


@pytest.fixture
def folders(made, tmp_path, monkeypatch):
    """A copy of them, in the current folder."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))
    return tmp_path / "copy"


def said(ran):
    """Return all that a command said, on one line."""
    return " ".join(f"{ran.out} {ran.err}".split())


def rows_of(folder, name="counties"):
    """Return the rows of a published table by key."""
    return {row.get("county"): row for row in pq.read_table(folder / name).to_pylist()}


def test_levels_changes_and_growth_are_those_of_the_published_numbers(folders):
    """Recomputed from the folders by a few lines of their own."""
    shown = run("series", "levels", "c2027", "c2028", "--periods", "2026,2027,2028", "--out", "out")
    assert shown.code == 0, shown.err
    assert "counties.cut was left out: in 2027 it is not a change that adds up" in said(shown)
    found = pq.read_table("out/counties.parquet").to_pylist()
    assert [(row["county"], row["period"]) for row in found] == [
        (county, year) for county in "AB" for year in ("2026", "2027", "2028")
    ]
    parts = [
        rows_of(folders / each / "tables", "counties.parquet")
        for each in ("levels", "c2027", "c2028")
    ]
    for row in found:
        upto = int(row["period"]) - 2025
        for answer in ("jobs", "n"):
            numbers = [float(each[row["county"]][answer]) for each in parts[:upto]]
            errors = [each[row["county"]][f"{answer}_se"] for each in parts[:upto]]
            level, error = sum(numbers), math.hypot(*errors)
            assert row[answer] == pytest.approx(level)
            assert row[f"{answer}_se"] == pytest.approx(error)
            assert row[f"{answer}_high"] == pytest.approx(level + Z * error)
            if upto == 1:
                assert row[f"{answer}_change"] is None
                assert row[f"{answer}_growth"] is None
                continue
            assert row[f"{answer}_change"] == pytest.approx(numbers[-1])
            assert row[f"{answer}_change_se"] == pytest.approx(errors[-1])
            before = sum(numbers[:-1])
            if before == 0:
                assert row[f"{answer}_growth"] is None
                continue
            assert row[f"{answer}_growth"] == pytest.approx(numbers[-1] / before)
            if abs(before) > 3 * math.hypot(*errors[:-1]):
                spread = math.hypot(errors[-1], row[f"{answer}_growth"] * math.hypot(*errors[:-1]))
                assert row[f"{answer}_growth_se"] == pytest.approx(spread / abs(before))
            else:
                assert row[f"{answer}_growth_se"] is None
    assert pq.read_table("out/nation.parquet").num_rows == 3
    noted = json.loads((folders / "out" / "series.json").read_text())
    assert [each["name"] for each in noted["periods"]] == ["2026", "2027", "2028"]
    assert json.loads(run("series", "levels", "c2027", "--json").out)["tables"][0]["keys"] == [
        "county"
    ]


def test_what_is_no_series_is_refused_or_left_out(folders):
    """Changes for a base, a level for a change, one release twice, periods that do not fit."""
    turned = run("series", "c2027", "c2028")
    assert "it is a change in c2027; the first folder is that of levels" in said(turned)
    twice = run("series", "levels", "c2027", "c2027")
    assert twice.code == 1
    assert "same charge as a folder before it" in said(twice)
    few = run("series", "levels", "c2027", "--periods", "2026")
    assert few.code == 1
    assert "expected 2 different names" in said(few)
    assert run("series", "levels", "c2027", "--out", "levels").code == 2
    changed = folders / "c2027" / "tables" / "counties.parquet"
    changed.write_bytes((folders / "c2028" / "tables" / "counties.parquet").read_bytes())
    wrong = run("series", "levels", "c2027")
    assert wrong.code == 1
    assert "is not what the release's manifest.json says" in said(wrong)


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A base and two years of changes, released under one ledger with periods."""
    folder = tmp_path_factory.mktemp("dated")
    for year, rows in YEARS.items():
        pq.write_table(pa.table(rows), folder / f"{year}.parquet")
    later = CHANGES.replace("2026", "2026x").replace("2027", "2028").replace("2026x", "2027")
    for year, spec in (("2026", LEVELS), ("2027", CHANGES), ("2028", later)):
        (folder / f"{year}.yaml").write_text(f"{spec}period: {year}\n", encoding="utf-8")
    base = f"2026={folder / '2026.yaml'}"
    made = run("ledger", "create", folder / "2027.yaml", "--periods", "2026..2028", "--part", base)
    assert made.code == 0, made.err
    for year in YEARS:
        assert run("release", folder / f"{year}.yaml", "--out", folder / f"r{year}").code == 0
    return folder


def test_folders_of_a_ledger_with_periods_follow_each_other(dated, tmp_path, monkeypatch):
    """Another order is refused, and so is another period's name; a gap is said."""
    monkeypatch.chdir(shutil.copytree(dated, tmp_path / "copy"))
    whole = run("series", "r2026", "r2027", "r2028", "--periods", "2026,2027,2028")
    assert whole.code == 0, whole.err
    assert "levels lack" not in said(whole)
    turned = run("series", "r2026", "r2028", "r2027", "--periods", "2026,2027,2028")
    assert turned.code == 1
    assert "'r2028' is about period 2028, and stands here for 2027, after 2026" in said(turned)
    assert run("series", "r2026", "r2028", "r2027").code == 1
    left = run("series", "r2026", "r2028")
    assert left.code == 0, left.err
    assert "if its changes are since 2027, levels lack those of 2027" in said(left)


def test_a_base_that_left_out_giants_is_no_level_of_their_changes(made, tmp_path, monkeypatch):
    """200 employees are beyond the base's largest value, and their change is not: it is said."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))
    assert "may not add up" not in said(run("series", "levels", "c2027"))
    capped = LEVELS.replace("{emp: {unit: jobs},", "{emp: {unit: jobs, largest: 100},")
    path = tmp_path / "copy" / "capped.yaml"
    path.write_text(capped.replace("levels.ledger", "capped.ledger"), encoding="utf-8")
    assert run("ledger", "create", "capped.yaml").code == 0
    assert run("release", "capped.yaml", "--out", "capped").code == 0
    shown = run("series", "capped", "c2027")
    assert shown.code == 0, shown.err
    words = "counties.jobs: its resolution, its largest value or what lies outside is another"
    assert f"{words} in c2027 than in capped" in said(shown)


def test_a_number_of_another_measure_is_not_added(made, tmp_path, monkeypatch):
    """Answers of one name are levels and changes of one column, in one unit."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))
    for name, old, new, wanted in (
        ("other", "{emp: {unit: jobs}", "{emp: {unit: jobs, column: id}", "total of emp = id"),
        ("unit", "{emp: {unit: jobs}", "{emp: {unit: heads}", "its unit is heads in unit"),
    ):
        text = LEVELS.replace(old, new).replace("levels.ledger", f"{name}.ledger")
        (tmp_path / "copy" / f"{name}.yaml").write_text(text)
        assert run("ledger", "create", f"{name}.yaml").code == 0
        assert run("release", f"{name}.yaml", "--out", name).code == 0
        assert wanted in said(run("series", name, "c2027"))
    renamed = LEVELS.replace("emp: {unit: jobs}", "staff: {column: emp, unit: jobs}")
    renamed = renamed.replace("sum: emp", "sum: staff").replace("measure: emp", "measure: staff")
    (tmp_path / "copy" / "renamed.yaml").write_text(renamed.replace("levels.ledger", "r.ledger"))
    assert run("ledger", "create", "renamed.yaml").code == 0
    assert run("release", "renamed.yaml", "--out", "renamed").code == 0
    assert "jobs was left out" not in said(run("series", "renamed", "c2027"))


def test_a_key_that_a_folder_lacks_has_no_level_from_there_on(made, tmp_path, monkeypatch):
    """What is not published is not 0."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))
    text = CHANGES.replace("county: [A, B]", "county: [A]").replace("levels.ledger", "few.ledger")
    (tmp_path / "copy" / "few.yaml").write_text(text)
    assert run("ledger", "create", "few.yaml").code == 0
    assert run("release", "few.yaml", "--out", "few").code == 0
    shown = run("series", "levels", "few", "c2028", "--out", "out")
    assert "few lacks 1 of 2 keys" in said(shown)
    levels = {
        (row["county"], row["period"]): row["jobs"]
        for row in pq.read_table("out/counties.parquet").to_pylist()
    }
    assert levels["A", "c2028"] is not None
    assert levels["B", "levels"] is not None
    assert levels["B", "few"] is None
    assert levels["B", "c2028"] is None
