"""Random specs with weights, derived measures, two linked periods, and periods of a ledger.

They come from a seed of their own, beside what is random otherwise, which stays as it was (T35 to
T37).
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from perrecord.lab.audit.changes import KINDS
from perrecord.lab.audit.random_tables import Row

LAST = "last.parquet"
_EACH_KIND = "each_change_kind"
_OWN = ("emp", "pay", "rent", "mass")
_HELD = ("id", *_OWN)
_ENTER, _LEAVE, _STAY = 0.2, 0.4, 0.6
"""Below these an id is in this period alone, in the last alone, or in both as it was."""


def weighed_spec(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random spec with a weight, a derived measure, and one query more of both."""
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    amount = {currency: random.choice([0.1, 2])}
    measures = {name: each for name, each in spec["measures"].items() if name != "rent"}
    measures["emp"] = {"resolution": 1, "largest": 10**12, "outside": "cut"}  # squares are exact
    measures["cost"] = {
        "expression": random.choice(["emp * pay", "pay - 3 * emp", "emp * emp / 4 + 0.25"]),
        "resolution": random.choice([0.5, 1, 1000]),
        "largest": 1000000,
        "outside": random.choice(["null", "cut"]),
    }
    weight = {"measure": random.choice(["rent", "emp", "weighted_pay"]), "at": 5}
    answers: dict[str, Any] = {
        "number": {"sum": "rent", "clamp": [0, 5], **amount},
        "total": {"sum": "weighted_emp", "clamp": [-2, 100], **amount},
        "derived": {"sum": "cost", "clamp": [0, 1000], **amount},
        "middle": {
            "quantile": random.choice(["emp", "pay", "cost"]),
            "level": random.choice([0.5, "1/3", 0]),
            "weight": weight,
            "candidates": [0, 1, 5, 50, 5000],
            **amount,
        },
    }
    asked: dict[str, Any] = {"name": "weighed", "answers": answers}
    columns = [name.removeprefix("each_") for name in spec["keys"] if name.startswith("each_")]
    if random.random() < 0.7:
        asked |= {"group_by": columns, "keys": "cells"}
    listed = {"measure": weight["measure"], "at": 5, currency: amount[currency]}
    return {
        **spec,
        "measures": measures,
        "weight": {"column": "rent", "resolution": 0.1, "largest": random.choice([1, 30, 1000])},
        "queries": [*spec["queries"], asked],
        "budget": {**spec["budget"], "weights": [listed]},
    }


def weighed_quantiles(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random spec with a weighted quantile in each of its queries, within its budget."""
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    queries = []
    for asked in spec["queries"]:
        weight = {"measure": random.choice(["emp", "pay"]), "at": random.choice([5, 50])}
        answer = {
            "quantile": random.choice(["emp", "pay", "rent"]),
            "level": random.choice([0.5, 0.9, "1/3"]),
            "weight": weight,
            "candidates": [0, 1, 5, 50, 5000],
            currency: random.choice([0.1, 0.3]),
        }
        queries.append({**asked, "answers": {**asked["answers"], "weighed": answer}})
    return {**spec, "queries": queries}


def linked_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec about changes since another file; nothing is cut at zero there."""
    found = {**spec, "source": {"path": spec["source"], "last": LAST}}
    found.pop("post_processing", None)
    return found


def changes_spec(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec about changes, with one query more: net entries and changes by their kind."""
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    amount = {currency: random.choice([0.1, 0.3])}
    answers: dict[str, Any] = {
        "records": {"count": "records", **amount},
        "net": {"sum": "net", "clamp": [-1, 1], **amount},
        "emp": {"sum": "emp", "split": "plain", **amount},
    }
    asked = {"name": "kinds", "group_by": ["change_kind"], "keys": _EACH_KIND, "answers": answers}
    found = linked_spec(spec)
    return {
        **found,
        "dimensions": {**spec["dimensions"], "change_kind": "change_kind"},
        "measures": {**spec["measures"], "net": {"column": "record_count"}},
        "keys": {**spec["keys"], _EACH_KIND: {"values": {"change_kind": list(KINDS)}}},
        "queries": [*map(_signed, found["queries"]), asked],
    }


def _signed(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query whose blurred totals are of values that may be negative, as changes are."""
    answers = {
        name: {**each, "blur": {"by": each["blur"], "signed": True}}
        if isinstance(each.get("blur"), float)
        else each
        for name, each in query["answers"].items()
    }
    return {**query, "answers": answers}


def moving_pairs_of(random: Random, rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of two periods, in which some ids have other dimensions or another firm."""
    this, last = pairs_of(random, rows)
    moved = []
    for row in last:
        other = random.choice(rows)
        names = ["firm"] if random.random() < 0.5 else [each for each in row if each not in _HELD]
        is_moved = random.random() < _ENTER
        moved.append({**row, **{name: other[name] for name in names}} if is_moved else row)
    return this, moved


def pairs_of(random: Random, rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of this period and of the last, ids told apart; each id is one record."""
    this, last = [], []
    others = random.sample(rows, len(rows))
    for place, (row, other) in enumerate(zip(rows, others, strict=True)):
        luck, own = random.random(), {**row, "id": place}
        if luck >= _ENTER:
            before = own if luck < _STAY else {**own, **{name: other[name] for name in _OWN}}
            last.append(before)
        if not _ENTER <= luck < _LEAVE:
            this.append(own)
    return this, last
