"""`perrecord compare`: two published releases, and what changed between them (T33)."""

import csv
import json
import math
import shutil
from hashlib import sha256
from itertools import permutations
from statistics import NormalDist

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError
from perrecord.release.folders import ReleaseFolder
from tests.cli.conftest import SOURCE, SPEC, run

Z = NormalDist().inv_cdf(0.975)
MORE = """\
      mean: {average: emp, clamp: [0, 100], rho: 0.1}
      middle: {median: emp, candidates: [0, 10, 100], rho: 0.05}
  - name: nation
    answers:
      employees: {sum: emp, split: moderate, rho: 0.1}
examples:
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two releases of two tables, the later of more records and of one county more."""
    folder = tmp_path_factory.mktemp("releases")
    later = pa.concat_tables([SOURCE] * 40)
    later = later.set_column(0, "id", pa.array(range(later.num_rows)))
    pq.write_table(SOURCE, folder / "est.parquet")
    pq.write_table(later, folder / "later.parquet")
    spec = SPEC.replace("examples:\n", MORE)
    (folder / "old.yaml").write_text(spec, encoding="utf-8")
    (folder / "new.yaml").write_text(
        spec.replace("est.parquet", "later.parquet")
        .replace("est.ledger", "later.ledger")
        .replace('"48003"]', '"48003", "50001"]')
        .replace("by county", "by county, later"),
        encoding="utf-8",
    )
    release(folder, "old")
    release(folder, "new")
    return folder


def release(folder, name):
    """Make the release of a spec in a folder."""
    assert run("ledger", "create", folder / f"{name}.yaml").code == 0
    assert run("release", folder / f"{name}.yaml", "--out", folder / name).code == 0


@pytest.fixture
def releases(made, tmp_path, monkeypatch):
    """A copy of them, in the current folder."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))
    return tmp_path / "copy"


def test_changes_and_growth_are_those_of_the_published_numbers(releases):
    """Recomputed from both folders by a few lines of their own."""
    shown = run("compare", "old", "new", "--out", "growth")
    assert shown.code == 0
    old, new = (
        {
            row["county"]: row
            for row in pq.read_table(releases / side / "tables/counties.parquet").to_pylist()
        }
        for side in ("old", "new")
    )
    with (releases / "growth" / "counties.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["county"] for row in rows] == ["37001", "48001", "48003", "50001"]
    for row in rows[:3]:
        before, after = old[row["county"]], new[row["county"]]
        for answer in ("establishments", "employees"):
            x, y = float(before[answer]), float(after[answer])
            u, v = before[f"{answer}_se"], after[f"{answer}_se"]
            assert float(row[f"{answer}_change"]) == y - x
            assert float(row[f"{answer}_change_se"]) == pytest.approx(math.hypot(u, v))
            assert float(row[f"{answer}_change_high"]) == pytest.approx(
                y - x + Z * math.hypot(u, v)
            )
            if abs(x) <= Z * u:
                assert row[f"{answer}_growth_low"] == row[f"{answer}_growth_se"] == ""
                continue
            assert float(row[f"{answer}_growth"]) == pytest.approx(y / x - 1)
            low, high = float(row[f"{answer}_growth_low"]), float(row[f"{answer}_growth_high"])
            for end in (low, high):  # both ends are where Fieller's inequality is an equality
                theta = end + 1
                assert (y - theta * x) ** 2 == pytest.approx(Z**2 * (v**2 + theta**2 * u**2))
            assert low < y / x - 1 < high
    assert rows[3]["employees_old"] == rows[3]["employees_change"] == ""
    assert rows[3]["employees_new"] != ""


def test_the_cells_that_changed_most_are_printed_and_all_where_asked_for(releases, monkeypatch):
    """Largest compared with their errors, in the order of the table."""
    monkeypatch.setattr("perrecord.cli.compare._SHOWN_CELLS", 2)
    few, every = (
        run("compare", "old", "new", *typed).out.split("\ncounties")[1].split("\n\n")[0]
        for typed in ((), ("--all",))
    )
    cells = [line.split() for line in every.splitlines() if line.strip()[:1].isdigit()]
    printed = [line.split() for line in few.splitlines() if line.strip()[:1].isdigit()]
    assert "2 of " in few
    assert "--all prints them all" in few
    assert "--all" not in every
    assert len(cells) > 8
    assert printed == [line for line in cells if line in printed]
    rows = {row["county"]: row for row in compared(releases)}
    sizes = {
        (county, answer): abs(row[f"{answer}_change"]) / row[f"{answer}_change_se"]
        for county, row in rows.items()
        for answer in ("establishments", "employees", "mean")
        if row[f"{answer}_change_se"]
    }
    most = sorted(sizes, key=lambda cell: -sizes[cell])[:2]
    assert {tuple(line[:2]) for line in printed} == set(most)


def compared(releases):
    """Return the compared rows of the table of counties."""
    assert run("compare", "old", "new", "--out", "compared").code == 0
    return pq.read_table(releases / "compared" / "counties.parquet").to_pylist()


def test_the_summary_counts_what_the_tables_hold(releases):
    """The command's counts, from the tables that it wrote."""
    found = run("compare", "old", "new", "--json", "--out", "growth").json()
    assert [table["name"] for table in found["tables"]] == ["counties", "nation"]
    rows = pq.read_table(releases / "growth" / "counties.parquet").to_pylist()
    for answer, summary in found["tables"][0]["answers"].items():
        changed = [row for row in rows if row[f"{answer}_change"] is not None]
        assert summary["cells"] == len(changed) == 3
        assert summary["rose"] == sum((row[f"{answer}_change_low"] or 0) > 0 for row in changed)
        assert summary["fell"] == sum((row[f"{answer}_change_high"] or 0) < 0 for row in changed)
    assert found["left_out"] == [{"name": "counties.middle", "reason": "it has no standard error"}]


