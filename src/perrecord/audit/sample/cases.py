"""What the black-box audit tries: each mechanism, records of very different sizes, their losses.

Amounts are scaled so that a record loses between 0.05 and 10: less cannot be told from nothing by
a sample, more shows at once. `is_exact` says that the policy is the true loss, so that a good
attack must come close to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from perrecord.audit.sample.worlds import (
    BLANK,
    Attack,
    Outputs,
    Row,
    chosen,
    numbers_of,
    rows_in_each,
    weighted,
)
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme, Split
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.parts import Parts, clamping, splitting
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.session import Session
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema

LOSSES = (Fraction(1, 20), Fraction(1, 5), Fraction(1), Fraction(4), Fraction(10))
SIZES = tuple(10**power for power in range(10))
"""Of a record's measure: nine orders of magnitude."""

_SIZED = tuple(zip(SIZES, LOSSES * 2, strict=True))
_SPACED = tuple(zip(SIZES[::4], LOSSES[1:4], strict=True))
_OTHERS = tuple({**BLANK, "firm": 2, "sector": "farm", "emp": value} for value in (7, None, 1000))


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries about each world, and the attack on their answers."""

    make: Callable[[Keys], Sequence[Query]]
    attack: Attack

    def policy(self, schema: Schema, worlds: int) -> Policy:
        """Return the policy of the queries together."""
        return plan(self.make(numbers_of(worlds)), schema).policy

    def outputs(self, session: Session, worlds: int) -> Outputs:
        """Ask once; return the attacker's number for each world."""
        found = session.ask(self.make(numbers_of(worlds)))
        return self.attack(found if isinstance(found, list) else [found], worlds)


