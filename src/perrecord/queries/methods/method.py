"""A way to make a number private: what a record adds at most, the noise, and what it costs.

A method may differ from part to part of a public partition, in amount, thresholds and kind (T5):
then `Cases` of methods stand in its place.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

from perrecord.laws.scales import Scale
from perrecord.policy.cases import Cases
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.methods.blurring import Widening
from perrecord.tables.roles import Roles

Accounting = Literal["split", "exact"]
"""Whether a split record pays for its pieces, or for its value (T11)."""


@dataclass(frozen=True, slots=True)
class Method(ABC):
    """What every way to make a number private says of itself.

    `measure` is what is added up, None of a count. A centred total adds up distances from the
    middle of its bounds (T13).
    """

    amount: Fraction

    @abstractmethod
    def sensitivity(self, measure: str | None, *, is_centred: bool = False) -> Fraction:
        """Return the most that one piece (or unsplit record) adds, in the measure's own units."""

    def scale(self, measure: str | None, currency: Currency, *, is_centred: bool = False) -> Scale:
        """Return the noise that the method asks for."""
        return currency.scale(self.sensitivity(measure, is_centred=is_centred), self.amount)

    def policy(
        self, measure: str | None, currency: Currency, cell: Scale, *, is_centred: bool = False
    ) -> Policy:
        """Return what a record loses in a cell of this noise, by the most that it may add (T12)."""
        most = self.sensitivity(measure, is_centred=is_centred)
        return Policy.constant(**currency.amount(currency.cost(cell, most)))

    def whole_policy(self, currency: Currency) -> Policy | None:  # noqa: ARG002
        """Return the policy over all its parts as their author wrote them; None if they differ."""
        return None

    def bound(self, measure: str | None) -> Fraction | None:
        """Return the most that a whole record adds; None if there is no bound."""
        return self.sensitivity(measure)

    def parts(self) -> "Cases[Any] | None":
        """Return the methods of the parts that the method itself tells apart, if it does."""
        return None

    def check(self, answer: str, roles: Roles) -> None:  # noqa: B027 - most check nothing
        """Refuse what the table does not have; `answer` is the name to say it by."""

    def grid_numbers(self, measure: str) -> tuple[tuple[str, Fraction], ...]:  # noqa: ARG002
        """Return the numbers that must be multiples of the resolution, each with its word."""
        return ()

    @property
    def option(self) -> str:
        """The option of an answer by which it is given, which its errors are about."""
        return ""

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """What values are cut to before they are added, if they are."""
        return None

    @property
    def widening(self) -> Widening | None:
        """By what public sizes of cells the noise grows, if it does (T28)."""
        return None

    @property
    def scheme(self) -> Scheme | None:
        """What records are split by, if they are."""
        return None

    @property
    def is_tight(self) -> bool:
        """Whether the policy is the true loss of every record, and not only a bound on it."""
        return False

    @property
    def is_gaussian(self) -> bool:
        """Whether its noise under zCDP is Gaussian, the one law that cells are kept by (T9)."""
        return True

    @property
    def kind(self) -> str:
        """What the method is called where answers are told apart; empty if it goes without."""
        return ""

    def words(self, measure: str) -> str:  # noqa: ARG002
        """Return how it treats the records of a total, for people; empty if it leaves them."""
        return ""

    def with_scheme(self, scheme: Scheme) -> "Method":  # noqa: ARG002
        """Return the method with records split by another scheme, if it splits them."""
        return self

    def accounted(self, accounting: Accounting) -> "Method":  # noqa: ARG002
        """Return the method with pieces or values accounted for, if it can choose (T11)."""
        return self

    def with_amount(self, amount: Fraction) -> Self:
        """Return the method at another price."""
        return replace(self, amount=amount)


Methods = Method | Cases[Any]
"""One method, or one for each part of a public partition."""
