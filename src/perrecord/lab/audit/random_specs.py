"""Random release specs from a seed, over the random tables: every kind of key and of answer."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.lab.audit.random_series import LAST
from perrecord.lab.audit.random_tables import REGIONS, VALUES, Row, arrow

SPEC, SOURCE, LEDGER = "release.yaml", "rows.parquet", "audit.ledger"
_DIMENSIONS = ["sector", "code", "big", "head", "region", "opened"]
_THRESHOLDS: Mapping[str, list[float]] = {
    "emp": [1, 5, 50],
    "pay": [0.5, 2, 100],
    "rent": [0.1, 0.5, 30],
    "load": [1000, 5000],
}
_CLAMPS: Mapping[str, list[list[float]]] = {
    "emp": [[0, 5], [-2, 10]],
    "pay": [[0, 5], [0.5, 3]],
    "rent": [[0, 5], [-0.5, 0.1]],
    "load": [[0, 5000], [-2000, 10000]],
}
_FILTERS = [
    None,
    None,
    "sector = 'farm' OR code > 0",
    "region IS NOT NULL",
    "emp IS NULL OR emp > 0",
    "NOT big",
]
_KINDS = [
    "count", "filled", "distinct", "split", "clamp", "parts", "average", "clamped", "quantile",
]  # fmt: skip
_SELECTION: Mapping[str, Any] = {"rho": 0.3, "threshold": 2, "split": "plain"}


def spec(random: Random, *, selects: bool = False) -> dict[str, Any]:
    """Return a random spec of `rows.parquet`; JSON is YAML too.

    With `selects` its first query finds its keys with noise, in the data or in a domain.
    """
    currency = "rho" if selects else random.choice(["rho", "rho", "epsilon"])
    columns = random.sample(_DIMENSIONS, random.choice([1, 2]))
    splits = {"plain": _split(random), "by": _split_by(random)}
    queries = [_query(random, columns, currency, number) for number in range(2)]
    budget: dict[str, Any] = {currency: 1000000, "splits": list(splits)}
    if selects:
        queries[0] = _selecting(random, queries[0], columns)
        budget["selections"] = [{"keys": columns, **_SELECTION}]
    found = {
        "title": "An audit",
        "source": SOURCE,
        "table": "records",
        "id": "id",
        "unit": "firm",
        "dimensions": {
            **{name: name for name in _DIMENSIONS if name != "head"},
            "head": "substr(sector, 1, 1)",
        },
        "measures": {
            "emp": 1,
            "pay": {"resolution": 0.5, "largest": 1000000, "outside": "cut"},
            "rent": 0.1,
            "load": {"column": "mass", "resolution": 1000, "label": "Load"},
        },
        "lookups": [{"source": "regions.parquet", "on": {"sector": "name"}}],
        "splits": splits,
        "keys": _keys(columns, is_listed=random.random() < 0.3),
        "budget": budget,
        "ledger": LEDGER,
        "accounting": random.choice(["split", "exact"]),
        "queries": queries,
        "outputs": {"csv": random.random() < 0.8},
    }
    if random.random() < 0.5:
        found["post_processing"] = {"floor_at_zero": True}
    return found


def write(
    folder: Path, written: Mapping[str, Any], rows: list[Row], last: list[Row] | None = None
) -> Path:
    """Write a spec, its source, its lookup and its keys into a new folder; return the spec's path.

    Where the source is linked, the rows of the period before are a file, too.

    Files of keys hold NULL too, which a list in a spec cannot.
    """
    folder.mkdir()
    pq.write_table(arrow(rows), folder / SOURCE)
    if last is not None:
        pq.write_table(arrow(last), folder / LAST)
    names = [name for name in REGIONS if name is not None]
    regions = {"name": names, "region": [REGIONS[name][0] for name in names]}
    pq.write_table(pa.table(regions), folder / "regions.parquet")
    for name in _DIMENSIONS:
        pq.write_table(pa.table({name: VALUES[name]}), folder / f"{name}.parquet")
    path = folder / SPEC
    path.write_text(json.dumps(written, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def _keys(columns: list[str], *, is_listed: bool) -> dict[str, Any]:
    single: dict[str, Any] = {
        f"each_{name}": {"values": {name: [each for each in VALUES[name] if each is not None]}}
        if is_listed
        else {"file": f"{name}.parquet", "columns": [name]}
        for name in columns
    }
    sets = list(single)
    cells = {"product": sets} if len(sets) > 1 else single[sets[0]]
    found = {"select": dict(_SELECTION)}
    return {**single, "cells": cells, "wide": {"domain": sets}, "found": found}


def _split(random: Random) -> dict[str, Any]:
    return {name: random.choice(limits) for name, limits in _THRESHOLDS.items()}


def _split_by(random: Random) -> dict[str, Any]:
    return {
        "by": "sector",
        "cases": {"farm": _split(random), "é": _split(random)},
        "default": _split(random),
    }


def _query(random: Random, columns: list[str], currency: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": f"query{number}",
        "title": f"Question {number}",
        "answers": {
            f"a{index}": _answer(random, kind, currency)
            for index, kind in enumerate(random.sample(_KINDS, random.choice([1, 2, 3])))
        },
    }
    where = random.choice(_FILTERS)
    if where is not None:
        found["where"] = where
    grouping = random.choice(["group_by", "group_by", "rollup", None])
    if grouping is not None:
        found |= {grouping: columns, "keys": "cells"}
    return found


def _selecting(random: Random, asked: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    """Return the query with keys that noise finds."""
    plain = {name: value for name, value in asked.items() if name not in ("rollup", "group_by")}
    if random.random() < 0.5:
        # A slot of the budget is filled exactly, so by a selection among all records alone.
        plain.pop("where", None)
        return {**plain, "group_by": columns, "keys": "found"}
    kept = {"count": "records", "rho": 0.3}
    return {
        **plain,
        "group_by": columns,
        "keys": {"domain": "wide", "keep": "kept", "at_least": random.choice([0, 1, 3])},
        "answers": {"kept": kept, **asked["answers"]},
    }


def _answer(random: Random, kind: str, currency: str) -> dict[str, Any]:
    measure = random.choice(list(_THRESHOLDS))
    amount = {currency: random.choice([0.1, 0.3, 2])}
    scheme = random.choice(["plain", "by"])
    match kind:
        case "count":
            return {"count": "records", **amount}
        case "filled":
            return {"count": measure, **amount}
        case "distinct":
            return {"count_distinct": "firm", **amount}
        case "split":
            return {"sum": measure, "split": scheme, **amount}
        case "clamp":
            return {"sum": measure, "clamp": random.choice(_CLAMPS[measure]), **amount}
        case "parts":
            clamp = {"clamp": random.choice(_CLAMPS[measure]), **amount}
            cases = {"farm": {"split": "plain", **amount}, "": clamp}
            return {"sum": measure, "parts": {"by": "sector", "cases": cases, "default": clamp}}
        case "average":
            return {"average": measure, "split": scheme, **amount}
        case "clamped":
            return {"average": measure, "clamp": random.choice(_CLAMPS[measure]), **amount}
        case _:
            found = {"candidates": [0, 1, 5, 50, 5000], **amount}
            if random.random() < 0.5:
                return {"median": measure, **found}
            return {"quantile": measure, "level": random.choice([0, 0.9, "1/3"]), **found}
