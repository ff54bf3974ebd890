"""The noise of a plan's answers as `policy.json` states it, from public facts alone."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, assert_never

from perrecord.mechanisms.additive import noise_plan
from perrecord.policy.cases import Cases
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.methods import (
    Clamping,
    Leaf,
    Method,
    Spread,
    Tree,
    leaves,
    spread,
    tree_of,
)
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.policies import is_centred, passing
from perrecord.release.noise import CellNoise, LawName, Noise, NoiseTree


def stated_noise(planned: Plan, grouping: PlannedGrouping, answer: Answer) -> tuple[Noise, ...]:
    """Return the noisy numbers that an answer consists of; a quantile is chosen, and has none."""
    query = planned.queries[grouping.query]
    currency = query.currency or Currency.RHO
    of_answer = partial(_cells, planned, grouping, currency=currency)
    match answer:
        case Count(column=None):
            found = [Noise("records", None, of_answer(answer))]
        case Count(column=column):
            is_measure = column in dict(planned.schema.measures)
            found = [
                Noise(
                    "records",
                    column if is_measure else None,
                    of_answer(answer),
                    is_certain=is_measure,
                )
            ]
        case CountDistinct():  # others may hold the same value, so that it may not move
            found = [Noise("records", None, of_answer(answer), is_certain=False)]
        case Sum():
            found = [Noise("values", answer.measure, of_answer(answer))]
        case Average():
            count = Count(answer.name, answer.count)
            found = [
                Noise("values", answer.measure, of_answer(answer), is_centred(answer)),
                Noise("records", answer.measure, of_answer(count)),
            ]
        case Quantile():
            found = []
        case _:
            assert_never(answer)
    return tuple(noise for each in found for noise in _filtered(planned, grouping, each))


def stated_rows(planned: Plan, grouping: PlannedGrouping) -> tuple[Noise, ...]:
    """Return the counts of split rows that are published with selected keys, if they are (T9)."""
    cells = grouping.grouping.cells
    if not isinstance(cells, SelectKeys) or cells.rows_as is None:
        return ()
    noise = CellNoise("gaussian", 1 / (2 * cells.rho), Fraction(1))
    return _filtered(planned, grouping, Noise("pieces", None, noise))


def _cells(
    planned: Plan,
    grouping: PlannedGrouping,
    answer: Count | CountDistinct | Sum | Average,
    *,
    currency: Currency,
) -> NoiseTree:
    """Return the noise of every cell with what the record's own part is cut to (T11, T12)."""
    noise = noise_plan(answer, planned.schema, grouping.grouping.columns, currency)
    law: LawName = "gaussian" if currency is Currency.RHO else "laplace"
    measure = None if isinstance(answer, Count | CountDistinct) else answer.measure
    own = partial(spread, measure=measure, currency=currency, is_centred=is_centred(answer))

    def leaf(method: Method, settled: Spread | None) -> CellNoise:
        bounds = (method.low, method.high) if isinstance(method, Clamping) else None
        return CellNoise(law, own(method) if settled is None else settled, noise.step, bounds)

    return _tree(tree_of(answer.method), None, frozenset(noise.fixed), own, leaf)


def _tree(
    tree: Tree,
    settled: Spread | None,
    fixed: frozenset[str],
    own: Callable[[Method], Spread],
    leaf: Callable[[Method, Spread | None], CellNoise],
) -> NoiseTree:
    """Return the tree of noise: parts that can share a cell share its largest spread (T11)."""
    if isinstance(tree, Leaf):
        return leaf(tree.method, settled)
    if settled is None and not fixed.issuperset(tree.cases.dimensions):
        settled = max(own(each.method) for each in leaves(tree))
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
