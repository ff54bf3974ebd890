"""What it costs that a value of a record is somewhat greater: the curves C_p beside P (T27).

C_p(r) = C(r, r with one measure p % greater), for p of 5, 10 and 20, everything else being equal
but what follows from the measure. The greater value is rounded away from 0 to the grid, so that it
is never less than p % greater, and a table counts it as `largest` at most.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from perrecord.errors import MissingFieldError
from perrecord.exact import ceil_div, text
from perrecord.policy.cases import Record
from perrecord.policy.document import Json
from perrecord.policy.loss import Loss
from perrecord.tables.measures import Measure

if TYPE_CHECKING:
    from perrecord.release.document import PublishedPolicy

PERCENTS = (5, 10, 20)

_TWELVE_DIGITS = Context(prec=12, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Raised:
    """What it costs that one measure of a record is so many percent greater."""

    example: str
    measure: str
    percent: int
    value: Fraction
    other: Fraction
    loss: Loss
    delta: Fraction
    records: tuple[Record, Record]
    """The record and the greater one, with the fields that are known of both."""


def raised_value(rule: Measure, value: Fraction, percent: int) -> Fraction:
    """Return a value so many percent greater, on the grid, and within what the table counts.

    >>> employees = Measure(Fraction(1))
    >>> [int(raised_value(employees, Fraction(size), 10)) for size in (0, 5, 4000, -12)]
    [0, 6, 4400, -14]
    """
    steps = abs(value) / rule.resolution * Fraction(100 + percent, 100)
    size = min(ceil_div(steps.numerator, steps.denominator), rule.largest) * rule.resolution
    return size if value >= 0 else -size


def raised(
    published: "PublishedPolicy",
    name: str,
    row: Mapping[str, Any],
    percents: Iterable[int] = PERCENTS,
) -> Iterator[Raised]:
    """Yield C_p of each measure that a record has, and of each p; nothing where none is greater.

    Nothing either where the record lacks a field that the cost depends on. What is computed from a
    greater measure is computed anew; it is not made greater by itself. So is a dimension that
    follows from it, such as a size class: a record may leave one cell and enter another. Nothing,
    too, where something is published of another measure that is then another in a way not known.
    """
    record = published.record(row)
    for field in published.fields:
        value = record.get(field.name)
        if field.kind != "measure" or value is None or published.follows(field, record):
            continue
        for percent in percents:
            other = raised_value(field.measure(), value, percent)
            changed = published.replaced(record, field.name, other)
            if other == value:
                continue
            pair = published.origins.followed(field.name, record, changed)
            try:
                cost = published.change(*pair), published.change_delta(*pair)
            except MissingFieldError:
                continue
            yield Raised(name, field.name, percent, value, other, *cost, pair)


def write_raised(found: Raised) -> Json:
    """Return one figure as plain values; a loss that is not exact has twelve digits, rounded up."""
    return {
        "example": found.example,
        "measure": found.measure,
        "percent": found.percent,
        "value": text(found.value),
        "other": text(found.other),
        "loss": _written(found.loss),
        "exact": found.loss.is_exact,
        "delta": text(found.delta),
    }


def _written(loss: Loss) -> str:
    if loss.is_exact:
        return text(loss.amount)
    amount = loss.amount
    shown = _TWELVE_DIGITS.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return format(shown.normalize(), "f")
