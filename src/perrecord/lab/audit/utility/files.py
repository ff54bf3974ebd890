"""Whole releases whose noise vanishes: the published Parquet and CSV files hold what SQL gives."""

import csv
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.utility.exactly import Found, cells, fault
from perrecord.lab.audit.utility.questions import AMOUNT, TAPERED, AnswerMeaning, Question
from perrecord.lab.audit.utility.tables import DIMENSIONS, FINE, VALUES, in_plain_sql, regions, rows
from perrecord.queries.query import Query
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

FILES = "files"
LOOKUPS = [{"source": "regions.parquet", "on": {"sector": "name"}}]
_RHO = {"rho": AMOUNT}
_MEDIAN = [-3, 0, 1, 3, 5, 130]
ANSWERS: dict[str, tuple[dict[str, Any], AnswerMeaning]] = {
    "n": ({"count": "records", **_RHO}, AnswerMeaning("count", "count(*)")),
    "filled": ({"count": "emp", **_RHO}, AnswerMeaning("filled", "count(emp)")),
    "firms": (
        {"count_distinct": "firm", **_RHO},
        AnswerMeaning("distinct", "count(DISTINCT firm)"),
    ),
    "emp": (
        {"sum": "emp", "split": "plain", **_RHO},
        AnswerMeaning("split", "coalesce(sum(emp), 0)"),
    ),
    "rent": (
        {"sum": "rent", "split": "plain", **_RHO},
        AnswerMeaning("split", "coalesce(sum(rent), 0)"),
    ),
    "load": (
        {"sum": "load", "clamp": [0, 5000], **_RHO},
        AnswerMeaning(
            "clamp",
            "coalesce(sum(CASE WHEN load < 0 THEN 0 WHEN load > 5000 THEN 5000 ELSE load END), 0)",
        ),
    ),
    "mean": ({"average": "pay", "split": "plain", **_RHO}, AnswerMeaning("average", "avg(pay)")),
    "middle": (
        {"median": "emp", "candidates": _MEDIAN, **_RHO},
        AnswerMeaning(
            "median",
            "list(emp)",
            level=Fraction(1, 2),
            candidates=tuple(map(Fraction, _MEDIAN)),
        ),
    ),
}

