"""The number of records (T10)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from perrecord.errors import about
from perrecord.policy.cases import Cases
from perrecord.queries.aggregates import Aggregate, Filled, Rows
from perrecord.queries.answers.answer import Answer, mapped_methods
from perrecord.queries.answers.errors import OF_NOISE
from perrecord.queries.measurements import Measurement, Step
from perrecord.queries.methods import Counting, Method, Methods
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class Count(Answer):
    """How many records; with a column, how many in which it is not NULL (T10)."""

    method: Counting | Cases[Counting]
    column: str | None = None

    @property
    def beside(self) -> Mapping[str, str]:
        """What stands beside the answer, by the ending of the column's name."""
        return OF_NOISE

    @property
    def steps(self) -> tuple[Step, ...]:
        """One noisy number of records."""
        aggregate: Aggregate = Rows() if self.column is None else Filled(self.column)
        return (Measurement(aggregate, self.method),)

    @property
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""
        return "count of records" if self.column is None else "count of values"

    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people."""
        with_column = "" if self.column is None else f" with {quoted(self.column)}"
        return f"number of records{with_column}, unsplit"

    def check(self, roles: Roles) -> None:
        """Refuse a column that cannot be counted."""
        if self.column is not None:
            with about("column"):
                roles.fillable(self.column)

    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer with each of its methods changed."""
        return replace(self, method=mapped_methods(self.method, change))
