"""Levels by adding up: a base and changes, both published, give what SQL counts in each period."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from perrecord.lab.audit.utility.exactly import Found, Key
from perrecord.lab.audit.utility.files import released
from perrecord.lab.audit.utility.questions import AMOUNT
from perrecord.release.accumulating import accumulate

_RHO = {"rho": AMOUNT}
_ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "emp": ({"sum": "emp", "split": "plain", **_RHO}, "coalesce(sum(emp), 0)"),
    "jobs": ({"sum": "pay", "split": "plain", **_RHO}, "coalesce(sum(pay), 0)"),
    "number": ({"count": "records", **_RHO}, "count(*)"),
}
"""Levels of which the changes have the same names."""
_PERIODS = {"last": -1, "this": 1}
_NEARLY = Fraction(1, 10**12)


def level_checks(
    connection: duckdb.DuckDBPyConnection,
    changes: Path,
    spec: Mapping[str, Any],
    measures: Mapping[str, Any],
    seed: int,
) -> Iterator[Found]:
    """Yield whether levels, changes and growth rates are those of the two files themselves.

    The spec is that of the changes, of all records; the base is written into the same folder.
    """
    folder = changes.parent
    base = {
        **{name: spec[name] for name in ("title", "table", "lookups", "keys", "outputs")},
        "source": spec["source"]["last"],
        "dimensions": {k: v for k, v in spec["dimensions"].items() if k != "change_kind"},
        "measures": measures,
        "splits": {"plain": {"emp": 5, "pay": 2}},
        "budget": {"rho": 10000 * AMOUNT, "splits": ["plain"]},
        "ledger": "base.ledger",
        "queries": [
            {**asked, "answers": {name: entry for name, (entry, _) in _ANSWERS.items()}}
            for asked in spec["queries"]
            if "change_kind" not in asked.get("group_by", [])
        ],
    }
    if not base["queries"]:
        return
    out = released(folder, base, seed, name="base")
    found = accumulate(out, [changes], periods=list(_PERIODS))
    tables = {table.name: table for table in found.tables}
    for asked in base["queries"]:
        table = tables[asked["name"]]
        truths = {name: _levels(connection, way, table.keys) for name, way in _PERIODS.items()}
        for row in table.rows.to_pylist():
            key = tuple(row[name] for name in table.keys)
            last, this = (truths[name].get(key, [Fraction(0)] * 3) for name in _PERIODS)
            for place, name in enumerate(_ANSWERS):
                yield from _row(row, name, last[place], this[place])


def _levels(
    connection: duckdb.DuckDBPyConnection, way: int, columns: Sequence[str]
) -> dict[Key, list[Fraction]]:
    shown = ", ".join([*columns, *(sql for _, sql in _ANSWERS.values())])
    grouped = f" GROUP BY {', '.join(columns)}" if columns else ""
    sql = f"SELECT {shown} FROM held WHERE way = {way}{grouped}"  # noqa: S608 - our own text
    width = len(columns)
    rows = connection.execute(sql).fetchall()
    return {row[:width]: [Fraction(each) for each in row[width:]] for row in rows}


def _row(row: Mapping[str, Any], name: str, last: Fraction, this: Fraction) -> Iterator[Found]:
    """Yield what is wrong with one level, its change and its growth."""
    is_first = row["period"] == "last"
    change = None if is_first else this - last
    growth = None if is_first or not last else (this - last) / last
    wanted = {name: last if is_first else this, f"{name}_change": change, f"{name}_growth": growth}
    for column, exact in wanted.items():
        value = row[column]
        if exact is None or value is None:
            is_same = exact is value
        else:
            is_same = abs(Fraction(value) - exact) <= _NEARLY * max(
                abs(last), abs(this), abs(exact)
            )
        wrong = None if is_same else f"{column} is {value} in {row['period']}, not {exact}"
        yield "levels", wrong
