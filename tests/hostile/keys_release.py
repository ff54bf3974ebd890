"""A release in which hostile keys stand wherever a key, a value or a name may stand.

The amounts are so large that the noise is 0 (but for a chance below 1 in 10^40), so that every
count tells which records it counted: the key in place i has i + 1 records.
"""

import csv
import json
import tempfile
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.accounting.ledger import Ledger
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from tests.hostile.keys import EVERY

RHO = 10_000
NOT_CASES = ("null", "NULL", "~")
"""What a spec refuses as a case, because it may mean a missing value."""
CASES = tuple(key for key in EVERY if key not in NOT_CASES)
REGIONS = tuple(f"{key}\u2192" for key in EVERY)
"""What a lookup gives each key."""
HOSTILE_TITLE = "</script><img src=x onerror=window.canary=1> {{7*7}} =1+1 \u202e\x1b]0;x\x07 `x` |"

COUNTS = {key: place + 1 for place, key in enumerate(EVERY)}
MISSING = len(EVERY) + 1
"""How many records have no key at all."""


def records(keys=EVERY) -> pa.Table:
    """Return the records: as many of each key as its place says, and some without a key."""
    each = [key for place, key in enumerate(keys) for _ in range(place + 1)]
    each += [None] * (len(keys) + 1)
    return pa.table(
        {
            "id": list(range(len(each))),
            "key": pa.array(each, pa.string()),
            "emp": [10] * len(each),
        }
    )


def quoted(text: str) -> str:
    """Return text as YAML in double quotes; JSON in plain ASCII is that."""
    return json.dumps(text)


def literal(text: str) -> str:
    """Return text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def write_folder(folder: Path, keys=EVERY) -> Path:
    """Write the table, the key files, the lookup and the spec; return the spec's path."""
    pq.write_table(records(keys), folder / "est.parquet")
    pq.write_table(pa.table({"key": [*keys, None]}), folder / "keys.parquet")
    with (folder / "keys.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["key"], *([key] for key in keys)])
    looked_up = pa.table({"code": keys, "region": [f"{key}\u2192" for key in keys]})
    pq.write_table(looked_up, folder / "regions.parquet")
    pq.write_table(looked_up.select(["region"]), folder / "region_keys.parquet")
    path = folder / "release.yaml"
    path.write_text(spec(keys), encoding="utf-8")
    return path


def spec(keys=EVERY) -> str:
    """Return the spec: every way to give keys, one query for each."""
    cases = [key for key in keys if key not in NOT_CASES]
    values = ", ".join(map(quoted, keys))
    chosen = "key IN (" + ", ".join(map(literal, keys)) + ")"
    text = (
        "CASE "
        + " ".join(
            f"WHEN key = {literal(key)} THEN {literal(key[::-1] + str(place))}"
            for place, key in enumerate(keys[:40])
        )
        + " ELSE 'other' END"
    )
    thresholds = ", ".join(
        f"{quoted(key)}: {{emp: {place + 1}}}" for place, key in enumerate(cases)
    )
    parts = ", ".join(f"{quoted(key)}: {{split: plain, rho: {RHO}}}" for key in cases)
    turned = ", ".join(
        quoted(each)
        for each in [*(key[::-1] + str(place) for place, key in enumerate(keys[:40])), "other"]
    )
    return f"""\
title: {quoted(HOSTILE_TITLE)}
description: {quoted("~~~ " + HOSTILE_TITLE)}
source: est.parquet
table: est
id: id
dimensions:
  key: {{expression: key, label: {quoted(HOSTILE_TITLE)}, values: [{values}]}}
  region: region
  turned: {quoted(text)}
lookups:
  - {{source: regions.parquet, on: {{key: code}}, columns: [region]}}
measures: {{emp: {{resolution: 1, label: {quoted(HOSTILE_TITLE)}, unit: {quoted("=1+1")}}}}}
splits:
  plain: {{emp: 10}}
  by_key: {{by: key, cases: {{{thresholds}}}, default: {{emp: 5}}}}
keys:
  parquet: {{file: keys.parquet, columns: [key]}}
  csv: {{file: keys.csv, columns: [key]}}
  values: {{values: {{key: [{values}]}}}}
  regions: {{file: region_keys.parquet, columns: [region]}}
  turned: {{values: {{turned: [{turned}]}}}}
  wide: {{domain: [values]}}
  found: {{select: {{rho: {RHO}, delta: 1e-6}}}}
budget:
  rho: 10000000
  splits: [plain, by_key]
  selections: [{{keys: [key], rho: {RHO}, delta: 1e-6}}]
ledger: est.ledger
outputs: {{csv: true}}
queries:
  - {{name: from_parquet, title: {quoted(HOSTILE_TITLE)}, group_by: key, keys: parquet,
     answers: {{n: {{count: records, rho: {RHO}}}, emp: {{sum: emp, split: by_key, rho: {RHO}}}}}}}
  - {{name: from_csv, group_by: key, keys: csv, answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: from_values, group_by: key, keys: values,
     answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: from_domain, group_by: key, keys: {{domain: wide, keep: n, at_least: 1}},
     answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: found_keys, group_by: key, keys: found, answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: filtered, where: {quoted(chosen)}, answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: looked_up, group_by: region, keys: regions,
     answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: derived, group_by: turned, keys: turned,
     answers: {{n: {{count: records, rho: {RHO}}}}}}}
  - {{name: by_parts, group_by: key, keys: values,
     answers: {{emp: {{sum: emp, parts: {{by: key, cases: {{{parts}}},
     default: {{split: plain, rho: {RHO}}}}}}}}}}}
  - name: from_sql
    sql: {quoted(f"SELECT key, COUNT(*) AS n FROM est WHERE {chosen} GROUP BY key")}
    keys: values
    rho: {RHO}
examples:
  - {{name: {quoted(HOSTILE_TITLE)}, emp: 100, key: {quoted(keys[0])}}}
"""


def released(folder: Path, keys=EVERY) -> Path:
    """Make the release in a folder; return where it was published."""
    path = write_folder(folder, keys)
    loaded = load_spec(path)
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    Ledger.create(loaded.ledger, workload.budget)
    return release(path, folder / "out").folder


@cache
def shared_folder() -> Path:
    """Return a folder with the release of every hostile key, made once for a process."""
    _KEPT.append(tempfile.TemporaryDirectory(prefix="perrecord-hostile-"))
    folder = Path(_KEPT[-1].name)
    released(folder)
    return folder


_KEPT: list[tempfile.TemporaryDirectory] = []
