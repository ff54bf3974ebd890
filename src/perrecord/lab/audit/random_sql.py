"""Random questions as SQL text, from a seed."""

from random import Random
from typing import Any

from perrecord.lab.audit.random_queries import AMOUNTS, CANDIDATES, FILTERS, keys_of
from perrecord.lab.audit.random_tables import VALUES
from perrecord.policy.split import Split
from perrecord.queries.query import Query
from perrecord.queries.sql import from_sql
from perrecord.tables.schema import Schema

_ASKED = [
    "COUNT(*)",
    "COUNT(pay)",
    "COUNT(DISTINCT firm)",
    "SUM(emp)",
    "SUM(rent)",
    "AVG(load)",
    "MEDIAN(emp)",
    "QUANTILE(pay, 0.9)",
]
_SPLIT = Split(emp=5, rent="0.5", load=5000)


def sql_query(random: Random, schema: Schema) -> Query:
    """Return a random question that was written as SQL, over declared keys."""
    columns = random.sample([name for name in VALUES if name != "emp"], random.choice([0, 1, 2]))
    asked = random.sample(_ASKED, random.choice([1, 2, 3]))
    shown = [*columns, *(f"{each} AS s{index}" for index, each in enumerate(asked))]
    text = f"SELECT {', '.join(shown)} FROM {schema.name}"  # noqa: S608 - it is parsed, never run
    where = random.choice(FILTERS)
    if where is not None:
        text += f" WHERE {where}"
    if columns:
        listed = ", ".join(columns)
        text += f" GROUP BY {random.choice([listed, f'ROLLUP ({listed})'])}"
    options: dict[str, Any] = {random.choice(["rho", "epsilon"]): random.choice(AMOUNTS)}
    if any(each.startswith(("SUM", "AVG")) for each in asked):
        options["split"] = _SPLIT
    candidates = {
        f"s{index}": CANDIDATES["emp" if "emp" in each else "pay"]
        for index, each in enumerate(asked)
        if each.startswith(("MEDIAN", "QUANTILE"))
    }
    if candidates:
        options["candidates"] = candidates
    return from_sql(
        text, schema=schema, keys=keys_of(random, columns) if columns else None, **options
    )
