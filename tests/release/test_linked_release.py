"""Releases of changes between two files: what they are charged for, and what they say."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import InputError, Linked, SourceError
from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.release.identity import identity_of
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

LAST = {"id": [1, 2, 3], "county": ["A", "A", "B"], "emp": [10, 200, 30]}
THIS = {"id": [1, 2, 4], "county": ["A", "B", "B"], "emp": [13, 220, 5]}
SPEC = """
title: Changes
source: {path: this.parquet, last: last.parquet}
id: id
dimensions:
  county:
  change_kind: {values: [entry, exit, continuing, moved in, moved out]}
  size: "CASE WHEN emp > 100 THEN 'large' ELSE 'small' END"
measures: {emp: 1, net: {column: record_count}}
keys:
  counties: {values: {county: [A, B]}}
  kinds: {values: {change_kind: [entry, exit]}}
budget: {rho: 5, tapers: [{measure: emp, at: 20, rho: 1, times: 4}]}
ledger: changes.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers:
      emp: {sum: emp, taper: 20, rho: 1}
      cut: {sum: emp, clamp: [-50, 50], rho: 0.1}
      net: {sum: net, clamp: [-1, 1], rho: 0.1}
      half: {sum: net, clamp: [-1, 0], rho: 0.1}
      mean: {average: emp, clamp: [-50, 50], rho: 0.1}
  - name: large
    where: size = 'large'
    answers: {emp: {sum: emp, taper: 20, rho: 1}}
  - name: risen
    where: emp > 0
    answers: {emp: {sum: emp, taper: 20, rho: 1}}
  - name: kinds
    group_by: change_kind
    keys: kinds
    answers: {n: {count: records, rho: 0.1}, emp: {sum: emp, taper: 20, rho: 1}}
examples:
  - {name: grown by ten, county: A, change_kind: continuing, size: small, emp: 10, net: 0}
"""


@pytest.fixture
def folder(tmp_path):
    """Two periods, a spec and its ledger."""
    pq.write_table(pa.table(THIS), tmp_path / "this.parquet")
    pq.write_table(pa.table(LAST), tmp_path / "last.parquet")
    (tmp_path / "changes.yaml").write_text(SPEC)
    make_ledger(tmp_path)
    return tmp_path


def make_ledger(folder):
    """Make the ledger of the spec."""
    loaded = load_spec(folder / "changes.yaml")
    with open_table(loaded) as table:
        budget = build(loaded, table.schema).budget
    return Ledger.create(folder / "changes.ledger", budget)


def test_only_what_adds_up_says_which_level_it_changes(folder):
    """No cut total, no average, nothing of records chosen by a change or its kind."""
    release(folder / "changes.yaml", folder / "out")
    package = json.loads((folder / "out" / "datapackage.json").read_text())
    found = {
        (table["name"], field["name"]): field["change_of"]
        for table in package["resources"]
        for field in table["schema"]["fields"]
        if "change_of" in field
    }
    assert found == {
        ("counties", "emp"): "total of emp",
        ("counties", "net"): "count of records",
        ("large", "emp"): "total of emp",
    }


def test_entries_and_exits_are_ordinary_counts(folder):
    """Where noise vanishes, they are the numbers themselves."""
    text = SPEC.replace("rho: 0.1}", "rho: 1000000}").replace("rho: 5,", "rho: 9000000,")
    (folder / "changes.yaml").write_text(text)
    (folder / "changes.ledger").unlink()
    make_ledger(folder)
    release(folder / "changes.yaml", folder / "out", _bits=FrozenBits(1))
    rows = pq.read_table(folder / "out" / "tables" / "kinds.parquet").to_pylist()
    assert {row["change_kind"]: row["n"] for row in rows} == {"entry": 1, "exit": 1}
    rows = pq.read_table(folder / "out" / "tables" / "counties.parquet").to_pylist()
    assert {row["county"]: row["net"] for row in rows} == {"A": -1, "B": 1}


def test_ids_that_cannot_be_linked_cost_nothing(folder):
    """The release is refused before its charge."""
    pq.write_table(pa.table({**LAST, "id": [1, 1, 3]}), folder / "last.parquet")
    with pytest.raises(SourceError, match="several rows"):
        release(folder / "changes.yaml", folder / "out")
    assert len(Ledger.open(folder / "changes.ledger").entries()) == 1


def test_another_period_before_is_another_release(folder):
    """Its bytes belong to the identity, and to the snapshot that is charged."""
    loaded = load_spec(folder / "changes.yaml")
    before = identity_of(loaded, b"key")
    pq.write_table(pa.table({**LAST, "emp": [10, 200, 31]}), folder / "last.parquet")
    after = identity_of(loaded, b"key")
    assert before.key != after.key
    assert before.snapshot != after.snapshot


def test_a_given_source_is_two_periods_where_the_spec_has_two(folder):
    """A frame alone would be levels under a policy of changes."""
    with pytest.raises(InputError, match="Linked"):
        release(folder / "changes.yaml", folder / "out", source=pa.table(THIS), snapshot="2027")
    both = Linked(pa.table(THIS), last=pa.table(LAST))
    outcome = release(folder / "changes.yaml", folder / "out", source=both, snapshot="2027")
    assert outcome.did == "made"
    plain = SPEC.replace("{path: this.parquet, last: last.parquet}", "this.parquet")
    (folder / "plain.yaml").write_text(plain)
    with pytest.raises(InputError, match="one period"):
        open_table(load_spec(folder / "plain.yaml"), both)


def test_an_example_of_a_change_does_not_follow_from_itself(folder):
    """A size class is that of a row, and a change of 10 says nothing of it."""
    loaded = load_spec(folder / "changes.yaml")
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    (_, record), *_ = workload.examples
    assert record["size"] == "small"
    fields = {field.name: field for field in workload.fields}
    assert fields["emp"].is_change
    assert fields["emp"].label == "Change in emp"
    assert fields["emp"].largest == 2 * (2**62 - 1)


def test_a_respondent_is_told_to_round_before_taking_the_difference(folder):
    """12.9 and 13 are 12 and 14 in steps of 2: a change of 2, and 13 - 12.9 would count as none."""
    (folder / "changes.ledger").unlink()
    coarse = SPEC.replace("measures: {emp: 1,", "measures: {emp: 2,")
    (folder / "changes.yaml").write_text(coarse)
    make_ledger(folder)
    loaded = load_spec(folder / "changes.yaml")
    with open_table(loaded) as table:
        rows = [{"id": 1, "county": "A", "emp": emp} for emp in (13, 12.9)]
        (record,) = table.schema.linked_records(*rows)
    assert (record["emp"], record["net"]) == (2, 0)
    release(folder / "changes.yaml", folder / "out")
    for name in ("policy.html", "methodology.md"):
        shown = (folder / "out" / name).read_text("utf-8")
        assert "rounded before the difference is taken (emp to 2)" in shown
