"""Random tables full of ties, and what their columns mean in plain SQL."""

from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure

SECTORS = ["farm", "mine", "shop", "=1+1", "'quoted", None]
CODES = [-7, 0, 3, None]
REGIONS = {"farm": "North", "mine": "south", "shop": None, "=1+1": "North"}
SCHEMA = pa.schema(
    {
        "firm": pa.int64(),
        "sector": pa.string(),
        "code": pa.int64(),
        "emp": pa.int64(),
        "pay": pa.float64(),
        "rent": pa.decimal128(14, 2),
        "mass": pa.int64(),
    }
)
MEASURES = {
    "emp": Measure(),
    "pay": Measure("0.5", largest=1000, outside="cut"),
    "rent": Measure("0.1", largest=10**6),
    "load": Measure(1000, column="mass"),
}
STEPS = {name: measure.resolution for name, measure in MEASURES.items()}
FINE = "fine"
"""Employees once more, in millionths: tapered noise of five steps and more is next to nothing."""
DIMENSIONS = {
    "sector": "sector",
    "code": "code",
    "head": "substr(sector, 1, 1)",
    "region": "region",
    "size": "CASE WHEN emp > 5 THEN 'large' WHEN emp IS NOT NULL THEN 'small' END",
}
VALUES: dict[str, list[Any]] = {
    "sector": [*SECTORS, "never"],
    "code": [*CODES, 99],
    "head": ["f", "m", "s", "=", "'", None, "x"],
    "size": ["small", "large", None],
    "region": ["North", "south", None, "east"],
}
"""What may be grouped by, and values that never occur."""

VIEW = """
CREATE VIEW records AS SELECT
    source.* EXCLUDE (emp, pay, rent, mass),
    substr(sector, 1, 1) AS head,
    regions.region AS region,
    CASE WHEN emp > 5 THEN 'large' WHEN emp IS NOT NULL THEN 'small' END AS size,
    emp, emp AS fine,
    CASE WHEN pay > 1000 THEN 1000 WHEN pay < -1000 THEN -1000
         ELSE sign(pay) * floor(abs(pay) * 2 + 0.5) / 2 END AS pay,
    CASE WHEN abs(round(rent, 1)) <= 1000000 THEN round(rent, 1) END AS rent,
    CAST(sign(mass) AS BIGINT) * ((abs(mass) + 500) // 1000) * 1000 AS load
FROM source LEFT JOIN regions ON sector = regions.name
"""
"""What the declaration below means, written by hand: rounding is half away from zero."""

_VALUES: dict[str, list[Any]] = {
    "emp": [None, 0, 0, 0, 1, 5, 5, 5, 6, -3, -3, 12, 130, 2**40, -(2**40)],
    "pay": [None, 0.0, 0.0, 0.25, 0.75, 1.25, 2.5, 2.5, -0.25, -0.75, 7.0, 100.0, 5000.0, -5000.0],
    "rent": [None, "0.00", "0.05", "0.15", "0.25", "-0.05", "-0.15", "1.00", "99.95", "2000000.00"],
    "mass": [None, 0, 0, 500, 1500, 2500, -500, -1500, 1000, 1000, 10**12],
}


def rows(random: Random) -> pa.Table:
    """Return random rows: none, a single one, mostly ties, or anything."""
    count = random.choice([0, 1, 1, 2, 5, 30, 120])
    values = _VALUES
    if random.random() < 0.4:  # a few different values, so that most records tie
        values = {name: random.sample(each, 2) for name, each in _VALUES.items()}
    found = [
        {
            "firm": random.choice([1, 2, 3, None]),
            "sector": random.choice(SECTORS),
            "code": random.choice(CODES),
            **{name: random.choice(each) for name, each in values.items() if name != "rent"},
            "rent": random.choice(values["rent"]),
        }
        for _ in range(count)
    ]
    columns = {name: [row[name] for row in found] for name in SCHEMA.names}
    columns["rent"] = pa.array(columns["rent"], pa.string()).cast(pa.decimal128(14, 2))
    return pa.table(columns, schema=SCHEMA)


def regions() -> pa.Table:
    """Return the public table that is joined."""
    return pa.table({"name": list(REGIONS), "region": list(REGIONS.values())})


def declared() -> dict[str, Any]:
    """Return how the table is declared to perrecord."""
    return {
        "unit": "firm",
        "dimensions": DIMENSIONS,
        "measures": {**MEASURES, FINE: Measure("0.000001", column="emp")},
        "lookups": [Lookup(regions(), on={"sector": "name"})],
    }


def in_plain_sql(source: pa.Table) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB of the audit's own, with the same records as `records`."""
    connection = duckdb.connect()
    connection.register("given", source)
    connection.register("looked_up", regions())
    connection.execute("CREATE TABLE source AS FROM given")
    connection.execute("CREATE TABLE regions AS FROM looked_up")
    connection.execute(VIEW)
    return connection
