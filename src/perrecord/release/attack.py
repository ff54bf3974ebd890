"""What somebody who knows every other record could find out about one, from this release (T19).

Three figures follow from the noise of the answers, which is public: how closely each value could be
estimated, and about how often a test would recognise the record, or tell it from another. All say
"about": the noise is discrete and the formulas are those of continuous noise. The policy page
computes the same.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from perrecord.exact import float_up
from perrecord.laws.scales import GaussianScale
from perrecord.policy.cases import Record
from perrecord.policy.changes import NoisyNumber, Output, signed
from perrecord.policy.loss import Loss
from perrecord.policy.meaning import SMALLEST_SIGMA, gaussian_power, power_at_most
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency, slots_of
from perrecord.release.document import PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise, dimensions_read

_HALF = 1.6448536269514722
"""The point of the normal law that 5 % lie beyond."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """How closely one measure of a record could be estimated, in the measure's own units.

    `error` is a standard error; None if no published number tells of the value. With `is_least`
    some of the numbers may not hold the record, so that the error is at least this.
    """

    measure: str
    value: Fraction
    error: float | None
    is_least: bool
    is_cut: bool
    """Whether some total holds the value only cut to bounds, and tells nothing of it."""

    @property
    def relative(self) -> float | None:
        """The error as a share of the value; None for a value of 0, and where nothing tells."""
        if self.error is None or self.value == 0:
            return None
        return self.error / abs(float(self.value))

    @property
    def told_apart(self) -> float | None:
        """By what share another value must differ to be told from it half of the time, about.

        By the best test with 5 % false alarms: 1.645 standard errors (T27).
        """
        return None if self.relative is None else _HALF * self.relative


def estimates(published: PublishedPolicy, row: Record) -> tuple[Estimated, ...]:
    """Return, for each measure that a record has, how closely it could be estimated.

    The standard error is 1/sqrt(sum of 1/variance) over the published numbers about the measure
    that the record enters, whatever its loss is: that of their mean, weighted by the inverses of
    the variances. Empty where noise is not stated in full; and nothing is said of measures that
    something published is computed from, which tells of them too.
    """
    record = published.record(row)
    if not is_stated(published, record):
        return ()
    names = [field.name for field in published.by_themselves]
    return tuple(
        _estimated(published, record, name) for name in names if record.get(name) is not None
    )


def is_stated(published: PublishedPolicy, record: Record) -> bool:
    """Tell whether every answer states its noise, and nothing is kept for further answers."""
    spent = sum((charge.policy.loss(record) for charge in published.charges), Fraction(0))
    return spent == published.total.loss(record) and all(
        charge.noise is not None for charge in published.charges
    )


def fields_of_noise(published: PublishedPolicy) -> frozenset[str]:
    """Return the fields that the noise of the answers depends on, or is about."""
    found: set[str] = set()
    for charge in published.charges:
        for noise in charge.noise or ():
            found.update(dimensions_read(noise.cells))
            found.update([] if noise.measure is None else [noise.measure])
    return frozenset(found)


def shifted_loss(published: PublishedPolicy, row: Record) -> Fraction | None:
    """Return what a record really loses, sum of shift^2/(2 sigma^2), never above its policy.

    None unless every answer that it enters is a number with Gaussian noise of at least ten grid
    steps, and certainly moved by it: only then do the continuous Gaussian's figures apply (T19).
    """
    record = published.record(row)
    is_rho = published.total.currency is Currency.RHO
    if not is_rho or not is_stated(published, record):
        return None
    if next(slots_of(published.total.form, record), None) is not None:
        return None
    loss = Fraction(0)
    for charge in published.charges:
        if charge.policy.loss(record) and not charge.noise:
            return None  # a quantile
        for noise, cell in _entered(charge, record):
            shift = noise.shift(record)
            if not shift:
                continue
            if not (noise.is_certain and _is_wide(cell)):
                return None
            loss += shift**2 / (2 * cell.spread)
    return loss


def recognised(published: PublishedPolicy, row: Record) -> float | None:
    """Return about how often the best test at 5 % false alarms finds the record; None if unknown.

    >>> from perrecord import Policy, Split
    >>> from perrecord.release.document import Field
    >>> noise = Noise("values", "x", CellNoise("gaussian", Fraction(5000), Fraction(1)))
    >>> policy = Policy.split("0.25", Split(x=50))
    >>> charge = PublishedCharge("totals.x", "A total", policy, (noise,))
    >>> x = Field("x", "measure", resolution=Fraction(1))
    >>> published = PublishedPolicy("T", "t", (x,), (charge,), policy)
    >>> record = {"x": "60"}
    >>> round(recognised(published, record), 3), round(estimates(published, record)[0].error)
    (0.213, 71)
    """
    loss = shifted_loss(published, row)
    return None if loss is None else gaussian_power(float(loss))


def recognised_at_most(published: PublishedPolicy, row: Record) -> float:
    """Return how often, at most, any test at 5 % false alarms finds the record (T16, T19)."""
    return _at_most(published.loss(row), published.delta(row), published.total.currency)


def told_apart(published: PublishedPolicy, row: Record, other: Record, cost: Loss) -> float | None:
    """Return about how often the best test at 5 % false alarms tells two records apart (T27).

    The cost is that of the change from one to the other. None unless all that differs are numbers
    with Gaussian noise of at least ten grid steps, which both records certainly move.
    """
    pairs = published.pairs(row, other)
    is_rho = published.total.currency is Currency.RHO
    if not is_rho or published.keeps_something(*pairs[0]):
        return None
    for charge in published.charges:
        if charge.outputs is None:
            return None
        for output, (before, after) in product(charge.outputs, pairs):
            if output.loss(signed([before], [after])).amount and not _is_gaussian(
                output, before, after
            ):
                return None
    return gaussian_power(float(cost.amount))


def told_apart_at_most(cost: Loss, delta: Fraction, currency: Currency) -> float:
    """Return how often, at most, any test at 5 % false alarms sees a change of this cost (T27)."""
    return _at_most(cost.amount, delta, currency)


def _at_most(loss: Fraction, delta: Fraction, currency: Currency) -> float:
    if currency is Currency.RHO:
        return power_at_most(loss, key_delta=delta)
    factor = math.exp(min(float_up(loss), 700.0))
    return min(1.0, 0.05 * factor, 1 - 0.95 / factor)


def _is_gaussian(output: Output, *records: Record) -> bool:
    """Tell whether an output is a number with wide Gaussian noise that records certainly move."""
    match output:
        case NoisyNumber(Noise() as noise, scope):
            cells = [cell for each in records if (cell := noise.at(each)) is not None]
            is_certain = noise.is_certain and scope.is_certain
            return is_certain and all(map(_is_wide, cells))
    return False


def _is_wide(cell: CellNoise) -> bool:
    """Tell whether noise is Gaussian of at least ten steps, so that T19's figures apply."""
    is_gaussian = cell.law == GaussianScale.name
    return is_gaussian and cell.spread >= (SMALLEST_SIGMA * cell.step) ** 2


