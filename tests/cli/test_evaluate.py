"""`evaluate`: a report in a folder for the curator alone, and nothing charged."""

import json
import stat

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger
from tests import first
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


@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
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
    assert "1 record." in (folder / "trial" / "report.html").read_text("utf-8")
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


@pytest.mark.usefixtures("undrawn")
def test_an_empty_table_is_evaluated(folder):
    """Nobody loses anything, and the report says so."""
    pq.write_table(pq.read_table(folder / "est.parquet").slice(0, 0), folder / "est.parquet")
    shown = run("evaluate", "release.yaml")
    assert shown.code == 0, shown.err
    assert "The table has no records." in shown.out


@pytest.mark.usefixtures("undrawn")
def test_json_holds_nothing_but_json(folder):
    """And no warning: it can be piped."""
    found = run("evaluate", "release.yaml", "--json", "--public", "--source", "est.parquet")
    assert json.loads(found.out)["report"].endswith("report.html")


@pytest.mark.usefixtures("undrawn")
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
    assert "the expected error of the median cell is" in shown.out
    assert "in counties.middle" in shown.out


# -- data that is public by name, and folders that are taken -----------------------------------


@pytest.mark.parametrize("command", ["evaluate", "tune"])
@pytest.mark.parametrize("names", first(1, [["./est.parquet"], ["est.parquet", None]]), ids=len)
@pytest.mark.usefixtures("undrawn")
def test_public_data_must_be_named(folder, command, names):
    """The spec's own source is confidential unless somebody says its name."""
    shown = run(command, "release.yaml", "--public", "--out", "trial")
    assert shown.code == 1
    assert "name that data with --source" in shown.err
    assert "--source est.parquet" in shown.err
    assert not (folder / "trial").exists()
    goal = ["--goal", "20% for 50% of cells"] if command == "tune" else []
    for name in names:
        source = name or folder / "est.parquet"
        again = run(command, "release.yaml", "--public", "--source", source, *goal, "--quiet")
        assert again.code == 0, again.err


@pytest.mark.usefixtures("undrawn")
def test_the_spec_s_own_source_is_named_from_where_one_stands(folder, monkeypatch):
    """What the message says can be typed as it is."""
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    shown = run("evaluate", "../release.yaml", "--public")
    assert "--source ../est.parquet" in shown.err
    assert run("evaluate", "../release.yaml", "--public", "--source", "../est.parquet").code == 0


@pytest.mark.usefixtures("undrawn")
def test_a_database_is_public_by_its_address_and_no_message_repeats_it(folder):
    """An address may hold a password; the spec's own is taken by its name, relation and all."""
    with duckdb.connect(folder / "est.db") as connection:
        connection.execute("CREATE TABLE est AS SELECT * FROM 'est.parquet'")
    changed(folder, "source: est.parquet", "source: {path: 'duckdb://est.db', relation: est}")
    shown = run("evaluate", "release.yaml", "--public")
    assert "--source the spec's address" in shown.err
    assert "est.db" not in shown.err
    again = run("evaluate", "release.yaml", "--public", "--source", "duckdb://est.db", "--quiet")
    assert again.code == 0, again.err


@pytest.mark.parametrize("command", ["evaluate", "tune"])
@pytest.mark.parametrize("taken", ["file", "files", "figures", "release", "open"])
def test_a_folder_that_is_taken_is_refused_before_anything_is_read(folder, command, taken):
    """Neither the spec nor the source is there, and it is the folder that is complained about."""
    out = folder / "out"
    if taken == "file":
        out.write_text("mine", encoding="utf-8")
    else:
        out.mkdir(mode=0o755 if taken == "open" else 0o700)
    if taken == "files":
        (out / "notes.txt").write_text("mine", encoding="utf-8")
    if taken == "figures":
        (out / "CONFIDENTIAL.txt").write_text("", encoding="utf-8")
        for name in ("figures", "tuning-figures"):
            (out / name).mkdir()
            (out / name / "mine.csv").write_text("mine", encoding="utf-8")
    if taken == "release":
        (out / "manifest.json").write_text("{}", encoding="utf-8")
    for path in ("est.parquet", "release.yaml"):
        (folder / path).unlink()
    shown = run(command, "release.yaml", "--out", "out")
    assert shown.code == 1
    assert "out" in shown.err.split(": ", 1)[1]
    assert "release.yaml" not in shown.err


# -- keys that the data does not have ---------------------------------------------------------

