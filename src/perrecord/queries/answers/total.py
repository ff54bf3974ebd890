"""The total of a measure (T11, T12)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from perrecord.errors import about
from perrecord.queries.aggregates import Total
from perrecord.queries.answers.answer import Answer, mapped_methods, methods_words
from perrecord.queries.answers.errors import OF_BLURRED, OF_NOISE
from perrecord.queries.measurements import Measurement, Step
from perrecord.queries.methods import Blurring, Method, Methods, leaves, tree_of
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class Sum(Answer):
    """The total of a measure, by splitting, clamping, tapering or blurring (T11, T12, T26, T28)."""

    measure: str
    method: Methods

    @property
    def beside(self) -> Mapping[str, str]:
        """What stands beside the answer, by the ending of the column's name."""
        if not isinstance(self.method, Blurring):
            return OF_NOISE
        return {} if self.method.is_signed else OF_BLURRED

    @property
    def steps(self) -> tuple[Step, ...]:
        """One noisy total."""
        return (total_of(self.measure, self.method),)

    @property
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""
        return "total"

    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people."""
        return (
            f"total of {quoted(self.measure)}, {methods_words(self.method, self.measure, quoted)}"
        )

    def check(self, roles: Roles) -> None:
        """Refuse what is no measure."""
        with about("measure"):
            roles.resolution(self.measure)

    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer with each of its methods changed."""
        return replace(self, method=mapped_methods(self.method, change))


def total_of(measure: str, methods: Methods, *, is_centred: bool = False) -> Measurement:
    """Return a noisy total; records that no method cuts add their own value."""
    tree = tree_of(methods)
    is_cut = any(leaf.method.bounds is not None for leaf in leaves(tree))
    aggregate = Total(measure, tree, is_centred) if is_cut else Total(measure, None)
    return Measurement(aggregate, methods, measure, is_centred)