def test_an_average_of_few_records_has_no_error_of_its_change(releases):
    """Its own standard error is too small there."""
    run("compare", "old", "new", "--out", "growth")
    few = pq.read_table(releases / "old" / "tables/counties.parquet").to_pylist()
    rows = {
        row["county"]: row
        for row in pq.read_table(releases / "growth/counties.parquet").to_pylist()
    }
    assert any(row["mean_few_records"] for row in few)
    for row in few:
        if row["mean_few_records"]:
            assert rows[row["county"]]["mean_change_low"] is None


def test_what_cannot_be_compared_is_left_out_with_its_reason(releases):
    """Other units, and tables that one of the two lacks."""
    spec = (releases / "new.yaml").read_text("utf-8")
    other = (
        spec.replace("later.ledger", "other.ledger")
        .replace("measures: {emp: 1}", "measures: {emp: {resolution: 1, unit: thousands}}")
        .replace("name: nation", "name: country")
    )
    (releases / "other.yaml").write_text(other, encoding="utf-8")
    release(releases, "other")
    reasons = {
        each["name"]: each["reason"]
        for each in run("compare", "old", "other", "--json").json()["left_out"]
    }
    assert reasons["counties.employees"] == (
        "its unit is not given in the old one, thousands in the new one"
    )
    assert reasons["nation"] == "only the old one has it"
    assert reasons["country"] == "only the new one has it"


def test_folders_that_are_not_two_releases_are_refused(releases):
    """The same one twice, none at all, a changed file, a folder that exists."""
    same = run("compare", "old", "old")
    assert (same.code, "the same charge" in same.err) == (1, True)
    none = run("compare", "old", "growth")
    assert (none.code, "is not the folder of a release" in none.err) == (1, True)
    assert run("compare", "old", "new", "--out", "old").code == 2
    assert run("compare", "old", "new", "--confidence", "1").code == 1
    changed = releases / "new" / "tables/counties.parquet"
    changed.write_bytes(changed.read_bytes() + b" ")
    shown = run("compare", "old", "new")
    assert (shown.code, "is not what the release's manifest.json says" in shown.err) == (1, True)


def test_a_file_that_changes_after_its_folder_was_looked_at_is_refused(releases):
    """What is read is what was published, whatever happens meanwhile."""
    folder = ReleaseFolder.read(releases / "new")
    changed = releases / "new" / "tables/counties.parquet"
    changed.write_bytes(changed.read_bytes() + b" ")
    with pytest.raises(InputError, match="is not what the release's manifest"):
        folder.table("counties")


def rewritten(folder, change):
    """Change the package of a release, and the manifest with it, as somebody else might."""
    package = folder / "datapackage.json"
    content = json.loads(package.read_text("utf-8"))
    change(content)
    package.write_text(json.dumps(content), encoding="utf-8")
    manifest = folder / "manifest.json"
    listed = json.loads(manifest.read_text("utf-8"))
    for name in listed["files"]:
        listed["files"][name]["sha256"] = sha256((folder / name).read_bytes()).hexdigest()
    manifest.write_text(json.dumps(listed), encoding="utf-8")


