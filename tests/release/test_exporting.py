"""Exports of a published folder, read back by libraries of the other side."""

import json
import re
import shutil
import warnings
import zipfile
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from frictionless import Package, Resource
from pyjstat import pyjstat
from pysdmx.io import get_datasets, read_sdmx

import perrecord
from perrecord import InputError, Ledger, extras
from perrecord.release import exporting
from perrecord.release.exporting import FORMATS, workbook
from perrecord.release.exporting.cube import MISSING, cube_of, is_number
from perrecord.release.folders import ReleaseFolder
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from tests.release.read_px import read_px

HOSTILE = '=HYPERLINK("http://x","y")'
SPEC = f"""\
title: Farms by state
description: Farms and cattle, invented.
source: farms.parquet
table: farms
dimensions:
  state: {{label: State}}
  size:
measures:
  cattle: {{resolution: 0.01, label: Head of cattle, unit: head}}
splits:
  moderate: {{cattle: 50}}
keys:
  states: {{values: {{state: [NM, TX, '{HOSTILE}']}}}}
  sizes: {{values: {{size: [1, 2]}}}}
  cells: {{product: [states, sizes]}}
  some: {{difference: [cells, one]}}
  one: {{values: {{state: [NM], size: [2]}}}}
budget: {{rho: 9, splits: [moderate]}}
ledger: farms.ledger
queries:
  - name: states
    title: Farms and cattle by state
    rollup: [state]
    keys: states
    answers:
      farms: {{count: records, rho: 0.1}}
      cattle: {{sum: cattle, split: moderate, rho: 0.2}}
      mean: {{average: cattle, clamp: [0, 100], rho: 0.1}}
  - name: cells
    group_by: [state, size]
    keys: some
    answers:
      farms: {{count: records, rho: 0.1}}
post_processing: {{status: {{reliable: 0.1, caution: 0.3}}}}
outputs: {{csv: true, licence: CC-BY-4.0}}
examples:
  - {{name: a small farm, cattle: 12, state: TX}}
"""
ROWS = {"state": ["TX", "NM", "TX"] * 20, "size": [1, 2, 1] * 20, "cattle": [7.25, 30, 9000] * 20}


