"""What one answer or one key selection of a release costs: a record, and a change of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import CurrencyError, InputError
from perrecord.policy.cases import Record
from perrecord.policy.changes import change_loss, signed
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.loss import Loss, largest, total
from perrecord.policy.outputs import NoisyNumber, OnRows, Output, Selection
from perrecord.policy.policy import Policy
from perrecord.policy.reads import reads
from perrecord.policy.terms import slots_of
from perrecord.release.curves import curve_of, together
from perrecord.release.noise import Noise, dimensions_needed

Pair = tuple[Record, Record]
"""A record and the one that takes its place, as the policy sees them."""


@dataclass(frozen=True, slots=True)
class PublishedCharge:
    """What one answer, or one key selection, costs a record, and the noise that it carries.

    `noise` lists the noisy numbers that are published: none for a quantile or a choice of keys,
    which are no numbers with noise added. `outputs` says of each number, choice and selection
    which records share a cell, so that changes can be priced (T27). None means: not stated.
    """

    name: str
    title: str
    policy: Policy
    noise: tuple[Noise, ...] | None = None
    outputs: tuple[Output, ...] | None = None

    def __post_init__(self) -> None:
        slots = {slot for _, slot in self.policy.slots}
        for each in self.outputs or ():
            match each:
                case NoisyNumber(noise) if noise not in (self.noise or ()):
                    raise InputError(f"an output of {self.name!r} has noise that is not stated.")
                case Selection(slot) if {slot} != slots:
                    raise InputError(
                        f"an output of {self.name!r} is not a selection that it pays for."
                    )
                case OnRows():
                    raise InputError(
                        f"an output of {self.name!r} is run on rows, of which nothing but its "
                        "policy is known; leave its outputs out."
                    )
            if each.currency is not self.policy.currency:
                raise CurrencyError(f"an output of {self.name!r} is in another currency.")

    def change(self, pairs: Sequence[Pair]) -> Loss:
        """Return what it costs that one record is replaced by another (T27).

        Of several pairs it may be each at every output, whichever costs more. From the policy alone
        (T20) where outputs are not stated.
        """
        if self.outputs is None:
            return largest(Loss(self.policy.change(*pair), is_exact=False) for pair in pairs)
        return total(self._at_most(output, pairs) for output in self.outputs)

    def _at_most(self, output: Output, pairs: Sequence[Pair]) -> Loss:
        every = [change_loss([output], [before], [after]) for before, after in pairs]
        most = largest(every)
        is_exact = most.is_exact and all(each.amount == most.amount for each in every)
        return Loss(most.amount, is_exact=is_exact)

    def lone_keys(
        self, before: Sequence[Record], after: Sequence[Record]
    ) -> tuple[Fraction, Fraction]:
        """Return the chance that a key is shown which the other side lacks: after, before (T9)."""
        if self.outputs is None:
            return self.policy.group_delta(after), self.policy.group_delta(before)
        sides = [
            (added, taken, curve_of(each.slot))
            for each in self.outputs
            if isinstance(each, Selection)
            for added, taken in each.lone_pieces(signed(before, after))
        ]
        return (
            together(curve.at(added) for added, _, curve in sides if added),
            together(curve.at(taken) for _, taken, curve in sides if taken),
        )

    def columns(self) -> Iterator[str]:
        """Yield the columns that cells go by, and those whose different values are counted."""
        for each in self.outputs or ():
            match each:
                case Selection(slot):
                    yield from slot.keys
                case NoisyNumber(_, scope, _, str(distinct)):
                    yield from (*scope.columns, distinct)
                case _:
                    yield from each.scope.columns

    def told_by(self) -> Iterator[str]:
        """Yield the dimensions whose values matter: to a filter, to a noise, to pieces."""
        for each in self.outputs or ():
            among = each.among if isinstance(each, Selection) else each.scope.among
            if among is not None:
                yield from among.dimensions
        for noise in self.noise or ():
            yield from dimensions_needed(noise.cells)
        if self.outputs is None or any(isinstance(each, Selection) for each in self.outputs):
            yield from (name for name, _ in reads(self.policy.form))

    def measures(self) -> Iterator[str]:
        """Yield the measures that its numbers add up or count, or that its choices depend on."""
        for noise in self.noise or ():
            if noise.measure is not None:
                yield noise.measure
        for each in self.outputs or ():
            if isinstance(each, ChosenCandidate):
                yield from each.measures


@dataclass(frozen=True, slots=True)
class ChargeShare:
    """The part of a record's loss, and of its delta, that one charge makes."""

    charge: PublishedCharge
    loss: Fraction
    delta: Fraction


def published_delta(policy: Policy, record: Record) -> Fraction:
    """Return delta(r) as the curves give it, never below the true one (T9)."""
    runs = slots_of(policy.form, record)
    return together(curve_of(slot).at(slot.pieces(record)) for _, slot in runs)
