"""Quantiles with real noise: candidates are chosen as often as their scores say (T14)."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from perrecord.lab.audit.utility.laws import Floats, counts_chance, normal_chance
from perrecord.lab.audit.utility.worlds import ChanceTest, World


@dataclass(frozen=True, slots=True)
class QuantileCase:
    """A quantile: its level, and its price in rho or epsilon."""

    name: str
    level: Fraction
    currency: str
    amount: Fraction

    @property
    def epsilon(self) -> float:
        """The range of the log ratios that the price pays for."""
        return sqrt(8 * self.amount) if self.currency == "rho" else float(self.amount)


QUANTILES = (
    QuantileCase("median", Fraction(1, 2), "rho", Fraction(1, 2)),
    QuantileCase("median, epsilon", Fraction(1, 2), "epsilon", Fraction(3)),
    QuantileCase("third", Fraction(1, 3), "rho", Fraction(1)),
    QuantileCase("last tenth", Fraction(9, 10), "rho", Fraction(1, 8)),
    QuantileCase("least", Fraction(0), "rho", Fraction(1)),
    QuantileCase("greatest", Fraction(1), "rho", Fraction(2)),
)
CANDIDATES = (-4, -1, 0, 2, 3, 5, 9, 12, 17)


def quantile_tests(world: World, case: QuantileCase, seed: int) -> Iterator[ChanceTest]:
    """Yield how often each candidate is chosen, and how surprising the choices are in sum.

    Too sharp or too blunt a choice shows in the sum first.
    """
    price: dict[str, Any] = {case.currency: case.amount}
    found = world.answers(
        lambda q: q.quantile("emp", case.level, candidates=CANDIDATES, name="x", **price), seed
    )
    seen, expected = np.zeros(len(CANDIDATES)), np.zeros(len(CANDIDATES))
    known: dict[tuple[int | None, ...], Floats] = {}
    surprise = variance = 0.0
    meant = world.truth("list(emp ORDER BY emp)")
    for value, held in zip(found.table["x"].to_pylist(), meant, strict=True):
        key, place = tuple(held), CANDIDATES.index(value)
        if key not in known:
            known[key] = chances([each for each in key if each is not None], case)
        own, bits = known[key], -np.log(known[key])
        seen[place] += 1
        expected += own
        mean = float(own @ bits)
        surprise += float(bits[place]) - mean
        variance += float(own @ bits**2) - mean**2
    shares = expected / expected.sum()
    yield ChanceTest(f"quantile, {case.name}: its candidates", counts_chance(seen, shares))
    chance = normal_chance(surprise / sqrt(variance))
    yield ChanceTest(f"quantile, {case.name}: its sharpness", chance)


def chances(held: list[int], case: QuantileCase) -> Floats:
    """Return the probability of each candidate: exp(-eps score / (2 max(q, 1 - q))), normalised."""
    level, other = float(case.level), float(1 - case.level)
    scores = [
        max(
            0.0,
            sum(each < candidate for each in held) - level * len(held),
            sum(each > candidate for each in held) - other * len(held),
        )
        for candidate in CANDIDATES
    ]
    weights = np.exp(-case.epsilon * np.array(scores) / (2 * max(level, other)))
    return np.asarray(weights / weights.sum())
