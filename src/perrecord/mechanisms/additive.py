"""Counts and totals: integer noise for each cell, by the law its key calls for (T10 to T13)."""

import numpy as np
import pyarrow as pa

from perrecord import noise as samplers
from perrecord.laws import Law
from perrecord.noise.bits import BitSource
from perrecord.queries.noise_plan import NoisePlan
from perrecord.released.columns import Estimate
from perrecord.released.numbers import Integers, added


def estimate(
    name: str, exact: Integers, keys: pa.Table, noise: NoisePlan, bits: BitSource | None
) -> Estimate:
    """Return the exact integers of the cells with their noise added."""
    laws, which = noise.laws(keys)
    if len(laws) == 1:
        drawn = draw(laws[0], len(exact), bits)
        return Estimate(name, added(exact, drawn, into=drawn), noise.step, laws, which)
    drawn = np.zeros(len(exact), dtype=np.int64)
    for index, law in enumerate(laws):
        cells = np.flatnonzero(which == index)
        each = draw(law, len(cells), bits)
        if each.dtype != drawn.dtype:
            drawn = drawn.astype(np.object_)
        drawn[cells] = each
    return Estimate(name, added(exact, drawn), noise.step, laws, which)


def draw(law: Law, count: int, bits: BitSource | None) -> Integers:
    """Return so much noise of a law."""
    return samplers.draw(law, count, _bits=bits)
