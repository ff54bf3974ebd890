"""The exact integers that answers need: a handful of aggregates, told apart by value."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import assert_never

from perrecord.policy.split import Scheme
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.methods import Clamping, Tree, leaves, tree_of


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


@dataclass(frozen=True, slots=True)
class Pieces:
    """How many split rows."""

    split: Scheme


Aggregate = Rows | Filled | Different | Total | Pieces


@dataclass(frozen=True, slots=True)
class Bucket:
    """Between which candidates a measure lies: 2i + 1 at the i-th, 2i just below it."""

    measure: str
    candidates: tuple[Fraction, ...]


def aggregates_of(answer: Answer) -> tuple[Aggregate, ...]:
    """Return the exact integers that an answer is made of."""
    match answer:
        case Count(column=column):
            return (Rows(),) if column is None else (Filled(column),)
        case CountDistinct(column=column):
            return (Different(column),)
        case Sum():
            return (total_of(answer),)
        case Average():
            return (total_of(answer), Filled(answer.measure))
        case Quantile():
            return ()
        case _:
            assert_never(answer)


def total_of(answer: Sum | Average) -> Total:
    """Return the exact total under an answer; records that are only split add their own value."""
    tree = tree_of(answer.method)
    if not any(isinstance(leaf.method, Clamping) for leaf in leaves(tree)):
        return Total(answer.measure, None)
    is_centred = isinstance(answer, Average) and isinstance(answer.method, Clamping)
    return Total(answer.measure, tree, is_centred)


def bucket_bounds(bucket: Bucket, resolution: Fraction) -> list[tuple[int, bool]]:
    """Return for each candidate c the least grid number >= c, and whether it is c itself."""
    scaled = [candidate / resolution for candidate in bucket.candidates]
    return [(ceil(each), each.denominator == 1) for each in scaled]