def test_folders_from_elsewhere_write_nothing_outside_and_end_in_words(releases):
    """A table named ../evil, a package without a schema, a table that is no Parquet."""

    def evil(package):
        package["resources"][0]["name"] = "../evil"

    def bare(package):
        del package["resources"][0]["schema"]

    for change in (evil, bare):
        for side in ("old", "new"):
            shutil.copytree(releases / side, releases / f"{change.__name__}_{side}")
            rewritten(releases / f"{change.__name__}_{side}", change)
        sides = (f"{change.__name__}_old", f"{change.__name__}_new")
        shown = run("compare", *sides, "--out", "inside/growth")
        assert (shown.code, "is not the folder of a release" in shown.err) == (1, True)
        assert not list(releases.rglob("evil*.csv"))
    (releases / "old" / "tables/counties.parquet").write_bytes(b"no table")
    rewritten(releases / "old", lambda _: None)
    shown = run("compare", "old", "new")
    assert (shown.code, "is not a Parquet file with the columns" in shown.err) == (1, True)


def test_keys_of_another_type_are_left_out_with_their_reason(releases):
    """Numbers and text are never joined."""
    table = releases / "old" / "tables/counties.parquet"
    rows = pq.read_table(table)
    column = rows["county"].cast(pa.int64())
    pq.write_table(rows.set_column(0, "county", column), table)
    rewritten(releases / "old", lambda _: None)
    found = run("compare", "old", "new", "--json").json()
    assert found["left_out"][0] == {
        "name": "counties",
        "reason": "its keys are int64 in the old one, string in the new one",
    }


def test_a_key_column_is_never_replaced_by_a_number(releases):
    """Named as a column of the comparison would be, it is refused."""

    def renamed(package):
        package["resources"][0]["schema"]["fields"][0]["name"] = "employees_change"

    for side in ("old", "new"):
        table = releases / side / "tables/counties.parquet"
        rows = pq.read_table(table)
        pq.write_table(rows.rename_columns(["employees_change", *rows.column_names[1:]]), table)
        rewritten(releases / side, renamed)
    shown = run("compare", "old", "new")
    assert (shown.code, "two columns 'employees_change'" in shown.err) == (1, True)


def test_a_package_describes_keys_units_licence_and_bytes(releases):
    """What programs need to know of the tables, as the standard has it."""
    spec = (releases / "old.yaml").read_text("utf-8").replace("est.ledger", "third.ledger")
    spec = spec.replace(
        "group_by: [county]", "grouping_sets: [[county, state], [county], [state], []]"
    ).replace("keys: counties", "keys: both")
    spec = spec.replace(
        "keys:\n", 'keys:\n  both: {values: {county: ["37001"], state: ["37"]}}\n', 1
    )
    spec = spec.replace("measures: {emp: 1}", "measures: {emp: {resolution: 1, unit: people}}")
    spec = spec.replace("budget: {rho: 1,", "budget: {rho: 9,")
    spec += "outputs: {licence: CC-BY-4.0, csv: true}\n"
    (releases / "third.yaml").write_text(spec, encoding="utf-8")
    release(releases, "third")
    package = json.loads((releases / "third" / "datapackage.json").read_text("utf-8"))
    assert package["name"] == "establishments-by-county"
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    found = {each["name"]: each for each in package["resources"]}
    whole = found["counties_by_county_state"]["schema"]
    assert whole["primaryKey"] == ["county", "state"]
    assert [each["reference"]["resource"] for each in whole["foreignKeys"]] == [
        "counties_by_county",
        "counties_by_state",
    ]
    assert "primaryKey" not in found["counties_total"]["schema"]
    fields = {each["name"]: each for each in whole["fields"]}
    assert fields["county"]["role"] == "key"
    assert (fields["employees"]["role"], fields["employees"]["unit"]) == ("answer", "people")
    assert "unit" not in fields["establishments"]
    assert "role" not in fields["employees_se"]
    for each in package["resources"]:
        content = (releases / "third" / each["path"]).read_bytes()
        assert each["bytes"] == len(content)
        assert each["hash"] == f"sha256:{sha256(content).hexdigest()}"


