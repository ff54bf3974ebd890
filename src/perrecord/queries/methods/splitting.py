"""Splitting: a record is split, and a piece adds at most the threshold (T11)."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from perrecord.errors import QueryError
from perrecord.laws.scales import Scale
from perrecord.policy.cases import Cases
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Currency
from perrecord.queries.methods.fitting import check_scheme
from perrecord.queries.methods.method import Accounting, Method
from perrecord.tables.roles import Roles


@dataclass(frozen=True, slots=True)
class Splitting(Method):
    """Records are split; the policy is rho * pieces^2, or exactly rho * (value/T)^2 (T11)."""

    split: Scheme
    accounting: Accounting = "split"

    def sensitivity(self, measure: str | None, *, is_centred: bool = False) -> Fraction:  # noqa: ARG002
        """Return the most that one piece adds, in the measure's own units."""
        if isinstance(self.split, SplitBy):
            raise QueryError("a piecewise scheme has no single threshold.")
        return self.split.threshold(measure or "")

    def policy(
        self, measure: str | None, currency: Currency, cell: Scale, *, is_centred: bool = False
    ) -> Policy:
        """Return what a record loses in a cell of this noise: by its pieces, or by its value."""
        if (by_pieces := self.whole_policy(currency)) is not None:
            return by_pieces
        threshold = self.sensitivity(measure, is_centred=is_centred)
        return Policy.exact(
            measure=measure or "",
            threshold=threshold,
            **currency.amount(currency.cost(cell, threshold)),
        )

    def whole_policy(self, currency: Currency) -> Policy | None:
        """Return the policy by pieces, which a piecewise scheme counts by itself (T8)."""
        if self.accounting == "exact":
            return None
        return Policy.split(split=self.split, **currency.amount(self.amount))

    def bound(self, measure: str | None) -> Fraction | None:  # noqa: ARG002
        """Return None: a record is as large as it is."""
        return None

    def parts(self) -> Cases[Any] | None:
        """Return the methods of the parts that a piecewise scheme tells apart."""
        if not isinstance(self.split, SplitBy):
            return None
        return self.split.cases.map(lambda inner: Splitting(self.amount, inner, self.accounting))

    def check(self, answer: str, roles: Roles) -> None:
        """Refuse a scheme that does not fit the table, or that a total cannot be split by."""
        check_scheme(self.split, roles)
        if isinstance(self.split, Split) and self.split.cap is not None:
            raise QueryError(
                f"the split of {answer!r} has a cap, which cuts records that are written out as "
                "rows. A total adds them up whole, so a cap would promise too much; give the "
                "scheme without .capped(...)."
            )

    def with_scheme(self, scheme: Scheme) -> Method:
        """Return the method with records split by another scheme."""
        return replace(self, split=scheme)

    def accounted(self, accounting: Accounting) -> Method:
        """Return the method with pieces or values accounted for (T11)."""
        return replace(self, accounting=accounting)

    def grid_numbers(self, measure: str) -> tuple[tuple[str, Fraction], ...]:
        """Return the numbers that must be multiples of the resolution, each with its word."""
        return (("threshold", self.sensitivity(measure)),)

    @property
    def option(self) -> str:
        """The option of an answer by which it is given."""
        return "split"

    @property
    def scheme(self) -> Scheme | None:
        """What records are split by."""
        return self.split

    @property
    def is_tight(self) -> bool:
        """Whether the policy is the true loss of every record, and not only a bound on it."""
        return self.accounting == "exact"

    @property
    def kind(self) -> str:
        """What the method is called where answers are told apart."""
        return f"split, {self.accounting} accounting"

    def words(self, measure: str) -> str:  # noqa: ARG002
        """Return how the method treats records, for people."""
        return f"records split: {self.split}"
