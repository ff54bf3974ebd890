"""What a workload publishes, one random output at a time, and what a change of records costs there.

A change takes some records of a unit away and adds others. Its cost C is what every output
promises together: D_alpha <= alpha C in both directions, whatever the other records are (T27, T34).

    NoisyNumber       one number with noise in each cell: a count, a total, half of an average
    ChosenCandidate   one candidate in each cell: a quantile (choices.py)
    Selection         the keys that are shown
    OnRows            any mechanism on records or their pieces, of which the policy alone is known

All of it follows from public facts and from the unit's own records, cell by cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from perrecord.errors import InputError
from perrecord.laws.scales import scale_of, student_scale_of
from perrecord.policy.blurring import blurred_growth
from perrecord.policy.cases import Cases, Record, dimension, missing_field
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.compose import group_loss
from perrecord.policy.loss import NOTHING, Loss, largest, total
from perrecord.policy.policy import Policy
from perrecord.policy.scopes import Scope, Signed, differing
from perrecord.policy.slots import Slot, any_of
from perrecord.policy.terms import Currency


class CellStatement(Protocol):
    """The noise of one cell: the law and its parameter, in the measure's own units."""

    @property
    def law(self) -> str:
        """What documents call the law: a name of `perrecord.laws.scales`."""

    @property
    def spread(self) -> Fraction:
        """sigma^2 of Gaussian noise, the scale of Laplace noise, A of Student noise."""

    @property
    def step(self) -> Fraction:
        """What the noise is drawn in whole multiples of."""

    @property
    def by(self) -> Fraction | None:
        """Of a blurred number: nu by^2 times each squared shift is added to A (T28)."""


def shift_loss(cell: CellStatement, shift: Fraction, currency: Currency) -> Loss:
    """Return what it costs to move a noisy number so far."""
    scale = scale_of(cell.law, cell.spread, cell.step)
    return Loss(currency.cost(scale, shift), is_exact=scale.is_exact or not shift)


def blurred_loss(
    cell: CellStatement,
    shifts: Sequence[tuple[int, Fraction]],
    currency: Currency,
    *,
    is_sure: bool,
) -> Loss:
    """Return what shifts, each with the side that it is on, cost a blurred number together (T28).

    They move the number by their sum, and its A by their squares on either side. Unless that
    `is_sure`, they are charged one by one (T7).
    """
    if cell.by is None:
        raise InputError("some noise of a cell is blurred and some is not; expected one noise.")
    scale = student_scale_of(cell.law, cell.spread, cell.step)
    growth = blurred_growth(currency.power, scale.size, cell.by, scale.nu)
    if not is_sure:
        losses = [growth.loss(abs(shift)).amount for _, shift in shifts]
        amount = sum(losses, Fraction(0)) if currency.adds_up else group_loss(losses)
        return Loss(amount, is_exact=not amount)
    net = sum((side * shift for side, shift in shifts), Fraction(0))
    before, after = (
        sum((shift**2 for side, shift in shifts if side == own), Fraction(0)) for own in (-1, 1)
    )
    amount = growth.between(abs(net), before, after)
    return Loss(amount, is_exact=not amount)


