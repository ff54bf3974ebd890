"""An answer: the steps that it is made of, and what is made of their results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from perrecord.policy.cases import Cases
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.measurements import Choice, Measurement, Step
from perrecord.queries.methods import Method, Methods, leaves, tree_of
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Released
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class Answer(ABC):
    """What every kind of answer says of itself, in its own file.

    Everything else is a loop over its steps.
    """

    name: str

    @property
    def beside(self) -> Mapping[str, str]:
        """What stands beside the answer, by the ending of the column's name; {0} is the answer."""
        return {}

    @property
    @abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """What is measured or chosen, in the order in which noise is drawn."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""

    @abstractmethod
    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people; names are quoted by the caller's rule."""

    @abstractmethod
    def check(self, roles: Roles) -> None:
        """Refuse columns that the table does not have, or not in this role."""

    @abstractmethod
    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer with each of its methods, part by part, changed."""

    def combined(self, results: Sequence[Estimate | Blurred | Chosen]) -> Released:
        """Return what is published of the results of its steps."""
        (only,) = results
        return only

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """The steps that add noise."""
        return tuple(step for step in self.steps if isinstance(step, Measurement))

    @property
    def is_blurred(self) -> bool:
        """Whether its noise grows with a size of the cell, public or its own."""
        steps = self.measurements
        return any(step.blurred is not None or step.widening is not None for step in steps)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The steps that choose a candidate."""
        return tuple(step for step in self.steps if isinstance(step, Choice))

    @property
    def is_additive(self) -> bool:
        """Whether it is one noisy number, published as it is."""
        return len(self.steps) == len(self.measurements) == 1

    def policy(self, fixed: frozenset[str], currency: Currency) -> Policy:
        """Return what it costs a record, in cells whose keys fix these dimensions (T4)."""
        return Policy.total(step.policy(fixed, currency) for step in self.steps)

    @property
    def scheme(self) -> Scheme | None:
        """What all of its records are split by, if one method splits them."""
        for step in self.measurements:
            if isinstance(step.methods, Method) and step.methods.scheme is not None:
                return step.methods.scheme
        return None

    @property
    def is_tight(self) -> bool:
        """Whether its policy is the true loss of whoever takes part, and not only a bound on it."""
        every = [leaf.method for step in self.measurements for leaf in leaves(step.tree)]
        return not self.choices and all(method.is_tight for method in every)

    @property
    def amounts(self) -> tuple[Fraction, ...]:
        """The different amounts of each step, one step after the other."""
        return tuple(amount for step in self.steps for amount in amounts_of(step))

    def balanced(self, mean: float) -> Self:  # noqa: ARG002
        """Return the answer with its amount shared so that it errs least, given its mean."""
        return self


def amounts_of(step: Step) -> tuple[Fraction, ...]:
    """Return the different amounts of a step: several where they differ from record to record."""
    if isinstance(step, Choice):
        return (step.amount,)
    return tuple(dict.fromkeys(leaf.method.amount for leaf in leaves(step.tree)))


def mapped_methods(methods: Any, change: Callable[[Method], Methods]) -> Any:
    """Return methods with each of them changed; the same kind comes out as went in."""
    if isinstance(methods, Cases):
        return methods.map(lambda each: mapped_methods(each, change))
    return change(methods)


def methods_words(methods: Methods, measure: str, quoted: Callable[[str], str]) -> str:
    """Return how the records of a total are treated, for people."""
    every = [leaf.method.words(measure) for leaf in leaves(tree_of(methods))]
    kinds = list(dict.fromkeys(words for words in every if words))
    return quoted(kinds[0]) if len(kinds) == 1 else f"by {len(kinds)} methods, see the policy"
