"""What the black-box audit tries: each mechanism, records of very different sizes, their losses.

Amounts are scaled so that a record loses between 0.05 and 10: less cannot be told from nothing by
a sample, more shows at once. `is_exact` says that the policy is the true loss, so that a good
attack must come close to it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

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
SPACED = SIZES[::4]

_SIZED = tuple(zip(SIZES, LOSSES * 2, strict=True))
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


def _by_world(query: Callable[[Query], Query], changes: dict[str, Fraction | int]) -> Queries:
    """Return a query by world, and the best attack given what the record adds."""
    return Queries(
        lambda keys: [query(Query("worlds").group_by("world", keys=keys))], weighted(changes)
    )


def _counts() -> Iterator[Case]:
    for loss in LOSSES:
        asked = _by_world(lambda q, rho=loss: q.count(rho=rho), {"count": 1})
        yield Case("number of records", _record(3), asked)
    for loss in LOSSES[1::2]:
        asked = _by_world(
            lambda q, rho=loss: q.count_distinct("firm", rho=rho), {"count_distinct_firm": 1}
        )
        yield Case("number of firms", _record(3), asked)


def _totals() -> Iterator[Case]:
    scheme = Split(emp=100)
    for size, loss in _SIZED:
        rho = loss * Fraction(100, size) ** 2
        asked = _by_world(
            lambda q, rho=rho: q.sum("emp", split=scheme, rho=rho, accounting="exact"),
            {"sum_emp": size},
        )
        yield Case("total, exact accounting", _record(size), asked)
    for power, (size, loss) in enumerate(_SIZED):
        threshold = 10 ** (power // 2)
        rho = loss / Fraction(size, threshold) ** 2
        asked = _by_world(
            lambda q, of=threshold, rho=rho: q.sum("emp", split=Split(emp=of), rho=rho),
            {"sum_emp": size},
        )
        yield Case("total, split accounting", _record(size), asked)
    asked = _by_world(lambda q: q.sum("emp", split=scheme, rho=1), {"sum_emp": 60})
    yield Case("total, a record below its threshold", _record(60), asked, is_exact=False)


def _piecewise() -> Iterator[Case]:
    scheme = Split.by("sector", {"mine": Split(emp=50)}, Split(emp=5))
    for size, loss in zip(SPACED, LOSSES[1:], strict=False):
        rho = loss * Fraction(50, size) ** 2
        asked = _by_world(
            lambda q, rho=rho: q.sum("emp", split=scheme, rho=rho, accounting="exact"),
            {"sum_emp": size},
        )
        yield Case("total, thresholds by sector", _record(size), asked)


def _clamped() -> Iterator[Case]:
    for size, loss in zip(SPACED, LOSSES[1:], strict=False):
        asked = _by_world(
            lambda q, of=size, rho=loss: q.sum("emp", clamp=(0, of), rho=rho), {"sum_emp": size}
        )
        yield Case("total, clamped", _record(10 * size), asked)
        parts = Parts(
            "sector",
            {
                "mine": splitting(Split(emp=size), accounting="exact", rho=loss),
                ...: clamping(0, size, rho=loss / 2),
            },
        )
        asked = _by_world(lambda q, of=parts: q.sum("emp", parts=of), {"sum_emp": size})
        yield Case("total, a method for each part", _record(size), asked)


def _averages() -> Iterator[Case]:
    for size, loss in zip(SPACED, LOSSES[1:], strict=False):
        amounts = (loss / 2, loss / 2)
        asked = _by_world(
            lambda q, of=size, rho=amounts: q.average("emp", split=Split(emp=of), rho=rho),
            {"avg_emp": size, "avg_emp_count": 1},
        )
        yield Case("average, split", _record(size), asked)
        asked = _by_world(
            lambda q, of=size, rho=amounts: q.average("emp", clamp=(0, 2 * of), rho=rho),
            {"avg_emp": size, "avg_emp_count": 1},
        )
        yield Case("average, clamped about a centre", _record(10 * size), asked)


def _medians() -> Iterator[Case]:
    """Two candidates and one value between: a record above both draws the median to the upper."""
    between = ({**BLANK, "firm": 2, "emp": 50},)
    for loss in LOSSES:
        asked = Queries(
            lambda keys, rho=loss: [
                Query("worlds")
                .group_by("world", keys=keys)
                .median("emp", candidates=(0, 100), rho=rho)
            ],
            chosen,
        )
        is_small = loss == LOSSES[0]  # eps^2/8 is the loss to first order
        yield Case("median", _record(10**9), asked, between, is_exact=is_small)


def _pure() -> Iterator[Case]:
    for loss in LOSSES[1:]:
        asked = _by_world(lambda q, eps=loss: q.count(epsilon=eps), {"count": 1})
        yield Case("number of records, epsilon", _record(3), asked, currency=Currency.EPSILON)
    for size, loss in zip(SPACED, LOSSES[1:], strict=False):
        asked = _by_world(
            lambda q, of=size, eps=loss: q.sum("emp", split=Split(emp=of), epsilon=eps),
            {"sum_emp": size},
        )
        yield Case("total, epsilon", _record(size), asked, currency=Currency.EPSILON)


def _found_keys() -> Iterator[Case]:
    """Every world has rows enough to be published; the number of rows comes with the key."""
    for pieces, loss in ((1, LOSSES[2]), (10, LOSSES[1]), (1000, LOSSES[3])):
        rho = loss / 2 / pieces**2
        select = SelectKeys(rho=rho, threshold=1, split=Split(emp=100), rows_as="rows")
        asked = Queries(
            lambda _, of=select, rho=loss / 2: [
                Query("worlds").group_by("world", keys=of).count(rho=rho)
            ],
            weighted({"rows": pieces, "count": 1}),
        )
        others = ({**BLANK, "firm": 2, "emp": 10**9},)
        yield Case("found keys", _record(100 * pieces), asked, others)


def _cells() -> Iterator[Case]:
    """The attacker sees the number of a cell that passes, and that the others do not."""
    for at_least, is_exact in ((-1000, True), (3, False)):
        asked = Queries(
            lambda keys, least=at_least: [
                Query("worlds")
                .group_by(
                    "world",
                    keys=SelectCells(
                        Domain.from_dict({"world": range(len(keys))}),
                        answer="count",
                        at_least=least,
                    ),
                )
                .count(rho=1)
            ],
            weighted({"count": 1}),
        )
        yield Case(f"cells of a domain from {at_least:,}", _record(3), asked, is_exact=is_exact)


def _rows() -> Iterator[Case]:
    for pieces, loss in zip((1, 3, 10), LOSSES[1:], strict=False):
        asked = OnRows(Split(emp=100).capped(1000), loss / pieces**2)
        yield Case("a mechanism on split rows", _record(100 * pieces), asked)


def _workload() -> Case:
    """Two queries at once, one of them by sector too: the record loses the sum of all."""
    fine, coarse = Split(emp=500), Split(emp=2000)

    def make(keys: Keys) -> list[Query]:
        sectors = Keys.from_dict({"sector": ["mine"]})
        return [
            Query("worlds")
            .group_by("world", keys=keys)
            .count(rho="0.2", name="records")
            .sum("emp", split=coarse, rho="0.05", name="total"),
            Query("worlds")
            .where("sector = 'mine'")
            .group_by("world", "sector", keys=keys * sectors)
            .sum("emp", split=fine, rho="0.02", name="by_sector"),
        ]

    changes = {"records": 1, "total": 4000, "by_sector": 4000}
    return Case("a workload of two queries", _record(4000), Queries(make, weighted(changes)))