def _estimated(published: PublishedPolicy, record: Mapping[str, Any], name: str) -> Estimated:
    value = Fraction(record[name])
    information, is_least, is_cut = Fraction(0), False, False
    for charge in published.charges:
        for noise, cell in _entered(charge, record):
            told = _information_about(name, value, noise, cell, charge, record)
            if told is not None:
                information += told
                is_least |= not noise.is_certain
            is_cut |= noise.moved == "values" and noise.measure == name and told is None
    error = math.sqrt(1 / information) if information else None
    return Estimated(name, value, error, is_least, is_cut)


def _information_about(
    name: str,
    value: Fraction,
    noise: Noise,
    cell: CellNoise,
    charge: PublishedCharge,
    record: Record,
) -> Fraction | None:
    """Return what a published number adds to 1 / error^2 of a measure; None if nothing."""
    match noise.moved:
        case "values" if noise.measure == name and cell.cut(value) == value:
            return 1 / cell.variance_with(value)
        case "pieces":
            for _, slot in slots_of(charge.policy.form, record):
                scheme = None if slot.split is None else slot.split.at(record)
                if isinstance(scheme, Split) and _drives(scheme, record, name):
                    return 1 / (cell.variance * scheme.threshold(name) ** 2)
    return None


def _drives(scheme: Split, record: Mapping[str, Any], name: str) -> bool:
    """Tell whether a measure alone decides a record's number of pieces: no floor, no cap (T3)."""
    parts = {
        each: math.ceil(abs(Fraction(record[each] or 0)) / threshold)
        for each, threshold in scheme.thresholds
    }
    most = max(parts.values())
    return parts.get(name) == most > 1 and (scheme.cap is None or most <= scheme.cap)


def _entered(charge: PublishedCharge, record: Record) -> Iterator[tuple[Noise, CellNoise]]:
    for noise in charge.noise or ():
        cell = noise.at(record)
        if cell is not None:
            yield noise, cell
