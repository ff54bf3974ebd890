"""The columns that `check` lists are those that a release writes, table by table."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger
from perrecord.release.foretold import foretold_columns
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

SPEC = """\
title: Establishments
source: est.parquet
table: est
dimensions: {county: county, state: "substr(county, 1, 2)"}
measures: {emp: 1}
splits: {usual: {emp: 50}}
keys:
  counties: {values: {county: ["01001", "01003", "02001"]}}
  found: {select: {rho: 0.1, threshold: 3}}
  states: {values: {state: ["01", "02"]}}
budget:
  rho: 9
  splits: [usual]
  selections: [{keys: [county], rho: 0.1, threshold: 3}]
  tapers: [{measure: emp, at: 50, rho: 0.2, blur: 0.1, times: 4}]
ledger: est.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers:
      n: {count: records, rho: 0.1}
      emp: {sum: emp, split: usual, rho: 0.1}
      mean: {average: emp, clamp: [0, 100], rho: 0.1}
      middle: {median: emp, candidates: [0, 10, 100], rho: 0.05}
      blurred: {sum: emp, taper: 50, blur: 0.1, rho: 0.2}
      signed: {sum: emp, taper: 50, blur: {by: 0.1, signed: true}, rho: 0.2}
  - name: states
    group_by: state
    keys: states
    answers:
      n: {count: records, rho: 0.1}
      emp: {sum: emp, split: usual, rho: 0.1}
  - name: found
    group_by: county
    keys: found
    answers: {n: {count: records, rho: 0.1}}
derived: {per: emp / n}
"""
PROCESSED = (
    "post_processing: {floor_at_zero: true, round: {emp: -1, per: 1, middle: 0}, "
    "status: {reliable: 0.1, caution: 0.3}%s}\n"
)
CONSISTENT = ", consistent: {nonnegative: true, whole: true}"


@pytest.mark.parametrize("intervals", ["", "outputs: {intervals: false}\n"])
@pytest.mark.parametrize("added", ["", PROCESSED % "", PROCESSED % CONSISTENT])
def test_foretold_columns_are_those_of_the_release(tmp_path, added, intervals):
    """Of every kind of answer, of derived numbers, and of every step of post-processing."""
    source = pa.table({"county": ["01001", "01003", "02001"] * 9, "emp": [4, 30, 5000] * 9})
    pq.write_table(source, tmp_path / "est.parquet")
    path = tmp_path / "release.yaml"
    path.write_text(SPEC + added + intervals, encoding="utf-8")
    loaded = load_spec(path)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    Ledger.create(tmp_path / "est.ledger", workload.budget)
    release(path, tmp_path / "out")
    foretold = dict(foretold_columns(workload))
    written = {
        each.stem: pq.read_schema(each).names for each in (tmp_path / "out/tables").iterdir()
    }
    assert {name: list(columns) for name, columns in foretold.items()} == written
