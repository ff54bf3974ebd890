"""Tapered totals and averages: Student noise on exact integers (T26)."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from perrecord.lab.audit.sample.case import (
    ASKED,
    LOSSES,
    SIZES,
    Queries,
    SampledCase,
    grouped_by_sector,
    record,
)
from perrecord.lab.audit.sample.worlds import OTHER, OWN, likeliest
from perrecord.policy.terms import Currency
from perrecord.queries.methods import Taper
from perrecord.queries.methods.parts import Parts, tapering
from perrecord.queries.query import Query

_SMALL = LOSSES[:2]
"""Losses at which the policy is nearly the true loss: it is so to first order in the size."""


def tapered_cases() -> Iterator[SampledCase]:
    """Yield tapered answers: small shifts, where the policy is all but exact, and large ones."""
    for loss in reversed(_SMALL):
        yield _total("total, tapered", 1000, 1000, loss)
        yield _total("total, tapered, nu = 3", 1000, 1000, loss, nu=3)
    yield _total("total, tapered, a negative value", -500, 1000, Fraction(1, 2), is_exact=True)
    yield _total("total, tapered, a large record", SIZES[6], 1000, Fraction(1, 5), is_exact=False)
    yield _total("total, tapered, loss of 4", 1000, 1000, LOSSES[3], is_exact=False)
    parts = Parts(
        "sector",
        {
            OWN: tapering(Taper(emp=1000), rho=_SMALL[1]),
            OTHER: tapering(Taper(emp=100, nu=3), rho=1),
        },
    )
    yield _case("total, a taper for each sector", 1000, ASKED.sum("emp", parts=parts), sum_emp=1000)
    query = ASKED.average("emp", taper=1000, rho=(Fraction(1, 10), Fraction(1, 10)))
    yield _case("average, tapered", 1000, query, avg_emp=1000, avg_emp_count=1)
    pure = Currency.EPSILON
    for nu in (3, 7):
        query = ASKED.sum("emp", taper=Taper(emp=1000, nu=nu), epsilon=1)
        name = f"total, tapered, nu = {nu}, epsilon"
        yield _case(name, 1000, query, currency=pure, sum_emp=1000)


def _total(
    name: str, size: int, at: int, loss: Fraction, *, nu: int = 7, is_exact: bool = True
) -> SampledCase:
    query = ASKED.sum("emp", taper=Taper(emp=at, nu=nu), rho=loss)
    return _case(name, size, query, is_exact=is_exact, sum_emp=size)


def _case(
    name: str,
    size: int,
    query: Query,
    *,
    is_exact: bool = True,
    currency: Currency = Currency.RHO,
    **changes: int,
) -> SampledCase:
    """Return a case in which the record is alone in its cell, so that the rest of it is noise."""
    asked = Queries(partial(grouped_by_sector, query), likeliest(changes))
    return SampledCase(name, record(size), asked, is_exact=is_exact, currency=currency)
