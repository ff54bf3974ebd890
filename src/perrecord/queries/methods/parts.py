"""Methods with their price: what an answer is given, alone or part by part (T5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import AmountError, CurrencyError, QueryError
from perrecord.exact import Exact, parameter
from perrecord.policy.cases import Cases
from perrecord.policy.inputs import amount_of, scheme_of
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.methods import Accounting, Clamping, Method, Splitting


@dataclass(frozen=True, slots=True)
class Priced:
    """The method of one part, and the currency of its amount."""

    method: Splitting | Clamping
    currency: Currency


@dataclass(frozen=True, slots=True, init=False)
class Parts:
    """A method for each part of a public partition; the key `...` is every other record (T5).

    >>> from perrecord import Split
    >>> parts = Parts(
    ...     "sector",
    ...     {"farm": splitting(Split(rent=50), rho="0.1"), ...: clamping(0, 500, rho="0.2")},
    ... )
    >>> parts.cases.default
    Clamping(amount=Fraction(1, 5), low=Fraction(0, 1), high=Fraction(500, 1))
    """

    cases: Cases[Method]
    currency: Currency

    def __init__(self, dimensions: str | tuple[str, ...], methods: Mapping[Any, Priced]) -> None:
        if not isinstance(methods, Mapping) or not all(
            isinstance(each, Priced) for each in methods.values()
        ):
            raise QueryError(
                "the parts are no dictionary from values to methods; expected such as "
                '{"farm": splitting(Split(rent=50), rho="0.1"), ...: clamping(0, 500, rho="0.2")}.'
            )
        currencies = {each.currency for each in methods.values()}
        if len(currencies) != 1:
            raise CurrencyError("the parts need amounts in one currency, rho or epsilon.")
        cases = cases_of(dimensions, {key: each.method for key, each in methods.items()})
        object.__setattr__(self, "cases", cases)
        object.__setattr__(self, "currency", currencies.pop())


def splitting(
    split: Scheme,
    *,
    rho: Exact | None = None,
    epsilon: Exact | None = None,
    accounting: Accounting = "split",
) -> Priced:
    """Return the method of a split total, for one of several parts (T11)."""
    if accounting not in ("split", "exact"):
        raise QueryError(f"the accounting is {accounting!r}; expected 'split' or 'exact'.")
    currency, amount = priced_amount(rho, epsilon)
    return Priced(Splitting(amount, scheme_of(split), accounting), currency)


def clamping(
    low: Exact, high: Exact, *, rho: Exact | None = None, epsilon: Exact | None = None
) -> Priced:
    """Return the method of a clamped total, for one of several parts (T12)."""
    currency, amount = priced_amount(rho, epsilon)
    bottom, top = parameter(low, "the lower bound"), parameter(high, "the upper bound")
    if not bottom < top:
        raise QueryError(f"the bounds are {low} and {high}; expected the lower one first.")
    return Priced(Clamping(amount, bottom, top), currency)


def cases_of(dimensions: str | tuple[str, ...], given: Mapping[Any, Any]) -> Cases[Any]:
    """Return cases; the key `...` is the default."""
    rest = dict(given)
    default = rest.pop(..., None)
    return Cases.of(dimensions, rest, default)


_LEAST = Fraction(1, 10**120)


def priced_amount(rho: Exact | None, epsilon: Exact | None) -> tuple[Currency, Fraction]:
    """Return the one amount that an answer was given, and its currency."""
    if (rho is None) == (epsilon is None):
        raise AmountError(
            "an answer needs one amount: rho='0.1' under zCDP, or epsilon='1' under pure DP."
        )
    currency, amount = amount_of(rho, epsilon)
    return currency, positive(amount)


def positive(amount: Fraction) -> Fraction:
    """Return an amount that is above 0, and whose noise a float can describe."""
    if amount <= 0:
        raise QueryError(f"the amount is {amount}; expected one above 0, such as rho='0.1'.")
    if not _LEAST <= amount <= 1 / _LEAST:
        raise QueryError(
            "the amount is below 1e-120 or above 1e120; expected one between, such as rho='0.1'."
        )
    return amount
