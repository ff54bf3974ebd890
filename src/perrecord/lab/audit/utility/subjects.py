"""What whole releases are about: a survey with weights, or two linked periods; and in SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from perrecord.lab.audit.utility.files import ANSWERS
from perrecord.lab.audit.utility.questions import AMOUNT, TAPERED, AnswerMeaning
from perrecord.lab.audit.utility.tables import DIMENSIONS, FINE, SCHEMA, in_plain_sql, rows

_RHO = {"rho": AMOUNT}
_SPLIT = {"split": "plain", **_RHO}
TAPER = {"sum": FINE, "taper": 1, "rho": TAPERED}
_CANDIDATES = [-3, 0, 1, 3, 5, 12, 130]
_WEIGHTS = [None, "0.00", "0.04", "0.05", "1.00", "1.00", "2.55", "12.00", "-0.05", "29.96", "999"]
_COSTS = [
    ("emp * rent", 0.5, "cut", "emp * rent"),
    ("pay - 3 * emp", 1, "null", "pay - 3 * emp"),
    ("emp * emp / 4 + 0.25", 0.5, "null", "0.25 * emp * emp + 0.25"),
    ("(rent + 0.05) * 10 - pay / 8", 1, "cut", "(rent + 0.05) * 10 - 0.125 * pay"),
]
"""A measure that follows from others: its grid, what becomes of 10,000 and more, its SQL."""
_MEASURES: dict[str, dict[str, Any]] = {
    "emp": {"resolution": 1, "largest": 100000, "outside": "cut"},
    "pay": {"resolution": 0.5, "largest": 1000, "outside": "cut"},
    "rent": {"resolution": 0.1, "largest": 1000000},
    FINE: {"column": "emp", "resolution": 0.000001, "largest": 100000, "outside": "cut"},
}
LEVELS = {name: _MEASURES[name] for name in ("emp", "pay")}
"""What changes are of."""
_EXACT = """
CREATE TABLE held AS SELECT * EXCLUDE (emp, pay, fine, rent),
    CAST(CASE WHEN emp > 100000 THEN 100000 WHEN emp < -100000 THEN -100000 ELSE emp END
        AS DECIMAL(6, 0)) AS emp,
    CAST(pay AS DECIMAL(5, 1)) AS pay, CAST(rent AS DECIMAL(8, 1)) AS rent
FROM records;
DROP VIEW records
"""
_SURVEY = """
CREATE VIEW records AS SELECT *, w * emp AS weighted_emp, w * cost AS weighted_cost FROM (
    SELECT * REPLACE (CASE WHEN round(w, 1) > 30 THEN 30 WHEN round(w, 1) < -30 THEN -30
                      ELSE round(w, 1) END AS w), {cost} AS cost
    FROM (SELECT *, round(({value}) * {times}, 0) * {grid} AS product FROM held))
"""
_CHANGES = """
CREATE VIEW records AS SELECT {columns},
    CASE WHEN count(*) = 2 THEN 'continuing'
         WHEN min(way) = 1 AND id IN (SELECT id FROM held WHERE way = -1) THEN 'moved in'
         WHEN min(way) = 1 THEN 'entry'
         WHEN id IN (SELECT id FROM held WHERE way = 1) THEN 'moved out'
         ELSE 'exit' END AS change_kind,
    CAST(sum(way) AS INTEGER) AS net,
    sum(way * emp) AS emp_change,
    sum(way * pay) AS pay_change
