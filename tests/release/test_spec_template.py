"""Templates: a spec to start from, of columns and types alone."""

import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import SourceError
from perrecord.release.spec import build, load_spec, open_table, template
from perrecord.release.spec.read import parse_document

ROWS = pa.table(
    {
        "estab_id": [90001, 90002],
        "county": ["secret-county", "other"],
        "no": ["quoted", "quoted"],
        "a: b": ["odd", "odd"],
        "2020": [True, False],
        "emp": [77777, 88888],
        "rent": [1234.5, 2.0],
        "pay": [Decimal("12.345"), Decimal("1.000")],
        "when": pa.array([0, 1], pa.date32()),
        "parts": [[1], [2]],
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the same rows as Parquet and as CSV."""
    pq.write_table(ROWS, tmp_path / "est.parquet")
    lines = [
        "estab_id,county,no,emp",
        "90001,secret-county,quoted,77777",
        "90002,other,quoted,88888",
    ]
    (tmp_path / "est.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("source", ["est.parquet", "est.csv", "*.csv"])
def test_a_template_loads_and_builds_as_it_is(folder, source):
    """One count of all records; no hint is called for."""
    (folder / "release.yaml").write_text(template(source), encoding="utf-8")
    loaded = load_spec("release.yaml")
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    assert [each.name for each in workload.queries] == ["all_records"]


def test_a_template_declares_columns_by_their_types(folder):
    """Names that say what they are become dimensions and measures; the rest is listed."""
    text = template("est.parquet", title="Rent: 2026")
    written = parse_document(text, "release.yaml").value
    assert written["title"] == "Rent: 2026"
    assert written["id"] == "estab_id"
    assert list(written["dimensions"]) == ["county", "2020"]
    assert written["measures"] == {"emp": 1, "rent": "0.01", "pay": "0.001"}
    shown = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for left in ('"no" (string)', '"a: b" (string)', '"when" (date32[day])', '"parts" (list<'):
        assert left in shown


def test_a_csv_template_goes_by_names(folder):
    """Every column of a CSV file is text, and its measures are read as numbers."""
    written = parse_document(template("est.csv"), "release.yaml").value
    assert list(written["dimensions"]) == ["county"]
    assert written["measures"] == {"emp": 1}


def test_a_template_proposes_little_where_there_is_much(folder):
    """Of 28 columns those that look like categories and amounts, and nothing else."""
    names = [f"x{number}" for number in range(24)]
    columns = {name: pa.array(["a"]) for name in names}
    columns |= {"STATE": ["TX"], "firm_id": ["1"], "payroll": [3], "TAX_PERIOD": [4]}
    pq.write_table(pa.table(columns), folder / "wide.parquet")
    written = parse_document(template("wide.parquet"), "release.yaml").value
    assert (written["id"], list(written["dimensions"])) == ("firm_id", ["STATE"])
    assert written["measures"] == {"payroll": 1}
    many = {f"code{letter}{letter}_code": ["a"] for letter in "abcdefghijkl"}
    pq.write_table(pa.table(many), folder / "codes.parquet")
    assert len(parse_document(template("codes.parquet"), "x").value["dimensions"]) == 8


def test_a_template_without_any_proposal_loads(folder):
    """Nothing is declared but the count; comments show what could be."""
    pq.write_table(pa.table({"x1": ["a"], "x2": [1]}), folder / "plain.parquet")
    (folder / "release.yaml").write_text(template("plain.parquet"), encoding="utf-8")
    loaded = load_spec("release.yaml")
    with open_table(loaded) as table:
        assert len(build(loaded, table.schema).queries) == 1


@pytest.mark.parametrize("source", ["est.parquet", "est.csv"])
def test_a_template_holds_no_value_of_the_data(folder, source):
    """Neither text nor numbers."""
    text = template(source)
    assert not any(value in text for value in ("secret", "quoted", "77777", "9000", "1234"))


def test_what_a_template_leaves_in_comments_is_right(folder):
    """Taking the comment signs away gives a spec that builds, once the keys are filled in."""
    lines = template("est.parquet").splitlines()
    code = [
        re.sub(r"^( *)# ", r"\1", line)
        for line in lines
        if not line.startswith("# ") or line[2:].startswith((" ", "tapers:", "keys:"))
    ]
    text = "\n".join(code).replace("  state: substr(county, 1, 2)\n", "")
    text = text.replace("  from_file: {file: keys.csv, columns: [county]}\n", "")
    (folder / "release.yaml").write_text(text, encoding="utf-8")
    loaded = load_spec("release.yaml")
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    assert [each.name for each in workload.queries] == ["all_records", "by_key"]
    assert workload.policy.is_below(workload.budget)


@pytest.mark.parametrize(
    "line",
    ["secret-name,TX,5", "secret-name,TX,5.0", 'secret-name,TX,"1,234"', "secret-name,TX,-1e3",
     "secret-name,,TX", "secret-name, ,TX", "secret-name,TX,tx"],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_csv_file_without_a_header_gives_no_template(folder, line, ending):
    """Its first record would be the names of columns; the refusal does not quote it."""
    separator = "\t" if ending == ".tsv" else ","
    text = line if '"' in line else line.replace(",", separator)
    (folder / f"rows{ending}").write_text(f"{text}\n{text}\n", encoding="utf-8")
    if '"' in line and ending == ".tsv":
        text = text.replace('TX,"1,234"', "TX\t1,234").replace("name,", "name\t")
        (folder / f"rows{ending}").write_text(f"{text}\n{text}\n", encoding="utf-8")
    with pytest.raises(SourceError, match="first line of a CSV file must hold the names") as caught:
        template(f"rows{ending}")
    assert "secret" not in str(caught.value)
    assert "TX" not in str(caught.value)


def test_a_csv_header_of_names_gives_a_template(folder):
    """Digits, signs and spaces inside a name do not make it a value."""
    names = ["estab id", "naics2", "2020 emp", "e-mail", "x"]
    (folder / "rows.csv").write_text(f"{','.join(names)}\n1,2,3,4,5\n", encoding="utf-8")
    shown = template("rows.csv")
    assert all(name in shown for name in names)


def test_a_parquet_file_may_have_columns_named_like_numbers(folder):
    """Its names are names, whatever they look like."""
    assert '"2020":' in template("est.parquet")
