"""Random tables that add up, in random specs, from a seed of their own (T31 to T33).

Their levels are sectors, what sectors begin with or the regions that they lie in, and everything
together; each with and without `big`. Lists of keys are complete.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

NAME = "added"
"""How the names of their queries begin."""
COUNT, TOTAL = "c", "e"
RATIO, SHARE = "per", "share"
PARENTS = ("head", "region")
_FILTERS = ("sector IS NULL OR sector <> 'none'", "emp IS NULL OR emp > 1")
"""Those of no other random question, so that nothing else estimates the same numbers."""


def summed_spec(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random spec with two to four tables of the same numbers, made consistent.

    Some have tables that follow, and numbers that formulas give, of the same table or of two.
    """
    parent = random.choice(PARENTS)
    fine = [["sector"], ["sector", "big"]]
    levels = [random.choice(fine)]
    others = [each for each in ([], [parent], [parent, "big"], ["big"], *fine) if each != levels[0]]
    levels += random.sample(others, random.choice([1, 2, 2, 3]))
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    where = random.choice(_FILTERS)
    queries = [
        _query(random, f"{NAME}{place}", level, currency, where)
        for place, level in enumerate(levels)
    ]
    columns = sorted({name for level in levels for name in level})
    keys = {f"all_{name}": {"file": f"{name}.parquet", "columns": [name]} for name in columns}
    for level in levels:
        if len(level) > 1:
            keys["_".join(("all", *level))] = {"product": [f"all_{name}" for name in level]}
    derived = {RATIO: f"{TOTAL} / {COUNT}"}
    if [] in levels:
        derived[SHARE] = f"{COUNT} / {NAME}{levels.index([])}.{COUNT}"
    processed = dict(spec.get("post_processing", {}))
    if random.random() < 0.8:
        processed["consistent"] = {name: random.random() < 0.5 for name in ("nonnegative", "whole")}
    processed["follow"] = dict(_following(random, levels[0], parent))
    return {
        **spec,
        "keys": {**spec["keys"], **keys},
        "queries": [*spec["queries"], *queries],
        "derived": derived,
        "post_processing": processed,
    }


def _query(
    random: Random, name: str, level: list[str], currency: str, where: str
) -> dict[str, Any]:
    amounts = [{currency: random.choice([0.1, 0.3, 2])} for _ in range(2)]
    ways: list[dict[str, Any]] = [{"split": "plain"}, {"split": "by"}, {"taper": 50}]
    way = random.choice(ways)
    return {
        "name": name,
        "answers": {
            COUNT: {"count": "records", **amounts[0]},
            TOTAL: {"sum": "emp", **way, **amounts[1]},
        },
        **({"group_by": level, "keys": "_".join(("all", *level))} if level else {}),
        "where": where,
    }


def _following(random: Random, level: list[str], parent: str) -> list[tuple[str, dict[str, Any]]]:
    """Return tables that follow from the first; not all sectors lie in a region."""
    source = f"{NAME}0"
    found: list[tuple[str, dict[str, Any]]] = []
    if random.random() < 0.6:
        found.append(("everything", {"from": source, "by": []}))
    if parent == "head" and random.random() < 0.6:
        found.append(("heads", {"from": source, "by": [parent]}))
    if "big" in level and random.random() < 0.4:
        found.append(("sizes", {"from": source, "by": "big", "answers": [COUNT]}))
    return found
