"""Medians, keys that are found, cells of a domain, mechanisms on rows, workloads (T8, T9, T14)."""

from collections.abc import Iterator
from functools import partial

from perrecord.lab.audit.sample.case import (
    ASKED,
    LOSSES,
    SECTORS,
    Queries,
    RowsMechanism,
    SampledCase,
    grouped,
    record,
)
from perrecord.lab.audit.sample.worlds import BLANK, chosen, weighted
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys


def other_cases() -> Iterator[SampledCase]:
    """Yield what is no plain count or total."""
    yield from _medians()
    yield from _found_keys()
    yield from _cells()
    yield from _rows()
    yield from _workloads()


def _medians() -> Iterator[SampledCase]:
    """Two candidates and one value between: a record above both draws the median to the upper.

    The policy eps^2/8 is the loss to first order, so it is nearly exact while it is small.
    """
    between = ({**BLANK, "firm": 2, "emp": 50},)
    for loss in LOSSES:
        query = ASKED.median("emp", candidates=(0, 100), rho=loss)
        asked = Queries(partial(grouped, query), chosen)
        yield SampledCase("median", record(10**9), asked, between, is_exact=loss == LOSSES[0])
    query = ASKED.quantile("emp", "0.9", candidates=(0, 20, 100, 5000), rho="0.2")
    asked = Queries(partial(grouped, query), chosen)
    yield SampledCase("upper decile", record(10**9), asked, is_exact=False)
    query = ASKED.median("emp", candidates=(0, 100), epsilon=1)
    asked = Queries(partial(grouped, query), chosen)
    pure = Currency.EPSILON
    yield SampledCase(
        "median, epsilon", record(10**9), asked, between, is_exact=False, currency=pure
    )


def _found_keys() -> Iterator[SampledCase]:
    """Every world has rows enough to be published; the number of rows comes with the key."""
    others = ({**BLANK, "firm": 2, "emp": 10**9},)
    for pieces, loss in ((1, LOSSES[2]), (10, LOSSES[1]), (1000, LOSSES[3])):
        rho = loss / 2 / pieces**2
        found = SelectKeys(rho=rho, threshold=1, split=Split(emp=100), rows_as="rows")
        query = ASKED.count(rho=loss / 2).group_by("world", keys=found)
        asked = Queries(partial(_only, query), weighted({"rows": pieces, "count": 1}))
        yield SampledCase("found keys", record(100 * pieces), asked, others)


def _only(query: Query, keys: Keys) -> list[Query]:  # noqa: ARG001 - keys are found
    return [query]


def _cells() -> Iterator[SampledCase]:
    """The attacker sees the number of a cell that passes, and that the others do not.

    A cell that is empty without the record is never visited: whether and with which number it
    appears is drawn for all empty cells together, and must be as for a cell that is visited.
    """
    for at_least in (-1000, 3):
        asked = Queries(partial(_large_cells, at_least), weighted({"count": 1}))
        name = f"cells of a domain from {at_least:,}"
        yield SampledCase(name, record(3), asked, is_exact=at_least < 0)
    for at_least in (0, 1):
        asked = Queries(partial(_large_cells, at_least), weighted({"count": 1}))
        name = f"empty cells of a domain from {at_least}"
        yield SampledCase(name, record(3), asked, (), is_exact=False)
    asked = Queries(_large_totals, weighted({"sum_emp": 500}))
    yield SampledCase("cells of a domain by their total", record(500), asked, (), is_exact=False)


def _large_cells(at_least: int, keys: Keys) -> list[Query]:
    cells = SelectCells(_domain(keys), answer="count", at_least=at_least)
    return [ASKED.count(rho=1).group_by("world", keys=cells)]


def _large_totals(keys: Keys) -> list[Query]:
    cells = SelectCells(_domain(keys), answer="sum_emp", at_least=100)
    return [ASKED.sum("emp", split=Split(emp=250), rho="0.25").group_by("world", keys=cells)]


def _domain(keys: Keys) -> Domain:
    return Domain.from_dict({"world": range(len(keys))})


def _rows() -> Iterator[SampledCase]:
    for pieces, loss in zip((1, 3, 10), LOSSES[1:4], strict=True):
        asked = RowsMechanism(Split(emp=100).capped(1000), loss / pieces**2)
        yield SampledCase("a mechanism on split rows", record(100 * pieces), asked)
    yield SampledCase(
        "a mechanism on rows as they are", record(10**9), RowsMechanism(None, LOSSES[2])
    )


def _workloads() -> Iterator[SampledCase]:
    """Several answers at once: the record loses the sum of all."""
    changes = {"records": 1, "total": 4000, "by_sector": 4000}
    yield SampledCase("a workload of two queries", record(4000), Queries(_two, weighted(changes)))
    changes = {"count": 1, "sum_emp": 500}
    yield SampledCase("a roll-up", record(500), Queries(_rolled_up, weighted(changes)))


def _two(keys: Keys) -> list[Query]:
    return [
        ASKED.group_by("world", keys=keys)
        .count(rho="0.2", name="records")
        .sum("emp", split=Split(emp=2000), rho="0.05", name="total"),
        ASKED.where("sector = 'mine'")
        .group_by("world", "sector", keys=keys * SECTORS)
        .sum("emp", split=Split(emp=500), rho="0.02", name="by_sector"),
    ]


def _rolled_up(keys: Keys) -> list[Query]:
    sets = [("world", "sector"), ("world",)]
    query = ASKED.count(rho="0.3").sum("emp", split=Split(emp=500), rho="0.2")
    return [query.group_by_sets(sets, keys=keys * SECTORS)]