def made(folder, spec=SPEC):
    """Publish a release in a folder."""
    pq.write_table(pa.table(ROWS), folder / "farms.parquet")
    (folder / "release.yaml").write_text(spec, "utf-8")
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    release(folder / "release.yaml", folder / "published")
    return folder / "published"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A published folder."""
    return made(tmp_path_factory.mktemp("released"))


def rows_of(published, name):
    """Return the rows of a table, as published."""
    return pq.read_table(published / "tables" / f"{name}.parquet")


def codes(column):
    """Return keys as the text that formats without types have."""
    return [str(each) for each in column.to_pylist()]


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_release_gives_the_same_bytes(published, tmp_path, name):
    """Whenever and wherever it is exported."""
    first = perrecord.export(published, to=name, out=tmp_path / "one")
    second = perrecord.export(published, to=name, out=tmp_path / "other")
    assert [each.read_bytes() for each in first] == [each.read_bytes() for each in second]


def test_a_workbook_holds_every_table_and_no_formula(published, tmp_path):
    """As openpyxl and pandas read it, cell by cell."""
    (path,) = perrecord.export(published, to="xlsx", out=tmp_path / "release.xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Notes", "states_by_state", "states_total", "cells"]
    for name in book.sheetnames[1:]:
        rows = rows_of(published, name)
        heads, *found = book[name].iter_rows(values_only=True)
        assert list(heads) == rows.column_names
        expected = [
            tuple(float(each) if isinstance(each, Decimal) else each for each in row.values())
            for row in rows.to_pylist()
        ]
        for row, wanted in zip(found, expected, strict=True):
            assert list(row) == [
                pytest.approx(each, rel=1e-15) if type(each) is float else each for each in wanted
            ]
        types = {cell.data_type for row in book[name].iter_rows() for cell in row}
        assert "f" not in types
    states = pd.read_excel(path, sheet_name="states_by_state", keep_default_na=False)
    assert states["state"].tolist() == [HOSTILE, "NM", "TX"]
    notes = [row for row in book["Notes"].iter_rows(values_only=True) if row[0]]
    assert notes[0][:2] == ("Title", "Farms by state")
    assert ("states_by_state", "states_by_state", "cattle") in [row[:3] for row in notes]
    assert next(row[4] for row in notes if row[2] == "cattle") == "head"
    with zipfile.ZipFile(path) as parts:
        assert not [name for name in parts.namelist() if "hyperlink" in name.lower()]


def test_a_table_that_excel_cannot_hold_is_refused(published, tmp_path, monkeypatch):
    """With its size, and what to take in its place."""
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    with pytest.raises(InputError, match=r"'states_by_state' has 3 rows .* Take another format"):
        perrecord.export(published, to="xlsx", out=tmp_path / "release.xlsx")
    monkeypatch.setattr(workbook, "MOST_ROWS", 4)
    monkeypatch.setattr(workbook, "MOST_COLUMNS", 3)
    with pytest.raises(InputError, match="holds 3 rows below its heading and 3 columns"):
        perrecord.export(published, to="xlsx", out=tmp_path / "release.xlsx")
    assert not (tmp_path / "release.xlsx").exists()


def test_jsonstat_holds_what_the_tables_hold(published, tmp_path):
    """As pyjstat reads it; places without a key are empty."""
    perrecord.export(published, to="jsonstat", out=tmp_path / "out")
    for name in ("states_by_state", "states_total", "cells"):
        text = (tmp_path / "out" / f"{name}.json").read_text("utf-8")
        dataset = pyjstat.Dataset.read(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of pyjstat's own call
            frame = dataset.write("dataframe")
        rows = rows_of(published, name)
        keys = [each for each in ("state", "size") if each in rows.column_names]
        for row in rows.to_pylist():
            one = frame
            for key in keys:
                label = {"state": "State"}.get(key, f"key: {key}")
                one = one[one[label] == str(row[key])]
            found = dict(zip(one["answer"], one["value"], strict=True))
            numbers = {each: row[each] for each in found}
            assert {each for each in row if each not in found} >= {*keys, "farms_status"}
            assert found == {each: float(value) for each, value in numbers.items()}
    cells = json.loads((tmp_path / "out" / "cells.json").read_text("utf-8"))
    assert cells["size"] == [3, 2, 4]
    assert isinstance(cells["value"], dict)
    assert len(cells["value"]) == 5 * 4
    units = json.loads((tmp_path / "out" / "states_total.json").read_text("utf-8"))
    assert any("errors of mean do not hold where few" in each for each in units["note"])
    assert not any("do not hold" in each for each in cells["note"])
    assert units["dimension"]["answer"]["category"]["unit"]["cattle"] == {"label": "head"}


def test_px_holds_what_the_tables_hold(published, tmp_path):
    """As a reader of PX finds it: values and codes by keyword, data in the order of the axes."""
    perrecord.export(published, to="px", out=tmp_path / "out")
    for name in ("states_by_state", "states_total", "cells"):
        found = read_px((tmp_path / "out" / f"{name}.px").read_text("utf-8"))
        rows = rows_of(published, name)
        keys = [each for each in ("state", "size") if each in rows.column_names]
        assert found.axes[-1] == "answer"
        assert found.axes[:-1] == tuple(keys)
        for row in rows.to_pylist():
            for answer in found.codes["answer"]:
                place = (*(str(row[key]).replace('"', "'") for key in keys), answer)
                assert Decimal(found.data[place]) == Decimal(str(row[answer]))
    assert sum(value == '".."' for value in found.data.values()) == 4


ALL_STEPS = (
    "post_processing: {floor_at_zero: true, round: {cattle: 0}, consistent: {nonnegative: true, "
    "whole: true}, status: {reliable: 0.1, caution: 0.3}}"
)


def test_derived_numbers_have_the_unit_of_their_formula(tmp_path):
    """A sum that of its parts, an average that of its total, a share and a count none."""
    formulas = {
        "double": ("2 * cattle + 1", "head"),
        "each": ("cattle / farms", "head"),
        "part": ("cattle / (cattle + 1)", None),
        "many": ("farms * 2", None),
        "mixed": ("cattle + farms", None),
    }
    written = "".join(f"  {name}: {each}\n" for name, (each, _) in formulas.items())
    folder = made(tmp_path, f"{SPEC}\nderived:\n{written}")
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    (fields,) = [
        {field["name"]: field.get("unit") for field in each["schema"]["fields"]}
        for each in package["resources"]
        if each["name"] == "states_by_state"
    ]
    for name, (_, unit) in formulas.items():
        assert (fields[name], fields[f"{name}_se"]) == (unit, unit), name


def test_every_number_beside_an_answer_has_its_unit_in_every_format(tmp_path):
    """Errors, ends of intervals, rounded, floored and consistent numbers; no count, no flag."""
    spec = SPEC.replace("post_processing: {status: {reliable: 0.1, caution: 0.3}}", ALL_STEPS)
    folder = made(tmp_path, spec)
    wanted = {
        each.name
        for each in rows_of(folder, "states_by_state").schema
        if each.name.startswith(("cattle", "mean")) and is_number(each.type)
    }
    beside = {"_se", "_low", "_high", "_rounded", "_floored", "_consistent", "_consistent_se"}
    assert {f"cattle{each}" for each in ("", "_consistent_whole", *beside)} < wanted
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    fields = next(
        each["schema"]["fields"]
        for each in package["resources"]
        if each["name"] == "states_by_state"
    )
    assert {each["name"] for each in fields if "unit" in each} == wanted
    assert "about Head of cattle" in next(
        each["description"] for each in fields if each["name"] == "cattle"
    )
    for name in ("jsonstat", "px", "sdmx"):
        perrecord.export(folder, to=name, out=tmp_path / name)
    cube = json.loads((tmp_path / "jsonstat" / "states_by_state.json").read_text("utf-8"))
    assert cube["dimension"]["answer"]["category"]["unit"] == {
        each: {"label": "head"} for each in wanted
    }
    found = read_px((tmp_path / "px" / "states_by_state.px").read_text("utf-8"))
    units = {each: found.keywords[f'UNITS("{each}")'] for each in found.codes["answer"]}
    assert units == {each: ["head" if each in wanted else "number"] for each in units}
    structure = (tmp_path / "sdmx" / "structure.xml").read_text("utf-8")
    assert structure.count("; unit: head") == 2 * len(wanted)  # and as many in total
    (path,) = perrecord.export(folder, to="xlsx", out=tmp_path / "release.xlsx")
    notes = openpyxl.load_workbook(path)["Notes"].iter_rows(values_only=True)
    rows = [row for row in notes if row[0] == "states_by_state"]
    assert {row[2] for row in rows if row[4] == "head"} == wanted
    assert "| cattle | Head of cattle | head | 0.01 |" in (folder / "methodology.md").read_text()


def test_jsonstat_keeps_every_digit_of_a_decimal(published, tmp_path):
    """A reader of decimals finds the published ones, digit by digit; floats are the same floats."""
    perrecord.export(published, to="jsonstat", out=tmp_path / "out")
    for name in ("states_by_state", "states_total", "cells"):
        text = (tmp_path / "out" / f"{name}.json").read_text("utf-8")
        found = json.loads(text, parse_float=Decimal)
        answers = found["dimension"]["answer"]["category"]["index"]
        rows, values = rows_of(published, name), found["value"]
        filled = values if isinstance(values, list) else list(values.values())
        for place, answer in enumerate(answers):
            wanted = [Decimal(str(each)) for each in rows.column(answer).to_pylist()]
            assert sorted(map(str, map(Decimal, filled[place :: len(answers)]))) == sorted(
                map(str, wanted)
            )
    assert any(pa.types.is_decimal(each.type) for each in rows_of(published, "states_total").schema)


def test_px_shows_the_decimals_of_each_column(published, tmp_path):
    """None of counts, those of the resolution of totals, four digits of floats."""
    perrecord.export(published, to="px", out=tmp_path / "out")
    found = read_px((tmp_path / "out" / "states_by_state.px").read_text("utf-8")).keywords
    text = (tmp_path / "out" / "states_by_state.px").read_text("utf-8")
    assert "SHOWDECIMALS=0;" in text
    assert 'PRECISION("answer","cattle")=2;' in text
    assert not any(each.startswith('PRECISION("answer","farms")') for each in found)
    shown = [int(each) for each in re.findall(r"PRECISION\(.*\)=(\d+);", text)]
    assert all(1 <= each <= 6 for each in shown)


def test_px_refuses_a_table_without_rows(published, tmp_path, monkeypatch):
    """As one whose keys were selected may be: a list of no codes is no PX."""
    read = ReleaseFolder.table

    def empty(folder, name):
        found = read(folder, name)
        return replace(found, rows=found.rows.slice(0, 0))

    monkeypatch.setattr(ReleaseFolder, "table", empty)
    with pytest.raises(InputError, match="has no rows, and a PX file holds at least one"):
        perrecord.export(published, to="px", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_px_is_read_by_another_library(published, tmp_path):
    """By pyaxis, row by row: it names codes by their values, and leaves out what has none."""
    from pyaxis import pyaxis

    perrecord.export(published, to="px", out=tmp_path / "out")
    for name in ("states_by_state", "cells"):
        found = pyaxis.parse(str(tmp_path / "out" / f"{name}.px"), encoding="utf-8")
        frame = found["DATA"]
        rows = rows_of(published, name)
        keys = [each for each in ("state", "size") if each in rows.column_names]
        held = {
            tuple(line[each] for each in (*keys, "answer")): line["DATA"]
            for line in frame.to_dict("records")
        }
        for row in rows.to_pylist():
            for answer in found["METADATA"]["VALUES(answer)"]:
                place = (*(str(row[key]).replace('"', "'") for key in keys), answer)
                assert Decimal(held[place]) == Decimal(str(row[answer]))


VARIED = """\
title: Farms, weighted
source: farms.parquet
table: farms
dimensions: [state]
measures:
  cattle: {resolution: 0.01, largest: 10000}
