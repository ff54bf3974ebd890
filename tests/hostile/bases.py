"""The good specs and tables that every bad one is made of; each table is full of canaries."""

import csv
import functools
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.release.spec.read import parse_document
from tests.hostile.canaries import Canaries

ROWS = 18  # two for every declared county and kind
PUBLIC_COUNTIES = ("37001", "37003", "48001")
PUBLIC_SECTORS = ("11", "21")
COUNTIES = b"county,name\n37001,Alamance\n37003,Alexander\n48001,Anderson\n"
REGIONS = b"fips,region\n37001,South\n37003,South\n48001,West\n"

_TOP = """\
title: Establishments by county
source: SOURCE
table: est
id: id
dimensions:
  county: county
  state: substr(county, 1, 2)
  kind: kind
measures:
  emp: 1
  rent: 0.01
ledger: est.ledger
"""

EVERYTHING = """\
title: Establishments by county
description: every kind of entry that a spec may have
source: {path: SOURCE, memory_limit: 512MB}
table: est
id: id
unit: firm
dimensions:
  county: county
  state: {expression: "substr(county, 1, 2)", label: State, values: ["37", "48"]}
  kind: {expression: kind, label: Kind}
  size: CASE WHEN emp > 100 THEN 'large' ELSE 'small' END
  region: region
measures:
  emp: 1
  rent: 0.01
  payann: {column: payann, resolution: 1, largest: 1e17, outside: cut, label: Pay, unit: "$1,000"}
lookups:
  - {source: regions.csv, on: {county: fips}, columns: [region]}
splits:
  moderate: {emp: 50, payann: 2500}
  by_kind: {by: kind, cases: {"11": {emp: 10}, "21": moderate}, default: moderate, cap: 1000}
keys:
  counties: {file: counties.csv, columns: [county]}
  kinds: {values: {kind: ["11", "21"]}}
  cells: {product: [counties, kinds]}
  other: {values: {county: ["37001"], kind: ["11"]}}
  some: {difference: [cells, other]}
  any: {union: [cells, other]}
  few: {filter: {from: cells, county: ["37001", "48001"]}}
  less: {project: {from: cells, columns: [county]}}
  wide: {domain: [counties, kinds]}
  found: {select: {rho: 0.1, delta: 1e-6, split: moderate}}
budget:
  rho: 9
  splits: [moderate, by_kind]
  selections:
    - {keys: [kind], rho: 0.1, delta: 1e-6, split: moderate}
    - {keys: [kind], rho: 0.1, delta: 1e-6, split: moderate}
ledger: est.ledger
accounting: split
queries:
  - name: cells
    title: By county and kind
    where: state = '37' OR region = 'West'
    group_by: [county, kind]
    keys: few
    answers:
      count: {count: records, rho: 0.1}
      firms: {count_distinct: firm, rho: 0.1}
      emp: {sum: emp, split: moderate, rho: 0.2, accounting: exact}
      rent: {sum: rent, clamp: [0, 500], rho: 0.1}
      pay: {average: payann, split: moderate, rho: [0.1, 0.05]}
      middle: {median: payann, candidates: {from: 0, to: 1000, step: 10}, rho: 0.05}
      high: {quantile: payann, level: 0.9, candidates: [0, 100, 250, 500], rho: 0.05}
      mixed:
        sum: emp
        parts:
          by: kind
          cases: {"11": {split: moderate, rho: 0.1}, "21": {clamp: [0, 40], rho: 0.1}}
          default: {clamp: [0, 40], rho: 0.1}
  - name: from_sql
    sql: |
      SELECT county, SUM(emp) AS emp, COUNT(*) AS n FROM est
      WHERE kind = '11' GROUP BY county
    keys: counties
    rho: {emp: 0.1, n: 0.1}
    split: moderate
  - name: sets
    grouping_sets: [[county], [kind], []]
    keys: {county: less, kind: kinds}
    answers: {count: {count: records, rho: 0.1}}
  - name: wide
    group_by: [county, kind]
    keys: {domain: wide, keep: count, at_least: 20}
    answers: {count: {count: records, rho: 0.1}}
  - name: chosen
    group_by: kind
    keys: found
    answers: {count: {count: records, rho: 0.1}}
post_processing: {floor_at_zero: true, round: {pay: 2}}
outputs: {csv: true, confidence: 0.95}
examples:
  - {name: a corner shop, emp: 3, payann: 80, rent: 1.5, county: "37001", kind: "11"}
"""