LEVELS = """\
      mean: {average: emp, clamp: [0, 100], rho: 0.1}
  - name: nation
    answers:
      employees: {sum: emp, split: moderate, rho: 0.1}
      establishments: {count: records, rho: 0.1}
derived: {size: employees / establishments}
post_processing: {consistent: true}
examples:
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Two releases with consistent and derived columns, and one that means something else."""
    folder = tmp_path_factory.mktemp("fitted")
    spec = SPEC.replace("examples:\n", LEVELS).replace("est.parquet", "est.parquet")
    pq.write_table(SOURCE, folder / "est.parquet")
    other = (
        spec.replace("measures: {emp: 1}", "measures: {emp: {column: id, resolution: 1}}")
        .replace("    answers:\n", "    where: state = '37'\n    answers:\n")
        .replace("clamp: [0, 100]", "clamp: [0, 50]")
        .replace("employees / establishments", "establishments / employees")
        .replace("substr(county, 1, 2)", "substr(county, 1, 1)")
    )
    parts = "parts: {by: state, cases: {'37': {%s}, '48': {%s}}, default: {%s}}"
    whole, cut = "split: moderate, rho: 0.1", "clamp: [0, 100], rho: 0.1"
    one, two = (
        spec.replace("split: moderate, rho: 0.2", parts % each)
        for each in ((cut, whole, whole), (whole, cut, whole))
    )
    texts = {"old": spec, "new": spec, "other": other, "one": one, "two": two}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(
            text.replace("est.ledger", f"{name}.ledger"), encoding="utf-8"
        )
        release(folder, name)
    return folder


def test_derived_and_consistent_columns_are_compared(fitted):
    """By their own errors, under their own names."""
    found = run("compare", fitted / "old", fitted / "new", "--json", "--out", fitted / "growth")
    assert found.code == 0, found.err
    assert found.json()["left_out"] == found.json()["warnings"] == []
    old, new, rows = (
        pq.read_table(fitted / each).to_pylist()[0]
        for each in (
            "old/tables/nation.parquet", "new/tables/nation.parquet", "growth/nation.parquet",
        )
    )  # fmt: skip
    for answer in ("employees", "employees_consistent", "establishments_consistent", "size"):
        if answer == "size" and None in (old[answer], new[answer]):  # of no establishments
            assert rows[f"{answer}_change"] is None
            continue
        assert rows[f"{answer}_change"] == pytest.approx(float(new[answer]) - float(old[answer]))
        if new[f"{answer}_se"] is not None and old[f"{answer}_se"] is not None:
            both = math.hypot(old[f"{answer}_se"], new[f"{answer}_se"])
            assert rows[f"{answer}_change_se"] == pytest.approx(both)


def test_totals_of_which_other_parts_are_cut_are_left_out(fitted):
    """And so is what is derived from them by the same formula."""
    found = run("compare", fitted / "one", fitted / "two", "--json").json()
    reasons = {each["name"]: each["reason"] for each in found["left_out"]}
    one, two = (
        f"total of emp, by state ('37': {first}; '48': {second}; else: not cut)"
        for first, second in permutations(("cut to [0, 100]", "not cut"))
    )
    wanted = f"it is {one} in the old one, {two} in the new one"
    assert reasons["counties.employees"] == wanted
    assert one in reasons["counties.size"]
    assert "counties.mean" not in reasons


def test_answers_of_another_meaning_are_left_out(fitted):
    """Another column, other bounds, another formula; another filter is pointed out."""
    found = run("compare", fitted / "old", fitted / "other", "--json").json()
    reasons = {each["name"]: each["reason"] for each in found["left_out"]}
    assert reasons["counties.employees"] == (
        "it is total of emp in the old one, total of emp = id in the new one"
    )
    assert reasons["counties.employees_consistent"] == reasons["counties.employees"]
    assert "cut to [0, 100]" in reasons["counties.mean"]
    assert "cut to [0, 50]" in reasons["counties.mean"]
    assert reasons["nation.size"] == (
        "it is employees / establishments, where employees is total of emp and establishments is "
        "count of records in the old one, establishments / employees, where employees is total of "
        "emp = id and establishments is count of records in the new one"
    )
    assert "counties.establishments" not in reasons
    assert found["warnings"] == [
        f"{name}: it is of all records in the old one, state = '37' in the new one"
        for name in ("counties", "nation")
    ]
    shown = run("compare", fitted / "old", fitted / "other")
    assert "May differ in meaning: counties: it is of all records" in shown.err
