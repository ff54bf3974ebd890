"""Random tables, schemes, filters, groupings and answers, from a seed."""

import math
from decimal import Decimal
from fractions import Fraction
from random import Random

import pyarrow as pa

from perrecord import Split
from perrecord.queries.parts import Parts, clamping, splitting
from perrecord.queries.query import Query
from perrecord.tables.keys import Keys
from perrecord.tables.measures import Measure

SECTORS = ["farm", "mine", "shop", "", "é", "e\u0301", "𝔘nit", "farm ", None]
CODES = [-7, 0, 3, 2**62, None]
TRUTHS = [True, False, None]
FIRMS = [1, 2, 3, 4, None]
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "firm": pa.int64(),
        "sector": pa.string(),
        "code": pa.int64(),
        "big": pa.bool_(),
        "emp": pa.int64(),
        "pay": pa.float64(),
        "rent": pa.decimal128(12, 2),
    }
)
VALUES = {
    "sector": SECTORS,
    "code": CODES,
    "big": TRUTHS,
    "head": [None, "f", "m", "s", "", "é", "e", "𝔘", "x"],
}
MEASURES = {
    "emp": Measure(),
    "pay": Measure("0.5", largest=10**15, outside="cut"),
    "rent": Measure("0.1"),
}
DECLARED = {
    "id": "id",
    "unit": "firm",
    "dimensions": {
        "sector": "sector",
        "code": "code",
        "big": "big",
        "head": "substr(sector, 1, 1)",
    },
    "measures": MEASURES,
}
FILTERS = [
    None,
    "sector = 'farm'",
    "code > 0",
    "emp > 2 OR big",
    "sector IN ('farm', 'mine') AND code IS NOT NULL",
    "pay <= 2.25",
    "head <> 'f'",
    "rent BETWEEN -1.05 AND 30",
    "big AND sector = 'mine'",
    "emp = 5",
]
CANDIDATES = {
    "emp": [-5, 0, 1, 2, 5, Fraction(11, 2), 10, 50, 2**62],
    "pay": [0, Fraction(1, 4), Fraction(1, 2), 2, Fraction(9, 4), 100],
    "rent": [-1, 0, Fraction(1, 10), Fraction(3, 20), 25, 10**9],
}


def rows(random: Random, count: int, *, extreme: bool = True) -> list[dict]:
    """Return random rows of the source; extreme ones near the ends of their types."""
    huge = [2**62, -(2**62), 2**63 - 1, -(2**63), 2**62 - 1] if extreme else [10**6, -(10**6)]
    floats = [math.nan, math.inf, -math.inf, 1e300, 0.25, -0.25, 0.75, 2.25] if extreme else [0.25]
    return [
        {
            "id": index,
            "firm": random.choice(FIRMS),
            "sector": random.choice(SECTORS),
            "code": random.choice(CODES),
            "big": random.choice(TRUTHS),
            "emp": random.choice([None, 0, 1, 5, 5, 12, -3, 130, random.choice(huge)]),
            "pay": random.choice([None, 0.0, 1.5, 2.0, 7.3, -4.1, 1e6, random.choice(floats)]),
            "rent": random.choice([None, *map(Decimal, ("0.00", "0.05", "-0.15", "12.34", "999"))]),
        }
        for index in range(count)
    ]


def arrow(found: list[dict]) -> pa.Table:
    """Return rows as an Arrow table of the source's types."""
    return pa.Table.from_pylist(found, schema=SCHEMA)


def query(random: Random, *, exact_only: bool = False) -> Query:
    """Return a random query; with `exact_only` its answers all have exact accounting."""
    asked = Query()
    condition = random.choice(FILTERS)
    if condition is not None:
        asked = asked.where(condition)
    columns = random.sample(list(VALUES), random.randrange(3))
    keys = _keys(random, columns)
    if columns and random.random() < 0.3:
        asked = asked.rollup(*columns, keys=keys)
    elif columns:
        asked = asked.group_by(*columns, keys=keys)
    currency = "rho" if exact_only or random.random() < 0.7 else "epsilon"
    kinds = ["count", "exact"] if exact_only else _KINDS
    for index in range(random.randrange(1, 5)):
        asked = _answer(random, asked, random.choice(kinds), currency, f"a{index}")
    return asked


