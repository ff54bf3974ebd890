"""What a change of records costs, and what a unit of several records loses (T27, T34).

Losses of one change add up over outputs, each found cell by cell: what a unit's records do to one
cell adds up there, and cells are independent. It is never more than T7 and T20 make of the losses
of the single records, and far less where a change is small or a unit is spread over many cells:

>>> from fractions import Fraction
>>> from perrecord.release.noise import CellNoise, Noise
>>> noise = Noise("values", "emp", CellNoise("gaussian", Fraction(1250), Fraction(1)))
>>> totals = NoisyNumber(noise, Scope(("county",), is_certain=True))
>>> firm = [{"county": place, "emp": 50} for place in ("Kent", "Sussex", "York")]
>>> print(unit_loss([totals], firm), "of", 9)          # one for each county; T7: (1 + 1 + 1)^2
3 of 9
>>> grown = [{"county": "Kent", "emp": 55}, *firm[1:]]
>>> print(change_loss([totals], firm, grown))          # 5^2 / 2500; T20: (1 + 1.1)^2
0.01
"""

from collections.abc import Iterable
from fractions import Fraction

from perrecord.errors import CurrencyError
from perrecord.policy.cases import Record, as_record
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.inputs import several
from perrecord.policy.loss import Loss, total
from perrecord.policy.outputs import NoisyNumber, OnRows, Output, Selection
from perrecord.policy.scopes import Scope, Signed
from perrecord.policy.slots import any_of

__all__ = [
    "ChosenCandidate",
    "NoisyNumber",
    "OnRows",
    "Output",
    "Scope",
    "Selection",
    "change_delta",
    "change_loss",
    "signed",
    "unit_delta",
    "unit_loss",
]


def change_loss(
    outputs: Iterable[Output], before: Iterable[Record], after: Iterable[Record]
) -> Loss:
    """Return C: D_alpha <= alpha C both ways when some records are replaced by others (T27).

    The records are those of one unit, before and after, on the grid and with every field that the
    outputs or their filters read; two that are equal count as one that stays as it is. Under pure
    epsilon, C bounds the logarithm of every likelihood ratio.
    """
    every = _of_one_currency(outputs)
    records = signed(before, after)
    return total(output.loss(records) for output in every)


def change_delta(
    outputs: Iterable[Output], before: Iterable[Record], after: Iterable[Record]
) -> Fraction:
    """Return the delta that goes with `change_loss`, rounded up: 0 unless keys are selected (T9).

    A key that the unit has before and after is shown or not whoever asks. One that it has on one
    side only may be its alone; each side has its own chance to show one, and the larger counts.
    """
    records = signed(before, after)
    sides = [each.deltas(records) for each in outputs if isinstance(each, Selection)]
    return max(any_of(added for added, _ in sides), any_of(taken for _, taken in sides))


def unit_loss(outputs: Iterable[Output], records: Iterable[Record]) -> Loss:
    """Return what all records of a unit lose together, when they are taken away or added (T34)."""
    return change_loss(outputs, records, [])


def unit_delta(outputs: Iterable[Output], records: Iterable[Record]) -> Fraction:
    """Return the delta that goes with `unit_loss`, rounded up (T9)."""
    return change_delta(outputs, records, [])


def _of_one_currency(outputs: Iterable[Output]) -> list[Output]:
    every = list(outputs)
    currencies = sorted({output.currency.value for output in every})
    if len(currencies) > 1:
        raise CurrencyError(
            "some outputs are in rho and some in epsilon; expected one currency. Ask for each "
            "apart: the two never mix in one sum."
        )
    return every


def signed(before: Iterable[Record], after: Iterable[Record]) -> list[Signed]:
    """Return the records that a change adds (1) and takes away (-1)."""
    added = [(1, as_record(record)) for record in several(after)]
    return [*added, *((-1, as_record(record)) for record in several(before))]
