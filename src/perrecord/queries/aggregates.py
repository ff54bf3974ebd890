"""The exact integers that answers need: a handful of aggregates, told apart by value."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from perrecord.policy.split import Scheme
from perrecord.queries.methods import Tree


@dataclass(frozen=True, slots=True)
class Rows:
    """How many records."""


@dataclass(frozen=True, slots=True)
class Filled:
    """In how many records a column is not NULL."""

    column: str


@dataclass(frozen=True, slots=True)
class Different:
    """How many different values a column has; it does not add up over cells."""

    column: str


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of a measure on its grid, each record's value clamped as its part says.

    A centred total adds up 2 * value - (low + high), so that it stays whole.
    """

    measure: str
    clamps: Tree | None
    is_centred: bool = False


GIANT = 1 << 43
"""A value of so many steps or more is a giant. A trillion squares of others have 38 digits."""

ROOT = 3_037_000_500
"""The least number whose square is above 2^63 - 1: grid values are q ROOT + r, |q|, |r| < ROOT."""


@dataclass(frozen=True, slots=True)
class SquareTotal:
    """The sum of a measure's squared grid values (T28).

    A scan adds up those of records that are no giants. Those of giants, if it counts any, come from
    a scan of them alone, in parts.
    """

    measure: str


@dataclass(frozen=True, slots=True)
class Giants:
    """How many records have a giant value in one of these measures."""

    measures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SquarePart:
    """A part of the sum of giant values' squares: the sums of q^2, q r and r^2, value = q ROOT + r.

    Each addend fits 64 bits, whatever the value.
    """

    measure: str
    power: int
    """Of ROOT: 2, 1 or 0; the sum of squares is ROOT^2 q^2 + 2 ROOT q r + r^2."""


def square_parts(measure: str) -> tuple[SquarePart, ...]:
    """Return the parts of the squares of a measure's giant values."""
    return tuple(SquarePart(measure, power) for power in (2, 1, 0))


def square_factor(part: SquarePart) -> int:
    """Return what a part of a sum of squares is multiplied by.

    >>> sum(square_factor(part) for part in square_parts("emp")) == (ROOT + 1) ** 2
    True
    """
    return (1, 2 * ROOT, ROOT**2)[part.power]


@dataclass(frozen=True, slots=True)
class Pieces:
    """How many split rows."""

    split: Scheme


@dataclass(frozen=True, slots=True)
class WeightTotal:
    """The sum of a measure on its grid, what is below 0 left out: how many records these stand for.

    It is never negative, and a record adds to it at most the size of its own value (T37).
    """

    measure: str


Aggregate = (
    Rows | Filled | Different | Total | SquareTotal | Giants | SquarePart | Pieces | WeightTotal
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Between which candidates a measure lies: 2i + 1 at the i-th, 2i just below it."""

    measure: str
    candidates: tuple[Fraction, ...]


def bucket_bounds(bucket: Bucket, resolution: Fraction) -> list[tuple[int, bool]]:
    """Return for each candidate c the least grid number >= c, and whether it is c itself."""
    scaled = [candidate / resolution for candidate in bucket.candidates]
    return [(ceil(each), each.denominator == 1) for each in scaled]
