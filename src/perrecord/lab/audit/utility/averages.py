"""Averages with real noise: each is its total over its count; intervals cover as they say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from perrecord.lab.audit.utility.laws import rate_chance
from perrecord.lab.audit.utility.worlds import CONFIDENCE, ChanceTest, World
from perrecord.policy.split import Split
from perrecord.queries.query import Query
from perrecord.released.columns import Ratio


@dataclass(frozen=True, slots=True)
class AverageCase:
    """An average, and the value in SQL that it is the average of."""

    name: str
    ask: Callable[[Query], Query]
    value: str


_CLAMPED = "CASE WHEN emp < -2 THEN -2 WHEN emp > 10 THEN 10 ELSE emp END"
_SPLIT = Split(emp=6, rent="0.5")
AVERAGES = (
    AverageCase(
        "average, noise of about a step",
        lambda q: q.average("emp", split=_SPLIT, name="x", rho=(18, 5)),
        "emp",
    ),
    AverageCase(
        "average, hardly any noise in the count",
        lambda q: q.average("rent", split=_SPLIT, name="x", rho=(12, 50)),
        "rent",
    ),
    AverageCase(
        "average, a certain count",
        lambda q: q.average("emp", split=_SPLIT, name="x", rho=(25, 1000)),
        "emp",
    ),
    AverageCase(
        "average, much noise",
        lambda q: q.average("emp", split=_SPLIT, name="x", rho="0.5"),
        "emp",
    ),
    AverageCase(
        "average, epsilon",
        lambda q: q.average("emp", split=_SPLIT, name="x", epsilon=(6, 4)),
        "emp",
    ),
    AverageCase(
        "average, tapered",
        lambda q: q.average("emp", taper=20, name="x", rho=(5, 5)),
        "emp",
    ),
    AverageCase(
        "average, clamped",
        lambda q: q.average("emp", clamp=(-2, 10), name="x", rho=(36, 5)),
        _CLAMPED,
    ),
)


def average_tests(world: World, case: AverageCase, seed: int) -> Iterator[ChanceTest]:
    """Yield the tests of one kind of average.

    A count is taken as 1 at least. An interval without an end reaches as far as it likes.
    """
    found = world.answers(case.ask, seed)
    column = found.columns[0]
    assert isinstance(column, Ratio)  # noqa: S101 - which averages are
    shown = found.with_errors(str(CONFIDENCE))
    totals = column.total.numbers.astype(np.float64) * float(column.total.step)
    counts = np.maximum(column.count.numbers.astype(np.float64), 1)
    wanted = float(column.centre) + totals / counts
    is_same = bool(np.allclose(np.asarray(shown["x"]), wanted, rtol=1e-12, atol=1e-12))
    fault = None if is_same else "it is another number"
    yield ChanceTest(f"{case.name}: its total over its count", 1.0, fault)
    meant = world.truth(f"avg({case.value})")
    truth = np.array([np.nan if each is None else float(each) for each in meant])
    low, high = (shown[f"x_{end}"].to_numpy() for end in ("low", "high"))
    held = ~np.isnan(truth)
    outside = (low[held] > truth[held]) | (truth[held] > high[held])
    chance = rate_chance(int((~outside).sum()), len(outside), CONFIDENCE, at_least=True)
    share = f"{1 - outside.mean():.1%} hold the average"
    yield ChanceTest(f"{case.name}: its interval, {share}", chance)