weight: {column: size, largest: 100}
keys: {states: {values: {state: [NM, TX]}}}
budget: {rho: 5, tapers: [{measure: cattle, at: 50, rho: 0.2, times: 2, blur: 0.1}]}
ledger: farms.ledger
queries:
  - name: varied
    group_by: [state]
    keys: states
    answers:
      farms: {sum: size, clamp: [0, 10], rho: 0.1}
      weighted: {sum: weighted_cattle, clamp: [0, 1000], rho: 0.1}
      blurred: {sum: cattle, taper: 50, blur: 0.1, rho: 0.2}
      middle: {median: cattle, candidates: [0, 10, 100], rho: 0.05}
derived: {each: weighted / farms}
post_processing: {status: {reliable: 0.1, caution: 0.3}, floor_at_zero: true}
outputs: {csv: true}
"""


def test_weights_blurs_and_words_go_into_every_format(tmp_path):
    """A number that has no plain error, or none at all, is exported as it was published."""
    folder = made(tmp_path, VARIED)
    rows = rows_of(folder, "varied")
    for name in FORMATS:
        assert perrecord.export(folder, to=name, out=tmp_path / name)
    frame = pd.read_excel(tmp_path / "xlsx", sheet_name="varied", engine="openpyxl")
    assert list(frame.columns) == rows.column_names
    cube = json.loads((tmp_path / "jsonstat" / "varied.json").read_text("utf-8"))
    shown = list(cube["dimension"]["answer"]["category"]["index"])
    numbers = [each.name for each in rows.schema if each.name in shown]
    assert set(shown) == set(numbers) >= {"farms", "weighted", "blurred", "middle", "each"}
    held = read_px((tmp_path / "px" / "varied.px").read_text("utf-8")).data
    for row in rows.to_pylist():
        for answer in shown:
            value = held[row["state"], answer]
            assert (value == '".."') == (row[answer] is None)
            assert row[answer] is None or Decimal(value) == Decimal(str(row[answer]))


def test_no_two_resources_share_a_name(tmp_path):
    """Whatever tables are called: the copies of one are not another table."""
    spec = SPEC.replace("name: cells", "name: states_by_state-csv")
    package = json.loads((made(tmp_path, spec) / "datapackage.json").read_text("utf-8"))
    names = [each["name"] for each in package["resources"]]
    assert len({*names}) == len(names) == 6


def test_sdmx_holds_what_the_tables_hold(published, tmp_path):
    """As pysdmx reads data and structure together."""
    perrecord.export(published, to="sdmx", out=tmp_path / "out")
    structure = tmp_path / "out" / "structure.xml"
    flows = {each.id for each in read_sdmx(structure, validate=True).get_dataflows()}
    assert flows == {"STATES_BY_STATE", "STATES_TOTAL", "CELLS"}
    for name in ("states_by_state", "states_total", "cells"):
        (dataset,) = get_datasets(tmp_path / "out" / f"{name}.csv", structure)
        rows = rows_of(published, name)
        for column in rows.column_names:
            found = dataset.data[column.upper()].tolist()
            values = rows.column(column).to_pylist()
            if column == "size":
                assert found == codes(rows.column(column))
            elif column == "state":
                assert found[-1] == values[-1] == "TX"
            else:
                assert [str(each) for each in found] == [
                    str(float(each) if isinstance(each, Decimal) else each) for each in values
                ]
    lists = {each.id: each for each in read_sdmx(structure).get_codelists()}
    assert next(code.name for code in lists["STATES_BY_STATE_STATE"].items) == HOSTILE


def test_the_data_package_is_one_that_frictionless_accepts(published):
    """Its description, and every CSV file against its types and keys."""
    descriptor = json.loads((published / "datapackage.json").read_text("utf-8"))
    assert list(Package.metadata_validate(descriptor)) == []
    for each in descriptor["resources"]:
        if each["format"] == "csv":
            plain = {**each, "schema": {**each["schema"], "foreignKeys": []}}
            report = Resource.from_descriptor(plain, basepath=str(published)).validate()
            assert report.valid, report.flatten(["message"])


def test_a_registry_entry_says_what_the_policy_says(published, tmp_path):
    """In the registry's own sections; what nobody but the publisher knows is marked."""
    (path,) = perrecord.export(published, to="registry", out=tmp_path / "entry.yaml")
    entry = yaml.safe_load(path.read_text("utf-8"))
    assert [*entry] == ["url_slug", "deployment"]
    parts = entry["deployment"]
    assert [*parts] == [
        "basic", "dp_variant", "privacy_loss", "deployment_model", "implementation",
        "administrative",
    ]  # fmt: skip
    assert parts["basic"]["name"] == "Farms by state"
    assert parts["basic"]["intended_use"] == "FILL IN"
    assert parts["dp_variant"]["variant_name"] == "Custom"  # splitting has no largest loss
    assert parts["privacy_loss"]["privacy_parameters"] == {}
    assert "a small farm loses" in parts["privacy_loss"]["privacy_parameters_details"]
    assert parts["administrative"]["status"] == "Draft"