@dataclass(frozen=True, slots=True)
class OnRows:
    """Any zCDP mechanism on split rows, here a noisy number of rows (T8)."""

    split: Scheme
    rho: Fraction

    def policy(self, schema: Schema, worlds: int) -> Policy:  # noqa: ARG002 - as of Queries
        """Return rho * pieces^2."""
        return Policy.split(self.rho, self.split)

    def outputs(self, session: Session, worlds: int) -> Outputs:
        """Run it once; return its number for each world."""
        mechanism = rows_in_each(self.rho, worlds)
        found = session.run_on_split_rows(mechanism, self.split, columns=["world"], rho=self.rho)
        return found.result  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism, a record and an attack on it; the other records are there on both sides."""

    name: str
    record: Row
    asked: Queries | OnRows
    others: tuple[Row, ...] = _OTHERS
    is_exact: bool = True
    currency: Currency = Currency.RHO


def every_case() -> Iterator[Case]:
    """Yield all cases."""
    yield from _counts()
    yield from _totals()
    yield from _piecewise()
    yield from _clamped()
    yield from _averages()
    yield from _medians()
    yield from _pure()
    yield from _found_keys()
    yield from _cells()
    yield from _rows()
    yield _workload()


def _record(size: int, sector: str = "mine") -> Row:
    return {"firm": 1, "sector": sector, "emp": size}


def _by_world(query: Query, changes: Mapping[str, int]) -> Queries:
    """Return a query for each world, and the best attack given what the record adds."""
    return Queries(partial(_grouped, query), weighted(changes))


_ASKED = Query("worlds")


def _counts() -> Iterator[Case]:
    for loss in LOSSES:
        yield Case("number of records", _record(3), _by_world(_ASKED.count(rho=loss), {"count": 1}))
    for loss in LOSSES[1::2]:
        query = _ASKED.count_distinct("firm", rho=loss, name="firms")
        yield Case("number of firms", _record(3), _by_world(query, {"firms": 1}))


def _total(name: str, record: int, query: Query, change: int, **options: Any) -> Case:
    """Return a case of one total, which the record changes by so much."""
    return Case(name, _record(record), _by_world(query, {"sum_emp": change}), **options)


def _totals() -> Iterator[Case]:
    scheme = Split(emp=100)
    for size, loss in _SIZED:
        rho = loss * Fraction(100, size) ** 2
        query = _ASKED.sum("emp", split=scheme, rho=rho, accounting="exact")
        yield _total("total, exact accounting", size, query, size)
    for power, (size, loss) in enumerate(_SIZED):
        threshold = 10 ** (power // 2)
        rho = loss / Fraction(size, threshold) ** 2
        query = _ASKED.sum("emp", split=Split(emp=threshold), rho=rho)
        yield _total("total, split accounting", size, query, size)
    query = _ASKED.sum("emp", split=scheme, rho=1)
    yield _total("total, a record below its threshold", 60, query, 60, is_exact=False)


def _piecewise() -> Iterator[Case]:
    scheme = Split.by("sector", {"mine": Split(emp=50)}, Split(emp=5))
    for size, loss in _SPACED:
        rho = loss * Fraction(50, size) ** 2
        query = _ASKED.sum("emp", split=scheme, rho=rho, accounting="exact")
        yield _total("total, thresholds by sector", size, query, size)


def _clamped() -> Iterator[Case]:
    for size, loss in _SPACED:
        query = _ASKED.sum("emp", clamp=(0, size), rho=loss)
        yield _total("total, clamped", 10 * size, query, size)
        parts = Parts(
            "sector",
            {
                "mine": splitting(Split(emp=size), accounting="exact", rho=loss),
                ...: clamping(0, size, rho=loss / 2),
            },
        )
        yield _total("total, a method for each part", size, _ASKED.sum("emp", parts=parts), size)


def _averages() -> Iterator[Case]:
    """The total and the count behind an average, each at half of the loss."""
    for size, loss in _SPACED:
        changes = {"avg_emp": size, "avg_emp_count": 1}
        query = _ASKED.average("emp", split=Split(emp=size), rho=(loss / 2, loss / 2))
        yield Case("average, split", _record(size), _by_world(query, changes))
        query = _ASKED.average("emp", clamp=(0, 2 * size), rho=(loss / 2, loss / 2))
        record = _record(10 * size)
        yield Case("average, clamped about a centre", record, _by_world(query, changes))


def _medians() -> Iterator[Case]:
    """Two candidates and one value between: a record above both draws the median to the upper.

    The policy eps^2/8 is the loss to first order, so it is nearly exact while it is small.
    """
    between = ({**BLANK, "firm": 2, "emp": 50},)
    for loss in LOSSES:
        query = _ASKED.median("emp", candidates=(0, 100), rho=loss)
        asked = Queries(partial(_grouped, query), chosen)
        yield Case("median", _record(10**9), asked, between, is_exact=loss == LOSSES[0])


def _grouped(query: Query, keys: Keys) -> list[Query]:
    return [query.group_by("world", keys=keys)]


def _pure() -> Iterator[Case]:
    for loss in LOSSES[1:]:
        asked = _by_world(_ASKED.count(epsilon=loss), {"count": 1})
        yield Case("number of records, epsilon", _record(3), asked, currency=Currency.EPSILON)
    for size, loss in _SPACED:
        query = _ASKED.sum("emp", split=Split(emp=size), epsilon=loss)
        yield _total("total, epsilon", size, query, size, currency=Currency.EPSILON)


def _found_keys() -> Iterator[Case]:
    """Every world has rows enough to be published; the number of rows comes with the key."""
    others = ({**BLANK, "firm": 2, "emp": 10**9},)
    for pieces, loss in ((1, LOSSES[2]), (10, LOSSES[1]), (1000, LOSSES[3])):
        rho = loss / 2 / pieces**2
        found = SelectKeys(rho=rho, threshold=1, split=Split(emp=100), rows_as="rows")
        query = _ASKED.count(rho=loss / 2).group_by("world", keys=found)
        asked = Queries(partial(_only, query), weighted({"rows": pieces, "count": 1}))
        yield Case("found keys", _record(100 * pieces), asked, others)


def _only(query: Query, keys: Keys) -> list[Query]:  # noqa: ARG001 - keys are found
    return [query]


def _cells() -> Iterator[Case]:
    """The attacker sees the number of a cell that passes, and that the others do not."""
    for at_least in (-1000, 3):
        asked = Queries(partial(_large_cells, at_least), weighted({"count": 1}))
        yield Case(f"cells of a domain from {at_least:,}", _record(3), asked, is_exact=at_least < 0)


def _large_cells(at_least: int, keys: Keys) -> list[Query]:
    domain = Domain.from_dict({"world": range(len(keys))})
    cells = SelectCells(domain, answer="count", at_least=at_least)
    return [_ASKED.count(rho=1).group_by("world", keys=cells)]


def _rows() -> Iterator[Case]:
    for pieces, loss in zip((1, 3, 10), LOSSES[1:], strict=False):
        asked = OnRows(Split(emp=100).capped(1000), loss / pieces**2)
        yield Case("a mechanism on split rows", _record(100 * pieces), asked)


def _workload() -> Case:
    """Two queries at once, one of them by sector too: the record loses the sum of all."""
    changes = {"records": 1, "total": 4000, "by_sector": 4000}
    return Case("a workload of two queries", _record(4000), Queries(_two, weighted(changes)))


def _two(keys: Keys) -> list[Query]:
    sectors = Keys.from_dict({"sector": ["mine"]})
    return [
        _ASKED.group_by("world", keys=keys)
        .count(rho="0.2", name="records")
        .sum("emp", split=Split(emp=2000), rho="0.05", name="total"),
        _ASKED.where("sector = 'mine'")
        .group_by("world", "sector", keys=keys * sectors)
        .sum("emp", split=Split(emp=500), rho="0.02", name="by_sector"),
    ]
