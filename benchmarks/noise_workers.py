"""Measure one library in its own process: `python noise_workers.py NAME TASK SIGMA SIZE SECONDS`.

Imports nothing but the library asked for, because each may live in an environment of its own.
Prints one line of JSON: calls made, draws per call, median seconds per call.
"""

# ruff: noqa: PLC0415 - each library is imported where it is asked for, and nowhere else

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count

Draw = Callable[[int], object]

_MOST_PER_CALL = {"opendp": 100_000, "tumult": 2_000, "pydp": 500_000}
"""A slow library is timed on fewer draws: its cost per draw does not depend on their number."""


def perrecord(sigma: Fraction) -> Draw:
    """Return this library's exact discrete Gaussian."""
    from perrecord.noise import discrete_gaussian

    return lambda many: discrete_gaussian(sigma**2, many)


def opendp(sigma: Fraction) -> Draw:
    """Return OpenDP's exact discrete Gaussian, on a vector of zeros."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, float(sigma))
    return lambda many: measurement([0] * many)


def tumult(sigma: Fraction) -> Draw:
    """Return Tumult Core's exact discrete Gaussian, one at a time."""
    from tmlt.core.random.discrete_gaussian import sample_dgauss

    variance = sigma**2
    return lambda many: [sample_dgauss(variance) for _ in range(many)]


def pydp(sigma: Fraction) -> Draw:
    """Return Google's secure (not exactly discrete) Gaussian through PyDP, one at a time."""
    from pydp.distributions import GaussianDistribution

    law = GaussianDistribution(float(sigma))
    return lambda many: [law.sample(1.0) for _ in range(many)]


def numpy(sigma: Fraction) -> Draw:
    """Return numpy's float normal: neither exact nor secure."""
    from numpy.random import default_rng

    generator, scale = default_rng(), float(sigma)
    return lambda many: generator.normal(0.0, scale, many)


LIBRARIES = {each.__name__: each for each in (perrecord, opendp, tumult, pydp, numpy)}


def steady(name: str, sigma: Fraction, size: int) -> tuple[Draw, int]:
    """Return a call for one sigma, drawn from before: tables are built, memory is warm."""
    draw, many = LIBRARIES[name](sigma), min(size, _MOST_PER_CALL.get(name, size))
    for _ in range(10 if many < 10**4 else 1):
        draw(many)
    return draw, many


def fresh(name: str, sigma: Fraction, size: int) -> tuple[Draw, int]:
    """Return a call that sets a new sigma up every time."""
    make, sigmas = LIBRARIES[name], (sigma * (1 + Fraction(i, 10**6)) for i in count(1))
    make(sigma)(size)  # what is done once per process

    def draw(many: int) -> object:
        return make(next(sigmas))(many)

    return draw, size


TASKS = {"steady": steady, "fresh": fresh}


def main(name: str, task: str, sigma: str, size: str, seconds: str) -> None:
    """Call until the time is up, at least three times, and print the median."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])  # one core for everybody
    draw, many = TASKS[task](name, Fraction(sigma), int(size))
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < float(seconds):
        start = time.perf_counter()
        draw(many)
        taken.append(time.perf_counter() - start)
    print(json.dumps({"calls": len(taken), "draws": many, "seconds": statistics.median(taken)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
