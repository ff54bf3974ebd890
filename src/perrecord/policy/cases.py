"""A table of cases looked up by a record's dimensions, with an optional default.

Piecewise splits and piecewise policies are both this: a public partition of the records, fixed
in advance (T3, T5), and a value for each part.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from perrecord.errors import (
    InputError,
    MissingFieldError,
    RecordError,
    UnknownCaseError,
    listing,
    suggestion,
)

Record = Mapping[str, object]
"""One record: measure and dimension names with their values."""

DimensionValue = str | int | bool | None
"""What a dimension can hold; None is SQL's NULL."""

Key = tuple[DimensionValue, ...]

Case = TypeVar("Case", bound=DimensionValue | Key)
"""What cases go by: a value, or a value for each of several dimensions."""

TaggedKey = tuple[object, ...]
"""A key in which True and 1 differ, as they do in every database."""

V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True, slots=True, eq=False)
class Cases(Generic[V]):
    """One value per combination of dimension values; looking one up takes constant time.

    >>> size = Cases.of("industry", {"Mining": 10, "Retail": 5}, default=1)
    >>> size.at({"industry": "Mining"}), size.at({"industry": "Fishing"})
    (10, 1)
    """

    dimensions: tuple[str, ...]
    entries: tuple[tuple[Key, V], ...]
    default: V | None
    _table: dict[TaggedKey, V] = field(repr=False)
    kinds: tuple[frozenset[type], ...] = field(repr=False)
    """Of each dimension, the types that its cases have."""

    @classmethod
    def of(
        cls, dimensions: str | tuple[str, ...], cases: Mapping[Case, V], default: V | None
    ) -> "Cases[V]":
        """Build from `{value: ...}`, or `{(value, value): ...}` for several dimensions."""
        if not isinstance(cases, Mapping):
            raise InputError(
                f"the cases are a {type(cases).__name__}; expected a dictionary from values to "
                'what holds for them, such as {"Mining": ...}.'
            )
        if isinstance(dimensions, str):
            return cls.checked((dimensions,), [((key,), v) for key, v in cases.items()], default)
        names = tuple(dimensions) if isinstance(dimensions, tuple | list) else (dimensions,)
        return cls.checked(names, list(cases.items()), default)

    @classmethod
    def checked(
        cls, names: tuple[str, ...], entries: list[tuple[Any, V]], default: V | None
    ) -> "Cases[V]":
        """Build from (key, value) pairs as somebody wrote them."""
        if not names or not all(isinstance(name, str) and name for name in names):
            raise InputError(
                f"the dimensions are {names!r}; expected a column name or a tuple of them, "
                'such as "industry" or ("state", "industry").'
            )
        if len(set(names)) < len(names):
            raise InputError(f"a dimension is named twice in {listing(names)}; name each once.")
        for key, _ in entries:
            if not isinstance(key, tuple) or len(key) != len(names):
                raise InputError(
                    f"the case {key!r} does not give one value for each of {listing(names)}; "
                    f"expected a tuple of {len(names)}."
                )
            wrong = next((part for part in key if not isinstance(part, DimensionValue)), None)
            if wrong is not None:
                raise InputError(
                    f"the case {_shown(key)} holds a {type(wrong).__name__}; a dimension's value "
                    "is text, a whole number, a truth value or None."
                )
        return cls.from_entries(names, entries, default)

    @classmethod
    def from_entries(
        cls, dimensions: tuple[str, ...], entries: list[tuple[Key, V]], default: V | None
    ) -> "Cases[V]":
        """Build from (key, value) pairs that are already checked."""
        table = {_tagged(key): value for key, value in entries}
        if len(table) < len(entries):
            raise InputError("a case is given twice; give each combination of values once.")
        if not table and default is None:
            raise InputError("there is neither a case nor a default; give at least one.")
        kinds = tuple(
            frozenset(type(key[index]) for key, _ in entries) - {type(None)}
            for index in range(len(dimensions))
        )
        return cls(dimensions, tuple(entries), default, table, kinds)

    def at(self, record: Record) -> V:
        """Return the value for this record's dimensions."""
        return self.locate(record)[1]

    def locate(self, record: Record) -> tuple[TaggedKey | None, V]:
        """Return the key of the case that fits, None for the default, and its value."""
        values = tuple([dimension(record, name) for name in self.dimensions])
        for name, value, kinds in zip(self.dimensions, values, self.kinds, strict=True):
            if value is not None and kinds and type(value) not in kinds:
                raise RecordError(
                    f"the record's dimension {name!r} is {_WORDS[type(value)]}, its cases are "
                    f"{' or '.join(sorted(_WORDS[kind] for kind in kinds))}: 11, '11' and True "
                    "are different values. Write both in the same way."
                )
        key = _tagged(values)
        if key in self._table:
            return key, self._table[key]
        if self.default is None:
            raise UnknownCaseError(
                f"the record's {listing(self.dimensions)} matches none of the declared cases "
                f"({listing(_shown(key) for key, _ in self.entries)}) and there is no default; "
                "add a case for it, or default=..."
            )
        return None, self.default

    def values(self) -> Iterator[V]:
        """Yield every case's value, then the default's if there is one."""
        for _, value in self.entries:
            yield value
        if self.default is not None:
            yield self.default

    def tagged_items(self) -> Iterable[tuple[TaggedKey, V]]:
        """Return every case with its key as it is looked up."""
        return self._table.items()

    def map(self, function: Callable[[V], W]) -> "Cases[W]":
        """Return the same cases with a function applied to each value."""
        entries = [(key, function(value)) for key, value in self.entries]
        default = None if self.default is None else function(self.default)
        return Cases.from_entries(self.dimensions, entries, default)

    def merge(self, other: "Cases[V]", combine: Callable[[V, V], V]) -> "Cases[V]":
        """Return the pointwise combination of two tables over the same dimensions.

        A key that one table lacks takes that table's default; with no default it is undefined
        there, and so in the result.
        """
        entries = []
        keys = {_tagged(key): key for key, _ in (*self.entries, *other.entries)}
        for tagged, key in keys.items():
            mine = self._table.get(tagged, self.default)
            theirs = other._table.get(tagged, other.default)
            if mine is not None and theirs is not None:
                entries.append((key, combine(mine, theirs)))
        default = None
        if self.default is not None and other.default is not None:
            default = combine(self.default, other.default)
        if not entries and default is None:
            raise InputError(
                f"the two share no case of {listing(self.dimensions)}, so their sum is defined for "
                "no record; give at least one of them a default."
            )
        return Cases.from_entries(self.dimensions, entries, default)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cases):
            return NotImplemented
        return (
            self.dimensions == other.dimensions
            and self._table == other._table
            and self.default == other.default
        )

    def __hash__(self) -> int:
        return hash((self.dimensions, frozenset(self._table), self.default))


