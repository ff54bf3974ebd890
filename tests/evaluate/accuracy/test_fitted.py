"""Errors after fitting are those of the columns that a release publishes, and of drawn noise."""

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Keys, Query, Split
from perrecord.evaluate.accuracy.fitted import deviations_of
from perrecord.evaluate.evaluation import evaluate
from perrecord.queries.hierarchies import families_of
from perrecord.queries.plan import plan
from perrecord.release.spec import build, load_spec, open_table
from perrecord.report.consistent import after_fitting
from perrecord.tables.table import table
from tests.cli.conftest import run, undrawn
from tests.release.test_consistent import COUNTIES, INDUSTRIES, prepared, query, released

__all__ = ["undrawn"]

N, EMP = "n: {count: records, rho: 0.5}", "emp: {sum: emp, split: moderate, rho: 0.2}"
PRODUCT = [
    query("all", [], "", f"{N}, {EMP}"),
    query("states", ["state"], "states", f"{N}, {EMP}"),
    query("counties", ["county"], "counties", f"{N}, emp: {{sum: emp, taper: 50, rho: 0.3}}"),
]
CROSSED = [
    query("state_sector", ["state", "sector"], "state_sector", f"{N}, {EMP}"),
    query("industries", ["county", "naics"], "county_industry", N),
    query("sectors", ["county", "sector"], "county_sector", "n: {count: records, rho: 0.1}"),
]


@pytest.mark.parametrize("queries", [PRODUCT, CROSSED])
def test_standard_errors_are_those_that_a_release_publishes(tmp_path, queries):
    """Without a row being read: one hierarchy, two of them, tables that are missing."""
    tables, _, _ = released(tmp_path, queries)
    loaded = load_spec(tmp_path / "release.yaml")
    with open_table(loaded) as source:
        workload = build(loaded, source.schema)
    named = [each.name for each in workload.queries]
    assert workload.families.fitted
    for family in workload.families.fitted:
        for each in deviations_of(family, workload.plan, workload.hierarchies, {}):
            published = tables[named[each.member.grouping]]
            for ending, found in (("_se", each.noise), ("_consistent_se", each.fitted)):
                column = published[each.member.answer + ending]
                np.testing.assert_allclose(found, column, rtol=1e-9)


@pytest.mark.usefixtures("undrawn")
def test_evaluate_tells_errors_before_and_after(tmp_path, monkeypatch):
    """In JSON, in the findings and in the page: by level, smaller than before."""
    prepared(tmp_path, PRODUCT)
    monkeypatch.chdir(tmp_path)
    found = run("evaluate", "release.yaml", "--json", "--no-top-codes")
    assert found.code == 0, found.err
    rows = found.json()["CONFIDENTIAL"]["consistent"]
    assert [(row["table"], row["level"], row["answer"]) for row in rows][::2] == [
        ("all", "all", "n"), ("counties", "county", "n"), ("states", "state", "emp"),
    ]  # fmt: skip
    for row in rows:
        assert row["standard_error_ratio"] < 1
        assert row["after"] < row["before"]
    shown = run("evaluate", "release.yaml", "--no-top-codes", "--out", "again")
    assert "Fitted so that tables add up, standard errors are between" in shown.out
    assert "What does making tables add up buy?" in (tmp_path / "again/report.html").read_text()
    (tmp_path / "release.yaml").write_text(
        (tmp_path / "release.yaml").read_text().replace("{consistent: true}", "{}")
    )
    plain = run("evaluate", "release.yaml", "--json", "--no-top-codes")
    assert plain.json()["CONFIDENTIAL"]["consistent"] == []


