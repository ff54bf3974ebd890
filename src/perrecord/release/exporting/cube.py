"""A table as a cube: a place for every combination of codes, as JSON-stat and PX have it.

Key columns are its first axes; the last axis holds the numbers of a cell, its answers with their
errors. What is no number (words of reliability, flags) has no place in a cube and is named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InputError
from perrecord.release.folders import PublishedTable

MISSING = "(missing)"
"""The code of keys without a value."""

MOST_PLACES = 20_000_000
"""How many places a cube may have: a file of some hundred megabytes."""

_ANSWERS = "answer"


@dataclass(frozen=True, slots=True)
class CubeAxis:
    """One axis of a cube: its codes in order, and what each is called."""

    name: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cube:
    """A table's numbers by place: keys first, the numbers of a cell last."""

    axes: tuple[CubeAxis, ...]
    cells: npt.NDArray[np.int64]
    """The place of each row among the combinations of keys."""
    columns: tuple[tuple[Any, ...], ...]
    """For each number of a cell, its values row by row; None where there is none."""
    left_out: tuple[str, ...]
    """Columns that hold no numbers."""

    @property
    def size(self) -> tuple[int, ...]:
        """How many codes each axis has."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def is_full(self) -> bool:
        """Whether every combination of keys has a row."""
        return len(self.cells) == prod(self.size[:-1])

    def values(self) -> list[Any]:
        """Return the value of every place, the last axis running fastest; None where there is none.

        Refused for a cube that would be much larger than its table.
        """
        places = prod(self.size)
        if places > MOST_PLACES:
            raise InputError(
                f"a cube of this table would have {places:,} places, at most {MOST_PLACES:,} are "
                "written; take the table itself, as Parquet or SDMX-CSV."
            )
        found: list[Any] = [None] * places
        step = len(self.columns)
        for place, column in enumerate(self.columns):
            for cell, value in zip(self.cells.tolist(), column, strict=True):
                found[cell * step + place] = value
        return found


def cube_of(table: PublishedTable, labels: Mapping[str, Mapping[Any, str]]) -> Cube:
    """Return a table as a cube; its codes have names where the release has code lists."""
    axes, cells = [], np.zeros(table.rows.num_rows, dtype=np.int64)
    for key in table.keys:
        axis, places = _axis(key, table.rows.column(key), labels.get(key, {}))
        axes.append(axis)
        cells = cells * len(axis.codes) + places
    numbers = [each.name for each in table.rows.schema if is_number(each.type)]
    shown = tuple(name for name in numbers if name not in table.keys)
    named = _ANSWERS
    while named in table.keys:
        named += "_"
    axes.append(CubeAxis(named, shown, shown))
    if len(np.unique(cells)) < len(cells):
        raise InputError(
            f"the table {table.name!r} has a key twice; expected a folder as it was published."
        )
    others = {*shown, *table.keys}
    return Cube(
        tuple(axes),
        cells,
        tuple(tuple(map(_plain, table.rows.column(each).to_pylist())) for each in shown),
        tuple(name for name in table.rows.column_names if name not in others),
    )


def is_number(kind: pa.DataType) -> bool:
    """Tell whether a column holds numbers."""
    is_whole, is_float = pa.types.is_integer(kind), pa.types.is_floating(kind)
    return bool(is_whole or is_float or pa.types.is_decimal(kind))


def code_of(value: Any) -> str:
    """Return a key's value as a code.

    >>> code_of("37"), code_of(5), code_of(True), code_of(None)
    ('37', '5', 'true', '(missing)')
    """
    match value:
        case None:
            return MISSING
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _axis(
    key: str, column: pa.ChunkedArray, labels: Mapping[Any, str]
) -> tuple[CubeAxis, npt.NDArray[np.int64]]:
    """Return the axis of a key column, and the place of each row on it."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    values = encoded.dictionary.to_pylist()
    codes = tuple(map(code_of, values))
    if len(set(codes)) < len(codes):
        raise InputError(f"the key {key!r} holds the text {MISSING!r} beside missing values.")
    names = tuple(labels.get(value) or code for value, code in zip(values, codes, strict=True))
    places = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return CubeAxis(key, codes, names), places


def _plain(value: Any) -> Any:
    """Return a number as it is written; None for what is no finite one."""
    if isinstance(value, Decimal):
        return value
    return value if value is None or isfinite(value) else None
