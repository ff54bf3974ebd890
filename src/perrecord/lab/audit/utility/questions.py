"""Random questions, each with its meaning in plain SQL written beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.exact import text
from perrecord.lab.audit.utility.tables import FINE, STEPS, VALUES
from perrecord.policy.split import Split
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Taper
from perrecord.queries.methods.parts import Parts, clamping, splitting, tapering
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys

AMOUNT = 10**32
"""So much rho, or epsilon, that noise is a chance of one in e^(10^20): never."""

_FILTERS = [
    None,
    None,
    "sector = 'farm' OR code > 0",
    "emp IS NULL OR emp > 0",
    "region IS NOT NULL AND size = 'small'",
    "NOT (head = 'f')",
    "pay BETWEEN -0.5 AND 2.5",
    "sector IN ('farm', 'mine') AND rent >= 0.1",
]
KINDS = (
    *("count", "filled", "distinct", "split", "exact", "clamp", "parts", "count by"),
    *("average", "average clamped", "quantile", "median"),
    *("tapered", "tapered parts", "average tapered"),
)
TAPERED = 90
"""So much a record of 1 loses, rho or epsilon, by noise of millionths; half of it for nu = 3."""


@dataclass(frozen=True, slots=True)
class AnswerMeaning:
    """What an answer is: an aggregate in SQL, or all values of which it is a quantile."""

    kind: str
    sql: str
    empty: Fraction = Fraction(0)
    """What a cell without records gives."""
    level: Fraction | None = None
    candidates: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and what it means."""

    query: Query
    where: str | None
    meanings: tuple[AnswerMeaning, ...]
    keep: str | None = None
    """In SQL, which cells are published where noise decides; None if all keys are declared."""
    keeps_empty: bool = False
    """Whether the cells of the domain in which no record is are published too."""


def question(random: Random) -> Question:
    """Return a random question: filter, grouping and two to four answers."""
    where = random.choice(_FILTERS)
    asked = Query() if where is None else Query().where(where)
    columns = random.sample(list(VALUES), random.choice([0, 0, 1, 1, 2]))
    chance, keep, keeps_empty = random.random(), None, False
    meanings: list[AnswerMeaning] = []
    if columns and chance < 0.25:
        found = _selecting(random, asked, columns)
        asked, keep, keeps_empty = found.query, found.keep, found.keeps_empty
        meanings += found.meanings
    elif columns:
        keys = _keys(random, columns)
        way = asked.rollup if chance < 0.5 else asked.group_by
        if chance > 0.85:
            asked = asked.group_by_sets([[], columns, columns[:1]][: len(columns) + 1], keys=keys)
        else:
            asked = way(*columns, keys=keys)
    currency = "rho" if keep is not None else random.choice(["rho", "rho", "epsilon"])
    for index, kind in enumerate(random.sample(KINDS, random.randrange(2, 5))):
        asked, meaning = answer(random, asked, kind, f"a{index}", {currency: AMOUNT})
        meanings.append(meaning)
    return Question(asked, where, tuple(meanings), keep, keeps_empty)


def _keys(random: Random, columns: Sequence[str]) -> Keys:
    every = list(product(*(VALUES[name] for name in columns)))
    some = [key for key in every if random.random() < 0.8] or every[:1]
    kinds = Keys.from_dict({name: VALUES[name] for name in columns}).table.schema
    listed = {
        name: pa.array([key[place] for key in some], kinds.field(name).type)
        for place, name in enumerate(columns)
    }
    return Keys.from_columns(pa.table(listed))


def _selecting(random: Random, asked: Query, columns: list[str]) -> Question:
    """Return the question with keys that noise would find, and here finds all that are there."""
    if random.random() < 0.5:
        threshold, limit = random.choice([1, 2, 8]), random.choice([1, 5, 50])
        split = Split(emp=limit)
        pieces = f"sum(greatest(1, coalesce((abs(emp) + {limit - 1}) // {limit}, 0)))"
        cells: Any = SelectKeys(rho=AMOUNT, threshold=threshold, split=split, rows_as="rows")
        grouped = asked.group_by(*columns, keys=cells)
        return Question(grouped, None, (AnswerMeaning("keys", pieces),), f"{pieces} >= {threshold}")
    least = random.choice([0, 1, 3])
    domain = Domain(*(Keys.from_dict({name: VALUES[name]}) for name in columns))
    cells = SelectCells(domain, answer="kept", at_least=least)
    grouped = asked.group_by(*columns, keys=cells)
    kind = random.choice(["count", "filled", "clamp"])
    grouped, meaning = answer(random, grouped, kind, "kept", {"rho": AMOUNT})
    return Question(grouped, None, (meaning,), f"{meaning.sql} >= {least}", least == 0)


