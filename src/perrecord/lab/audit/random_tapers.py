"""Random tapered questions from a seed: through the fluent interface, as SQL, in specs (T26).

They come from a seed of their own, beside what is random otherwise, which stays as it was.
"""

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

from perrecord.lab.audit.random_queries import BOUNDS, FILTERS, THRESHOLDS, keys_of
from perrecord.lab.audit.random_tables import MEASURES, VALUES
from perrecord.policy.split import Split
from perrecord.queries.methods import Taper
from perrecord.queries.methods.parts import Parts, Priced, clamping, splitting, tapering
from perrecord.queries.query import Query
from perrecord.queries.sql import from_sql
from perrecord.tables.schema import Schema

_PRICES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (3, ("0.1", "0.2")),
    (5, ("0.1", "1/3")),
    (50, ("0.1", "1/3", "2")),
    (50, ("0.1", "1/3", "2")),
    (5000, ("0.2", "2", "8")),
    (2**70, ("0.1", "2")),
)
"""Sizes in steps of a measure, and amounts at which sqrt A is 5 steps or more."""
_NARROWEST = (1, "0.1")
"""For nu = 7 in rho: sqrt A is 5.3 steps, where it shows what the integers add to a loss."""
_PARTS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("sector", ("farm", None, ...)),
    ("region", ("North", ...)),
)
_TOTALS = ("size", "size", "named", "heavy", "parts", "parts by key")
_AVERAGES = ("average", "average named")


def query(random: Random, currency: str, *, columns: list[str] | None = None) -> Query:
    """Return a query of one to three tapered answers, over declared keys."""
    condition = random.choice(FILTERS)
    asked = Query()
    if condition is not None and random.random() < 0.4:
        asked = asked.where(condition)
    if columns is None:
        columns = random.sample(list(VALUES), random.choice([0, 1, 1, 2]))
    if columns:
        way = asked.rollup if random.random() < 0.25 else asked.group_by
        asked = way(*columns, keys=keys_of(random, columns))
    for index in range(random.randrange(1, 4)):
        kind = random.choice([*_TOTALS, *_AVERAGES])
        asked = _answer(random, asked, kind, currency, f"t{index}")
    return asked


def sql_query(random: Random, schema: Schema) -> Query:
    """Return a tapered question that was written as SQL: one size, one taper, or one for each."""
    columns = random.sample([name for name in VALUES if name != "emp"], random.choice([0, 1]))
    shown = [*columns, "SUM(emp) AS s0", "AVG(pay) AS s1", "COUNT(*) AS s2"]
    text = f"SELECT {', '.join(shown)} FROM {schema.name}"  # noqa: S608 - it is parsed, never run
    where = random.choice(FILTERS)
    if where is not None:
        text += f" WHERE {where}"
    if columns:
        text += f" GROUP BY {columns[0]}"
    both = Taper(emp=50, pay=25, nu=random.choice([3, 7]))
    taper: Any = random.choice([50, both, {"s0": 5, "pay": both}])
    amount: dict[str, Any] = {random.choice(["rho", "epsilon"]): random.choice(["0.1", "1/3"])}
    keys = keys_of(random, columns) if columns else None
    return from_sql(text, schema=schema, keys=keys, taper=taper, **amount)


