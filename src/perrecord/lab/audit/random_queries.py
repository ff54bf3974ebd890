"""Random questions from a seed: filters, groupings, schemes and answers of every kind."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.lab.audit.random_tables import MEASURES, VALUES
from perrecord.policy.split import Scheme, Split
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods.parts import Parts, Priced, clamping, splitting
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys

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
    "region = 'North' AND zone IS NULL",
    "zone = 'a' OR load >= 5000",
    "NOT (size = 'large')",
    "opened >= '2020-02-29'",
    "coalesce(head, 'x') IN ('x', 'f', 's')",
    "rate IS NULL OR rate > 0.5",
    "sector LIKE 'f%' OR sector LIKE 'm%'",
    "emp IS NULL OR emp > -1000",
]
CANDIDATES: dict[str, list[Fraction | int]] = {
    "emp": [-5, 0, 1, 2, 5, Fraction(11, 2), 10, 50, 2**62],
    "pay": [0, Fraction(1, 4), Fraction(1, 2), 2, Fraction(9, 4), 100],
    "rent": [-1, 0, Fraction(1, 10), Fraction(3, 20), 25, 10**9],
    "load": [-2000, 0, 500, 1000, 5000, 10**9],
    "rate": [-1, 0, Fraction(1, 100), Fraction(1, 2), 3],
}
THRESHOLDS: dict[str, list[str | int]] = {
    "emp": [1, 5, 50, 2**70],
    "pay": ["0.5", 2, 100],
    "rent": ["0.1", "0.5", 30],
    "load": [1000, 5000, 2**80 * 1000],
    "rate": ["0.01", "0.5", 2],
}
BOUNDS: dict[str, list[tuple[str | int, str | int]]] = {
    "emp": [(0, 5), (-2, 10), (5, 100), (-100, -5), (0, 2**61)],
    "pay": [(0, 5), ("0.5", 3), (-2, 40)],
    "rent": [(0, 5), ("-0.5", "0.1"), (5, 100)],
    "load": [(0, 5000), (-2000, 10**6), (1000, 2000)],
    "rate": [(0, 5), ("0.01", "0.5"), (-2, -1)],
}
AMOUNTS: list[str | int] = ["0.1", "1/3", 2]
KINDS = [
    "count", "filled", "distinct", "exact", "exact", "split", "clamp", "parts", "parts by key",
    "count by", "distinct by", "average", "average exact", "average clamped", "quantile",
]  # fmt: skip


def query(
    random: Random,
    *,
    exact_only: bool = False,
    currency: str | None = None,
    selects: bool = False,
) -> Query:
    """Return a random query; with `exact_only` its answers all have exact accounting.

    With `selects` its keys may be found in the data, or in a domain that is not written out.
    """
    asked = Query()
    condition = random.choice(FILTERS)
    if condition is not None and random.random() < 0.5:
        asked = asked.where(condition)
    chosen = currency or ("rho" if exact_only or random.random() < 0.7 else "epsilon")
    columns = random.sample(list(VALUES), random.choice([0, 1, 1, 2, 2, 3]))
    if columns and selects and chosen == "rho" and random.random() < 0.45:
        asked = _selecting(random, asked, columns)
    elif columns:
        asked = _grouped(random, asked, columns)
    kinds = ["count", "exact"] if exact_only else KINDS
    for index in range(random.randrange(1, 5)):
        asked = _answer(random, asked, random.choice(kinds), chosen, f"a{index}")
    return asked


def workload(random: Random) -> list[Query]:
    """Return one to three random queries of one currency, some of which select their keys."""
    currency = "rho" if random.random() < 0.7 else "epsilon"
    exact_only = random.random() < 0.25
    return [
        query(random, exact_only=exact_only, currency=currency, selects=True)
        for _ in range(random.choice([1, 1, 2, 3]))
    ]


def to_run(random: Random, *, selects: bool) -> list[Query]:
    """Return two random queries, and one whose cells have laws of their own, each in its currency.

    Their keys are declared; or, with `selects`, one finds its keys in the data, one in a domain.
    """
    if selects:
        found = [_found(random, way) for way in (_selecting_keys, _selecting_cells)]
    else:
        found = [query(random), query(random)]
    return [*found, _by_cell(random)]


def _found(random: Random, way: Callable[[Random, Query, list[str]], Query]) -> Query:
    """Return a query that finds its keys with noise, and asks something more of each."""
    condition = random.choice(FILTERS) if random.random() < 0.3 else None
    asked = Query() if condition is None else Query().where(condition)
    asked = way(random, asked, random.sample(list(VALUES), random.choice([1, 2])))
    return _answer(random, asked, random.choice(KINDS), "rho", "more")


def _by_cell(random: Random) -> Query:
    """Return a query by sector whose noise is told by the sector."""
    currency = random.choice(["rho", "epsilon"])
    columns = ["sector", *random.sample(["code", "big"], random.choice([0, 0, 1]))]
    asked = _grouped(random, Query(), columns)
    kinds = ["count by", "parts by key"]
    return _answer(random, asked, random.choice(kinds), currency, "own")


def scheme(random: Random, measure: str) -> Scheme:
    """Return a random scheme that splits the measure, plain or piecewise."""
    if random.random() < 0.5:
        return _plain(random, measure)
    if random.random() < 0.5:
        cases = {"farm": _plain(random, measure), None: _plain(random, measure)}
        return Split.by("sector", cases, _plain(random, measure))
    inner = Split.by("code", {3: _plain(random, measure)}, _plain(random, measure))
    return Split.by("big", {True: _plain(random, measure), False: inner}, _plain(random, measure))


def keys_of(random: Random, columns: Sequence[str]) -> Keys:
    """Return some of the combinations of what the columns may hold."""
    every = Keys.from_dict({name: VALUES[name] for name in columns})
    some = [row for row in every.rows() if random.random() < 0.75] or every.rows()[:1]
    kinds = every.table.schema
    return Keys.from_columns(
        pa.table(
            {
                name: pa.array([row[place] for row in some], kinds.field(name).type)
                for place, name in enumerate(columns)
            }
        )
    )


# -- groupings ----------------------------------------------------------------------------------


def _grouped(random: Random, asked: Query, columns: list[str]) -> Query:
    keys = keys_of(random, columns)
    chance = random.random()
    if chance < 0.2:
        return asked.rollup(*columns, keys=keys)
    if chance < 0.4:
        every = [each for size in range(len(columns) + 1) for each in combinations(columns, size)]
        sets = random.sample(every, random.randrange(1, len(every) + 1))
        if random.random() < 0.5:
            return asked.group_by_sets(sets, keys=keys if any(sets) else None)
        return asked.group_by_sets(
            sets, keys={each: keys_of(random, each) for each in sets if each}
        )
    return asked.group_by(*columns, keys=keys)


def _selecting(random: Random, asked: Query, columns: list[str]) -> Query:
    way = _selecting_cells if random.random() < 0.4 else _selecting_keys
    return way(random, asked, columns)


def _selecting_cells(random: Random, asked: Query, columns: list[str]) -> Query:
    domain = Domain(*(keys_of(random, [name]) for name in columns))
    least = random.choice([0, 1, 3, 20])
    asked = asked.group_by(*columns, keys=SelectCells(domain, answer="kept", at_least=least))
    kind = random.choice(["count", "filled", "distinct", "plain exact", "plain split", "clamp"])
    return _answer(random, asked, kind, "rho", "kept")


def _selecting_keys(random: Random, asked: Query, columns: list[str]) -> Query:
    split = None
    if random.random() < 0.8:
        split = scheme(random, random.choice(list(MEASURES)))
        split = split.capped(random.choice([1, 3, 100])) if random.random() < 0.3 else split
    reached: dict[str, Any] = random.choice([{"threshold": 1}, {"threshold": 8}, {"delta": "1e-6"}])
    cells = SelectKeys(
        rho=random.choice(AMOUNTS), split=split, rows_as=random.choice([None, "rows"]), **reached
    )
    if len(columns) > 1 and random.random() < 0.3:
        return asked.rollup(*columns, keys=cells)
    return asked.group_by(*columns, keys=cells)


# -- answers ------------------------------------------------------------------------------------


def _answer(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    amount: dict[str, Any] = {currency: random.choice(AMOUNTS)}
    match kind:
        case "count" | "filled" | "distinct" | "count by" | "distinct by":
            return _count(random, asked, kind, currency, name)
        case "average" | "average exact" | "average clamped":
            return _average(random, asked, kind, currency, name)
        case "quantile":
            measure = random.choice(list(MEASURES))
            level, found = random.choice(["0.5", "0", "1", "0.9", "1/3"]), CANDIDATES[measure]
            return asked.quantile(measure, level, candidates=found, name=name, **amount)
        case _:
            return _total(random, asked, kind, currency, name)


def _count(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    amount: dict[str, Any] = {currency: random.choice(AMOUNTS)}
    match kind:
        case "count":
            return asked.count(name=name, **amount)
        case "filled":
            column = random.choice(["emp", "pay", "sector", "rate", "zone", "size"])
            return asked.count(column, name=name, **amount)
        case "distinct":
            column = random.choice(["firm", "sector", "id", "region"])
            return asked.count_distinct(column, name=name, **amount)
        case "count by":
            amounts: dict[str, Any] = {currency: {"farm": "0.2", None: 1, ...: "0.5"}}
            return asked.count(random.choice([None, "pay"]), by="sector", name=name, **amounts)
        case _:
            pairs: dict[object, Any] = {("farm", True): "0.2", (None, None): 1, ...: "0.5"}
            by = ("sector", "big")
            return asked.count_distinct("firm", by=by, name=name, **{currency: pairs})


def _average(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    measure = random.choice(list(MEASURES))
    one: dict[str, Any] = {currency: random.choice(AMOUNTS)}
    two = {currency: (random.choice(AMOUNTS), random.choice(AMOUNTS))}
    amount = random.choice([one, two])
    if kind == "average clamped":
        bounds = random.choice([each for each in BOUNDS[measure] if each[1] != 2**61])
        return asked.average(measure, clamp=bounds, name=name, **amount)
    accounting: Any = "exact" if kind == "average exact" else "split"
    split = scheme(random, measure)
    return asked.average(measure, split=split, accounting=accounting, name=name, **amount)


def _total(random: Random, asked: Query, kind: str, currency: str, name: str) -> Query:
    measure = random.choice(list(MEASURES))
    amount: dict[str, Any] = {currency: random.choice(AMOUNTS)}
    match kind:
        case "clamp":
            bounds = random.choice(BOUNDS[measure])
            return asked.sum(measure, clamp=bounds, name=name, **amount)
        case "parts":
            return asked.sum(measure, parts=_parts(random, measure, currency), name=name)
        case "parts by key":
            return _parts_by_key(random, asked, measure, currency, name)
        case _:
            is_plain = kind.startswith("plain ")
            split = _plain(random, measure) if is_plain else scheme(random, measure)
            accounting: Any = kind.removeprefix("plain ")
            return asked.sum(measure, split=split, accounting=accounting, name=name, **amount)


def _plain(random: Random, measure: str) -> Split:
    chosen = {measure: random.choice(THRESHOLDS[measure])}
    other = random.choice(list(MEASURES))
    chosen.setdefault(other, random.choice(THRESHOLDS[other]))
    return Split(chosen)


def _method(random: Random, measure: str, currency: str) -> Priced:
    amount: dict[str, Any] = {currency: random.choice(AMOUNTS)}
    if random.random() < 0.4:
        return clamping(*random.choice(BOUNDS[measure]), **amount)
    accounting: Any = random.choice(["split", "exact"])
    return splitting(_plain(random, measure), accounting=accounting, **amount)


def _parts(random: Random, measure: str, currency: str) -> Parts:
    options: dict[str, list[str | None]] = {
        "sector": ["farm", "", None],
        "head": ["f", None],
        "region": ["North", "nórth"],
    }
    by, values = random.choice(list(options.items()))
    methods: dict[Any, Priced] = {each: _method(random, measure, currency) for each in values}
    return Parts(by, {**methods, ...: _method(random, measure, currency)})


def _parts_by_key(random: Random, asked: Query, measure: str, currency: str, name: str) -> Query:
    """Return the query with a total whose parts have no default, if every key says its part."""
    columns = set.intersection(*(set(each.columns) for each in asked.groupings)) - {"emp"}
    are_keys = all(isinstance(each.cells, Keys) for each in asked.groupings)
    if not columns or not are_keys:
        return asked.sum(measure, parts=_parts(random, measure, currency), name=name)
    by = random.choice(sorted(columns))
    values: list[Any] = VALUES[by]
    if random.random() < 0.5:
        split = Split.by(by, {each: _plain(random, measure) for each in values})
        accounting: Any = random.choice(["split", "exact"])
        amount: dict[str, Any] = {currency: random.choice(AMOUNTS)}
        return asked.sum(measure, split=split, accounting=accounting, name=name, **amount)
    parts = Parts(by, {each: _method(random, measure, currency) for each in values})
    return asked.sum(measure, parts=parts, name=name)
