"""A quantile of a measure, one of public candidates (T14), of records or by their weights (T37)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Self

from perrecord.errors import InternalError, QueryError, about
from perrecord.exact import Exact, parameter, text
from perrecord.policy.weighing import Weighting
from perrecord.queries.answers.answer import Answer
from perrecord.queries.measurements import Choice, Step
from perrecord.queries.methods import Counting, Method, Methods
from perrecord.tables.roles import Roles

_MOST_CANDIDATES = 10_000
_LARGEST_NUMBER = 10**30
_FINEST_LEVEL = 1_000_000
_SUCH = "0, 10, 20 and so on to 1000"


@dataclass(frozen=True, slots=True)
class Quantile(Answer):
    """The candidate nearest to a quantile of a measure: exponential mechanism (T14)."""

    measure: str
    amount: Fraction
    level: Fraction
    candidates: tuple[Fraction, ...]
    weight: Weighting | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """One choice."""
        return (Choice(self.measure, self.amount, self.level, self.candidates, self.weight),)

    @property
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""
        return "quantile"

    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people."""
        count = len(self.candidates)
        candidates = f"{count:,} candidate" if count == 1 else f"{count:,} candidates"
        weighed = ""
        if self.weight is not None:
            weighed = f", weighted by {quoted(self.weight.measure)} at {text(self.weight.at)}"
        return (
            f"quantile {text(self.level)} of {quoted(self.measure)}{weighed}: one of {candidates}, "
            "exponential mechanism, unsplit"
        )

    def check(self, roles: Roles) -> None:
        """Refuse what is no measure."""
        with about("measure"):
            roles.resolution(self.measure)
        if self.weight is not None:
            with about("weight", "measure"):
                roles.resolution(self.weight.measure)

    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer at the price that a record's one vote would be changed to."""
        changed = change(Counting(self.amount))
        if not isinstance(changed, Method):
            raise InternalError("the price of a quantile became one for each part.")
        return replace(self, amount=changed.amount)


def level_of(level: Exact | None) -> Fraction:
    """Return the level of a quantile, exactly; refuse what is none."""
    with about("level"):
        if level is None:
            raise QueryError("a quantile needs a level from 0 to 1, such as 0.9.")
        exact = parameter(level, "the level of the quantile")
        if not 0 <= exact <= 1:
            raise QueryError(
                f"the level of the quantile is {text(exact)}; expected 0 to 1, such as 0.9."
            )
        if exact.denominator > _FINEST_LEVEL:
            raise QueryError(
                f"the level of the quantile is {text(exact)}; expected one with a denominator of "
                f"at most {_FINEST_LEVEL:,}, such as 0.333."
            )
        return exact


def check_weighting(given: object) -> None:
    """Refuse a weight that does not say which record of it pays the amount."""
    if given is not None and not isinstance(given, Weighting):
        raise QueryError(
            f"the weight is a {type(given).__name__}; expected a measure and the weight of a "
            'record that loses the amount, such as Weighting("w", at=20).',
            about=("weight",),
        )


def candidates_of(given: Iterable[Exact] | None) -> tuple[Fraction, ...]:
    """Return public candidates, each once, rising; refuse too many and too long ones."""
    with about("candidates"):
        if given is None:
            raise QueryError(
                f"a quantile needs candidates, the public numbers to choose from, such as {_SUCH}."
            )
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise QueryError(
                f"the candidates are a {type(given).__name__}; expected public numbers, such as "
                f"{_SUCH}."
            )
        found = tuple(sorted(_different(given)))
        if not found or len(found) > _MOST_CANDIDATES:
            number = f"more than {_MOST_CANDIDATES:,}" if found else "0"
            raise QueryError(
                f"there are {number} candidates; expected 1 to {_MOST_CANDIDATES:,} public "
                f"numbers, such as {_SUCH}."
            )
        finest = lcm(*(each.denominator for each in found))
        largest = max(-found[0], found[-1])
        if finest > _LARGEST_NUMBER or largest > _LARGEST_NUMBER:  # as floats they must exist
            raise QueryError(
                "the candidates have too many digits; expected numbers between -1e30 and 1e30, and "
                "a common denominator of at most 1e30."
            )
        return found


def _different(given: Iterable[Exact]) -> dict[Fraction, None]:
    """Return the different numbers as they come, most often rising; if too many, not all."""
    found: dict[Fraction, None] = {}
    for each in given:
        found[parameter(each, "a candidate")] = None
        if len(found) > _MOST_CANDIDATES:
            break
    return found
