"""What a column is to a query: text, whole number, truth value or measure."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Kind(Enum):
    """The kinds of column that expressions and queries tell apart."""

    TEXT = "text"
    INTEGER = "whole numbers"
    TRUTH = "truth values"
    MEASURE = "a measure"


@dataclass(frozen=True, slots=True)
class Field:
    """One column: its name, its kind and, for a measure, the resolution of its grid.

    In the engine a measure is a 64-bit integer, or NULL, that counts multiples of the resolution
    (T15); in a record, and to whoever reads an answer, it is that multiple itself.
    """

    name: str
    kind: Kind
    resolution: Fraction | None = None