_KINDS = [
    "count", "filled", "distinct", "exact", "split", "clamp", "parts", "count by",
    "average", "average clamped", "quantile",
]  # fmt: skip


def _keys(random: Random, columns: list[str]) -> Keys | None:
    if not columns:
        return None
    every = Keys.from_dict({name: VALUES[name] for name in columns})
    some = [row for row in every.rows() if random.random() < 0.6] or every.rows()[:1]
    kept = {name: [row[i] for row in some] for i, name in enumerate(columns)}
    return Keys.from_columns(
        pa.table({name: pa.array(kept[name], every.table.schema.field(name).type) for name in kept})
    )


def _answer(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    measure = random.choice(list(MEASURES))
    amount = {currency: random.choice(["0.1", "1/3", 2])}
    match kind:
        case "count":
            return asked.count(name=name, **amount)
        case "filled":
            return asked.count(random.choice(["emp", "pay", "sector"]), name=name, **amount)
        case "distinct":
            return asked.count_distinct(
                random.choice(["firm", "sector", "id"]), name=name, **amount
            )
        case "count by":
            amounts = {currency: {"farm": "0.2", None: 1, ...: "0.5"}}
            return asked.count(by="sector", name=name, **amounts)
        case "exact" | "split":
            return asked.sum(
                measure, split=scheme(random, measure), accounting=kind, name=name, **amount
            )
        case "clamp":
            return asked.sum(measure, clamp=_bounds(random, measure), name=name, **amount)
        case "parts":
            return asked.sum(measure, parts=_parts(random, measure, currency), name=name)
        case "average":
            return asked.average(measure, split=scheme(random, measure), name=name, **amount)
        case "average clamped":
            return asked.average(measure, clamp=_bounds(random, measure), name=name, **amount)
        case "quantile":
            level = random.choice(["0.5", "0", "1", "0.9", "1/3"])
            return asked.quantile(
                measure, level, candidates=CANDIDATES[measure], name=name, **amount
            )
    raise AssertionError(kind)


def scheme(random: Random, measure: str) -> Split:
    """Return a random scheme that splits the measure, plain or piecewise."""
    if random.random() < 0.5:
        return _plain(random, measure)
    if random.random() < 0.5:
        cases = {"farm": _plain(random, measure), None: _plain(random, measure)}
        return Split.by("sector", cases, _plain(random, measure))
    inner = Split.by("code", {3: _plain(random, measure)}, _plain(random, measure))
    return Split.by("big", {True: _plain(random, measure), False: inner}, _plain(random, measure))


def _plain(random: Random, measure: str) -> Split:
    limits = {"emp": [1, 5, 50, 2**70], "pay": ["0.5", 2, 100], "rent": ["0.1", "0.5", 30]}
    chosen = {measure: random.choice(limits[measure])}
    other = random.choice(list(MEASURES))
    chosen.setdefault(other, random.choice(limits[other]))
    return Split(chosen)


def _bounds(random: Random, measure: str):
    return random.choice([(0, 5), (-2, 10), (5, 100), ("0.5", 3) if measure == "pay" else (0, 1)])


def _parts(random: Random, measure: str, currency: str) -> Parts:
    amount = {currency: "0.3"}
    return Parts(
        random.choice(["sector", "head"]),
        {
            "farm": splitting(_plain(random, measure), accounting="exact", **amount),
            "f": splitting(_plain(random, measure), **amount),
            None: clamping(0, 5, **amount),
            ...: clamping(-2, 40, **amount),
        },
    )
