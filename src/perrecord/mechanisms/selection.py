"""Finding the cells to publish: threshold selection, and the sparse sweep of a domain (T9)."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.confidential.revealing import revealed
from perrecord.errors import QueryError
from perrecord.laws import DiscreteGaussian
from perrecord.mechanisms.additive import draw, noisy
from perrecord.noise import gaussian_tail, passing
from perrecord.noise.bits import BitSource
from perrecord.queries.cells import Occupied, OccupiedDomain
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.noise_plan import NoisePlan
from perrecord.released.columns import Estimate
from perrecord.released.numbers import NoisyIntegers
from perrecord.tables.keys import Keys

_MOST_BY_CHANCE = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """The keys to publish, sorted, and the noisy number that each was selected by."""

    keys: Keys
    by: Estimate


def selected_keys(cells: SelectKeys, occupied: Occupied, bits: BitSource | None) -> Selected:
    """Return the keys whose noisy number of split rows reaches the threshold.

    The policy is rho * pieces^2 with delta(pieces) = Pr[Z >= tau - pieces].
    """
    law = DiscreteGaussian.for_zcdp(cells.rho)
    keys = revealed(occupied.keys)
    return keys_reaching(cells, keys, noisy(occupied.numbers, draw(law, keys.num_rows, bits)))


def keys_reaching(cells: SelectKeys, keys: pa.Table, rows: NoisyIntegers) -> Selected:
    """Return the keys whose number of split rows, noisy already, reaches the threshold."""
    kept = np.asarray(rows >= cells.threshold, dtype=bool)
    found = Keys.from_columns(keys.filter(pa.array(kept)))
    return Selected(found, rows_estimate(cells, NoisyIntegers(rows[kept]), cells.rows_as or "rows"))


def rows_estimate(cells: SelectKeys, rows: NoisyIntegers, name: str) -> Estimate:
    """Return the noisy numbers of split rows by which keys were selected, with their noise."""
    law = DiscreteGaussian.for_zcdp(cells.rho)
    return Estimate(name, rows, Fraction(1), (law,), _first(len(rows)))


def check_sparse(cells: SelectCells, noise: NoisePlan) -> None:
    """Refuse a threshold that far too many empty cells would pass by noise alone."""
    law, start = _law(noise), _steps(cells, noise)
    if cells.domain.size * law.tail(start).upper > _MOST_BY_CHANCE:
        least = law.tail_point(Fraction(_MOST_BY_CHANCE, cells.domain.size)) * noise.step
        raise QueryError(
            f"with at_least={cells.at_least} more than {_MOST_BY_CHANCE:,} empty cells are to be "
            f"expected to pass by noise alone; give at least {ceil(least):,}."
        )


def selected_cells(
    cells: SelectCells, occupied: OccupiedDomain, noise: NoisePlan, bits: BitSource | None
) -> Selected:
    """Return the cells of the domain whose noisy answer reaches the threshold: pure zCDP.

    Empty cells are not visited: how many of them pass is Binomial, which ones is uniform, and
    their values are noise given that it passes.
    """
    law, start = _law(noise), _steps(cells, noise)
    positions = revealed(occupied.positions)
    held = noisy(occupied.numbers, draw(law, len(positions), bits))
    empty = passing(cells.domain.size - len(positions), law, start, _bits=bits)
    others = cells.domain.sample(empty, positions, _bits=bits)
    values = gaussian_tail(law.sigma_squared, start, empty, _bits=bits)
    places = np.concatenate([positions, others])
    numbers = NoisyIntegers(np.concatenate([held, values]))
    return cells_reaching(cells, places, numbers, noise)


def cells_reaching(
    cells: SelectCells, positions: npt.NDArray[np.int64], answers: NoisyIntegers, noise: NoisePlan
) -> Selected:
    """Return the cells at these positions whose answer, noisy already, reaches the threshold."""
    kept = np.asarray(answers >= _steps(cells, noise), dtype=bool)
    places = positions[kept]
    order = np.argsort(places)
    numbers = NoisyIntegers(answers[kept][order])
    found = Keys.trusted(cells.domain.decode(places[order]))
    by = Estimate(cells.answer, numbers, noise.step, (_law(noise),), _first(len(order)))
    return Selected(found, by)


def _law(noise: NoisePlan) -> DiscreteGaussian:
    law = noise.law(noise.scales.at({}))
    assert isinstance(law, DiscreteGaussian)  # noqa: S101 - checked with the query
    return law


def _steps(cells: SelectCells, noise: NoisePlan) -> int:
    return ceil(cells.at_least / noise.step)


def _first(count: int) -> npt.NDArray[np.intp]:
    return np.zeros(count, dtype=np.intp)