def answer(
    random: Random, asked: Query, kind: str, name: str, amount: dict[str, Any]
) -> tuple[Query, AnswerMeaning]:
    """Return the query with one answer more, and what that answer means."""
    measure = random.choice(list(STEPS))
    step = STEPS[measure]
    split = Split({measure: step * random.choice([1, 5, 50])})
    low = step * random.choice([-5, 0, 1])
    clamp = (low, low + step * random.choice([2, 7, 100]))
    match kind:
        case "count":
            return asked.count(name=name, **amount), AnswerMeaning(kind, "count(*)")
        case "filled":
            column = random.choice([measure, "sector", "region"])
            return asked.count(column, name=name, **amount), AnswerMeaning(kind, f"count({column})")
        case "distinct":
            column = random.choice(["firm", "sector", "region"])
            query = asked.count_distinct(column, name=name, **amount)
            return query, AnswerMeaning(kind, f"count(DISTINCT {column})")
        case "count by":
            ((currency, most),) = amount.items()
            amounts: dict[str, Any] = {currency: {"farm": most, None: 2 * most, ...: 3 * most}}
            query = asked.count(by="sector", name=name, **amounts)
            return query, AnswerMeaning(kind, "count(*)")
        case "clamp":
            query = asked.sum(measure, clamp=clamp, name=name, **amount)
            return query, AnswerMeaning(kind, _total(_clamped(measure, *clamp)))
        case "parts":
            return _parts(asked, measure, split, clamp, name, amount)
        case "average":
            query = asked.average(measure, split=split, name=name, **amount)
            return query, AnswerMeaning(kind, f"avg({measure})")
        case "average clamped":
            query = asked.average(measure, clamp=clamp, name=name, **amount)
            middle = (clamp[0] + clamp[1]) / 2
            return query, AnswerMeaning(kind, f"avg({_clamped(measure, *clamp)})", middle)
        case "tapered" | "tapered parts" | "average tapered":
            return _tapered(random, asked, kind, name, amount)
        case "quantile" | "median":
            return _quantile(random, asked, kind, measure, name, amount)
        case _:
            accounting: Any = kind
            query = asked.sum(measure, split=split, accounting=accounting, name=name, **amount)
            return query, AnswerMeaning(kind, _total(measure))


def _parts(
    asked: Query,
    measure: str,
    split: Split,
    clamp: tuple[Fraction, Fraction],
    name: str,
    amount: dict[str, Any],
) -> tuple[Query, AnswerMeaning]:
    """Return a total of which each sector's records are treated in their own way."""
    wide = clamp[1] + 100 * STEPS[measure]
    cases: dict[Any, Any] = {
        "farm": splitting(split, **amount),
        None: clamping(*clamp, **amount),
        ...: clamping(clamp[0], wide, **amount),
    }
    sql = (
        f"CASE WHEN sector = 'farm' THEN {measure} "
        f"WHEN sector IS NULL THEN {_clamped(measure, *clamp)} "
        f"ELSE {_clamped(measure, clamp[0], wide)} END"
    )
    query = asked.sum(measure, parts=Parts("sector", cases), name=name)
    return query, AnswerMeaning("parts", _total(sql))


def _tapered(
    random: Random, asked: Query, kind: str, name: str, amount: dict[str, Any]
) -> tuple[Query, AnswerMeaning]:
    """Return a tapered answer about employees in millionths, whose noise rounds to nothing."""
    ((currency, most),) = amount.items()
    nu = random.choice([3, 7])
    price = TAPERED * (nu + 1) // 8
    one: dict[str, Any] = {currency: price}
    taper = Taper({FINE: 1}, nu=nu)
    if kind == "average tapered":
        two: dict[str, Any] = {currency: (price, most)}
        query = asked.average(FINE, taper=taper, name=name, **two)
        return query, AnswerMeaning(kind, "avg(emp)")
    if kind == "tapered":
        query = asked.sum(FINE, taper=taper, name=name, **one)
        return query, AnswerMeaning(kind, _total("emp"))
    wide = tapering(Taper({FINE: 2}, nu=nu), **one)
    parts = Parts("sector", {"farm": tapering(taper, **one), None: wide, ...: wide})
    return asked.sum(FINE, parts=parts, name=name), AnswerMeaning(kind, _total("emp"))


def _quantile(
    random: Random, asked: Query, kind: str, measure: str, name: str, amount: dict[str, Any]
) -> tuple[Query, AnswerMeaning]:
    step = STEPS[measure]
    every = [-1000, -3, -1, 0, 1, 2, 3, 4, 5, 6, 12, 130, 10**9]
    candidates = tuple(
        sorted(step * each for each in random.sample(every, random.choice([1, 4, 8])))
    )
    if random.random() < 0.3:
        candidates = (*candidates[:-1], candidates[-1] + step / 2)
    if kind == "median":
        level = Fraction(1, 2)
        query = asked.median(measure, candidates=candidates, name=name, **amount)
    else:
        level = Fraction(random.choice(["0", "0.1", "1/3", "0.5", "0.75", "0.9", "1"]))
        query = asked.quantile(measure, level, candidates=candidates, name=name, **amount)
    return query, AnswerMeaning(kind, f"list({measure})", level=level, candidates=candidates)


def _clamped(measure: str, low: Fraction, high: Fraction) -> str:
    return (
        f"CASE WHEN {measure} < {text(low)} THEN {text(low)} "
        f"WHEN {measure} > {text(high)} THEN {text(high)} ELSE {measure} END"
    )


def _total(value: str) -> str:
    return f"coalesce(sum({value}), 0)"
