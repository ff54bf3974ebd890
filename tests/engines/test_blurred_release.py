"""A whole release with blurred totals (T28) from Spark: the files that DuckDB's integers give."""

import json
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from tests.noise.checks import Replayed
from tests.queries.reference import exact

pytestmark = pytest.mark.spark

COUNTIES = [f"{state:02}{county:03}" for state in (1, 2) for county in (1, 3, 5, 7)]
SPEC = """\
title: Establishments by county
source: est.parquet
table: est
dimensions: {county: county, kind: kind, state: "substr(county, 1, 2)"}
measures: {emp: 1, pay: 0.5}
keys:
  counties: {file: counties.csv, columns: [county]}
  states: {values: {state: ["01", "02"]}}
budget: {rho: 1000000, splits: [plain]}
splits: {plain: {emp: 50, pay: 50}}
ledger: LEDGER
queries:
  - name: own
    group_by: county
    keys: counties
    where: kind = 'a'
    answers:
      emp: {sum: emp, taper: 50, blur: 0.1, rho: 0.2}
      pay: {sum: pay, taper: 50, blur: {by: 0.3, signed: true}, rho: 0.2}
  - name: above
    group_by: state
    keys: states
    answers: {emp: {sum: emp, taper: 50, blur: 0.1, rho: 0.2}}
  - name: public
    group_by: county
    keys: counties
    answers: {emp: {sum: emp, taper: 50, blur: {by: 0.1, scale: last_year.csv}, rho: 0.2}}
"""


@pytest.fixture
def rows() -> pa.Table:
    """Establishments of all sizes, giants whose squares are beyond 64 and 128 bits among them."""
    random = Random(5)
    giants = [3 * 10**9, 2**62, 10**15 + 7]
    emp = [*giants, None, *(random.randrange(3000) for _ in range(196))]
    return pa.table(
        {
            "county": pa.array([random.choice(COUNTIES[:-1]) for _ in emp], pa.string()),
            "kind": pa.array([random.choice("aab") for _ in emp], pa.string()),
            "emp": pa.array(emp, pa.int64()),
            "pay": pa.array([random.randrange(-40, 4000) / 2 for _ in emp], pa.float64()),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, rows: pa.Table) -> Path:
    """A folder with the source, the keys and the public sizes."""
    pq.write_table(rows, tmp_path / "est.parquet")
    (tmp_path / "counties.csv").write_text("\n".join(["county", *COUNTIES]) + "\n")
    sizes = [f"{county},{7 * place * 10**place}" for place, county in enumerate(COUNTIES[:6])]
    (tmp_path / "last_year.csv").write_text("\n".join(["county,emp", *sizes]) + "\n")
    return tmp_path


def released(folder: Path, name: str, source: object = None) -> tuple[dict[str, bytes], object]:
    """Return the tables of a release, and the exact integers that they were made from."""
    path = folder / f"{name}.yaml"
    path.write_text(SPEC.replace("LEDGER", f"{name}.ledger"))
    loaded = load_spec(path)
    with open_table(loaded, source) as table:
        workload = build(loaded, table.schema)
        Ledger.create(loaded.ledger, workload.budget)
        numbers = exact(workload.plan, table)
    given = {} if source is None else {"source": source, "snapshot": "november"}
    release(path, folder / name, _bits=Replayed(11), **given)
    return {each.name: each.read_bytes() for each in (folder / name / "tables").iterdir()}, numbers


def test_spark_publishes_what_duckdb_does(spark, folder: Path, rows: pa.Table) -> None:
    """The same integers, squares included, and with the same bits the same bytes."""
    kinds = "county string, kind string, emp long, pay double"
    frame = spark.createDataFrame(rows.to_pylist(), kinds)
    files, numbers = released(folder, "duckdb")
    found, others = released(folder, "spark", frame)
    assert others == numbers
    assert found == files
    assert {"own.parquet", "above.parquet", "public.parquet"} <= files.keys()
    own = pq.read_table(folder / "spark" / "tables" / "own.parquet").column_names
    assert [each for each in own if each.endswith("_se")] == []
    public = pq.read_table(folder / "spark" / "tables" / "public.parquet")
    assert len(set(public["emp_se"].to_pylist())) == 6
    policies = [
        json.loads((folder / each / "policy.json").read_text()) for each in ("duckdb", "spark")
    ]
    assert policies[0] == policies[1]
