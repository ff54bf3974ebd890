"""Counts and totals with real noise: its law, its standard errors, its intervals.

What is left of a published number when the true one, from SQL, is taken off must follow the law
that the price calls for, by the audit's own lines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sinh, sqrt

import numpy as np
import pyarrow as pa

from perrecord.lab.audit.utility.laws import (
    OwnLaw,
    Whole,
    gaussian,
    laplace,
    law_chance,
    rate_chance,
    student,
)
from perrecord.lab.audit.utility.worlds import CONFIDENCE, ChanceTest, World
from perrecord.policy.split import Split
from perrecord.queries.methods import Taper
from perrecord.queries.methods.parts import Parts, clamping, splitting, tapering
from perrecord.queries.query import Query


@dataclass(frozen=True, slots=True)
class AdditiveCase:
    """An answer, its truth in SQL, and the law of its noise in steps, in even and odd cells."""

    name: str
    ask: Callable[[Query], Query]
    truth: str
    laws: tuple[OwnLaw, OwnLaw]
    step: Fraction = Fraction(1)


_TENTH = Fraction(1, 10)
_SPLIT, _BOTH = Split(emp=6), Split(rent="0.5", emp=6)
_EMP, _RENT = "coalesce(sum(emp), 0)", "coalesce(sum(rent), 0)"
_CLAMPED = "coalesce(sum(CASE WHEN emp < -2 THEN -2 WHEN emp > 10 THEN 10 ELSE emp END), 0)"
_PARTS = Parts("kind", {"even": splitting(_SPLIT, rho=1), "odd": clamping(-2, 10, rho=2)})

_TAPERS = Parts(
    "kind",
    {"even": tapering(Taper(emp=20), rho="0.5"), "odd": tapering(Taper(emp=50, nu=3), rho=1)},
)


def tapered_spread(size: float, amount: float, nu: int, *, is_rho: bool = True) -> float:
    """Return A in steps, by halving, at which a record of this size loses the amount (T26)."""
    low, high = 0.0, 60.0  # of asinh(B)
    for _ in range(100):
        middle = (low + high) / 2
        b = sinh(middle)
        more = (1 + 2 * b**2) * (2.8 + 3 * b**2 + b**4) / (1 + b**2) ** 3 if nu == 7 else 1
        in_rho = (1 + 2.0**-26) * 4 * b * middle / sqrt(1 + b**2) * more
        lost = in_rho if is_rho else (nu + 1) * middle
        low, high = (low, middle) if lost > amount else (middle, high)
    return size**2 / (4 * sinh(low) ** 2)


def additive_cases() -> list[AdditiveCase]:
    """Return every kind of count and total, with the law that its price calls for."""
    return [
        _case("count", lambda q: q.count(name="x", rho="0.1"), "count(*)", gaussian(5)),
        _case(
            "count, hardly any noise",
            lambda q: q.count(name="x", rho=5),
            "count(*)",
            gaussian(0.1),
        ),
        _case("count, epsilon", lambda q: q.count(name="x", epsilon="0.5"), "count(*)", laplace(2)),
        _case(
            "count of values",
            lambda q: q.count("emp", name="x", rho=1),
            "count(emp)",
            gaussian(0.5),
        ),
        _case(
            "count of different values",
            lambda q: q.count_distinct("firm", name="x", rho="0.3"),
            "count(DISTINCT firm)",
            gaussian(1 / 0.6),
        ),
        _case(
            "total, split",
            lambda q: q.sum("emp", split=_SPLIT, name="x", rho="0.5"),
            _EMP,
            gaussian(36),
        ),
        _case(
            "total, exact accounting",
            lambda q: q.sum("rent", split=_BOTH, accounting="exact", name="x", rho=2),
            _RENT,
            gaussian(25 / 4),
            _TENTH,
        ),
        _case(
            "total, epsilon",
            lambda q: q.sum("rent", split=_BOTH, name="x", epsilon=2),
            _RENT,
            laplace(2.5),
            _TENTH,
        ),
        _case(
            "total, clamped",
            lambda q: q.sum("emp", clamp=(-2, 10), name="x", rho=1),
            _CLAMPED,
            gaussian(50),
        ),
        AdditiveCase(
            "total, each part its own way",
            lambda q: q.sum("emp", parts=_PARTS, name="x"),
            f"CASE kind WHEN 'even' THEN {_EMP} ELSE {_CLAMPED} END",
            (gaussian(18), gaussian(25)),
        ),
        _case(
            "total, tapered",
            lambda q: q.sum("emp", taper=20, name="x", rho="0.5"),
            _EMP,
            student(tapered_spread(20, 0.5, 7), 7),
        ),
        _case(
            "total, tapered, epsilon",
            lambda q: q.sum("rent", taper=Taper(rent=3, nu=3), name="x", epsilon=1),
            _RENT,
            student(tapered_spread(30, 1, 3, is_rho=False), 3),
            _TENTH,
        ),
        AdditiveCase(
            "total, each part its own taper",
            lambda q: q.sum("emp", parts=_TAPERS, name="x"),
            _EMP,
            (student(tapered_spread(20, 0.5, 7), 7), student(tapered_spread(50, 1, 3), 3)),
        ),
        AdditiveCase(
            "count, a price by cell",
            lambda q: q.count(by="kind", name="x", rho={"even": "0.1", "odd": 2}),
            "count(*)",
            (gaussian(5), gaussian(0.25)),
        ),
    ]


def _case(
    name: str,
    ask: Callable[[Query], Query],
    truth: str,
    law: OwnLaw,
    step: Fraction = Fraction(1),
) -> AdditiveCase:
    return AdditiveCase(name, ask, truth, (law, law), step)


def additive_tests(world: World, case: AdditiveCase, seed: int) -> Iterator[ChanceTest]:
    """Yield the tests of one answer, in even and in odd cells."""
    shown = world.answers(case.ask, seed).with_errors(str(CONFIDENCE))
    truth = np.array([int(Fraction(each) / case.step) for each in world.truth(case.truth)])
    noise = _steps(shown["x"], case.step) - truth
    low, high = (_steps(shown[f"x_{end}"], case.step) for end in ("low", "high"))
    errors = np.asarray(shown["x_se"])
    for place, law in enumerate(case.laws):
        some, name = slice(place, None, 2), f"{case.name}, {'odd' if place else 'even'} cells"
        yield ChanceTest(f"{name}: its noise", law_chance(noise[some], law))
        variance = law.moment(2) if law.variance is None else law.variance
        wanted = float(case.step) * sqrt(variance)
        is_same = bool(np.allclose(errors[some], wanted, rtol=1e-9, atol=0))
        fault = None if is_same else f"{errors[place]} is stated, and {wanted} is the deviation"
        yield ChanceTest(f"{name}: its standard error", 1.0, fault)
        reach = int(high[place] - low[place]) // 2
        is_least = law.mass(reach) >= CONFIDENCE and (not reach or law.mass(reach - 1) < CONFIDENCE)
        fault = None if is_least else "its interval is of another width than stated"
        covers = (low[some] <= truth[some]) & (truth[some] <= high[some])
        chance = rate_chance(int(covers.sum()), len(covers), law.mass(reach))
        yield ChanceTest(f"{name}: its interval", chance, fault)


def _steps(column: pa.ChunkedArray, step: Fraction) -> Whole:
    if pa.types.is_integer(column.type):
        return np.asarray(column)
    return np.array([int(Fraction(each) / step) for each in column.to_pylist()], dtype=np.int64)
