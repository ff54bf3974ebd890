"""Counts and totals: integer noise for each cell, by the law its key calls for (T10 to T13)."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord import noise as samplers
from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.errors import InternalError
from perrecord.laws import DiscreteStudent, Law
from perrecord.noise.bits import BitSource
from perrecord.queries.methods import Blurring
from perrecord.queries.noise_plan import NoisePlan
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Estimate
from perrecord.released.numbers import Integers, NoisyIntegers, added, narrowed


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


def blurred(
    name: str,
    exact: Confidential[Integers],
    squares: Confidential[Integers],
    noise: NoisePlan,
    bits: BitSource | None,
) -> Blurred:
    """Return exact integers with noise that grows with the cell's squares, in steps (T28).

    The law of a cell is confidential: it goes to the sampler and nowhere else.
    """
    law, method = _without_records(noise)
    growth = law.nu * method.by**2
    drawn = samplers.student_of_squares(
        law.spread, growth, revealed(squares), nu=law.nu, _bits=bits
    )
    found = NoisyIntegers(narrowed(added(revealed(exact), drawn, into=drawn)))
    return blurred_numbers(name, found, noise)


def blurred_numbers(name: str, numbers: NoisyIntegers, noise: NoisePlan) -> Blurred:
    """Return noisy numbers with what is public of their noise."""
    law, method = _without_records(noise)
    return Blurred(name, numbers, noise.step, law.spread, method.by, law.nu, method.is_signed)


def _without_records(noise: NoisePlan) -> tuple[DiscreteStudent, Blurring]:
    """Return the noise of a cell without records, and the one method of a blurred number."""
    law = noise.law(noise.scales.at({}))
    if not isinstance(law, DiscreteStudent) or noise.blurred is None:
        raise InternalError("A number was to be blurred that is not.")
    return law, noise.blurred


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
