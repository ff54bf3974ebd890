"""Public key sets: which cells a query answers for, whatever the data holds.

Keys are public: they come from a list, a file or a classification, never from the confidential
table. Every key appears in the answer, empty or not, in the order of the set, which is sorted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, listing, suggestion
from perrecord.tables.given import ArrowStream, arrow_table
from perrecord.tables.public_files import read_columns
from perrecord.tables.reading import File
from perrecord.tables.rows import different_rows, in_order, numbered

KeyValue = str | int | None
"""What a key column holds: text, whole numbers, or truth values (which Python counts as whole)."""

KeyColumns = ArrowStream | Mapping[str, Iterable[KeyValue]]
Child = TypeVar("Child", bound=KeyValue)

_SIDE = "side"
_MOST_KEYS = 250_000_000
_STRETCH = 1 << 17
_TYPES = {
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "integer": (pa.types.is_integer,),
    "truth": (pa.types.is_boolean,),
    "null": (pa.types.is_null,),
}
_HALF = "half a character (\\ud800 to \\udfff), which no file can hold; write the character itself."
_STORED = {"text": pa.string(), "integer": pa.int64(), "truth": pa.bool_(), "null": pa.string()}


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Keys:
    """A set of keys over named columns, sorted, each once.

    >>> states = Keys.from_dict({"state": ["TX", "NM"]})
    >>> kinds = Keys.from_dict({"kind": ["farm", "ranch"]})
    >>> (states * kinds).rows()
    [('NM', 'farm'), ('NM', 'ranch'), ('TX', 'farm'), ('TX', 'ranch')]
    """

    factors: tuple[pa.Table, ...]
    """Tables of different columns; the keys are every combination of a row of each."""

    def __init__(self, columns: KeyColumns) -> None:
        """Take the rows of a table as keys: an Arrow table, a data frame, or lists by name."""
        object.__setattr__(self, "factors", (_checked(columns),))

    @classmethod
    def trusted(cls, *factors: pa.Table) -> "Keys":
        """Return every combination of rows of tables that are known to be as `_checked` gives."""
        keys = cls.__new__(cls)
        object.__setattr__(keys, "factors", factors)
        return keys

    @classmethod
    def from_dict(cls, values: Mapping[str, Iterable[KeyValue]]) -> "Keys":
        """Return every combination of the listed values."""
        if not isinstance(values, Mapping) or not values:
            raise InputError(
                'the keys name no column; give at least one, such as {"state": ["TX", "NM"]}.'
            )
        sets = [cls.from_columns({name: list(each)}) for name, each in values.items()]
        whole = sets[0]
        for each in sets[1:]:
            whole *= each
        return whole

    @classmethod
    def from_columns(cls, columns: KeyColumns) -> "Keys":
        """Return the rows of a table as keys: an Arrow table, a data frame, or lists by name."""
        return cls(columns)

    @classmethod
    def read(cls, path: str | Path | File, columns: str | Sequence[str] | None = None) -> "Keys":
        """Return the keys that a Parquet or CSV file lists; every column of a CSV file is text.

        Codes such as 01001 keep their zeros. Make numbers of them with Parquet, or before. A file
        with other separators or encodings is a `File`, as a source is.
        """
        table = read_columns(path, "key")
        if columns is not None:
            table = table.select([_known(name, table.column_names) for name in names_of(columns)])
        return cls.from_columns(table)

    @property
    def table(self) -> pa.Table:
        """Every key as a row, sorted; a product is written out each time."""
        return self.factors[0] if len(self.factors) == 1 else _written_out(self.factors)

    @property
    def encoded(self) -> pa.Table:
        """The same rows, with the text of each column as numbers of its different values."""
        return _written_out([_encoded(factor) for factor in self.factors])

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the key columns, in order."""
        return pa.schema([field for factor in self.factors for field in factor.schema])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the key columns, in order."""
        return tuple(name for factor in self.factors for name in factor.column_names)

    def __len__(self) -> int:
        return prod(factor.num_rows for factor in self.factors)

    def rows(self) -> list[tuple[KeyValue, ...]]:
        """Return every key as a tuple."""
        return list(zip(*(column.to_pylist() for column in self.table.columns), strict=True))

    def __iter__(self) -> Iterator[tuple[KeyValue, ...]]:
        return iter(self.rows())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Keys):
            return NotImplemented
        if [each.schema.names for each in self.factors] == [e.schema.names for e in other.factors]:
            pairs = zip(self.factors, other.factors, strict=True)
            if all(one.equals(another) for one, another in pairs):
                return True  # without writing a product out
        return self.columns == other.columns and bool(self.table.equals(other.table))

    def __hash__(self) -> int:
        return hash((self.columns, len(self)))

    def __mul__(self, other: "Keys") -> "Keys":
        """Return every combination of a key of this set and one of the other."""
        shared = [name for name in other.columns if name in self.columns]
        if shared:
            raise InputError(
                f"both key sets name {listing(shared)}; a product takes sets of different columns. "
                "For the union write +."
            )
        size = len(self) * len(other)
        if size > _MOST_KEYS:
            raise InputError(
                f"the product has {size:,} keys; expected at most {_MOST_KEYS:,}. Leave out a "
                "column, or declare a Domain and keep its large cells."
            )
        return Keys.trusted(*self.factors, *other.factors)  # sorted, because both are

    def __add__(self, other: "Keys") -> "Keys":
        """Return the keys of either set."""
        return Keys.from_columns(pa.concat_tables([self.table, self._alike(other, "+")]))

    def __sub__(self, other: "Keys") -> "Keys":
        """Return the keys of this set that are not in the other."""
        theirs = self._alike(other, "-")
        sides = pa.chunked_array([pa.array(np.repeat([1, 2], [len(self), len(theirs)]), pa.int8())])
        plain = numbered(pa.concat_tables([self.table, theirs]))
        both = plain.append_column(_SIDE, sides)
        found = both.group_by(plain.column_names, use_threads=False).aggregate([(_SIDE, "max")])
        only = found.filter(pc.equal(found[f"{_SIDE}_max"], 1)).select(plain.column_names)
        return Keys.trusted(in_order(only.rename_columns(list(self.columns))))

    def filter(self, column: str, values: Iterable[KeyValue]) -> "Keys":
        """Return the keys whose column holds one of the values."""
        name = _known(column, self.columns)
        wanted = pa.array(list(values), self.schema.field(name).type)
        return Keys.trusted(
            *(
                each.filter(pc.is_in(each[name], value_set=wanted))
                if name in each.column_names
                else each
                for each in self.factors
            )
        )

    def project(self, columns: str | Sequence[str]) -> "Keys":
        """Return the keys over one column or several, each key once, in the order given.

        >>> Keys.from_columns({"state": ["TX", "TX"], "county": ["001", "003"]}).project("state")
        Keys(1 of state)
        """
        names = [_known(name, self.columns) for name in names_of(columns)]
        needed = [each for each in self.factors if not set(names).isdisjoint(each.column_names)]
        rows = _written_out(needed if len(self) else self.factors)
        return Keys.from_columns(rows.select(names))

    def with_prefix(self, name: str, of: str, length: int) -> "Keys":
        """Return the keys with one more column, the beginning of another: a hierarchy of codes.

        >>> Keys.from_dict({"county": ["48001", "35001"]}).with_prefix("state", "county", 2).rows()
        [('35001', '35'), ('48001', '48')]
        """
        table = self.table
        source = table[_known(of, self.columns)]
        if not pa.types.is_string(source.type):
            raise InputError(f"the column {of!r} is not text; only text has prefixes.")
        if name in self.columns:
            raise InputError(f"there is a column {name!r} already; give the prefix another name.")
        prefix = pc.utf8_slice_codeunits(source, 0, length)
        return Keys.trusted(table.append_column(name, prefix))

    def with_parent(self, name: str, of: str, parents: Mapping[Child, KeyValue]) -> "Keys":
        """Return the keys with one more column, looked up by another in a public mapping.

        The keys stay sorted and distinct, because the new column follows from an earlier one.

        >>> counties = Keys.from_dict({"county": ["Travis", "Taos"]})
        >>> counties.with_parent("state", "county", {"Taos": "NM", "Travis": "TX"}).rows()
        [('Taos', 'NM'), ('Travis', 'TX')]
        """
        table = self.table
        source = table[_known(of, self.columns)].combine_chunks()
        if name in self.columns:
            raise InputError(f"there is a column {name!r} already; give the parent another name.")
        if not isinstance(parents, Mapping):
            raise InputError(
                f"the parents are a {type(parents).__name__}; expected a mapping of every {of} to "
                f"its {name}: a dict."
            )
        coded = source.dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        missing = [repr(value) for value in values if value not in parents]
        if missing:
            raise InputError(
                f"the parents lack the {of} {listing(missing)}; give a {name} for each, or leave "
                "those keys out with filter."
            )
        looked_up = _column([parents[value] for value in values], name)
        return Keys.trusted(table.append_column(name, looked_up.take(coded.indices)))

    def _alike(self, other: "Keys", sign: str) -> pa.Table:
        if sorted(other.columns) != sorted(self.columns):
            raise InputError(
                f"the key sets have different columns ({listing(self.columns)}; "
                f"{listing(other.columns)}); {sign} takes sets of the same ones."
            )
        table = other.table.select(list(self.columns))
        for name in self.columns:
            mine, theirs = self.schema.field(name).type, table.schema.field(name).type
            if mine != theirs:
                raise InputError(
                    f"the column {name!r} is {mine} in one key set and {theirs} in the other; make "
                    "them the same."
                )
        return table

    def __repr__(self) -> str:
        return f"Keys({len(self):,} of {listing(self.columns)})"


def _written_out(factors: Sequence[pa.Table]) -> pa.Table:
    """Return every combination of rows, those of the last table changing fastest.

    Columns come in stretches, so that none exceeds what Arrow can hold in one; where a factor's
    rows come again and again, the same stretch of memory serves many times.
    """
    size, outer = prod(each.num_rows for each in factors), 1
    columns: dict[str, pa.ChunkedArray] = {}
    for factor in factors:
        times = size // (outer * factor.num_rows) if size else 0
        rows = factor.num_rows * times
        stretches = [
            factor.take(pa.array(np.arange(start, min(start + _STRETCH, rows)) // times))
            for start in range(0, rows, _STRETCH)
        ]
        if len(stretches) == 1:
            together = max(1, min(outer, _STRETCH // rows))
            longer = pa.concat_tables(stretches * together).combine_chunks()
            stretches = [longer] * (outer // together) + stretches * (outer % together)
        else:
            stretches *= outer
        whole = pa.concat_tables(stretches) if stretches else factor.slice(0, 0)
        columns.update(zip(factor.column_names, whole.columns, strict=True))
        outer *= factor.num_rows
    return pa.table(columns)


def _encoded(factor: pa.Table) -> pa.Table:
    columns = [
        pc.dictionary_encode(column) if pa.types.is_string(column.type) else column
        for column in factor.combine_chunks().columns
    ]
    return pa.table(columns, names=factor.column_names)


def _checked(columns: KeyColumns) -> pa.Table:
    """Return a table of keys: sorted, each once, in the few types that keys have."""
    try:
        table = arrow_table(columns)
    except UnicodeEncodeError:
        raise InputError(f"the keys hold {_HALF}") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError):
        raise InputError(
            "the keys are not a table: a column mixes text and numbers, holds numbers beyond 64 "
            "bits, or columns differ in length."
        ) from None
    if not table.column_names or len(set(table.column_names)) < table.num_columns:
        raise InputError(
            f"the key columns are {listing(table.column_names) or 'none'}; expected at least "
            "one, each named once."
        )
    stored = pa.table({name: _stored(table[name], name) for name in table.column_names})
    return in_order(different_rows(stored))


def names_of(columns: str | Iterable[str]) -> list[str]:
    """Return names of columns; text alone is one name, and not the names of its letters."""
    return [columns] if isinstance(columns, str) else list(columns)


def _known(name: str, columns: Iterable[str]) -> str:
    every = list(columns)
    if name not in every:
        raise InputError(
            f"the keys have no column {name!r}. They have {listing(every)}."
            f"{suggestion(str(name), every)} Where {name!r} is a dimension, the column of a list "
            "has the same name: rename it in the list."
        )
    return name


def _column(values: list[KeyValue], name: str) -> pa.ChunkedArray:
    try:
        return _stored(pa.chunked_array([pa.array(values)]), name)
    except UnicodeEncodeError:
        raise InputError(f"the key column {name!r} holds {_HALF}") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise InputError(
            f"the key column {name!r} mixes types; expected all text, all whole numbers of 64 bits "
            "or all truth values."
        ) from None


def _stored(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    for family, tests in _TYPES.items():
        if any(test(kind) for test in tests):
            return column.cast(_STORED[family])
    raise InputError(
        f"the key column {name!r} is {kind}; expected text, whole numbers or truth values."
    )
