"""The mean of a measure: a noisy total over a noisy count (T13)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from perrecord.errors import AmountError, InternalError, QueryError, about
from perrecord.exact import Exact
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Filled
from perrecord.queries.answers.answer import Answer, mapped_methods, methods_words
from perrecord.queries.answers.errors import OF_RATIOS
from perrecord.queries.answers.total import total_of
from perrecord.queries.measurements import Measurement, Step
from perrecord.queries.methods import Counting, Method, Methods, leaves, tree_of
from perrecord.queries.methods.parts import priced_amounts
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Ratio, Released
from perrecord.tables.roles import Roles

_MOST_CENTRED = 2**61
_LEAST_SHARE = Fraction(1, 20)
"""Neither part of an average gets less of its amount than this."""


@dataclass(frozen=True, slots=True)
class Average(Answer):
    """A total divided by a count, both released (T13)."""

    measure: str
    method: Methods
    count: Counting

    @property
    def beside(self) -> Mapping[str, str]:
        """What stands beside the answer, by the ending of the column's name."""
        return OF_RATIOS

    @property
    def steps(self) -> tuple[Step, ...]:
        """The total, about the middle of its bounds where one method cuts all values; the count."""
        is_centred = isinstance(self.method, Method) and self.method.bounds is not None
        total = total_of(self.measure, self.method, is_centred=is_centred)
        return total, Measurement(Filled(self.measure), self.count)

    @property
    def kind(self) -> str:
        """What answers of this kind are called where they are told apart."""
        return "average"

    def described(self, quoted: Callable[[str], str]) -> str:
        """Return what is estimated and how, for people."""
        how = methods_words(self.method, self.measure, quoted)
        return f"total of {quoted(self.measure)}, {how}, divided by a noisy count"

    def check(self, roles: Roles) -> None:
        """Refuse what is no measure, and bounds so wide that centred values would not fit."""
        with about("measure"):
            resolution = roles.resolution(self.measure)
        for leaf in leaves(tree_of(self.method)):
            low, high = leaf.method.bounds or (Fraction(0), Fraction(0))
            if max(abs(low), abs(high)) / resolution > _MOST_CENTRED:
                raise QueryError(
                    f"the bounds of the average {self.name!r} exceed 2^61 steps of its "
                    "resolution; give narrower ones.",
                    about=("clamp",),
                )

    def mapped(self, change: Callable[[Method], Methods]) -> Self:
        """Return the answer with each of its methods changed, that of its count too."""
        count = change(self.count)
        if not isinstance(count, Counting):
            raise InternalError("the count of an average became something else.")
        return replace(self, method=mapped_methods(self.method, change), count=count)

    def combined(self, results: Sequence[Estimate | Blurred | Chosen]) -> Released:
        """Return the total divided by the count."""
        total, count = results
        if not isinstance(total, Estimate) or not isinstance(count, Estimate):
            raise InternalError("an average was given something other than two noisy numbers.")
        measured = self.measurements[0]
        named = replace(count, name=f"{self.name}_count")
        return Ratio(self.name, total, named, measured.centre, measured.bounds)

    def balanced(self, mean: float) -> Self:
        """Return the average with its amount shared as T : |mean|, which errs least (T13).

        The mean is about the centre of the bounds where values are clamped.
        """
        if not isinstance(self.method, Method):
            return self
        total = self.measurements[0]
        size = float(
            max(
                leaf.method.sensitivity(self.measure, is_centred=total.is_centred)
                for leaf in leaves(total.tree)
            )
        )
        share = Fraction(size / (size + abs(mean))).limit_denominator(100)
        share = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
        whole = self.method.amount + self.count.amount
        return replace(
            self,
            method=self.method.with_amount(whole * share),
            count=Counting(whole * (1 - share)),
        )


def halves(
    rho: Exact | tuple[Exact, Exact] | None, epsilon: Exact | tuple[Exact, Exact] | None
) -> tuple[Currency, Fraction, Fraction]:
    """Return what the total and the count pay of an amount: half each, or as it was given."""
    currency, amounts = priced_amounts(rho, epsilon)
    if not isinstance(rho if epsilon is None else epsilon, tuple | list):
        return currency, amounts[0] / 2, amounts[0] / 2
    if len(amounts) != 2:
        raise AmountError(
            f"an average was given a list of {len(amounts)}; expected one amount, or two: one for "
            "its total and one for its count, such as 0.1 and 0.05.",
            about=(currency.value,),
        )
    return currency, *amounts
