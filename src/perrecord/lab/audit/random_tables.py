"""Random tables from a seed: every type, nulls everywhere, ends of ranges, values at thresholds."""

import math
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure

Row = dict[str, Any]

SECTORS = ["farm", "mine", "shop", "", "é", "e\u0301", "𝔘nit", "farm ", None]
CODES = [-7, 0, 3, 2**62, None]
TRUTHS = [True, False, None]
FIRMS = [1, 2, 3, 4, None]
DAYS = [date(1999, 12, 31), date(2020, 2, 29), date(2020, 3, 1), None]
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "firm": pa.int64(),
        "sector": pa.string(),
        "code": pa.int64(),
        "big": pa.bool_(),
        "opened": pa.date32(),
        "emp": pa.int64(),
        "pay": pa.float64(),
        "rent": pa.decimal128(12, 2),
        "mass": pa.int64(),
    }
)
VALUES: dict[str, list[Any]] = {
    "sector": SECTORS,
    "code": CODES,
    "big": TRUTHS,
    "head": [None, "f", "m", "s", "", "é", "e", "𝔘", "x"],
    "region": ["North", "south", "", "nórth", None],
    "zone": ["a", "b", None],
    "opened": ["1999-12-31", "2020-02-29", "2020-03-01", None],
    "size": ["small", "large", None],
    "emp": [0, 1, 5, 6, 50, -3, None],
}
"""What may be grouped by, with values that occur and some that never do."""

MEASURES = {
    "emp": Measure(),
    "pay": Measure("0.5", largest=10**15, outside="cut"),
    "rent": Measure("0.1"),
    "load": Measure(1000, column="mass"),
    "rate": Measure("0.01", largest=10**6),
}
REGIONS: Mapping[str | None, tuple[str | None, Decimal | None]] = {
    "farm": ("North", Decimal("0.505")),
    "mine": ("south", Decimal("-2.004")),
    "shop": ("North", None),
    "": ("", Decimal("0.010")),
    "é": ("nórth", Decimal("99999.999")),
    "e\u0301": (None, Decimal("0.000")),
    None: ("never", Decimal("1.000")),
}
"""By sector: a NULL finds no row, also where the lookup has a row for it."""

ZONES: Mapping[tuple[int | None, bool | None], str | None] = {
    (3, True): "a",
    (3, False): "b",
    (2**62, True): "b",
    (0, False): None,
    (-7, True): "a",
    (0, None): "never",
}
DECLARED: dict[str, Any] = {
    "id": "id",
    "unit": "firm",
    "dimensions": {
        "sector": "sector",
        "code": "code",
        "big": "big",
        "head": "substr(sector, 1, 1)",
        "region": "region",
        "zone": "zone",
        "opened": "opened",
        "size": "CASE WHEN emp > 50 THEN 'large' WHEN emp IS NOT NULL THEN 'small' END",
    },
    "measures": MEASURES,
    "lookups": [
        Lookup(
            pa.table(
                {
                    "name": pa.array(list(REGIONS)),
                    "region": pa.array([region for region, _ in REGIONS.values()]),
                    "rate": pa.array([rate for _, rate in REGIONS.values()], pa.decimal128(9, 3)),
                }
            ),
            on={"sector": "name"},
        ),
        Lookup(
            pa.table(
                {
                    "number": pa.array([code for code, _ in ZONES]),
                    "is_big": pa.array([big for _, big in ZONES]),
                    "zone": pa.array(list(ZONES.values())),
                }
            ),
            on={"code": "number", "big": "is_big"},
        ),
    ],
}
"""How the table is declared: `table(arrow(rows), **DECLARED)`."""

_STEPS: dict[str, list[Any]] = {
    "emp": [None, 0, 1, 2, 5, 5, 6, 12, -3, -5, -6, 49, 50, 51, 130],
    "pay": [None, 0.0, 1.5, 2.0, 2.25, 2.5, 7.3, -4.1, 100.0, 100.25, 1e6],
    "rent": ["0.00", "0.05", "0.10", "-0.15", "0.50", "0.55", "12.34", "30.00", "30.05", "999"],
    "mass": [None, 0, 1000, 1499, 1500, -2500, 5000, 5499, 5500, 10**6, 10**9 + 500],
}
"""Values below, on and beyond thresholds, and halfway between two steps."""

_EXTREME: dict[str, list[Any]] = {
    "emp": [2**62, -(2**62), 2**63 - 1, -(2**63), 2**62 - 1],
    "pay": [math.nan, math.inf, -math.inf, 1e300, -1e300, 1e15, 1e15 + 1, 0.25, -0.25, -0.0],
    "rent": ["9999999999.99", "-9999999999.99"],
    "mass": [2**63 - 1, -(2**63), 2**62, 499, -500],
}


def rows(random: Random, count: int, *, extreme: bool = True, unique: bool = True) -> list[Row]:
    """Return random rows, each with what the lookups add to it.

    Extreme ones lie near the ends of their types. Unless ids are unique some occur twice, and some
    are NULL.
    """
    found = []
    for index in range(count):
        sector, code, big = random.choice(SECTORS), random.choice(CODES), random.choice(TRUTHS)
        region, rate = _none_for_null(REGIONS, sector) or (None, None)
        rent = _number(random, "rent", extreme=extreme)
        found.append(
            {
                "id": index if unique else random.choice([index, index // 2, None]),
                "firm": random.choice(FIRMS),
                "sector": sector,
                "code": code,
                "big": big,
                "opened": random.choice(DAYS),
                "emp": _number(random, "emp", extreme=extreme),
                "pay": _number(random, "pay", extreme=extreme),
                "rent": None if rent is None or random.random() < 0.15 else Decimal(rent),
                "mass": _number(random, "mass", extreme=extreme),
                "region": region,
                "rate": rate,
                "zone": None if code is None or big is None else ZONES.get((code, big)),
            }
        )
    return found


def arrow(found: Sequence[Row]) -> pa.Table:
    """Return rows as the source holds them, without what the lookups add."""
    return pa.Table.from_pylist(found, schema=SCHEMA)


def _number(random: Random, name: str, *, extreme: bool) -> Any:
    if extreme and random.random() < 0.12:
        return random.choice(_EXTREME[name])
    return random.choice(_STEPS[name])


def _none_for_null(found: Mapping[Any, Any], key: object) -> Any:
    return None if key is None else found.get(key)