FOLLOW = """post_processing:
  consistent: {consistent}
  follow:
    by_state: {{from: counties, by: state}}
    nation: {{from: counties, answers: [n]}}
    by_region: {{from: counties, by: region, answers: [n]}}
"""
REGIONS = "hierarchies: [{source: other.csv, on: county, columns: [region]}]\n"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("consistent", ["true", "false"])
def test_tables_that_follow_are_told_of_too(tmp_path, monkeypatch, consistent):
    """Their standard errors are those that a release publishes, fitted or as sums of cells."""
    extra = FOLLOW.format(consistent=consistent) + REGIONS
    regions = zip(COUNTIES, ["south", "west", "south", "west"], strict=True)
    text = "county,region\n" + "".join(f"{county},{region}\n" for county, region in regions)
    (tmp_path / "other.csv").write_text(text)
    tables, _, _ = released(tmp_path, PRODUCT[::2], extra)
    monkeypatch.chdir(tmp_path)
    found = run("evaluate", "release.yaml", "--json", "--no-top-codes")
    assert found.code == 0, found.err
    rows = [row for row in found.json()["CONFIDENTIAL"]["consistent"] if row["follows"]]
    assert {(row["table"], row["answer"]) for row in rows} == {
        ("by_state", "n"), ("by_state", "emp"), ("nation", "n"), ("by_region", "n"),
    }  # fmt: skip
    for row in rows:
        assert row["follows"] == "counties"
        published = tables[row["table"]]
        assert row["cells"] == len(published[f"{row['answer']}_consistent"])
        alike = len(COUNTIES) / row["cells"]
        if row["level"] == "all":
            cell = np.array(tables["counties"][f"{row['answer']}_se"][0])
            ratio = published[f"{row['answer']}_consistent_se"][0] / (cell * np.sqrt(alike))
            assert row["standard_error_ratio"] == pytest.approx(ratio, rel=1e-6)
        if consistent == "true":
            assert row["standard_error_ratio"] < 0.999
            assert row["after"] < row["before"]
        else:
            assert row["standard_error_ratio"] == pytest.approx(1, rel=1e-9)
            assert row["after"] == pytest.approx(row["before"], rel=1e-9)
    run("evaluate", "release.yaml", "--no-top-codes", "--out", "again")
    page = (tmp_path / "again/report.html").read_text()
    assert "Errors of the median cell of tables that follow" in page
    assert ("How accurate are tables that follow?" in page) == (consistent == "false")


def test_medians_are_those_of_cells_by_hand():
    """A total and two parts at the same noise: sqrt(2/3) of the errors in each, biases kept."""
    rows = {"place": ["a"] * 3 + ["b"], "emp": [10, 20, 900, 30]}
    asked = {
        "places": Query()
        .group_by_sets([("place",), ()], keys=Keys.from_dict({"place": ["a", "b"]}))
        .count(rho="0.5")
        .sum("emp", clamp=(0, 100), rho="0.5")
    }
    with table(pa.table(rows), dimensions=["place"], measures=["emp"]) as source:
        found = evaluate(asked, source, consistent=True, repeats=0)
        without = evaluate(asked, source, repeats=0)
    assert not without.fitted.num_rows
    assert after_fitting(without) is None
    counts, totals = ([r for r in found.fitted.to_pylist() if r["answer"] == a]
                      for a in ("count", "sum_emp"))  # fmt: skip
    size = np.sqrt(2 / 3) * np.sqrt(2 / np.pi)
    for row, true in zip(counts, (1, 4), strict=True):  # of 3 and 1 the lower middle error is 3's
        share = size / (3 if true == 1 else 4)
        assert row["after"] == pytest.approx(share, rel=1e-6)
        assert row["standard_error_ratio"] == pytest.approx(np.sqrt(2 / 3), rel=1e-6)
    (whole,) = [row for row in totals if row["level"] == "all"]
    assert whole["after"] == pytest.approx(800 / 960, rel=1e-2)  # what clamping took away stays


def test_drawn_noise_errs_as_is_told():
    """Three levels, fitted two thousand times: root mean square errors within five standard ones.

    False alarms: about one in a million.
    """
    rng = np.random.default_rng(11)
    rows = {"county": rng.choice(COUNTIES, 50), "naics": rng.choice(INDUSTRIES, 50)}
    scheme = Split(emp=1)
    rows["emp"] = np.ones(50, np.int64)
    keys = Keys.from_dict({"county": COUNTIES})
    with table(
        pa.table(rows),
        dimensions={"county": "county", "state": "substr(county, 1, 2)"},
        measures=["emp"],
    ) as source:
        asked = [
            Query().sum("emp", split=scheme, rho="0.1"),
            Query()
            .group_by("state", keys=Keys.from_dict({"state": ["01", "02"]}))
            .sum("emp", split=scheme, rho="0.2"),
            Query().group_by("county", keys=keys).sum("emp", split=scheme, rho="0.3"),
        ]
        planned = plan(asked, source.schema)
    (family,) = families_of(planned).fitted
    found = deviations_of(family, planned, (), {})
    draws, sums = 2000, np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 1], *np.eye(4)])
    noise = np.concatenate([each.noise for each in found])
    weighted = sums / noise[:, None]
    solve = sums @ np.linalg.pinv(weighted) / noise
    errors = rng.normal(0, noise, (draws, len(noise))) @ solve.T
    told = np.concatenate([each.fitted for each in found])
    ratio = np.sqrt((errors**2).mean(axis=0)) / told
    assert np.all(np.abs(ratio - 1) < 5 / np.sqrt(2 * draws))
