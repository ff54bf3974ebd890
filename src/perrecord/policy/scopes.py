"""Which records of a change enter an output, and which of them share a cell (T27, T34)."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InputError
from perrecord.policy.cases import Cases, DimensionValue, Record, dimension

Signed = tuple[int, Record]
"""A record with 1 if a change adds it, and -1 if it takes it away."""

Cell = tuple[Hashable, ...]


def differing(records: Sequence[Signed]) -> list[Signed]:
    """Return the records of a change without those that are on both of its sides."""
    known = [_identity(record) for _, record in records]
    net: Counter[Hashable] = Counter()
    for (sign, _), one in zip(records, known, strict=True):
        net[one] += sign
    kept = []
    for (sign, record), one in zip(records, known, strict=True):
        if net[one] * sign > 0:
            net[one] -= sign
            kept.append((sign, record))
    return kept


def _identity(record: Record) -> Hashable:
    """Return what makes two records the same, True and 1 apart."""
    try:
        return frozenset((name, type(value), value) for name, value in record.items())
    except TypeError:
        raise InputError(
            "a field of a record is a list or another value that changes; expected numbers, "
            "texts, truth values and None."
        ) from None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which records enter an output, and the columns by whose values they share a cell.

    `among` says which values of dimensions pass a filter; without it all do. Unless `is_certain`,
    a record that passes may be left out nevertheless, by a condition that dimensions do not show.
    """

    columns: tuple[str, ...]
    is_certain: bool
    among: Cases[bool] | None = None

    def by_cell(self, records: Sequence[Signed]) -> dict[Cell, list[Signed]]:
        """Return the records that enter, cell by cell.

        One that is on both sides of a change is left out with itself, if at all.
        """
        found: dict[Cell, list[Signed]] = {}
        for sign, record in records if self.is_certain else differing(records):
            if self.among is None or self.among.at(record):
                values = (_key_part(record, name) for name in self.columns)
                cell = tuple((type(value), value) for value in values)
                found.setdefault(cell, []).append((sign, record))
        return found


def _key_part(record: Record, name: str) -> DimensionValue:
    """Return the part of a key that a column gives: a measure of whole numbers is one, too."""
    value = record.get(name)
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return dimension(record, name)