_USUAL, _HEAVY = {"rho": TAPERED}, {"rho": TAPERED // 2}
_EMPLOYEES = "coalesce(sum(emp), 0)"
_TAPERED: dict[str, tuple[dict[str, Any], AnswerMeaning]] = {
    "tapered": ({"sum": FINE, "taper": 1, **_USUAL}, AnswerMeaning("tapered", _EMPLOYEES)),
    "heavy": ({"sum": FINE, "taper": "heavy", **_HEAVY}, AnswerMeaning("tapered", _EMPLOYEES)),
    "tapered_mean": (
        {"average": FINE, "taper": 1, "rho": [TAPERED, AMOUNT]},
        AnswerMeaning("average tapered", "avg(emp)"),
    ),
    "by_sector": (
        {
            "sum": FINE,
            "parts": {
                "by": "sector",
                "cases": {"farm": {"taper": 1, **_USUAL}},
                "default": {"taper": 2, **_USUAL},
            },
        },
        AnswerMeaning("tapered parts", _EMPLOYEES),
    ),
}
"""About employees in millionths, of which the noise is some thirteen."""
_BUDGETED = [
    {"measure": FINE, "at": 1, **_USUAL, "times": len(_TAPERED)},
    {"measure": FINE, "at": 1, **_HEAVY, "nu": 3},
]
_MEANT = {**ANSWERS, **_TAPERED}


def file_checks(random: Random, tapers: Random, seed: int) -> Iterator[Found]:
    """Yield for every number of a release's files whether it is what its SQL says.

    Which answers are tapered is drawn by itself, so that all others are what they were without.
    """
    source = rows(random)
    connection = in_plain_sql(source)
    names = random.sample(list(ANSWERS), random.randrange(2, 6))
    names += tapers.sample(list(_TAPERED), tapers.randrange(1, 4))
    columns = random.sample(list(VALUES), random.choice([1, 1, 2]))
    where = random.choice([None, "emp IS NULL OR emp > 0", "sector = 'farm' OR code > 0"])
    with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
        folder = Path(name)
        pq.write_table(source, folder / "rows.parquet")
        out = released(folder, _spec(folder, columns, where, names), seed)
        (path,) = (out / "tables").glob("*.parquet")
        found = pq.read_table(path)
        yield from _in_parquet(found, connection, columns, where, names)
        yield from in_csv(path.with_suffix(".csv"), found, columns)


def released(folder: Path, written: Mapping[str, Any], seed: int, name: str = "out") -> Path:
    """Release a spec whose files are in a folder, with a ledger of its own; return where."""
    pq.write_table(regions(), folder / "regions.parquet")
    spec = folder / f"{name}.yaml"
    spec.write_text(json.dumps(written, ensure_ascii=False, indent=1), encoding="utf-8")
    loaded = load_spec(spec)
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    Ledger.create(folder / written["ledger"], workload.budget)
    release(spec, folder / name, _bits=FrozenBits(seed))
    return folder / name


def listed_keys(folder: Path, values: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Write a file of values for each column; return them as keys of a spec."""
    for name, each in values.items():
        pq.write_table(pa.table({name: each}), folder / f"{name}.parquet")
    return {f"each_{name}": {"file": f"{name}.parquet", "columns": [name]} for name in values}


def _spec(
    folder: Path, columns: Sequence[str], where: str | None, names: Sequence[str]
) -> dict[str, Any]:
    """Return a spec of one query, and write its keys."""
    each = listed_keys(folder, {name: VALUES[name] for name in columns})
    keys = {**each, "cells": {"product": list(each)}} if len(each) > 1 else each
    return {
        "title": "An audit",
        "source": "rows.parquet",
        "table": "records",
        "unit": "firm",
        "dimensions": DIMENSIONS,
        "measures": {
            "emp": 1,
            "pay": {"resolution": 0.5, "largest": 1000, "outside": "cut"},
            "rent": {"resolution": 0.1, "largest": 1000000},
            "load": {"column": "mass", "resolution": 1000},
            FINE: {"column": "emp", "resolution": 0.000001},
        },
        "lookups": LOOKUPS,
        "splits": {"plain": {"emp": 5, "pay": 2, "rent": 0.5, "load": 5000}},
        "tapers": {"heavy": {"sizes": {FINE: 1}, "nu": 3}},
        "keys": keys,
        "budget": {"rho": 100 * AMOUNT, "splits": ["plain"], "tapers": _BUDGETED},
        "ledger": "audit.ledger",
        "queries": [
            {
                "name": "asked",
                "title": "What is asked",
                **({} if where is None else {"where": where}),
                "group_by": list(columns),
                "keys": "cells" if len(each) > 1 else next(iter(each)),
                "answers": {name: _MEANT[name][0] for name in names},
            }
        ],
        "outputs": {"csv": True},
    }


def _in_parquet(
    found: pa.Table,
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[str],
    where: str | None,
    names: Sequence[str],
) -> Iterator[Found]:
    meanings = tuple(_MEANT[name][1] for name in names)
    meant = cells(connection, Question(Query(), where, meanings), columns)
    keys = list(zip(*(found[name].to_pylist() for name in columns), strict=True))
    for place, name in enumerate(names):
        for key, value in zip(keys, found[name].to_pylist(), strict=True):
            wrong = fault(meanings[place], meant.get(key, {}).get(place), value)
            yield FILES, None if wrong is None else f"{name} of a release: {wrong}"


def in_csv(path: Path, found: pa.Table, columns: Sequence[str]) -> Iterator[Found]:
    """Yield for every field of the CSV file whether it is what the Parquet file holds."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    if header != found.column_names or len(lines) != found.num_rows:
        yield FILES, "the CSV file has other columns or rows than the Parquet file"
        return
    for line, row in zip(lines, found.to_pylist(), strict=True):
        for name, written in zip(header, line, strict=True):
            is_same = _is_written(written, row[name], is_key=name in columns)
            yield FILES, None if is_same else f"{name} is {written!r} in CSV and {row[name]!r}"


def _is_written(written: str, value: Any, *, is_key: bool) -> bool:
    if value is None:
        return written == ""
    if isinstance(value, str):
        is_marked = is_key and value[:1] in ("=", "+", "-", "@", "'")
        return written == (f"'{value}" if is_marked else value)
    if isinstance(value, bool):
        return written == str(value).lower()
    if isinstance(value, float):
        return isclose(float(written), value, rel_tol=1e-15)
    return Fraction(written) == Fraction(value)
