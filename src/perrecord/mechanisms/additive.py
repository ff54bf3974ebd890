"""Counts and totals: integer noise for each cell, by the law its key calls for (T10 to T13)."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord import noise as samplers
from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.laws import Law
from perrecord.noise.bits import BitSource
from perrecord.queries.noise_plan import NoisePlan
from perrecord.released.columns import Estimate
from perrecord.released.numbers import Integers, NoisyIntegers, added


def estimate(
    name: str,
    exact: Confidential[Integers],
    keys: pa.Table,
    noise: NoisePlan,
    bits: BitSource | None,
) -> Estimate:
    """Return the exact integers of the cells with their noise added."""
    laws, which = noise.laws(keys)
    if len(laws) == 1:
        drawn = draw(laws[0], keys.num_rows, bits)
    else:
        drawn = _drawn_by_cell(laws, which, bits)
    return Estimate(name, noisy(exact, drawn), noise.step, laws, which)


def noisy(exact: Confidential[Integers], drawn: Integers) -> NoisyIntegers:
    """Return exact integers with noise added to each, in the noise's own place where it fits."""
    return NoisyIntegers(added(revealed(exact), drawn, into=drawn))


def _drawn_by_cell(
    laws: tuple[Law, ...], which: npt.NDArray[np.intp], bits: BitSource | None
) -> Integers:
    drawn: Integers = np.zeros(len(which), dtype=np.int64)
    for index, law in enumerate(laws):
        cells = np.flatnonzero(which == index)
        each = draw(law, len(cells), bits)
        if each.dtype != drawn.dtype:
            drawn = drawn.astype(np.object_)
        drawn[cells] = each
    return drawn


def draw(law: Law, count: int, bits: BitSource | None) -> Integers:
    """Return so much noise of a law."""
    return samplers.draw(law, count, _bits=bits)
