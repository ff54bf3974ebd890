"""Counts and totals: integer noise for each cell, by the law its key calls for (T10 to T13)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.laws import DiscreteGaussian, DiscreteLaplace, Law
from perrecord.mechanisms.numbers import added
from perrecord.mechanisms.released import Estimate
from perrecord.noise import discrete_gaussian, discrete_laplace
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Average, Count, CountDistinct, Sum
from perrecord.queries.cells import Integers
from perrecord.queries.methods import Methods, Spreads, spread, spreads_of, tree_of
from perrecord.queries.policies import is_centred
from perrecord.tables.expressions import Expression, columns_of, evaluate
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class NoisePlan:
    """The step and the noise of one additive answer in one grouping, from public facts alone."""

    step: Fraction
    spreads: Spreads
    currency: Currency
    fixed: Mapping[str, Expression]

    @classmethod
    def of(
        cls,
        methods: Methods,
        measure: str | None,
        schema: Schema,
        columns: tuple[str, ...],
        currency: Currency,
        *,
        centred: bool = False,
    ) -> "NoisePlan":
        """Return the noise that these methods ask for in cells over these columns."""
        step = Fraction(1) if measure is None else schema.measure(measure).resolution
        fixed = schema.fixed_by(columns)
        of = partial(spread, measure=measure, currency=currency, is_centred=centred)
        spreads = spreads_of(tree_of(methods), frozenset(fixed), of)
        return cls(step / 2 if centred else step, spreads, currency, fixed)

    def law(self, found: Fraction) -> Law:
        """Return the noise law of a spread, on the grid."""
        if self.currency is Currency.RHO:
            return DiscreteGaussian(found / self.step**2)
        return DiscreteLaplace(found / self.step)

    def laws(self, keys: pa.Table) -> tuple[tuple[Law, ...], npt.NDArray[np.intp]]:
        """Return the laws in use and, for each cell, which of them is its own."""
        dimensions = self.spreads.dimensions
        needed = sorted({c for d in dimensions for c in columns_of(self.fixed[d])})
        if not needed:
            law = self.law(self.spreads.at({}))
            return (law,), np.broadcast_to(np.intp(0), keys.num_rows)
        rows, which = _different(keys.select(needed))
        found: dict[Fraction, int] = {}
        numbers = np.empty(len(rows), dtype=np.intp)
        for index, row in enumerate(rows):
            key = {name: evaluate(self.fixed[name], row) for name in dimensions}
            numbers[index] = found.setdefault(self.spreads.at(key), len(found))
        return tuple(self.law(each) for each in found), numbers[which]


def noise_plan(
    answer: Count | CountDistinct | Sum | Average,
    schema: Schema,
    columns: tuple[str, ...],
    currency: Currency,
) -> NoisePlan:
    """Return the noise of an additive answer, or of the total under an average."""
    measure = answer.measure if isinstance(answer, Sum | Average) else None
    return NoisePlan.of(
        answer.method, measure, schema, columns, currency, centred=is_centred(answer)
    )


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
    if isinstance(law, DiscreteGaussian):
        return discrete_gaussian(law.sigma_squared, count, _bits=bits)
    assert isinstance(law, DiscreteLaplace)  # noqa: S101 - the two laws that there are
    return discrete_laplace(law.scale, count, _bits=bits)


def _different(keys: pa.Table) -> tuple[list[dict[str, object]], npt.NDArray[np.intp]]:
    """Return the different rows, and which of them each row is."""
    code = pa.array(np.zeros(keys.num_rows, dtype=np.int64))
    for column in keys.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        mixed = np.asarray(code) * len(encoded.dictionary) + np.asarray(encoded.indices)
        code = pa.array(mixed).dictionary_encode().indices.cast(pa.int64())
    which = np.asarray(code).astype(np.intp)
    count = int(which.max()) + 1 if len(which) else 0
    first = np.empty(count, dtype=np.int64)
    first[which[::-1]] = np.arange(len(which), dtype=np.int64)[::-1]
    return keys.take(pa.array(first)).to_pylist(), which