def test_a_policy_with_a_largest_loss_is_registered_with_it(tmp_path):
    """Counts cost every record the same."""
    spec = SPEC.replace("      cattle: {sum: cattle, split: moderate, rho: 0.2}\n", "")
    (path,) = perrecord.export(made(tmp_path, spec), to="registry", out=tmp_path / "entry.yaml")
    parts = yaml.safe_load(path.read_text("utf-8"))["deployment"]
    assert parts["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert parts["privacy_loss"]["privacy_parameters"] == {"rho": 0.5}


@pytest.mark.parametrize("name", FORMATS)
def test_folders_that_are_damaged_are_refused(published, tmp_path, name):
    """Whatever is damaged: the export writes nothing, and says which file it is."""
    for place, damage in enumerate((b"", b"{}", b"\x00\xff", b"PAR1")):
        for file in ("manifest.json", "datapackage.json", "tables/cells.parquet", "policy.json"):
            copy, out = tmp_path / f"{place}{file.replace('/', '_')}", tmp_path / "out"
            shutil.copytree(published, copy)
            (copy / file).write_bytes(damage)
            if (file == "policy.json") is not (name == "registry") and file in (
                "policy.json",
                "tables/cells.parquet",
            ):
                continue  # a file that this format does not read
            with pytest.raises(InputError):
                perrecord.export(copy, to=name, out=out)
            assert not out.exists()


def test_what_is_sealed_but_no_table_is_refused(published, tmp_path):
    """A manifest that vouches for a file that is none ends in words too."""
    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    (copy / "tables" / "cells.parquet").write_bytes(b"PAR1")
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["files"]["tables/cells.parquet"]["sha256"] = sha256(b"PAR1").hexdigest()
    (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    for name in ("xlsx", "sdmx", "jsonstat", "px"):
        with pytest.raises(InputError, match=r"cells.parquet' is not a Parquet file"):
            perrecord.export(copy, to=name, out=tmp_path / "out")


def test_places_that_are_taken_and_formats_that_are_none_are_refused(published, tmp_path):
    """And nothing is written into a published folder."""
    with pytest.raises(InputError, match=r"no format 'xls'.*Did you mean 'xlsx'"):
        perrecord.export(published, to="xls", out=tmp_path / "a")
    with pytest.raises(InputError, match="lies in the published folder"):
        perrecord.export(published, to="px", out=published / "px")
    (tmp_path / "there").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="exists already"):
        perrecord.export(published, to="px", out=tmp_path / "there")


@pytest.mark.parametrize("name", ["xlsx", "sdmx"])
def test_a_format_whose_extra_is_missing_names_it(published, tmp_path, monkeypatch, name):
    """Before anything is read."""
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=rf"pip install 'perrecord\[{name}\]'"):
        exporting.export(published, to=name, out=tmp_path / "out")