class NoiseStatement(Protocol):
    """What is publicly said of a noisy number; `perrecord.release.noise.Noise` is one."""

    @property
    def moved(self) -> str:
        """What a record moves it by: "records", "values" or "pieces"."""

    @property
    def measure(self) -> str | None:
        """What is added up; of a count, what a record must have to be counted, if anything."""

    @property
    def is_certain(self) -> bool:
        """Whether each record that enters moves it by just its shift."""

    def at(self, record: Record) -> CellStatement | None:
        """Return the noise of the record's own cell; None if it does not enter."""

    def shift(self, record: Record) -> Fraction:
        """Return how far the record moves the number."""


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A number with noise in each cell: shifts of a unit's records add up within a cell (T17, T27).

    Gaussian noise: (net shift)^2 / (2 sigma^2). Laplace noise: |net shift| / scale, in epsilon. A
    blurred number costs what the shifts and their squares on both sides make together (T28).
    Where records may or may not move it, the net shift is the largest that any of them make. A
    count of distinct values, of the column `distinct`, moves by the values that appear or go.
    """

    noise: NoiseStatement
    scope: Scope
    currency: Currency = Currency.RHO
    distinct: str | None = None

    def __post_init__(self) -> None:
        if self.noise.moved == "pieces":
            raise InputError(
                "a count of pieces comes with its key selection at no further cost: give the "
                "Selection alone."
            )

    def loss(self, records: Sequence[Signed]) -> Loss:
        """Return what a change costs."""
        if not self.noise.is_certain and self.distinct is None:
            records = differing(records)
        return total(map(self._in_cell, self.scope.by_cell(records).values()))

    def _in_cell(self, records: list[Signed]) -> Loss:
        found = [(each, cell) for each in records if (cell := self.noise.at(each[1])) is not None]
        inside = [each for each, _ in found]
        cells = list({id(cell): cell for _, cell in found}.values())  # most often one, said twice
        # One cell has one noise; if ever it had several, the least of them would cost the most.
        if any(cell.by is not None for cell in cells):
            shifts = self._shifts(differing(inside))
            if not any(shift for _, shift in shifts):
                return NOTHING
            return largest(
                blurred_loss(cell, shifts, self.currency, is_sure=self._is_sure) for cell in cells
            )
        shift = self._net_shift(inside)
        if not shift:
            return NOTHING
        return largest(shift_loss(cell, shift, self.currency) for cell in cells)

    @property
    def _is_sure(self) -> bool:
        return self.noise.is_certain and self.scope.is_certain

    def _shifts(self, records: list[Signed]) -> list[tuple[int, Fraction]]:
        for _, record in records:
            if self.noise.measure is not None and self.noise.measure not in record:
                raise missing_field("measure", self.noise.measure, record)
        return [(sign, self.noise.shift(record)) for sign, record in records]

    def _net_shift(self, records: list[Signed]) -> Fraction:
        if self.distinct is not None:
            return self._distinct_shift(records, self.distinct)
        shifts = [sign * shift for sign, shift in self._shifts(records)]
        if self._is_sure:
            return abs(sum(shifts, Fraction(0)))
        up = sum((shift for shift in shifts if shift > 0), Fraction(0))
        return max(up, up - sum(shifts, Fraction(0)))

    def _distinct_shift(self, records: list[Signed], column: str) -> Fraction:
        """Return how many values appear at most, or go, whichever is more; NULL is none (T10)."""
        values = [(sign, dimension(record, column)) for sign, record in records]
        added = {(type(value), value) for sign, value in values if sign > 0 and value is not None}
        taken = {(type(value), value) for sign, value in values if sign < 0 and value is not None}
        if not self.scope.is_certain:
            return Fraction(max(len(added), len(taken)))
        return Fraction(max(len(added - taken), len(taken - added)))


@dataclass(frozen=True, slots=True)
class Selection:
    """Keys that are shown when the noisy count of their pieces reaches a threshold (T9, T27).

    rho times the square of what the pieces of each key change by. A key that the unit has on one
    side only may be its alone, and is then shown with the chance `deltas` gives.
    """

    slot: Slot
    is_certain: bool
    among: Cases[bool] | None = None

    @property
    def currency(self) -> Currency:
        """Always rho."""
        return Currency.RHO

    def loss(self, records: Sequence[Signed]) -> Loss:
        """Return what a change costs."""
        changes = (
            added - taken if self.is_certain else max(added, taken)
            for added, taken in self._pieces(records)
        )
        return Loss(self.slot.rho * sum(change**2 for change in changes))

    def deltas(self, records: Sequence[Signed]) -> tuple[Fraction, Fraction]:
        """Return the chance that a key is shown which the other side lacks: added, taken away."""
        sides = self.lone_pieces(records)
        return (
            any_of(self.slot.delta(added) for added, _ in sides if added),
            any_of(self.slot.delta(taken) for _, taken in sides if taken),
        )

    def lone_pieces(self, records: Sequence[Signed]) -> list[tuple[int, int]]:
        """Return the pieces, added and taken away, of each key that one side may lack."""
        pieces = self._pieces(records)
        if not self.is_certain:
            return pieces
        return [(added, taken) for added, taken in pieces if not (added and taken)]

    def _pieces(self, records: Sequence[Signed]) -> list[tuple[int, int]]:
        """Return, for each key, the pieces that are added and those that are taken away."""
        scope = Scope(self.slot.keys, self.is_certain, self.among)
        return [
            (
                sum(self.slot.pieces(record) for sign, record in inside if sign > 0),
                sum(self.slot.pieces(record) for sign, record in inside if sign < 0),
            )
            for inside in scope.by_cell(records).values()
        ]


@dataclass(frozen=True, slots=True)
class OnRows:
    """Any mechanism on records or pieces: (sum of sqrt P)^2 in each cell it runs in (T7, T20)."""

    policy: Policy
    scope: Scope

    @property
    def currency(self) -> Currency:
        """That of its policy."""
        return self.policy.currency

    def loss(self, records: Sequence[Signed]) -> Loss:
        """Return what a change costs."""
        return total(map(self._in_cell, self.scope.by_cell(differing(records)).values()))

    def _in_cell(self, records: list[Signed]) -> Loss:
        losses = [self.policy.bounded_loss(record) for _, record in records]
        amount = self.policy.group_loss([record for _, record in records])
        is_one = sum(loss.amount > 0 for loss in losses) <= 1 or self.currency.adds_up
        return Loss(amount, is_exact=is_one and all(loss.is_exact for loss in losses))


Output = NoisyNumber | ChosenCandidate | Selection | OnRows