OTHER = {"id": [1, 2, 3], "county": ["9001", "9001", SECRET], "emp": [7, 8, SECRET_NUMBER]}


@pytest.mark.parametrize("command", ["evaluate", "tune"])
@pytest.mark.parametrize("public", [True, False])
def test_data_without_any_declared_key_is_refused(folder, command, public):
    """The message names declared keys; values of the file only where it is public."""
    pq.write_table(pa.table(OTHER), folder / "prior.parquet")
    mark = ["--public"] if public else []
    shown = run(command, "release.yaml", "--source", "prior.parquet", "--out", "trial", *mark)
    assert shown.code == 1
    assert "no record of 'prior.parquet' has a key that the spec declares for counties" in shown.err
    assert "3 declared keys of county: '37001', '48001', '48003'" in shown.err
    assert ("9001" in shown.err) is public
    assert (SECRET in shown.err) is public
    assert str(SECRET_NUMBER) not in shown.err
    assert shown.out == ""
    assert not (folder / "trial").exists()


@pytest.mark.usefixtures("undrawn")
def test_one_table_whose_keys_match_nothing_is_enough(folder):
    """Its errors would be missing from the report without a word; a filter may leave nothing."""
    more = """
  - name: states
    group_by: [state]
    keys: states
    answers: {establishments: {count: records, rho: 0.1}}
  - name: giants
    group_by: [state]
    where: emp > 999999999
    keys: states
    answers: {establishments: {count: records, rho: 0.1}}
examples:
"""
    changed(folder, "\nexamples:\n", more)
    changed(
        folder, "keys:\n  counties", 'keys:\n  states: {values: {state: ["37", "48"]}}\n  counties'
    )
    shown = run("evaluate", "release.yaml")
    assert shown.code == 0, shown.err
    changed(folder, '["37001", "48001", "48003"]', '["037001", "048001"]')
    shown = run("tune", "release.yaml")
    assert shown.code == 1
    assert "declares for counties. counties is by county" in shown.err


def test_data_that_no_filter_lets_pass_is_refused(folder):
    """There are records, and none is looked at."""
    changed(folder, "    keys: counties\n", "    keys: counties\n    where: emp < 0\n")
    shown = run("evaluate", "release.yaml", "--out", "trial")
    assert shown.code == 1
    assert "no record of the source passes the filter of counties" in shown.err
    assert not (folder / "trial").exists()


@pytest.mark.usefixtures("undrawn")
def test_records_outside_the_declared_keys_are_reported(folder):
    """One of four records, and nearly all of the total: said on stdout, in JSON, on the pages."""
    share = SECRET_NUMBER / (SECRET_NUMBER + 147)
    for command, page in (("evaluate", "report.html"), ("tune", "tuning.html")):
        shown = run(command, "release.yaml", "--out", command)
        assert shown.code == 0, shown.err
        said = "1 of 4 records (25 %, 100 % of emp) have a key that counties by county does not"
        assert said in shown.out.replace("\N{NO-BREAK SPACE}", " ")
        assert "Who is outside the declared keys?" in (folder / command / page).read_text("utf-8")
        found = run(command, "release.yaml", "--json").json()["CONFIDENTIAL"]
        assert found["keys"] == [
            {
                "query": "counties", "by": ["county"], "records": 4, "outside": 1,
                "outside_keys": 1, "outside_shares": {"emp": pytest.approx(share)},
            }
        ]  # fmt: skip


@pytest.mark.usefixtures("undrawn")
def test_nothing_is_said_where_every_record_has_a_declared_key(folder):
    """As it should be."""
    table = pq.read_table(folder / "est.parquet").slice(0, 3)
    pq.write_table(table, folder / "est.parquet")
    shown = run("evaluate", "release.yaml")
    assert "declare" not in shown.out
    page = (folder / "evaluation" / "report.html").read_text("utf-8")
    assert "outside the declared keys" not in page


def test_a_file_that_lacks_a_column_is_named_by_what_is_missing(folder):
    """The other file is looked at, not the spec's own, which may lie elsewhere."""
    pq.write_table(pa.table({"id": [1], "county": ["37001"]}), folder / "prior.parquet")
    (folder / "est.parquet").unlink()
    shown = run("evaluate", "release.yaml", "--source", "prior.parquet")
    assert shown.code == 1
    assert "emp" in shown.err
    assert "measures" in shown.err
    assert "est.parquet" not in shown.err.replace("source: est.parquet", "")