FROM held GROUP BY id, {columns}
"""
"""One record for each id and place: what it is in this period (way 1) less what it was (-1)."""

Answer = tuple[dict[str, Any], AnswerMeaning]


def total(kind: str, value: str) -> AnswerMeaning:
    """Return what a total is, 0 where nothing has a value."""
    return AnswerMeaning(kind, f"coalesce(sum({value}), 0)")


def _quantile(kind: str, values: str, level: str, asked: dict[str, Any]) -> Answer:
    candidates = tuple(map(Fraction, _CANDIDATES))
    meaning = AnswerMeaning(kind, f"list({values})", level=Fraction(level), candidates=candidates)
    return {**asked, "level": level, "candidates": _CANDIDATES, **_RHO}, meaning


_CUT = (
    "CASE WHEN weighted_emp < -3 THEN -3 WHEN weighted_emp > 40.5 THEN 40.5 ELSE weighted_emp END"
)
_OF_SURVEYS: dict[str, Answer] = {
    "n": ANSWERS["n"],
    "emp": ({"sum": "emp", **_SPLIT}, total("split", "emp")),
    "number": ({"sum": "w", **_SPLIT}, total("weighted", "w")),
    "jobs": ({"sum": "weighted_emp", **_SPLIT}, total("weighted", "weighted_emp")),
    "cut": ({"sum": "weighted_emp", "clamp": [-3, 40.5], **_RHO}, total("weighted", _CUT)),
    "cost": ({"sum": "cost", **_SPLIT}, total("expression", "cost")),
    "costs": ({"sum": "weighted_cost", **_SPLIT}, total("weighted", "weighted_cost")),
    "mean": ({"average": "cost", **_SPLIT}, AnswerMeaning("average", "avg(cost)")),
    "firms": ANSWERS["firms"],
    "tapered": (TAPER, total("tapered", "emp")),
    "middle": _quantile(
        "weighted quantile",
        "[emp, w]",
        "0.5",
        {"quantile": "emp", "weight": {"measure": "w", "at": 2}},
    ),
    "upper": _quantile(
        "weighted quantile",
        "[cost, emp]",
        "0.9",
        {"quantile": "cost", "weight": {"measure": "emp", "at": 2}},
    ),
}
_OF_CHANGES: dict[str, Answer] = {
    "n": ANSWERS["n"],
    "emp": ({"sum": "emp_change", **_SPLIT}, total("change", "emp_change")),
    "number": ({"sum": "net", "clamp": [-1, 1], **_RHO}, total("change", "net")),
    "jobs": (
        {"sum": "pay_change", "accounting": "exact", **_SPLIT},
        total("change", "pay_change"),
    ),
    "tapered": (TAPER, total("tapered change", "emp_change")),
    "middle": _quantile("change, quantile", "emp_change", "1/3", {"quantile": "emp_change"}),
    "mean": (
        {"average": "emp_change", **_SPLIT},
        AnswerMeaning("average change", "avg(emp_change)"),
    ),
}


@dataclass(frozen=True, slots=True)
class AuditedSubject:
    """What a release is about: the files and settings of its spec, and the same records in SQL."""

    files: Mapping[str, pa.Table]
    settings: Mapping[str, Any]
    connection: duckdb.DuckDBPyConnection
    answers: Mapping[str, Answer]
    filters: Sequence[str]
    column: str
    """What tables are crossed with."""
    names: Mapping[str, str]
    """In SQL, what the answers are that formulas name."""
    value: str = "emp"
    """In SQL, what tapered and blurred totals are of."""
    is_signed: bool = False


def survey(random: Random) -> AuditedSubject:
    """Return a sample with weights, and a measure that follows from others."""
    source = rows(random)
    weights = pa.array([random.choice(_WEIGHTS) for _ in range(source.num_rows)], pa.string())
    source = source.append_column("w", weights.cast(pa.decimal128(14, 2)))
    expression, grid, outside, value = random.choice(_COSTS)
    cost = {"expression": expression, "resolution": grid, "largest": 10000, "outside": outside}
    connection = in_plain_sql(source)
    connection.execute(_EXACT)
    connection.execute(
        _SURVEY.format(value=value, cost=_cost(outside), times=round(1 / grid), grid=grid)
    )
    settings = {
        "source": "rows.parquet",
        "unit": "firm",
        "dimensions": DIMENSIONS,
        "measures": {**_MEASURES, "cost": cost},
        "weight": {"column": "w", "resolution": 0.1, "largest": 30},
        "splits": {"plain": {"emp": 5, "w": 2, "weighted_emp": 10, "cost": 5, "weighted_cost": 20}},
    }
    filters = ["emp IS NULL OR emp > 0", "w > 0.1", "cost IS NOT NULL AND weighted_emp >= 0"]
    names = {"n": "count(*)", "emp": "sum(emp)", "jobs": "sum(weighted_emp)", "number": "sum(w)"}
    return AuditedSubject(
        {"rows.parquet": source}, settings, connection, _OF_SURVEYS, filters, "code", names
    )


def _cost(outside: str) -> str:
    above, below = ("10000", "-10000") if outside == "cut" else ("NULL", "NULL")
    return (
        f"CASE WHEN product > 10000 THEN {above} WHEN product < -10000 THEN {below} "
        "ELSE product END"
    )


def changes(random: Random) -> AuditedSubject:
    """Return two files linked by an id: some enter, leave, stay, change or move."""
    both: dict[int, list[dict[str, Any]]] = {1: [], -1: []}
    given = rows(random).to_pylist()
    for id_, row in enumerate(given):
        other, kind = random.choice(given), random.randrange(5)
        kept = (
            {"firm", *DIMENSIONS} if kind < 4 else {"firm"} if random.random() < 0.5 else {"code"}
        )
        was = {name: row[name] if name in kept else other[name] for name in row}
        both[1] += [{"id": id_, **row}] if kind != 0 else []
        both[-1] += [{"id": id_, **(row if kind == 2 else was)}] if kind != 1 else []
    schema = pa.schema([("id", pa.int64()), *SCHEMA])
    this, last = (pa.Table.from_pylist(both[way], schema) for way in (1, -1))
    ways = pa.array([1] * len(this) + [-1] * len(last), pa.int64())
    connection = in_plain_sql(pa.concat_tables([this, last]).append_column("way", ways))
    connection.execute(_EXACT)
    columns = [name for name in DIMENSIONS if name != "size" or random.random() < 0.5]
    unit = {"unit": "firm"} if random.random() < 0.5 else {}
    place = [*columns, *(["firm"] if unit else [])]
    connection.execute(_CHANGES.format(columns=", ".join(place)))
    settings = {
        "source": {"path": "this.parquet", "last": "last.parquet"},
        "id": "id",
        **unit,
        "dimensions": {name: DIMENSIONS[name] for name in columns} | {"change_kind": "change_kind"},
        "measures": {
            "emp_change": {**_MEASURES["emp"], "column": "emp"},
            "pay_change": {**_MEASURES["pay"], "column": "pay"},
            FINE: _MEASURES[FINE],
            "net": {"column": "record_count"},
        },
        "splits": {"plain": {"emp_change": 5, "pay_change": 2}},
    }
    names = {
        "n": "count(*)",
        "emp": "sum(emp_change)",
        "jobs": "sum(pay_change)",
        "number": "sum(net)",
    }
    filters = ["emp_change > 0", "change_kind <> 'exit'", "net = 1 OR sector IS NULL"]
    files = {"this.parquet": this, "last.parquet": last}
    column = random.choice(["code", "change_kind"])
    return AuditedSubject(
        files, settings, connection, _OF_CHANGES, filters, column, names, "emp_change", True
    )
