"""Codes with their names, from public lists: what is published of them, and what is refused."""

import json

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyjstat import pyjstat
from pysdmx.io import read_sdmx

import perrecord
from perrecord import Ledger, SpecError
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.release.spec import build, check_without_data, load_spec, open_table
from tests.release.read_px import read_px

HOSTILE = '=1+1 </script><b>"x"; | DATA= *Texas*'
SPEC = """\
title: Farms by state
source: farms.parquet
table: farms
dimensions:
  state: {label: State, values: [NM, TX]}
  size: {label: Size}
labels: {state: states.csv, size: {file: sizes.parquet, code: class, label: words}}
keys:
  cells: {values: {state: [NM, TX], size: [1, 2]}}
budget: {rho: 9}
ledger: farms.ledger
queries:
  - name: cells
    group_by: [state, size]
    keys: cells
    answers: {farms: {count: records, rho: 0.1}}
outputs: {csv: true}
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with data, a spec and its code lists."""
    rows = {"state": ["TX", "NM"] * 20, "size": [1, 2] * 20}
    pq.write_table(pa.table(rows), tmp_path / "farms.parquet")
    (tmp_path / "release.yaml").write_text(SPEC, "utf-8")
    quoted = HOSTILE.replace('"', '""')
    (tmp_path / "states.csv").write_text(
        f'code,name\nNM,New Mexico\nTX,"{quoted}"\nVA,Virginia\n', "utf-8"
    )
    sizes = {"words": ["small", "large"], "class": [1, 2], "more": [0, 0]}
    pq.write_table(pa.table(sizes), tmp_path / "sizes.parquet")
    return tmp_path


def loaded(folder):
    """Load and build the spec."""
    spec = load_spec(folder / "release.yaml")
    check_without_data(spec)
    with open_table(spec) as table:
        return spec, build(spec, table.schema)


def test_codes_have_their_names_in_everything_that_is_published(folder):
    """The folder, its documents and every export; hostile names stay words."""
    spec, workload = loaded(folder)
    Ledger.create(spec.ledger, workload.budget)
    published = release(folder / "release.yaml", folder / "published").folder
    assert pq.read_table(published / "labels" / "state.parquet").to_pydict() == {
        "state": ["NM", "TX", "VA"],
        "label": ["New Mexico", HOSTILE, "Virginia"],
    }
    assert f"'{HOSTILE[:4]}" in (published / "labels" / "state.csv").read_text("utf-8")
    policy = read_published((published / "policy.json").read_text("utf-8"))
    assert policy.fields[0].names == ("New Mexico", HOSTILE)
    assert policy.fields[1].names == ()
    assert HOSTILE not in (published / "policy.html").read_text("utf-8")
    method = (published / "methodology.md").read_text("utf-8")
    assert "- size, 2 codes: 1 small; 2 large" in method
    assert HOSTILE not in method
    package = json.loads((published / "datapackage.json").read_text("utf-8"))
    names = [each["name"] for each in package["resources"]]
    assert names == [
        "cells", "csv.cells", "labels.state", "csv.labels.state", "labels.size", "csv.labels.size",
    ]  # fmt: skip
    references = [each["reference"] for each in package["resources"][0]["schema"]["foreignKeys"]]
    assert [each["resource"] for each in references] == ["labels.state", "labels.size"]

    (book,) = perrecord.export(published, to="xlsx", out=folder / "a.xlsx")
    sheet = openpyxl.load_workbook(book)["cells"]
    heads, first, *_ = sheet.iter_rows(values_only=True)
    assert heads[:4] == ("state", "state_label", "size", "size_label")
    assert first[:4] == ("NM", "New Mexico", 1, "small")
    assert {row[1] for row in sheet.iter_rows(min_row=2, values_only=True)} >= {HOSTILE}
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    perrecord.export(published, to="jsonstat", out=folder / "json")
    dataset = pyjstat.Dataset.read((folder / "json" / "cells.json").read_text("utf-8"))
    assert dataset["dimension"]["state"]["category"]["label"]["TX"] == HOSTILE
    perrecord.export(published, to="px", out=folder / "px")
    px = read_px((folder / "px" / "cells.px").read_text("utf-8"))
    assert px.keywords['VALUES("size")'] == ["small", "large"]
    assert px.keywords['VALUES("state")'] == ["New Mexico", HOSTILE.replace('"', "'")]
    perrecord.export(published, to="sdmx", out=folder / "sdmx")
    lists = read_sdmx(folder / "sdmx" / "structure.xml", validate=True).get_codelists()
    assert {code.name for each in lists for code in each.items} >= {HOSTILE, "small"}


def test_another_name_shows_the_same_numbers_anew(folder):
    """Names decide how numbers are shown: nothing is charged for a corrected list."""
    spec, workload = loaded(folder)
    Ledger.create(spec.ledger, workload.budget)
    first = release(folder / "release.yaml", folder / "published")
    states = folder / "states.csv"
    states.write_text(states.read_text("utf-8").replace("New Mexico", "Nuevo México"), "utf-8")
    again = release(folder / "release.yaml", folder / "corrected")
    assert again.did == "corrected"
    assert again.charge == first.charge
    one, other = (folder / each / "tables" / "cells.csv" for each in ("published", "corrected"))
    assert one.read_bytes() == other.read_bytes()
    assert "Nuevo" in (folder / "corrected" / "labels" / "state.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("list_of_states", "said"),
    [
        ("code,name\nNM,a\nNM,b\nTX,c\n", "lists the code 'NM' twice"),
        ("code,name\nNM,a\n", r"labels.state: the keys TX have no name in the list"),
        ("code,name,more\nNM,a,b\nTX,c,d\n", "expected two, the code and its name"),
        ("code,name\nNM,\nTX,b\n", "row 1 of 'states.csv': expected a name of 1 to 300"),
        ("code,name\nNM,a\nTX,\x1b[2J\n", "row 2 of 'states.csv': the name holds characters"),
        ("code,name\nNM,a\nTX,\u202eb\n", "row 2 of 'states.csv': the name holds characters"),
    ],
)
def test_mistakes_of_a_list_are_shown_at_its_line(folder, list_of_states, said):
    """Each with the line of the spec that names the list."""
    (folder / "states.csv").write_text(list_of_states, "utf-8")
    with pytest.raises(SpecError, match=said) as error:
        loaded(folder)
    assert "release.yaml:7: labels.state:" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("state: states.csv", "state: none.csv", "there is no file 'none.csv'"),
        ("state: states.csv", "stat: states.csv", "no dimension 'stat'.*Did you mean 'state'"),
        ("state: states.csv", "state: farms.parquet", "read from the source itself"),
        ("code: class", "code: klass", "has no column 'klass'"),
        ("code: class", "code: words", "one column, 'words'"),
        ("label: words", "label: class", "one column, 'class'|holds no text"),
        ("label: words", "label: more", "holds no text"),
    ],
)
def test_mistakes_of_the_entry_are_shown_at_its_line(folder, old, new, said):
    """A list that is not there, not public, or of other columns."""
    path = folder / "release.yaml"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(SpecError, match=said) as error:
        loaded(folder)
    assert "release.yaml:7: labels" in str(error.value)
