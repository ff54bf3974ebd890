"""A lower bound on a loss, from samples of what a mechanism says with a record and without it.

Outputs are counted above fixed cuts, on both sides. Clopper-Pearson gives every share an interval;
all intervals of an audit hold together with the stated confidence. Whatever has shares within
them loses at least as much as is returned here:

    rho      by the divergence (alpha -> 1), which is at most rho. For any function g of the output
             it is at least E[g] - ln E'[exp g] (Donsker and Varadhan), and both means are sums
             over the cuts. And by a single event: of shares p and q, rho is at least
             (sqrt(ln 1/q) - sqrt(ln 1/p))^2, which is T19 read backwards.
    epsilon  by a single event: ln p/q.

Intervals hold for any mechanism, so the bounds do: no law of the noise is assumed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from perrecord.policy.terms import Currency

Floats = npt.NDArray[np.float64]

_LEAST_SEEN = (1, 10, 100, 1000)
"""A cut enters the divergence if so many outputs lie on either side of it: each is tried."""
_RARE = np.array([1e-5, 1e-4, 1e-3])


@dataclass(frozen=True, slots=True)
class Counted:
    """Outputs at or above each of the cuts, which were fixed before these outputs were seen."""

    cuts: Floats
    above: npt.NDArray[np.int64]
    runs: int

    @classmethod
    def nothing(cls, cuts: Floats) -> "Counted":
        """Return that nothing was counted yet."""
        return cls(cuts, np.zeros(len(cuts), dtype=np.int64), 0)

    def with_outputs(self, outputs: Floats) -> "Counted":
        """Return the counts with these outputs added."""
        above = len(outputs) - np.searchsorted(np.sort(outputs), self.cuts, side="left")
        return Counted(self.cuts, self.above + above, self.runs + len(outputs))

    def below(self) -> "Counted":
        """Return the outputs below each of the cuts."""
        return Counted(self.cuts, self.runs - self.above, self.runs)

    def between(self, kept: npt.NDArray[np.bool_]) -> Floats:
        """Return how many outputs lie between those cuts that are kept, and a half more each."""
        edges = np.concatenate([[self.runs], self.above[kept], [0]])
        return np.asarray(edges[:-1] - edges[1:] + 0.5)


@dataclass(frozen=True, slots=True)
class CountedShares:
    """How large a share of the outputs was counted at each cut, as intervals."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, counted: Counted, chance: float) -> "CountedShares":
        """Return Clopper and Pearson's intervals, each end missed with at most this chance."""
        seen, runs = counted.above, counted.runs
        low = special.betaincinv(np.maximum(seen, 1), runs - seen + 1, chance)
        high = special.betainccinv(seen + 1, np.maximum(runs - seen, 1), chance)
        return cls(np.where(seen > 0, low, 0.0), np.where(seen < runs, high, 1.0))


def cuts_from(pilot: Floats, count: int) -> Floats:
    """Return cuts that part the outputs of a pilot run, which is not counted.

    Half of them are spaced by share, half by value, and some more cut off rare outputs. Each is an
    output of the pilot: no two part the same outputs.
    """
    finite = np.sort(pilot[np.isfinite(pilot)])
    shares = np.linspace(0, 1, count // 2 + 2)[1:-1]
    evenly = np.quantile(finite, np.concatenate([shares, _RARE, 1 - _RARE]), method="nearest")
    low, high = np.quantile(finite, [0.002, 0.998])
    values = np.linspace(low, high, count - count // 2)
    places = np.searchsorted(finite, values)
    return np.unique(np.concatenate([evenly, finite[np.minimum(places, len(finite) - 1)]]))


def least_loss(present: Counted, absent: Counted, currency: Currency, chance: float) -> float:
    """Return a loss that the mechanism's own is below with at most this chance."""
    each = chance / (4 * max(len(present.cuts), 1))
    ours, theirs = CountedShares.of(present, each), CountedShares.of(absent, each)
    under = CountedShares.of(present.below(), each), CountedShares.of(absent.below(), each)
    events = [(ours, theirs), (theirs, ours), under, under[::-1]]
    if currency is Currency.EPSILON:
        return _over_events(events, _event_epsilon)
    return max(
        _over_events(events, _event_rho),
        *(_divergence(present, absent, ours, theirs, least) for least in _LEAST_SEEN),
        *(_divergence(absent, present, theirs, ours, least) for least in _LEAST_SEEN),
    )


def _over_events(
    events: Sequence[tuple[CountedShares, CountedShares]], loss: Callable[[float, float], float]
) -> float:
    """Return the largest loss that one event shows: above or below a cut, either way round."""
    return max(
        (loss(p, q) for a, b in events for p, q in zip(a.low, b.high, strict=True) if p > q),
        default=0.0,
    )


def _event_rho(p: float, q: float) -> float:
    return (math.sqrt(-math.log(q)) - math.sqrt(-math.log(p))) ** 2


def _event_epsilon(p: float, q: float) -> float:
    return math.log(p / q)


def _divergence(
    first: Counted, second: Counted, ours: CountedShares, theirs: CountedShares, least: int
) -> float:
    """Return E[g] - ln E'[exp g] at its least within the intervals.

    g is constant between cuts: the log ratio of the numbers counted there. Any g gives a bound,
    also one that the sample suggests, because the intervals hold for all cuts at once.
    """
    sides = (first.above, first.runs - first.above, second.above, second.runs - second.above)
    kept = np.min(sides, axis=0) >= least
    if not kept.any():
        return 0.0
    g = np.log(first.between(kept) / first.runs) - np.log(second.between(kept) / second.runs)
    mean = g[0] + _sum(np.diff(g), ours.low[kept], ours.high[kept])
    powers = np.exp(g)
    other = powers[0] + _sum(np.diff(powers), theirs.high[kept], theirs.low[kept])
    return float(mean - math.log(other))


def _sum(steps: Floats, rising: Floats, falling: Floats) -> float:
    """Return the sum of steps times shares, one end of them where steps rise, else the other."""
    return float(np.sum(steps * np.where(steps >= 0, rising, falling)))
