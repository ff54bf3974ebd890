"""Counts, totals and averages: Gaussian and Laplace noise on exact integers (T10 to T13, T16)."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from perrecord.lab.audit.sample.case import (
    ASKED,
    LOSSES,
    SIZED,
    SPACED,
    Queries,
    SampledCase,
    by_sector,
    by_world,
    grouped,
    grouped_by_sector,
    record,
)
from perrecord.lab.audit.sample.worlds import OTHER, OWN, beside, between
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency
from perrecord.queries.methods.parts import Parts, clamping, splitting
from perrecord.queries.query import Query


def additive_cases() -> Iterator[SampledCase]:
    """Yield every way to add up or to count."""
    yield from _counts()
    yield from _totals()
    yield from _by_sector()
    yield from _clamped()
    yield from _averages()
    yield from _pure()
    yield from _shared_noise()


def _counts() -> Iterator[SampledCase]:
    for loss in LOSSES:
        yield SampledCase(
            "number of records", record(3), by_world(ASKED.count(rho=loss), {"count": 1})
        )
    for loss in LOSSES[1::2]:
        query = ASKED.count_distinct("firm", rho=loss, name="firms")
        yield SampledCase("number of firms", record(3), by_world(query, {"firms": 1}))
    query = ASKED.count("emp", rho=1, name="filled")
    yield SampledCase("number of values", record(3), by_world(query, {"filled": 1}))
    query = ASKED.count(by="sector", rho={OWN: 1, ...: "0.3"})
    yield SampledCase("number of records, rho by sector", record(3), by_sector(query, {"count": 1}))


def _total(name: str, size: int, query: Query, change: int, **options: Any) -> SampledCase:
    """Return a case of one total, which the record changes by so much."""
    return SampledCase(name, record(size), by_world(query, {"sum_emp": change}), **options)


def _totals() -> Iterator[SampledCase]:
    scheme = Split(emp=100)
    for size, loss in SIZED:
        rho = loss * Fraction(100, size) ** 2  # the record's loss is what matters, not the amount
        query = ASKED.sum("emp", split=scheme, rho=rho, accounting="exact")
        yield _total("total, exact accounting", size, query, size)
    for power, (size, loss) in enumerate(SIZED):
        threshold = 10 ** (power // 2)
        rho = loss / Fraction(size, threshold) ** 2
        query = ASKED.sum("emp", split=Split(emp=threshold), rho=rho)
        yield _total("total, split accounting", size, query, size)
    query = ASKED.sum("emp", split=scheme, rho="0.01")
    yield _total("total, a negative value", -1000, query, -1000)
    yield _total(
        "total, a record below its threshold",
        60,
        ASKED.sum("emp", split=scheme, rho=1),
        60,
        is_exact=False,
    )
    query = ASKED.sum("fives", split=Split(fives=50), rho="0.01", name="total")
    yield SampledCase("total, in steps of five", record(500), by_world(query, {"total": 500}))


def _by_sector() -> Iterator[SampledCase]:
    """Thresholds and methods by sector: one noise for all cells, or each cell its own (T11)."""
    scheme = Split.by("sector", {OWN: Split(emp=50)}, Split(emp=5))
    small = Split.by("sector", {OWN: Split(emp=5)}, Split(emp=500))
    for size, loss in SPACED:
        rho = loss * Fraction(50, size) ** 2
        query = ASKED.sum("emp", split=scheme, rho=rho, accounting="exact")
        yield _total("total, thresholds by sector", size, query, size)
        rho = loss * Fraction(5, size) ** 2
        query = ASKED.sum("emp", split=small, rho=rho, accounting="exact")
        asked = by_sector(query, {"sum_emp": size})
        yield SampledCase("total, noise by sector", record(size), asked)
        parts = Parts(
            "sector",
            {
                OWN: splitting(Split(emp=size), accounting="exact", rho=loss),
                OTHER: clamping(0, size, rho=loss / 2),
            },
        )
        asked = by_sector(ASKED.sum("emp", parts=parts), {"sum_emp": size})
        yield SampledCase("total, a method for each sector", record(size), asked)


def _clamped() -> Iterator[SampledCase]:
    for size, loss in SPACED:
        query = ASKED.sum("emp", clamp=(0, size), rho=loss)
        yield _total("total, clamped", 10 * size, query, size)
        query = ASKED.sum("emp", clamp=(-size, 0), rho=loss)
        yield _total("total, clamped below zero", -10 * size, query, -size)


def _averages() -> Iterator[SampledCase]:
    """The total and the count behind an average, each at half of the loss."""
    for size, loss in SPACED:
        changes = {"avg_emp": size, "avg_emp_count": 1}
        query = ASKED.average("emp", split=Split(emp=size), rho=(loss / 2, loss / 2))
        yield SampledCase("average, split", record(size), by_world(query, changes))
        query = ASKED.average("emp", clamp=(0, 2 * size), rho=(loss / 2, loss / 2))
        yield SampledCase(
            "average, clamped about a centre", record(10 * size), by_world(query, changes)
        )


def _pure() -> Iterator[SampledCase]:
    """One answer each: their losses are the largest log ratio."""
    for loss in LOSSES[1:]:
        asked = by_world(ASKED.count(epsilon=loss), {"count": 1})
        yield SampledCase("number of records, epsilon", record(3), asked, currency=Currency.EPSILON)
    for size, loss in SPACED:
        query = ASKED.sum("emp", split=Split(emp=size), epsilon=loss)
        yield _total("total, epsilon", size, query, size, currency=Currency.EPSILON)
        query = ASKED.sum("emp", clamp=(-size, size), epsilon=loss)
        yield _total("total, clamped, epsilon", -size, query, -size, currency=Currency.EPSILON)


def _shared_noise() -> Iterator[SampledCase]:
    """Differences of what has the same law: they give half, and all if noise were shared."""
    asked = Queries(partial(grouped_by_sector, ASKED.count(rho=1)), beside)
    yield SampledCase("two cells, one less the other", record(3), asked, is_exact=False)
    query = ASKED.count(rho=1, name="first").count("sector", rho=1, name="second")
    nameless = {**record(3), "sector": None}
    asked = Queries(partial(grouped, query), between)
    yield SampledCase("two answers, one less the other", nameless, asked, is_exact=False)
