"""Blurred totals: Student noise that grows with the records of the cell itself (T28)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from perrecord.lab.audit.sample.case import (
    ASKED,
    LOSSES,
    SIZES,
    Queries,
    SampledCase,
    grouped_by_sector,
    record,
)
from perrecord.lab.audit.sample.worlds import OWN, Attack, Outputs, in_worlds
from perrecord.mechanisms.answers import Answers
from perrecord.queries.methods import Blur, Taper
from perrecord.released.blurred import Blurred

_BY = Fraction(1, 10)


def blurred_cases() -> Iterator[SampledCase]:
    """Yield blurred totals with and without a record, and with a giant that changes by a tenth."""
    for loss in LOSSES[:2]:
        yield _case("total, blurred", 1000, loss)
        yield _case("total, blurred, nu = 3", 1000, loss, nu=3)
    yield _case("total, blurred, a negative value", -500, LOSSES[1])
    for size in SIZES[4:]:
        yield _case(f"total, blurred, a record of {size:,}", size, LOSSES[1])
    for size in SIZES[4::5]:
        for words, change in (("more", size // 10), ("less", -size // 10)):
            name = f"total, blurred, a record of {size:,} or 10 % {words}"
            yield _case(name, size, LOSSES[1], instead=size + change)


def _case(
    name: str, size: int, loss: Fraction, *, nu: int = 7, instead: int | None = None
) -> SampledCase:
    """Return a case in which the record is alone in its cell, where it loses the most."""
    taper = Taper(emp=1000, nu=nu)
    query = ASKED.sum("emp", taper=taper, blur=Blur(_BY, signed=True), rho=loss)
    asked = Queries(partial(grouped_by_sector, query), _likeliest(size, instead or 0))
    # Policies compare records that differ in measures they read: `emp`, and not `fives`.
    other = None if instead is None else {**record(size), "emp": instead}
    return SampledCase(name, record(size), asked, is_exact=False, instead=other)


def _likeliest(one: int, other: int) -> Attack:
    """Return the best attack: the log ratio of the law with one value to that with the other."""

    def attack(answers: Sequence[Answers], worlds: int) -> Outputs:
        (each,) = answers
        (column,) = each.columns
        assert isinstance(column, Blurred)  # noqa: S101 - the cases ask for one blurred total
        seen = in_worlds(each, column.numbers.astype(np.float64), OWN, worlds)
        return _log_density(column, seen, float(one)) - _log_density(column, seen, float(other))

    return attack


def _log_density(column: Blurred, seen: Outputs, value: float) -> Outputs:
    """Return the logarithm of a Student density about a value that is alone in its cell."""
    spread = float(column.spread) + column.nu * (float(column.by) * value) ** 2
    far = np.log(spread + (seen - value) ** 2)
    return np.asarray(column.nu / 2 * np.log(spread) - (column.nu + 1) / 2 * far)
