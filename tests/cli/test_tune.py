"""`tune`: a tuned spec that can be checked and released, beside what it was chosen by."""

import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import SECRET, changed, run

pytestmark = pytest.mark.usefixtures("undrawn")

GOAL = "20% for 50% of cells"


def test_the_tuned_spec_is_private_and_says_what_it_is(folder):
    """In a folder for the curator alone; on stdout amounts and losses, before and after."""
    shown = run("tune", "release.yaml", "--goal", GOAL)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("CONFIDENTIAL: ")
    assert "the loss of a corner shop" in shown.out
    assert shown.out.strip().splitlines()[-2:] == ["tuning/tuned.yaml", "tuning/tuning.html"]
    assert "CONFIDENTIAL" in shown.err
    spec = folder / "tuning" / "tuned.yaml"
    assert stat.S_IMODE(spec.stat().st_mode) == 0o600
    assert "CONFIDENTIAL" in spec.read_text("utf-8")
    page = (folder / "tuning" / "tuning.html").read_text("utf-8")
    assert "That is not itself private" in page
    assert "--source prior.parquet --public" in page
    assert SECRET not in page + spec.read_text("utf-8")


def test_what_was_tuned_on_public_data_is_checked_and_released(charged):
    """The way to go: tune on prior data, release the confidential with it."""
    prior = pa.table(
        {"id": range(90), "county": ["37001", "48001", "48003"] * 30, "emp": [25, 40, 60] * 30}
    )
    pq.write_table(prior, charged / "prior.parquet")
    shown = run(
        "tune", "release.yaml", "--goal", GOAL, "--source", "prior.parquet", "--public",
        "--out", "tuned",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    assert shown.err == ""
    text = (charged / "tuned" / "tuned.yaml").read_text("utf-8")
    assert "CONFIDENTIAL" not in text
    assert "source: ../est.parquet" in text
    checked = run("check", "tuned/tuned.yaml", "--json")
    assert checked.json()["can_be_released"], checked.err
    released = run("release", "tuned/tuned.yaml", "--out", "published")
    assert released.code == 0, released.err


def test_a_goal_reaches_one_answer_alone(folder):
    """The other keeps its amount."""
    found = run("tune", "release.yaml", "--goal", f"employees: {GOAL}", "--json").json()
    (answer,) = found["CONFIDENTIAL"]["answers"]
    assert answer["answer"] == "employees"
    assert answer["met_after"] >= 0.5
    assert "establishments: {count: records, rho: 0.1}" in (
        folder / "tuning" / "tuned.yaml"
    ).read_text("utf-8")


def test_caps_on_examples_and_on_typed_records(folder):
    """By name or field by field; both are kept."""
    found = run(
        "tune", "release.yaml", "--cap", "a corner shop: 0.2", "--cap",
        "emp=500, county=48001: 30", "--json",
    )  # fmt: skip
    assert found.code == 0, found.err
    losses = {row["of"]: row["tuned"] for row in found.json()["CONFIDENTIAL"]["losses"]}
    assert losses["the loss of a corner shop"] <= 0.2
    assert losses["the loss of emp=500, county=48001"] <= 30


def test_thresholds_are_kept_on_request(folder):
    """Then amounts alone change."""
    assert run("tune", "release.yaml", "--goal", GOAL, "--keep-thresholds").code == 0
    text = (folder / "tuning" / "tuned.yaml").read_text("utf-8")
    assert "split: moderate" in text
    assert "tuned:" not in text


def test_a_budget_that_is_too_small_is_said_and_left(folder):
    """Tuning never raises it."""
    shown = run("tune", "release.yaml", "--goal", "0.1% for 100% of cells")
    assert shown.code == 0
    assert "more than the spec's budget allows" in shown.err
    assert "budget: {rho: 1, splits: [moderate]}" in (folder / "tuning" / "tuned.yaml").read_text(
        "utf-8"
    )
    assert run("check", "tuning/tuned.yaml").code == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--goal", "5 percent"], 1, "expected something like '5% for 95% of cells'"),
        (["--goal", f"employes: {GOAL}"], 1, "Did you mean 'employees'"),
        (["--cap", "a corner shop 0.2"], 2, "NAME: LOSS"),
        (["--cap", "a corner shp: 0.2"], 1, "Did you mean 'a corner shop'"),
        (["--cap", "employes=3: 0.2"], 1, "there is no field 'employes'"),
        (["--cap", "a corner shop: much"], 1, "the cap of a corner shop"),
        (["--cap", "a plant: 1", "--cap", "a plant: 2"], 2, "twice"),
        (["--smallest", "median"], 1, "expected 'largest', a percentile such as '99%'"),
    ],
)
def test_mistakes_are_explained(folder, options, code, message):
    """With what to type."""
    shown = run("tune", "release.yaml", *options)
    assert shown.code == code
    assert message in shown.err


def test_pure_epsilon_is_refused(folder):
    """Tuning is in zCDP."""
    for old, new in (
        ("budget: {rho: 1", "budget: {epsilon: 1"),
        ("count: records, rho: 0.1", "count: records, epsilon: 0.1"),
        ("split: moderate, rho: 0.2", "split: moderate, epsilon: 0.2"),
    ):
        changed(folder, old, new)
    shown = run("tune", "release.yaml", "--goal", GOAL)
    assert shown.code == 1
    assert "tuning is in zCDP" in shown.err


def test_a_spec_is_never_replaced_by_its_tuned_form(folder):
    """Tuning the tuned spec needs another folder."""
    assert run("tune", "release.yaml", "--goal", GOAL).code == 0
    before = (folder / "tuning" / "tuned.yaml").read_text("utf-8")
    shown = run("tune", "tuning/tuned.yaml", "--goal", GOAL)
    assert shown.code == 1
    assert "give another folder with --out" in shown.err
    assert (folder / "tuning" / "tuned.yaml").read_text("utf-8") == before
    again = run("tune", "tuning/tuned.yaml", "--goal", GOAL, "--out", "again", "--json")
    assert again.code == 0, again.err


def test_a_spec_without_anything_to_tune_is_not_written(folder):
    """No record at all: every number is 0."""
    pq.write_table(pq.read_table(folder / "est.parquet").slice(0, 0), folder / "est.parquet")
    shown = run("tune", "release.yaml", "--goal", GOAL)
    assert shown.code == 1
    assert "nothing was written" in shown.err
    assert not (folder / "tuning").exists()


def test_keys_of_a_file_are_found_from_a_new_folder(folder):
    """The tuned spec lies in a folder that is made for it, and names the file from there."""
    (folder / "counties.csv").write_text("county\n37001\n48001\n48003\n", encoding="utf-8")
    changed(
        folder, 'counties: {values: {county: ["37001", "48001", "48003"]}}',
        "counties: {file: counties.csv}",
    )  # fmt: skip
    shown = run("tune", "release.yaml", "--goal", GOAL, "--out", "new")
    assert shown.code == 0, shown.err
    assert "../counties.csv" in (folder / "new" / "tuned.yaml").read_text("utf-8")
