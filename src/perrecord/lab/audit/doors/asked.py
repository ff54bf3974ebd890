"""Random questions of the records that went through a door: every kind of exact integer."""

from fractions import Fraction
from random import Random
from typing import Any

from perrecord.lab.audit.doors.held import DIMENSIONS, MEASURES, Held
from perrecord.policy.split import Split
from perrecord.policy.weighing import Weighting
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Taper
from perrecord.queries.methods.parts import Parts, tapering
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys

_FILTERS = [
    *("sector = 'farm'", "sector <> 'FARM'", "head = 'f' OR head = 'é'", "size = 'small'"),
    *("a > 0", "b <= 2 OR c IS NULL", "a BETWEEN -3 AND 6", "sector IN ('farm', 'Mine', 'é')"),
    *("sector LIKE 'f%'", "NOT (c > 5)", "coalesce(sector, 'farm') = 'farm'", "sector < 'farm '"),
]
_KINDS = ["count", "filled", "distinct", "split", "exact", "clamp", "average", "quantile"]


def questions(random: Random, held: Held) -> list[Query]:
    """Return a few queries that between them ask for every kind of exact integer."""
    kinds = random.sample(_KINDS, len(_KINDS))
    grouped = _grouped(random, held, _filtered(random, Query()))
    for index, kind in enumerate(kinds[:5]):
        grouped = _answer(random, held, grouped, kind, f"g{index}")
    found = [grouped, _selecting(random, held, _filtered(random, Query()))]
    total = _filtered(random, Query())
    for index, kind in enumerate(kinds[5:]):
        total = _answer(random, held, total, kind, f"t{index}")
    return [*found, total]


def tapered_questions(random: Random, held: Held) -> list[Query]:
    """Return a query of tapered answers by cell, and one of all records, with any nu."""
    grouped = _grouped(random, held, _filtered(random, Query()))
    total = _filtered(random, Query())
    for kind in ("total", "average", "parts"):
        if random.random() < 0.5:
            grouped = _tapered(random, held, grouped, kind, f"g_{kind}")
        else:
            total = _tapered(random, held, total, kind, f"t_{kind}")
    return [each for each in (grouped, total) if each.answers]


def weighed_question(random: Random, held: Held) -> Query:
    """Return a quantile by cell in which records are weighed by any measure (T37)."""
    grouped = _grouped(random, held, _filtered(random, Query()))
    measure, weight = random.choice(MEASURES), random.choice(MEASURES)
    step, own = held.measures[measure].resolution, held.measures[weight].resolution
    return grouped.quantile(
        measure,
        random.choice(["0.5", "0.1", "1/3"]),
        candidates=[step * each for each in (-5, 0, 1, 2, 6, 50)],
        weight=Weighting(weight, at=own * random.choice([1, 20, 10**5])),
        name="weighed",
        rho=random.choice(["0.1", "2"]),
    )


def _filtered(random: Random, asked: Query) -> Query:
    return asked.where(random.choice(_FILTERS)) if random.random() < 0.5 else asked


def _grouped(random: Random, held: Held, asked: Query) -> Query:
    columns = random.sample(DIMENSIONS, random.choice([1, 1, 2]))
    keys = _keys(held, columns[0])
    for name in columns[1:]:
        keys = keys * _keys(held, name)
    return (asked.rollup if random.random() < 0.3 else asked.group_by)(*columns, keys=keys)


def _selecting(random: Random, held: Held, asked: Query) -> Query:
    """Return the query with keys that noise finds, in the data or in a domain."""
    name = random.choice(DIMENSIONS)
    if random.random() < 0.5:
        cells: Any = SelectKeys(rho="0.3", threshold=2, split=_split(random, held), rows_as="rows")
        return asked.group_by(name, keys=cells).count(name="n", rho=1)
    cells = SelectCells(Domain(_keys(held, name)), answer="kept", at_least=1)
    kind = random.choice(["count", "filled", "exact", "clamp"])
    return _answer(random, held, asked.group_by(name, keys=cells), kind, "kept")


def _keys(held: Held, name: str) -> Keys:
    """Return what occurs in a column, and something that does not."""
    found = dict.fromkeys(held.record(row)[name] for row in held.rows)
    never: Any = 999 if held.kinds.get(name) == "int64" else "never"
    return Keys.from_dict({name: [*found, never]})


def _answer(random: Random, held: Held, asked: Query, kind: str, name: str) -> Query:
    measure = random.choice(MEASURES)
    step, rho = held.measures[measure].resolution, random.choice(["0.1", "1/3", "2"])
    match kind:
        case "count":
            return asked.count(name=name, rho=rho)
        case "filled":
            return asked.count(random.choice([measure, "sector"]), name=name, rho=rho)
        case "distinct":
            return asked.count_distinct(random.choice(["firm", "sector"]), name=name, rho=rho)
        case "clamp":
            low = step * random.choice([-50, -2, 0, 1])
            clamp = (low, low + step * random.choice([1, 5, 100, 10**6]))
            return asked.sum(measure, clamp=clamp, name=name, rho=rho)
        case "average":
            return asked.average(measure, split=_split(random, held), name=name, rho=rho)
        case "quantile":
            sizes = random.sample([-50, -5, -1, 0, 1, 2, 5, 6, 50, 10**9], 6)
            candidates = [*(step * each for each in sizes), step * Fraction(7, 2)]
            level = random.choice(["0.5", "0", "1", "0.9", "1/3"])
            return asked.quantile(measure, level, candidates=candidates, name=name, rho=rho)
        case _:
            split = _split(random, held, measure)
            accounting: Any = "exact" if kind == "exact" else "split"
            return asked.sum(measure, split=split, accounting=accounting, name=name, rho=rho)


def _tapered(random: Random, held: Held, asked: Query, kind: str, name: str) -> Query:
    measure, nu = random.choice(MEASURES), random.choice([3, 7])
    rho = random.choice(["0.1", "0.2"])

    def taper() -> Taper:
        return Taper({measure: held.measures[measure].resolution * random.choice([5, 50])}, nu=nu)

    match kind:
        case "average":
            return asked.average(measure, taper=taper(), name=name, rho=(rho, "0.3"))
        case "parts":
            each = {"farm": tapering(taper(), rho=rho), ...: tapering(taper(), rho=rho)}
            return asked.sum(measure, parts=Parts("sector", each), name=name)
        case _:
            return asked.sum(measure, taper=taper(), name=name, rho=rho)


def _split(random: Random, held: Held, *measures: str) -> Split:
    every = measures or MEASURES
    return Split({m: held.measures[m].resolution * random.choice([1, 5, 50]) for m in every})