def test_a_cube_has_a_code_for_missing_values(published):
    """And a text that is the same as that code is refused beside them."""
    table = ReleaseFolder.read(published).table("states_by_state")
    empty = pa.array(["NM", None, "TX"])
    rows = table.rows.set_column(0, "state", empty)
    found = cube_of(type(table)(table.name, rows, table.about), {"state": {"NM": "New Mexico"}})
    assert found.axes[0].codes == ("NM", MISSING, "TX")
    assert found.axes[0].labels == ("New Mexico", MISSING, "TX")
    rows = table.rows.set_column(0, "state", pa.array(["NM", None, MISSING]))
    with pytest.raises(InputError, match="beside missing values"):
        cube_of(type(table)(table.name, rows, table.about), {})


@pytest.mark.parametrize("file", ["methodology.md", "policy.json", "datapackage.json", "added.txt"])
def test_an_altered_folder_is_refused(published, tmp_path, file):
    """Whichever file was changed, and a file that the manifest does not list."""
    copy = shutil.copytree(published, tmp_path / "copy")
    (copy / file).touch()
    (copy / file).chmod(0o644)
    (copy / file).write_bytes((copy / file).read_bytes() + b" ")
    with pytest.raises(InputError, match=rf"{file}' is (not what|none of the files)"):
        perrecord.export(copy, to="registry", out=tmp_path / "out")
    (copy / file).unlink()
    if file == "added.txt":
        perrecord.export(copy, to="registry", out=tmp_path / "out")
        return
    with pytest.raises(InputError, match=f"{file}' could not be read"):
        perrecord.export(copy, to="registry", out=tmp_path / "out")
