"""What a column is to a query: text, whole number, truth value or measure."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Types:
    """How the values of a kind are held, wherever they are."""

    python: type
    arrow: pa.DataType
    sql: str | None
    """As every engine calls it; None of text, which a dialect writes."""
    document: Literal["text", "integer", "truth", "measure"]
    """What public documents call the kind."""


class Kind(Enum):
    """The kinds of column that expressions and queries tell apart.

    >>> Kind.TRUTH.types.python, Kind.TRUTH.types.sql
    (<class 'bool'>, 'BOOLEAN')
    """

    TEXT = "text"
    INTEGER = "whole numbers"
    TRUTH = "truth values"
    MEASURE = "a measure"

    @property
    def types(self) -> Types:
        """The types of its values; a measure is an integer to engines, a multiple to records."""
        return _TYPES[self]


_TYPES = {
    Kind.TEXT: Types(str, pa.string(), None, "text"),
    Kind.INTEGER: Types(int, pa.int64(), "BIGINT", "integer"),
    Kind.TRUTH: Types(bool, pa.bool_(), "BOOLEAN", "truth"),
    Kind.MEASURE: Types(Fraction, pa.int64(), "BIGINT", "measure"),
}


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """One column: its name, its kind and, for a measure, the resolution of its grid.

    In the engine a measure is a 64-bit integer, or NULL, that counts multiples of the resolution
    (T15); in a record, and to whoever reads an answer, it is that multiple itself.
    """

    name: str
    kind: Kind
    resolution: Fraction | None = None
