"""The noise of a plan's answers as `policy.json` states it, from public facts alone."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from perrecord.errors import InternalError
from perrecord.laws.scales import Scale, StudentScale, largest
from perrecord.policy.cases import Cases
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import (
    Different,
    Filled,
    Giants,
    Pieces,
    Rows,
    SquarePart,
    SquareTotal,
    Total,
    WeightTotal,
)
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import Blurring, Leaf, Method, Tree, Widening, leaves
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.policies import passing
from perrecord.release.noise import CellNoise, Noise, NoiseTree

MOST_LISTED = 1000
"""Cells with public sizes that documents list one by one."""


def stated_noise(planned: Plan, grouping: PlannedGrouping, answer: Answer) -> tuple[Noise, ...]:
    """Return the noisy numbers that an answer consists of; what is chosen has none."""
    return tuple(
        noise for step in answer.measurements for noise in stated_number(planned, grouping, step)
    )


def stated_number(planned: Plan, grouping: PlannedGrouping, step: Measurement) -> tuple[Noise, ...]:
    """Return one noisy number; none if no record can pass the filter."""
    return _filtered(planned, grouping, _stated(planned, grouping, step))


def _stated(planned: Plan, grouping: PlannedGrouping, step: Measurement) -> Noise:
    cells = _cells(planned, grouping, step)
    match step.aggregate:
        case Filled(column) if column in dict(planned.schema.measures):
            return Noise("records", column, cells)
        case Filled() | Different():  # it may be NULL, or others may hold the same value
            return Noise("records", None, cells, is_certain=False)
        case Total(measure):
            return Noise("values", measure, cells, step.is_centred)
        case Pieces():
            return Noise("pieces", None, cells)
        case Rows():
            return Noise("records", None, cells)
        case SquareTotal() | Giants() | SquarePart() | WeightTotal():
            raise InternalError("A number was to be published that other ones are made of.")


def stated_rows(planned: Plan, grouping: PlannedGrouping) -> tuple[Noise, ...]:
    """Return the counts of split rows that are published with selected keys, if they are (T9)."""
    cells = grouping.grouping.cells
    if not isinstance(cells, SelectKeys) or cells.rows_as is None:
        return ()
    noise = CellNoise("gaussian", 1 / (2 * cells.rho), Fraction(1))
    return _filtered(planned, grouping, Noise("pieces", None, noise))


def _cells(planned: Plan, grouping: PlannedGrouping, step: Measurement) -> NoiseTree:
    """Return the noise of every cell with what the record's own part is cut to (T11, T12)."""
    currency = planned.queries[grouping.query].currency or Currency.RHO
    noise = step.noise(planned.schema, grouping.grouping.columns, currency)
    own = partial(step.scale, currency=currency)

    def leaf(method: Method, settled: Scale | None) -> CellNoise:
        scale = own(method) if settled is None else settled
        by = method.by if isinstance(method, Blurring) else None
        return CellNoise(scale.name, scale.size, noise.step, method.bounds, by)

    cells = _tree(step.tree, None, frozenset(noise.fixed), own, leaf)
    if noise.widening is None or not isinstance(cells, CellNoise):
        return cells
    return _widened(planned, noise.widening, cells, noise.least_scale())


def _widened(planned: Plan, widening: Widening, least: CellNoise, scale: StudentScale) -> NoiseTree:
    """Return the noise of each cell with a public size, unless those are very many (T28).

    Without a list of them all cells are stated with the noise of one without a size: what is said
    of changes and units is then never too little.
    """
    sizes = widening.sizes
    if len(sizes.keys) > MOST_LISTED or not set(sizes.columns) <= planned.schema.dimension_names:
        return least
    added = widening.added(scale.nu)[:-1]
    cases = [
        (key, replace(least, spread=scale.size + more))
        for key, more in zip(sizes.keys.rows(), added, strict=True)
        if more
    ]
    return Cases.checked(sizes.columns, cases, least) if cases else least


def _tree(
    tree: Tree,
    settled: Scale | None,
    fixed: frozenset[str],
    own: Callable[[Method], Scale],
    leaf: Callable[[Method, Scale | None], CellNoise],
) -> NoiseTree:
    """Return the tree of noise: parts that can share a cell share its largest spread (T11)."""
    if isinstance(tree, Leaf):
        return leaf(tree.method, settled)
    if settled is None and not fixed.issuperset(tree.cases.dimensions):
        settled = largest(own(each.method) for each in leaves(tree))
    cell = settled
    cases: Cases[Any] = tree.cases.map(lambda part: _tree(part, cell, fixed, own, leaf))
    parts = list(cases.values())
    return parts[0] if all(part == parts[0] for part in parts) else cases


def _filtered(planned: Plan, grouping: PlannedGrouping, noise: Noise) -> tuple[Noise, ...]:
    """Return the noise for the records that pass the query's filter; none if none can."""
    query = planned.queries[grouping.query]
    found = passing(query.filter, planned.schema.dimension_names)
    is_certain = noise.is_certain and found.is_whole
    if found.names and not found.keys:
        return ()
    cells = noise.cells
    if found.names:
        cells = Cases.checked(found.names, [(key, noise.cells) for key in found.keys], None)
    return (Noise(noise.moved, noise.measure, cells, noise.is_centred, is_certain),)