def _answer(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    measure = random.choice(list(MEASURES))
    nu = random.choice([3, 7])
    match kind:
        case "parts":
            by, keys = random.choice(_PARTS)
            parts = {each: _part(random, measure, currency, nu) for each in keys}
            return asked.sum(measure, parts=Parts(by, parts), name=name)
        case "parts by key":
            return _by_key(random, asked, measure, currency, name)
        case "average" | "average named":
            taper, amount = priced(random, measure, nu)
            amounts: dict[str, Any] = {currency: random.choice([(amount, "0.2"), amount])}
            given = taper if kind == "average named" or nu == 3 else taper.size(measure)
            return asked.average(measure, taper=given, name=name, **amounts)
        case "size":
            taper, amount = priced(random, measure, 7)
            if currency == "rho" and random.random() < 0.3:
                taper, amount = Taper({measure: _steps(measure, _NARROWEST[0])}), _NARROWEST[1]
            one: dict[str, Any] = {currency: amount}
            return asked.sum(measure, taper=taper.size(measure), name=name, **one)
        case _:
            taper, amount = priced(random, measure, 3 if kind == "heavy" else 7)
            one = {currency: amount}
            return asked.sum(measure, taper=taper, name=name, **one)


def _by_key(random: Random, asked: Query, measure: str, currency: str, name: str) -> Query:
    """Return a total of which each sector is treated in its own way, by tapers of any nu or not.

    Laws may not share a cell, so that without sectors in every key it is tapered throughout.
    """
    if not all("sector" in grouping.columns for grouping in asked.groupings):
        return _answer(random, asked, "parts", currency, name)
    amount: dict[str, Any] = {currency: random.choice(["0.1", "1/3"])}
    threshold = random.choice(THRESHOLDS[measure])
    parts: dict[Any, Priced] = {
        "farm": _part(random, measure, currency, 7),
        "mine": clamping(*random.choice(BOUNDS[measure]), **amount),
        "": splitting(Split({measure: threshold}), accounting="exact", **amount),
        ...: _part(random, measure, currency, 3),
    }
    return asked.sum(measure, parts=Parts("sector", parts), name=name)


def _part(random: Random, measure: str, currency: str, nu: int) -> Priced:
    taper, amount = priced(random, measure, nu)
    one: dict[str, Any] = {currency: amount}
    return tapering(taper, **one)


def priced(random: Random, measure: str, nu: int) -> tuple[Taper, str]:
    """Return a taper of the measure, and sometimes of another, and an amount that suits it.

    An average pays half of it for its total, or all of it.
    """
    steps, amounts = random.choice(_PRICES)
    sizes = {measure: _steps(measure, steps)}
    other = random.choice(list(MEASURES))
    sizes.setdefault(other, _steps(other, 50))
    return Taper(sizes, nu=nu), random.choice(amounts)


def _steps(measure: str, count: int) -> Fraction:
    return count * MEASURES[measure].resolution


# -- specs --------------------------------------------------------------------------------------

SIZES: Mapping[str, list[float]] = {
    "emp": [5, 50, 400],
    "pay": [2.5, 50, 400],
    "rent": [0.5, 30, 400],
    "load": [5000, 50000],
}
"""Of the measures that random specs have."""


def tapered_spec(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random spec with tapers, and with tapered answers in each of its queries.

    Its budget may list what is tapered; what it pays otherwise is enough for it, too.
    """
    tapers = {
        "usual": {name: random.choice(sizes) for name, sizes in SIZES.items()},
        "heavy": {
            "sizes": {name: random.choice(sizes) for name, sizes in SIZES.items()},
            "nu": 3,
        },
    }
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    queries = [
        {**asked, "answers": {**asked["answers"], **_tapered(random, currency, asked)}}
        for asked in spec["queries"]
    ]
    budget = dict(spec["budget"])
    if random.random() < 0.5:
        measure = random.choice(list(SIZES))
        at = random.choice(SIZES[measure])
        budget["tapers"] = [
            {"measure": measure, "at": at, currency: 0.3, "times": 2},
            {"measure": measure, "at": at, currency: 0.1, "nu": 3},
        ]
    return {**spec, "tapers": tapers, "queries": queries, "budget": budget}


def _tapered(random: Random, currency: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    is_by_sector = "sector" in asked.get("group_by", ())
    return {
        f"t{index}": _spec_answer(random, kind, currency, is_by_sector=is_by_sector)
        for index, kind in enumerate(random.sample(["sum", "average", "parts"], 2))
    }


def _spec_answer(random: Random, kind: str, currency: str, *, is_by_sector: bool) -> dict[str, Any]:
    measure = random.choice(list(SIZES))

    def part(taper: Any) -> dict[str, Any]:
        return {"taper": taper, currency: random.choice([0.1, 0.3])}

    size = random.choice(SIZES[measure])
    if kind == "parts":
        cases = {"farm": part(size), "": part("usual")}
        if is_by_sector:
            cases["é"] = part("heavy")
            cases["mine"] = {"split": "plain", currency: 0.1}
        return {"sum": measure, "parts": {"by": "sector", "cases": cases, "default": part("usual")}}
    found = {kind: measure, **part(random.choice([size, "usual", "heavy"]))}
    if kind == "average" and random.random() < 0.5:
        found[currency] = [found[currency], 0.2]
    return found
