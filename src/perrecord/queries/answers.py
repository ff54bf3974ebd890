"""What a query asks for: frozen values, one per answer."""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.policy.cases import Cases
from perrecord.queries.methods import Counting, Methods


@dataclass(frozen=True, slots=True)
class Count:
    """How many records; with a column, how many in which it is not NULL (T10)."""

    name: str
    method: Counting | Cases[Counting]
    column: str | None = None


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """How many different values of a column, such as firms (T10). It never adds up over cells."""

    name: str
    method: Counting | Cases[Counting]
    column: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The total of a measure, by splitting or by clamping (T11, T12)."""

    name: str
    measure: str
    method: Methods


@dataclass(frozen=True, slots=True)
class Average:
    """A total divided by a count, both released (T13)."""

    name: str
    measure: str
    method: Methods
    count: Counting


@dataclass(frozen=True, slots=True)
class Quantile:
    """The candidate nearest to a quantile of a measure: exponential mechanism (T14)."""

    name: str
    measure: str
    amount: Fraction
    level: Fraction
    candidates: tuple[Fraction, ...]


Answer = Count | CountDistinct | Sum | Average | Quantile
