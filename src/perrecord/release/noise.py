"""What each published number tells of a record: how the record moves it, and the noise in it (T19).

A number is moved by a record in one of three ways: by 1 (`records`), by its value (`values`), or by
the pieces that it is cut into (`pieces`, the counts of a key selection). Noise may differ from cell
to cell; it is looked up by the record's own dimensions, and where none is found the record does not
enter. All of it is public, and is written into `policy.json`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

from perrecord.errors import InputError, MissingFieldError, SchemaError, UnknownCaseError
from perrecord.laws.blurring import check_by
from perrecord.laws.scales import LawName, scale_of, student_scale_of
from perrecord.policy.cases import Cases, Record

Moved = Literal["records", "values", "pieces"]

_LEAST = Fraction(1, 10**30)
_TWELVE_DIGITS = Context(prec=12)


@dataclass(frozen=True, slots=True)
class CellNoise:
    """The noise of a cell, in the measure's own units; `bounds` are what values are cut to first.

    `spread` is sigma^2 of discrete Gaussian noise, the scale of discrete Laplace noise, or A of
    discrete Student noise, all of them drawn in whole steps. Where a total is blurred it is A0, and
    every record of the cell adds nu by^2 times its squared value (T28).

    >>> CellNoise("gaussian", Fraction(1250), Fraction(1)).variance
    Fraction(1250, 1)
    """

    law: LawName
    spread: Fraction
    step: Fraction
    bounds: tuple[Fraction, Fraction] | None = None
    by: Fraction | None = None

    def __post_init__(self) -> None:
        scale_of(self.law, self.spread, self.step)
        if self.by is not None:
            check_by(self.by)
            student_scale_of(self.law, self.spread, self.step)
            if self.bounds is not None:
                raise InputError("a blurred number has bounds; expected values as they are.")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError("the bounds of a clamped total do not rise.")

    @property
    def variance(self) -> Fraction:
        """The variance of the noise itself, to twelve digits; at least 10^-30 squared steps.

        Of a blurred number that of a cell without records, the least.
        """
        return Fraction(self.shown_variance)

    @property
    def shown_variance(self) -> Decimal:
        """The variance as documents show it."""
        return _variance(self.law, self.spread, self.step)

    def variance_with(self, value: Fraction) -> Fraction:
        """Return the variance in a cell that holds a record of this value and no other."""
        if self.by is None:
            return self.variance
        nu = student_scale_of(self.law, self.spread, self.step).nu
        return self.variance + Fraction(nu, nu - 2) * self.by**2 * value**2

    def cut(self, value: Fraction) -> Fraction:
        """Return the value as it is added up."""
        if self.bounds is None:
            return value
        return min(max(value, self.bounds[0]), self.bounds[1])


NoiseTree = CellNoise | Cases[Any]
"""The noise of every cell, or of the cells that some dimensions tell apart."""


@dataclass(frozen=True, slots=True)
class Noise:
    """One noisy number of an answer: what a record moves it by, and the noise of its cells.

    `measure` is what is added up; of a count, what a record must have to be counted, if anything.
    A centred total adds up distances from the middle of its bounds. Where a record may be shut out
    by a filter that its dimensions do not show, `is_certain` is false.
    """

    moved: Moved
    measure: str | None
    cells: NoiseTree
    is_centred: bool = False
    is_certain: bool = True

    def __post_init__(self) -> None:
        if self.moved not in get_args(Moved):
            raise InputError(f"the noise is of {self.moved!r}; expected {get_args(Moved)}.")
        if self.moved == "values" and self.measure is None:
            raise InputError("the noise of a total names no measure.")

    def at(self, record: Record) -> CellNoise | None:
        """Return the noise of the record's own cell; None if it does not enter.

        Of a record that does not say in which cell it is, it is that of all others if no listed
        cell has less: cells with a public size are listed because theirs is wider (T28).
        """
        found: Any = self.cells
        while isinstance(found, Cases):
            try:
                found = found.at(record)
            except UnknownCaseError:
                return None
            except MissingFieldError:
                if not _has_least_by_default(found):
                    raise
                found = found.default
        return found if isinstance(found, CellNoise) else None

    def shift(self, record: Mapping[str, Any]) -> Fraction:
        """Return how far the record moves a number of records or values that it enters."""
        if self.measure is not None and record.get(self.measure) is None:
            return Fraction(0)
        if self.moved != "values":
            return Fraction(1)
        cell = self.at(record)
        if cell is None:
            return Fraction(0)
        value = cell.cut(Fraction(record[self.measure or ""]))
        low, high = cell.bounds if self.is_centred and cell.bounds else (Fraction(0), Fraction(0))
        return value - (low + high) / 2


def _has_least_by_default(cells: Cases[Any]) -> bool:
    """Tell whether the cells that are not listed have the least noise, of the same kind."""
    least = cells.default
    return isinstance(least, CellNoise) and all(
        isinstance(each, CellNoise)
        and each.spread >= least.spread
        and replace(each, spread=least.spread) == least
        for each in cells.values()
    )


def cells_of(tree: NoiseTree) -> Iterator[CellNoise]:
    """Yield the noise of every part."""
    if isinstance(tree, CellNoise):
        yield tree
    else:
        for part in tree.values():
            yield from cells_of(part)


def dimensions_read(tree: NoiseTree) -> Iterator[str]:
    """Yield the dimensions that noise depends on, some more than once."""
    if isinstance(tree, Cases):
        yield from tree.dimensions
        for part in tree.values():
            yield from dimensions_read(part)


def dimensions_needed(tree: NoiseTree) -> Iterator[str]:
    """Yield the dimensions without which it cannot be told what noise a record's cell has."""
    if isinstance(tree, Cases) and not _has_least_by_default(tree):
        yield from tree.dimensions
        for part in tree.values():
            yield from dimensions_needed(part)


def check_noise(noise: Noise, kinds: Mapping[str, type | None]) -> None:
    """Refuse noise of fields, given by their type (None: a measure), that there are not."""
    names = [(name, False) for name in dimensions_read(noise.cells)]
    names += [] if noise.measure is None else [(noise.measure, True)]
    for name, is_measure in names:
        if name not in kinds or (kinds[name] is None) != is_measure:
            role = "measure" if is_measure else "dimension"
            raise SchemaError(f"the noise reads {name!r}, which is not a field that is a {role}.")


@lru_cache(maxsize=4096)
def _variance(name: LawName, spread: Fraction, step: Fraction) -> Decimal:
    exact = max(scale_of(name, spread, step).law(step).variance().upper, _LEAST) * step**2
    rounded = _TWELVE_DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return rounded.normalize()
