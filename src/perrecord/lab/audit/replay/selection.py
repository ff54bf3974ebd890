"""Keys that noise selects, the noise coupled key by key: only the record's own key may differ (T9).

The number of split rows of that key changes by pieces(r), which costs rho pieces(r)^2. A key that
only r has appears with probability Pr[Z >= tau - pieces(r)], which is what delta(r) must say. Cells
of a domain get one noise each, so that the same cells are kept but for the record's own.

A threshold is the least tau with Pr[Z >= tau - 1] <= the delta that an unsplit record is promised:
smaller ones break the promise, larger ones hide keys for nothing.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.lab.audit.replay.checks import (
    DOMAIN,
    KEYS,
    LONE,
    NOBODY,
    PROMISE,
    Check,
    Places,
    cost,
)
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.worlds import WORLD, ReadGrouping
from perrecord.laws import DiscreteGaussian
from perrecord.mechanisms import selection
from perrecord.mechanisms.additive import draw
from perrecord.mechanisms.selection import Selected
from perrecord.noise.bits import BitSource
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.released.numbers import Integers, NoisyIntegers, added

_SLACK = 1 + Fraction(1, 2**40)
"""delta(r) is rounded up; by no more than this."""

Key = tuple[Any, ...]


def selection_checks(
    grouping: ReadGrouping, members: Members, places: Places, bits: BitSource
) -> Iterator[Check]:
    """Yield what each record changes in which keys are published."""
    match grouping.planned.grouping.cells:
        case SelectKeys() as cells:
            yield from _keys(cells, grouping, members, bits)
        case SelectCells() as cells:
            yield from _cells(cells, grouping, members, places, bits)


def _keys(
    cells: SelectKeys, grouping: ReadGrouping, members: Members, bits: BitSource
) -> Iterator[Check]:
    policy = grouping.planned.selection
    assert grouping.occupied is not None  # noqa: S101 - read where keys are selected
    assert policy is not None  # noqa: S101 - and charged for
    law = DiscreteGaussian.for_zcdp(cells.rho)
    worlds = _by_world(*grouping.occupied, len(members.records) + 1)
    counts = [dict(zip(_tuples(keys), numbers.tolist(), strict=True)) for keys, numbers in worlds]
    noise = dict(zip(counts[0], draw(law, len(counts[0]), bits).tolist(), strict=True))
    published = [_published(_coupled(cells, each, noise)) for each in worlds]
    passes = members.pass_filter(grouping.query.filter)
    own = members.keys(grouping.planned.grouping.columns)
    for index, record in enumerate(members.records):
        mine = own[index] if passes[index] else None
        change = counts[0].get(mine, 0) - counts[index + 1].get(mine, 0) if mine else 0
        pieces = 1 if cells.split is None else cells.split.pieces(record)
        fault = None
        if _others(counts[0].items(), mine) != _others(counts[index + 1].items(), mine):
            fault = "the rows of another key changed"
        elif _others(published[0], mine) != _others(published[index + 1], mine):
            fault = "another key appeared, vanished or changed"
        elif mine and change != pieces:
            fault = "the record's key changed by something else than its pieces"
        is_lone = mine is not None and mine not in counts[index + 1]
        if is_lone:
            chance, delta = law.tail(cells.threshold - pieces), policy.delta(record)
            if not chance.lower <= delta <= chance.upper * _SLACK:
                fault = "its key appears with another probability than delta"
        if mine or fault:
            lost = cost(law, change)
            yield Check(
                LONE if is_lone else KEYS, index, lost, policy.loss(record), mine is not None, fault
            )


def _by_world(keys: pa.Table, rows: Integers, worlds: int) -> list[tuple[pa.Table, Integers]]:
    """Return each world's keys with their numbers of split rows."""
    found = []
    numbers = np.asarray(keys[WORLD]) if keys.num_rows else np.empty(0, dtype=np.int64)
    for world in range(worlds):
        inside = numbers == world
        found.append((keys.filter(pa.array(inside)).drop_columns([WORLD]), rows[inside]))
    return found


def _coupled(
    cells: SelectKeys, world: tuple[pa.Table, Integers], noise: dict[Key, int]
) -> Selected:
    keys, rows = world
    own = np.array([noise[key] for key in _tuples(keys)], dtype=np.int64)
    return selection.keys_reaching(cells, keys, NoisyIntegers(added(rows, own)))


def _published(selected: Selected) -> list[tuple[Key, int]]:
    """Return the keys with their numbers, in the order in which they are published."""
    return list(zip(selected.keys.rows(), selected.by.numbers.tolist(), strict=True))


def _others(found: Iterable[tuple[Key, int]], own: Key | None) -> list[tuple[Key, int]]:
    return [(key, number) for key, number in found if key != own]


def _tuples(keys: pa.Table) -> list[Key]:
    return list(zip(*(column.to_pylist() for column in keys.columns), strict=True))


def _cells(
    cells: SelectCells, grouping: ReadGrouping, members: Members, places: Places, bits: BitSource
) -> Iterator[Check]:
    """Couple the noise of every cell, those without records too; the answer itself pays."""
    chosen = next(each for each in grouping.answers if each.charged.answer.name == cells.answer)
    (step,) = chosen.charged.answer.measurements
    columns = grouping.planned.grouping.columns
    plan = step.noise(members.schema, columns, Currency.RHO)
    (noisy,) = chosen.noisy
    positions = np.arange(len(noisy.numbers), dtype=np.int64)
    noise = draw(noisy.laws[0], len(positions), bits)
    answers = [NoisyIntegers(added(exact, noise)) for exact in noisy.numbers.T]
    published = [
        _published(selection.cells_reaching(cells, positions, each, plan)) for each in answers
    ]
    own = members.keys(columns)
    for index, place in enumerate(places):
        mine = None if place is None else own[index]
        is_same = _others(published[0], mine) == _others(published[index + 1], mine)
        fault = None if is_same else "another cell appeared, vanished or changed"
        if mine or fault:
            yield Check(DOMAIN, index, fault=fault)


def promise_checks(random: Random, count: int) -> Iterator[Check]:
    """Yield whether so many random selections keep the delta that they were given."""
    for _ in range(count):
        rho = Fraction(random.randrange(1, 400), random.choice([10, 100, 1000]))
        delta = Fraction(random.randrange(1, 1000), 10 ** random.randrange(4, 16))
        yield Check(PROMISE, NOBODY, fault=_fault(rho, delta))


def _fault(rho: Fraction, delta: Fraction) -> str | None:
    threshold = SelectKeys(rho=rho, delta=delta).threshold
    law = DiscreteGaussian(1 / (2 * rho))
    if law.tail(threshold - 1).upper > delta:
        return f"with rho {rho} a lone record appears more often than delta {delta} says"
    if law.tail(threshold - 2).lower <= delta:
        return f"with rho {rho} a smaller threshold would keep delta {delta}"
    return None
