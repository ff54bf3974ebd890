"""The example's industries: with what chance each is found, and what that costs its giant (T9)."""

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

import perrecord
from perrecord import DiscreteGaussian, Policy, Query, SelectKeys, Session, Split
from perrecord.lab.experiments.keys.optimal import optimal_chances
from perrecord.policy.meaning import Meaning, meaning_of_answer
from perrecord.queries.plan import plan
from perrecord.report.numbers import amount

MEASURE = "employees"


@dataclass(frozen=True, slots=True)
class Industry:
    """The employees of each establishment of an industry."""

    name: str
    employees: tuple[int, ...]

    @property
    def giant(self) -> int:
        """The employees of its largest establishment."""
        return max(self.employees)


@dataclass(frozen=True, slots=True)
class Selecting:
    """A way of finding keys: rho, the delta of an unsplit record, and a threshold or no split."""

    rho: str
    delta: str
    threshold: int | None = None

    @property
    def name(self) -> str:
        """What it is called in figures and tables."""
        return "unsplit" if self.threshold is None else f"split by {self.threshold:,}"

    @property
    def split(self) -> Split | None:
        """The scheme that cuts establishments into pieces."""
        return None if self.threshold is None else Split(**{MEASURE: self.threshold})

    @property
    def keys(self) -> SelectKeys:
        """The same for a query."""
        return SelectKeys(rho=self.rho, delta=self.delta, split=self.split)

    @property
    def policy(self) -> Policy:
        """What the selection costs: rho m^2, with delta(m) = Pr[Z >= tau - m]."""
        return Policy.selection(
            self.rho, ["industry"], split=self.split, threshold=self.keys.threshold
        )

    @property
    def law(self) -> DiscreteGaussian:
        """The noise on the number of pieces."""
        return DiscreteGaussian.for_zcdp(self.rho)

    def pieces(self, employees: int) -> int:
        """Return how many rows an establishment makes."""
        return 1 if self.split is None else self.split.pieces({MEASURE: employees})

    def chance_of(self, rows: int) -> float:
        """Return Pr[rows + Z >= tau], for a key that has any rows."""
        return float(self.law.tail(self.keys.threshold - rows))

    def chance(self, industry: Industry) -> float:
        """Return the chance that an industry is found."""
        return self.chance_of(sum(map(self.pieces, industry.employees)))

    def loss(self, employees: int) -> Fraction:
        """Return what finding the keys costs an establishment, in rho."""
        return self.policy.loss(_record(employees))

    def revealed(self, employees: int) -> float:
        """Return delta(r): the chance that an establishment alone in its industry shows it."""
        return float(self.policy.delta(_record(employees)))

    def meaning(self) -> Meaning[float]:
        """Return (epsilon, delta) of an unsplit record: T18's bound, with delta(1) added (T9)."""
        return self.policy.meaning(_record(1), delta=self.delta)

    def own_epsilon(self) -> float:
        """Return the epsilon of an unsplit record by the law of the noise itself (T18)."""
        epsilon = meaning_of_answer(1, self.law.sigma_squared, delta=self.delta).epsilon
        assert isinstance(epsilon, float)  # noqa: S101 - one answer has one epsilon
        return epsilon


@dataclass(frozen=True, slots=True)
class Optimum:
    """Optimal selection at an (epsilon, delta), and where its epsilon is from."""

    ground: str
    epsilon: float
    delta: float

    @property
    def name(self) -> str:
        """What it is called in figures and tables."""
        return f"optimal, ε = {amount(self.epsilon)} ({self.ground})"

    def chances(self, most: int) -> list[float]:
        """Return the chance of a key with 0 to so many records."""
        return optimal_chances(self.epsilon, self.delta, most)


def optima(unsplit: Selecting) -> tuple[Optimum, Optimum]:
    """Return optimal selection at the (epsilon, delta) of a selection, by both grounds of T18."""
    meaning = unsplit.meaning()
    epsilon, delta = float(meaning.epsilon), float(meaning.delta)
    return (
        Optimum("generic bound", epsilon, delta),
        Optimum("law of the noise", unsplit.own_epsilon(), delta),
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """How often industries were found in how many regions, by real draws."""

    selecting: Selecting
    copies: int
    shares: dict[str, float]


def drawn_shares(
    industries: tuple[Industry, ...], selecting: Selecting, copies: int, count_rho: str
) -> dict[str, float]:
    """Return how often each industry was found, in as many regions as copies.

    One table in which every region has the same establishments is asked, through a session, for
    COUNT(*) by region and industry: a charge, real noise, and the keys that come out.
    """
    rows = [(each.name, value) for each in industries for value in each.employees]
    names, values = zip(*rows, strict=True)
    source = pa.table(
        {
            "region": np.repeat(np.arange(copies), len(rows)),
            "industry": list(names) * copies,
            MEASURE: list(values) * copies,
        }
    )
    query = (
        Query("establishments")
        .group_by("region", "industry", keys=selecting.keys)
        .count(rho=count_rho)
    )
    with (
        perrecord.table(
            source,
            name="establishments",
            dimensions=["region", "industry"],
            measures=[MEASURE],
        ) as opened,
        tempfile.TemporaryDirectory() as folder,
    ):
        session = Session(
            opened,
            ledger=Path(folder) / "example.ledger",
            budget=plan(query, opened.schema).policy,
            new=True,
        )
        found = session.ask(query).keys["industry"].to_pylist()
    return {each.name: found.count(each.name) / copies for each in industries}


def _record(employees: int) -> dict[str, object]:
    return {"industry": "any", MEASURE: employees}