def as_record(given: Any) -> Record:
    """Return a record as a mapping: a dict, or anything with keys() such as a database row."""
    if isinstance(given, Mapping):
        return given
    if hasattr(given, "keys") and hasattr(given, "__getitem__"):
        return {name: given[name] for name in given.keys()}  # noqa: SIM118 - rows iterate values
    raise RecordError(
        f"the record is a {type(given).__name__}; expected a dictionary of measures and "
        'dimensions, such as {"employees": 150, "industry": "Mining"}.'
    )


def dimension(record: Record, name: str) -> DimensionValue:
    """Return a record's dimension as plain text, whole number, truth value or None."""
    try:
        value: Any = record[name]
    except KeyError:
        raise missing_field("dimension", name, record) from None
    return value if type(value) in _PLAIN else plain_dimension(value, name)


_PLAIN = frozenset({str, int, bool, type(None)})
_WORDS: dict[type, str] = {str: "text", int: "a whole number", bool: "a truth value"}


def plain_dimension(value: Any, name: str) -> DimensionValue:
    """Return what numpy and subclasses hold as a plain value; NaN is a missing value."""
    plain = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if isinstance(plain, float) and math.isnan(plain):
        return None
    for kind in (bool, int, str):
        if isinstance(plain, kind):
            return kind(plain)
    if plain is None:
        return None
    raise RecordError(
        f"the record's dimension {name!r} is a {type(value).__name__}; expected text, a whole "
        "number, a truth value or None."
    )


def missing_field(role: str, name: str, record: Record) -> MissingFieldError:
    """Return the error for a record that lacks a measure or dimension; it quotes no value."""
    known = [str(field) for field in record]
    return MissingFieldError(
        f"the record has no {role} {name!r}. It has {listing(known) or 'no fields'}."
        f"{suggestion(name, known)}"
    )


def _tagged(key: Key) -> TaggedKey:
    """Keep True apart from 1: they are equal in Python and different in every database."""
    if True in key or False in key:
        return tuple([(part,) if isinstance(part, bool) else part for part in key])
    return key


def _shown(key: Key) -> str:
    return str(key[0]) if len(key) == 1 else str(key)
