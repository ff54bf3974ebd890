"""What a change of records costs a quantile, chosen among public candidates (T14, T27, T37)."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest, nsmallest
from itertools import pairwise

from perrecord.errors import InputError
from perrecord.policy.cases import Record
from perrecord.policy.loss import Loss, total
from perrecord.policy.scopes import Scope, Signed
from perrecord.policy.split import measure
from perrecord.policy.terms import Currency
from perrecord.policy.weighing import Weighting


@dataclass(frozen=True, slots=True)
class ChosenCandidate:
    """A quantile: one of public candidates, by the exponential mechanism on records (T14, T38).

    Log ratios vary within a range of eta = eps/(2 max(q, 1-q)) times the widest difference between
    what two candidates' distances from the quantile may change by; it costs f(eta), or eta itself
    in epsilon. With eps = sqrt(8 rho), rounded down, one record costs at most rho. With weights
    distances are sums of them, and eta is divided by the weight that pays the amount (T37).
    """

    amount: Fraction
    measure: str
    level: Fraction
    candidates: tuple[Fraction, ...]
    scope: Scope
    currency: Currency = Currency.RHO
    weight: Weighting | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """What it depends on: the measure, and the one that records are weighed by."""
        return (self.measure,) if self.weight is None else (self.measure, self.weight.measure)

    @property
    def epsilon(self) -> Fraction:
        """The range of log ratios that a record of weight 1 stays within, as the mechanism has it.

        Without weights every record weighs 1.
        """
        return self.currency.log_ratios(self.amount) / (self.weight.at if self.weight else 1)

    def loss(self, records: Sequence[Signed]) -> Loss:
        """Return what a change costs."""
        return total(map(self._in_cell, self.scope.by_cell(records).values()))

    def _in_cell(self, records: list[Signed]) -> Loss:
        values = [
            (sign * self._weight(record), measure(record, self.measure)) for sign, record in records
        ]
        present = [(weight, Fraction(value)) for weight, value in values if value is not None]
        if self.scope.is_certain:
            distance = self._widest(present)
        else:  # any of them may be left out: ranges of single records add up to no less
            distance = sum((self._widest([each]) for each in present), Fraction(0))
        eta = self.epsilon / (2 * max(self.level, 1 - self.level)) * distance
        return self.currency.range_loss(eta)

    def __post_init__(self) -> None:
        if any(one >= other for one, other in pairwise(self.candidates)):
            raise InputError("the candidates of a quantile do not rise.")

    def _weight(self, record: Record) -> Fraction:
        """Return how often the record counts: nothing where its weight is missing or below 0."""
        if self.weight is None:
            return Fraction(1)
        return max(Fraction(measure(record, self.weight.measure) or 0), Fraction(0))

    def _standing(self, values: list[tuple[Fraction, Fraction]]) -> Iterator[tuple[int, Fraction]]:
        """Yield candidates that stand for all, with their places.

        Between two values all candidates change alike, so that two of each stretch are enough.
        """
        places = {0, 1, len(self.candidates) - 2, len(self.candidates) - 1}
        for _, value in values:
            near = bisect_left(self.candidates, value)
            places.update(range(near - 2, near + 3))
        for place in sorted(places):
            if 0 <= place < len(self.candidates):
                yield place, self.candidates[place]

    def _widest(self, values: list[tuple[Fraction, Fraction]]) -> Fraction:
        """Return the most by which the changes of two candidates' distances can differ.

        A candidate's distance is max(0, a, b), a = n_< - q n and b = n_> - (1-q) n. With a and b
        changed by da and db it changes by min(0, da, db) at least and max(0, da, db) at most.
        Values come with what they add to n, or take away.
        """
        values = _net(values)
        if not values:
            return Fraction(0)
        count = sum((weight for weight, _ in values), Fraction(0))
        ups, downs = [], []
        for place, candidate in self._standing(values):
            below = sum(weight for weight, value in values if value < candidate)
            above = sum(weight for weight, value in values if value > candidate)
            moves = (below - self.level * count, above - (1 - self.level) * count, Fraction(0))
            ups.append((max(moves), place))
            downs.append((min(moves), place))
        pairs = (
            up - down
            for up, place in nlargest(2, ups)
            for down, other in nsmallest(2, downs)
            if place != other
        )
        return max(pairs, default=Fraction(0))


def _net(values: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return what values add and take away together; what stays as it is counts for nothing."""
    found: dict[Fraction, Fraction] = {}
    for weight, value in values:
        found[value] = found.get(value, Fraction(0)) + weight
    return [(weight, value) for value, weight in found.items() if weight]
