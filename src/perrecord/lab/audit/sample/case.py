"""What a case of the black-box audit is: a mechanism, a record, and an attack on it.

Amounts are scaled so that a record loses between 0.05 and 10: less cannot be told from nothing by
a sample, more shows at once. `is_exact` says that the policy is the true loss, so that a good
attack must come close to it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from perrecord.lab.audit.sample.worlds import (
    BLANK,
    OTHER,
    OWN,
    Attack,
    Outputs,
    Row,
    numbers_of,
    rows_in_each,
    weighted,
)
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.session import Session
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema

LOSSES = (Fraction(1, 20), Fraction(1, 5), Fraction(1), Fraction(4), Fraction(10))
SIZES = tuple(10**power for power in range(10))
"""Of a record's measure: nine orders of magnitude."""
SIZED = tuple(zip(SIZES, LOSSES * 2, strict=True))
"""Every size, with a loss of its own."""
SPACED = tuple(zip((SIZES[0], SIZES[4], SIZES[9]), LOSSES[1:4], strict=True))
"""Three sizes over the same range."""
SECTORS = Keys.from_dict({"sector": [OTHER, OWN]})
ASKED = Query("worlds")

_OTHERS = tuple({**BLANK, "firm": 2, "sector": OTHER, "emp": value} for value in (7, None, 1000))


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
class RowsMechanism:
    """Any zCDP mechanism on rows, split or as they are: here a noisy number of them (T8)."""

    split: Scheme | None
    rho: Fraction

    def policy(self, schema: Schema, worlds: int) -> Policy:  # noqa: ARG002 - as of Queries
        """Return rho * pieces^2, or rho."""
        if self.split is None:
            return Policy.constant(self.rho)
        return Policy.split(self.rho, self.split)

    def outputs(self, session: Session, worlds: int) -> Outputs:
        """Run it once; return its number for each world."""
        mechanism = rows_in_each(self.rho, worlds)
        if self.split is None:
            found = session.run(mechanism, columns=["world"], rho=self.rho)
        else:
            found = session.run_on_split_rows(
                mechanism, self.split, columns=["world"], rho=self.rho
            )
        return found.result


@dataclass(frozen=True, slots=True)
class SampledCase:
    """A mechanism, a record and an attack on it; the other records are there on both sides.

    The record is there or not, or it is replaced by the record `instead` (T27).
    """

    name: str
    record: Row
    asked: Queries | RowsMechanism
    others: tuple[Row, ...] = _OTHERS
    is_exact: bool = True
    currency: Currency = Currency.RHO
    instead: Row | None = None

    @property
    def sides(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The records on both sides, first those with the record."""
        without = self.others if self.instead is None else (*self.others, self.instead)
        return (*self.others, self.record), without

    def stated(self, policy: Policy) -> Fraction:
        """Return what a policy says that the two sides cost."""
        if self.instead is None:
            return policy.loss({**self.record, "world": 0})
        both = ({**each, "world": 0} for each in (self.record, self.instead))
        return policy.change(*both, of_totals=True)


def record(size: int) -> Row:
    """Return a record of this size, alone of its firm and sector."""
    return {"firm": 1, "sector": OWN, "emp": size, "fives": size}


def by_world(query: Query, changes: Mapping[str, int]) -> Queries:
    """Return a query for each world, and the best attack given what the record adds."""
    return Queries(partial(grouped, query), weighted(changes))


def by_sector(query: Query, changes: Mapping[str, int]) -> Queries:
    """Return a query for each sector of each world, and the attack on the record's own."""
    return Queries(partial(grouped_by_sector, query), weighted(changes))


def grouped(query: Query, keys: Keys) -> list[Query]:
    """Return the query for each world."""
    return [query.group_by("world", keys=keys)]


def grouped_by_sector(query: Query, keys: Keys) -> list[Query]:
    """Return the query for each sector of each world."""
    return [query.group_by("world", "sector", keys=keys * SECTORS)]
