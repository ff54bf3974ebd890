"""The number of different values of a column (T10)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from perrecord.errors import about
from perrecord.policy.cases import Cases
from perrecord.queries.aggregates import Different
from perrecord.queries.answers.answer import Answer, mapped_methods
from perrecord.queries.answers.errors import OF_NOISE
from perrecord.queries.measurements import Measurement, Step
from perrecord.queries.methods import Counting, Method, Methods
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class CountDistinct(Answer):
    """How many different values of a column, such as firms (T10). It never adds up over cells."""

    method: Counting | Cases[Counting]
    column: str

    @property
    def beside(self) -> Mapping[str, str]:
        """What stands beside the answer, by the ending of the column's name."""
        return OF_NOISE

    @property
    def steps(self) -> tuple[Step, ...]:
        """One noisy number of different values."""
        return (Measurement(Different(self.column), self.method),)

    @property
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""
        return "count of different values"

    @property
    def is_tight(self) -> bool:
        """Return False: where others hold the same value, a record changes nothing."""
        return False

    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people."""
        return f"number of different {quoted(self.column)}, unsplit"

    def check(self, roles: Roles) -> None:
        """Refuse a column that cannot be counted."""
        with about("column"):
            roles.countable(self.column)

    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer with each of its methods changed."""
        return replace(self, method=mapped_methods(self.method, change))