SIMPLE = (
    _TOP
    + """\
splits:
  moderate: {emp: 50}
keys:
  counties: {values: {county: ["37001", "37003", "48001"]}}
budget: {rho: 4, splits: [moderate]}
queries:
  - name: counties
    group_by: [county]
    keys: counties
    answers:
      establishments: {count: records, rho: 0.1}
      employees: {sum: emp, split: moderate, rho: 0.2}
      rents: {sum: rent, clamp: [0, 500], rho: 0.1}
"""
)

PURE = (
    _TOP
    + """\
keys:
  counties: {file: counties.csv, columns: [county]}
budget: {epsilon: 6}
queries:
  - name: counties
    where: kind IN ('11', '21') AND emp >= 0
    group_by: county
    keys: counties
    answers:
      establishments: {count: records, epsilon: 0.5}
      rents: {sum: rent, clamp: [0, 500], epsilon: 0.5}
      middle: {median: rent, candidates: [0, 10, 100, 1000], epsilon: 0.5}
  - name: totals
    rollup: [county, kind]
    keys: {"county, kind": counties_kinds, county: counties}
    answers: {n: {count: emp, epsilon: 0.2}}
outputs: {csv: true}
examples:
  - {name: a shop, emp: 3, rent: 1.25, county: "37001", kind: "21"}
"""
).replace(
    "budget:",
    '  kinds: {values: {kind: ["11", "21"]}}\n'
    "  counties_kinds: {product: [counties, kinds]}\nbudget:",
)

SQL = (
    _TOP.replace("kind: kind", "kind: kind\n  region:")
    + """\
lookups:
  - {source: regions.csv, on: {county: fips}}
splits:
  moderate: {thresholds: {emp: 50}}
  same: {split: moderate}
keys:
  counties: {file: counties.csv, columns: [county]}
budget: {rho: 5, splits: [moderate]}
queries:
  - name: counties
    sql: |
      SELECT county, COUNT(*) AS n, SUM(emp) AS emp, AVG(rent) AS rent, MEDIAN(rent) AS middle
      FROM est
      WHERE region = 'South' AND kind <> '99'
      GROUP BY county
    keys: counties
    rho: {n: 0.1, emp: 0.1, rent: [0.1, 0.1], middle: 0.1}
    split: {emp: same}
    clamp: {rent: [0, 500]}
    candidates: {middle: [0, 50, 100]}
    accounting: exact
post_processing: {round: {rent: 1}}
"""
)

SPECS: Mapping[str, str] = {"everything": EVERYTHING, "simple": SIMPLE, "pure": PURE, "sql": SQL}
SOURCES = ("est.parquet", "est.csv")


@functools.cache
def values_of(base: str) -> Any:
    """Return a base spec as plain values."""
    return parse_document(SPECS[base], base).value


def spec_text(base: str, source: str = "est.parquet") -> str:
    """Return a base spec with its source."""
    return SPECS[base].replace("SOURCE", source)


def columns(canaries: Canaries) -> dict[str, list[Any]]:
    """Return the columns of a table with a canary in every confidential cell.

    Two thirds of the counties are declared keys, which are public. Every declared cell holds at
    least two records, so that no total is the canary of one. All values of `kind` are public,
    because a release with found keys publishes them by design.
    """
    places = range(ROWS)
    return {
        "id": [canaries.number() for _ in places],
        "firm": [canaries.text() for _ in places],
        "county": [
            canaries.text() if n % 3 == 2 else PUBLIC_COUNTIES[n // 3 % len(PUBLIC_COUNTIES)]
            for n in places
        ],
        "kind": [PUBLIC_SECTORS[n % 3 % 2] for n in places],
        "emp": [canaries.number() for _ in places],
        "payann": [canaries.number() for _ in places],
        "rent": [canaries.number() / 100 for _ in places],
    }


def table(canaries: Canaries) -> pa.Table:
    """Return the same as an Arrow table."""
    return pa.table(columns(canaries))


def parquet(data: pa.Table, **options: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(data, sink, **options)
    return sink.getvalue()


def csv_text(found: Mapping[str, list[Any]], delimiter: str = ",") -> str:
    """Return columns as the text of a CSV file."""
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, lineterminator="\n")
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    return sink.getvalue()


def source_bytes(canaries: Canaries, source: str) -> bytes:
    """Return the good source of that name."""
    if source.endswith(".parquet"):
        return parquet(table(canaries))
    return csv_text(columns(canaries)).encode()


def public_files() -> dict[str, bytes]:
    """Return the public files that specs name."""
    return {"counties.csv": COUNTIES, "regions.csv": REGIONS}


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
