"""The outputs of random workloads beside an exact replay: what a change costs is never too little.

A change takes records away and puts others in their place among records that stay. The exact
numbers of both sides are counted in Python from the records, with no engine and none of the
statements that the outputs are made from; each difference is priced by the law of its cell.
"""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from perrecord.lab.audit import random_specs, random_tables
from perrecord.lab.audit.replay.checks import cost
from perrecord.lab.audit.replay.recount import Members, Recount
from perrecord.laws.bounded_range import bounded_range
from perrecord.mechanisms.quantiles import selection_rate
from perrecord.policy.changes import (
    NoisyNumber,
    Selection,
    change_delta,
    change_loss,
    unit_delta,
    unit_loss,
)
from perrecord.policy.slots import Slot, any_of
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Different, Pieces, Rows
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.measurements import Measurement
from perrecord.release.outputs import outputs_of
from perrecord.release.spec import build, load_spec, open_table

STAY, CHANGE = 5, 5
"""How many records of a table stay as they are, and how many come or go."""


class Replay:
    """A plan and the records of a table, whose sides are counted exactly."""

    def __init__(self, planned, members):
        self.planned, self.members = planned, members

    def sides(self, grouping, before, after):
        """Yield each cell that a record is in, with the records of both sides in it."""
        query = self.planned.queries[grouping.query]
        columns = grouping.grouping.columns
        counts = [Recount.of(self.members, side, query.filter) for side in (before, after)]
        first, second = (count.cells(columns) for count in counts)
        for key in first.keys() | second.keys():
            yield counts, first.get(key, []), second.get(key, [])

    def loss(self, before, after):
        """Return what really changes from one list of records to another, as a rational.

        Of quantiles the range of log ratios over these very records; only its price is rounded,
        downwards.
        """
        found = Fraction(0)
        for grouping in self.planned.groupings:
            currency = self.planned.queries[grouping.query].currency or Currency.RHO
            for counts, first, second in self.sides(grouping, before, after):
                found += self._selected(grouping, counts, first, second)
                for charged in grouping.answers:
                    for step in charged.answer.steps:
                        found += self._step(grouping, step, counts, first, second, currency)
        return found

    def _step(self, grouping, step, counts, first, second, currency):
        if not isinstance(step, Measurement):
            one, two = counts[0].scores(step, first), counts[1].scores(step, second)
            moves = [new - old for old, new in zip(one, two, strict=True)]
            eta = selection_rate(step, currency) * (max(moves) - min(moves))
            return eta if currency is Currency.EPSILON else bounded_range(eta).lower
        change = counts[0].number(step.aggregate, first) - counts[1].number(step.aggregate, second)
        noise = step.noise(self.planned.schema, grouping.grouping.columns, currency)
        record = self.members.records[[*first, *second][0]]
        return cost(noise.law(noise.scales.at(record)), change)

    def _selected(self, grouping, counts, first, second):
        cells = grouping.grouping.cells
        if not isinstance(cells, SelectKeys):
            return 0
        rows = Rows() if cells.split is None else Pieces(cells.split)
        change = counts[0].number(rows, first) - counts[1].number(rows, second)
        return cells.rho * change**2

    def delta(self, before, after):
        """Return the chance to show a key that only one side has, the larger of both."""
        shown = ([], [])
        for grouping in self.planned.groupings:
            cells = grouping.grouping.cells
            if isinstance(cells, SelectKeys):
                slot = Slot.of(
                    cells.rho, grouping.grouping.columns, cells.split, cells.threshold, None
                )
                for _, first, second in self.sides(grouping, before, after):
                    if not (first and second):
                        pieces = [slot.pieces(self.members.records[r]) for r in (*first, *second)]
                        shown[bool(first)].append(slot.delta(sum(pieces)))
        return max(map(any_of, shown))


def replay_of(folder, seed):
    """Return the replay of a random spec on a random table, and the spec's outputs."""
    random = Random(seed)
    written = random_specs.spec(random, selects=seed % 3 == 0)
    rows = random_tables.rows(random, STAY + CHANGE, extreme=seed % 5 == 0, unique=False)
    path = random_specs.write(folder / f"spec{seed}", written, rows)
    loaded = load_spec(path)
    with open_table(loaded) as table:
        planned = build(loaded, table.schema).plan
        return Replay(planned, Members.of(table.schema, rows)), outputs_of(planned)


def is_known(output):
    """Tell whether an output costs the same whatever the other records are."""
    if isinstance(output, Selection):
        return output.is_certain
    return isinstance(output, NoisyNumber) and output.scope.is_certain and output.noise.is_certain


def changes(random):
    """Yield records that go and records that come: one for one, and several of a unit."""
    stay, others = range(STAY), range(STAY, STAY + CHANGE)
    for gone in others:
        for come in others:
            if gone != come:
                yield stay, [gone], [come]
    yield stay, [], random.sample(others, 3)
    yield stay, random.sample(others, 2), []
    for _ in range(4):
        mixed = random.sample(others, CHANGE)
        yield stay, mixed[:2], mixed[2:]


@pytest.mark.parametrize("start", range(0, 36, 12))
def test_no_change_costs_more_than_the_outputs_say(tmp_path, start):
    """Twelve random specs each, every change compared as rationals; many are exactly as said."""
    seen = Counter()
    for seed in range(start, start + 12):
        replay, outputs = replay_of(tmp_path, seed)
        exact = all(map(is_known, outputs))
        for stay, gone, come in changes(Random(seed)):
            before, after = [*stay, *gone], [*stay, *come]
            old, new = ([replay.members.records[each] for each in side] for side in (gone, come))
            said, real = change_loss(outputs, old, new), replay.loss(before, after)
            assert real <= said.amount, (seed, gone, come)
            assert replay.delta(before, after) <= change_delta(outputs, old, new), (seed, gone)
            if not new:
                assert unit_loss(outputs, old).amount == said.amount
                assert unit_delta(outputs, old) == change_delta(outputs, old, new)
            if exact:
                assert real == said.amount, (seed, gone, come)
            seen.update(changed=real > 0, exact=exact and real > 0, less=0 < real < said.amount)
    assert seen["changed"] > 200
    assert seen["exact"] > 20
    assert seen["less"] > 50


def test_the_outputs_are_as_many_as_the_steps(tmp_path):
    """Every step of every answer in every grouping, and every selection, is there once."""
    for seed in range(12):
        replay, outputs = replay_of(tmp_path, seed)
        planned = replay.planned
        steps = [
            step
            for grouping in planned.groupings
            for charged in grouping.answers
            for step in charged.answer.steps
        ]
        found = [each for each in outputs if not isinstance(each, Selection)]
        assert len(found) == len(steps)
        selected = [g for g in planned.groupings if isinstance(g.grouping.cells, SelectKeys)]
        assert len(outputs) - len(found) == len(selected)
        distinct = [getattr(each, "distinct", None) for each in found]
        assert distinct == [
            step.aggregate.column
            if isinstance(step, Measurement) and isinstance(step.aggregate, Different)
            else None
            for step in steps
        ]
