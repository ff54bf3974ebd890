"""`evaluate`: a report in a folder for the curator alone, and nothing charged."""

import json
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger
from tests.cli.conftest import SECRET, SECRET_NUMBER, changed, outside, run


def test_the_report_is_private_marked_and_free(charged):
    """Findings on stdout, the mark on stderr, every file 0600 and marked, the ledger untouched."""
    before = (charged / "est.ledger").read_bytes()
    shown = run("evaluate", "release.yaml", "--out", "found")
    assert shown.code == 0, shown.err
    assert shown.out.startswith("CONFIDENTIAL: ")
    assert shown.out.strip().endswith("found/report.html")
    assert "records lose more than the policy's minimum" in shown.out
    assert shown.err.startswith("CONFIDENTIAL: ")
    assert stat.S_IMODE((charged / "found").stat().st_mode) == 0o700
    files = [path for path in (charged / "found").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".txt", ".svg", ".png", ".csv"}
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        if path.suffix != ".png":
            assert "CONFIDENTIAL" in path.read_text("utf-8"), path
        assert SECRET.encode() not in path.read_bytes()
    assert (charged / "est.ledger").read_bytes() == before
    assert len(Ledger.open(charged / "est.ledger").entries()) == 1


def test_it_compares_with_the_splits_of_the_spec(folder):
    """All of them and their top-codes, or those that are asked for; other budgets, too."""
    changed(folder, "  moderate: {emp: 50}", "  moderate: {emp: 50}\n  fine: {emp: 5}")

    def variants(*options):
        found = run("evaluate", "release.yaml", "--json", *options)
        assert found.code == 0, found.err
        return [row["variant"] for row in found.json()["CONFIDENTIAL"]["losses"]]

    assert variants() == ["as written", "moderate", "fine", "top-code moderate", "top-code fine"]
    assert variants("--scheme", "fine", "--no-top-codes", "--budget", "2") == [
        "as written", "fine", "2 × budget",
    ]  # fmt: skip


def test_the_figures_are_those_of_the_records(folder):
    """By hand: two of three cells are filled; one record in four is above the minimum."""
    found = run("evaluate", "release.yaml", "--json").json()["CONFIDENTIAL"]
    assert found["records"] == 4
    assert found["share_above_minimum"] == 0.5  # 120 and the giant
    (count,) = [
        row for row in found["errors"]
        if (row["variant"], row["answer"]) == ("as written", "establishments")
    ]  # fmt: skip
    assert (count["cells"], count["zeros"]) == (3, 1)


def test_public_data_is_not_marked(folder):
    """Declared public, or read from a synthetic source: an ordinary folder."""
    synthetic = pa.table({"id": [1], "county": ["37001"], "emp": [7]})
    pq.write_table(synthetic, folder / "synthetic.parquet")
    shown = run(
        "evaluate", "release.yaml", "--source", "synthetic.parquet", "--public", "--out", "trial"
    )
    assert shown.code == 0, shown.err
    assert shown.err == ""
    assert "1 records" in (folder / "trial" / "report.html").read_text("utf-8")
    assert not (folder / "trial" / "CONFIDENTIAL.txt").exists()
    assert all(
        b"CONFIDENTIAL" not in path.read_bytes()
        for path in (folder / "trial").rglob("*") if path.is_file()
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheme", "modrate"], "Did you mean 'moderate'"),
        (["--confidence", "1"], "strictly between 0 and 1"),
        (["--budget", "half"], "a budget"),
        (["--budget", "0"], "more than 0"),
        (["--source", "nowhere.parquet"], "there is no file 'nowhere.parquet'"),
    ],
)
def test_mistakes_are_explained(folder, options, message):
    """With what to type."""
    shown = run("evaluate", "release.yaml", *options)
    assert shown.code == 1
    assert message in shown.err


def test_a_published_folder_is_never_mixed_with_confidential_results(published):
    """A release, and a folder that others can read, are refused before the data is read."""
    shown = run("evaluate", "release.yaml", "--out", "published")
    assert shown.code == 1
    assert "holds a release" in shown.err
    public = run("evaluate", "release.yaml", "--out", "published", "--public")
    assert "holds a release" in public.err


def test_a_mistyped_spec_leaves_nothing_behind(folder):
    """No folder is made for what cannot be opened."""
    assert run("evaluate", "relase.yaml").code == 1
    assert not (folder / "evaluation").exists()


def test_what_goes_wrong_while_data_is_open_is_withheld(folder):
    """An error that nobody foresaw may quote records; it is shown by its kind alone."""
    code = (
        "import perrecord.evaluate.evaluation as module\n"
        f"def broken(*_, **__): raise ValueError('{SECRET} {SECRET_NUMBER}')\n"
        "module.each_accuracy = broken"
    )
    shown = outside("evaluate", "release.yaml", cwd=folder, code=code, PERRECORD_DEBUG="1")
    assert shown.code == 3
    assert SECRET not in shown.err + shown.out
    assert "ValueError" in shown.err


def test_an_empty_table_is_evaluated(folder):
    """Nobody loses anything, and the report says so."""
    pq.write_table(pq.read_table(folder / "est.parquet").slice(0, 0), folder / "est.parquet")
    shown = run("evaluate", "release.yaml")
    assert shown.code == 0, shown.err
    assert "The table has no records." in shown.out


def test_json_holds_nothing_but_json(folder):
    """And no warning: it can be piped."""
    found = run("evaluate", "release.yaml", "--json", "--public")
    assert json.loads(found.out)["report"].endswith("report.html")


def test_a_spec_of_medians_has_a_report_too(folder):
    """Losses, and errors from the chances of the candidates."""
    changed(
        folder,
        "      establishments: {count: records, rho: 0.1}\n"
        "      employees: {sum: emp, split: moderate, rho: 0.2}\n",
        "      middle: {median: emp, candidates: [0, 10, 100], rho: 0.1}\n",
    )
    shown = run("evaluate", "release.yaml")
    assert shown.code == 0, shown.err
    assert "the median cell of counties.middle errs by" in shown.out
